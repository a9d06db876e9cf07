"""What the page shows of a study at one moment: a few arms in full, and numbers for the whole."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.agent import Agent
from belman.dashboard.timeline import Timeline
from belman.families import Family
from belman.plots import belief_densities
from belman.plots.manifold import Trail
from belman.studies.colours import colour_of
from belman.table import Table

TOP = 6
MAX_ROWS = 15
_POINTS = 90
_DIGITS = 5
_INTERVAL = 1.959963984540054  # standard deviations of a central 95 %


class SomeArms:
    """Some arms of an agent, with what is known of them from the table of all."""

    def __init__(
        self, agent: Agent, table: Table, places: Sequence[int], pseudobelief: tuple[float, ...]
    ) -> None:
        self._agent, self._places = agent, places
        self.pseudobelief = pseudobelief  # the barycentre of all arms, not of these alone
        self.arms = tuple(agent.arms[place] for place in places)
        columns = table.columns.items()
        self._table = Table({name: [column[place] for place in places] for name, column in columns})

    @property
    def family(self) -> Family:
        """What a reward is."""
        return self._agent.family

    @property
    def turn(self) -> int:
        """The turn being decided."""
        return self._agent.turn

    def belief(self, arm: Hashable) -> tuple[float, ...]:
        """The belief about an arm."""
        return self._agent.belief(arm)

    def beliefs(self, level: float = 0.95) -> Table:
        """The rows of these arms."""
        return self._table


class Snapshot:
    """All that is known of a study after an event, worked out once for everybody who watches."""

    def __init__(
        self, number: int, agent: Agent, register: Sequence[Hashable], status: dict[str, Any]
    ) -> None:
        self.number, self.agent, self.status = number, agent, status
        self.table = agent.beliefs()
        self.explanation = agent.explain()
        self.pseudobelief = agent.pseudobelief
        self.labels = [label(arm) for arm in agent.arms]
        places = {arm: place for place, arm in enumerate(register)}
        self.ids = [places[arm] for arm in agent.arms]
        best = np.array(self.table["P(best)"])
        plays = np.array(self.table["plays"])
        self.order = [int(place) for place in np.lexsort((np.arange(len(best)), -plays, -best))]

    def found(self, query: str, most: int) -> list[int]:
        """Places of arms whose name holds the words, the likeliest best first."""
        words = query.casefold()
        return [place for place in self.order if words in self.labels[place].casefold()][:most]

    @property
    def quantity(self) -> str:
        """What the table calls the expected reward."""
        return next(name for name in self.table.columns if name.startswith("expected"))

    def rows(self, places: Sequence[int], timeline: Timeline) -> list[dict[str, Any]]:
        """Arms as the page lists them."""
        expected = self.table[self.quantity]
        total = max(int(timeline.asked.sum()), 1)
        columns = {name: self.table[name] for name in ("plays", "low", "high")}
        return [
            {
                "id": self.ids[place],
                "label": self.labels[place],
                "colour": colour_of(self.agent.arms[place], self.ids[place])._asdict(),
                **{name: _short(column[place]) for name, column in columns.items()},
                "expected": _short(expected[place]),
                "best": self.table["P(best)"][place],
                "share": _short(_asked(timeline, self.ids[place]) / total),
            }
            for place in places
        ]

    @np.errstate(all="ignore")  # what is infinite is left out
    def view(self, timeline: Timeline, pinned: Sequence[int]) -> dict[str, Any]:
        """The whole page, with the arms of these ids beside the likeliest best."""
        top, chosen = self.order[:TOP], set(pinned)
        places = top + [i for i, id in enumerate(self.ids) if id in chosen and i not in top]
        shown = SomeArms(self.agent, self.table, places, self.pseudobelief)
        return {
            "number": self.number,
            "status": self.status,
            "quantity": self.quantity,
            "arms": self.rows(places, timeline),
            "densities": _densities(shown),
            "manifold": _manifold(shown),
            "shares": self._shares(places, timeline),
            "earned": self._earned(timeline),
            "why": self._why(),
        }

    def _shares(self, places: Sequence[int], timeline: Timeline) -> dict[str, Any]:
        decisions, share = timeline.shares()
        ids = [self.ids[place] for place in places]
        none = np.zeros(len(decisions))
        columns = [share[:, id] if id < share.shape[1] else none for id in ids]
        rest = np.maximum(1.0 - np.sum(columns, axis=0), 0.0) if len(decisions) else none
        return {
            "x": decisions.tolist(),
            "series": [_numbers(column) for column in columns],
            "rest": _numbers(rest),
            "others": len(self.ids) > len(places),
        }

    def _earned(self, timeline: Timeline) -> dict[str, Any]:
        """The sum of rewards, beside n · the mean belief of the arms now, as by uniform play."""
        count, total = timeline.earnings()
        columns = (self.table[name] for name in (self.quantity, "low", "high"))
        means, low, high = (np.array(column, dtype=float) for column in columns)
        spread = (high - low) / (2.0 * _INTERVAL)
        mean = float(means.mean())
        wide = _INTERVAL * float(np.sqrt((spread**2).sum())) / len(means)
        return {
            "x": count.tolist(),
            "total": _numbers(total),
            "uniform": _numbers(count * mean),
            "low": _numbers(count * (mean - wide)),
            "high": _numbers(count * (mean + wide)),
        }

    def _why(self) -> dict[str, Any]:
        shown = {name: column[:MAX_ROWS] for name, column in self.explanation.columns.items()}
        ids = dict(zip(self.agent.arms, self.ids, strict=True))
        lines = zip(*shown.values(), strict=True)
        rows = [
            {"id": ids[arm], "label": label(arm), "cells": [_short(cell) for cell in cells]}
            for arm, *cells in lines
        ]
        return {
            "title": self.explanation.title,
            "columns": list(shown)[1:],
            "rows": rows,
            "more": max(len(self.explanation) - MAX_ROWS, 0),
        }


def label(arm: Hashable) -> str:
    """The name of an arm as the page writes it."""
    return arm if isinstance(arm, str) else str(arm)


def _densities(shown: SomeArms) -> dict[str, Any]:
    data = belief_densities(shown, points=_POINTS)
    low, high = data.window
    even = np.linspace(low, high, _POINTS)
    x = np.unique(np.concatenate([data.x.ravel(), data.pseudobelief_x, even]))
    x = x[(low <= x) & (x <= high)]
    x = x[np.concatenate([[True], np.diff(x) > 1e-4 * (high - low)])]

    def curve(own: NDArray[Any], density: NDArray[Any]) -> list[float | None]:
        return _numbers(np.interp(x, own, density, left=0.0, right=0.0))

    series = [curve(own, density) for own, density in zip(data.x, data.density, strict=True)]
    middle = curve(data.pseudobelief_x, data.pseudobelief_density)
    return {"x": _numbers(x), "series": series, "pseudobelief": middle}


def _manifold(shown: SomeArms) -> dict[str, Any]:
    trail = Trail(turns=1)
    trail.record(shown)
    paths = trail.paths()
    middle = np.array([paths.pseudobelief_mean[0], paths.pseudobelief_precision[0]], dtype=float)
    points = [_numbers(point) for point in np.stack([paths.mean[0], paths.precision[0]], axis=1)]
    return {"points": points, "pseudobelief": _numbers(middle), "quantity": paths.quantity}


def _asked(timeline: Timeline, id: int) -> int:
    return int(timeline.asked[id]) if id < len(timeline.asked) else 0


def _short(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _numbers(values: NDArray[Any]) -> list[float | None]:
    return [_short(value) if math.isfinite(value) else None for value in values.tolist()]
