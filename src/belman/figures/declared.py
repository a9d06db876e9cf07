"""What `figures.toml` declares: words of every figure and claim, figures of regret in full."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from belman.figures.checks import TESTS, Test, judge_panel
from belman.figures.claim import AllData, Claim, Judgement
from belman.figures.curves import Curves, Panel
from belman.figures.players import (
    SLOW,
    TEN,
    TWENTY,
    BetaThompson,
    bernoulli_players,
    exponential_players,
    few_players,
)
from belman.problems import bernoulli, exponential

_WIDTH = 10.0  # of exponential rewards, for players that have to be told
_ARMS = {"ten": TEN, "twenty": TWENTY}
_SLOW = {"ids": SLOW, "ids and beta": {**SLOW, "Thompson (Beta)": BetaThompson}}


def _panel(given: Mapping[str, Any]) -> Panel:
    """The panel of a declaration."""
    title, horizon = given["title"], given.get("horizon", 1_000)
    sizes = ("runs", "slow_runs", "paper_runs", "quick_runs")
    more = {key: given[key] for key in sizes if key in given}
    if "slow" in given:
        more["slow"] = _SLOW[given["slow"]]
    if "bernoulli" in given:
        means = given["bernoulli"]
        problem = bernoulli(_ARMS[means] if isinstance(means, str) else means)
        players = (few_players if given.get("few") else bernoulli_players)(horizon)
        return Panel(title, problem, players, horizon, **more)
    unit, bound = given["unit"], given.get("bound")
    means = [1.0 / (rate * unit) for rate in given["rates"]]
    problem = exponential(means, None if bound is None else bound / unit)
    players = exponential_players(_WIDTH / unit, bound is not None)
    return Panel(title, problem, players, horizon, **more)


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
    return Curves(name=name, panels=tuple(map(_panel, given["panels"])), **drawn)


def _claim(figure: Curves) -> Claim:
    given = DECLARED[figure.name]["claim"]
    checks, causes = (list(_tests(given.get(kind, ()))) for kind in ("checks", "causes"))
    return claimed(figure.name, judge_panel(figure, checks, causes))


_TEXT = resources.files("belman.figures").joinpath("figures.toml").read_text(encoding="utf-8")
#: All that is declared, by the name of the figure, in the order of the report.
DECLARED: dict[str, Any] = tomllib.loads(_TEXT)
FIGURES = [_regret(name, given) for name, given in DECLARED.items() if "panels" in given]
CLAIMS = [_claim(figure) for figure in FIGURES if "claim" in DECLARED[figure.name]]
