"""Segments of a study: how the leader does among phones, from the whole log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.deciders.scale import Scale
from belman.errors import SettingError
from belman.families import Family
from belman.families.tally import learnt
from belman.measures.report import Report
from belman.measures.segments import Segments, compared, segments
from belman.studies.log.event_log import Event, Kind
from belman.studies.outcomes.book import Counted, Outcome
from belman.studies.outcomes.bulk import Bulk, taught
from belman.studies.outcomes.walk import walk
from belman.studies.requests.row_corrections import RowCorrection, corrected_in
from belman.studies.rules.attributes import NONE, OTHERS, Attributes, check_known
from belman.studies.state import State

#: Segments that are shown; the smaller ones are taken together.
MOST = 30


class _Side:
    """What came of one arm in one segment: rewards on the scale of the family, how many, and what
    rows in bulk add to a belief.
    """

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.rewards: list[float] = []
        self.n, self.learned = 0, np.zeros(1)

    def tell(self, reward: float) -> None:
        self.rewards.append(self.scale.inward(reward))
        self.n += 1

    def add(self, n: int, learned: NDArray[np.float64]) -> None:
        self.n += n
        self.learned = self.learned + learned

    def belief(self, family: Family, prior: Sequence[float]) -> NDArray[np.float64]:
        start = family.from_additive(family.additive(prior) + self.learned)
        return learnt(family, start, self.rewards)


class _Sides:
    """Both arms in every segment of an attribute."""

    def __init__(self, state: State, by: str, pair: tuple[int, int]) -> None:
        scale = self.scale = state.decider.scale
        self.by, self.pair, self.family = by, pair, state.decider.family
        self.positions, self.outcomes = state.positions, dict[Any, Outcome]()
        self.priors = {position: state.learnt(position).prior for position in pair}
        self.result = defaultdict[str, tuple[_Side, _Side]](lambda: (_Side(scale), _Side(scale)))

    def of(self, value: str, position: int) -> _Side:
        return self.result[value][self.pair.index(position)]

    def take(
        self,
        event: Event | None,
        body: Mapping[str, Any],
        closed: list[Counted],
        counted: list[Counted],
    ) -> None:
        """Take a step of the log."""
        for key, outcome, *_ in (*closed, *counted):
            self.outcomes[("of", key) if type(key) is int else len(self.outcomes)] = outcome
        if event is None:
            for outcome in self.outcomes.values():
                self.tell(_known_of(outcome), outcome.arm, outcome.reward)
        elif event.kind == Kind.CORRECTED:
            key = ("of", event.ticket)
            self.outcomes[key] = self.outcomes[key]._replace(reward=event.reward)
        elif event.kind == Kind.OBSERVED:
            self.observe(Bulk.of(body))
        elif event.kind == Kind.ROWS_CORRECTED:
            for row in corrected_in(body):
                self.correct(row)

    def tell(self, attributes: Attributes, position: int, reward: float | None) -> None:
        """An outcome counted for itself."""
        if position in self.pair and reward is not None:
            self.of(attributes.get(self.by, NONE), position).tell(reward)

    def observe(self, result: Bulk) -> None:
        """A batch of rows counted, with attributes or by the weights of a segment."""
        for part in result.by:
            if part.name == self.by and part.arm in self.pair:
                self.of(part.value, part.arm).add(part.n, np.array(part.learned))
        for context, position, n, total, squares in result.contexts:
            if self.by in context and position in self.pair:
                prior, family = self.priors[position], self.family
                after = family.update_many(prior, n, total, squares)
                learned = family.additive(after) - family.additive(prior)
                self.of(_words(context)[self.by], position).add(n, learned)

    def correct(self, row: RowCorrection) -> None:
        """A row counts otherwise, if it is said in which segment it came."""
        position = self.positions[row.arm]
        if position in self.pair and row.attributes is not None:
            side = self.of(row.attributes.get(self.by, NONE), position)
            was = np.array([self.scale.inward(row.was)])
            side.add(-1, -taught(self.family, self.priors[position], was))
            self.tell(row.attributes, position, row.reward)

    def largest(self) -> dict[str, tuple[_Side, _Side]]:
        """The largest segments, and the others as one, of those that have both arms."""
        sizes = Counter({value: a.n + b.n for value, (a, b) in self.result.items()})
        kept = {value for value, _ in sizes.most_common(MOST)}
        for value in sorted(set(self.result) - kept):
            for side, more in zip(self.result[OTHERS], self.result.pop(value), strict=True):
                side.rewards += more.rewards
                side.add(more.n, more.learned)
        return {
            value: pair for value, pair in sorted(self.result.items()) if pair[0].n and pair[1].n
        }


def divides(state: State) -> set[str]:
    """What `segments_of` may go by: attributes, and what contexts tell in words."""
    settings = state.settings
    names = settings.segments or (state.decider.categories if settings.has_features else ())
    return state.tally.attribute_names.union(names)


def _known_of(outcome: Outcome) -> Attributes:
    """Return the attributes of an outcome, and its context in words."""
    return {**_words(outcome.context or {}), **(outcome.attributes or {})}


def _words(context: Mapping[str, Any]) -> Attributes:
    return {name: NONE if value is None else str(value) for name, value in context.items()}


def segments_of(
    state: State, log: Iterable[Event], now: float, by: str, result: Report
) -> Segments:
    """The leader beside control, or beside the runner-up, in every segment that has both.

    What every ticket and row counts as by now is taken from the log, corrections included; a
    discount does not fade it.
    """
    check_known(by, divides(state))
    if result.others == 0:
        raise SettingError(f"by={by!r}: there is one arm, and nothing to compare it with")
    mine, other = compared(result)
    sides = _Sides(state, by, (state.positions[mine], state.positions[other]))
    for step in walk(state.settings, (one for one in log if one.number <= state.number), now):
        sides.take(*step)
    both = sides.largest()
    if not both:
        raise SettingError(f"no {by} has rewards of both {mine!r} and {other!r} yet")
    family, priors = state.decider.family, [sides.priors[position] for position in sides.pair]
    beliefs = {
        value: (a.belief(family, priors[0]), b.belief(family, priors[1]))
        for value, (a, b) in both.items()
    }
    plays = {value: float(a.n + b.n) for value, (a, b) in both.items()}
    return segments(by, family, beliefs, plays, mine, other, state.decider.known().units)
