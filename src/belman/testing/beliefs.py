"""What every family keeps of its beliefs: geometry, Bayes, expectations, quantiles and draws."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike

from belman import chance
from belman.engine import kernel
from belman.families.family import Floats
from belman.testing.cases import (
    ALARM,
    FamilyCase,
    Faults,
    checks_in,
    close,
    deviations,
    means_of,
    row,
    slope,
    uniform_enough,
)

_TINY = 1e-290
_LEVELS = (1e-13, 1e-6, 0.01, 0.3, 0.5, 0.8, 0.999)


@kernel
def _sample_means(family, constants, belief, rng, out):
    for i in range(out.size):
        out[i] = family.sample_mean(constants, belief, rng)


# The belief as an exponential family


def natural_parameters_and_back(case: FamilyCase) -> Faults:
    """From coordinates to natural parameters and back is nowhere."""
    for belief in (*case.ordinary, *case.extreme):
        eta = case.family.natural(belief)
        # what a coordinate adds to much larger terms of its natural parameter is lost
        lost = 1e-12 + 1e-15 * float(np.max(np.abs(eta)) / np.min(np.abs(belief[-1:])))
        result = case.family.from_natural(eta)
        if not close(result, belief, lost if len(belief) > 2 else 1e-12):
            yield f"from_natural(natural({belief})) is {row(result)}"


def mean_parameters_are_the_gradient(case: FamilyCase) -> Faults:
    """m(η) = ∇A(η)."""
    family = case.family

    def partition(eta: Floats) -> float:
        return family.log_partition(family.from_natural(eta))

    for belief in case.ordinary:
        eta, mean = family.natural(belief), family.mean_parameters(belief)
        scale = deviations(family, belief)
        for axis in range(eta.size):
            result = slope(partition, eta, 3e-3 / scale[axis], axis)
            if not abs(result - mean[axis]) < 1e-8 * (abs(mean[axis]) + scale[axis]):
                yield (
                    f"mean parameter {axis} of {belief} is {mean[axis]!r}, and log_partition has "
                    f"the slope {result!r}"
                )


def metric_is_the_jacobian(case: FamilyCase) -> Faults:
    """∇²A(η), symmetric and positive."""
    family = case.family

    def means(eta: Floats) -> Floats:
        return family.mean_parameters(family.from_natural(eta))

    for belief in case.ordinary:
        eta, metric = family.natural(belief), family.metric(belief)
        scale = deviations(family, belief)
        if not (metric == metric.T).all():
            yield f"the metric of {belief} is not symmetric: {metric.tolist()}"
        if not (np.linalg.eigvalsh(metric / np.outer(scale, scale)) > 0.0).all():
            yield f"the metric of {belief} is not positive: {metric.tolist()}"
        for axis in range(eta.size):
            result = slope(means, eta, 3e-3 / scale[axis], axis)
            if not (np.abs(result - metric[axis]) < 1e-7 * scale * scale[axis]).all():
                yield (
                    f"row {axis} of the metric of {belief} is {metric[axis].tolist()}, and "
                    f"mean_parameters have the slopes {result.tolist()}"
                )


def mean_parameters_and_back(case: FamilyCase) -> Faults:
    """`solve` inverts `mean_parameters`, from any start."""
    family = case.family
    for belief in (*case.ordinary, *case.extreme):
        target, scale = family.mean_parameters(belief), deviations(family, belief)
        for guess in (None, belief, case.ordinary[-1]):
            result = family.from_mean_parameters(target, guess)
            family.check_belief(result)
            rounding = 1e-14 * (1.0 + np.abs(target).max())
            allowed = 1e-10 * np.maximum(np.abs(target), scale) + rounding
            near = (np.abs(family.mean_parameters(result) - target) <= allowed).all()
            if not near or (belief in case.ordinary and not close(result, belief, 1e-8, 1e-8)):
                yield f"the mean parameters of {belief} lead to {row(result)}, from {guess}"


def extreme_beliefs_give_numbers(case: FamilyCase) -> Faults:
    """Next to no rewards, or millions of them, and nothing is NaN."""
    family = case.family
    for belief in case.extreme:
        thetas = family.sample_parameters(belief, chance.generator(1), 50)
        points = thetas[:, 0] if family.parameters == 1 else thetas
        finite: dict[str, ArrayLike] = {
            "log_partition": family.log_partition(belief),
            "mean_parameters": family.mean_parameters(belief),
            "metric": family.metric(belief),
            "spread": family.spread(belief),
        }
        known: dict[str, ArrayLike] = {
            "draws": thetas,
            "log_density": family.log_density(belief, points),
            "expected_reward": family.expected_reward(belief),
        }
        for name, value in (finite | known).items():
            bad = ~np.isfinite(value) if name in finite else np.isnan(value)
            if np.any(bad):
                yield f"{name} of {belief} gives {np.asarray(value).tolist()}"
        for other in (*case.extreme, *case.ordinary):
            apart = family.divergence(belief, other)
            if not 0.0 <= apart < math.inf:
                yield f"divergence({belief}, {other}) is {apart!r}"


def divergence_vanishes_on_itself_only(case: FamilyCase) -> Faults:
    """KL(b ‖ b) = 0 < KL(b ‖ c)."""
    for belief in (*case.ordinary, *case.extreme):
        if case.family.divergence(belief, belief) != 0.0:
            yield f"divergence({belief}, itself) is {case.family.divergence(belief, belief)!r}"
    for belief, other in itertools.permutations(case.ordinary, 2):
        if not case.family.divergence(belief, other) > 0.0:
            yield f"divergence({belief}, {other}) is {case.family.divergence(belief, other)!r}"


def divergence_is_the_fast_form(case: FamilyCase) -> Faults:
    """KL = ⟨η − ζ, m⟩ − A(η) + A(ζ)."""
    family = case.family
    for belief, other in itertools.product(case.ordinary, case.ordinary):
        gap = (family.natural(belief) - family.natural(other)) @ family.mean_parameters(belief)
        ends = family.log_partition(belief), family.log_partition(other)
        fast = gap - ends[0] + ends[1]
        size = abs(gap) + abs(ends[0]) + abs(ends[1]) + 1.0
        result = family.divergence(belief, other)
        if not abs(result - fast) < 1e-10 * size:
            yield f"divergence({belief}, {other}) is {result!r}, not {fast!r}"


# Bayes and expectations


def update_leaves_its_argument_alone(case: FamilyCase) -> Faults:
    """A belief after a reward is another array."""
    belief = np.array(case.ordinary[0], dtype=np.float64)
    after = case.family.update(belief, case.rewards[0])
    if row(belief) != row(case.ordinary[0]):
        yield f"update changed the belief that it was given, {case.ordinary[0]}"
    if row(after) == row(belief):
        yield f"a reward of {case.rewards[0]} left the belief {case.ordinary[0]} as it was"


def beliefs_are_calibrated(case: FamilyCase) -> Faults:
    """θ from a belief, rewards from f_θ: where E_θ[X] lies in the belief afterwards is uniform."""
    family, nature = case.family, chance.generator(31)
    belief = case.ordinary[1]  # worth so little that what rewards teach is seen
    lies = []
    for theta in family.sample_parameters(belief, chance.generator(32), 400):
        after: ArrayLike = belief
        for reward in family.sample_rewards(theta, nature, 20):
            after = family.update(after, float(reward))
        lies.append(family.mean_cdf(after, family.mean_of(theta)))
    if not uniform_enough(lies):
        yield (
            f"draws of θ from {belief} lie at quantiles of the beliefs after 20 of their rewards "
            f"that are not uniform: their mean is {np.mean(lies):.3f}, their deviation "
            f"{np.std(lies):.3f} (0.5 and 0.289 were right)"
        )


def sums_say_all_where_the_family_says_so(case: FamilyCase) -> Faults:
    """`update_many` is `update`, and one reward x moves E[X] by (x − E[X])/(ν + 1)."""
    family = case.family
    if not family.summed:
        return
    belief = np.array(case.ordinary[1], dtype=np.float64)
    for reward in case.rewards:
        worth, mean = family.worth(belief), family.expected_reward(belief)
        belief = family.update(belief, reward)
        moved = family.expected_reward(belief) - mean
        if math.isfinite(mean) and not close(moved, (reward - mean) / (worth + 1.0), 1e-8, 1e-12):
            yield f"a reward of {reward} moved E[X] by {moved!r} at a worth of {worth!r}"
    at_once = family.update_many(case.ordinary[1], len(case.rewards), sum(case.rewards))
    if not close(at_once, belief, 1e-9, 1e-12):
        yield f"update_many gives {row(at_once)} where update gives {row(belief)}"


def imagined_statistic_is_the_expected_one(case: FamilyCase) -> Faults:
    """Imagining averages natural parameters over rewards to come (5 sigma), and keeps E[X]."""
    family, nature = case.family, chance.generator(7)
    # with few counts only bounded rewards have a variance
    for belief in case.ordinary if family.reward_range else case.ordinary[-1:]:
        imagined = np.array(belief, dtype=np.float64)
        family._run(family.kernels.imagine, imagined)
        thetas = family.sample_parameters(belief, chance.generator(6), 800)
        rewards = [family.sample_rewards(theta, nature, 1)[0] for theta in thetas]
        learned = (family.update(belief, float(reward)) for reward in rewards)
        after = np.array([family.natural(told) for told in learned])
        mean, error = after.mean(axis=0), after.std(axis=0) / math.sqrt(len(after))
        # a statistic that fewer than a hundredth of the rewards has shows no error of its own
        change = np.abs(after - family.natural(belief))
        rare = np.where((change > 0.0).mean(axis=0) < 0.01, 0.01 * change.max(), 0.0)
        allowed = 5 * error + 1e-9 * np.abs(mean) + rare
        if not (np.abs(mean - family.natural(imagined)) <= allowed).all():
            made = f"imagine makes {row(imagined)} of {belief}"
            yield f"{made}, and rewards {mean.tolist()} on average"
    for belief in (*case.ordinary, *case.extreme) if family.summed else ():
        before, imagined = family.expected_reward(belief), np.array(belief, dtype=np.float64)
        family._run(family.kernels.imagine, imagined)
        after_it = family.expected_reward(imagined)
        if math.isfinite(before) and not close(after_it, before, 1e-9, 1e-12):
            yield f"imagine moved the expected reward of {belief} from {before!r} to {after_it!r}"


# The distribution of the expected reward


def quantiles_invert_the_distribution_function(case: FamilyCase) -> Faults:
    """From both sides, so that quantiles that round to an end of the range are judged too."""
    family = case.family
    beliefs = (*case.ordinary, *case.extreme)
    for belief, level, upper in itertools.product(beliefs, _LEVELS, (False, True)):
        result = family.mean_quantile(belief, level, upper=upper)
        x = min(max(result, -1.0 / _TINY), 1.0 / _TINY)
        near = 1e-12 * abs(x) + _TINY
        low, high = (family.mean_cdf(belief, x + side * near) for side in (-1, 1))
        if abs(x) == 1.0 / _TINY:  # it overflows
            low, high = (low, 1.0) if x > 0 else (0.0, high)
        sides = (1.0 - high, 1.0 - low) if upper else (low, high)
        slack = 1e-12 if upper else 1e-9 * level + 1e-15
        if math.isnan(result) or not sides[0] - slack <= level <= sides[1] + slack:
            yield (
                f"mean_quantile({belief}, {level}, upper={upper}) is {result!r}, where mean_cdf "
                f"goes from {low!r} to {high!r}"
            )


def quantiles_of_both_tails_meet(case: FamilyCase) -> Faults:
    """Counted from above or from below, and rising."""
    levels = (0.1, 0.3, 0.5, 0.9)
    for belief in case.ordinary:
        below = [case.family.mean_quantile(belief, level) for level in levels]
        above = [case.family.mean_quantile(belief, 1.0 - level, upper=True) for level in levels]
        if below != sorted(set(below)) or not close(below, above, 1e-12):
            yield f"mean_quantile({belief}, …) at {levels} is {below}, and {above} from above"


def draws_follow_the_belief(case: FamilyCase) -> Faults:
    """`sample` and `sample_mean` by `mean_cdf`; `expected_reward` is their average (5 sigma).

    Where they have none, it lies between the quartiles of every belief.
    """
    family, size = case.family, case.size
    for belief in case.ordinary:
        drawn = np.empty(size)
        known, rng = np.array(belief, dtype=float), chance.generator(12)
        family.enter(_sample_means, belief=known, rng=rng, out=drawn)
        means = means_of(family, family.sample_parameters(belief, chance.generator(11), size))
        for name, values in (("sample", means), ("sample_mean", drawn)):
            if not uniform_enough([family.mean_cdf(belief, mean) for mean in values]):
                yield f"what {name} draws from {belief} does not follow mean_cdf"
        centre = family.expected_reward(belief)
        if not family.mean_exists and not 0.25 <= family.mean_cdf(belief, centre) <= 0.75:
            yield f"the expected reward of {belief} is {centre!r}, not between its quartiles"
    if not family.mean_exists:
        return
    error = 5 * means.std() / math.sqrt(size)
    if not abs(means.mean() - family.expected_reward(belief)) < error + 1e-9 * abs(means.mean()):
        yield (
            f"the expected reward of {belief} is {family.expected_reward(belief)!r}, and draws "
            f"have {means.mean()!r} on average"
        )


def draws_at_extremes_follow_the_belief(case: FamilyCase) -> Faults:
    """Where draws round to the ends: chances of tails, below the 0.3 and above the 0.8 quantile."""
    from scipy import stats

    family = case.family
    for belief in case.extreme:
        drawn = np.empty(1_500)
        known, rng = np.array(belief, dtype=float), chance.generator(13)
        family.enter(_sample_means, belief=known, rng=rng, out=drawn)
        if np.isnan(drawn).any():
            yield f"sample_mean draws NaN from {belief}"
        for level in (0.3, 0.8):
            x = family.mean_quantile(belief, level)
            if not _TINY < abs(x) < 1.0 / _TINY:  # it underflows or overflows, and so do the draws
                continue
            below, at = int((drawn < x).sum()), int((drawn <= x).sum())
            if (
                stats.binomtest(below, drawn.size, level, "greater").pvalue < ALARM
                or stats.binomtest(at, drawn.size, level, "less").pvalue < ALARM
            ):
                drawn_below = f"{below} of {drawn.size} draws from {belief}"
                yield f"{drawn_below} are below the quantile at {level}"


#: Every check of beliefs, each a function of a `FamilyCase` that yields a sentence a fault.
BELIEF_CHECKS = checks_in(globals(), FamilyCase)
