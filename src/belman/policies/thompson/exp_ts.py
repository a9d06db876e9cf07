"""ExpTS (Jin, Xu, Xiao and Anandkumar, 2022): Thompson with draws made for the proof.

An arm draws θ with P(θ > x) = ½ exp(−(n − 1) d(μ̂, x)) above its average and P(θ < x) likewise
below, and the largest is played. After one play θ is an end of the range of means, which is what
the definition says (the authors' experiments put n − 0.99 there). A draw is the mean at which the
evidence is an exponential draw: an arm whose evidence at the best draw so far exceeds that lies
below it. Cost: a uniform draw and one evidence an arm and turn, and an inverse of d for draws that
may win, some two a turn: these hold it to 0.4 of Thompson's turns at 20 arms.

ExpTS+ (Jin, Xu, Xiao and Anandkumar, 2022): each arm draws with chance 1/K, else θ = μ̂.

With fewer draws it is minimax optimal, where ExpTS misses a factor sqrt(ln K). Cost: an inverse of
d for one arm in K.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import factory, kernel
from belman.families.family import Family
from belman.policies.averages import ByAverages, farthest, keep_moments, keep_terms, plays_needed
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats, part
from belman.policies.policy_kernels import PolicyKernels, to_be_integrated
from belman.policies.thompson.thompson import chances_of_largest
from belman.registry import register

#: Where params have their numbers: the plays before an arm is known, and the ends of means.
NEEDED, LOW, HIGH = 0, 1, 2
_NONE = -1.0
_MOST_EVIDENCE = 700.0  # more than any draw of evidence


class Memory(NamedTuple):
    """What is known of each arm, and the draws of the turn."""

    mean: Floats = part("K", first=np.inf)  # average reward, infinite before the arm is known
    spread: Floats = part("K", first=1.0)  # variance of its rewards, where d needs it
    terms: Floats = part("T", "K")  # its side of the evidence
    drawn: Floats = part("K", first=_NONE)  # a uniform number, where the index hangs on one
    weights: Floats = part("T")  # of the mean that arms are tested against
    scratch: Floats = part("T")


@kernel
def refresh(family, constants, params, ledger, memory, arm):
    if keep_moments(ledger, memory, arm, params[NEEDED], np.inf):
        mean, spread = memory.mean[arm], memory.spread[arm]
        keep_terms(family, constants, mean, spread, memory.scratch, memory.terms, arm)


@kernel
def _level(drawn):
    """The evidence at which a uniform draw lies: above the average if it is below ½."""
    return -math.log(max(2.0 * min(drawn, 1.0 - drawn), 1e-300))


@kernel
def _refuted(family, ledger, memory, arm):
    """Whether an arm that draws above its average lies below the mean that has the weights."""
    against = (ledger.plays[arm] - 1.0) * family.evidence(memory.terms, arm, memory.weights)
    return against > _MOST_EVIDENCE or against > _level(memory.drawn[arm])


@kernel
def _invert(family, constants, params, ledger, memory, arm):
    drawn = memory.drawn[arm]
    end = params[HIGH] if drawn < 0.5 else params[LOW]
    mean, spread = memory.mean[arm], memory.spread[arm]
    return farthest(family, constants, ledger.plays[arm] - 1.0, mean, spread, _level(drawn), end)


@factory
def bundle(greedy: bool) -> PolicyKernels:
    """Kernels in which every arm draws, or, `greedy`, one in K does and the others stay put."""

    @kernel
    def draw(family, params, ledger, memory, first, rng, index):
        """Draw for every arm; whether more arms than the best average may have the largest θ."""
        contested = False
        for a in range(index.size):
            memory.drawn[a] = _NONE
            if index[a] != index[a]:
                continue
            index[a] = memory.mean[a]
            if index[a] == np.inf:
                continue
            stays = greedy and chance.uniform(rng) * index.size >= 1.0
            if not stays:
                drawn = chance.uniform(rng)
                if ledger.plays[a] <= 1.0:
                    index[a] = params[HIGH] if drawn < 0.5 else params[LOW]
                else:
                    memory.drawn[a], index[a] = drawn, -np.inf
            if a == first:
                contested = contested or memory.drawn[a] >= 0.5
            elif 0.0 <= memory.drawn[a] < 0.5:
                contested = contested or not _refuted(family, ledger, memory, a)
            else:
                contested = contested or index[a] == memory.mean[first]
        return contested

    @kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        """If the best average draws above itself and nobody else does, it wins whatever it drew."""
        first, best = -1, -np.inf
        for a in range(index.size):
            ahead = first < 0 or memory.mean[a] > memory.mean[first]
            if index[a] == index[a] and memory.mean[a] < np.inf and ahead:
                first = a
        if first >= 0:
            family.weights(constants, memory.mean[first], memory.weights)
        contested = draw(family, params, ledger, memory, first, rng, index)
        if first < 0:
            return
        if not contested:
            index[first] = max(index[first], memory.mean[first])
            return
        for a in range(index.size):
            if index[a] > best:
                best = index[a]
        if -np.inf < best < params[HIGH]:
            family.weights(constants, best, memory.weights)
        for position in range(index.size):
            a = first if position == 0 else position - (position <= first)
            above = memory.drawn[a] < 0.5
            if memory.drawn[a] == _NONE or best == np.inf:
                continue
            if not above and memory.mean[a] <= best:
                continue
            tested = memory.mean[a] < best < params[HIGH]  # at the end of means arms may tie
            if above and tested and _refuted(family, ledger, memory, a):
                continue
            index[a] = _invert(family, constants, params, ledger, memory, a)
            if index[a] > best:
                best = index[a]
                if best < params[HIGH]:
                    family.weights(constants, best, memory.weights)

    return PolicyKernels(indices, refresh, to_be_integrated)


#: Exponential draws at which the distribution of an arm is looked at.
_LEVELS = np.geomspace(1e-4, 30.0, 40)


@kernel
def _mesh(family, constants, means, spreads, plays, ends, steps, points):
    """Where the distributions of arms bend: their averages and quantiles, and the ends of means."""
    count = 0
    for a in range(means.size):
        points[count] = means[a]
        count += 1
        for i in range(steps.size):
            for side in range(2):
                points[count] = ends[side]
                if plays[a] > 0.0:
                    points[count] = farthest(
                        family, constants, plays[a], means[a], spreads[a], steps[i], ends[side]
                    )
                count += 1
    points[count], points[count + 1] = ends[0], ends[1]


@kernel
def _distributions(family, constants, means, spreads, plays, ends, share, points, levels):
    """F of every arm before and at each of the points."""
    for a in range(means.size):
        for i in range(points.size):
            x = points[i]
            tail = 0.5
            if plays[a] > 0.0:
                apart = family.d(constants, means[a], x, spreads[a]) if math.isfinite(x) else np.inf
                if math.isnan(apart):  # at an end of means that no average has
                    apart = np.inf
                tail = 0.5 * math.exp(-plays[a] * apart)
            here = tail if x < means[a] or x <= ends[0] else 1.0 - tail
            before = 0.0 if x <= ends[0] else here
            here = 1.0 if x >= ends[1] else here
            stayed = 1.0 - share
            levels[a, 2 * i] = share * before + (stayed if x > means[a] else 0.0)
            levels[a, 2 * i + 1] = share * here + (stayed if x >= means[a] else 0.0)


@register
class ExpTS(ByAverages):
    """Thompson sampling with draws whose tails are those of the evidence; no prior.

    >>> ExpTS()
    ExpTS()
    """

    #: Whether arms that do not draw stand for their averages.
    stays: ClassVar[bool] = False

    name = "exp-ts"
    kernels = bundle(False)
    remembers = Memory

    def about(self, family: Family) -> tuple[float, ...]:
        return *super().about(family), *family.mean_range

    def own_chances(
        self, family: Family, ledger: Ledger, playable: NDArray[np.int64]
    ) -> Floats | None:
        needed = plays_needed(family)
        waits = (ledger.plays[playable] == 0.0) | (ledger.plays[playable] < needed)
        if waits.any():
            return waits / np.count_nonzero(waits)
        mean = ledger.sums[playable] / ledger.plays[playable]
        spread = np.ones(len(mean))
        if needed > 0.0:
            squares = ledger.squares[playable] / ledger.plays[playable]
            spread = np.maximum(squares - mean * mean, 1e-300)
        evidence = np.maximum(ledger.plays[playable] - 1.0, 0.0)
        points = np.zeros(len(mean) * (2 * len(_LEVELS) + 1) + 2)
        levels = np.zeros((len(mean), 2 * len(points)))
        share = 1.0 / len(ledger.plays) if self.stays else 1.0
        arms: dict[str, Floats] = {
            "means": mean,
            "spreads": spread,
            "plays": evidence,
            "ends": np.array(family.mean_range, dtype=np.float64),
        }
        family.enter(_mesh, **arms, steps=_LEVELS, points=points)
        points.sort()
        family.enter(_distributions, **arms, share=share, points=points, levels=levels)
        return chances_of_largest(levels)


@register
class ExpTSPlus(ExpTS):
    """ExpTS in which an arm that does not draw stands for its average.

    >>> ExpTSPlus()
    ExpTSPlus()
    """

    stays = True

    name = "exp-ts+"
    kernels = bundle(True)
