"""How greedy, when: schedules of the exposure τ, kept as s = 1/τ, the *pull* of the focal
distribution exp(x/τ).

Turns are counted from 1. A pull of 0 is infinite exposure: pure exploration. `Evidence` sets one τ
per arm, by the evidence against it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from belman.errors import ExposureError
from belman.validate import is_number, is_whole

Floats = NDArray[np.float64]

_GREEDIEST = 700.0  # nats
_DEEPEST = 20  # exposures of two phases inside one another


def _require(condition: bool, name: str, value: object, allowed: str) -> None:
    if not condition:
        raise ExposureError(f"{name}={value!r} is not valid for an exposure: it must be {allowed}")


class UnitWarning(UserWarning):
    """Rewards are larger than the unit that the paper's schedule takes for them."""


@dataclass(frozen=True)
class Exposure(ABC):
    """A schedule: the pull at each turn, for a given number of arms."""

    name: ClassVar[str]
    #: How it enters the index: as one pull for all arms, as a weight of the evidence against each,
    #: by the evidence alone, or by that after exploration.
    form: ClassVar[Literal["common", "weighed", "evidence", "explored"]] = "common"
    #: The pull of infinite exposure.
    exploring: ClassVar[float] = 0.0
    #: Every exposure that is known by name.
    registry: ClassVar[dict[str, type[Exposure]]] = {}

    @abstractmethod
    def pull(self, turns: Floats, arms: int) -> Floats:
        """s = 1/τ (or what stands for it, if τ is per arm) at these turns; `exploring` explores."""

    @property
    def scale(self) -> float | None:
        """The unit of a reward that the pull is meant for; None takes the family's own range."""
        return 1.0

    @property
    def per_arm(self) -> bool:
        """Whether every arm has an exposure of its own, set by the evidence against it."""
        return self.form != "common"

    @property
    def settings(self) -> tuple[float, ...]:
        """What kernels need to know besides the pull."""
        return ()


@dataclass(frozen=True)
class Paper(Exposure):
    """The paper's schedule s(t) = (ln t + C ln ln t)/unit, 0 for t < 3 and never negative.

    τ = 1/s has the unit of a reward, and the schedule is made for rewards in [0, 1]: rewards up to
    10 in units of 1 make it ten times as greedy. `unit` is the reward that counts as 1. None takes
    the width of the family's range, and 1 for a family without one: give the size of a large
    reward there. `pull` is in units.

    >>> Paper(unit=10.0)
    Paper(C=15.0, unit=10.0)
    >>> [round(float(s), 3) for s in Paper().pull(np.array([1.0, 2.0, 3.0, 1000.0]), arms=2)]
    [0.0, 0.0, 2.509, 35.897]
    """

    C: float = 15.0
    unit: float | None = None

    name = "paper"

    def __post_init__(self) -> None:
        _require(is_number(self.C), "C", self.C, "a finite number")
        fits = self.unit is None or (is_number(self.unit) and self.unit > 0.0)
        allowed = "the reward that counts as 1, a positive number, or None for the family's range"
        _require(fits, "unit", self.unit, allowed)

    @property
    def scale(self) -> float | None:
        return self.unit

    def pull(self, turns: Floats, arms: int) -> Floats:
        late = np.maximum(turns, 3.0)
        pull = np.log(late) + self.C * np.log(np.log(late))
        return np.where(turns < 3.0, 0.0, np.maximum(pull, 0.0))


@dataclass(frozen=True)
class Constant(Exposure):
    """One exposure τ for ever.

    >>> [float(s) for s in Constant(tau=0.25).pull(np.array([1.0, 9.0]), arms=2)]
    [4.0, 4.0]
    """

    tau: float = 1.0

    name = "constant"

    def __post_init__(self) -> None:
        allowed = "a positive number (Infinite() explores for ever)"
        _require(is_number(self.tau) and self.tau > 0.0, "tau", self.tau, allowed)

    def pull(self, turns: Floats, arms: int) -> Floats:
        return np.full(np.shape(turns), 1.0 / self.tau)


