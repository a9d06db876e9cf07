"""BelMan for a world that changes: a bank of hazards, and evidence that ages.

Each member of the bank (`run_lengths.py`) is a BelMan of its own, with its own shift and leader: of
an arm, last told Δ turns ago, q = 1 − (1 − h)^Δ is the chance that it was reset since, and
μ_a = (1 − q) Σ w_r μ_r + q μ₀; ν_a likewise. The evidence against it is
e_a = −ln[(1 − q) Σ w_r exp(−ν_r d(μ_r, μ_L)) + q P₀(mean ≥ μ_L)], at most `most`: old refutations
expire by themselves. The surprise x_a = ln(min(t, 1/(2h))/ν_a) counts no more turns than knowledge
lives, and is at least 0. Played is argmax_a Σ_j W_j (φ(x_a) − e_a). With one member of hazard 0 it
is the default.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from belman.engine import kernel
from belman.errors import PolicyError
from belman.exposure import Evidence
from belman.families.family import TERMS, Family
from belman.policies import run_lengths
from belman.policies.averages import keep_terms
from belman.policies.evidence import phi
from belman.policies.policy import (
    Floats,
    Ledger,
    Policy,
    PolicyKernels,
    choose_by_index,
    rearranged,
    share_of_ties,
)
from belman.policies.run_lengths import LAST, PLAYS, WEIGHT, Bank, gone
from belman.policies.settings import is_number, is_whole, require

POOL, REACH, MOST, SURE, RENEWAL, PRIOR_MEAN, PRIOR_WORTH, MEMBERS, SIZE = 0, 1, 2, 3, 4, 5, 6, 7, 8
HEAD = 9
MEAN, WORTH = 0, 1  # rows of judged
_STEPS, _LITTLE = 8.0, 1e-3  # as in `evidence.py`


class Memory(NamedTuple):
    """A bank, and what a turn needs of its members (J), arms (K) and runs (R)."""

    bank: Bank
    judged: Floats  # (2, J, K) mean and worth of the runs of an arm, weighed
    terms: Floats  # (J, K, TERMS, R) the runs' side of the evidence, with the shift
    worths: Floats  # (J, K, R)
    means: Floats  # (J, K, R) as judged, with the shift
    shifts: Floats  # (J)
    waiting: Floats  # (K) asks whose reward is not told yet
    seeded: Floats  # (K) whether the bank knows the arm
    scratch: Floats  # (TERMS)
    arm_scratch: Floats  # (2, K)


@kernel
def judge_run(family, law, params, memory, j, arm, r):
    """The mean of a run with the prior moved by the member's shift, and its terms."""
    belief = memory.bank.beliefs[j, arm, r]
    worth, mean = family.worth(law, belief), family.expected_reward(law, belief)
    memory.worths[j, arm, r] = worth
    if worth > 0.0 and math.isfinite(mean):
        if worth >= params[PRIOR_WORTH]:
            mean += memory.shifts[j] * params[PRIOR_WORTH] / worth
        spread = family.spread(law, belief)
        keep_terms(family, law, mean, spread, memory.scratch, memory.terms[j, arm], r)
        memory.means[j, arm, r] = mean
    else:
        memory.means[j, arm, r] = np.inf


@kernel
def judge_arm(family, law, params, memory, arm):
    """Renew what a turn needs of an arm whose bank has changed."""
    bank = memory.bank
    for j in range(bank.members.size):
        mean, worth = 0.0, 0.0
        for r in range(int(bank.counts[j, arm])):
            judge_run(family, law, params, memory, j, arm, r)
            weight = bank.runs[WEIGHT, j, arm, r]
            mean += weight * family.expected_reward(law, bank.beliefs[j, arm, r])
            worth += weight * memory.worths[j, arm, r]
        memory.judged[MEAN, j, arm] = mean
        memory.judged[WORTH, j, arm] = worth


@kernel
def refresh(family, law, params, ledger, memory, arm):
    """A new arm is taken as the ledger believes; asks that are out make an arm less surprising."""
    if memory.seeded[arm] == 0.0:
        count = int(params[MEMBERS])
        first = params[HEAD + count : HEAD + 2 * count]
        run_lengths.seed_arm(family, law, first, memory.bank, arm, ledger.beliefs[arm])
        memory.seeded[arm] = 1.0 + ledger.plays[arm]
        judge_arm(family, law, params, memory, arm)
    told = memory.bank.arms[PLAYS, arm] + memory.seeded[arm] - 1.0
    memory.waiting[arm] = max(ledger.plays[arm] - told, 0.0)


