"""Thompson sampling with Laplace's belief (Chapelle and Li 2011): the mode, no moments."""

from __future__ import annotations

from dataclasses import dataclass, replace

from belman.models.logistic import Logistic
from belman.models.model import Model
from belman.models.poisson_log import PoissonLog
from belman.policies.dependent.lin_ts import LinTS


@dataclass(frozen=True)
class LaplaceTS(LinTS):
    """Play the best arm of a draw of θ from the normal approximation, renewed by every reward.

    >>> LaplaceTS().believing(Logistic()).laplace
    True
    """

    name = "laplace-ts"
    by_chance = True

    def believing(self, model: Model) -> Model:
        if isinstance(model, (Logistic, PoissonLog)):
            return replace(model, laplace=True)
        return model