@dataclass(frozen=True)
class Infinite(Exposure):
    """Infinite exposure, s = 0: pure exploration, which the paper calls BelMan-Explore."""

    name = "infinite"

    def pull(self, turns: Floats, arms: int) -> Floats:
        return np.zeros(np.shape(turns))


@dataclass(frozen=True)
class SquareRoot(Exposure):
    """s(t) = c·sqrt(t/K).

    >>> [float(s) for s in SquareRoot(c=2.0).pull(np.array([8.0, 32.0]), arms=2)]
    [4.0, 8.0]
    """

    c: float = 1.0

    name = "square-root"

    def __post_init__(self) -> None:
        _require(is_number(self.c) and self.c >= 0.0, "c", self.c, "a number from 0 up")

    def pull(self, turns: Floats, arms: int) -> Floats:
        return self.c * np.sqrt(turns / arms)


@dataclass(frozen=True)
class Schedule(Exposure):
    """Any function of the turn t = 1, 2, … with values τ(t) > 0 (`math.inf` to explore).

    >>> [float(s) for s in Schedule(lambda t: 1.0 / t).pull(np.array([1.0, 4.0]), arms=2)]
    [1.0, 4.0]
    """

    tau: Callable[[int], float] = field(default=lambda t: math.inf)

    name = "schedule"

    def __post_init__(self) -> None:
        _require(callable(self.tau), "tau", self.tau, "a function of the turn")

    def pull(self, turns: Floats, arms: int) -> Floats:
        taus = []
        for turn in np.atleast_1d(turns):
            tau = self.tau(int(turn))
            fits = tau == math.inf or (is_number(tau) and tau > 0.0)
            _require(fits, f"τ({int(turn)})", tau, "positive (math.inf explores)")
            taus.append(float(tau))
        return np.array([1.0 / tau for tau in taus]).reshape(np.shape(turns))


@dataclass(frozen=True)
class Evidence(Exposure):
    """One τ per arm: evidence ν_a d(μ_a, μ_L) weighed with surprise x_a = ln(t/ν_a) at its share.

    Played is argmax_a φ(x_a) − ν_a d(μ_a, μ_L), with φ(x) = x²/(x + κ_x) and κ_x = gain·ln K/(1 +
    (x/reach)⁴). In long runs φ(x) − x → 0, which is IMED and asymptotically optimal; before, φ is
    smaller and the rule greedier, the more so the more arms. If the arms are found worse than their
    prior says, it is moved there, itself counting as `pool` arms; infinity leaves it. In the place
    of the pull stands the greed κ = gain·ln K: an unlucky arm waits longer than under IMED, but by
    less than the factor e^κ.

    With a `horizon` T, where it is known when play ends, x_a = ln(1 + (T − t)/(ν_a + c)) and φ is
    next to the boundary of the Gittins index of the turns that are left. It is nearly x, lest the
    prior be wrong, where an arm has few of many plays and many turns are left: the sooner, the
    smaller `reach` and `gain` and the fewer arms.
    """

    gain: float = 2.25
    reach: float = 8.5
    pool: float = 5.0
    horizon: int | None = None

    name = "evidence"
    form = "evidence"
    exploring = -math.inf

    def __post_init__(self) -> None:
        _require(is_number(self.gain) and self.gain >= 0.0, "gain", self.gain, "a number from 0 up")
        for name, unit in (("reach", "nats"), ("pool", "arms")):
            value = getattr(self, name)
            infinite = isinstance(value, float) and value == math.inf
            fits = infinite or (is_number(value) and value > 0.0)
            _require(fits, name, value, f"a positive number of {unit}, or math.inf")
        known = self.horizon is None or is_whole(self.horizon, 1)
        _require(known, "horizon", self.horizon, "a whole number of turns from 1 up, or None")

    @property
    def settings(self) -> tuple[float, ...]:
        return (self.pool, self.reach, math.inf if self.horizon is None else float(self.horizon))

    def pull(self, turns: Floats, arms: int) -> Floats:
        return np.full(np.shape(turns), min(self.gain * math.log(arms), _GREEDIEST))


