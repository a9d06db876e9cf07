"""What the paper showed: every figure as data, one file each, and what is to be read from them."""

from belman.figures import (
    barycentre,
    bayes_average,
    beliefs,
    bernoulli_2,
    bernoulli_2_close,
    bernoulli_10,
    bernoulli_20,
    bernoulli_20_long,
    central_limit,
    consistency,
    exploration_shares,
    exponential_5,
    exponential_5_bounded,
    exponential_5_large,
    exposures,
    first_look,
    focal,
    manifold,
    pure_exploration,
    queueing,
    queueing_matching,
    readings,
    two_phase,
)
from belman.figures.figure import AS_IN_PAPER, FULL, QUICK, Curves, Effort, Figure, Panel, Part
from belman.figures.folder import draw_into, figure_data

#: Every figure by its name, in the order of the report.
FIGURES: dict[str, Figure] = {
    module.FIGURE.name: module.FIGURE
    for module in (
        first_look,
        focal,
        bernoulli_2,
        bernoulli_2_close,
        bernoulli_10,
        bernoulli_20,
        bernoulli_20_long,
        exponential_5_bounded,
        exponential_5,
        exponential_5_large,
        queueing,
        queueing_matching,
        two_phase,
        exploration_shares,
        pure_exploration,
        barycentre,
        central_limit,
        consistency,
        exposures,
        bayes_average,
        readings,
        beliefs,
        manifold,
    )
}

__all__ = ["AS_IN_PAPER", "FIGURES", "FULL", "QUICK", "Curves", "Effort", "Figure", "Panel", "Part"]
__all__ += ["draw_into", "figure_data"]
