"""What a study with a budget has spent, what arms are expected to cost, and the price of a cost.

An arm is worth its expected reward less the price times its expected cost, and is drawn with the
chance that it is worth most. The price is the one at which the budget lasts until the end of its
period and no longer: after every ask it rises where the chances of that ask cost more than what is
left for each ask to come, and falls where they cost less (an online dual ascent of the problem
"earn most, spend at most so much"). It goes on from period to period: a new one begins with the
price that was usual in the one before.

All of this follows from the log. Costs belong to the period of their ask, whenever they are told.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, NamedTuple

from belman.codec import DERIVED, Count, Number, Place
from belman.studies.rules.budgets import Budget
from belman.studies.rules.metrics import Metrics

#: What the body of an ask keeps of the price: the price, and the scale of prices.
PRICE = "price"
#: Parts of a period whose traffic is learnt apart.
SLOTS = 24
#: Periods that are kept.
MOST_PERIODS = 100
#: Plays by which a mean of late is drawn to the mean of all times, and that of a segment to all.
_SHRINK = 10.0
#: Recent costs count half after this share of a period.
_HALF_LIFE = 0.25
#: An arm of unknown cost beside others of which none is known counts as this share of the budget.
_UNKNOWN = 0.01
#: Steps of the price are 1/√(asks of a period) of its scale, and between these.
_LEAST_STEP, _LARGEST_STEP = 0.005, 0.2
#: The scale of prices fades by this at every ask, so that segments that come seldom count.
_FADE = 0.995
#: Costs differ where they do by this share of their mean.
_DIFFERS = 0.02

Segment = str


def _are_slots(result: list[float]) -> bool:
    return len(result) in (0, SLOTS) and all(count >= 0.0 for count in result)


class Cost(NamedTuple):
    """What plays of an arm cost: how many there were, their sum, and both with old ones fading."""

    n: Count = 0
    sum: Fraction = Fraction(0)
    weight: float = 0.0
    recent: float = 0.0

    def mean(self, fade: float, prior: float | None = None) -> float:
        """Return what a play costs of late, where plays of now weigh 1/`fade`."""
        known = float(self.sum / self.n) if prior is None else prior
        return (fade * self.recent + _SHRINK * known) / (fade * self.weight + _SHRINK)

    def changed(self, more: int, change: Fraction, weight: float) -> Cost:
        """Return a copy with more plays, their total cost and their total weight."""
        return Cost(
            self.n + more,
            self.sum + change,
            self.weight + more * weight,
            self.recent + float(change) * weight,
        )

    def faded(self, fade: float) -> Cost:
        """Return the same with its recent plays weighing less."""
        return self._replace(weight=self.weight * fade, recent=self.recent * fade)


@dataclass(slots=True)
class Period:
    """What was spent for the asks of a period by what is known now, how many there were, the price
    that was usual, and the lowest and highest.
    """

    spent: Fraction = Fraction(0)
    asks: Count = 0
    price: float = 0.0
    low: float = 0.0
    high: float = 0.0


@dataclass
class Spending:
    """Costs by an arm's place in the register and segment, and the period that is now."""

    now: Count = 0  # the number of the period
    since: float = 0.0  # when traffic of this period began
    time: float = 0.0  # of the last ask
    price: float = 0.0
    scale: float = 0.0
    pressure: float = 0.0  # of asks since the price was made, in steps
    expected: dict[Number, float] = field(default_factory=dict)  # of asks whose cost is not known
    slots: Annotated[list[Count], _are_slots] = field(default_factory=lambda: [0] * SLOTS)
    usual: Annotated[list[float], _are_slots] = field(default_factory=list)  # asks in a period
    periods: dict[Count, Period] = field(default_factory=dict)
    costs: dict[Place, Cost] = field(default_factory=dict)
    by_segment: dict[tuple[Place, str], Cost] = field(default_factory=dict)
    budget: Budget = field(default=Budget("cost", 1.0), metadata=DERIVED)
    open: Fraction = field(default=Fraction(0), metadata=DERIVED)  # the sum of what is expected

    def under(self, budget: Budget) -> Spending:
        """Follow a budget."""
        self.budget, self.open = budget, sum(map(Fraction, self.expected.values()), Fraction(0))
        return self

    # What is expected

    def _fade(self) -> float:
        """Return what a play at the beginning of the period weighs beside one of now."""
        return _weight(self.now - self.time / self.budget.seconds)

    def costs_of(self, positions: Sequence[int], segment: Segment, most: bool) -> list[float]:
        """Return the expected cost of each arm; one that is not known counts as the cheapest that
        is, so that it is tried, or with `most`, where a limit is kept, as the dearest.
        """
        fade = self._fade()
        means = {position: max(cost.mean(fade), 0.0) for position, cost in self.costs.items()}
        known = (max if most else min)(means.values(), default=_UNKNOWN * self.budget.amount)
        result = []
        for position in positions:
            mean = means.get(position, known)
            own = self.by_segment.get((position, segment)) if segment else None
            result.append(mean if own is None else max(own.mean(fade, mean), 0.0))
        return result

    def committed(self, time: float) -> float:
        """Return what is spent in the period of a time, and what open asks of it are expected to
        cost.
        """
        if self.budget.period_of(time) > self.now:
            return 0.0
        result = self.periods.get(self.now)
        return float(self.open + (Fraction(0) if result is None else result.spent))

    def affordable(
        self, time: float, positions: Sequence[int], segment: Segment, times: int = 1
    ) -> list[int]:
        """Return the arms for which this number of asks fits in the budget."""
        left = self.budget.amount - self.committed(time)
        costs = self.costs_of(positions, segment, most=True)
        return [
            position
            for position, cost in zip(positions, costs, strict=True)
            if times * cost <= left
        ]

    # The price

    def next_price(
        self, time: float, worths: Sequence[float], costs: Sequence[float]
    ) -> tuple[float, float]:
        """Return the price that the next ask is decided by, and the scale of prices, given what
        arms are worth and cost.

        The scale is the largest price at which another arm than the cheapest may be best, here or
        in the segment of an ask before. No price is above twice of it: where the cheapest arm is
        chosen already, a higher one would change nothing, and would have to come down again.
        """
        if self.periods and self.budget.period_of(time) > self.now:  # as the period will begin
            price, pressure = self.periods[self.now].price, 0.0
        else:
            price, pressure = self.price, self.pressure
        scale = max(_steepest(worths, costs), self.scale * _FADE)
        step = 1.0 / math.sqrt(max(self._asks_in_all(), 1.0))
        step = min(max(step, _LEAST_STEP), _LARGEST_STEP)
        price += step * scale * pressure
        return min(max(price, 0.0), 2.0 * scale), scale

    def _asks_in_all(self) -> float:
        """Return how many asks a period has."""
        return sum(self.usual) or sum(self.slots) + self.asks_to_come(self.time)

    def asks_to_come(self, time: float) -> float:
        """Return how many asks are expected in the rest of the period, this one included: as many
        as usual where there was a period before, and as there were so far where not.
        """
        seconds, made = self.budget.seconds, sum(self.slots)
        gone = time - self.now * seconds
        left = max(seconds - gone, 0.0)
        if not self.usual:
            past = max(time - self.since, 0.0)
            return max(made * left / (past + left / 20.0), 1.0)
        at = min(max(gone / seconds * SLOTS, 0.0), SLOTS - 1e-9)
        slot = int(at)
        before = sum(self.usual[:slot]) + (at - slot) * self.usual[slot]
        whole = sum(self.usual)
        little = 0.1 * whole + 1.0
        return max((whole - before) * (made + little) / (before + little), 1.0)

    # What happens

    def ask(
        self,
        number: int,
        time: float,
        position: int,
        segment: Segment,
        chances: Sequence[float] | None,
        made: Sequence[float] | None,
    ) -> None:
        """An ask was decided, by a price that was `made` for it or that stood."""
        self._come_to(time)
        self.time = time
        if made is not None:
            (self.price, self.scale), self.pressure = made, 0.0
        slot = int((time / self.budget.seconds - self.now) * SLOTS)
        self.slots[min(max(slot, 0), SLOTS - 1)] += 1
        own = self.periods[self.now]
        own.asks += 1
        lasting = min(own.asks, 1.0 + self._asks_in_all() / 4.0)
        own.price += (self.price - own.price) / lasting
        is_first = own.asks == 1
        own.low = self.price if is_first else min(own.low, self.price)
        own.high = self.price if is_first else max(own.high, self.price)
        each = (self.budget.amount - self.committed(time)) / self.asks_to_come(time)
        self.pressure += _pressure(self._mean_cost(position, segment, chances), each)
        (cost,) = self.costs_of([position], segment, most=True)
        self.expected[number] = cost
        self.open += Fraction(cost)

    def _mean_cost(self, position: int, segment: Segment, chances: Sequence[float] | None) -> float:
        """Return what an ask was expected to cost before its arm was drawn."""
        likely = [(position, 1.0)] if chances is None else list(enumerate(chances))
        likely = [(at, chance) for at, chance in likely if chance > 0.0]
        costs = self.costs_of([at for at, _ in likely], segment, most=False)
        return math.fsum(chance * cost for (_, chance), cost in zip(likely, costs, strict=True))

    def _come_to(self, time: float) -> None:
        """Begin the period of a time where that is a new one, with the price that was usual in the
        one before.
        """
        if self.budget.period_of(time) <= self.now and self.periods:
            return
        before, now = self.periods.get(self.now), self.budget.period_of(time)
        if before is not None:
            self.price, self.pressure = before.price, 0.0
            was_whole = self.since <= self.now * self.budget.seconds + self.budget.seconds / SLOTS
            whole = self._whole_slots()
            if self.usual:
                self.usual = [0.5 * (a + b) for a, b in zip(self.usual, whole, strict=True)]
            elif was_whole:
                self.usual = whole
            fade = _weight(self.now - now)
            self.costs = {key: cost.faded(fade) for key, cost in self.costs.items()}
            of_segments = self.by_segment.items()
            self.by_segment = {key: cost.faded(fade) for key, cost in of_segments}
        self.slots, self.expected, self.open = [0] * SLOTS, {}, Fraction(0)
        self.now = now
        # but for the first period, that traffic comes late in a period is part of it
        self.since = time if before is None else float(now * self.budget.seconds)
        self.periods[now] = Period()
        for old in list(self.periods)[:-MOST_PERIODS]:
            del self.periods[old]

    def _whole_slots(self) -> list[float]:
        """Return the asks of the period by slot; where the budget was spent before its end, with
        those that will have been refused since: in proportion to the usual ones, or to those made.
        """
        made = [float(count) for count in self.slots]
        left = self.budget.amount - self.committed(self.time)
        if left >= min(self.costs_of(list(self.costs), "", most=True), default=0.0):
            return made
        ended = min(max((self.time / self.budget.seconds - self.now) * SLOTS, 1e-9), float(SLOTS))
        usual = self.usual or [1.0] * SLOTS
        there = [min(max(ended - slot, 0.0), 1.0) for slot in range(SLOTS)]  # the share before that
        before = math.fsum(share * count for share, count in zip(there, usual, strict=True))
        factor = math.fsum(made) / before if before > 0.0 else 0.0
        rest = zip(made, there, usual, strict=True)
        return [count + factor * (1.0 - share) * of for count, share, of in rest]

    def tell(
        self,
        number: int,
        asked: float,
        position: int,
        segment: Segment,
        before: Metrics | None,
        after: Metrics | None,
    ) -> None:
        """The metrics of an ask, made at the time `asked`, are known, or otherwise than before."""
        old, new = ((told or {}).get(self.budget.metric) for told in (before, after))
        if old == new:
            return
        if new is not None:
            self.give_back(number)
        change = Fraction(new or 0.0) - Fraction(old or 0.0)
        self._pay(asked, change)
        self._learn(asked, position, segment, (new is not None) - (old is not None), change)

    def spend(self, time: float, position: int | None, cost: float) -> None:
        """A cost of no ask was told: of an arm, or of none."""
        self._come_to(time)
        self._pay(time, Fraction(cost))
        if position is not None:
            self._learn(time, position, "", 1, Fraction(cost))

    def _pay(self, asked: float, change: Fraction) -> None:
        if (own := self.periods.get(self.budget.period_of(asked))) is not None:
            own.spent += change

    def _learn(
        self, asked: float, position: int, segment: Segment, more: int, change: Fraction
    ) -> None:
        """Count more plays of an arm at the time `asked`, and their cost."""
        weight = _weight(asked / self.budget.seconds - self.now)
        of_all: list[tuple[dict[Any, Cost], Any]] = [(self.costs, position)]
        if segment:
            of_all.append((self.by_segment, (position, segment)))
        for costs, key in of_all:
            costs[key] = costs.get(key, Cost()).changed(more, change, weight)
            if costs[key].n <= 0:
                del costs[key]

    def give_back(self, number: int) -> None:
        """An ask costs nothing more than was told of it."""
        self.open -= Fraction(self.expected.pop(number, 0.0))


