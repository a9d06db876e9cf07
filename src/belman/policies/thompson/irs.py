"""Information-relaxation sampling (Min, Maglaras and Moallemi, 2019): draw the future, and plan it.

Each turn a truth is drawn from the beliefs, and all rewards of the turns that are left from it.
A planner that foresees them plans the plays and is charged for its foresight; the first play of the
best plan is made. The charges make the difference:

- IRS.V-Zero pays the n-th play of an arm what its first n − 1 rewards let one expect. The plan says
  how often each arm is played, in any order; the arm played most is played. O(K m²) a turn with m
  turns left, for every family.
- IRS.V-EMAX charges a play by how much it moves E max_a μ_a, which no foresight moves on average.
  The order matters: O(m²) a turn, for two arms with yes-or-no rewards; V-Zero plays more arms.
- IRS.Index plans the same for one arm beside a known reward λ; its index is the largest λ at which
  the best plan plays the arm first. O(K m) a turn and step of bisection, for yes-or-no rewards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.memory import Floats, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, to_be_integrated
from belman.policies.settings import whole
from belman.registry import register
from belman.special import after_reward, beta_cdf, chance_above, expected_most, log_beta

LONGEST = 10_000
_TURNS = whole(1, f"a whole number of turns from 1 to {LONGEST:,}", LONGEST)
_HALVINGS = 14


@dataclass(frozen=True)
class _Relaxed(Policy):
    """A policy that plans a future that it draws, up to a known `horizon`."""

    horizon: Annotated[int, _TURNS]

    draws_from_beliefs = False

    @property
    def room(self) -> int:
        """How many numbers of plays there are, 0 included."""
        return self.horizon + 1

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """How many turns are left, this one included."""
        return np.maximum(self.horizon - turns + 1.0, 0.0)


class _OfCoins(_Relaxed):
    """One for yes-or-no rewards."""

    def check(self, family: Family, arms: int) -> None:
        if not family.coin:
            raise PolicyError(
                f"{self.name} plays bernoulli rewards only, not {family.name}: irs-v-zero plays "
                "every family"
            )


@kernel
def play_best_expected(family, constants, ledger, index):
    """What is left to do after the last turn, or in it."""
    for a in range(index.size):
        index[a] = family.expected_reward(constants, ledger.beliefs[a])


class VZeroMemory(NamedTuple):
    """Room to plan in: a truth, a belief, what plays of an arm are paid, and the best plans."""

    theta: Floats = part("D")
    belief: Floats = part("D")
    paid: Floats = part("room")
    plan: Floats = part("room")
    plays: Floats = part("K", "room")  # of the arm in the best plan of the arms up to it


@kernel
def v_zero_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    left, arms = int(turn_value), index.size
    if left <= 1:
        play_best_expected(family, constants, ledger, index)
        return
    for a in range(arms):
        if family.expected_reward(constants, ledger.beliefs[a]) == np.inf:
            for b in range(arms):
                infinite = family.expected_reward(constants, ledger.beliefs[b]) == np.inf
                index[b] = 1.0 if infinite else 0.0
            return
    begun = False
    for a in range(arms):
        if index[a] != index[a]:
            continue  # it cannot be played
        family.sample(constants, ledger.beliefs[a], rng, memory.theta)
        for i in range(memory.belief.size):
            memory.belief[i] = ledger.beliefs[a, i]
        memory.paid[0] = 0.0
        for n in range(left):
            memory.paid[n + 1] = memory.paid[n] + family.expected_reward(constants, memory.belief)
            reward = family.reward(constants, memory.theta, chance.uniform(rng))
            family.update(constants, memory.belief, reward)
        for n in range(left, -1, -1):
            most, own = memory.paid[n], n
            if begun:
                for k in range(n + 1):
                    both = memory.paid[k] + memory.plan[n - k]
                    if both > most or k == 0:
                        most, own = both, k
            memory.plan[n], memory.plays[a, n] = most, own
        begun = True
    for a in range(arms - 1, -1, -1):
        if index[a] == index[a]:
            index[a] = memory.plays[a, left]
            left -= int(index[a])


@register
class IRSVZero(_Relaxed):
    """Play the arm that the best plan of a drawn future plays most, paid what rewards let expect.

    Parameters
    ----------
    horizon
        The number of turns of play.

    >>> IRSVZero(100)
    IRSVZero(horizon=100)
    """

    name = "irs-v-zero"
    kernels = PolicyKernels(v_zero_indices, propensity=to_be_integrated)
    remembers = VZeroMemory


class VEmaxMemory(NamedTuple):
    """What V-Zero needs; the second arm's rewards, and the arm with which a plan begins."""

    theta: Floats = part("D")
    belief: Floats = part("D")
    paid: Floats = part("room")
    plan: Floats = part("room")
    plays: Floats = part("K", "room")
    wins: Floats = part("room")
    begins: Floats = part("room")


