"""Exploration first: what comes of two phases, and what pure exploration looks at.

Both on the paper's twenty arms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import xarray

from belman.exposure import Evidence, Exposure, Infinite, Paper, two_phase
from belman.figures.checks import Floats, check, compare
from belman.figures.claim import AllData, Check, Draw, Judgement
from belman.figures.curves import Curves, Panel, intervals, last
from belman.figures.declared import claimed, said
from belman.figures.figure import SEED, Data, Effort, Figure, Part, canvas
from belman.figures.players import PAPERS, TWENTY
from belman.lab.exploration import Exploration, Question, explore
from belman.measures import condense, half_width
from belman.plots import curve_data, draw_curves, style
from belman.policies import BelMan, Phases, Policy, Thompson, TopTwoThompson, Uniform, WidestBelief
from belman.problems import bernoulli
from belman.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

_WINDOWS = (0, 100, 200, 500, 1_000)
_HORIZON, _AFTER = 5_000, 1_000  # turns; those that are counted after a window
_OURS, _RIVAL = "BelMan", "top-two Thompson, then Thompson"


def _belman(then: Exposure, reading: str = "barycentre") -> Callable[[int], Policy]:
    return lambda window: BelMan(two_phase(window, then), reading)


@dataclass(frozen=True)
class Windows(Panel):
    """A player with windows of exploration; kept is the regret of the turns after each window."""

    def condensed(self, result: xarray.Dataset) -> xarray.Dataset:
        regret = result.regret
        grown = [
            regret.sel(player=_name(window)).sel(turn=window + _AFTER, method="nearest")
            - (regret.sel(player=_name(window)).sel(turn=window, method="nearest") if window else 0)
            for window in _WINDOWS
        ]
        after = xarray.concat([each.drop_vars("turn", errors="ignore") for each in grown], "player")
        return condense(result).assign(after=after.transpose("player", "run"))


def _panel(title: str, policy: Callable[[int], Policy], quick_runs: int = 0) -> Panel:
    players = {_name(window): policy(window) for window in _WINDOWS}
    problem = bernoulli(TWENTY)
    return Windows(title, problem, players, _HORIZON, runs=2_000, quick_runs=quick_runs)


def _name(window: int) -> str:
    return f"{window:,} turns"


TWO_PHASE = Curves(
    **said("two-phase"),
    panels=(
        *(
            _panel(name, _belman(Paper(), reading), quick_runs=400 if reading == "joint" else 0)
            for reading, name in PAPERS.items()
        ),
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
    slower = "regret grows less than half as fast (regret per turn, minus half of that before)"
    words = f"{window:,} turns: after the window {slower}"
    return check(words, after - 0.5 * during, player=_name(window))


def _grows_less(part: xarray.Dataset, window: int, other: int) -> Check:
    """Regret of the turns after one window is less than after another, or than at the start."""
    than = f"after one of {other:,}" if other else f"in the first {_AFTER:,} turns without a window"
    words = f"{window:,} turns: less regret in the {_AFTER:,} turns after the window than {than}"
    own, rival = ((_name(each), part.after.sel(player=_name(each))) for each in (window, other))
    return compare(words, own, rival)


def _later(part: xarray.Dataset, window: int, other: int, who: str = "") -> Check:
    """Regret after every window has ended grows less with one than with another."""
    grown = _grown(part, window, -3, -1) - _grown(part, other, -3, -1)
    words = f"{who}{window:,} turns: less regret from turn 1,250 to 5,000 than with {other:,}"
    return check(words, 3_750.0 * grown)


def _sharper(part: xarray.Dataset) -> Check:
    """The longer the window, the less regret after it: the slope of a line through all windows."""
    windows = _WINDOWS[1:]
    off = np.log2(windows) - np.log2(windows).mean()
    weights = dict(zip(windows, off / (off**2).sum(), strict=True))
    after = {window: part.after.sel(player=_name(window)) for window in windows}

    def redrawn(draw: Draw) -> Floats:
        means = (
            weight * after[window].values[draw(_name(window), after[window].size)].mean(axis=1)
            for window, weight in weights.items()
        )
        return np.asarray(sum(means), dtype=np.float64)

    words = f"the longer the window, the less regret in the {_AFTER:,} turns after (per doubling)"
    slope = sum(weight * after[window] for window, weight in weights.items())
    return check(words, slope)._replace(redrawn=redrawn)


def _two_phases(everything: AllData) -> Judgement:
    data, windows = everything["two-phase"], _WINDOWS[1:]
    readings = {
        reading: [
            *(_transition(data[name], window) for window in windows),
            *(_grows_less(data[name], window, 0) for window in windows),
            _sharper(data[name]),
        ]
        for reading, name in PAPERS.items()
    }
    named = data[PAPERS[Judgement(readings).reading]]
    causes = [
        *(_grows_less(named, window, shorter) for shorter, window in pairwise(windows)),
        *(_later(named, window, 0, "same calendar turns, ") for window in windows),
        *(_later(data[_OURS], window, 0, "default: ") for window in windows),
        *(_later(data[_RIVAL], window, 0, "top-two, then Thompson: ") for window in windows),
    ]
    return Judgement(readings, causes)


_TURNS, _RUNS = 1_000, 1_000
_EXPLORE, _NATURAL, _WIDEST = "BelMan-Explore", "BelMan-Explore, natural", "widest belief"
_PLAYERS: dict[str, Policy] = {
    _EXPLORE: BelMan(Infinite()),
    _NATURAL: BelMan(Infinite(), "natural"),
    _WIDEST: WidestBelief(),
    "uniform": Uniform(),
    "top-two Thompson": TopTwoThompson(),
    "Thompson": Thompson(),
    "BelMan": BelMan(),
}
_DRAWN = (_EXPLORE, _NATURAL, _WIDEST, "uniform")
_FEW = 5  # plays of an arm of which next to nothing is known
_NAME = "twenty arms"


@dataclass(frozen=True)
class ExplorationShares(Figure):
    """Shares of plays per arm on the left, simple regret on the right."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        runs, problem = effort.runs(_RUNS), bernoulli(TWENTY)
        design = Exploration(_PLAYERS, problem, _TURNS, runs, SEED, Question(1, _TURNS))

        def compute(progress: bool | None) -> xarray.Dataset:
            return condense(
                explore(_PLAYERS, problem, runs, SEED, budget=_TURNS, progress=progress)
            )

        return {_NAME: Part(design.describe(), compute, design)}

    def draw(self, data: Data) -> Picture:
        result = data[_NAME]
        figure, (left, right) = canvas(1, 2, 1.5)
        order, positions = np.argsort(-np.array(TWENTY), kind="stable"), np.arange(len(TWENTY))
        for position, (name, mark) in enumerate(zip(_DRAWN, "osD_", strict=True)):
            share = _shares(result, name).isel(arm=order)
            look = {
                "color": style.colour(position),
                "marker": mark,
                "linestyle": "none",
                "markersize": 6.0,
                "capsize": 2.0,
            }
            left.errorbar(positions, share.mean("run"), half_width(share), label=name, **look)
        left.set_xticks(positions, [f"{TWENTY[a]:g}" for a in order], rotation=90)
        left.set(
            xlabel="mean of the arm",
            ylabel="plays, relative to uniform",
            title=f"shares after {_TURNS:,} turns",
        )
        left.set_ylim(bottom=0.0)
        left.legend()
        draw_curves(curve_data(result, "simple_regret"), right, quartiles=False)
        right.set(title="simple regret", ylabel="what the recommended arm lacks")
        return figure

    def tables(self, data: Data) -> list[Table]:
        result = data[_NAME]
        regret = {str(name): last([result], name, "simple_regret") for name in result.player.values}
        names = sorted(regret, key=lambda name: float(regret[name].mean()))
        shares = [_shares(result, name).mean("run") for name in names]
        columns: dict[str, list[object]] = {
            "player": list(names),
            "simple regret": intervals(regret[name] for name in names),
            "error": intervals(last([result], name, "error") * 1.0 for name in names),
            "least share": [float(share.min()) for share in shares],
            "largest": [float(share.max()) for share in shares],
            "of the best arm": [float(share[0]) for share in shares],
            f"runs with an arm played < {_FEW} times": [
                float(_starved(result, name).mean()) for name in names
            ],
        }
        title = f"twenty arms, turn {_TURNS:,}, {result.sizes['run']:,} runs"
        return [Table(columns, f"{title}; shares are relative to uniform")]


