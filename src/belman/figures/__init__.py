"""What the paper showed: every figure as data, and what is to be read from them."""

from belman.errors import needing

with needing("a figure of the paper", "lab", "xarray"):
    import xarray  # noqa: F401

from belman.figures import (
    barycentre,
    beliefs,
    comparisons,
    declared,
    exploration,
    limit_theorems,
    pure_exploration,
    queueing,
    schedule_map,
)
from belman.figures.claim import Claim
from belman.figures.curves import Curves, Panel
from belman.figures.figure import AS_IN_PAPER, FULL, QUICK, Effort, Figure, Part
from belman.figures.folder import draw_into, figure_data

_MADE: tuple[Figure, ...] = (
    *declared.FIGURES,
    barycentre.BARYCENTRE,
    beliefs.FOCAL,
    beliefs.BELIEFS,
    beliefs.MANIFOLD,
    comparisons.EXPOSURES,
    comparisons.BAYES_AVERAGE,
    exploration.TWO_PHASE,
    exploration.SHARES,
    limit_theorems.CENTRAL_LIMIT,
    limit_theorems.CONSISTENCY,
    pure_exploration.PURE_EXPLORATION,
    queueing.THREE_QUEUES,
    queueing.MATCHING,
    schedule_map.SCHEDULE_MAP,
)
_CLAIMED: tuple[Claim, ...] = (
    *declared.CLAIMS,
    barycentre.CLAIM,
    *exploration.CLAIMS,
    *limit_theorems.CLAIMS,
    queueing.CLAIM,
)
_NAMED = {figure.name: figure for figure in _MADE}
#: Every figure by its name, in the order of the report.
FIGURES: dict[str, Figure] = {name: _NAMED[name] for name in declared.DECLARED}
#: Every claim of the paper, by its number.
CLAIMS: tuple[Claim, ...] = tuple(sorted(_CLAIMED, key=lambda claim: claim.number))

__all__ = ["AS_IN_PAPER", "CLAIMS", "FIGURES", "FULL", "QUICK"]
__all__ += ["Claim", "Curves", "Effort", "Figure", "Panel", "Part", "draw_into", "figure_data"]
