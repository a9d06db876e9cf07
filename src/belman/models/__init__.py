"""One belief for all arms: what rewards tell of θ along the features of arms that gave them."""

from __future__ import annotations

from belman.models.linear import Linear
from belman.models.logistic import Logistic
from belman.models.model import Belief, Block, Model, ModelKernels
from belman.models.poisson_log import PoissonLog
from belman.models.sight import Sight

#: Every model by its name.
MODELS: dict[str, type[Model]] = {kind.name: kind for kind in (Linear, Logistic, PoissonLog)}

__all__ = [
    "MODELS",
    "Belief",
    "Block",
    "Linear",
    "Logistic",
    "Model",
    "ModelKernels",
    "PoissonLog",
    "Sight",
]
