"""What `figures.toml` declares: words of every figure and claim, figures of regret in full."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from belman.figures.checks import TESTS, Test, judge_panels
from belman.figures.claim import AllData, Claim, Judgement
from belman.figures.curves import Curves, Panel
from belman.figures.players import (
    BOUNDED,
    EXPONENTIAL,
    FEW,
    READINGS,
    SLOW,
    TEN,
    TWENTY,
    BetaThompson,
    bernoulli_players,
)
from belman.problems import bernoulli, exponential

_ARMS = {"ten": TEN, "twenty": TWENTY}
_PLAYERS: dict[str, Mapping[str, Any]] = {
    "few": FEW,
    "readings": READINGS,
    "exponential": EXPONENTIAL,
    "bounded": BOUNDED,
}
_SLOW = {"ids": SLOW, "ids and beta": {**SLOW, "Thompson (Beta)": BetaThompson}}


def _panels(given: Mapping[str, Any]) -> Iterator[Panel]:
    """The panel of a declaration; two of exponential parameters, which the paper's text lets read
    as rates and as means.
    """
    title, horizon = given["title"], given.get("horizon", 1_000)
    more = {key: given[key] for key in ("runs", "slow_runs", "paper_runs") if key in given}
    if "slow" in given:
        more["slow"] = _SLOW[given["slow"]]
    if "bernoulli" in given:
        means = given["bernoulli"]
        problem = bernoulli(_ARMS[means] if isinstance(means, str) else means)
        players = _PLAYERS[given["players"]] if "players" in given else bernoulli_players(horizon)
        yield Panel(title, problem, players, horizon, **more)
        return
    players, parameters = _PLAYERS[given.get("players", "exponential")], given["exponential"]
    readings = {"rates": [1.0 / rate for rate in parameters], "means": parameters}
    for reading, means in readings.items():
        problem = exponential(means, given.get("bound"))
        yield Panel(f"{reading} {title}", problem, players, horizon, **more)


def _tests(given: Iterable[Sequence[Any]]) -> Iterator[Test]:
    for name, *taken in given:
        choices = (each if isinstance(each, list) else [each] for each in taken)
        yield from ((TESTS[name], *chosen) for chosen in itertools.product(*choices))


def said(name: str) -> dict[str, Any]:
    """What is said of a figure: its name, its title, what it and the paper show."""
    given = DECLARED[name]
    return {"name": name} | {key: given[key] for key in ("title", "shows", "paper") if key in given}


def claimed(name: str, judge: Callable[[AllData], Judgement]) -> Claim:
    """The claim that is made of a figure, and its judge."""
    given = DECLARED[name]["claim"]
    words = {key: given[key] for key in ("number", "title", "says", "remark") if key in given}
    return Claim(figures=(name,), judge=judge, **words)


def _regret(name: str, given: Mapping[str, Any]) -> Curves:
    drawn = {key: value for key, value in given.items() if key not in ("panels", "claim")}
    panels = tuple(panel for one in given["panels"] for panel in _panels(one))
    return Curves(name=name, panels=panels, **drawn)


def _claim(figure: Curves) -> Claim:
    given = DECLARED[figure.name]["claim"]
    kinds = ("checks", "causes", "of_the_first")
    tests = [list(_tests(given.get(kind, ()))) for kind in kinds]
    return claimed(figure.name, judge_panels(figure, *tests))


_TEXT = resources.files("belman.figures").joinpath("figures.toml").read_text(encoding="utf-8")
#: All that is declared, by the name of the figure, in the order of the report.
DECLARED: dict[str, Any] = tomllib.loads(_TEXT)
FIGURES = [_regret(name, given) for name, given in DECLARED.items() if "panels" in given]
CLAIMS = [_claim(figure) for figure in FIGURES if "claim" in DECLARED[figure.name]]
