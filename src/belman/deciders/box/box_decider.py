"""The decider of a box: it chooses points, and learns what they brought.

The rule is that of dependent arms (docs/guide/continuous.md): with ν = noise / variance of f, the
surprise x = ln(t / (ν + 1)), at least 0, and ℓ(x) = p + x²/(x + q), the leader's optimistic value
is U = mean + √(2ℓ(x)·variance), and the index of a point is ℓ(x) − (U − mean)²/(2·variance). The
leader's own index is 0. The point of the largest index is played: among points that are spread
evenly over the box, and then among those close to the best of them and to the leader.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from belman import chance, codec
from belman.codec import Array
from belman.deciders import state_file, validate
from belman.deciders.box.box import Box
from belman.deciders.box.processes import Moments, Processes
from belman.deciders.decider import Among, Asking, Choice, Decider, Plain
from belman.deciders.learnt import Anew, Sums
from belman.deciders.shares import NO_SHARES, Shares
from belman.errors import RewardError, SettingError, StateError
from belman.measures.report import Known
from belman.table import Table

Floats = NDArray[np.float64]

MOST_REWARDS = 1_000
_LARGEST_REWARD = 1e100
_SPREAD = {1: 256, 2: 512, 3: 768}  # points that are looked at in every turn, by sides
_CLOSE = 48  # points looked at around the best of them, and around the leader
_P, _Q = 1.5, 12.0  # of ℓ


@dataclass(frozen=True)
class Kept:
    """All that a decider of a box keeps: its sides, where points begin, and what they brought."""

    space: dict[str, tuple[float, float]]
    minimise: bool
    shift: Annotated[Floats, Array((None,), 0.0, 1.0)]
    places: Annotated[Floats, Array((None, None), 0.0, 1.0)]
    rewards: Annotated[Floats, Array((None,), -_LARGEST_REWARD, _LARGEST_REWARD)]


class BoxDecider(Decider):
    """Choose points of a box, up to 1,000 of them, to earn as much as possible."""

    kind = "box"

    def __init__(self, space: Box, *, minimise: bool = False, shift: Floats) -> None:
        if not isinstance(space, Box):
            raise SettingError(f"space={space!r} is not a box: write belman.Box(price=(5, 20))")
        if not isinstance(minimise, bool):
            raise SettingError(f"minimise={minimise!r} is neither True nor False")
        self.space, self.minimise, self._shift = space, minimise, shift
        self._sign = -1.0 if minimise else 1.0
        self._processes = Processes(_evenly(_SPREAD[len(space)], shift))
        self._next: dict[str, float] | None = None
        self._rng = chance.generator(0)

    # What it is

    @property
    def arms(self) -> tuple[Hashable, ...]:
        return ()

    @property
    def rng(self) -> chance.Words:
        return self._rng

    @property
    def policy(self) -> None:
        """The rule of a box is its own."""

    def set_policy(self, policy: Any) -> None:
        self._refuse("policy")

    @property
    def turn(self) -> int:
        return self.rewards + 1

    @property
    def rewards(self) -> int:
        """How many rewards were told."""
        return len(self._processes.rewards)

    @property
    def told(self) -> Table:
        """Every point that was told, and its reward."""
        points = [self.space.point(place) for place in self._processes.places]
        columns: dict[str, list[float]] = {
            name: [point[name] for point in points] for name in self.space.sides
        }
        return Table({**columns, "reward": (self._sign * self._processes.rewards).tolist()})

    def inward(self, reward: Any) -> float:
        is_number = isinstance(reward, (int, float, np.number)) and not isinstance(reward, bool)
        if not is_number or not abs(reward) <= _LARGEST_REWARD:
            allowed = f"a number between -{_LARGEST_REWARD:g} and {_LARGEST_REWARD:g}"
            raise RewardError(f"reward {reward!r} is refused: it must be {allowed}")
        return self._sign * float(reward)

    def outward(self, value: float) -> float:
        return self._sign * value

    def _refuse(self, what: str) -> NoReturn:
        raise SettingError(f"a box has points and no arms: it takes no {what}")

    # Asking

    def check(self, context: Any = None, candidates: Any = None) -> Asking:
        if context is not None or candidates is not None:
            self._refuse("context" if candidates is None else "candidates")
        return Asking()

    def choose(
        self, asking: Asking, n: int = 1, among: Among = None, shares: Shares = NO_SHARES
    ) -> list[Choice]:
        if n > 1 or among is not None or shares != NO_SHARES:
            self._refuse("batch, shares of traffic or arms to choose among")
        if self._next is None:
            places, moments = self._looked_at()
            self._next = self.space.point(places[int(np.argmax(self._indices(moments)))])
        return [Choice(dict(self._next), self.turn, 1.0)]

    def integrated(self, last: list[Choice]) -> list[Choice]:
        return last

    def weights(self, asking: Asking, n: int, shares: Shares = NO_SHARES) -> dict[Any, float]:
        self._refuse("weights")

    def rank(self, asking: Asking, among: Among = None) -> list[Any]:
        self._refuse("ranked list")

    def expect(self, choice: Choice, n: int = 1) -> None:
        """Do nothing: the next point is the same until a reward is told."""

    # Learning

    def check_reward(self, choice: Choice, reward: Any) -> None:
        self.space.place(choice.arm)
        self.inward(reward)
        if self.rewards >= MOST_REWARDS:
            why = f"a box holds at most {MOST_REWARDS:,} rewards"
            raise RewardError(f"{why}: see 'When another tool is better' in the guide")

    def settle(self, choice: Choice, reward: float | None) -> None:
        if reward is None:
            return
        self.check_reward(choice, reward)
        self._processes.tell(self.space.place(choice.arm), self.inward(reward))
        self._next = None

    def taught(self, choice: Choice, sums: Sums) -> Plain:
        self._refuse("rewards in bulk")

    def corrected(
        self, choice: Choice, old: float | None, new: float | None, anew: Anew | None = None
    ) -> Plain | None:
        self._refuse("corrections")

    def take(self, patch: Mapping[str, Any]) -> None:
        self._refuse("corrections")

    def add(self, arm: Hashable, prior: Any = None) -> None:
        self._refuse("arms")

    def retire(self, arm: Hashable) -> None:
        self._refuse("arms")

    # Looking

    def known(self, asking: Asking | None = None) -> Known:
        self._refuse("report on arms: best() says what is known")

    def explain(self, asking: Asking) -> Table:
        self._refuse("explanation of arms: beliefs(points=[…]) says what is known")

    def beliefs(self, asking: Asking | None, level: float) -> Table:
        self._refuse("beliefs of arms: give points=[…]")

    def beliefs_at(self, points: Sequence[Mapping[str, float]], level: float) -> Table:
        """Return the expected reward at these points, with its credible interval."""
        given = validate.check_list(points, "points", "a list of them")
        places = np.array([self.space.place(point) for point in given])
        columns = {name: [float(point[name]) for point in given] for name in self.space.sides}
        if not len(places):
            return Table({**columns, "expected": [], "low": [], "high": []})
        moments = self._processes.moments(places)
        ends = [moments.quantile(0.5 * (1.0 - level)), moments.quantile(0.5 * (1.0 + level))]
        low, high = sorted((self._sign * end for end in ends), key=lambda end: float(end[0]))
        return Table(
            {
                **columns,
                "expected": (self._sign * moments.mean).tolist(),
                "low": low.tolist(),
                "high": high.tolist(),
            }
        )

    def best(self, level: float) -> dict[str, float]:
        """Return the point of the highest expected reward, that reward, and its interval."""
        places, moments = self._looked_at()
        point = self.space.point(places[int(np.argmax(moments.mean))])
        [row] = self.beliefs_at([point], level)
        return row

    def _looked_at(self) -> tuple[Floats, Moments]:
        """Points close to the leader and to the largest index, and what is believed of them."""
        watched = self._processes.watched_moments()
        around = {int(np.argmax(watched.mean)), int(np.argmax(self._indices(watched)))}
        spread = self._processes.watched
        reach = len(spread) ** (-1.0 / len(self.space))
        offsets = reach * (2.0 * _evenly(_CLOSE, self._shift) - 1.0)
        close = [np.clip(spread[place] + offsets, 0.0, 1.0) for place in sorted(around)]
        places = np.vstack([spread[sorted(around)], *close])
        return places, self._processes.moments(places)

    def _indices(self, moments: Moments) -> Floats:
        variance = np.maximum(moments.variance, 1e-300)
        surprise = np.log((self.rewards + 1.0) / (moments.noise / variance + 1.0)).clip(0.0)
        level = _P + surprise**2 / (surprise + _Q)
        leader = int(np.argmax(moments.mean))
        top = moments.mean[leader] + math.sqrt(2.0 * level[leader] * variance[leader])
        found: Floats = level - (top - moments.mean) ** 2 / (2.0 * variance)
        return found

    # Keeping

    def copy(self) -> BoxDecider:
        return copy.deepcopy(self)

    def state(self, working: bool = False) -> Plain:
        learnt = self._processes.places, self._processes.rewards
        return codec.write(Kept(self.space.sides, self.minimise, self._shift, *learnt))

    @classmethod
    def restore(cls, state: Mapping[str, Any], source: str, **replaced: Any) -> BoxDecider:
        kept = codec.read(Kept, state, {})
        space = Box(**kept.space)
        places = kept.places.reshape(-1, len(space))
        fits = len(places) == len(kept.rewards) <= MOST_REWARDS
        if not fits or len(kept.shift) != len(space):
            raise StateError("its numbers are not those of an agent of this box")
        decider = cls(space, minimise=kept.minimise, shift=kept.shift)
        for place, reward in zip(places, kept.rewards, strict=True):
            decider._processes.tell(place, float(reward))
        state_file.check_kept(state, decider.state())
        return decider


def _evenly(count: int, shift: Floats) -> Floats:
    """Points spread evenly over the unit cube: multiples of the roots of x^(d+1) = x + 1 (for one
    side the golden ratio), modulo 1.
    """
    sides = len(shift)
    root = 1.5
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (sides + 1))
    steps = root ** -np.arange(1.0, sides + 1.0)
    return (shift + np.arange(1, count + 1)[:, None] * steps) % 1.0
