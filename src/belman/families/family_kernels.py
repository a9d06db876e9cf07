"""The kernels of a family, and the defaults of those that it need not bring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from belman.beliefs.belief import BeliefKernels
from belman.engine import Bundle, factory, kernel
from belman.engine.kernels import parts
from belman.families.searches import weighted_mean

Kernel = Callable[..., Any]

#: How many numbers per arm `terms` may fill.
TERMS = 3
#: How many where beliefs are longer than `_SHORT`: a table of the evidence against any mean.
LONG_TERMS = 78
_SHORT = 8


@kernel
def unit_spread(constants, belief):
    """For families whose mean fixes the distribution."""
    return 1.0


@kernel
def linear_evidence(terms, arm, weights):
    """d = F_arm + w₀ μ_arm + w₁, the Bregman form with the rival's side precomputed."""
    return terms[0, arm] + weights[0] * terms[1, arm] + weights[1]


@kernel
def same_spread(constants, spread, mean, to):
    """For families whose spread does not depend on the mean, or is not needed."""
    return spread


@kernel
def nothing_pooled(constants, beliefs, prior_mean, prior_worth, prior_spread, pool):
    """For families whose arms tell nothing of one another's spread."""
    return 0.0


@kernel
def unit_sharpness(constants, mean, spread):
    """For families in which a reward of any arm tells as much."""
    return 1.0


@kernel
def no_coin(constants, prior, plays, total, squares):
    """For families whose rewards are not those of coins."""
    return 0.0


@kernel
def told_once(family, constants, belief, reward, coins):
    """For families with conjugate beliefs."""
    family.update(constants, belief, reward)


@kernel
def log_partition(family, constants, belief):
    """For families with conjugate beliefs: p(x) = exp(A(η + T(x)) − A(η))."""
    return family.belief.log_partition(constants, belief)


@kernel
def same_mean(constants, mean):
    """For families whose divergence is the same seen from both ends."""
    return mean


@kernel
def by_mean_and_spread(family, constants, belief, worth, mean, spread, mirrored, out):
    """For families in which a mean and a spread say all that d needs of an arm."""
    family.terms(constants, mean, spread, out)


@kernel
def parameter_itself(constants, theta):
    """For families whose first parameter is the mean."""
    return theta[0]


@factory
def drawing(sample_mean: Kernel) -> Kernel:
    """`sample` of families whose only parameter is the mean."""

    @kernel
    def sample(constants, belief, rng, theta):
        theta[0] = sample_mean(constants, belief, rng)

    return sample


@factory
def imagining(update: Kernel, expected_reward: Kernel) -> Kernel:
    """`imagine` of families that learn from rewards themselves, whose expectation is finite."""

    @kernel
    def imagine(constants, belief):
        update(constants, belief, expected_reward(constants, belief))

    return imagine


@dataclass(frozen=True)
class EvidenceKernels(Bundle):
    """What d(arm, rival) is made of: numbers kept per arm, numbers per rival, and both together."""

    terms: Kernel
    weights: Kernel
    evidence: Kernel


@factory
def evidence_by(d: Kernel) -> EvidenceKernels:
    """Evidence by `d` itself, for families of at most two constants, which weights hand on."""

    @kernel
    def terms(constants, mean, spread, out):
        out[0], out[1] = mean, spread

    @kernel
    def weights(constants, mean, out):
        out[0] = mean
        for i in range(min(constants.size, out.size - 1)):
            out[1 + i] = constants[i]

    @kernel
    def evidence(terms, arm, weights):
        return d(weights[1:], terms[0, arm], weights[0], terms[1, arm])

    return EvidenceKernels(terms, weights, evidence)