@kernel
def learn(family, law, params, ledger, memory, arm, reward):
    count, size = int(params[MEMBERS]), int(params[SIZE])
    hazards, first = params[HEAD : HEAD + count], params[HEAD + count : HEAD + 2 * count]
    prior = params[HEAD + 2 * count : HEAD + 2 * count + size]
    bank = memory.bank
    run_lengths.learn(family, law, hazards, first, params[RENEWAL], prior, bank, arm, reward)
    run_lengths.notice(hazards, first, bank, arm, params[SURE])
    judge_arm(family, law, params, memory, arm)


@kernel
def shift_of(family, law, params, prior, means, worths):
    """As in `evidence.py`, of the means and worths that a member gives the arms now."""
    if not params[PRIOR_WORTH] > 0.0:
        return 0.0
    moved, learned = 0.0, 0.0
    for a in range(means.size):
        if worths[a] > params[PRIOR_WORTH] and math.isfinite(means[a]):
            moved += means[a] - params[PRIOR_MEAN]
            learned += 1.0 - params[PRIOR_WORTH] / worths[a]
    exact = moved / (params[POOL] + learned)
    if exact >= 0.0:
        return 0.0
    mean = params[PRIOR_MEAN]
    spread = family.moved(law, family.spread(law, prior), mean, mean + exact)
    if params[PRIOR_WORTH] * family.d(law, mean + exact, mean, spread) < _LITTLE:
        return 0.0
    return -(2.0 ** (np.rint(_STEPS * math.log2(-exact)) / _STEPS))


@kernel
def weigh_member(family, law, params, prior, memory, j, hazard, greed, index):
    """Add a member's W_j (φ(x_a) − e_a) to the index of every arm."""
    bank = memory.bank
    means, worths = memory.arm_scratch[0], memory.arm_scratch[1]
    now, told = bank.clock[0] + 1.0, 1.0
    for a in range(index.size):
        elapsed = now - bank.arms[LAST, a] if bank.arms[PLAYS, a] > 0.0 else 0.0
        changed = gone(hazard, elapsed)
        mean, worth = memory.judged[MEAN, j, a], memory.judged[WORTH, j, a]
        if changed > 0.0:
            mean = (1.0 - changed) * mean + changed * params[PRIOR_MEAN]
            worth = (1.0 - changed) * worth + changed * params[PRIOR_WORTH]
        means[a], worths[a] = mean, worth
        told += worth - params[PRIOR_WORTH]
    found = shift_of(family, law, params, prior, means, worths)
    if found != memory.shifts[j]:
        memory.shifts[j] = found
        for a in range(index.size):
            for r in range(int(bank.counts[j, a])):
                judge_run(family, law, params, memory, j, a, r)
    leading = -np.inf
    for a in range(index.size):
        if worths[a] > 0.0 and math.isfinite(means[a]):
            if worths[a] >= params[PRIOR_WORTH]:
                means[a] += found * params[PRIOR_WORTH] / worths[a]
            if index[a] == index[a]:
                leading = max(leading, means[a])
        else:
            means[a] = np.inf
    if leading == -np.inf:
        return
    above = 1.0
    if hazard > 0.0 and params[PRIOR_WORTH] > 0.0:
        above = 1.0 - family.mean_cdf(law, prior, leading)
    family.weights(law, leading, memory.scratch)
    lived = min(told, 0.5 / hazard) if hazard > 0.0 else told
    for a in range(index.size):
        if means[a] == np.inf:
            index[a] = np.inf
            continue
        surprise = math.log(lived / (worths[a] + memory.waiting[a]))
        if hazard > 0.0:
            surprise = max(surprise, 0.0)
        against = 0.0
        if means[a] < leading:
            elapsed = now - bank.arms[LAST, a] if bank.arms[PLAYS, a] > 0.0 else 0.0
            changed = gone(hazard, elapsed)
            against = evidence_of(family, memory, j, a, leading, changed, above)
        value = phi(surprise, greed, params[REACH]) - min(against, params[MOST])
        index[a] += bank.members[j] * value


