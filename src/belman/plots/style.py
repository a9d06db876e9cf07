"""Colours for colour-blind readers too, sizes for screen and print, labels beside their things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from matplotlib.transforms import Bbox

from belman.errors import SettingError, unknown

#: Okabe and Ito's palette without its yellow, which is too pale for a line.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#999999"

#: Width and height in inches, and the size of the letters in points.
SIZES: dict[str, tuple[float, float, float]] = {
    "screen": (8.0, 4.5, 11.0),
    "print": (3.5, 2.4, 7.0),
}

_NOT_SEEN = 0.4  # points by which a line of SVG or PDF may be off
_CORNERS, _BAND_PIXELS = 500, 400.0  # bands of more become pixels in them, so many across

_INK = {"light": ("#1a1a1a", "#ffffff"), "dark": ("#e8e8e8", "#16181c")}


def colour(position: int) -> str:
    """The colour of the line in that position; beyond six they come round again."""
    return PALETTE[position % len(PALETTE)]


@contextmanager
def theme(size: str = "screen", ground: str = "light") -> Iterator[None]:
    """Matplotlib's settings for a size ('screen', 'print') and a ground ('light', 'dark')."""
    for given, known in ((size, SIZES), (ground, _INK)):
        if given not in known:
            raise SettingError(unknown("style", given, known))
    width, height, letters = SIZES[size]
    ink, paper = _INK[ground]
    settings: Any = {
        "figure.figsize": (width, height),
        "figure.dpi": 100,
        "figure.constrained_layout.use": True,
        "savefig.dpi": 200 if size == "screen" else 300,
        "font.size": letters,
        "lines.linewidth": letters / 6.0,
        "legend.frameon": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlelocation": "left",
        **dict.fromkeys(("axes.titlesize", "axes.labelsize"), letters),
        **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 0.9 * letters),
        **dict.fromkeys(
            ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), ink
        ),
        **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), paper),
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


@contextmanager
def canvas(ax: Axes | None, size: str = "screen") -> Iterator[Axes]:
    """The axes given, as they are; or new ones, and the style of that size to draw on them."""
    with nullcontext() if ax else theme(size):
        yield new_axes(ax, size)


def lay_out(figure: Figure) -> None:
    """Move the axes to where their words leave them, as drawing would, without drawing."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def save(
    figure: Figure,
    path: Any,
    format: str,
    dpi: float | None = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Write a figure, laid out and drawn once; PNG with its own dots per inch, unless given.

    `figure.savefig` draws what was ever laid out a second time, unseen. SVG and PDF hold lines and
    words as such, and bands as pixels: thousands of corners each would make megabytes.
    """
    if format == "png" and dpi is not None:
        figure.set_dpi(dpi)  # first: letters are as wide as its dots allow
    lay_out(figure)
    figure.set_layout_engine("none")
    if format == "png":
        FigureCanvasAgg(figure).print_png(path, metadata=metadata)
    else:
        _make_light(figure)
        dots = _BAND_PIXELS / figure.get_figwidth()
        figure.savefig(path, format=format, dpi=dots, metadata=metadata)


def _make_light(figure: Figure) -> None:
    """Leave out corners of lines that nobody sees, and make bands of many corners pixels.

    Bands come next to each other, so that they are one picture.
    """
    for line in figure.findobj(Line2D):
        assert isinstance(line, Line2D)
        line.get_path().simplify_threshold = _NOT_SEEN
    for band in figure.findobj(PolyCollection):
        assert isinstance(band, PolyCollection)
        if sum(np.shape(path.vertices)[0] for path in band.get_paths()) > _CORNERS:
            band.set_rasterized(True)
            band.set_zorder(max(band.get_zorder(), 1.9))  # above the axes, which are at 1.5


def plain_numbers(axis: Axis) -> None:
    """Ticks of a logarithmic axis at 1, 2, 5, 10, …, written as people write them."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axis.set_minor_formatter(NullFormatter())


def ink(ax: Axes) -> Any:
    """The colour in which these axes write."""
    return ax.xaxis.label.get_color()


def letters(ax: Axes, shade: str) -> tuple[float, ...]:
    """A colour of a line, moved towards the ink so that words in it can be read."""
    pairs = zip(to_rgb(shade), to_rgb(ink(ax)), strict=True)
    return tuple(0.65 * line + 0.35 * dark for line, dark in pairs)


class Label(NamedTuple):
    """A word at a point of the axes."""

    x: float
    y: float
    text: str
    colour: Any


def position_labels(ax: Axes, labels: Sequence[Label]) -> None:
    """Write each label just above its point, the highest first; it steps aside or up for others."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    lay_out(figure)
    frame = ax.get_window_extent()
    halo = [patheffects.withStroke(linewidth=2.0, foreground=ax.get_facecolor())]
    placed: list[Bbox] = []
    grow = 1.0
    for label in sorted(labels, key=lambda label: -label.y):
        line: Any = {
            "arrowstyle": "-",
            "color": label.colour,
            "linewidth": 0.8,
            "shrinkA": 0.0,
            "shrinkB": 1.0,
        }
        note = ax.annotate(
            label.text, (label.x, label.y), (0.0, 4.0), textcoords="offset points", arrowprops=line
        )
        note.set(
            color=label.colour,
            ha="center",
            va="bottom",
            weight="bold",
            zorder=10.0,
            path_effects=halo,
            parse_math=False,
        )
        note.set_annotation_clip(False)
        # moves the words to their place; the box below is theirs alone, without the line
        note.get_window_extent()
        box = Text.get_window_extent(note)
        right, up = _free(box, placed, frame)
        note.set_position((right * 72.0 / figure.dpi, 4.0 + up * 72.0 / figure.dpi))
        assert note.arrow_patch is not None
        # a label far from its point is tied to it
        note.arrow_patch.set_visible(up > 0.6 * box.height)
        placed.append(box.translated(right, up))
        point = float(ax.transData.transform((label.x, label.y))[1])
        room = frame.height - min(placed[-1].y1 - point, 0.8 * frame.height)
        # points sink as the axis grows, and labels with them
        grow = max(grow, (point - frame.y0) / room)
    if grow > 1.0:
        corners = [(frame.x0, frame.y0), (frame.x0, frame.y1)]
        low, high = ax.transData.inverted().transform(corners)[:, 1]
        ax.set_ylim(
            low,
            low * (high / low) ** grow if ax.get_yscale() == "log" else low + (high - low) * grow,
        )


def _free(box: Bbox, placed: Sequence[Bbox], frame: Bbox) -> tuple[float, float]:
    """The least move, in pixels, that takes a box inside the frame and off earlier boxes."""
    inward = max(frame.x0 + 2.0 - box.x0, 0.0) - max(box.x1 - frame.x1 + 2.0, 0.0)
    rises = 0.5 * box.height * np.arange(2 * len(placed) + 3)
    for rise in rises:
        for aside in (0.0, 0.55, -0.55):
            moved = box.translated(inward + aside * box.width, rise)
            inside = frame.x0 <= moved.x0 and moved.x1 <= frame.x1
            if inside and not any(moved.overlaps(other) for other in placed):
                return moved.x0 - box.x0, moved.y0 - box.y0
    return inward, float(rises[-1])
