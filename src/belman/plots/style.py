"""Colours that a colour-blind reader can tell apart, sizes for screen and print, labels that stand beside what they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib import patheffects
from matplotlib.axes import Axes

from belman.errors import SettingError, listing, nearest

#: Okabe and Ito's palette without its yellow, which is too pale for a line.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#999999"

#: Width and height in inches, and the size of the letters in points.
SIZES: dict[str, tuple[float, float, float]] = {"screen": (8.0, 4.5, 11.0), "print": (3.5, 2.4, 7.0)}

_INK = {"light": ("#1a1a1a", "#ffffff"), "dark": ("#e8e8e8", "#16181c")}


def colour(place: int) -> str:
    """The colour of the line in that place; beyond six they come round again."""
    return PALETTE[place % len(PALETTE)]


@contextmanager
def theme(size: str = "screen", ground: str = "light") -> Iterator[None]:
    """Matplotlib's settings for a size ('screen', 'print') and a ground ('light', 'dark'), for what is drawn inside."""
    for given, known in ((size, SIZES), (ground, _INK)):
        if given not in known:
            raise SettingError(f"unknown style {given!r}: there are {listing(known)}{nearest(given, known)}")
    width, height, letters = SIZES[size]
    ink, paper = _INK[ground]
    settings: dict[str, Any] = {
        **{"figure.figsize": (width, height), "figure.dpi": 100, "savefig.dpi": 200 if size == "screen" else 300},
        **{"figure.facecolor": paper, "axes.facecolor": paper, "savefig.facecolor": paper, "figure.constrained_layout.use": True},
        **{"font.size": letters, "axes.titlesize": letters * 1.05, "axes.labelsize": letters, "legend.fontsize": letters * 0.9},
        **{"xtick.labelsize": letters * 0.9, "ytick.labelsize": letters * 0.9, "lines.linewidth": letters / 6.0},
        **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), ink),
        **{"axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left", "legend.frameon": False},
    }
    with mpl.rc_context(settings):
        yield


def new_axes(ax: Axes | None, size: str = "screen") -> Axes:
    """The axes given, or those of a new figure in the style of that size."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    with theme(size):
        return pyplot.subplots()[1]


def ink(ax: Axes) -> Any:
    """The colour in which these axes write."""
    return ax.xaxis.label.get_color()


class Label(NamedTuple):
    """A word at a point of the axes."""

    x: float
    y: float
    text: str
    colour: Any


def place_labels(ax: Axes, labels: Sequence[Label]) -> None:
    """Write each label just above its point, the highest first, and lift it where it would cover one written before."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    frame = ax.get_window_extent()
    placed: list[Any] = []
    ceiling = frame.y1
    for label in sorted(labels, key=lambda label: -label.y):
        x, y = ax.transData.transform((label.x, label.y))
        side = "left" if x < frame.x0 + 0.08 * frame.width else "right" if x > frame.x1 - 0.08 * frame.width else "center"
        note = ax.annotate(
            *(label.text, (label.x, label.y), (0.0, 4.0)),
            **{"textcoords": "offset points", "ha": side, "va": "bottom", "color": label.colour},
            **{"annotation_clip": False, "zorder": 10.0},
            path_effects=[patheffects.withStroke(linewidth=3.0, foreground=ax.get_facecolor())],
        )
        box = note.get_window_extent()
        lift = 0.0
        for other in sorted(placed, key=lambda other: float(other.y0)):
            if other.x0 < box.x1 and box.x0 < other.x1 and other.y0 < box.y1 + lift and box.y0 + lift < other.y1:
                lift = other.y1 - box.y0 + 1.0
        note.set_position((0.0, 4.0 + lift * 72.0 / figure.dpi))
        placed.append(box.translated(0.0, lift))
        ceiling = max(ceiling, box.y1 + lift)
    if ceiling > frame.y1:  # room for the labels above the highest point
        low, high = ax.transData.inverted().transform([(frame.x0, frame.y0), (frame.x0, frame.y1)])[:, 1]
        grow = (ceiling - frame.y0) / frame.height
        if ax.get_yscale() == "log":
            ax.set_ylim(low, low * (high / low) ** grow)
        else:
            ax.set_ylim(low, low + (high - low) * grow)