@kernel
def v_emax_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    """Plans are found row by row: `paid[j]` of the best with i plays of the first arm and j of the
    second, which begins with the arm `begins[j]`; a play is paid its expected reward, less what it
    moves E max θ, but for the last.
    """
    left = int(turn_value)
    if index.size != 2:
        v_zero_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index)
        return
    if left <= 1 or index[0] != index[0] or index[1] != index[1]:
        play_best_expected(family, constants, ledger, index)
        return
    a, b = ledger.beliefs[0, 0], ledger.beliefs[0, 1]
    second = ledger.beliefs[1]
    truth = chance.beta(rng, second[0], second[1])
    for j in range(left):
        memory.wins[j] = 1.0 * (chance.uniform(rng) < truth)
    truth = chance.beta(rng, a, b)
    result, h = chance_above(a, b, second[0], second[1])
    now = expected_most(result, h, a, b, second[0], second[1])
    best, chosen, mean = -np.inf, 0.0, 0.0
    for i in range(left + 1):
        if i > 0:
            mean, won = a / (a + b), chance.uniform(rng) < truth
            result, h = after_reward(result, h, a, b, second[0], second[1], True, won)
            a, b = a + 1.0 * won, b + 1.0 * (not won)
        c, d, here, there = second[0], second[1], result, h
        for j in range(left - i + 1):
            other = 0.0
            if j > 0:
                other, won = c / (c + d), memory.wins[j - 1] > 0.0
                here, there = after_reward(here, there, a, b, c, d, False, won)
                c, d = c + 1.0 * won, d + 1.0 * (not won)
            charge = 0.0
            if i + j < left:
                charge = expected_most(here, there, a, b, c, d) - now
            if i + j == 0:
                memory.paid[0], memory.begins[0] = 0.0, 0.0
                continue
            across, along = -np.inf, -np.inf
            if i > 0:
                across = memory.paid[j] + mean - charge
            if j > 0:
                along = memory.paid[j - 1] + other - charge
            if along > across:
                memory.begins[j] = 1.0 if i + j == 1 else memory.begins[j - 1]
                memory.paid[j] = along
            else:
                memory.begins[j] = 0.0 if i + j == 1 else memory.begins[j]
                memory.paid[j] = across
        if memory.paid[left - i] > best:
            best, chosen = memory.paid[left - i], memory.begins[left - i]
    index[0], index[1] = 1.0 - chosen, chosen


@register
class IRSVEmax(_OfCoins):
    """Play the first of the best plan of a drawn future, charged for what moves E max μ.

    So two arms are played; any other number is played by `irs-v-zero`.

    Parameters
    ----------
    horizon
        The number of turns of play.

    >>> IRSVEmax(100)
    IRSVEmax(horizon=100)
    """

    name = "irs-v-emax"
    kernels = PolicyKernels(v_emax_indices, propensity=to_be_integrated)
    remembers = VEmaxMemory


class IndexMemory(NamedTuple):
    """The rewards of the turns that are left, of one arm."""

    wins: Floats = part("room")


@kernel
def worth_trying(level, a, b, left, wins):
    """Whether the best plan beside a known reward plays the arm first.

    With n plays of the arm, those of the known reward come where E max(θ, λ) is least, e_i after i
    plays: the plan is paid Σ μ_i + (m − n) λ + m e_0 − Σ_{i<n} e_i − (m − n) min_{i ≤ n} e_i.
    """
    if level <= 0.0:
        return True
    if level >= 1.0:
        return False
    below = beta_cdf(a, b, level)  # P(θ ≤ λ)
    weight = math.exp(a * math.log(level) + b * math.log1p(-level) - log_beta(a, b))
    start = 0.0
    best, first = left * level, False
    paid, least, at_start = 0.0, np.inf, True
    for n in range(left + 1):
        worth = a + b
        mean = a / worth
        # P(θ ≤ λ) of Beta(a + 1, b) is that of Beta(a, b) less weight/a
        most = level * below + mean * (1.0 - below + weight / a)
        if n == 0:
            start = most
        if most < least:
            least, at_start = most, n == 0
        if n > 0:
            whole = paid + (left - n) * (level - least) + left * start
            if whole > best:
                best, first = whole, n == left or not at_start
        if n < left:
            paid += mean - most
            if wins[n] > 0.0:
                below -= weight / a
                weight *= level * worth / a
                a += 1.0
            else:
                below += weight / b
                weight *= (1.0 - level) * worth / b
                b += 1.0
    return first


@kernel
def irs_index_indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    left = int(turn_value)
    if left <= 1:
        play_best_expected(family, constants, ledger, index)
        return
    for arm in range(index.size):
        a, b = ledger.beliefs[arm, 0], ledger.beliefs[arm, 1]
        truth = chance.beta(rng, a, b)
        for n in range(left):
            memory.wins[n] = 1.0 * (chance.uniform(rng) < truth)
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if worth_trying(middle, a, b, left, memory.wins):
                low = middle
            else:
                high = middle
        index[arm] = 0.5 * (low + high)


@register
class IRSIndex(_OfCoins):
    """Play the arm whose drawn future is worth trying beside the largest known reward.

    Parameters
    ----------
    horizon
        The number of turns of play.

    >>> IRSIndex(100)
    IRSIndex(horizon=100)
    """

    name = "irs-index"
    kernels = PolicyKernels(irs_index_indices, propensity=to_be_integrated)
    remembers = IndexMemory
