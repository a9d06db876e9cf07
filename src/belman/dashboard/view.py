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
from belman.table import Table

TOP = 6
MAX_ROWS = 15
_POINTS = 90
_DIGITS = 5
_INTERVAL = 1.959963984540054  # standard deviations of a central 95 %


class SomeArms:
    """Some arms of an agent, with what is known of them from the table of all."""

    def __init__(self, agent: Agent, table: Table, places: Sequence[int]) -> None:
        self._agent, self._places = agent, places
        self.arms = tuple(agent.arms[place] for place in places)
        self._table = Table(
            {name: [column[place] for place in places] for name, column in table.columns.items()}
        )

    @property
    def family(self) -> Family:
        """What a reward is."""
        return self._agent.family

    @property
    def pseudobelief(self) -> tuple[float, ...]:
        """The barycentre of all arms, not of these alone."""
        return self._agent.pseudobelief

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

    def rows(self, places: Sequence[int], timeline: Timeline) -> list[dict[str, Any]]:
        """Arms as the page lists them."""
        quantity = next(name for name in self.table.columns if name.startswith("expected"))
        total = max(int(timeline.asked.sum()), 1)
        columns = {name: self.table[name] for name in ("plays", "low", "high")}
        return [
            {
                "id": self.ids[place],
                "label": self.labels[place],
                **{name: _short(column[place]) for name, column in columns.items()},
                "expected": _short(self.table[quantity][place]),
                "best": self.table["P(best)"][place],
                "share": _short(_asked(timeline, self.ids[place]) / total),
            }
            for place in places
        ]

    def view(self, timeline: Timeline, pinned: Sequence[int]) -> dict[str, Any]:
        """The whole page, with the arms of these ids beside the likeliest best."""
        top = self.order[:TOP]
        places = [
            *top,
            *(place for place, id in enumerate(self.ids) if id in set(pinned) and place not in top),
        ]
        shown = SomeArms(self.agent, self.table, places)
        return {
            "number": self.number,
            "status": self.status,
            "quantity": next(name for name in self.table.columns if name.startswith("expected")),
            "arms": self.rows(places, timeline),
            "densities": _densities(shown),
            "manifold": _manifold(shown),
            "shares": self._shares(places, timeline),
            "earned": self._earned(timeline),
            "why": self._why(),
        }

    def _shares(self, places: Sequence[int], timeline: Timeline) -> dict[str, Any]:
        shares = timeline.shares()
        ids = [self.ids[place] for place in places]
        known = shares.share.shape[1]
        columns = [
            shares.share[:, id] if id < known else np.zeros(len(shares.decisions)) for id in ids
        ]
        rest = (
            np.maximum(1.0 - np.sum(columns, axis=0), 0.0) if len(shares.decisions) else np.zeros(0)
        )
        return {
            "x": shares.decisions.tolist(),
            "series": [_numbers(column) for column in columns],
            "rest": _numbers(rest),
            "others": len(self.ids) > len(places),
        }

    def _earned(self, timeline: Timeline) -> dict[str, Any]:
        """The sum of rewards, beside n · the mean belief of the arms now, as by uniform play."""
        count, total = timeline.earnings()
        quantity = next(name for name in self.table.columns if name.startswith("expected"))
        means = np.array(self.table[quantity], dtype=float)
        spread = (
            np.array(self.table["high"], dtype=float) - np.array(self.table["low"], dtype=float)
        ) / (2.0 * _INTERVAL)
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
        rows = [
            [_short(cell) for cell in row] for row in zip(*list(shown.values())[1:], strict=True)
        ]
        return {
            "title": self.explanation.title,
            "columns": list(shown)[1:],
            "rows": [
                {"id": ids[arm], "label": label(arm), "cells": cells}
                for arm, cells in zip(shown["arm"], rows, strict=True)
            ],
            "more": max(len(self.explanation) - MAX_ROWS, 0),
        }


def label(arm: Hashable) -> str:
    """The name of an arm as the page writes it."""
    return arm if isinstance(arm, str) else str(arm)


def _densities(shown: SomeArms) -> dict[str, Any]:
    data = belief_densities(shown, points=_POINTS)
    low, high = data.window
    x = np.unique(
        np.concatenate([data.x.ravel(), data.pseudobelief_x, np.linspace(low, high, _POINTS)])
    )
    x = x[(low <= x) & (x <= high)]
    x = x[np.concatenate([[True], np.diff(x) > 1e-4 * (high - low)])]
    curves = [
        np.interp(x, own, density, left=0.0, right=0.0)
        for own, density in zip(data.x, data.density, strict=True)
    ]
    middle = np.interp(x, data.pseudobelief_x, data.pseudobelief_density, left=0.0, right=0.0)
    return {
        "x": _numbers(x),
        "series": [_numbers(curve) for curve in curves],
        "pseudobelief": _numbers(middle),
    }


def _manifold(shown: SomeArms) -> dict[str, Any]:
    trail = Trail(turns=1)
    trail.record(shown)
    paths = trail.paths()
    middle = [float(paths.pseudobelief_mean[0]), float(paths.pseudobelief_precision[0])]
    points = np.stack([paths.mean[0], paths.precision[0]], axis=1)
    return {
        "points": [_numbers(point) for point in points],
        "pseudobelief": _numbers(np.array(middle)),
        "quantity": paths.quantity,
    }


def _asked(timeline: Timeline, id: int) -> int:
    return int(timeline.asked[id]) if id < len(timeline.asked) else 0


def _short(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _numbers(values: NDArray[Any]) -> list[float | None]:
    return [
        float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None for value in values.tolist()
    ]
