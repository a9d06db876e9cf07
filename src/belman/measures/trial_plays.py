"""How patients of a trial are allocated: all courses of it at once, or many of them by chance.

Two arms with yes-or-no outcomes have states (n₁, s₁, s₂) after t patients. The chance of a course
is the product of its chances of allocation, which do not know the truth, and of its outcomes, of
which the state says all: so one *forward recursion*, at even odds, gives the chance of every state
under any truth. Whatever is more (more arms, late outcomes, a policy that remembers more than
counts) is *played* run by run.

In a block all patients are randomised by the same chances: those of a randomised policy at its
start, or the shares in which a policy that draws nothing would deal the block's decisions.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import entry, kernel
from belman.errors import PolicyError
from belman.families import Bernoulli
from belman.lab.bandit_runner import in_one_block
from belman.lab.policy_call import values_of_turns
from belman.measures.priced_plays import offsets_of
from belman.policies.dealing import Deal, deal_and_forget
from belman.policies.ledger import Ledger, record
from belman.policies.policy import Policy
from belman.policies.policy_kernels import choose_open, share_of_ties, to_be_integrated
from belman.special import a_success_less, chance_above

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_NEVER, _BY_DEAL, _BY_CHANCE, _BY_BELIEF = 2.0, 0, 1, 2


class Rules(NamedTuple):
    """How chances of a policy become chances of patients, and when a trial stops: patients, block,
    floor of every arm, share of control (below 0: none), the chance of being better at which the
    trial stops after a block, and how many patients later outcomes are known.
    """

    patients: int
    block: int = 1
    floor: float = 0.0
    control: float = -1.0
    stop: float = _NEVER
    delay: int = 0


class Ends(NamedTuple):
    """Where trials end: patients and successes of every arm (rows × K), and the chance of the row
    at even odds, or of the run.
    """

    patients: Counts
    successes: Counts
    chance: Floats


@kernel
def superiority(prior, n: int, s: int, m: int, r: int):
    """P(θ₂ > θ₁) after s successes of n patients and r of m, from one Beta prior of both."""
    a, b = prior[0], prior[1]
    better, _ = chance_above(a + r, b + m - r, a + s, b + n - s)
    return better


@kernel
def superiorities(prior, patients, successes, out):
    """Fill P(θ_a > θ_0) of every arm but the first (K − 1), row by row."""
    for i in range(len(out)):
        for a in range(out.shape[1]):
            out[i, a] = superiority(
                prior, patients[i, 0], successes[i, 0], patients[i, a + 1], successes[i, a + 1]
            )


# Shares of a block


@kernel
def _enter(policy, family, constants, params, prior, ledger, memory, arm, n, s):
    """Let an arm have s successes of n patients."""
    ledger.beliefs[arm, 0], ledger.beliefs[arm, 1] = prior[0] + s, prior[1] + n - s
    ledger.plays[arm], ledger.sums[arm], ledger.squares[arm] = n, s, s
    policy.refresh(family, constants, params, ledger, memory, arm)


@kernel
def _first_share(
    policy, family, constants, params, ledger, memory, kind, turn, value, n, rng, deal, stored,
    block, open_,
):  # fmt: skip
    """The chance that a patient of the next n gets the first of two arms, by the policy alone."""
    if kind == _BY_DEAL and n > 1:
        deal_and_forget(
            policy, family, constants, params, ledger, memory, turn, value, n, rng, deal, stored,
            block,
        )  # fmt: skip
        return deal.dealt[0] / n
    deal.indices[:] = 0.0
    arm, ties = policy.choose(
        policy, family, constants, params, ledger, memory, turn, value, rng, deal.indices
    )
    likely = policy.propensity(
        family, constants, params, ledger, memory, turn, value, open_, arm, ties
    )
    return likely if arm == 0 else 1.0 - likely


# All courses at once


@kernel
def _spread(value, offsets, horizon, n, s, r, share, size, binomials, even):
    """Move the chance of a state to where it is `size` patients later, outcomes at even odds."""
    row = offsets[n, 0] + s * (horizon - n + 1) + r
    mass = value[row]
    value[row] = 0.0
    for k in range(size + 1):
        likely = mass * binomials[size, k] * share**k * (1.0 - share) ** (size - k)
        if likely > 0.0:
            base, stride = offsets[n + k, 0], horizon - n - k + 1
            for i in range(k + 1):
                first = likely * even[k, i]
                start = base + (s + i) * stride + r
                for j in range(size - k + 1):
                    value[start + j] += first * even[size - k, j]


@kernel
def _block_forward(
    policy, family, constants, params, prior, ledger, memory, kind: int, turn_values, rng, deal,
    stored, block, open_, rules, offsets, value, ended, binomials, even, t: int,
):  # fmt: skip
    """Move the chances of all states after t patients on by a block, or to `ended` if they stop.

    A block moves a state to states whose first number that differs is larger, and goes through
    them from the largest down, so that one array holds the layer before and the layer after.
    """
    horizon, floor, control = int(rules[0]), rules[2], rules[3]
    now = min(int(rules[1]), horizon - t)
    stops = rules[4] <= 1.0 and t > 0
    weighs = kind == _BY_BELIEF or stops
    for n in range(t, -1, -1):
        for s in range(n, -1, -1):
            row = offsets[n, 0] + s * (horizon - n + 1)
            _enter(policy, family, constants, params, prior, ledger, memory, 0, n, s)
            ahead, h = 0.5, 0.0  # the chance that the first arm is the better one
            a, b = prior[0] + s, prior[1] + n - s
            if weighs:
                ahead, h = chance_above(a, b, prior[0] + t - n, prior[1])
            for r in range(t - n, -1, -1):
                if weighs and r < t - n:
                    c, d = prior[0] + r, prior[1] + t - n - r
                    ahead, h = a_success_less(ahead, h, a, b, c, d)
                if value[row + r] == 0.0:
                    continue
                if stops and max(ahead, 1.0 - ahead) >= rules[4]:
                    ended[row + r] = value[row + r]
                    value[row + r] = 0.0
                    continue
                share = ahead
                if kind != _BY_BELIEF:
                    _enter(policy, family, constants, params, prior, ledger, memory, 1, t - n, r)
                    share = _first_share(
                        policy, family, constants, params, ledger, memory, kind, t + 1,
                        turn_values[t], now, rng, deal, stored, block, open_,
                    )  # fmt: skip
                share = control if control >= 0.0 else floor + (1.0 - 2.0 * floor) * share
                _spread(value, offsets, horizon, n, s, r, share, now, binomials, even)


def how(policy: Policy) -> int:
    """Which chances a policy has: dealt shares, its own, or those of being best."""
    if policy.kernels.propensity is share_of_ties:
        return _BY_DEAL
    plain = policy.draws_from_beliefs and type(policy).chances is Policy.chances
    return _BY_BELIEF if plain and policy.kernels.propensity is to_be_integrated else _BY_CHANCE


def remembers_counts(policy: Policy) -> bool:
    """Whether what a policy does next follows from the counts of outcomes alone."""
    own = policy.kernels.propensity is to_be_integrated and how(policy) != _BY_BELIEF
    return not (policy.learns or policy.whole_numbers(2) or policy.sees_truth or own)


def given_to(policy: Policy, prior: tuple[float, float], arms: int, seed: int) -> dict[str, Any]:
    """What kernels are given that play yes-or-no arms with this policy."""
    family = Bernoulli(prior=prior)
    policy.check(family, arms)
    if policy.by_clock:
        raise PolicyError(f"policy {policy.name!r} goes by the clock, which patients do not have")
    ledger = Ledger.blank(np.tile(np.array(prior), (arms, 1)))
    block, (ledger, memory) = in_one_block((ledger, policy.memory(arms, family.dimension)))
    return {
        "constants": family.constants, "params": policy.params(family), "prior": np.array(prior),
        "ledger": ledger, "memory": memory, "kind": how(policy), "rng": chance.generator(seed),
        "deal": Deal.blank(arms, family.dimension, np.zeros(arms, dtype=np.bool_)),
        "stored": block.copy(), "block": block,
    }  # fmt: skip


def all_courses(policy: Policy, prior: tuple[float, float], rules: Rules) -> Ends:
    """Every state in which a trial of two arms may end, with its chance at even odds; they sum to
    less than 1 if chances of the policy are not known.
    """
    horizon, size = rules.patients, rules.block
    offsets = offsets_of(horizon, 0)
    value = np.zeros(int(offsets[horizon + 1, 0]))
    value[0], ended = 1.0, np.zeros_like(value if rules.stop <= 1.0 else value[:0])
    binomials = np.array(
        [[math.comb(n, k) for k in range(size + 1)] for n in range(size + 1)], float
    )
    even = binomials * 0.5 ** np.arange(size + 1)[:, None]
    forward = entry(_block_forward, policy=policy.kernels, family=Bernoulli().kernels).hold(
        **given_to(policy, prior, 2, 0), turn_values=values_of_turns(policy, 2, horizon),
        open_=np.zeros(0, dtype=np.bool_), rules=np.array(rules, dtype=np.float64),
        offsets=offsets, value=value, ended=ended, binomials=binomials, even=even,
    )  # fmt: skip
    result = []

    def gather(t: int, layer: Floats) -> None:
        positions = np.flatnonzero(layer)
        n = np.searchsorted(offsets[: horizon + 1, 0], positions, side="right") - 1
        s, r = np.divmod(positions - offsets[n, 0], horizon - n + 1)
        result.append((np.stack([n, t - n], 1), np.stack([s, r], 1), layer[positions]))

    for t in range(0, horizon, size):
        forward(t)
        if ended.any():
            gather(t, ended)
            ended[:] = 0.0
    gather(horizon, value)
    return Ends(*(np.concatenate(part) for part in zip(*result, strict=True)))


# Run by run


@kernel
def _play(
    policy, family, constants, params, prior, ledger, memory, kind: int, turn_values, rng, deal,
    stored, block, closed, blank, rules, rates, arm_of, outcome, patients, successes,
):  # fmt: skip
    """Play a trial in every row of `patients` and `successes` (R × K)."""
    horizon, size, floor, control = int(rules[0]), int(rules[1]), rules[2], rules[3]
    arms, delay = rates.size, int(rules[5])
    deal.closed[0] = closed[0] = control >= 0.0  # control has its share, and no other
    for run in range(len(patients)):
        for i in range(block.size):
            block[i] = blank[i]
        for a in range(arms):
            policy.refresh(family, constants, params, ledger, memory, a)
        t, told = 0, 0
        while t < horizon:
            now = min(size, horizon - t)
            if kind == _BY_DEAL and now > 1:
                deal_and_forget(
                    policy, family, constants, params, ledger, memory, t + 1, turn_values[t], now,
                    rng, deal, stored, block,
                )  # fmt: skip
            for i in range(t, t + now):
                coin = chance.uniform(rng)
                if control >= 0.0 and coin < control:
                    arm = 0
                elif control < 0.0 and coin < arms * floor:
                    arm = int(coin / floor)
                elif kind == _BY_DEAL and now > 1:
                    total = 0.0
                    for a in range(arms):
                        total += deal.dealt[a]
                    coin, arm = chance.uniform(rng) * total, 0
                    while arm < arms - 1 and (coin >= deal.dealt[arm] or deal.dealt[arm] == 0.0):
                        coin -= deal.dealt[arm]
                        arm += 1
                else:
                    deal.indices[:] = 0.0
                    if control >= 0.0:
                        arm, _ = choose_open(
                            policy, family, constants, params, ledger, memory, t + 1,
                            turn_values[t], rng, deal.indices, closed,
                        )  # fmt: skip
                    else:
                        arm, _ = policy.choose(
                            policy, family, constants, params, ledger, memory, t + 1,
                            turn_values[t], rng, deal.indices,
                        )  # fmt: skip
                arm_of[i], outcome[i] = arm, 1.0 * (chance.uniform(rng) < rates[arm])
                patients[run, arm] += 1
                successes[run, arm] += int(outcome[i])
            t += now
            while told < t - delay:
                arm = arm_of[told]
                record(family, constants, ledger, arm, outcome[told])
                policy.learn(family, constants, params, ledger, memory, arm, outcome[told])
                policy.refresh(family, constants, params, ledger, memory, arm)
                told += 1
            if rules[4] <= 1.0:
                most = 0.0  # by what is known by now
                for a in range(1, arms):
                    better = superiority(
                        prior, int(ledger.plays[0]), int(ledger.sums[0]), int(ledger.plays[a]),
                        int(ledger.sums[a]),
                    )  # fmt: skip
                    most = max(most, better if arms > 2 else max(better, 1.0 - better))
                if most >= rules[4]:
                    break


def played(
    policy: Policy, prior: tuple[float, float], rules: Rules, rates: Floats, runs: int, seed: int
) -> Ends:
    """Trials that are played at these rates of success, the first of which is control's."""
    arms, horizon = len(rates), rules.patients
    given = given_to(policy, prior, arms, seed)
    if policy.sees_truth:
        given["params"] = np.array(rates)
    ends = Ends(
        np.zeros((runs, arms), dtype=np.int64), np.zeros((runs, arms), dtype=np.int64),
        np.full(runs, 1.0 / runs),
    )  # fmt: skip
    entry(_play, policy=policy.kernels, family=Bernoulli().kernels)(
        **given, turn_values=values_of_turns(policy, arms, horizon),
        closed=np.zeros(arms, dtype=np.bool_), blank=given["block"].copy(),
        rules=np.array(rules, dtype=np.float64), rates=rates,
        arm_of=np.zeros(horizon, dtype=np.int64), outcome=np.zeros(horizon), patients=ends.patients,
        successes=ends.successes,
    )  # fmt: skip
    return ends