@dataclass(frozen=True)
class FamilyKernels(Bundle):
    """Kernels of a family. θ is a row of parameters, μ the mean of f_θ, `belief` a row of numbers.

    | kernel | what it does |
    |---|---|
    | `belief` | the bundle of the conjugate belief |
    | `update(constants, belief, reward)` | Bayes' theorem, in place |
    | `expected_reward(constants, belief)` | E[X], infinite where it does not exist |
    | `worth(constants, belief)` | the number of rewards that the belief is worth; 0 if none |
    | `mean_cdf(constants, belief, x)` | P(E_θ[X] ≤ x) |
    | `mean_quantile(constants, belief, level, upper)` | x with that chance below it, or above it |
    | `sample_mean(constants, belief, rng)` | draws E_θ[X] |
    | `reward(constants, theta, uniform)` | the reward at that quantile of f_θ |
    | `d(constants, mean, other, spread)` | KL of reward distributions by means |

    A family needs these. What it may bring besides has a default, as `of` fills it in:

    | kernel | what it does |
    |---|---|
    | `mean(constants, theta)` | E_θ[X]; θ itself unless given |
    | `sample(constants, belief, rng, theta)` | draws θ; where θ is the mean, by `sample_mean` |
    | `imagine(constants, belief)` | late rewards: update with the expected statistic |
    | `terms(constants, mean, spread, out)` | evidence: numbers kept per arm, so that … |
    | `weights(constants, mean, out)` | … with numbers kept per rival, … |
    | `evidence(terms, arm, weights)` | … d(arm, rival) costs a few multiply-adds |
    | `terms_of(family, constants, belief, worth, mean, spread, mirrored, out)` | by all of it |
    | `reflected(constants, mean)` | the mean for `terms` and `weights` where rewards are costs |
    | `common_mean(constants, w, mean, spread, v, …)` | x of least w·d(mean, x) + v·d(other, x) |
    | `spread(constants, belief)` | the estimated variance of a reward where `d` needs one; else 1 |
    | `moved(constants, spread, mean, to)` | the spread if the mean were another |
    | `pooled(constants, beliefs, prior's mean, worth, spread, pool)` | share of spread no arm has |
    | `sharpness(constants, mean, spread)` | Fisher information per reward, over the least one |
    | `coins(constants, prior, plays, total, squares)` | drift: sharpness for these totals |
    | `told(family, constants, belief, reward, coins)` | update where beliefs foretell, in place |
    | `foretells(family, constants, belief)` | A: a reward changes it by ln of its chance |
    | `tilted(constants, x, y, pull)` | A + ln E[exp(pull·X)], gradient, Hessian; or None |
    """

    belief: BeliefKernels
    update: Kernel
    expected_reward: Kernel
    worth: Kernel
    mean_cdf: Kernel
    mean_quantile: Kernel
    sample_mean: Kernel
    reward: Kernel
    d: Kernel
    sample: Kernel
    imagine: Kernel
    terms: Kernel
    weights: Kernel
    mean: Kernel = parameter_itself
    evidence: Kernel = linear_evidence
    terms_of: Kernel = by_mean_and_spread
    reflected: Kernel = same_mean
    common_mean: Kernel = weighted_mean
    spread: Kernel = unit_spread
    moved: Kernel = same_spread
    pooled: Kernel = nothing_pooled
    sharpness: Kernel = unit_sharpness
    coins: Kernel = no_coin
    told: Kernel = told_once
    foretells: Kernel = log_partition
    tilted: Kernel | None = None

    @classmethod
    def of(cls, belief: BeliefKernels, named: Mapping[str, Any]) -> FamilyKernels:
        """Make the bundle of a family from its kernels, with defaults for those that are not there.

        Without an own `spread` the mean fixes the distribution, without an own `common_mean` d is
        a Bregman divergence, and without an own `mean` the parameter is the mean.

        Parameters
        ----------
        belief
            The kernels of the belief.
        named
            Kernels by name, such as the globals of a module; other names are ignored.

        Returns
        -------
        FamilyKernels
            The bundle.
        """
        names = {part.name for part in fields(cls)} - {"belief"}
        result = {name: named[name] for name in names & named.keys()}
        if "sample" not in result:
            result["sample"] = drawing(result["sample_mean"])
        if "imagine" not in result:
            result["imagine"] = imagining(result["update"], result["expected_reward"])
        if "terms" not in result:
            result |= parts(evidence_by(result["d"]))
        return cls(belief, **result)


def term_count(dimension: int) -> int:
    """How many numbers per arm are kept for the evidence, with beliefs of `dimension` coordinates.

    >>> term_count(2), term_count(65)
    (3, 78)
    """
    return TERMS if dimension <= _SHORT else LONG_TERMS