@kernel
def evidence_of(family, memory, j, arm, leading, changed, above):
    """−ln of how likely the arm's runs, or a reset, are to be as good as the leader."""
    bank, weights = memory.bank, memory.scratch
    count = int(bank.counts[j, arm])
    if count == 1 and changed == 0.0:
        if memory.means[j, arm, 0] >= leading:
            return 0.0
        against = family.evidence(memory.terms[j, arm], 0, weights)
        return memory.worths[j, arm, 0] * max(against, 0.0)
    likely = changed * above
    for r in range(count):
        weight = (1.0 - changed) * bank.runs[WEIGHT, j, arm, r]
        if memory.means[j, arm, r] < leading:
            against = family.evidence(memory.terms[j, arm], r, weights)
            weight *= math.exp(-memory.worths[j, arm, r] * max(against, 0.0))
        likely += weight
    return -math.log(max(likely, 1e-300))


@kernel
def indices(family, law, params, ledger, memory, turn, greed, mind, index):
    count, size = int(params[MEMBERS]), int(params[SIZE])
    prior = params[HEAD + 2 * count : HEAD + 2 * count + size]
    for a in range(index.size):
        index[a] = 0.0 if index[a] == index[a] else np.nan
    for j in range(count):
        weigh_member(family, law, params, prior, memory, j, params[HEAD + j], greed, index)


@kernel
def recommend(family, law, params, ledger, memory, score):
    """What the bank expects of each arm."""
    for a in range(score.size):
        score[a] = 0.0
        for j in range(memory.bank.members.size):
            score[a] += memory.bank.members[j] * memory.judged[MEAN, j, a]


KERNELS = PolicyKernels(
    refresh, indices, choose_by_index, share_of_ties, recommend=recommend, learn=learn
)


class Change(NamedTuple):
    """A change that was noticed: at which turn, of which arm, after which turn, from and to which
    average reward, and how sure.
    """

    turn: int
    arm: int
    after: int
    before: float
    now: float
    sure: float


