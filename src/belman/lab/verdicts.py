"""The compiled loop of pure exploration: one player, many runs, each judged by the arms that it
recommends.

The recommendation draws its ties from the generator of the world, which the run no longer needs, so
that asking for it changes nothing of what the player does.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance, spec
from belman.engine import Address, call_bound, entry, inlined_kernel, kernel
from belman.environments.environment import Problem
from belman.lab.design import checkpoints
from belman.lab.hand import FINISHED, NO_ARM, NO_TURN, RECOMMEND, advising, choosing, deal, reset
from belman.lab.play import MIND, NATURE, WORLD, count, prepare_run, pull
from belman.lab.seat import in_one_block
from belman.policies.averages import plays_needed
from belman.policies.policy import Floats, Ledger, Policy, pick_most
from belman.policies.stopping import least_contrast, thresholds

#: What ends a run: its last turn alone, enough evidence, or the policy's own rule.
BUDGET, EVIDENCE, OWN = 0, 1, 2
_LOOKS = 4096  # turns between two looks at the stop flag


class Verdicts(NamedTuple):
    """What came of some runs: judgements at the marks (runs × marks), turns played, and plays per
    arm (runs × arms).
    """

    simple_regret: Floats
    error: NDArray[np.bool_]
    turns: NDArray[np.int64]
    plays: NDArray[np.int32]

    @classmethod
    def blank(cls, runs: int, marks: int, arms: int) -> Verdicts:
        """Room for some runs."""
        return cls(
            np.empty((runs, marks)),
            np.empty((runs, marks), dtype=np.bool_),
            np.zeros(runs, dtype=np.int64),
            np.zeros((runs, arms), dtype=np.int32),
        )


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
    """How much less the chosen arms have than the best, and whether any of them is none of the
    best.
    """
    lost, wrong = total, False
    for a in range(means.size):
        if chosen[a] > 0.0:
            lost -= means[a]
            wrong = wrong or means[a] < least
    return lost if wrong else 0.0, wrong


@inlined_kernel
def _recommend(adviser, m, luck, score, chosen):
    """Mark the m arms that the policy recommends now."""
    call_bound(adviser, RECOMMEND, 0, 0.0)
    pick_most(score, m, luck, chosen)


@kernel
def explore_runs(
    family, law, prior, ledger, block, blank, world, theta, means, index, chosen, doubt, generators, dials, marks, rule,
    thresholds, needed, m, seed, first, hand, adviser, simple_regret, error, turns, plays, stop,
):  # fmt: skip
    """Play runs first, first + 1, … until their budget is spent or the stopping rule is met;
    returns how many were finished.
    """
    for r in range(len(turns)):
        prepare_run(family, law, world, seed, first + r, generators, theta, means)
        nature, luck = generators[NATURE], generators[WORLD]
        total, least = _best_sum(means, m, luck, index, chosen)
        reset(hand, prior, ledger, block, blank)
        mark, t, over = 0, 0, False
        while t < dials.size and not over:
            index[:] = 0.0  # picking has left its marks
            arm = call_bound(hand, NO_ARM, t + 1, dials[t])
            if rule == OWN and call_bound(adviser, FINISHED, 0, 0.0) != 0:
                break
            pull(family, law, theta, nature, ledger, arm)
            call_bound(hand, arm, NO_TURN, 0.0)
            t += 1
            marked = rule == BUDGET and t == marks[mark]
            if marked or rule == EVIDENCE:
                _recommend(adviser, m, luck, index, chosen)
            if marked:
                simple_regret[r, mark], error[r, mark] = _judge(means, total, least, chosen)
                mark += 1
            elif rule == EVIDENCE:
                over = (
                    least_contrast(family, law, ledger, needed, chosen, thresholds[t - 1], doubt)
                    > thresholds[t - 1]
                )
            if t % _LOOKS == 0 and stop[0] != 0:
                return r
        if rule != BUDGET:
            _recommend(adviser, m, luck, index, chosen)
            simple_regret[r, 0], error[r, 0] = _judge(means, total, least, chosen)
        turns[r] = t
        count(ledger, plays[r])
    return len(turns)


@spec.member
@dataclass(frozen=True)
class Question:
    """What a run is asked: the m best arms, after `horizon` turns at the latest, or as soon as they
    are known up to a risk δ.

    `threshold` names how much evidence is enough, or is 'own' for the policy's rule.
    """

    m: int
    horizon: int
    delta: float | None = None
    threshold: str = "customary"

    name: ClassVar[str] = "question"

    @property
    def marks(self) -> NDArray[np.int64]:
        """The turns at which the player is judged: checkpoints of the budget, or just the last one."""
        return checkpoints(self.horizon) if self.delta is None else np.array([self.horizon])


@functools.lru_cache(maxsize=4)
def _enough(question: Question, arms: int) -> Floats:
    """How much evidence is enough at each turn: up to a million numbers, the same for all players."""
    assert question.delta is not None
    return thresholds(
        np.arange(1.0, question.horizon + 1.0), question.delta, arms, question.m, question.threshold
    )


class ExplorationSeat:
    """A compiled policy at a problem, to be asked for the best arms."""

    def __init__(self, policy: Policy, problem: Problem, question: Question) -> None:
        family, turns = problem.family, np.arange(1.0, question.horizon + 1.0)
        self._policy, self._problem, self._question = policy, problem, question
        self._marks, self._thresholds, self._rule = (
            np.append(question.marks, -1),
            np.zeros(0),
            BUDGET,
        )
        if question.threshold == "own":
            self._rule = OWN
        elif question.delta is not None:
            self._rule, self._thresholds = EVIDENCE, _enough(question, problem.arms)
        self._blank = policy.memory(problem.arms, family.dimension)
        self._dials = np.ascontiguousarray(policy.dial(turns, problem.arms), dtype=np.float64)
        bundles = {"family": (family.kernels, type(family).__module__)}
        self._call = entry(
            explore_runs, bundles, {"ledger": Ledger, "hand": Address, "adviser": Address}
        )

    def play(self, first: int, runs: int, seed: int, stop: NDArray[np.int64]) -> Verdicts | None:
        """The verdicts of these runs, or None if a stop came before they were finished."""
        problem, family, arms = self._problem, self._problem.family, self._problem.arms
        verdicts = Verdicts.blank(runs, len(self._marks) - 1, arms)
        block, memory = in_one_block(self._blank)
        ledger = Ledger(np.zeros((arms, family.dimension)), *(np.zeros(arms) for _ in range(3)))
        index, generators = np.zeros(arms), np.zeros((3, 4), dtype=np.uint64)
        cards = (
            self._policy,
            family,
            self._policy.params(family),
            ledger,
            memory,
            generators[MIND],
            index,
        )
        hand, adviser = deal(choosing, *cards), deal(advising, *cards)
        done = self._call(
            *(
                family.law,
                np.array(family.prior),
                *ledger,
                block,
                block.copy(),
                problem.world,
                problem.parameters,
            ),
            *(
                np.zeros(arms),
                index,
                np.zeros(arms),
                np.zeros(2, dtype=np.int64),
                generators,
                self._dials,
                self._marks,
            ),
            *(
                self._rule,
                self._thresholds,
                plays_needed(family),
                self._question.m,
                chance.generator(seed),
                first,
            ),
            *(*hand, *adviser, *verdicts, stop),
        )
        return verdicts if done == runs else None


@functools.lru_cache(maxsize=256)
def exploration_seat(policy: Policy, problem: Problem, question: Question) -> ExplorationSeat:
    """The seat of a player; the same for equal players, so that a worker makes it once."""
    return ExplorationSeat(policy, problem, question)
