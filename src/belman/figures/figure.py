"""The contract of a figure, frozen data: what is simulated, what is drawn, what the paper shows.

The parts of a figure are computed one by one and kept on disk under their names (see
`belman.figures.folder`), so that an interrupted figure goes on where it stopped, and a picture can
be drawn again without playing again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from belman.lab.design import Design
from belman.plots import style
from belman.table import Table, number

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure as Picture

SEED = 2019
#: The column of a table that has the paper's own numbers, the second one.
PAPER_COLUMN = "in the paper"
Data = Mapping[str, "xarray.Dataset"]


class Effort(NamedTuple):
    """How much to play: a share of the full figure's runs, a number of runs, or the paper's.

    Attributes
    ----------
    name
        What it is called.
    share
        The share of the runs of the full figure.
    least
        The fewest runs, where the full figure has as many.
    exactly
        A number of runs for every simulation; None goes by the share.
    as_in_paper
        Whether to play as many runs as the paper did.
    """

    name: str
    share: float = 1.0
    least: int = 1
    exactly: int | None = None
    as_in_paper: bool = False

    def runs(self, full: int, paper: int = 25, quick: int = 0) -> int:
        """Compute how many runs of a simulation to play.

        Parameters
        ----------
        full
            The runs of the full figure.
        paper
            The runs in the paper.
        quick
            The fewest runs by which a claim can be decided.

        Returns
        -------
        int
            The number of runs.

        >>> QUICK.runs(1_000), FULL.runs(1_000), AS_IN_PAPER.runs(1_000)
        (50, 1000, 25)
        >>> Effort("mine", exactly=7).runs(1_000)
        7
        """
        if self.exactly is not None:
            return self.exactly
        least = max(self.least, quick, round(self.share * full))
        return paper if self.as_in_paper else min(full, least)


#: All runs of every figure.
FULL = Effort("full")
#: A twentieth of the runs, and twenty at least.
QUICK = Effort("quick", share=0.05, least=20)
#: As many runs as the paper has.
AS_IN_PAPER = Effort("paper", as_in_paper=True)


class Part(NamedTuple):
    """A piece of a figure's data that is computed and kept by itself.

    Attributes
    ----------
    description
        What settles the data to the last digit, as values that JSON can hold.
    compute
        A function that gives the data; it takes what `simulate` takes as `progress`.
    design
        What is simulated, so that its players can be compiled beforehand; None if nothing is.
    """

    description: Mapping[str, Any]
    compute: Callable[[bool | None], xarray.Dataset]
    design: Design | None = None


@dataclass(frozen=True)
class Figure(ABC):
    """The contract of a figure: what has to be computed for it, and how it is drawn.

    Parameters
    ----------
    name
        The name, which is that of its folder too.
    title
        The heading of the figure in the report.
    shows
        What the picture shows, in sentences.
    paper
        What the picture of the paper shows; empty if the paper has none.
    """

    name: str
    title: str
    shows: str
    paper: str = ""

    @abstractmethod
    def parts(self, effort: Effort) -> dict[str, Part]:
        """Say what has to be computed.

        Parameters
        ----------
        effort
            How much to play.

        Returns
        -------
        dict
            Parts by name.
        """

    @abstractmethod
    def draw(self, data: Data) -> Picture:
        """Draw the picture, in the theme that is on.

        Parameters
        ----------
        data
            The data of its parts, by name.

        Returns
        -------
        matplotlib.figure.Figure
            The picture.
        """

    def tables(self, data: Data) -> list[Table]:
        """Make tables of its numbers, with their intervals.

        Parameters
        ----------
        data
            The data of its parts, by name.

        Returns
        -------
        list of Table
            The tables; none by default.
        """
        return []


def with_interval(mean: float, half_width: float) -> str:
    """A mean and half of its 95 % interval, both to two digits of the latter.

    >>> with_interval(12.3456, 0.5), with_interval(-441.2, 37.0), with_interval(0.25, 0.0)
    ('12.35 ± 0.50', '-441 ± 37', '0.25')
    """
    if not 0.0 < half_width < math.inf:
        return number(mean) if half_width == 0.0 else f"{number(mean)} ± {number(half_width)}"
    positions = max(0, 1 - math.floor(math.log10(half_width)))
    return f"{mean:,.{positions}f} ± {half_width:,.{positions}f}"


def canvas(
    rows: int = 1, columns: int = 1, wide: float = 1.0, high: float = 1.0, **look: Any
) -> tuple[Picture, Any]:
    """Make a picture of rows × columns of axes, `wide` and `high` in screens, in the present theme.

    `look` is what `pyplot.subplots` takes besides.
    """
    from matplotlib import pyplot

    width, height, _ = style.SIZES["screen"]
    return pyplot.subplots(rows, columns, figsize=(wide * width, high * height), **look)