def _weight(periods: float) -> float:
    """Return the weight of a play by its time, in periods since the present one began."""
    return 2.0 ** min(max(periods / _HALF_LIFE, -1000.0), 1000.0)


def segment_of(context: Mapping[str, Any] | None) -> Segment:
    """Return the name under which costs of a segment are kept."""
    return json.dumps(list(context.values()), ensure_ascii=False) if context else ""


def _pressure(cost: float, each: float) -> float:
    """Return from -1 to 1 how much more an ask costs than there is for each."""
    if each <= 0.0:
        return 1.0 if cost > 0.0 else 0.0
    return (cost - each) / max(cost, each)


def _steepest(worths: Sequence[float], costs: Sequence[float]) -> float:
    """Return the largest worth that a cost above the cheapest buys, per unit of the cost.

    >>> _steepest([0.5, 0.7, 0.8], [1.0, 2.0, 5.0])
    0.19999999999999996
    """
    cheapest = min(range(len(costs)), key=lambda a: (costs[a], -worths[a]))
    least = _DIFFERS * (sum(costs) / len(costs))
    gains = (
        (worths[a] - worths[cheapest]) / (costs[a] - costs[cheapest])
        for a in range(len(costs))
        if costs[a] - costs[cheapest] > least
    )
    return max(gains, default=0.0) if costs else 0.0
