"""How pure exploration shares its turns among the paper's twenty arms, and what it learns so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray

from belman.exposure import Infinite
from belman.figures.checks import interval
from belman.figures.claim import AllData, Check, Claim, Judgement
from belman.figures.figure import SEED, Data, Effort, Figure, Part
from belman.figures.numbers import last
from belman.figures.players import TWENTY
from belman.lab.exploration import Exploration, Question, explore
from belman.measures import condense, half_width
from belman.plots import curve_data, draw_curves, style
from belman.policies import BelMan, Policy, Thompson, TopTwoThompson, Uniform, WidestBelief
from belman.problems import bernoulli
from belman.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

TURNS, RUNS = 1_000, 1_000
EXPLORE, NATURAL, WIDEST = "BelMan-Explore", "BelMan-Explore, natural", "widest belief"
PLAYERS: dict[str, Policy] = {
    EXPLORE: BelMan(Infinite()),
    NATURAL: BelMan(Infinite(), "natural"),
    WIDEST: WidestBelief(),
    "uniform": Uniform(),
    "top-two Thompson": TopTwoThompson(),
    "Thompson": Thompson(),
    "BelMan": BelMan(),
}
_DRAWN = (EXPLORE, NATURAL, WIDEST, "uniform")
_FEW = 5  # plays of an arm of which next to nothing is known
_NAME = "twenty arms"


@dataclass(frozen=True)
class ExplorationShares(Figure):
    """Shares of plays per arm on the left, simple regret on the right."""

    def parts(self, effort: Effort) -> dict[str, Part]:
        runs, problem = effort.runs(RUNS), bernoulli(TWENTY)
        design = Exploration(PLAYERS, problem, TURNS, runs, SEED, Question(1, TURNS))

        def compute(progress: bool | None) -> xarray.Dataset:
            return condense(explore(PLAYERS, problem, runs, SEED, budget=TURNS, progress=progress))

        return {_NAME: Part(design.describe(), compute, design)}

    def draw(self, data: Data) -> Picture:
        from matplotlib import pyplot

        found = data[_NAME]
        width, height, _ = style.SIZES["screen"]
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(1.5 * width, height))
        order, places = np.argsort(-np.array(TWENTY), kind="stable"), np.arange(len(TWENTY))
        for place, (name, mark) in enumerate(zip(_DRAWN, "osD_", strict=True)):
            share = _shares(found, name).isel(arm=order)
            look = {
                "color": style.colour(place),
                "marker": mark,
                "linestyle": "none",
                "markersize": 6.0,
                "capsize": 2.0,
            }
            left.errorbar(places, share.mean("run"), half_width(share), label=name, **look)
        left.set_xticks(places, [f"{TWENTY[a]:g}" for a in order], rotation=90)
        left.set(
            xlabel="mean of the arm",
            ylabel="plays, relative to uniform",
            title=f"shares after {TURNS:,} turns",
        )
        left.set_ylim(bottom=0.0)
        left.legend()
        draw_curves(curve_data(found, "simple_regret"), right, quartiles=False)
        right.set(title="simple regret", ylabel="what the recommended arm lacks")
        return figure

    def tables(self, data: Data) -> list[Table]:
        found = data[_NAME]
        names = [str(name) for name in found.player.values]
        regret = {name: last([found], name, "simple_regret") for name in names}
        names.sort(key=lambda name: float(regret[name].mean()))
        errors = {name: last([found], name, "error") * 1.0 for name in names}
        shares = {name: _shares(found, name).mean("run") for name in names}
        starved = {name: (found.plays.sel(player=name).min("arm") < _FEW) * 1.0 for name in names}
        columns: dict[str, list[object]] = {
            "player": list(names),
            "simple regret": [float(regret[name].mean()) for name in names],
            "± simple regret": [float(half_width(regret[name])) for name in names],
            "error": [float(errors[name].mean()) for name in names],
            "± error": [float(half_width(errors[name])) for name in names],
            "least share": [float(shares[name].min()) for name in names],
            "largest": [float(shares[name].max()) for name in names],
            "of the best arm": [float(shares[name][0]) for name in names],
            f"runs with an arm played < {_FEW} times": [
                float(starved[name].mean()) for name in names
            ],
        }
        title = f"twenty arms, turn {TURNS:,}, {found.sizes['run']:,} runs"
        return [Table(columns, f"{title}; shares are relative to uniform")]


def _shares(found: xarray.Dataset, player: str) -> xarray.DataArray:
    """Plays of each arm relative to uniform play, in every run."""
    return found.plays.sel(player=player) * (len(TWENTY) / TURNS)


FIGURE = ExplorationShares(
    name="exploration-shares",
    title="What pure exploration looks at",
    shows="Infinite exposure plays the arm nearest to the pseudobelief. The distance has a part "
    "for how narrow a belief is, which evens out the plays, and one for where it lies, which "
    "keeps away from the arm that stands out: the one sought, or one whose first rewards were "
    "lucky and are never put to the test. Without the second part (widest belief) the best arm "
    "gets more plays, not fewer.",
    paper="Pure exploration plays the arms almost uniformly.",
)


def _almost_uniform(everything: AllData) -> Judgement:
    found = everything["exploration-shares"][_NAME]
    share = _shares(found, EXPLORE)
    mean = share.mean("run")
    checks = []
    fewest, most = int(np.argmin(mean.values)), int(np.argmax(mean.values))
    for arm, below, limit in ((fewest, False, 0.8), (most, True, 1.25)):
        estimate, half, runs = interval(share.isel(arm=arm))
        which = f"{'most' if below else 'least'} played arm (mean {TWENTY[arm]:g})"
        words = f"{EXPLORE}: {which} within {limit:g} of uniform"
        checks.append(Check(words, estimate, half, limit, below, runs))
    within = float(((mean > 0.8) & (mean < 1.25)).mean())
    words = f"{EXPLORE}: most arms within 0.8 and 1.25 of uniform (share of arms)"
    checks.append(Check(words, within, 0.0, 0.5, False, runs))
    least = interval(share.min("arm"))
    words = f"{EXPLORE}: in a run, too, the least played arm has half of the uniform share"
    checks.append(Check(words, least[0], least[1], 0.5, False, least[2]))
    players = (EXPLORE, NATURAL, WIDEST, "uniform")
    regret = {name: last([found], name, "simple_regret") for name in players}
    pairs = ((EXPLORE, "uniform"), (NATURAL, EXPLORE), (WIDEST, EXPLORE), (WIDEST, "uniform"))
    causes = []
    for name, other in pairs:
        estimate, half, runs = interval(regret[name] - regret[other])
        words = f"{name}: less simple regret than {other}"
        causes.append(Check(words, estimate, half, 0.0, runs=runs))
    starved = interval((found.plays.sel(player=EXPLORE).min("arm") < _FEW) * 1.0)
    words = f"{EXPLORE}: some runs leave an arm with fewer than {_FEW} plays (share of runs)"
    causes.append(Check(words, starved[0], starved[1], 0.0, False, starved[2]))
    return Judgement(checks, causes)


CLAIM = Claim(
    11,
    "Pure exploration is almost uniform",
    "Pure exploration plays the arms almost uniformly.",
    ("exploration-shares",),
    _almost_uniform,
    "Almost uniform is read as: between 0.8 and 1.25 of the uniform share. Averages over runs "
    "come near to that but for the best arm; in nearly every run, though, some arm is left with "
    "next to no plays, because its first rewards made it stand out.",
)
