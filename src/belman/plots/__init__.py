"""How it looks: beliefs as densities and on the manifold, the focal distribution, curves.

Every picture has a function that gives plain arrays, one that draws them, and one that does both.
They take an agent, or anything else with arms, beliefs and a family, and draw on the axes that they
are given or on new ones.
"""

# ruff: noqa: I001
from belman.errors import needing as _needing

with _needing("a picture", "lab", "matplotlib"):
    import matplotlib  # noqa: F401

from belman.measures.seen_beliefs import (
    BeliefDensities as BeliefDensities,
    Believer as Believer,
    Paths as Paths,
    Trail as Trail,
    belief_densities as belief_densities,
)
from belman.plots import style as style
from belman.plots.beliefs import (
    beliefs as beliefs,
    draw_beliefs as draw_beliefs,
    draw_manifold as draw_manifold,
    manifold as manifold,
)
from belman.plots.checks import (
    PlanCurves as PlanCurves,
    draw_plan as draw_plan,
    drift_check as drift_check,
    family_check as family_check,
    plan as plan,
    plan_curves as plan_curves,
)
from belman.plots.curves import (
    Curves as Curves,
    curve_data as curve_data,
    curves as curves,
    draw_curves as draw_curves,
    draw_grid as draw_grid,
    queue_regret as queue_regret,
    regret as regret,
    suboptimal_draws as suboptimal_draws,
    together as together,
)
from belman.plots.dot_plot import Rows as Rows, draw_rows as draw_rows
from belman.plots.focal import (
    FocalDensities as FocalDensities,
    draw_focal as draw_focal,
    focal as focal,
    focal_densities as focal_densities,
)
from belman.plots.space import (
    Explorer as Explorer,
    Landscape as Landscape,
    draw_space as draw_space,
    landscape as landscape,
    space as space,
)
from belman.registry import offered as _offered

__all__ = [*_offered(globals()), "style"]
