"""Does my world change: the evidence for it over time, arm by arm, and the changes noticed."""

from __future__ import annotations

from matplotlib.figure import Figure

from belman.measures.drift_check import CLEAR, DriftCheck
from belman.plots import style

#: More arms than these have one colour, and no names.
_NAMED = 8


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
