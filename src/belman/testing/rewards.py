"""What every family keeps of its rewards: distributions, means, divergences, and doors that
refuse.
"""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from belman.engine import kernel
from belman.errors import FamilyError, PriorError, RewardError
from belman.families.family import Family, Floats
from belman.families.family_kernels import term_count
from belman.testing.cases import FamilyCase, Faults, checks_in, close, refuses, row, slope

_TAILS = [1e-12, 1e-6, 1 - 1e-6, 1 - 1e-12]
UNIFORMS = np.sort(np.concatenate([np.random.default_rng(8).uniform(size=200), _TAILS]))


@kernel
def _rewards_at(family, constants, theta, uniforms, out):
    for i in range(out.size):
        out[i] = family.reward(constants, theta, uniforms[i])


@kernel
def _evidence(family, constants, mean, other, spread, column, terms, weights):
    family.terms(constants, mean, spread, column)
    for i in range(column.size):
        terms[i, 0] = column[i]
    family.weights(constants, other, weights)
    return family.evidence(terms, 0, weights)


def rewards_at(family: Family, theta: ArrayLike, uniforms: Floats) -> Floats:
    """The rewards of f_θ at these quantiles."""
    out = np.empty(uniforms.size)
    parameters = np.asarray(theta, dtype=np.float64)
    family.enter(_rewards_at, theta=parameters, uniforms=uniforms, out=out)
    return out


def evidence_of(family: Family, mean: float, other: float, spread: float) -> tuple[float, float]:
    """What `terms`, `weights` and `evidence` make of two means, and the largest of the terms."""
    size = term_count(family.dimension)
    column, terms, weights = np.zeros(size), np.zeros((size, 1)), np.zeros(size)
    result = family.enter(
        _evidence,
        mean=float(mean),
        other=float(other),
        spread=float(spread),
        column=column,
        terms=terms,
        weights=weights,
    )
    return float(result), float(np.abs(column).max())


def tilt_of(family: Family, belief: ArrayLike, pull: float) -> Floats:
    """The tilted log-partition at a belief, its gradient (2) and its Hessian (xx, xy, yy)."""
    x, y = np.asarray(belief, dtype=np.float64)
    assert family.kernels.tilted is not None
    return np.array(family._run(family.kernels.tilted, float(x), float(y), float(pull)))


def parameters_have_their_means(case: FamilyCase) -> Faults:
    """θ of a mean has that mean, or less where rewards are cut at a bound."""
    family = case.family
    for mean in case.means:
        theta = family.parameter_of(mean)
        result, (top,) = family.mean_of(theta), rewards_at(family, theta, np.array([1.0 - 1e-9]))
        cut = family.reward_range is not None and top == family.reward_range[1]
        if not close(result, mean, 1e-12) and not (cut and result < mean):
            yield f"the distribution of parameter_of({mean}) has the mean {result!r}"
        if not family.mean_range[0] <= result <= family.mean_range[1]:
            yield f"the mean {result!r} lies outside of mean_range, {family.mean_range}"
    for bad in (math.nan, math.inf, -math.inf):
        if not refuses(FamilyError, family.parameter_of, bad):
            yield f"parameter_of({bad}) raises no FamilyError"


def rewards_rise_with_luck(case: FamilyCase) -> Faults:
    """The reward at a quantile rises with it, is possible, and is larger on the better arm."""
    family = case.family
    result = []
    for mean in case.means:
        rewards = rewards_at(family, family.parameter_of(mean), UNIFORMS)
        low, high = family.reward_range or (-math.inf, math.inf)
        if not (np.diff(rewards) >= 0.0).all():
            yield f"rewards of the mean {mean} do not rise with the uniform that they are made of"
        if not all(family.supports(reward) and low <= reward <= high for reward in rewards):
            least, most = rewards.min(), rewards.max()
            yield f"some rewards of the mean {mean} are not supported: {least!r} to {most!r}"
        result.append(rewards)
    if not (result[0] <= result[1]).all():
        yield f"the same luck gives an arm of mean {case.means[0]} more than one of {case.means[1]}"


def rewards_have_the_mean(case: FamilyCase) -> Faults:
    """5 sigma."""
    for mean in case.means:
        expected = case.family.mean_of(case.family.parameter_of(mean))
        drawn = case.draws(mean, 10_000, seed=21)
        if not abs(drawn.mean() - expected) < 5.0 * drawn.std() / math.sqrt(drawn.size):
            yield f"10,000 rewards have the mean {drawn.mean()!r}, and should have {expected!r}"


def d_is_a_divergence(case: FamilyCase) -> Faults:
    """It vanishes on itself only, grows with the gap, and is as a square between neighbours."""
    d = case.family.reward_divergence
    grid = np.linspace(*case.means, 9)
    for mean in grid:
        if not abs(d(mean, mean)) < 1e-14:
            yield f"reward_divergence({mean}, itself) is {d(mean, mean)!r}"
        for side in (grid[grid >= mean], grid[grid <= mean][::-1]):
            if len(side) > 1 and not np.all(np.diff([d(mean, other) for other in side]) > 0.0):
                yield f"reward_divergence({mean}, x) does not grow with the distance of x"
    for mean in case.means:
        wide, narrow = (d(mean, mean * (1.0 + gap)) for gap in (2e-6, 1e-6))
        if not close(wide / narrow, 4.0, 1e-4):
            yield f"between neighbours of {mean} reward_divergence loses its digits"


