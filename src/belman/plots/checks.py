"""Checks of data: which family fits, and whether the world changes."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from belman.families import FamilyCheck
from belman.measures.drift_check import CLEAR, DriftCheck
from belman.plots import style

_ALLOWED = (0.93, 0.97)
#: More arms than these have one colour, and no names.
_NAMED = 8


def family_check(found: FamilyCheck, *, size: str = "screen") -> Figure:
    """Draw the log score of each family and the coverage of its intervals, best first, those that
    cannot hold the data left out.
    """
    from matplotlib import pyplot

    fits = [fit for fit in found.fits if not fit.why_not]
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
    for place, rewards in enumerate(found.sizes):
        rows = range(len(fits))
        values = [fit.coverage[place] for fit in fits]
        mark = "osD"[place % 3]
        shares.plot(
            values, rows, mark, color=style.colour(place + 1), label=f"after {rewards:,} rewards"
        )
    shares.set_xlabel("coverage of the 95 % interval of the mean")
    shares.set_xlim(min(0.85, *(min(fit.coverage) for fit in fits)) - 0.02, 1.01)
    shares.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False)
    for ax in (scores, shares):
        ax.grid(axis="y", color=style.GREY, alpha=0.25)
        ax.set_axisbelow(True)
    return figure


def drift_check(found: DriftCheck, *, size: str = "screen") -> Figure:
    """Draw the evidence for changes after each reward of an arm, and where one was noticed.

    Above the grey band it is clear that an arm changes; what lies in it says neither.
    """
    from matplotlib import pyplot

    named = len(found.arms) <= _NAMED
    with style.theme(size):
        figure, ax = pyplot.subplots()
        ax.axhspan(-CLEAR, CLEAR, color=style.GREY, alpha=0.25, linewidth=0.0)
        for place, arm in enumerate(found.arms):
            colour = style.colour(place) if named else style.GREY
            label = str(arm.arm) if named else None
            ax.plot(range(1, arm.rewards + 1), arm.evidence, color=colour, label=label)
            for after, *_ in arm.changes:
                ax.axvline(after, color=colour, linestyle=":", linewidth=1.0)
        ax.set_xlabel("rewards of the arm (dotted: the change that was noticed)")
        ax.set_ylabel("evidence for changes (nats)")
        if named:
            ax.legend(loc="upper left", frameon=False)
    return figure