@dataclass(frozen=True)
class FadingEvidence(Exposure):
    """The first form of evidence, weighed by c_t: s_a (E_a − E_L) = −c_t (n_a + p) d(μ_a, μ_L).

    c_t = floor + gain·ln K / (1 + fade·ln(1 + t/K)) falls to `floor`; at ½ the rule tends to IMED,
    which is asymptotically optimal, and a larger weight is greedier. With p = 0 an arm that was
    never observed has no evidence against it.

    >>> [round(float(c), 3) for c in FadingEvidence().pull(np.array([1.0, 1000.0]), arms=10)]
    [2.325, 1.76]
    """

    gain: float = 0.8
    fade: float = 0.1
    floor: float = 0.5
    p: float = 0.0

    name = "fading-evidence"
    form = "weighed"

    def __post_init__(self) -> None:
        for name in ("gain", "fade", "floor", "p"):
            value = getattr(self, name)
            _require(is_number(value) and value >= 0.0, name, value, "a number from 0 up")

    @property
    def settings(self) -> tuple[float, ...]:
        return (self.p,)

    def pull(self, turns: Floats, arms: int) -> Floats:
        return self.floor + self.gain * math.log(arms) / (1.0 + self.fade * np.log1p(turns / arms))


@dataclass(frozen=True)
class TwoPhase(Exposure):
    """Pure exploration for `explore` turns, then an exposure whose clock has run all along.

    >>> [float(s) for s in TwoPhase(2, Constant(0.5)).pull(np.array([1.0, 2.0, 3.0]), arms=2)]
    [0.0, 0.0, 2.0]
    """

    explore: int
    then: Exposure = field(default_factory=Evidence)

    name = "two-phase"

    def __post_init__(self) -> None:
        fits = is_whole(self.explore, 0)
        _require(fits, "explore", self.explore, "a whole number of turns from 0 up")
        object.__setattr__(self, "then", exposure(self.then))
        inner, depth = self.then, 1
        while isinstance(inner, TwoPhase):
            inner, depth = inner.then, depth + 1
        _require(depth <= _DEEPEST, "then", inner, f"nested at most {_DEEPEST} deep")

    @property
    def form(self) -> Literal["common", "weighed", "evidence", "explored"]:  # type: ignore[override]
        return "explored" if self.then.form == "evidence" else self.then.form

    @property
    def exploring(self) -> float:  # type: ignore[override]
        return self.then.exploring

    @property
    def settings(self) -> tuple[float, ...]:
        return self.then.settings

    @property
    def scale(self) -> float | None:
        return self.then.scale

    def pull(self, turns: Floats, arms: int) -> Floats:
        return np.where(turns <= self.explore, self.exploring, self.then.pull(turns, arms))


#: Every exposure by its name.
EXPOSURES = Exposure.registry
for _kind in (Evidence, FadingEvidence, Paper, Constant, Infinite, SquareRoot, TwoPhase, Schedule):
    EXPOSURES[_kind.name] = _kind


def exposure(given: Exposure | Callable[[int], float]) -> Exposure:
    """The exposure itself, or the schedule of a function τ(t).

    >>> exposure(Infinite())
    Infinite()
    """
    if isinstance(given, Exposure):
        return given
    if callable(given):
        return Schedule(given)
    kinds = ", ".join(sorted(member.__name__ for member in EXPOSURES.values()))
    what = f"exposure {given!r} is neither one of belman.exposure ({kinds})"
    raise ExposureError(f"{what} nor a function of the turn")


def two_phase(explore: int, then: Exposure | Callable[[int], float] | None = None) -> TwoPhase:
    """Pure exploration for `explore` turns, then another exposure: by default the default.

    >>> two_phase(explore=500).explore
    500
    """
    return TwoPhase(explore, Evidence() if then is None else exposure(then))