@dataclass(frozen=True)
class Drift(Policy):
    """BelMan where the world may change, for families with conjugate beliefs.

    `hazards` are chances of a change per arm and turn, each of them a complete BelMan that is
    weighed by how well it predicts; `shares` are their weights at first, of which a share
    `renewal` is mixed in at every reward. Of each arm `runs` lengths of time since its last change
    are kept. A change of which it is `sure` is noticed (`changes`).

    >>> Drift().hazards
    (0.0, 0.0001, 0.001, 0.01)
    """

    hazards: tuple[float, ...] = (0.0, 1e-4, 1e-3, 1e-2)
    shares: tuple[float, ...] = (0.7, 0.18, 0.09, 0.03)
    renewal: float = 3e-4
    runs: int = 8
    most: float = 20.0
    sure: float = 0.95
    gain: float = 2.25
    reach: float = 7.5
    pool: float = 5.0

    name = "belman-drift"
    kernels = KERNELS

    def __post_init__(self) -> None:
        for name in ("hazards", "shares"):
            given = getattr(self, name)
            listed = isinstance(given, (tuple, list)) and 0 < len(given) <= 64
            fits = listed and all(
                is_number(one) and 0.0 <= one < 1.0 + (name == "shares") for one in given
            )
            require(self, name, fits, "a list of chances per turn, from 0 to less than 1")
            object.__setattr__(self, name, tuple(map(float, given)))
        fits = len(self.shares) == len(self.hazards) and abs(sum(self.shares) - 1.0) < 1e-6
        require(self, "shares", fits and min(self.shares) > 0.0, "one a hazard, adding up to 1")
        renewed = is_number(self.renewal) and 0.0 <= self.renewal < 1.0
        require(self, "renewal", renewed, "a share from 0 to less than 1")
        require(self, "runs", is_whole(self.runs, 2) and self.runs <= 4096, "from 2 to 4096")
        require(
            self, "sure", is_number(self.sure) and 0.5 <= self.sure < 1.0, "from 0.5 to below 1"
        )
        require(self, "most", is_number(self.most) and self.most > 0.0, "a positive number of nats")
        Evidence(self.gain, self.reach, self.pool)

    def params(self, family: Family) -> Floats:
        mean, worth = family.expected_reward(family.prior), family.worth(family.prior)
        useful = math.isfinite(mean) and math.isfinite(self.pool)
        known = (mean, worth) if useful else (0.0, 0.0)
        head = [self.pool, self.reach, self.most, self.sure, self.renewal, *known]
        sizes = [float(len(self.hazards)), float(family.dimension)]
        return np.array([*head, *sizes, *self.hazards, *self.shares, *family.prior])

    def memory(self, arms: int, dimension: int) -> Memory:
        members, runs = len(self.hazards), self.runs
        return Memory(
            bank=run_lengths.blank(members, arms, runs, dimension),
            judged=np.zeros((2, members, arms)),
            terms=np.zeros((members, arms, TERMS, runs)),
            worths=np.zeros((members, arms, runs)),
            means=np.zeros((members, arms, runs)),
            shifts=np.zeros(members),
            waiting=np.zeros(arms),
            seeded=np.zeros(arms),
            scratch=np.zeros(TERMS),
            arm_scratch=np.zeros((2, arms)),
        )

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        return {"bank_counts": (0, self.runs), "bank_clock": (0, 10**15)}

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        return Evidence(self.gain, self.reach, self.pool).pull(turns, arms)

    def check(self, family: Family, arms: int) -> None:
        if not family.conjugate:
            why = f"{family.name} rewards have beliefs by moments, which predict none"
            raise PolicyError(f"{self.name} needs a family whose beliefs predict rewards: {why}")

    def resettled(self, memory: Memory, fresh: Memory, places: Sequence[int]) -> Memory:
        """Runs go with their arms; members, clock and what was noticed of arms that stay, too."""
        axes = {"counts": 1, "runs": 2, "beliefs": 1, "arms": 1}
        bank, blank = memory.bank, fresh.bank
        moved = {
            name: rearranged(getattr(bank, name), getattr(blank, name), axis, places)
            for name, axis in axes.items()
        }
        noticed = bank.noticed.copy()
        for event in noticed:
            place = int(event[1])
            event[1] = places.index(place) if place in places else -1
        kept = bank._replace(noticed=noticed, **moved)
        axes = {"judged": 2, "terms": 1, "worths": 1, "means": 1, "waiting": 0, "seeded": 0}
        own = {
            name: rearranged(getattr(memory, name), getattr(fresh, name), axis, places)
            for name, axis in axes.items()
        }
        return fresh._replace(bank=kept, shifts=memory.shifts, **own)

    def forget(self, memory: Memory, arm: int) -> None:
        memory.seeded[arm] = 0.0
        memory.bank.arms[:, arm] = 0.0

    def believed(self, family: Family, ledger: Ledger, memory: Memory) -> Floats:
        """The beliefs nearest to the mixtures of all runs and of a reset since, by their mean
        parameters.
        """
        bank, rows = memory.bank, ledger.beliefs.copy()
        prior = family.mean_parameters(family.prior)
        for a in np.flatnonzero(memory.seeded > 0.0):
            elapsed = bank.clock[0] + 1.0 - bank.arms[LAST, a] if bank.arms[PLAYS, a] else 0.0
            target, heaviest = np.zeros(len(prior)), (0.0, rows[a])
            for j, hazard in enumerate(self.hazards):
                changed = gone(hazard, elapsed)
                target += bank.members[j] * changed * prior
                for r in range(int(bank.counts[j, a])):
                    weight = bank.members[j] * (1.0 - changed) * bank.runs[WEIGHT, j, a, r]
                    target += weight * family.mean_parameters(bank.beliefs[j, a, r])
                    heaviest = max(
                        heaviest, (weight, bank.beliefs[j, a, r]), key=lambda one: one[0]
                    )
            rows[a] = family.from_mean_parameters(target, heaviest[1])
        return rows

    def explanation(
        self, family: Family, ledger: Ledger, memory: Any, turn_value: float, index: Floats
    ) -> dict[str, Floats]:
        """Per arm the chance that it changed since its world was acknowledged, and the index."""
        own = np.array(self.hazards), np.array(self.shares), memory.bank
        changed = [run_lengths.chance_of_change(*own, a) for a in range(len(index))]
        return {"changed": np.array(changed), "index": index}

    def changes(self, memory: Any) -> list[Change]:
        """The changes that were noticed, the last 64 of them, oldest first."""
        bank = memory.bank
        count = int(bank.clock[1])
        rows = [bank.noticed[i % run_lengths.EVENTS] for i in range(max(0, count - 64), count)]
        return [
            Change(int(turn), int(arm), int(after), float(before), float(now), float(sure))
            for turn, arm, after, before, now, sure in rows
        ]
