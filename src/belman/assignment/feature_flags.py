"""Feature flags by published weights: a provider for OpenFeature on top of local deciders.

A flag is a study, its variants are the arms, and the targeting key is the unit. An event that is
tracked for a unit is the reward of the flags that it was shown; a unit of which nothing is tracked
in time counts as silence.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .documents import Arm
from .local_decider import Decision, LocalDecider
from .refusals import SettingError, needing

with needing("a provider of feature flags", "openfeature", "openfeature", also=("belman-client",)):
    from openfeature.evaluation_context import EvaluationContext
    from openfeature.exception import (
        FlagNotFoundError,
        TargetingKeyMissingError,
        TypeMismatchError,
    )
    from openfeature.flag_evaluation import FlagResolutionDetails, Reason
    from openfeature.provider import AbstractProvider, Metadata
    from openfeature.track import TrackingEventDetails

#: Units of a flag whose outcome is awaited; more are shown their arm, and do not count.
MOST_AWAITED = 100_000

Values = Mapping[Arm, Any]


class _Flag:
    """A study, what its arms mean, and the units whose outcome is awaited."""

    def __init__(self, decider: LocalDecider, values: Values | None) -> None:
        self.decider, self.values = decider, values
        self.awaited: OrderedDict[str, tuple[Decision, float | None]] = OrderedDict()

    def context(self, given: EvaluationContext) -> dict[str, Any] | None:
        """The attributes by which the study decides, where it has contexts."""
        weights = self.decider.weights
        if weights is None or weights.contexts is None:
            return None
        return {name: given.attributes.get(name) for name in weights.contexts.names}


def _resolver(words: str, *kinds: type) -> Any:
    """Make a method of the provider, for flags whose values are of one of these kinds."""

    def resolve(
        self: BelmanProvider,
        flag_key: str,
        default_value: Any,
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[Any]:
        result = self._resolve(flag_key, default_value, evaluation_context, *kinds)
        if kinds[0] is float:
            result.value = float(result.value)
        return result

    resolve.__doc__ = f"The value of a flag of {words}."
    return resolve


class BelmanProvider(AbstractProvider):
    """Evaluates flags in this process, by the weights of the studies of a service.

    `flags` names the studies, {study: {arm: value}} where the value of a flag is not its arm's
    name. An event counts for a unit within so many seconds after its first evaluation: the last
    value that is tracked, 1 where it has none, or `silence`. An event is of the flag of its name,
    or of those that `goals` names for it: {"purchase": ["checkout"]}. While there are no valid
    weights, a flag has the default of whoever evaluates it, and nothing is learnt. All else goes to
    `LocalDecider`.

    >>> from openfeature import api
    >>> provider = BelmanProvider("http://127.0.0.1:9", ["checkout"], within=60, start=False)
    >>> api.set_provider_and_wait(provider)
    >>> unit = EvaluationContext(targeting_key="user-1")
    >>> api.get_client().get_string_value("checkout", "blue", unit)
    'blue'
    >>> api.clear_providers()
    """

    def __init__(
        self,
        url: str,
        flags: Iterable[str] | Mapping[str, Values | None],
        *,
        within: float,
        silence: float = 0.0,
        goals: Mapping[str, Sequence[str]] | None = None,
        clock: Callable[[], float] = time.time,
        **options: Any,
    ) -> None:
        super().__init__()
        named = dict(flags) if isinstance(flags, Mapping) else dict.fromkeys(flags)
        if not within > 0.0 or not named:
            raise SettingError(f"within={within!r}, flags={flags!r}: give seconds and some flags")
        self._goals = dict(goals or {})
        for flag in (one for many in self._goals.values() for one in many):
            if flag not in named:
                raise SettingError(
                    f"goals name the flag {flag!r}, which is not one of {list(named)}"
                )
        self._within, self._silence, self._clock = float(within), float(silence), clock
        self._lock = threading.Lock()
        self._flags: dict[str, _Flag] = {}
        self._opens = (url, named, options)

    def initialize(self, evaluation_context: EvaluationContext) -> None:
        """Fetch the weights of every flag, as far as the service is there."""
        url, named, options = self._opens
        for name, values in named.items():
            decider = LocalDecider(url, name, fallback=None, clock=self._clock, **options)
            decider.fetch()
            self._flags[name] = _Flag(decider, values)

    def shutdown(self) -> None:
        """Send the outcomes whose time is over. The others count for nobody, whatever was tracked
        of them, so that what came early is not preferred.
        """
        flags, self._flags = self._flags, {}
        for flag in flags.values():
            with self._lock:
                self._settle(flag)
            flag.decider.close()

    def get_metadata(self) -> Metadata:
        """The name of the provider."""
        return Metadata(name="belman")

    # Evaluating

    def _resolve(
        self, flag_key: str, default: Any, context: EvaluationContext | None, *kinds: type
    ) -> FlagResolutionDetails[Any]:
        flag = self._flags.get(flag_key)
        if flag is None:
            raise FlagNotFoundError(f"flag {flag_key!r} is not one of {sorted(self._flags)}")
        unit = None if context is None else context.targeting_key
        if context is None or not unit:
            raise TargetingKeyMissingError(f"flag {flag_key!r} is decided by the targeting key")
        decision = flag.decider.decide(unit, flag.context(context))
        if decision.version is None:
            return FlagResolutionDetails(default, reason=Reason.DEFAULT)
        value = decision.arm if flag.values is None else flag.values.get(decision.arm)
        if type(value) not in kinds:
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise TypeMismatchError(f"arm {decision.arm!r} has the value {value!r}, not {wanted}")
        with self._lock:
            self._settle(flag)
            if len(flag.awaited) < MOST_AWAITED:
                flag.awaited.setdefault(unit, (decision, None))
        known = {"version": decision.version, "chance": decision.chance or 0.0}
        arm = str(decision.arm)
        return FlagResolutionDetails(value, reason=Reason.SPLIT, variant=arm, flag_metadata=known)

    resolve_boolean_details = _resolver("truths", bool)
    resolve_string_details = _resolver("texts", str)
    resolve_integer_details = _resolver("whole numbers", int)
    resolve_float_details = _resolver("numbers", float, int)
    resolve_object_details = _resolver("lists or objects", dict, list)

    # Outcomes

    def track(
        self,
        tracking_event_name: str,
        evaluation_context: EvaluationContext | None = None,
        tracking_event_details: TrackingEventDetails | None = None,
    ) -> None:
        """Take an event for the reward of the unit's flags, where it comes in time."""
        unit = None if evaluation_context is None else evaluation_context.targeting_key
        value = None if tracking_event_details is None else tracking_event_details.value
        reward = 1.0 if value is None else float(value)
        for name in self._goals.get(tracking_event_name, (tracking_event_name,)):
            flag = self._flags.get(name)
            if flag is not None and unit is not None:
                with self._lock:
                    self._settle(flag)
                    if unit in flag.awaited:
                        flag.awaited[unit] = (flag.awaited[unit][0], reward)

    def _settle(self, flag: _Flag) -> None:
        """Hand the outcomes whose time is over to the decider; the oldest come first."""
        until = self._clock() - self._within
        while flag.awaited:
            unit, (decision, reward) = next(iter(flag.awaited.items()))
            if decision.time > until:
                return
            del flag.awaited[unit]
            flag.decider.observe(decision, self._silence if reward is None else reward)
