"""How it looks: beliefs as densities and on the manifold, the focal distribution, curves.

Every picture has a function that gives plain arrays, one that draws them, and one that does both.
They take an agent, or anything else with arms, beliefs and a family, and draw on the axes that they
are given or on new ones.
"""

from belman.errors import needing

with needing("a picture", "lab", "matplotlib"):
    import matplotlib  # noqa: F401

from belman.measures.seen_beliefs import BeliefDensities, Believer, Paths, Trail, belief_densities
from belman.plots import style
from belman.plots.beliefs import beliefs, draw_beliefs, draw_manifold, manifold
from belman.plots.checks import PlanCurves, draw_plan, drift_check, family_check, plan, plan_curves
from belman.plots.curves import (
    Curves,
    curve_data,
    curves,
    draw_curves,
    draw_grid,
    queue_regret,
    regret,
    suboptimal_draws,
    together,
)
from belman.plots.dot_plot import Rows, draw_rows
from belman.plots.focal import FocalDensities, draw_focal, focal, focal_densities
from belman.plots.space import Explorer, Landscape, draw_space, landscape, space

__all__ = [
    "BeliefDensities",
    "Believer",
    "Curves",
    "Explorer",
    "FocalDensities",
    "Landscape",
    "Paths",
    "PlanCurves",
    "Rows",
    "Trail",
    "belief_densities",
    "beliefs",
    "curve_data",
    "curves",
    "draw_beliefs",
    "draw_curves",
    "draw_focal",
    "draw_grid",
    "draw_manifold",
    "draw_plan",
    "draw_rows",
    "draw_space",
    "drift_check",
    "family_check",
    "focal",
    "focal_densities",
    "landscape",
    "manifold",
    "plan",
    "plan_curves",
    "queue_regret",
    "regret",
    "space",
    "style",
    "suboptimal_draws",
    "together",
]
