"""The rule of a window: how long a ticket is open, what silence counts as, and learning early."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from belman.deciders.scale import Scale
from belman.errors import RewardError, SettingError, shown
from belman.validate import is_between

#: Seconds that a window has at least for early learning: clocks tell no shorter delays apart.
SHORTEST_EARLY = 1e-3
#: What `silence` is where a ticket that nobody told does not count.
FORGET: Literal["forget"] = "forget"
Silence = float | Literal["forget"]
#: Seconds of any length of time, to which a time can be added.
LONGEST = 1e300


def check_seconds(given: float | timedelta | None, name: str) -> float | None:
    """A length of time in seconds."""
    if given is None:
        return None
    seconds = given.total_seconds() if isinstance(given, timedelta) else given
    if not is_between(seconds, 0.0, LONGEST) or not seconds:
        allowed = "give seconds above 0, a timedelta, or None for none"
        raise SettingError(f"{name}={shown(given)} is not a time: {allowed}")
    return float(seconds)


def check_window(
    window: float | timedelta | None, silence: Silence | None, accumulate: bool, scale: Scale
) -> tuple[float | None, Silence | None]:
    """How long a ticket is open, and what it counts as where nothing was told."""
    seconds = check_seconds(window, "window")
    if seconds is None:
        if silence is not None or accumulate:
            given = f"accumulate={accumulate!r}" if accumulate else f"silence={silence!r}"
            raise SettingError(f"{given} is for tickets with a window: give window=… too")
        return None, None
    if silence == FORGET:
        return seconds, FORGET
    reward = 0 if silence is None else silence
    try:
        scale.inward(reward)
    except RewardError as error:
        remedy = f"give another silence=…, or silence={FORGET!r} to forget tickets nobody told"
        raise RewardError(f"silence={reward!r}: {error}; {remedy}") from None
    return seconds, float(reward) + 0.0


def check_flag(given: bool, name: str) -> bool:
    """Yes or no."""
    if not isinstance(given, bool):
        raise SettingError(f"{name}={given!r} is neither True nor False")
    return given


def why_not_early(
    scale: Scale, window: float | None, silence: Silence | None, accumulate: bool
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
