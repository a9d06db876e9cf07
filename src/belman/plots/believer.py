"""What a picture asks of an agent, and the scale on which that agent's user counts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from belman.errors import ArmError, listing, nearest
from belman.families import Family
from belman.table import Table

Floats = NDArray[np.float64]


class Believer(Protocol):
    """Anything with named arms and a belief about each, such as an Agent."""

    @property
    def arms(self) -> tuple[Hashable, ...]: ...
    @property
    def family(self) -> Family: ...
    @property
    def pseudobelief(self) -> tuple[float, ...]: ...
    @property
    def turn(self) -> int: ...
    def belief(self, arm: Hashable) -> tuple[float, ...]: ...
    def beliefs(self, level: float = ...) -> Table: ...


class Scale(NamedTuple):
    """The user's number is offset + factor · the family's number: an agent may have a range of its
    own, or count costs.
    """

    quantity: str
    offset: float
    factor: float

    def of(self, values: Floats) -> Floats:
        """The family's numbers as the user counts them."""
        return self.offset + self.factor * values


def scale_of(agent: Believer, table: Table) -> Scale:
    """The scale of an agent, read off the table of its beliefs: the credible interval there is that
    of the family here.
    """
    costs = "expected cost" in table.columns
    quantity, sign = ("expected cost", -1.0) if costs else ("expected reward", 1.0)
    if agent.family.reward_range is None:
        return Scale(quantity, 0.0, sign)
    widths = [high - low for low, high in zip(table["low"], table["high"], strict=True)]
    widest = int(np.argmax(widths))
    belief = agent.belief(agent.arms[widest])
    low, high = (agent.family.mean_quantile(belief, 0.025, upper=upper) for upper in (False, True))
    factor = sign * widths[widest] / (high - low)
    return Scale(quantity, table["high" if costs else "low"][widest] - factor * low, factor)


def chosen(
    arms: Sequence[Hashable], best: Floats, highlight: Sequence[Hashable] | None, top: int
) -> list[int]:
    """The places of the arms to colour, in order: those named, else the `top` ones most likely to
    be best.
    """
    if highlight is None:
        return sorted(int(a) for a in np.argsort(-best, kind="stable")[:top])
    places = {arm: place for place, arm in enumerate(arms)}
    for arm in highlight:
        if arm not in places:
            raise ArmError(
                f"unknown arm {arm!r}: this picture shows {listing(arms)}{nearest(arm, arms)}"
            )
    return [places[arm] for arm in highlight]
