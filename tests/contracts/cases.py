"""What the contract of a family is tried on: settings, beliefs ordinary and extreme, rewards
possible and impossible.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from belman.beliefs import beta, gamma, normal, normal_gamma
from belman.families import FAMILIES, Bounded, Family, Money, family_named
from belman.testing import FamilyCase
from tests import naive

SETTINGS: dict[str, dict[str, Any]] = {
    "money": {"share": 0.4, "sigma": 0.7},
    "log-normal": {"sigma": 0.7},
    "positive": {"sigma": 0.7},
    "bounded-exponential": {"bound": 10.0},
    "gamma": {"shape": 2.5},
    "gaussian": {"sigma": 0.7},
    "beta": {"b": 2.0},
    "bounded": {"concentration": 4.0},
}
#: More means, where a kernel takes another path.
FAR_MEANS: dict[str, tuple[float, ...]] = {
    "bernoulli": (0.0, 1.0, 1e-9),
    "poisson": (0.0, 1e-3, 19.9, 25.0, 3e4),
    "geometric": (1.0001, 1e6),
    "exponential": (1e-6, 1e6),
    "bounded-exponential": (1e-3, 1e6),
    "gaussian": (1e6,),
    "beta": (0.01, 0.99),
    "bounded": (0.01, 0.99),
    "chi-squared": (0.01, 1e4),
    "log-normal": (1e-6, 1e6),
    "positive": (1e-6, 1e6),
    "money": (1e-6, 1e6),
}
IMPOSSIBLE: dict[str, tuple[float, ...]] = {
    "bernoulli": (-1e-9, 1.0000001, 2),
    "exponential": (-1e-300, -1),
    "bounded-exponential": (-0.5, 10.000001),
    "poisson": (-1, 0.5, 2.000001),
    "gaussian": (),
    "gaussian-unknown": (),
    "gamma": (-1e-300, -1),
    "geometric": (0, -1, 1.5),
    "chi-squared": (0, -1),
    "beta": (0, 1, -0.1, 1.1),
    "bounded": (-1e-9, 1.0000001, 2),
    "log-normal": (0, -1),
    "positive": (0, -1),
    "money": (-1e-300, -1),
}


@dataclass(frozen=True)
class Distribution:
    """A conjugate distribution that is known in closed form."""

    ordinary: tuple[tuple[float, ...], ...]
    extreme: tuple[tuple[float, ...], ...]
    range: tuple[float, float]
    log_density: Callable[..., Any]
    statistics: Callable[..., Any]
    divergence: Callable[..., Any]


# Second parameters of an ordinary Beta distribution are 1 or more: a grid of numbers cannot resolve
# the end at 1 as it does the end at 0.
DISTRIBUTIONS: dict[Any, Distribution] = {
    beta.KERNELS: Distribution(
        ((1, 1), (2.5, 3.5), (0.7, 5), (40, 25)),
        (
            (1e-3, 1e-3),
            (1e-3, 1e9),
            (1e9, 1e-3),
            (1e9, 1e9),
            (1e9, 3),
            (2, 1e-3),
            (1e-3, 1),
            (1000, 1e9),
        ),
        (0.0, 1.0),
        naive.beta_log_density,
        naive.beta_statistics,
        naive.beta_divergence,
    ),
    gamma.KERNELS: Distribution(
        ((1, 1), (2.5, 3.5), (12, 0.3), (40, 70)),
        ((1e-3, 1e-3), (1e-3, 1e9), (1e9, 1e-3), (1e9, 1e9), (3, 1e9), (1e9, 3), (1000, 1e-3)),
        (0.0, math.inf),
        naive.gamma_log_density,
        naive.gamma_statistics,
        naive.gamma_divergence,
    ),
    normal.KERNELS: Distribution(
        ((0, 1), (-1.3, 2.5), (4, 0.04), (0.2, 300)),
        ((1e6, 1e9), (-1e6, 1e-3), (0, 1e9), (1e-3, 1e-3)),
        (-math.inf, math.inf),
        naive.normal_log_density,
        naive.normal_statistics,
        naive.normal_divergence,
    ),
    normal_gamma.KERNELS: Distribution(
        ((0, 1, 1, 1), (-1.3, 2.5, 3.2, 0.7), (4, 0.5, 1.6, 9), (0.2, 30, 15, 12)),
        ((1e3, 1e9, 1e9, 1e9), (-1e3, 1e-3, 1e-3, 1e-3), (0, 1e9, 1e-3, 1e9), (0, 1e-3, 1e9, 1e-3)),
        (-math.inf, math.inf),
        naive.normal_gamma_log_density,
        naive.normal_gamma_statistics,
        naive.normal_gamma_divergence,
    ),
}


def money_beliefs(family: Money) -> tuple[Any, Any]:
    """Ordinary and extreme beliefs: those of a chance beside those of amounts.

    Extreme ones are paired so that no chance underflows where an amount overflows.
    """
    chances, amounts = DISTRIBUTIONS[beta.KERNELS], DISTRIBUTIONS[family.amount.kernels.belief]

    def pairs(one: Any, two: Any, ahead: int) -> Any:
        return tuple((*pair, *two[(i + ahead) % len(two)]) for i, pair in enumerate(one))

    ordinary = pairs(chances.ordinary, amounts.ordinary, 0)
    return ordinary, pairs(chances.extreme, amounts.extreme, 3)


class Case(FamilyCase):
    """A family of ours, with what the textbook says of it."""

    def __init__(self, family: Family) -> None:
        self.distribution: Distribution | None = DISTRIBUTIONS.get(family.kernels.belief)
        if isinstance(family, Money):
            ordinary, extreme = money_beliefs(family)
            super().__init__(family, ordinary=ordinary, extreme=extreme)
        elif self.distribution:
            ordinary, extreme = self.distribution.ordinary, self.distribution.extreme
            size = 5_000 if family.closed_form else 1_000
            super().__init__(family, ordinary=ordinary, extreme=extreme, size=size)
        else:
            super().__init__(family)

    @cached_property
    def impossible(self) -> tuple[float, ...]:
        return IMPOSSIBLE.get(self.family.name, ())

    @cached_property
    def parameters(self) -> list[tuple[float, ...]]:
        """Parameters of reward distributions of ordinary and of far means."""
        return [
            self.family.parameter_of(mean)
            for mean in (*self.means, *FAR_MEANS.get(self.family.name, ()))
        ]

    def log_density(self, belief: Any, theta: Any) -> Any:
        """By the textbook, or by the family itself."""
        return (
            self.distribution.log_density(belief, theta)
            if self.distribution
            else self.family.log_density(belief, theta)
        )

    @cache  # noqa: B019 - a handful of cases, for the length of a test run
    def grid(self, belief: tuple[float, ...]) -> tuple[Any, Any]:
        """Parameters θ and their probabilities under a belief."""
        if self.family.parameters == 2:
            return naive.normal_gamma_grid(belief)
        ends = (
            self.distribution.range
            if self.distribution
            else getattr(self.family, "range", (-math.inf, math.inf))
        )
        return naive.line_grid(lambda theta: self.log_density(belief, theta), *ends)

    def columns(self, theta: Any) -> tuple[Any, ...]:
        """The parameters of a grid as one array a parameter."""
        return (theta,) if self.family.parameters == 1 else tuple(np.moveaxis(theta, -1, 0))


def by_atoms(atoms: int) -> Case:
    """Beliefs by atoms that are worth a reward or more: of less, two moments say too little."""
    family = Bounded(atoms=atoms, **SETTINGS["bounded"])
    case = Case(family)
    many = np.array(case.ordinary[-1])
    rows = (0.5 * np.array(family.prior), 1e3 * many, 1e7 * many)
    case._extreme = tuple(tuple(map(float, belief)) for belief in rows)
    return case


CASES = {name: Case(family_named(name, **SETTINGS.get(name, {}))) for name in FAMILIES}
#: Money of other amounts, and rewards in a range by atoms, which have no name of their own.
OTHER_CASES = {
    f"money of {amounts} amounts": Case(Money(amounts, shape=2.5, **SETTINGS["money"]))
    for amounts in ("gamma", "any")
} | {"bounded by atoms": by_atoms(17)}
