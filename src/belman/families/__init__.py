"""What a reward is: one family a file, all behind the contract of `family.py`.

They are listed, wherever they are, in the order of these lines. A new one needs a line here.
"""

# ruff: noqa: I001
from __future__ import annotations

from belman.families.bernoulli import Bernoulli as Bernoulli
from belman.families.gamma_known_shape import Exponential as Exponential
from belman.families.bounded_exponential import BoundedExponential as BoundedExponential
from belman.families.poisson import Poisson as Poisson
from belman.families.gaussian import Gaussian as Gaussian
from belman.families.gaussian_unknown import GaussianUnknown as GaussianUnknown
from belman.families.gamma_known_shape import GammaKnownShape as GammaKnownShape
from belman.families.geometric import Geometric as Geometric
from belman.families.chi_squared import ChiSquared as ChiSquared
from belman.families.beta_rewards import BetaRewards as BetaRewards
from belman.families.money import Money as Money
from belman.families.log_normal import LogNormal as LogNormal
from belman.families.positive import Positive as Positive
from belman.families.bounded import Bounded as Bounded
from belman.families.check import FamilyCheck as FamilyCheck, check as check
from belman.families.family import FAMILIES as FAMILIES, Family as Family
from belman.families.family import family_named as family_named
from belman.families.family_kernels import FamilyKernels as FamilyKernels
from belman.families.generic import OneParameter as OneParameter
from belman.registry import offered as _offered

__all__ = _offered(globals())