def _shares(result: xarray.Dataset, player: str) -> xarray.DataArray:
    """Plays of each arm relative to uniform play, in every run."""
    return result.plays.sel(player=player) * (len(TWENTY) / _TURNS)


def _starved(result: xarray.Dataset, player: str) -> xarray.DataArray:
    """Whether a run leaves an arm with next to no plays: 1 or 0."""
    return (result.plays.sel(player=player).min("arm") < _FEW) * 1.0


SHARES = ExplorationShares(**said("exploration-shares"))


def _almost_uniform(everything: AllData) -> Judgement:
    result = everything["exploration-shares"][_NAME]
    pairs = ((_EXPLORE, "uniform"), (_NATURAL, _EXPLORE), (_WIDEST, _EXPLORE), (_WIDEST, "uniform"))
    causes = []
    for name, other in pairs:
        lacks, rival = (last([result], player, "simple_regret") for player in (name, other))
        causes.append(check(f"{name}: less simple regret than {other}", lacks - rival))
    words = f"{_EXPLORE}: some runs leave an arm with fewer than {_FEW} plays (share of runs)"
    causes.append(check(words, _starved(result, _EXPLORE), below=False))
    # without a pull the joint projection is the barycentre
    readings = {"joint, barycentre": _EXPLORE, "natural": _NATURAL}
    return Judgement({each: _evenness(result, name) for each, name in readings.items()}, causes)


def _evenness(result: xarray.Dataset, player: str) -> list[Check]:
    """Arms have the uniform share of plays, on average over runs and in a run."""
    share = _shares(result, player)
    mean = share.mean("run")
    checks = []
    fewest, most = int(np.argmin(mean.values)), int(np.argmax(mean.values))
    for arm, below, limit in ((fewest, False, 0.8), (most, True, 1.25)):
        which = f"{'most' if below else 'least'} played arm (mean {TWENTY[arm]:g})"
        words = f"{player}: {which} within {limit:g} of uniform"
        checks.append(check(words, share.isel(arm=arm), limit, below, player))
    within = float(((mean > 0.8) & (mean < 1.25)).mean())
    words = f"{player}: most arms within 0.8 and 1.25 of uniform (share of arms)"

    def redrawn(draw: Draw) -> Floats:
        means = share.values[draw(player, share.sizes["run"])].mean(axis=1)
        return np.asarray(((means > 0.8) & (means < 1.25)).mean(axis=1), dtype=np.float64)

    checks.append(Check(words, within, 0.0, 0.5, False, share.sizes["run"], redrawn))
    words = f"{player}: in a run, too, the least played arm has half of the uniform share"
    checks.append(check(words, share.min("arm"), 0.5, False, player))
    return checks


CLAIMS = (claimed("two-phase", _two_phases), claimed("exploration-shares", _almost_uniform))
