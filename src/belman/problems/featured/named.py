"""Problems of the literature, by name."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from belman.models import Linear, Model
from belman.problems.featured.context_arms import ContextArms
from belman.problems.featured.drawn_arms import ChangingArms, DrawnArms
from belman.problems.featured.given_arms import GivenArms
from belman.validate import require_number, require_whole


def unit_ball(
    arms: int = 50, dimension: int = 5, *, model: Model | None = None, misfit: float = 0.0
) -> DrawnArms:
    """Make arms in random directions of length 1 with θ from N(0, 1), drawn anew in every run.

    Parameters
    ----------
    arms
        The number of arms.
    dimension
        The number of features.
    model
        The model of rewards; by default linear.
    misfit
        The deviation of a term of the rewards that the model lacks.

    Returns
    -------
    DrawnArms
        The problem.

    >>> unit_ball(arms=10).features
    5
    """
    return DrawnArms(number=arms, dimension=dimension, model=model or Linear(), misfit=misfit)


def russo_van_roy(arms: int = 30, dimension: int = 5) -> DrawnArms:
    """Make arms with features uniform in [−1/√d, 1/√d]^d, θ from N(0, 10) and noise 1 (Russo and
    Van Roy 2018).

    Parameters
    ----------
    arms
        The number of arms.
    dimension
        The number of features, d.

    Returns
    -------
    DrawnArms
        The problem.

    >>> russo_van_roy().arms
    30
    """
    require_whole("dimension", dimension, 1, 5_000)
    return DrawnArms(
        number=arms,
        dimension=dimension,
        shape="box",
        length=float(dimension) ** -0.5,
        scale=10.0**0.5,
    )


def end_of_optimism(epsilon: float = 0.01, noise: float = 0.1) -> GivenArms:
    """Make arms (1, 0), (0, 1) and (1 − ε, 2ε) with θ = (1, 0): only the bad arm tells the others
    apart (Lattimore and Szepesvári 2017).

    Parameters
    ----------
    epsilon
        How much the features of the third arm differ from the first's, ε: from 10⁻⁶ to 0.5.
    noise
        The standard deviation of rewards.

    Returns
    -------
    GivenArms
        The problem.

    Raises
    ------
    SettingError
        If ε is not from 10⁻⁶ to 0.5.

    >>> end_of_optimism().arms
    3
    """
    require_number("epsilon", epsilon, 1e-6, 0.5)
    rows = ((1.0, 0.0), (0.0, 1.0), (1.0 - epsilon, 2.0 * epsilon))
    return GivenArms(rows=rows, theta=(1.0, 0.0), model=Linear(noise=noise))


def changing_arms(
    arms: int = 20, dimension: int = 10, *, model: Model | None = None, misfit: float = 0.0
) -> ChangingArms:
    """Make arms whose directions are drawn anew at every turn.

    Parameters
    ----------
    arms
        The number of arms.
    dimension
        The number of features.
    model
        The model of rewards; by default linear.
    misfit
        The deviation of a term of the rewards that the model lacks.

    Returns
    -------
    ChangingArms
        The problem.

    >>> changing_arms().stays
    False
    """
    return ChangingArms(number=arms, dimension=dimension, model=model or Linear(), misfit=misfit)


def contextual(
    arms: int = 5,
    size: int = 4,
    *,
    pooling: str = "disjoint",
    model: Model | None = None,
    own_scale: float = 1.0,
    misfit: float = 0.0,
) -> ContextArms:
    """Make arms that answer a context of `size` numbers, drawn at every turn.

    Parameters
    ----------
    arms
        The number of arms.
    size
        How many numbers there are. The first is 1.
    pooling
        "disjoint" if every arm answers in its own way, "hybrid" if in part alike.
    model
        The model of rewards; by default linear.
    own_scale
        The deviation of an arm's own coefficients.
    misfit
        The deviation of a term of the rewards that the model lacks.

    Returns
    -------
    ContextArms
        The problem.

    >>> contextual(arms=3, size=4).features
    12
    """
    return ContextArms(
        number=arms,
        size=size,
        pooling=pooling,
        model=model or Linear(),
        own_scale=own_scale,
        misfit=misfit,
    )


def one_hot(arms: int = 10, *, noise: float = 1.0) -> GivenArms:
    """Make independent arms as a shared belief: every arm has a feature of its own.

    Parameters
    ----------
    arms
        The number of arms.
    noise
        The standard deviation of rewards.

    Returns
    -------
    GivenArms
        The problem.

    >>> one_hot(3).rows[1]
    (0.0, 1.0, 0.0)
    """
    require_whole("arms", arms)
    rows = tuple(tuple(row) for row in np.eye(arms).tolist())
    return GivenArms(rows=rows, model=Linear(noise=noise))


def intercepts(arms: int = 10, *, shared: float = 2.0, noise: float = 1.0) -> GivenArms:
    """Make arms that have a level in common and a deviation of their own.

    Parameters
    ----------
    arms
        The number of arms.
    shared
        The deviation of the common level.
    noise
        The standard deviation of rewards.

    Returns
    -------
    GivenArms
        The problem.

    >>> intercepts(3).features
    4
    """
    require_whole("arms", arms)
    rows = tuple((1.0, *row) for row in np.eye(arms).tolist())
    model = Linear(noise=noise)
    return GivenArms(rows=rows, block_sizes=(1, arms), block_scales=(shared, 1.0), model=model)


def factors(
    levels: Sequence[int] = (10, 10, 10), *, model: Model | None = None, scale: float = 0.5
) -> GivenArms:
    """Make an arm of every combination of the levels of some factors: 10 × 10 × 10 make 1,000.

    Parameters
    ----------
    levels
        The number of levels of each factor.
    model
        The model of rewards; by default linear.
    scale
        The deviation of coefficients.

    Returns
    -------
    GivenArms
        The problem.

    >>> factors((2, 3)).arms
    6
    """
    for level in levels:
        require_whole("levels", level, 1, 1_000)
    parts = [np.eye(level) for level in levels]
    rows = tuple(tuple(np.concatenate(choice).tolist()) for choice in itertools.product(*parts))
    return GivenArms(rows=rows, block_scales=(scale,), model=model or Linear())
