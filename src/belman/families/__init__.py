"""What a reward is: one family a file, all behind the contract of `family.py`."""

from __future__ import annotations

from typing import Any

from belman.errors import FamilyError, listing, unknown
from belman.families.bernoulli import Bernoulli
from belman.families.beta_rewards import BetaRewards
from belman.families.bounded import Bounded
from belman.families.bounded_exponential import BoundedExponential
from belman.families.check import FamilyCheck, check
from belman.families.chi_squared import ChiSquared
from belman.families.exponential import Exponential
from belman.families.family import Family, FamilyKernels
from belman.families.gamma_known_shape import GammaKnownShape
from belman.families.gaussian import Gaussian
from belman.families.gaussian_unknown import GaussianUnknown
from belman.families.generic import OneParameter
from belman.families.geometric import Geometric
from belman.families.log_normal import LogNormal
from belman.families.money import Money
from belman.families.poisson import Poisson
from belman.families.positive import Positive

_MEMBERS = (
    Bernoulli,
    Exponential,
    BoundedExponential,
    Poisson,
    Gaussian,
    GaussianUnknown,
    GammaKnownShape,
    Geometric,
    ChiSquared,
    BetaRewards,
    Money,
    LogNormal,
    Positive,
    Bounded,
)

#: Every family by its name.
FAMILIES: dict[str, type[Family]] = {member.name: member for member in _MEMBERS}


def family_named(given: str | Family, **settings: Any) -> Family:
    """The family of that name with these settings, or the family itself.

    >>> family_named("gaussian", sigma=2.0)
    Gaussian(prior=(0.0, 0.0025), sigma=2.0)
    """
    if isinstance(given, Family):
        if settings:
            raise FamilyError(f"{given!r} is complete: give {listing(settings)} where it is made")
        return given
    if not isinstance(given, str) or given not in FAMILIES:
        raise FamilyError(unknown("family", given, FAMILIES))
    try:
        return FAMILIES[given](**settings)
    except TypeError as error:
        raise FamilyError(f"family {given!r} does not take {listing(settings)}: {error}") from None


__all__ = [
    "FAMILIES",
    "Bernoulli",
    "BetaRewards",
    "Bounded",
    "BoundedExponential",
    "ChiSquared",
    "Exponential",
    "Family",
    "FamilyCheck",
    "FamilyKernels",
    "GammaKnownShape",
    "Gaussian",
    "GaussianUnknown",
    "Geometric",
    "LogNormal",
    "Money",
    "OneParameter",
    "Poisson",
    "Positive",
    "check",
    "family_named",
]
