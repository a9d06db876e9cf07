"""What a service logs, by `logging`: as text or as JSON, a line each, whatever strangers send.

`belman.service` has warnings and errors, `belman.service.access` a line per request if those are
asked for.
"""

from __future__ import annotations

import json
import logging
import warnings
from datetime import UTC, datetime
from typing import Any

from belman.assignment.paced_log import PacedLog
from belman.errors import SettingError, listing
from belman.escaping import for_terminal

STYLES = ("text", "json")

access = logging.getLogger("belman.service.access")
access.setLevel(logging.WARNING)  # until somebody asks for it
_refused = PacedLog("belman.service")


class TextFormatter(logging.Formatter):
    """Lines for people: what a stranger wrote begins no line, and moves no terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (its name there)
        return for_terminal(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return for_terminal(super().formatException(ei), lines=True)


class JsonFormatter(logging.Formatter):
    """Lines for programs: an object each, with the fields that a call gave as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            said["traceback"] = self.formatException(record.exc_info)
        return json.dumps(said, default=str)


def set_up(style: str = "text", *, requests: bool = False) -> None:
    """Log to standard error in a style, with a line per request if `requests` are wanted."""
    if style not in STYLES:
        raise SettingError(f"log={style!r} is no style of logs: there are {listing(STYLES)}")
    handler = logging.StreamHandler()
    text = TextFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonFormatter() if style == "json" else text)
    for name in ("belman", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [handler], False
    access.setLevel(logging.INFO if requests else logging.WARNING)
    warnings.showwarning = _warned


def _warned(message: Warning | str, *_: Any, **__: Any) -> None:
    """Log a warning of the library, such as that of weights which are surer than what is known."""
    logging.getLogger("belman.service").warning("%s", message)


def answered(method: str, path: str, status: int, seconds: float, caller: str) -> None:
    """Log a request and its answer."""
    if access.isEnabledFor(logging.INFO):
        taken = round(1_000.0 * seconds, 1)
        path = for_terminal(path)
        fields = {"method": method, "path": path, "status": status, "ms": taken, "caller": caller}
        words = "%s %s %d %s ms %s"
        access.info(words, method, path, status, taken, caller, extra={"fields": fields})


def refused(path: str, why: str, status: int) -> None:
    """Log that an outcome was refused: for each path the first, and then one a minute; for those
    whom no study knows, one for all paths.
    """
    words = for_terminal(f"outcomes sent to {path} were refused ({status}): {why}")
    _refused.warn(words, about=str(status) if status in (401, 403, 404) else path)
