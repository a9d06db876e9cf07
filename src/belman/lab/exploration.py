"""The door of pure exploration: players and a problem in, what they recommend, and how often they
are wrong, out.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from belman import spec
from belman.environments.environment import Problem
from belman.errors import PolicyError, SettingError
from belman.lab.carry_out import carry_out, check_sizes
from belman.lab.design import Design
from belman.lab.verdicts import ExplorationSeat, Question, Verdicts, exploration_seat
from belman.policies.policy import Policy, never_finished
from belman.policies.stopping import check_rule

if TYPE_CHECKING:
    import xarray

Players = Mapping[str, Policy | type[Policy]] | Iterable[Policy | type[Policy]]

_CHUNK = 64  # runs of a task that ends nobody knows when


@spec.member
@dataclass(frozen=True)
class Exploration(Design):
    """Players who are judged by what they recommend."""

    question: Question

    name = "exploration"

    dims: ClassVar = {
        "simple_regret": ("turn",),
        "error": ("turn",),
        "turns": (),
        "plays": ("arm",),
    }

    @property
    def chunk(self) -> int:
        return super().chunk if self.question.delta is None else _CHUNK

    def seat(self, player: Policy) -> ExplorationSeat:
        return exploration_seat(player, self.problem, self.question)

    def blank(self, runs: int) -> Verdicts:
        return Verdicts.blank(runs, len(self.question.marks), self.problem.arms)


def explore(
    players: Players,
    problem: Problem,
    runs: int,
    seed: int = 0,
    *,
    budget: int | None = None,
    delta: float | None = None,
    m: int = 1,
    threshold: str = "customary",
    most: int = 1_000_000,
    executor: str = "threads",
    workers: int | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> xarray.Dataset:
    """Let every player look for the m best arms, with a budget of turns or until they are known up
    to a risk δ.

    With `budget`, the Dataset has simple_regret (how much less the recommended arms have than the
    best) and error (whether one of them is none of the best) at the checkpoints, and plays at the
    end. With `delta`, a run ends when the evidence passes the `threshold` ('customary' or 'proven',
    see `belman.policies.stopping.thresholds`, or 'own' for the policy's own rule) or after `most`
    turns, and the Dataset has turns, stopped, simple_regret, error and plays at that moment.

    A player may be given as a class, such as belman.SuccessiveRejects: it is then made for this
    budget, δ and m. The rest is as in `belman.simulate`.

    >>> import belman
    >>> problem = belman.bernoulli([0.5, 0.4, 0.3])
    >>> found = explore({"SR": belman.SuccessiveRejects, "uniform": belman.Uniform()}, problem, runs=50, seed=7, budget=300)
    >>> sorted(found.data_vars), dict(found.sizes)
    (['error', 'plays', 'simple_regret'], {'player': 2, 'run': 50, 'turn': 300, 'arm': 3})
    >>> found = explore([belman.TrackAndStop()], problem, runs=50, seed=7, delta=0.1)
    >>> bool(found.stopped.all()), float(found.error.mean()) <= 0.1
    (True, True)
    """
    design = _checked(players, problem, runs, seed, budget, delta, m, threshold, most)
    return _dataset(design, carry_out(design, executor, workers, store, progress))


def _checked(
    players: Players,
    problem: Problem,
    runs: int,
    seed: int,
    budget: Any,
    delta: Any,
    m: int,
    threshold: str,
    most: int,
) -> Exploration:
    if (budget is None) == (delta is None):
        raise SettingError(
            "pure exploration ends by a budget or by a risk: give either budget=… (turns) or delta=… (0.1, say)"
        )
    horizon = most if budget is None else budget
    sizes = {
        "most" if budget is None else "budget": (horizon, 1),
        "runs": (runs, 1),
        "seed": (seed, 0),
        "m": (m, 1),
    }
    check_sizes(problem, **sizes)
    if m > problem.arms:
        raise SettingError(f"m={m!r} is more than the {problem.arms} arms of this problem")
    if delta is not None and (
        isinstance(delta, bool) or not isinstance(delta, (int, float)) or not 0.0 < delta < 1.0
    ):
        raise SettingError(f"delta={delta!r} is no risk: it must lie strictly between 0 and 1")
    if threshold != "own":
        check_rule(threshold, problem.family)
    elif delta is None:
        raise SettingError(
            "threshold='own' asks when players stop: give delta=… instead of a budget"
        )
    alone: Any = players
    several: Any = [alone] if isinstance(alone, (Policy, type)) else players
    given = several if isinstance(several, Mapping) else {player.name: player for player in several}
    known = {"budget": budget, "delta": delta, "m": m}
    named = {name: _player(name, player, known) for name, player in given.items()}
    if not named:
        raise PolicyError("exploration needs at least one player: the list of players is empty")
    for name, player in named.items():
        player.check(problem.family, problem.arms)
        if threshold == "own" and player.kernels.finished is never_finished:
            raise PolicyError(
                f"player {name!r} has no stopping rule of its own: give threshold='customary'"
            )
    question = Question(int(m), int(horizon), None if delta is None else float(delta), threshold)
    return Exploration(named, problem, int(horizon), int(runs), int(seed), question)


def _player(name: str, player: Any, known: dict[str, Any]) -> Policy:
    """The policy, or one of that class for what is known of the question."""
    if isinstance(player, type) and issubclass(player, Policy):
        takes = {field.name for field in fields(player) if known.get(field.name) is not None}
        try:
            player = player(**{setting: known[setting] for setting in takes})
        except TypeError:
            raise PolicyError(
                f"player {name!r} is made for a budget: give budget=… instead of delta=…"
            ) from None
    if not isinstance(player, Policy):
        raise PolicyError(
            f"player {name!r} is {player!r}: give a policy, such as belman.Uniform(), or a class of policies"
        )
    if player.sees_truth:
        raise PolicyError(f"player {name!r} is told the true means: it has nothing to explore")
    return player


def _dataset(design: Exploration, whole: Verdicts) -> xarray.Dataset:
    import xarray

    question = design.question
    words = {
        "simple_regret": "what the recommended arms lack",
        "error": "whether a recommended arm is none of the best",
        "turns": "turns at the stop",
        "plays": "plays at the end",
    }
    at_stop = question.delta is not None
    variables: dict[str, Any] = {}
    for name, array in whole._asdict().items():
        marks = design.dims[name]
        if at_stop and marks == ("turn",):
            array, marks = array[:, :, 0], ()
        variables[name] = (("player", "run", *marks), array, {"long_name": words[name]})
    coords: dict[str, Any] = {"player": list(design.players), "run": np.arange(design.runs)}
    if at_stop:
        stopped = whole.turns < question.horizon
        variables["stopped"] = (
            ("player", "run"),
            stopped,
            {"long_name": "whether it stopped before the last turn"},
        )
    else:
        del variables["turns"]
        coords["turn"] = question.marks
    return xarray.Dataset(
        variables,
        coords={**coords, "arm": np.arange(design.problem.arms)},
        attrs={
            **design.attributes(),
            "m": question.m,
            "delta": math.nan if question.delta is None else question.delta,
            "threshold": question.threshold,
        },
    )
