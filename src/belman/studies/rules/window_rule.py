"""The rule of a window: how long a ticket is open, what silence counts as, and learning early."""

from __future__ import annotations

import reprlib
from datetime import timedelta

from belman.agent.scale import Scale
from belman.errors import RewardError, SettingError

#: Seconds that a window has at least for early learning: clocks tell no shorter delays apart.
SHORTEST_EARLY = 1e-3
#: Seconds of any length of time, to which a time can be added.
LONGEST = 1e300


def check_seconds(given: float | timedelta | None, name: str) -> float | None:
    """A length of time in seconds."""
    if given is None:
        return None
    seconds = given.total_seconds() if isinstance(given, timedelta) else given
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not is_number or not 0.0 < seconds <= LONGEST:
        allowed = "give seconds above 0, a timedelta, or None for none"
        raise SettingError(f"{name}={reprlib.repr(given)} is not a time: {allowed}")
    return float(seconds)


def check_silence(silence: float | None, scale: Scale) -> float | None:
    """What a ticket counts as of which nothing was told."""
    if silence is None:
        return None
    try:
        scale.inward(silence)
    except RewardError as error:
        remedy = "give another silence=…, or silence=None to forget tickets that nobody told"
        raise RewardError(f"silence={silence!r}: {error}; {remedy}") from None
    return float(silence) + 0.0


def check_flag(given: bool, name: str) -> bool:
    """Yes or no."""
    if not isinstance(given, bool):
        raise SettingError(f"{name}={given!r} is neither True nor False")
    return given


def why_not_early(
    scale: Scale, window: float | None, silence: float | None, accumulate: bool
) -> str | None:
    """Why a study cannot learn before a window closes, if it cannot."""
    if window is None:
        return "there is no window to learn before the end of, and every reward counts at once"
    if not scale.base.coin:
        return f"{scale.base.name} rewards are not successes and failures, of which silence tells"
    if scale.minimise or scale.range is not None:
        given = "minimise=True" if scale.minimise else f"range={scale.range!r}"
        return f"silence tells of successes that are told as 1, and {given} counts otherwise"
    if accumulate:
        return "rewards that add up are known when the window closes (accumulate=True)"
    if silence != 0.0:
        return f"a silent ticket has to count as a failure in the end, and silence={silence!r}"
    if window < SHORTEST_EARLY:
        return f"window={window:g} is shorter than delays can be told apart ({SHORTEST_EARLY:g} s)"
    return None


def check_early(early: bool | None, why_not: str | None) -> bool:
    """Whether a study learns before windows close: wherever it can, unless it is told."""
    if early is None:
        return why_not is None
    if check_flag(early, "early") and why_not is not None:
        remedy = "leave it out, or early=False"
        raise SettingError(f"early=True is not allowed: {why_not}; {remedy}")
    return early