def evidence_is_d(case: FamilyCase) -> Faults:
    """`terms`, `weights` and `evidence` together make `d`."""
    for mean, other in itertools.product(np.linspace(*case.means, 5), repeat=2):
        for spread in (1.0, 0.3):
            result, size = evidence_of(case.family, mean, other, spread)
            true = case.family.reward_divergence(mean, other, spread)
            if not close(result, true, 1e-9, 1e-12 * (1.0 + size)):
                yield f"evidence of {mean} against {other} is {result!r}, and d is {true!r}"


def common_mean_explains_two_arms_best(case: FamilyCase) -> Faults:
    """It makes w·d(μ, x) + v·d(μ′, x) least; the weighted mean where `d` is said to be Bregman."""
    family, (low, high) = case.family, case.means
    for weight, other_weight in ((1.0, 1.0), (5.0, 2.0), (1.0, 30.0)):

        def cost(x: float, w: float = weight, v: float = other_weight) -> float:
            return w * family.reward_divergence(low, x) + v * family.reward_divergence(high, x)

        pair = weight, float(low), 1.0, other_weight, float(high), 1.0
        result = float(family._run(family.kernels.common_mean, *pair))
        best = min(cost(float(x)) for x in np.linspace(low, high, 101))
        if not (low <= result <= high and cost(result) <= best * (1.0 + 1e-9)):
            yield f"common_mean of {low} and {high} is {result!r}: others cost less"
        middle = low + (high - low) * other_weight / (weight + other_weight)
        if family.bregman and not close(result, middle, 1e-12):
            yield f"common_mean of {low} and {high} is {result!r}, not the weighted mean {middle!r}"


def answers_agree(case: FamilyCase) -> Faults:
    """What policies ask of a family, and what its beliefs say."""
    family, belief = case.family, case.ordinary[-1]
    if family.mean_fixes_distribution and family.spread(belief) != 1.0:
        yield f"the mean fixes all, and the spread of {belief} is {family.spread(belief)!r}"
    if not family.worth(belief) > family.worth(case.ordinary[1]) >= 0.0:
        yield f"{belief} is worth {family.worth(belief)!r} rewards, fewer than {case.ordinary[1]}"
    if family.coin:
        a, b = belief
        won, share = family.update(belief, 1.0), family.update(belief, 0.25)
        if row(won) != (a + 1.0, b) or not close(share, (a + 0.25, b + 0.75), 1e-14):
            yield f"a coin counts wins and losses, and 1 makes {row(won)} of {belief}"
        if not close(family.expected_reward(belief), a / (a + b), 1e-14):
            yield f"a coin expects α/(α + β), not {family.expected_reward(belief)!r}"


def tilted_has_its_slopes(case: FamilyCase) -> Faults:
    """Gradient and Hessian of the tilted log-partition; if there is none, `no_joint` says why."""
    family = case.family
    if family.kernels.tilted is None:
        if not family.no_joint:
            yield "there is no tilted log-partition, and no_joint does not say why"
        return
    for belief, pull in itertools.product(case.ordinary, (0.1, 2.0, 40.0)):
        point = np.array(belief, dtype=np.float64)
        _, *gradient, xx, xy, yy = tilt_of(family, point, pull)
        for axis, bend in enumerate(((xx, xy), (xy, yy))):
            width = 2e-3 * point[axis]
            rises, *bends = slope(partial(tilt_of, family, pull=pull), point, width, axis)[:3]
            if not (close(rises, gradient[axis], 1e-7, 1e-8) and close(bends, bend, 1e-6, 1e-8)):
                yield f"tilted at {belief} under {pull} has other slopes along axis {axis}"
    for belief, pull in itertools.product(case.extreme, (0.0, 1.0, 100.0)):
        if not np.isfinite(tilt_of(family, belief, pull)).all():
            yield f"tilted at {belief} under {pull} gives {tilt_of(family, belief, pull).tolist()}"


# Doors


def impossible_rewards_are_refused(case: FamilyCase) -> Faults:
    """NaN, infinities and what is no number; what is possible is taken, from any kind of number."""
    family = case.family
    no_numbers: tuple[Any, ...] = ("1", b"1", None, [], [1.0, 2.0], {}, 1j)
    wrong = (math.nan, math.inf, -math.inf, 10**400, *no_numbers)
    for reward in wrong:
        if not refuses(RewardError, family.update, family.prior, reward):
            yield f"a reward of {reward!r} raises no RewardError"
    for reward in case.rewards:
        for kind in (float, np.float64, np.float32):
            value = float(kind(reward))
            if family.supports(value) and family.check_reward(kind(reward)) != value:
                yield f"a reward of {kind(reward)!r} is taken for another"


def improper_beliefs_are_refused(case: FamilyCase) -> Faults:
    """Too few or too many coordinates, NaN, infinities, zero counts, and what is no number."""
    family, proper = case.family, list(case.family.prior)
    wrong: list[Any] = [proper[:-1], [*proper, 1.0], "prior", 3.0, [[1.0], [2.0, 3.0]], object()]
    wrong += [[*proper[:-1], bad] for bad in (math.nan, math.inf, 0.0, -1.0, 10**400, None, "1")]
    for belief in wrong:
        if not refuses(PriorError, family.check_belief, belief):
            yield f"the prior {belief!r} raises no PriorError"
    for given in (case.ordinary[1], list(case.ordinary[1]), np.array(case.ordinary[1])):
        if family.check_belief(given) != row(case.ordinary[1]):
            yield f"the belief {given!r} is taken for another"
    for shape in ([1.0] * (family.dimension + 1), [[1.0] * family.dimension]):
        if not refuses(PriorError, family.expected_reward, shape):
            yield f"the expected reward of {shape!r} raises no PriorError"


#: Every check of rewards, each a function of a `FamilyCase` that yields a sentence a fault.
REWARD_CHECKS = checks_in(globals(), FamilyCase)
