"""Arms with features: directions, contexts and tables, whose rewards share a parameter."""

from __future__ import annotations

from belman.problems.featured.context_arms import ContextArms
from belman.problems.featured.drawn_arms import ChangingArms, DrawnArms
from belman.problems.featured.featured import Featured, SceneKernels
from belman.problems.featured.given_arms import GivenArms
from belman.problems.featured.named import (
    changing_arms,
    contextual,
    end_of_optimism,
    factors,
    intercepts,
    one_hot,
    russo_van_roy,
    unit_ball,
)
from belman.problems.featured.table_arms import TableArms, from_table

__all__ = [
    "ChangingArms",
    "ContextArms",
    "DrawnArms",
    "Featured",
    "GivenArms",
    "SceneKernels",
    "TableArms",
    "changing_arms",
    "contextual",
    "end_of_optimism",
    "factors",
    "from_table",
    "intercepts",
    "one_hot",
    "russo_van_roy",
    "unit_ball",
]
