"""What the details of the page show: beliefs, the manifold, why this arm now."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.agent import Agent
from belman.measures.seen_beliefs import Trail, belief_densities
from belman.table import Table

MAX_ROWS = 15
_POINTS = 90
_DIGITS = 5


class SomeArms:
    """Some arms of an agent, with what is known of them from the table of all."""

    def __init__(
        self, agent: Agent, table: Table, positions: Sequence[int], pseudobelief: tuple[float, ...]
    ) -> None:
        self.family, self.turn, self.belief = agent.family, agent.turn, agent.belief
        self.pseudobelief = pseudobelief  # of all arms, not of these alone
        self.arms = tuple(agent.arms[position] for position in positions)
        columns = table.columns.items()
        self._table = Table(
            {name: [column[position] for position in positions] for name, column in columns}
        )

    def beliefs(self, level: float = 0.95) -> Table:
        """The rows of these arms."""
        return self._table


@np.errstate(all="ignore")  # what is infinite is left out
def details(
    agent: Agent, table: Table, positions: Sequence[int], ids: dict[Hashable, int], decides: bool
) -> dict[str, Any]:
    """The beliefs about the arms at these places as densities and as points, and all indices, if it
    is by these beliefs that a study `decides`.
    """
    shown = SomeArms(agent, table, positions, agent.pseudobelief)
    return {
        "arms": [ids[arm] for arm in shown.arms],
        "densities": _densities(shown),
        "manifold": _manifold(shown),
        "why": _why(agent.explain(), ids) if decides else None,
    }


def _densities(shown: SomeArms) -> dict[str, Any]:
    data = belief_densities(shown, points=_POINTS)
    low, high = data.window
    even = np.linspace(low, high, _POINTS)
    x = np.unique(np.concatenate([data.x.ravel(), data.pseudobelief_x, even]))
    x = x[(low <= x) & (x <= high)]
    x = x[np.diff(x, prepend=-np.inf) > 1e-4 * (high - low)]

    def curve(own: NDArray[Any], density: NDArray[Any]) -> list[float | None]:
        return numbers(np.interp(x, own, density, left=0.0, right=0.0))

    series = [curve(own, density) for own, density in zip(data.x, data.density, strict=True)]
    middle = curve(data.pseudobelief_x, data.pseudobelief_density)
    return {"x": numbers(x), "series": series, "pseudobelief": middle}


def _manifold(shown: SomeArms) -> dict[str, Any]:
    trail = Trail(turns=1)
    trail.record(shown)
    paths = trail.paths()
    middle = np.array([paths.pseudobelief_mean[0], paths.pseudobelief_precision[0]], dtype=float)
    points = [numbers(point) for point in np.stack([paths.mean[0], paths.precision[0]], axis=1)]
    return {"points": points, "pseudobelief": numbers(middle), "quantity": paths.quantity}


def _why(explanation: Table, ids: dict[Hashable, int]) -> dict[str, Any]:
    shown = {name: column[:MAX_ROWS] for name, column in explanation.columns.items()}
    rows = [
        {"id": ids[arm], "label": label(arm), "cells": [short(cell) for cell in cells]}
        for arm, *cells in zip(*shown.values(), strict=True)
    ]
    return {
        "title": explanation.title,
        "columns": list(shown)[1:],
        "rows": rows,
        "more": max(len(explanation) - MAX_ROWS, 0),
    }


def label(arm: Hashable) -> str:
    """The name of an arm as the page writes it."""
    return arm if isinstance(arm, str) else str(arm)


def short(value: Any) -> Any:
    """A number with as many digits as a page needs."""
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def numbers(values: NDArray[Any]) -> list[float | None]:
    """Numbers as JSON; None for what is not finite."""
    return [short(value) if math.isfinite(value) else None for value in values.tolist()]
