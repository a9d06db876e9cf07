"""Arms whose rewards, in [0, 1], have any distribution at all: tables of values and chances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from belman.errors import FamilyError, SettingError, unknown
from belman.families import Bounded, Family, atoms
from belman.problems.problem import Floats, Problem

#: Values and their chances.
Distribution = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Tables(Problem):
    """Arms whose rewards in [0, 1] have given distributions, the same in every run; made by
    `bounded`.

    Parameters
    ----------
    family
        What players believe of the rewards, a `Bounded`.
    distributions
        For each arm the values of its rewards, and their chances.

    Raises
    ------
    FamilyError
        If there are no arms, or the family is another one.

    >>> Tables(distributions=(((0.0, 1.0), (0.6, 0.4)), ((0.45,), (1.0,)))).means
    (0.4, 0.45)
    """

    family: Family = field(default_factory=Bounded)
    distributions: tuple[Distribution, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.family, Bounded):
            raise FamilyError(
                f"{self.family.name} rewards are not drawn from tables: give Bounded()"
            )
        if not self.distributions:
            raise FamilyError("a problem needs at least one arm: the list is empty")
        distributions = tuple(
            (tuple(map(float, v)), tuple(map(float, c))) for v, c in self.distributions
        )
        object.__setattr__(self, "distributions", distributions)
        _ = self.parameters

    @property
    def arms(self) -> int:
        return len(self.distributions)

    @property
    def means(self) -> tuple[float, ...]:
        """The mean of each arm's rewards."""
        return tuple(float(row[0]) for row in self.parameters)

    @property
    def parameters(self) -> Floats:
        return np.array([atoms.table(values, chances) for values, chances in self.distributions])


def bounded(distributions: Sequence[Distribution]) -> Tables:
    """Make arms with given distributions in [0, 1].

    Parameters
    ----------
    distributions
        For each arm its values and their probabilities.

    Returns
    -------
    Tables
        The problem.

    >>> bounded([([0, 0.5, 1], [0.2, 0.5, 0.3]), ([0, 1], [0.5, 0.5])]).means
    (0.55, 0.5)
    """
    return Tables(distributions=tuple(distributions))


def _distribution(row: Sequence[float]) -> Distribution:
    """A row of a family's parameters as values and chances."""
    table = np.asarray(row[2:], dtype=np.float64)
    ends, values = table[: atoms.ATOMS], table[atoms.ATOMS :]
    chances = np.diff(ends, prepend=0.0)
    kept = chances > 0.0
    return tuple(values[kept].tolist()), tuple(chances[kept].tolist())


def coin(mean: float) -> Distribution:
    """0 or 1."""
    return (0.0, 1.0), (1.0 - mean, mean)


def beta_distribution(mean: float, concentration: float) -> Distribution:
    """Beta(mean·k, (1 − mean)·k), k the concentration, by 64 atoms of one chance.

    >>> values, chances = beta_distribution(0.4, 8.0)
    >>> len(values), round(float(np.dot(values, chances)), 12)
    (64, 0.4)
    """
    return _distribution(atoms.beta(mean, concentration))


def cut_exponential(scale: float) -> Distribution:
    """min(X, 1) of an exponential X of that mean."""
    return _distribution(atoms.of_quantiles(lambda level: -scale * np.log1p(-level)))


def mixed(weight: float, one: Distribution, other: Distribution) -> Distribution:
    """One distribution with the chance `weight`, else the other, by at most 64 quantiles.

    >>> mixed(0.25, coin(1.0), coin(0.0))
    ((0.0, 1.0), (0.75, 0.25))
    """
    values = np.concatenate([one[0], other[0]])
    shares = np.array(
        [*(weight * share for share in one[1]), *((1.0 - weight) * s for s in other[1])]
    )
    merged, positions = np.unique(values, return_inverse=True)
    chances = np.bincount(positions, weights=shares)
    kept = chances > 0.0
    merged, chances = merged[kept], chances[kept] / chances.sum()
    while merged.size > atoms.PARTS:  # the two neighbours of least chance become one, at their mean
        at = int(np.argmin(chances[1:] + chances[:-1]))
        both = chances[at] + chances[at + 1]
        merged[at] = (merged[at] * chances[at] + merged[at + 1] * chances[at + 1]) / both
        chances[at] = both
        merged, chances = np.delete(merged, at + 1), np.delete(chances, at + 1)
    return tuple(merged.tolist()), tuple(chances.tolist())


def _ratings(rng: np.random.Generator) -> Distribution:
    """One to five stars."""
    return (0.0, 0.25, 0.5, 0.75, 1.0), tuple(rng.dirichlet(np.ones(5)).tolist())


def _stretch(rng: np.random.Generator) -> Distribution:
    low, high = np.sort(rng.random(2))
    return _distribution(atoms.of_quantiles(lambda level: low + level * (high - low)))


def _revenue(rng: np.random.Generator) -> Distribution:
    """Mostly nothing, and now and then an amount."""
    amounts = beta_distribution(float(rng.uniform(0.2, 0.8)), 8.0)
    return mixed(float(rng.uniform(0.02, 0.3)), amounts, coin(0.0))


def _deceptive(rng: np.random.Generator, arms: int) -> list[Distribution]:
    """A coin that is best and often starts with a loss, among arms that hardly vary."""
    distributions = [
        beta_distribution(float(rng.uniform(0.3, 0.45)), 100.0) for _ in range(arms - 1)
    ]
    distributions.insert(int(rng.integers(arms)), coin(0.5))
    return distributions


def _each(draw: Callable[[np.random.Generator], Distribution]) -> Callable[..., list[Distribution]]:
    return lambda rng, arms: [draw(rng) for _ in range(arms)]


def _betas(*concentrations: float) -> Callable[..., list[Distribution]]:
    def draw(rng: np.random.Generator) -> Distribution:
        return beta_distribution(float(rng.uniform(0.02, 0.98)), float(rng.choice(concentrations)))

    return _each(draw)


#: Kinds of problems with rewards in [0, 1]: how the distributions of a number of arms are drawn.
SHAPES: Mapping[str, Callable[[np.random.Generator, int], list[Distribution]]] = {
    "coins": _each(lambda rng: coin(float(rng.uniform()))),
    "beta, wide": _betas(1.0),
    "beta": _betas(8.0),
    "beta, narrow": _betas(100.0),
    "beta, mixed": _betas(1.0, 8.0, 100.0),
    "cut exponential": _each(lambda rng: cut_exponential(float(rng.uniform(0.1, 1.0)))),
    "uniform": _each(_stretch),
    "ratings": _each(_ratings),
    "mixtures": _each(
        lambda rng: mixed(
            0.5, coin(float(rng.uniform())), beta_distribution(float(rng.uniform()), 8.0)
        )
    ),
    "revenue": _each(_revenue),
    "deceptive": _deceptive,
}


def shaped(kind: str, arms: int, rng: np.random.Generator) -> Tables:
    """Make a problem of one of the `SHAPES`.

    Parameters
    ----------
    kind
        The name of the shape.
    arms
        The number of arms.
    rng
        The generator that draws the distributions.

    Returns
    -------
    Tables
        The problem.

    Raises
    ------
    SettingError
        If there is no such shape.

    >>> shaped("revenue", 10, np.random.default_rng(7)).arms
    10
    """
    if kind not in SHAPES:
        raise SettingError(unknown("kind of bounded rewards", kind, SHAPES))
    return bounded(SHAPES[kind](rng, arms))
