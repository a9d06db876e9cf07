"""How the next asks of a study are decided: by its policy, by chances that the log keeps, or all
for the arm that is shipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from belman.deciders import Asking, Choice, Draw
from belman.deciders.choosing import drawn_by
from belman.errors import BudgetError
from belman.measures.net_value import worth_most
from belman.studies.outcomes.book import SHARES
from belman.studies.state import State
from belman.studies.traffic.budget_views import refusal
from belman.studies.traffic.evidence import Chances
from belman.studies.traffic.spending import PRICE, Spending, segment_of

Plain = dict[str, Any]


def decide(
    state: State, count: int, asking: Asking, now: float
) -> tuple[list[Choice], Plain, Plain]:
    """Decide the next `count` asks, which are outstanding from now on; and return what the first of
    them and those after it keep of the chances of all arms, where these are not those that stand,
    and of the price.
    """
    decider, shipped = state.decider, state.shipped
    if shipped is None and not state.by_chances:
        decider = state.ready()
        return decider.integrated(decider.choose(asking, count, None, state.shares)), {}, {}
    for _ in range(count if state.in_contexts else 0):
        decider.meet(asking)
    if shipped is not None:
        drawn = [(state.register[shipped], 1.0, Draw.POLICY)] * count
        return _expect(state, asking, drawn), {}, {}
    first, rest = _new_chances(state, count, asking, now)
    chances = first.get(SHARES, state.tally.draws.chances)
    state.fork(1)  # other words than a policy draws from
    of_arms = {arm: chances[state.positions[arm]] for arm in state.arms}
    return _expect(state, asking, drawn_by(of_arms, count, state.dice)), first, rest


def _expect(state: State, asking: Asking, drawn: list[tuple[Any, float, Draw]]) -> list[Choice]:
    """Return asks that were decided, as choices that are outstanding from now on."""
    result = [Choice(arm, 0, likely, draw, asking.context) for arm, likely, draw in drawn]
    for arm, times in Counter(one.arm for one in result).items():
        state.decider.expect(Choice(arm, context=asking.context), times)
    return result


def chances_of_last(state: State, asking: Asking) -> dict[Any, float] | None:
    """Return the chance that each arm or candidate had at the one ask that was just decided; None
    where that is not known.
    """
    if state.shipped is not None or state.by_chances:
        return None
    result: dict[Any, float] | None = state.ready().chances(asking, state.shares)
    return result


def _new_chances(state: State, count: int, asking: Asking, now: float) -> tuple[Plain, Plain]:
    """Return what the next asks keep of the chances of all arms; nothing where those that stand are
    theirs.
    """
    if state.spending is not None:
        return _priced_chances(state, state.spending, count, asking, now)
    if not state.in_contexts and state.number + 1 < state.tally.draws.due:
        return {}, {}
    result = _by_position(state, state.ready().chances_of_next(asking, count, state.shares))
    return {SHARES: result}, {SHARES: result} if state.in_contexts else {}


def _by_position(state: State, chances: Mapping[Any, float]) -> Chances:
    return tuple(chances.get(arm, 0.0) for arm in state.register)


# Under a budget


def _priced_chances(
    state: State, spending: Spending, count: int, asking: Asking, now: float
) -> tuple[Plain, Plain]:
    """Return the chances by which arms that the budget has room for are drawn, and the price: each
    arm has that of being worth most less what it costs, beside its floor.
    """
    decider, segment = state.ready(), segment_of(asking.context)
    positions = [state.positions[arm] for arm in decider.arms]
    costs = np.array(spending.costs_of(positions, segment, most=False))
    beliefs, family = decider.believed_now(asking), decider.family
    low, high = decider.scale.range or (0.0, 1.0)
    worths = [(high - low) * family.expected_reward(row) for row in beliefs]
    made = spending.next_price(now, worths, costs.tolist())
    fits = set(spending.affordable(now, positions, segment, count))
    there = [row for row, position in enumerate(positions) if position in fits]
    prices = made[0] / (high - low) * costs[there]
    wished = worth_most(family, beliefs[there], prices).tolist()
    arms = [decider.arms[row] for row in there]
    result = _by_position(state, state.shares.beside(dict(zip(arms, wished, strict=True))))
    return {SHARES: result, PRICE: made}, {SHARES: result}


def affordable(state: State, count: int, asking: Asking, now: float) -> list[int]:
    """Return the places of the arms for which this number of asks fits in the budget."""
    positions = (
        [state.positions[arm] for arm in state.arms] if state.shipped is None else [state.shipped]
    )
    if state.spending is None:
        return positions
    return state.spending.affordable(now, positions, segment_of(asking.context), count)


def check_budget(state: State, count: int, asking: Asking, now: float, study: str) -> None:
    """Raise BudgetError where the budget has no room for this number of asks of any arm."""
    if state.spending is not None and not affordable(state, count, asking, now):
        raise BudgetError(refusal(state.spending, now, count, study))
