"""What the paper showed: every figure as data, and what is to be read from them."""

from belman.figures import (
    barycentre,
    beliefs,
    comparisons,
    exploration,
    limit_theorems,
    pure_exploration,
    queueing,
    regret,
)
from belman.figures.claim import Claim
from belman.figures.curves import Curves, Panel
from belman.figures.figure import AS_IN_PAPER, FULL, QUICK, Effort, Figure, Part
from belman.figures.folder import draw_into, figure_data

_IN_ORDER: tuple[Figure, ...] = (
    comparisons.FIRST_LOOK,
    beliefs.FOCAL,
    *regret.FIGURES,
    queueing.ONE_QUEUE,
    queueing.MATCHING,
    exploration.TWO_PHASE,
    exploration.SHARES,
    pure_exploration.PURE_EXPLORATION,
    barycentre.BARYCENTRE,
    limit_theorems.CENTRAL_LIMIT,
    limit_theorems.CONSISTENCY,
    comparisons.EXPOSURES,
    comparisons.BAYES_AVERAGE,
    comparisons.READINGS,
    beliefs.BELIEFS,
    beliefs.MANIFOLD,
)
#: Every figure by its name, in the order of the report.
FIGURES: dict[str, Figure] = {figure.name: figure for figure in _IN_ORDER}
#: Every claim of the paper, by its number; each stands, with its tests, in the file of its figure.
CLAIMS: tuple[Claim, ...] = (
    *regret.CLAIMS,
    exploration.CLAIMS[0],
    queueing.CLAIM,
    exploration.CLAIMS[1],
    barycentre.CLAIM,
    *limit_theorems.CLAIMS,
)

__all__ = ["AS_IN_PAPER", "CLAIMS", "FIGURES", "FULL", "QUICK"]
__all__ += ["Claim", "Curves", "Effort", "Figure", "Panel", "Part", "draw_into", "figure_data"]
