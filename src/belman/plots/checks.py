"""Plots beside an experiment: how long it takes, which family fits, whether the world changes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from belman.families import FamilyCheck
from belman.measures.drift_check import CLEAR, DriftCheck
from belman.measures.planning import Plan
from belman.plots import style

_ALLOWED = (0.93, 0.97)
#: More arms than these have one colour, and no names.
_NAMED = 8


def family_check(check: FamilyCheck, *, size: str = "screen") -> Figure:
    """Draw the log score of each family and the coverage of its intervals, best first, those that
    cannot hold the data left out.

    Parameters
    ----------
    check
        What `belman.families.check` returned.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Figure
        The figure.
    """
    from matplotlib import pyplot

    fits = [fit for fit in check.fits if not fit.why_not]
    width, height, letters = style.SIZES[size]
    tall = max(0.6 * height, len(fits) * 2.2 * letters / 72.0 + 1.2)
    figure, (scores, shares) = pyplot.subplots(
        1, 2, sharey=True, figsize=(1.5 * width, tall), layout="constrained"
    )
    if all(math.isnan(fit.log_score) for fit in fits):
        scores.set_xticks([])
        scores.text(0.5, 0.5, "not known here", transform=scores.transAxes, ha="center")
    for row, fit in enumerate(fits):
        if not math.isnan(fit.log_score):
            scores.plot(fit.log_score, row, "o", color=style.colour(0))
    scores.set_xlabel("log score, nats per reward (more is better)")
    scores.set_yticks(range(len(fits)), [fit.family for fit in fits])
    scores.set_ylim(len(fits) - 0.5, -0.5)
    shares.axvspan(*_ALLOWED, color=style.GREY, alpha=0.25, linewidth=0.0)
    shares.axvline(0.95, color=style.GREY, linewidth=0.8)
    for position, rewards in enumerate(check.sizes):
        rows = range(len(fits))
        values = [fit.coverage[position] for fit in fits]
        mark = "osD"[position % 3]
        shares.plot(
            values, rows, mark, color=style.colour(position + 1), label=f"after {rewards:,} rewards"
        )
    shares.set_xlabel("coverage of the 95 % interval of the mean")
    shares.set_xlim(min(0.85, *(min(fit.coverage) for fit in fits)) - 0.02, 1.01)
    shares.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False)
    for ax in (scores, shares):
        ax.grid(axis="y", color=style.GREY, alpha=0.25)
        ax.set_axisbelow(True)
    return figure


def drift_check(check: DriftCheck, *, size: str = "screen") -> Figure:
    """Draw the evidence for changes after each reward of an arm, and where one was noticed.

    Above the grey band it is clear that an arm changes; what lies in it says neither.

    Parameters
    ----------
    check
        What `belman.analysis.check_drift` returned.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Figure
        The figure.
    """
    from matplotlib import pyplot

    named = len(check.arms) <= _NAMED
    with style.theme(size):
        figure, ax = pyplot.subplots()
        ax.axhspan(-CLEAR, CLEAR, color=style.GREY, alpha=0.25, linewidth=0.0)
        for position, arm in enumerate(check.arms):
            colour = style.colour(position) if named else style.GREY
            label = str(arm.arm) if named else None
            ax.plot(range(1, arm.rewards + 1), arm.evidence, color=colour, label=label)
            for after, *_ in arm.changes:
                ax.axvline(after, color=colour, linestyle=":", linewidth=1.0)
        ax.set_xlabel("rewards of the arm (dotted: the change that was noticed)")
        ax.set_ylabel("evidence for changes (nats)")
        if named:
            ax.legend(loc="upper left", frameon=False)
    return figure


Floats = NDArray[np.float64]


class PlanCurves(NamedTuple):
    """The data of `plan`.

    Attributes
    ----------
    days
        Days since the start.
    decided
        By goal, the share of runs that are decided by each day.
    lost
        By goal, the reward given away, on average.
    fixed
        The days that a test of fixed size takes.
    """

    days: Floats
    decided: dict[str, Floats]
    lost: dict[str, float]
    fixed: float


def plan_curves(planned: Plan) -> PlanCurves:
    """Compute the data of `plan`.

    Parameters
    ----------
    planned
        A plan that was played.

    Returns
    -------
    PlanCurves
        The arrays.
    """
    turns = [float(np.quantile(watched.turns, 0.95)) for watched in planned.played.values()]
    days = np.linspace(0.0, max(turns) / planned.per_day, 400)
    decided = {name: planned.decided_by(name, days) for name in planned.played}
    lost = {name: float(watched.lost.mean()) for name, watched in planned.played.items()}
    return PlanCurves(days, decided, lost, planned.fixed_days)


def draw_plan(curves: PlanCurves, size: str = "screen") -> Figure:
    """Draw a plan in two panels: how soon it decides, and at what price.

    Parameters
    ----------
    curves
        The data.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Figure
        The figure.
    """
    from matplotlib import pyplot

    with style.theme(size):
        width, height, _ = style.SIZES[size]
        figure, (left, right) = pyplot.subplots(
            1, 2, figsize=(1.25 * width, height), width_ratios=(3.0, 1.0)
        )
        for position, (name, share) in enumerate(curves.decided.items()):
            left.step(curves.days, share, where="post", color=style.colour(position), label=name)
        left.axvline(curves.fixed, color=style.GREY, linestyle=":", label="a test of fixed size")
        left.set(xlabel="days", title="experiments that are decided", ylim=(0.0, 1.02))
        left.set_xlim(0.0, float(curves.days[-1]))
        left.yaxis.set_major_formatter(PercentFormatter(1.0))
        left.grid(color=style.GREY, alpha=0.25)
        left.legend(loc="lower right")
        names = list(curves.lost)
        shades = [style.colour(position) for position in range(len(names))]
        bars = right.bar(names, [curves.lost[name] for name in names], color=shades, width=0.6)
        right.bar_label(bars, fmt="{:,.0f}", padding=2)
        right.set(title="given away")
        right.margins(y=0.12)
        right.yaxis.set_visible(False)
        right.spines["left"].set_visible(False)
    return figure


def plan(planned: Plan, size: str = "screen") -> Figure:
    """Draw a plan.

    Parameters
    ----------
    planned
        A plan that was played.
    size
        The style of a new figure, 'screen' or 'print'.

    Returns
    -------
    Figure
        The figure.
    """
    return draw_plan(plan_curves(planned), size)
