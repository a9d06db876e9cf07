"""OpenTelemetry: a span for each ask and tell, and an event of it for each arm that was chosen.

Events are named as feature flags have them: the study is the key of the flag, the arm its variant.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from belman.assignment import LocalDecider
from belman.assignment.local_decider import Decision
from belman.bridges.async_study import AsyncStudy
from belman.errors import needing
from belman.service.client import RemoteStudy
from belman.studies import Study
from belman.version import __version__

with needing("telemetry", "telemetry", "opentelemetry", "opentelemetry.trace"):
    from opentelemetry import trace
    from opentelemetry.trace import Span, SpanKind, TracerProvider

#: Methods that have a span, and whether they are coroutines.
_TRACED: dict[tuple[type, str], bool] = {
    (Study, "ask"): False,
    (Study, "tell"): False,
    (Study, "observe"): False,
    (RemoteStudy, "ask"): False,
    (RemoteStudy, "tell"): False,
    (RemoteStudy, "observe"): False,
    (AsyncStudy, "ask"): True,
    (AsyncStudy, "tell"): True,
    (LocalDecider, "decide"): False,
}
_originals: dict[tuple[type, str], Any] = {}


def instrument(provider: TracerProvider | None = None) -> None:
    """Give every ask and tell of this process a span from now on.

    Studies, also those of a service or awaited, and local deciders have them. A span of a service
    is one of a client; an error is recorded in it. Twice is as once.

    Parameters
    ----------
    provider
        Where spans go: by default to the provider that the process has set.
    """
    tracer = trace.get_tracer("belman", __version__, provider)
    for (kind, name), is_coroutine in _TRACED.items():
        original = _originals.setdefault((kind, name), getattr(kind, name))
        wrapped = _awaited if is_coroutine else _called
        setattr(kind, name, wrapped(tracer, kind, name, original))


def uninstrument() -> None:
    """Let asks and tells have no spans any more."""
    while _originals:
        (kind, name), original = _originals.popitem()
        setattr(kind, name, original)


def _settings(kind: type, name: str, study: Any) -> dict[str, Any]:
    return {
        "name": f"belman.{name}",
        "kind": SpanKind.CLIENT if kind is RemoteStudy else SpanKind.INTERNAL,
        "attributes": {"belman.study": _name(study)},
    }


def _name(study: Any) -> str:
    """The name of a study, or of the one that a local decider is of."""
    return str(study.study if isinstance(study, LocalDecider) else study.name)


def _called(tracer: Any, kind: type, name: str, original: Callable[..., Any]) -> Any:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with tracer.start_as_current_span(**_settings(kind, name, self)) as span:
            result = original(self, *args, **kwargs)
            _tell(span, _name(self), result)
            return result

    return call


def _awaited(tracer: Any, kind: type, name: str, original: Callable[..., Any]) -> Any:
    @functools.wraps(original)
    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with tracer.start_as_current_span(**_settings(kind, name, self)) as span:
            result = await original(self, *args, **kwargs)
            _tell(span, _name(self), result)
            return result

    return call


def _tell(span: Span, study: str, result: Any) -> None:
    """Record the arms of tickets or of a decision, whether a tell was news, or how many counted."""
    if isinstance(result, bool):
        span.set_attribute("belman.news", result)
        return
    if isinstance(result, int):
        span.set_attribute("belman.outcomes", result)
        return
    for one in result if isinstance(result, list) else [result]:
        told: dict[str, Any] = {
            "feature_flag.key": study,
            "feature_flag.result.variant": str(one.arm),
            "feature_flag.provider.name": "belman",
        }
        chance = one.chance if isinstance(one, Decision) else one.probability
        if chance is not None and math.isfinite(chance):
            told["belman.probability"] = chance
        if (ticket := getattr(one, "id", None)) is not None:
            told["belman.ticket"] = ticket
        if (version := getattr(one, "version", None)) is not None:
            told["feature_flag.version"] = str(version)
        span.add_event("feature_flag.evaluation", told)
