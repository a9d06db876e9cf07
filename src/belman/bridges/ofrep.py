"""OFREP, the remote evaluation protocol of OpenFeature: flags by published weights, over HTTP.

The variant of a flag is its arm, with the version of the weights and the chance of the arm as
metadata: an outcome is observed by them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from belman.bridges.flags import UNIT, Flag
from belman.errors import BelmanError

#: Characters of a unit's name.
LONGEST_UNIT = 1_000


class Refusal(Exception):  # noqa: N818 (a word of the protocol)
    """What cannot be evaluated, in the words of the protocol."""

    def __init__(self, status: int, code: str, details: str) -> None:
        super().__init__(details)
        self.status, self.code, self.details = status, code, details

    def described(self, key: str | None = None) -> dict[str, Any]:
        """Return it as an answer has it."""
        result = {"errorCode": self.code, "errorDetails": self.details}
        return result if key is None else {"key": key, **result}


class Asked(NamedTuple):
    """For whom flags are evaluated."""

    unit: str
    attributes: Mapping[str, Any]


def asked(body: bytes) -> Asked:
    """Read the body of a request; raise Refusal where it is none, or names no unit.

    >>> asked(b'{"context": {"targetingKey": "user-1", "country": "fr"}}').unit
    'user-1'
    """
    try:
        result = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal(400, "PARSE_ERROR", "the body is not JSON") from None
    if not isinstance(result, dict):
        raise Refusal(400, "PARSE_ERROR", "the body is not a JSON object")
    context = result.get("context")
    if context is None:
        raise Refusal(400, "TARGETING_KEY_MISSING", f"give a context with a {UNIT}")
    if not isinstance(context, dict):
        raise Refusal(400, "INVALID_CONTEXT", "the context is not a JSON object")
    unit = context.get(UNIT)
    if unit is None or unit == "":
        raise Refusal(400, "TARGETING_KEY_MISSING", f"the context has no {UNIT}")
    if not isinstance(unit, str) or len(unit) > LONGEST_UNIT:
        words = f"the {UNIT} is not a text of at most {LONGEST_UNIT:,} characters"
        raise Refusal(400, "INVALID_CONTEXT", words)
    return Asked(unit, context)


def evaluated(flag: Flag | None, key: str, who: Asked) -> dict[str, Any]:
    """Evaluate one flag; raise Refusal where that cannot be."""
    if flag is None:
        words = f"no study {key[:200]!r} has published weights"
        raise Refusal(404, "FLAG_NOT_FOUND", words)
    try:
        result = flag.decided(who.unit, who.attributes)
    except BelmanError as error:
        raise Refusal(400, "INVALID_CONTEXT", str(error)) from None
    if result is None:
        default = {"variant": str(flag.default), "value": flag.default, "metadata": {}}
        return {"key": key, "reason": "DEFAULT", **default}
    known = {"version": result.version, "chance": result.chance}
    variant = {"variant": str(result.arm), "value": result.arm, "metadata": known}
    return {"key": key, "reason": "SPLIT", **variant}


def all_evaluated(flags: Iterable[Flag], who: Asked) -> dict[str, Any]:
    """Evaluate all flags; what cannot be is said beside the others."""
    result = []
    for flag in flags:
        try:
            result.append(evaluated(flag, flag.name, who))
        except Refusal as refusal:
            result.append(refusal.described(flag.name))
    return {"flags": result, "metadata": {}}
