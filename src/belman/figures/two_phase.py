"""Pure exploration first, then exploration–exploitation, on the paper's twenty arms."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import xarray

from belman.exposure import Evidence, Exposure, Paper, two_phase
from belman.figures.checks import interval, parts_of
from belman.figures.claim import AllData, Check, Claim, Judgement
from belman.figures.figure import Curves, Panel
from belman.figures.players import TWENTY
from belman.policies import BelMan, Phases, Policy, Thompson, TopTwoThompson
from belman.problems import bernoulli

WINDOWS = (0, 100, 200, 500, 1_000)
_HORIZON = 5_000
_PAPER, _OURS = "BelMan (paper) after exploring", "BelMan after exploring"
_RIVAL = "top-two Thompson, then Thompson"


def _belman(then: Exposure) -> Callable[[int], Policy]:
    return lambda window: BelMan(two_phase(window, then))


def _panel(title: str, policy: Callable[[int], Policy]) -> Panel:
    players = {_name(window): policy(window) for window in WINDOWS}
    return Panel(title, bernoulli(TWENTY), players, _HORIZON, runs=2_000)


def _name(window: int) -> str:
    return f"{window:,} turns"


FIGURE = Curves(
    name="two-phase",
    title="Two phases: explore, then exploit",
    shows="Regret on the twenty arms when the first 0, 100, 200, 500 or 1,000 turns are pure "
    "exploration, with all that was learnt carried over. The window is paid for in full; what "
    "matters is how much less regret grows afterwards.",
    paper="A sharp transition when the window ends; after it, regret grows less than without "
    "exploration, and the longer the window the sharper.",
    panels=(
        _panel(_PAPER, _belman(Paper())),
        _panel(_OURS, _belman(Evidence())),
        _panel(_RIVAL, lambda window: Phases(TopTwoThompson(), Thompson(), turns=window)),
    ),
    variables=("regret",),
    logarithmic=(),
    against="0 turns",
)


def _grown(part: xarray.Dataset, window: int, first: int, last: int) -> xarray.DataArray:
    """Regret a turn between two marks (counted from the end), in every run."""
    regret, marks = part.regret_at.sel(player=_name(window)), part.mark.values
    before = regret.isel(mark=first) if first >= -len(marks) else 0.0 * regret.isel(mark=0)
    start = marks[first] if first >= -len(marks) else 0
    return (regret.isel(mark=last) - before) / float(marks[last] - start)


def _transition(part: xarray.Dataset, window: int) -> Check:
    """Regret a turn at least halves, from the octave before the window ends to the last but one."""
    marks = part.mark.values
    end = max(i for i in range(len(marks)) if marks[i] <= window) - len(marks)
    during, after = _grown(part, window, end - 1, end), _grown(part, window, end + 1, end + 2)
    estimate, half, runs = interval(after - 0.5 * during)
    slower = "regret grows less than half as fast (regret per turn, minus half of that before)"
    words = f"{window:,} turns: after the window {slower}"
    return Check(words, estimate, half, 0.0, runs=runs)


def _later(part: xarray.Dataset, window: int, other: int, who: str = "") -> Check:
    """Regret after every window has ended grows less with one than with another."""
    grown = _grown(part, window, -3, -1) - _grown(part, other, -3, -1)
    estimate, half, runs = interval(3_750.0 * grown)
    words = f"{who}{window:,} turns: less regret from turn 1,250 to 5,000 than with {other:,}"
    return Check(words, estimate, half, 0.0, runs=runs)


def _two_phases(everything: AllData) -> Judgement:
    data = everything["two-phase"]
    paper, ours, rival = (parts_of(data, title)[0] for title in (_PAPER, _OURS, _RIVAL))
    windows = WINDOWS[1:]
    return Judgement(
        [
            *(_transition(paper, window) for window in windows),
            *(_later(paper, window, 0) for window in windows),
            *(_later(paper, window, shorter) for shorter, window in pairwise(windows)),
        ],
        [
            *(_later(ours, window, 0, "default: ") for window in windows),
            *(_later(rival, window, 0, "top-two, then Thompson: ") for window in windows),
        ],
    )


CLAIM = Claim(
    9,
    "Two phases",
    "A sharp transition when the exploration window ends; after it, regret grows less than "
    "without exploration; the longer the window the sharper.",
    ("two-phase",),
    _two_phases,
    "While exploring, BelMan keeps away from an arm that stands out, be it by merit or by early "
    "luck, so a longer window is not better knowledge of it: the figure of exploration shares "
    "shows that.",
)
