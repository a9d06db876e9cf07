"""One belief for all arms: what rewards tell of θ along the features of arms that gave them."""

# ruff: noqa: I001
from __future__ import annotations

from belman.models.linear import Linear as Linear
from belman.models.linear import LinearCounts as LinearCounts, LinearRates as LinearRates
from belman.models.logistic import Logistic as Logistic
from belman.models.model import MODELS as MODELS, Belief as Belief, Block as Block, Model as Model
from belman.models.model import ModelKernels as ModelKernels
from belman.models.poisson_log import PoissonLog as PoissonLog
from belman.models.sight import Sight as Sight
from belman.registry import offered as _offered

__all__ = _offered(globals())
