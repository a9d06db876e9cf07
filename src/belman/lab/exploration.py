"""Pure exploration: players and a problem in, what they recommend and how often wrongly, out.

The recommendation draws its ties from the generator of the world, which the run no longer needs, so
that asking for it changes nothing of what the player does.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance, spec
from belman.engine import call_address, entry, inlined_kernel, kernel
from belman.errors import PolicyError, SettingError
from belman.lab.bandit_loop import (
    NATURE,
    STOP_CHECK_TURNS,
    WORLD,
    Plays,
    count_plays,
    play_arm,
    prepare_run,
)
from belman.lab.bandit_runner import set_up
from belman.lab.design import Design, Field, Stop, checkpoints
from belman.lab.policy_call import (
    FINISHED,
    NO_ARM,
    NO_TURN,
    RECOMMEND,
    bind_policy,
    call_advice,
    call_choose,
    reset,
    values_of_turns,
)
from belman.lab.run import check_sizes, run
from belman.policies.averages import plays_needed
from belman.policies.best_arm.stopping import check_rule, least_contrast, thresholds
from belman.policies.memory import Floats
from belman.policies.policy import Policy
from belman.policies.policy_kernels import never_finished, pick_most
from belman.problems.course import FIXED
from belman.problems.problem import Problem

if TYPE_CHECKING:
    import xarray

Players = Mapping[str, Any] | Iterable[Policy | type[Policy]]

_ERROR = "whether a recommended arm is not one of the best"
_CHUNK = 64  # runs of a task that ends nobody knows when
#: What ends a run: its last turn alone, enough evidence, or the policy's own rule.
BUDGET, EVIDENCE, OWN = 0, 1, 2


@spec.member
@dataclass(frozen=True)
class Question:
    """What a run is asked: the m best arms, after `horizon` turns or once known up to a risk δ.

    `threshold` names how much evidence is enough, or is 'own' for the policy's rule.
    """

    m: int
    horizon: int
    delta: float | None = None
    threshold: str = "customary"

    name: ClassVar[str] = "question"

    @property
    def marks(self) -> NDArray[np.int64]:
        """The turns at which a player is judged: checkpoints of the budget, or the last."""
        return checkpoints(self.horizon) if self.delta is None else np.array([self.horizon])


class ExplorationResults(NamedTuple):
    """Results of some runs: judgements (runs × marks), turns played, plays (runs × arms)."""

    simple_regret: Annotated[Floats, Field(("turn",), "what the recommended arms lack")]
    error: Annotated[NDArray[np.bool_], Field(("turn",), _ERROR)]
    turns: Annotated[NDArray[np.int64], Field((), "turns at the stop")]
    plays: Plays


@spec.member
@dataclass(frozen=True)
class Exploration(Design):
    """Players who are judged by what they recommend."""

    question: Question

    name = "exploration"

    @property
    def chunk(self) -> int:
        return super().chunk if self.question.delta is None else _CHUNK

    def runner(self, player: Policy) -> ExplorationRunner:
        return exploration_runner(player, self.problem, self.question)

    @property
    def record(self) -> Callable[..., ExplorationResults]:
        return ExplorationResults

    @property
    def marks(self) -> NDArray[np.int64]:
        return self.question.marks


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
    """Let every player look for the m best arms, for a number of turns or until they are known up
    to a risk δ.

    Parameters
    ----------
    players
        Policies by name, or a list of them. A class, such as `belman.policies.SuccessiveRejects`,
        is made for this budget, δ and m.
    problem
        One of `belman.problems`.
    runs
        How many times to play.
    seed
        A whole number.
    budget
        How many turns; or `delta`.
    delta
        The risk: a run ends when the evidence passes the threshold.
    m
        How many arms are looked for.
    threshold
        "customary", "proven" (see `policies/best_arm/stopping.py`), or "own" for the policy's own
        rule.
    most
        The most turns of a run that `delta` ends.
    executor
        As in `belman.simulate`.
    workers
        As in `belman.simulate`.
    store
        As in `belman.simulate`.
    progress
        As in `belman.simulate`.

    Returns
    -------
    xarray.Dataset
        With `budget`, simple_regret (the best mean minus that of the recommended arms) and error
        (whether a recommended arm is not among the best) at the checkpoints, and plays at the end.
        With `delta`, turns, stopped, simple_regret, error and plays when the run ended.

    >>> import belman
    >>> problem = belman.problems.bernoulli([0.5, 0.4, 0.3])
    >>> players = {"SR": belman.policies.SuccessiveRejects, "uniform": belman.Uniform()}
    >>> result = explore(players, problem, runs=50, seed=7, budget=300)
    >>> sorted(result.data_vars), dict(result.sizes)
    (['error', 'plays', 'simple_regret'], {'player': 2, 'run': 50, 'turn': 300, 'arm': 3})
    >>> result = explore([belman.policies.TrackAndStop()], problem, runs=50, seed=7, delta=0.1)
    >>> bool(result.stopped.all()), float(result.error.mean()) <= 0.1
    (True, True)
    """
    design = _checked(players, problem, runs, seed, budget, delta, m, threshold, most)
    return _dataset(design, run(design, executor, workers, store, progress))


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
        remedy = "give either budget=… (turns) or delta=… (0.1, say)"
        raise SettingError(f"pure exploration ends by a budget or by a risk: {remedy}")
    horizon = most if budget is None else budget
    sizes = {"most" if budget is None else "budget": (horizon, 1), "runs": (runs, 1)}
    sizes |= {"seed": (seed, 0), "m": (m, 1)}
    check_sizes(problem, **sizes)
    if problem.late or problem.played_as != "bandit" or problem.course != FIXED:
        remedy = "give fixed means, such as belman.problems.bernoulli, or arms drawn in every run"
        raise SettingError(
            f"pure exploration is of arms that stay, whose rewards are told at once and truly: "
            f"{remedy}, not a {type(problem).__name__}"
        )
    if m > problem.arms:
        raise SettingError(f"m={m!r} is more than the {problem.arms} arms of this problem")
    is_number = isinstance(delta, (int, float)) and not isinstance(delta, bool)
    if delta is not None and not (is_number and 0.0 < delta < 1.0):
        raise SettingError(f"delta={delta!r} is not valid: it must lie strictly between 0 and 1")
    if threshold != "own":
        check_rule(threshold, problem.family)
    elif delta is None:
        remedy = "give delta=… instead of a budget"
        raise SettingError(f"threshold='own' asks when players stop: {remedy}")
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
            remedy = "give threshold='customary'"
            raise PolicyError(f"player {name!r} has no stopping rule of its own: {remedy}")
    question = Question(int(m), int(horizon), None if delta is None else float(delta), threshold)
    return Exploration(named, problem, int(horizon), int(runs), int(seed), question)


def _player(name: str, player: Any, known: dict[str, Any]) -> Policy:
    """The policy, or one of that class for what is known of the question."""
    if isinstance(player, type) and issubclass(player, Policy):
        takes = {field.name for field in fields(player) if known.get(field.name) is not None}
        try:
            player = player(**{setting: known[setting] for setting in takes})
        except TypeError:
            remedy = "give budget=… instead of delta=…"
            raise PolicyError(f"player {name!r} is made for a budget: {remedy}") from None
    if not isinstance(player, Policy):
        allowed = "give a policy, such as belman.Uniform(), or a class of policies"
        raise PolicyError(f"player {name!r} is {player!r}: {allowed}")
    if player.sees_truth:
        raise PolicyError(f"player {name!r} knows the true means: it has nothing to explore")
    return player


def _dataset(design: Exploration, whole: ExplorationResults) -> xarray.Dataset:
    question = design.question
    delta = math.nan if question.delta is None else question.delta
    asked = {"m": question.m, "delta": delta, "threshold": question.threshold}
    result = design.dataset(whole).assign_attrs(asked)
    if question.delta is None:
        return result.drop_vars("turns")
    words = {"long_name": "whether it stopped before the last turn"}
    stopped = (result.turns < question.horizon).assign_attrs(words)
    return result.isel(turn=0, drop=True).assign(stopped=stopped)


@kernel
def _best_sum(means, m, generator, score, chosen):
    """The sum and the least of the m best means."""
    for a in range(means.size):
        score[a] = means[a]
    pick_most(score, m, generator, chosen)
    total, least = 0.0, np.inf
    for a in range(means.size):
        if chosen[a] > 0.0:
            total += means[a]
            least = min(least, means[a])
    return total, least


@kernel
def _judge(means, total, least, chosen):
    """How much less the chosen arms have than the best, and whether one is none of the best."""
    lost, wrong = total, False
    for a in range(means.size):
        if chosen[a] > 0.0:
            lost -= means[a]
            wrong = wrong or means[a] < least
    return lost if wrong else 0.0, wrong


@inlined_kernel
def _recommend(advice_call, m, luck, score, chosen):
    """Mark the m arms that the policy recommends now."""
    call_address(advice_call, RECOMMEND, 0, 0.0)
    pick_most(score, m, luck, chosen)


@kernel
def explore_runs(
    family, constants, prior, ledger, block, blank, world, theta, means, index, chosen, doubt,
    generators,
    turn_values, marks, rule, thresholds, needed, m, seed, first, policy_call, advice_call,
    simple_regret, error, turns, plays, stop,
):  # fmt: skip
    """Play runs first, first + 1, … until the budget or the stopping rule ends them: how many."""
    for r in range(len(turns)):
        prepare_run(family, constants, world, seed, first + r, generators, theta, means)
        nature, luck = generators[NATURE], generators[WORLD]
        total, least = _best_sum(means, m, luck, index, chosen)
        reset(policy_call, prior, ledger, block, blank)
        mark, t, over = 0, 0, False
        while t < turn_values.size and not over:
            index[:] = 0.0  # picking has left its marks
            arm = call_address(policy_call, NO_ARM, t + 1, turn_values[t])
            if rule == OWN and call_address(advice_call, FINISHED, 0, 0.0) != 0:
                break
            play_arm(family, constants, theta, nature, ledger, arm)
            call_address(policy_call, arm, NO_TURN, 0.0)
            t += 1
            marked = rule == BUDGET and t == marks[mark]
            if marked or rule == EVIDENCE:
                _recommend(advice_call, m, luck, index, chosen)
            if marked:
                simple_regret[r, mark], error[r, mark] = _judge(means, total, least, chosen)
                mark += 1
            elif rule == EVIDENCE:
                enough = thresholds[t - 1]
                over = (
                    least_contrast(family, constants, ledger, needed, chosen, enough, doubt)
                    > enough
                )
            if t % STOP_CHECK_TURNS == 0 and stop[0] != 0:
                return r
        if rule != BUDGET:
            _recommend(advice_call, m, luck, index, chosen)
            simple_regret[r, 0], error[r, 0] = _judge(means, total, least, chosen)
        turns[r] = t
        count_plays(ledger, plays[r])
    return len(turns)


@functools.lru_cache(maxsize=4)
def _enough(question: Question, arms: int) -> Floats:
    """How much evidence is enough at each turn: up to a million numbers, shared by all players."""
    assert question.delta is not None
    turns = np.arange(1.0, question.horizon + 1.0)
    return thresholds(turns, question.delta, arms, question.m, question.threshold)


class ExplorationRunner:
    """A compiled policy at a problem, to be asked for the best arms."""

    def __init__(self, policy: Policy, problem: Problem, question: Question) -> None:
        family = problem.family
        self._policy, self._problem, self._question = policy, problem, question
        self._marks = np.append(question.marks, -1)
        self._rule, self._thresholds = BUDGET, np.zeros(0)
        if question.threshold == "own":
            self._rule = OWN
        elif question.delta is not None:
            self._rule, self._thresholds = EVIDENCE, _enough(question, problem.arms)
        self._memory = policy.memory(problem.arms, family.dimension)
        self._turn_values = values_of_turns(policy, problem.arms, question.horizon)
        self._entry = entry(explore_runs, family=family.kernels)

    def play(self, results: ExplorationResults, first: int, seed: chance.Words, stop: Stop) -> int:
        """Play runs first, first + 1, … into the results; how many ended before a stop."""
        problem, family, arms = self._problem, self._problem.family, self._problem.arms
        given, bound = set_up(self._policy, family, arms, self._memory)
        call, advice = bind_policy(call_choose, *bound), bind_policy(call_advice, *bound)
        done: int = self._entry(
            **given,
            world=problem.world,
            theta=problem.parameters,
            means=np.zeros(arms),
            index=bound[-1],
            chosen=np.zeros(arms),
            doubt=np.zeros(2, dtype=np.int64),
            turn_values=self._turn_values,
            marks=self._marks,
            rule=self._rule,
            thresholds=self._thresholds,
            needed=plays_needed(family),
            m=self._question.m,
            seed=seed,
            first=first,
            policy_call=call.address,
            advice_call=advice.address,
            **results._asdict(),
            stop=stop,
        )
        return done


@functools.lru_cache(maxsize=256)
def exploration_runner(policy: Policy, problem: Problem, question: Question) -> ExplorationRunner:
    """The runner of a player; the same for equal players, so that a worker makes it once."""
    return ExplorationRunner(policy, problem, question)
