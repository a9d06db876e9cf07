"""An agent for a box: ask for a point, tell what it brought.

The rule is that of dependent arms (docs/guide/continuous.md): with ν = noise / variance of f, the
surprise x = ln(t / (ν + 1)), at least 0, and ℓ(x) = p + x²/(x + q), the leader's optimistic value
is U = mean + √(2ℓ(x)·variance), and the index of a point is ℓ(x) − (U − mean)²/(2·variance). The
leader's own index is 0. The point of the largest index is played: among points that are spread
evenly over the box, and then among those close to the best of them and to the leader.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.agent import doors, state_file
from belman.continuous.box import Box
from belman.continuous.processes import Moments, Processes
from belman.errors import RewardError, SettingError, StateError
from belman.table import Table
from belman.version import __version__

Floats = NDArray[np.float64]

MOST_REWARDS = 1_000
_LARGEST_REWARD = 1e100
_SPREAD = {1: 256, 2: 512, 3: 768}  # points that are looked at in every turn, by sides
_CLOSE = 48  # points looked at around the best of them, and around the leader
_P, _Q = 1.5, 12.0  # of ℓ
_FORMAT = "belman box"


class BoxAgent:
    """Choose points of a box, up to 1,000 of them, to earn as much as possible.

    >>> agent = BoxAgent(Box(price=(5, 20)), seed=7)
    >>> for _ in range(30):
    ...     point = agent.ask()
    ...     agent.tell(point, 10 - (point["price"] - 12) ** 2 / 10)
    >>> best = agent.best()
    >>> 11.5 < best["price"] < 12.5
    True
    """

    def __init__(self, space: Box, *, minimise: bool = False, seed: int | None = None) -> None:
        if not isinstance(space, Box):
            raise SettingError(f"space={space!r} is not a box: write belman.Box(price=(5, 20))")
        if not isinstance(minimise, bool):
            raise SettingError(f"minimise={minimise!r} is neither True nor False")
        words = chance.generator(doors.check_seed(seed))
        shift = words[: len(space)].astype(np.float64) / 2.0**64
        self._begin(space, minimise, shift)

    def _begin(self, space: Box, minimise: bool, shift: Floats) -> None:
        self.space, self.minimise, self._shift = space, minimise, shift
        self._sign = -1.0 if minimise else 1.0
        self._processes = Processes(_evenly(_SPREAD[len(space)], shift))
        self._next: dict[str, float] | None = None

    def __repr__(self) -> str:
        return f"BoxAgent({self.space!r}, {self.rewards} rewards)"

    @property
    def sides(self) -> Mapping[str, tuple[float, float]]:
        """The sides of its box, lowest and highest."""
        return self.space.sides

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

    def ask(self) -> dict[str, float]:
        """The point to try next; the same one until a reward is told."""
        if self._next is None:
            places, moments = self._looked_at()
            self._next = self.space.point(places[int(np.argmax(self._indices(moments)))])
        return dict(self._next)

    def tell(self, point: Mapping[str, float], reward: float) -> None:
        """Learn what a point brought, whoever chose it."""
        place = self.space.place(point)
        is_number = isinstance(reward, (int, float, np.number)) and not isinstance(reward, bool)
        if not is_number or not abs(float(reward)) <= _LARGEST_REWARD:
            allowed = f"a number between -{_LARGEST_REWARD:g} and {_LARGEST_REWARD:g}"
            raise RewardError(f"reward {reward!r} is refused: it must be {allowed}")
        if self.rewards >= MOST_REWARDS:
            why = f"a box holds at most {MOST_REWARDS:,} rewards"
            raise RewardError(f"{why}: see 'When another tool is better' in the guide")
        self._processes.tell(place, self._sign * float(reward))
        self._next = None

    def beliefs(self, points: Sequence[Mapping[str, float]], level: float = 0.95) -> Table:
        """The expected reward at these points, with its credible interval."""
        doors.check_level(level)
        given = doors.check_list(points, "points", "a list of them")
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

    def best(self, level: float = 0.95) -> dict[str, float]:
        """The point of the highest expected reward, that reward, and its credible interval."""
        places, moments = self._looked_at()
        point = self.space.point(places[int(np.argmax(moments.mean))])
        [row] = self.beliefs([point], level)
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all that the next turn needs, atomically."""
        state_file.keep(path, self.to_json())

    def to_json(self) -> str:
        """The whole state as text."""
        content = {
            "belman": __version__,
            "space": {name: list(side) for name, side in self.space},
            "minimise": self.minimise,
            "shift": self._shift,
            "places": self._processes.places,
            "rewards": self._processes.rewards,
        }
        return state_file.write(content, _FORMAT)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BoxAgent:
        """The agent of a state file: it goes on where it was, to the last bit."""
        return cls.from_json(state_file.fetch(path), source=os.fspath(path))

    @classmethod
    def from_json(cls, text: str, *, source: str = "the state") -> BoxAgent:
        """The agent of a text that `to_json` gave."""
        content = state_file.read(text, source, _FORMAT)
        return state_file.trusted(lambda: cls._rebuilt(content), source, _FORMAT)

    @classmethod
    def _rebuilt(cls, content: dict[str, Any]) -> BoxAgent:
        space = Box(**{name: tuple(side) for name, side in content["space"].items()})
        shift, rewards = (state_file.floats(content[name]) for name in ("shift", "rewards"))
        places = state_file.floats(content["places"]).reshape(-1, len(space))
        _check_state(space, content["minimise"], shift, places, rewards)
        agent = cls.__new__(cls)
        agent._begin(space, content["minimise"], shift)
        for place, reward in zip(places, rewards, strict=True):
            agent._processes.tell(place, float(reward))
        state_file.check_kept(content, agent.to_json())
        return agent


def _check_state(space: Box, minimise: Any, shift: Floats, places: Floats, rewards: Floats) -> None:
    inside = bool(((places >= 0.0) & (places <= 1.0)).all())
    small = bool((np.abs(rewards) <= _LARGEST_REWARD).all())
    fits = rewards.ndim == 1 and len(places) == len(rewards) <= MOST_REWARDS
    starts = shift.shape == (len(space),) and bool(((shift >= 0.0) & (shift <= 1.0)).all())
    if not (isinstance(minimise, bool) and inside and small and fits and starts):
        raise StateError("its numbers are not those of an agent of this box")


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
