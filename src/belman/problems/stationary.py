"""Problems whose arms do not change: fixed means, or new ones for every run, drawn from a prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from belman.errors import FamilyError, SettingError
from belman.families import (
    Bernoulli,
    BoundedExponential,
    Exponential,
    Family,
    GammaKnownShape,
    Gaussian,
    GaussianUnknown,
    Geometric,
    LogNormal,
    Money,
    Poisson,
)
from belman.problems.problem import Floats, Problem
from belman.validate import require_whole


@dataclass(frozen=True)
class Stationary(Problem):
    """The same arms in every run, with fixed means.

    Parameters
    ----------
    family
        The family of the rewards, with what players believe of every arm at first.
    means
        The mean reward of each arm.

    Raises
    ------
    FamilyError
        If there are no arms, or an arm cannot have such a mean.

    >>> Stationary(Bernoulli(), (0.8, 0.9)).arms
    2
    """

    means: tuple[float, ...]

    def __post_init__(self) -> None:
        try:
            means = tuple(float(mean) for mean in self.means)
        except (TypeError, ValueError):
            raise FamilyError(f"means={self.means!r} is not a list of numbers") from None
        if not means:
            raise FamilyError("a problem needs at least one arm: the list of means is empty")
        object.__setattr__(self, "means", means)
        _ = self.parameters

    @property
    def arms(self) -> int:
        return len(self.means)

    @property
    def parameters(self) -> Floats:
        return np.array([self.family.parameter_of(mean) for mean in self.means])


def check_drawn(problem: Any) -> None:
    """Check the `number`, the `prior` and the interval (`between`) of arms that are drawn."""
    require_whole("arms", problem.number)
    object.__setattr__(problem, "prior", problem.family.check_prior(problem.prior))
    if problem.between is not None:
        low, high = problem.between
        if not problem.family.coin or not 0.0 <= low < high <= 1.0:
            what = f"between={problem.between!r} is for Bernoulli means"
            raise SettingError(f"{what}: 0 ≤ low < high ≤ 1")


@dataclass(frozen=True)
class RandomStationary(Problem):
    """New arms in every run, drawn from a prior.

    Parameters
    ----------
    family
        The family of the rewards, with what players believe of every arm at first.
    number
        The number of arms.
    prior
        The belief of the family from which the parameters of an arm are drawn.
    between
        For Bernoulli arms: the interval to which means are scaled; None for 0 to 1.

    Raises
    ------
    PriorError, SettingError
        If the prior is not proper, or `between` is not an interval of chances.

    >>> RandomStationary(Bernoulli(), number=10, prior=(1.0, 1.0)).arms
    10
    """

    number: int
    prior: tuple[float, ...]
    between: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        check_drawn(self)

    @property
    def arms(self) -> int:
        return self.number

    @property
    def parameters(self) -> Floats:
        return np.zeros((self.number, self.family.parameters))

    @property
    def world(self) -> Floats:
        low, high = (0.0, 1.0) if self.between is None else self.between
        return np.array([*self.prior, low, high])


def bernoulli(means: Sequence[float], *, prior: ArrayLike | None = None) -> Stationary:
    """Make arms with rewards 0 and 1.

    Parameters
    ----------
    means
        The chance of a 1 of each arm.
    prior
        What players believe of every arm at first; by default the family's own prior.

    Returns
    -------
    Stationary
        The problem.

    Raises
    ------
    FamilyError, PriorError
        If an arm cannot have such a mean, or the prior is not proper.

    >>> bernoulli([0.8, 0.9]).means
    (0.8, 0.9)
    """
    return Stationary(_with_prior(Bernoulli(), prior), tuple(means))


def exponential(
    means: Sequence[float], bound: float | None = None, *, prior: ArrayLike | None = None
) -> Stationary:
    """Make arms with exponential rewards.

    Parameters
    ----------
    means
        The mean reward of each arm, of the uncut distribution.
    bound
        Where rewards are cut; by default they are not.
    prior
        What players believe of every arm at first; by default the family's own prior.

    Returns
    -------
    Stationary
        The problem.

    Raises
    ------
    FamilyError, PriorError
        If an arm cannot have such a mean, or the prior is not proper.
    """
    family: Family = Exponential() if bound is None else BoundedExponential(bound)
    return Stationary(_with_prior(family, prior), tuple(means))


def poisson(means: Sequence[float], *, prior: ArrayLike | None = None) -> Stationary:
    """Make arms whose rewards are Poisson counts.

    Parameters
    ----------
    means
        The mean reward of each arm.
    prior
        What players believe of every arm at first; by default the family's own prior.

    Returns
    -------
    Stationary
        The problem.

    Raises
    ------
    FamilyError, PriorError
        If an arm cannot have such a mean, or the prior is not proper.
    """
    return Stationary(_with_prior(Poisson(), prior), tuple(means))


def gaussian(
    means: Sequence[float],
    sigma: float = 1.0,
    *,
    known: bool = True,
    prior: ArrayLike | None = None,
) -> Stationary:
    """Make arms with Gaussian rewards.

    Parameters
    ----------
    means
        The mean reward of each arm.
    sigma
        The standard deviation of the rewards of every arm.
    known
        Whether players know it.
    prior
        What players believe of every arm at first; by default the family's own prior.

    Returns
    -------
    Stationary
        The problem.

    Raises
    ------
    FamilyError, PriorError
        If an arm cannot have such a mean, or the prior is not proper.
    """
    family: Family = Gaussian(sigma) if known else GaussianUnknown(sigma)
    return Stationary(_with_prior(family, prior), tuple(means))


def gamma(means: Sequence[float], shape: float, *, prior: ArrayLike | None = None) -> Stationary:
    """Make arms with gamma rewards.

    Parameters
    ----------
    means
        The mean reward of each arm.
    shape
        The shape of every arm, which players know.
    prior
        What players believe of every arm at first; by default the family's own prior.

    Returns
    -------
    Stationary
        The problem.

    Raises
    ------
    FamilyError, PriorError
        If an arm cannot have such a mean, or the prior is not proper.
    """
    return Stationary(_with_prior(GammaKnownShape(shape), prior), tuple(means))


def geometric(means: Sequence[float], *, prior: ArrayLike | None = None) -> Stationary:
    """Make arms whose rewards are numbers of trials up to a success.

    Parameters
    ----------
    means
        The mean reward of each arm.
    prior
        What players believe of every arm at first; by default the family's own prior.

    Returns
    -------
    Stationary
        The problem.

    Raises
    ------
    FamilyError, PriorError
        If an arm cannot have such a mean, or the prior is not proper.
    """
    return Stationary(_with_prior(Geometric(), prior), tuple(means))


def log_normal(
    means: Sequence[float], sigma: float = 1.0, *, prior: ArrayLike | None = None
) -> Stationary:
    """Make arms with log-normal rewards.

    Parameters
    ----------
    means
        The mean reward of each arm.
    sigma
        The standard deviation of the logarithms of rewards.
    prior
        What players believe of every arm at first; by default the family's own prior.

    Returns
    -------
    Stationary
        The problem.

    Raises
    ------
    FamilyError, PriorError
        If an arm cannot have such a mean, or the prior is not proper.
    """
    return Stationary(_with_prior(LogNormal(sigma=sigma), prior), tuple(means))


def money(
    means: Sequence[float],
    share: float = 0.03,
    *,
    amounts: str = "log-normal",
    typical: float = 1.0,
    shape: float = 1.0,
    sigma: float = 1.0,
    prior: ArrayLike | None = None,
) -> Stationary:
    """Make arms whose rewards are mostly 0 and sometimes an amount.

    Parameters
    ----------
    means
        The mean reward of each arm; visitors who buy nothing count as 0.
    share
        The chance of an amount, which players do not know.
    amounts
        "log-normal", "gamma" or "any", as in `belman.families.Money`.
    typical
        About what a purchase brings, which players know.
    shape
        The shape of gamma amounts, which players know.
    sigma
        The standard deviation of the logarithms of amounts, which players do not know.
    prior
        What players believe of every arm at first; by default the family's own prior.

    Returns
    -------
    Stationary
        The problem.

    Raises
    ------
    FamilyError, PriorError
        If an arm cannot have such a mean, or the prior is not proper.

    >>> shop = money([0.9, 1.2], share=0.03, typical=30.0)
    >>> shop.family.mean_of(shop.parameters[1])
    1.2
    """
    family = Money(amounts, typical, shape, share, sigma)
    return Stationary(_with_prior(family, prior), tuple(means))


def problem(family: Family, means: Sequence[float]) -> Stationary:
    """Make arms of any family, one of your own included.

    Parameters
    ----------
    family
        The family of the rewards, with its prior.
    means
        The mean reward of each arm.

    Returns
    -------
    Stationary
        The problem.

    Raises
    ------
    FamilyError, PriorError
        If an arm cannot have such a mean, or the prior is not proper.
    """
    return Stationary(family, tuple(means))


def random_problem(
    family: Family,
    arms: int,
    prior: ArrayLike | None = None,
    *,
    between: tuple[float, float] | None = None,
) -> RandomStationary:
    """Make arms that are drawn anew in every run.

    Parameters
    ----------
    family
        The family of the rewards; players believe its prior.
    arms
        The number of arms.
    prior
        The belief from which parameters are drawn; by default the family's prior.
    between
        For Bernoulli arms: the interval to which means are scaled.

    Returns
    -------
    RandomStationary
        The problem.

    Raises
    ------
    PriorError, SettingError
        If the prior is not proper, or `between` is not an interval of chances.
    """
    drawn_from = family.prior if prior is None else family.check_prior(prior)
    return RandomStationary(family, arms, drawn_from, between)


def random_bernoulli(
    arms: int,
    prior: ArrayLike = (1.0, 1.0),
    *,
    between: tuple[float, float] | None = None,
    belief: ArrayLike | None = None,
) -> RandomStationary:
    """Make Bernoulli arms whose chances are drawn from a Beta distribution in every run.

    Parameters
    ----------
    arms
        The number of arms.
    prior
        The parameters of the Beta distribution.
    between
        The interval to which chances are scaled.
    belief
        What players believe of every arm at first; by default the prior from which arms are drawn.

    Returns
    -------
    RandomStationary
        The problem.

    >>> random_bernoulli(10).number
    10
    """
    family = _with_prior(Bernoulli(), prior if belief is None else belief)
    return random_problem(family, arms, prior, between=between)


def random_exponential(
    arms: int, prior: ArrayLike = (3.0, 2.0), *, belief: ArrayLike | None = None
) -> RandomStationary:
    """Make exponential arms whose rates are drawn from a Gamma distribution in every run.

    Parameters
    ----------
    arms
        The number of arms.
    prior
        The parameters of the Gamma distribution.
    belief
        What players believe of every arm at first; by default the prior from which arms are drawn.

    Returns
    -------
    RandomStationary
        The problem.
    """
    family = _with_prior(Exponential(), prior if belief is None else belief)
    return random_problem(family, arms, prior)


def random_poisson(
    arms: int, prior: ArrayLike = (1.0, 1.0), *, belief: ArrayLike | None = None
) -> RandomStationary:
    """Make Poisson arms whose rates are drawn from a Gamma distribution in every run.

    Parameters
    ----------
    arms
        The number of arms.
    prior
        The parameters of the Gamma distribution.
    belief
        What players believe of every arm at first; by default the prior from which arms are drawn.

    Returns
    -------
    RandomStationary
        The problem.
    """
    return random_problem(_with_prior(Poisson(), prior if belief is None else belief), arms, prior)


def random_gaussian(
    arms: int, prior: ArrayLike = (0.0, 1.0), sigma: float = 1.0, *, belief: ArrayLike | None = None
) -> RandomStationary:
    """Make Gaussian arms whose means are drawn from a Normal distribution in every run.

    Parameters
    ----------
    arms
        The number of arms.
    prior
        The mean and the precision of the Normal distribution.
    sigma
        The standard deviation of rewards, which players know.
    belief
        What players believe of every arm at first; by default the prior from which arms are drawn.

    Returns
    -------
    RandomStationary
        The problem.
    """
    family = _with_prior(Gaussian(sigma), prior if belief is None else belief)
    return random_problem(family, arms, prior)


def _with_prior(family: Family, prior: ArrayLike | None) -> Family:
    return family if prior is None else replace(family, prior=family.check_prior(prior))
