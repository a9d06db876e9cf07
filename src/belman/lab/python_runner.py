"""Players in plain Python, at any world of arms: the loops once more, as plainly as possible.

A player is called with (arms, rng) once a run and has `ask` and `tell`. Arms are 0, 1, …; `rng` is
a NumPy Generator for its own draws. It meets the same nature as compiled players. Where arms come
and go it is asked `ask(among=[…])`, and with features `ask(features=…)` (arms × features) and told
`tell(arm, reward, features=…)` of the arm. Told early it hears what there is to hear: successes
when they come, failures when their window closes. In a batch it is told nothing; whether it makes
up weights is its own affair. If it has `renew`, that is called with an arm that a new one replaces.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import entry, kernel
from belman.errors import ArmError
from belman.lab.bandit_loop import MIND, NATURE, WORLD
from belman.lab.bandit_runner import world_of
from belman.lab.delayed_runner import late_part
from belman.lab.design import Stop, checkpoints
from belman.lab.featured_runner import scene_of
from belman.lab.telling import DELAYS
from belman.policies.memory import Floats
from belman.problems.course import NEVER
from belman.problems.delayed import TELLINGS
from belman.problems.problem import Problem

_AT_ONCE, _WINDOW, _LATE = (TELLINGS[name] for name in ("at once", "window", "late"))


@kernel
def fork(generators, seed, run: int):
    """The generators of a run."""
    for role in range(len(generators)):
        chance.fork(seed, run, role, generators[role])


@kernel
def begin(world, family, constants, numbers, table, course, rng):
    world.begin(family, constants, numbers, table, rng, course)


@kernel
def move(world, family, constants, numbers, table, course, rng, turn: int):
    return world.move(family, constants, numbers, table, rng, course, turn)


@kernel
def earn(world, family, constants, numbers, table, course, out, arm: int, turn: int, luck: float):
    out[0], out[1] = world.earn(family, constants, numbers, table, course, arm, turn, luck)


@kernel
def begin_scene(scene, numbers, table, rng, truth):
    scene.begin(numbers, table, rng, truth)


@kernel
def meet(scene, numbers, table, rng, truth, features, eta):
    scene.meet(numbers, table, rng, truth, features, eta)


class _World(Protocol):
    """What a player meets: `step` makes it that of a turn and gives the arms that are new."""

    means: Floats

    def begin(self) -> None: ...
    def step(self, turn: int) -> list[int]: ...
    def asked(self) -> dict[str, Any]: ...
    def told_of(self, arm: int) -> dict[str, Any]: ...
    def earn(self, arm: int, turn: int, luck: float) -> tuple[float, float]: ...


class _Arms:
    """Arms without features."""

    def __init__(self, problem: Problem, rng: NDArray[np.uint64]) -> None:
        given = world_of(problem)
        self._closed, self._course = given.pop("closed"), given["course"]
        self.means = self._course.means
        held = {**given, "constants": problem.family.constants}
        kernels = {"world": problem.course, "family": problem.family.kernels}
        self._begin = entry(begin, **kernels).hold(**held, rng=rng)
        self._move = entry(move, **kernels).hold(**held, rng=rng)
        self._out, self._until = np.zeros(2), 1
        self._earn = entry(earn, **kernels).hold(**held, out=self._out)

    def begin(self) -> None:
        self._begin()
        self._until = 1

    def step(self, turn: int) -> list[int]:
        if turn < min(self._until, NEVER):
            return []
        self._until = self._move(turn)
        new: list[int] = np.flatnonzero(self._course.fresh).tolist()
        self._course.fresh[:] = False
        return new

    def asked(self) -> dict[str, Any]:
        there = np.flatnonzero(~np.isnan(self.means)).tolist()
        return {"among": there} if self._closed.size else {}

    def told_of(self, arm: int) -> dict[str, Any]:
        return {}

    def earn(self, arm: int, turn: int, luck: float) -> tuple[float, float]:
        self._earn(arm, turn, luck)
        return float(self._out[0]), float(self._out[1])


class _Scene:
    """Arms with features; means are those of rewards."""

    def __init__(self, problem: Problem, rng: NDArray[np.uint64]) -> None:
        self._problem = result = scene_of(problem)
        self._features = np.zeros((result.arms, result.features))
        self._eta, self.means = np.zeros(result.arms), np.zeros(result.arms)
        held = {"numbers": result.numbers, "table": result.table, "rng": rng}
        held["truth"] = np.zeros(result.truth_size)
        self.begin = entry(begin_scene, scene=result.scene).hold(**held)
        self._meet = entry(meet, scene=result.scene).hold(
            **held, features=self._features, eta=self._eta
        )

    def step(self, turn: int) -> list[int]:
        if turn == 1 or not self._problem.stays:
            self._meet()
            self.means[:] = [
                self._problem.rewards.mean(self._problem.model.constants, eta) for eta in self._eta
            ]
        return []

    def asked(self) -> dict[str, Any]:
        return {"features": self._features.copy()}

    def told_of(self, arm: int) -> dict[str, Any]:
        return {"features": self._features[arm].copy()}

    def earn(self, arm: int, turn: int, luck: float) -> tuple[float, float]:
        constants = self._problem.model.constants
        value = float(self._problem.rewards.reward(constants, self._eta[arm], luck))
        return value, value


class _Ticket(NamedTuple):
    turn: int
    arm: int
    reward: float
    also: dict[str, Any]


class _Post:
    """Rewards that are out, and when they are told."""

    def __init__(self, late: dict[str, Any], horizon: int) -> None:
        self.telling, self.batch = late["telling"], late["batch"]
        self._clock, self._quantiles = late["clock"], late["quantiles"]
        self._coming: list[list[_Ticket]] = [[] for _ in range(horizon)]
        self._open: list[_Ticket] = []
        self._void: set[int] = set()

    def send(self, ticket: _Ticket, luck: float) -> None:
        times, turn = self._clock.times, ticket.turn
        comes = self.telling == _LATE or (self.telling != _WINDOW and ticket.reward != 0.0)
        if not comes:
            self._open.append(ticket)
            return
        row = self._quantiles[ticket.arm if len(self._quantiles) > 1 else 0]
        delay = float(np.interp(luck * (len(row) - 1), np.arange(len(row)), row))
        when = turn + 1
        while when < len(times) and times[when] < times[turn] + delay:
            when += 1
        if when < len(times):
            self._coming[when].insert(0, ticket)

    def due(self, turn: int) -> list[_Ticket]:
        """What is told at a turn, the first of a batch."""
        if turn % self.batch:
            return []
        result: list[_Ticket] = []
        for when in range(max(turn - self.batch + 1, 0), turn + 1):
            result += self._coming[when]
        times, window = self._clock.times, self._clock.window
        ended = [one for one in self._open if times[one.turn] + window <= times[turn]]
        self._open = self._open[len(ended) :]
        return [one for one in result + ended if one.turn not in self._void]

    def lose(self, arm: int) -> None:
        """What is out of an arm is void."""
        out = [one for coming in self._coming for one in coming] + self._open
        self._void |= {one.turn for one in out if one.arm == arm}


class PythonRunner:
    """A player in plain Python at a problem."""

    def __init__(self, player: Any, problem: Problem, horizon: int) -> None:
        self._player, self._problem, self._horizon = player, problem, horizon
        self._marks = checkpoints(horizon)
        self._late = late_part(problem, horizon)

    def play(self, results: Any, first: int, seed: chance.Words, stop: Stop) -> int:
        """Play runs first, first + 1, … into the results; how many ended before a stop."""
        generators = np.zeros((4, 4), dtype=np.uint64)
        kind = _Scene if self._problem.played_as == "featured" else _Arms
        world: _World = kind(self._problem, generators[WORLD])
        nature, delays = (
            entry(chance.uniform).hold(rng=generators[role]) for role in (NATURE, DELAYS)
        )
        forked = entry(fork).hold(generators=generators, seed=seed)
        for r in range(len(results.regret)):
            forked(first + r)
            world.begin()
            player = self._player(self._problem.arms, np.random.default_rng(generators[MIND]))
            post = _Post(self._late, self._horizon)
            lost, missed, earned, mark = 0.0, 0, 0.0, 0
            for t in range(self._horizon):
                if stop[0]:
                    return r
                for arm in world.step(t + 1):
                    post.lose(arm)
                    if hasattr(player, "renew"):
                        player.renew(arm)
                for one in post.due(t):
                    player.tell(one.arm, one.reward, **one.also)
                asked = world.asked()
                arm = self._arm(player.ask(**asked), asked.get("among"))
                told, given = world.earn(arm, t + 1, nature())
                luck, also = delays(), world.told_of(arm)
                if post.telling == _AT_ONCE:
                    player.tell(arm, told, **also)
                else:
                    post.send(_Ticket(t, arm, told, also), luck)
                results.plays[r, arm] += 1
                earned += given
                best = np.nanmax(world.means)
                lost += best - world.means[arm]
                missed += world.means[arm] < best
                if t + 1 == self._marks[mark]:
                    results.regret[r, mark], results.suboptimal_draws[r, mark] = lost, missed
                    results.reward[r, mark] = earned
                    mark += 1
            for name in ("belief", "doubt"):
                if hasattr(results, name):  # nobody knows what it believes
                    getattr(results, name)[r] = np.nan
        return len(results.regret)

    def _arm(self, given: Any, among: list[int] | None) -> int:
        arms = self._problem.arms
        try:
            arm = operator.index(given)
        except TypeError:
            arm = -1
        if not 0 <= arm < arms:
            allowed = f"give a whole number from 0 to {arms - 1}"
            raise ArmError(f"ask() gave {given!r}, which is not an arm: {allowed}")
        if among is not None and arm not in among:
            raise ArmError(f"ask() gave {given!r}, which is not there now: give one of {among}")
        return arm
