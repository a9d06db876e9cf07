"""How long an experiment takes: the share of runs decided, day by day, and what that costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from belman.measures.planning import Plan
from belman.plots import style

Floats = NDArray[np.float64]


class PlanCurves(NamedTuple):
    """Days, and by player the share of runs that are decided by then, and what a run gave away."""

    days: Floats
    decided: dict[str, Floats]
    lost: dict[str, float]
    shortest: float


def plan_curves(found: Plan) -> PlanCurves:
    """The arrays of the picture."""
    turns = [float(np.quantile(watched.turns, 0.95)) for watched in found.played.values()]
    days = np.linspace(0.0, max(turns) / found.per_day, 400)
    decided = {name: found.decided_by(name, days) for name in found.played}
    lost = {name: float(watched.lost.mean()) for name, watched in found.played.items()}
    return PlanCurves(days, decided, lost, found.shortest / found.per_day)


def draw_plan(curves: PlanCurves, size: str = "screen") -> Figure:
    """Two panels: how soon, and at what price."""
    from matplotlib import pyplot

    with style.theme(size):
        width, height, _ = style.SIZES[size]
        figure, (left, right) = pyplot.subplots(
            1, 2, figsize=(1.25 * width, height), width_ratios=(3.0, 1.0)
        )
        for place, (name, share) in enumerate(curves.decided.items()):
            left.step(curves.days, share, where="post", color=style.colour(place), label=name)
        left.axvline(
            curves.shortest, color=style.GREY, linestyle=":", label="T* ln(1/risk), the theory"
        )
        left.set(xlabel="days", title="experiments that are decided", ylim=(0.0, 1.02))
        left.set_xlim(0.0, float(curves.days[-1]))
        left.yaxis.set_major_formatter(PercentFormatter(1.0))
        left.grid(color=style.GREY, alpha=0.25)
        left.legend(loc="lower right")
        names = list(curves.lost)
        shades = [style.colour(place) for place in range(len(names))]
        bars = right.bar(names, [curves.lost[name] for name in names], color=shades, width=0.6)
        right.bar_label(bars, fmt="{:,.0f}", padding=2)
        right.set(title="conversions given away")
        right.margins(y=0.12)
        right.yaxis.set_visible(False)
        right.spines["left"].set_visible(False)
    return figure


def plan(found: Plan, size: str = "screen") -> Figure:
    """The picture of a plan."""
    return draw_plan(plan_curves(found), size)
