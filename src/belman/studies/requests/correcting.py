"""Corrections: what a ticket counted as is replaced, at the cost of what that touches.

The event says what was and what is; who folds it takes the old reward out of the belief and puts
the new one in. Where rounding could be seen, where beliefs are no sums, and where they fade, that
takes all rewards of the arm: they are read from the log beforehand, while others write, and what
came since is read once the study is ours.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from functools import partial
from typing import Any

from belman.deciders import Anew, Learnt
from belman.errors import BelmanError, RewardError, SettingError, StudyError, TicketError
from belman.studies.log import archives
from belman.studies.log.chain import Head
from belman.studies.log.event_log import Event, EventLog, Kind
from belman.studies.log.storage import Transaction
from belman.studies.outcomes.book import ASKED, SHARES, Book, Counted, Outcome
from belman.studies.requests.telling import Tell, check_said, checked, counted, known, when
from belman.studies.rules.metrics import together
from belman.studies.unit_of_work import UnitOfWork, check_key, check_reason

#: Events of a log that one correction reads at most.
MOST_EVENTS = 1_000_000
_TRIES = 10  # to be faster than others who correct


class NeedsLogError(BelmanError):
    """A correction takes all rewards of an arm, which are to be read before it is made."""


class Correction:
    """A request to correct a ticket, and what was read for it from the log."""

    def __init__(self, request: Tell, reason: str) -> None:
        self.request, self.reason = request, reason
        self._anew: _Reading | None = None

    def make(self, replica: Any) -> bool:
        """Correct, reading the log beforehand where that is needed; whether it was a change."""
        for _ in range(_TRIES):
            try:
                result: bool = replica.transact(self._work)
                return result
            except NeedsLogError:
                replica.storage.run(partial(self._read, replica.log), write=False)
        busy = f"study {replica.name!r} was corrected meanwhile, again and again"
        raise StudyError(f"{busy}: try again")

    def _read(self, log: EventLog, transaction: Transaction) -> None:
        assert self._anew is not None
        self._anew.read(log, transaction)

    def _work(self, unit: UnitOfWork) -> bool:
        """Whether another reward for a ticket that counted is a change; None forgets the ticket, or
        with metrics leaves it to them what it counts as, where the study's reward is declared so.
        """
        if not check_reason(self.reason).strip():
            raise SettingError("a correction needs a reason, which the log keeps: reason='refund'")
        ticket, reward, key, _ = self.request
        keyed = None if key is None else f"{check_key(key)}/correct"
        number = unit.number_of(ticket)
        metrics, utility = unit.check_metrics(self.request.metrics), unit.state.settings.reward
        if utility is not None and reward is not None:
            check_said(utility, reward, metrics)
        if utility is None and reward is None and metrics:
            raise RewardError(
                f"a ticket that is forgotten has no metrics, and {metrics} were given"
            )
        new = None if reward is None else unit.check_reward(reward)
        if keyed is not None and known(unit, keyed, number, new, metrics):
            return False
        book = unit.state.book
        if book.is_open(number, unit.now):
            shown = unit.shown(number)
            until = "" if book.window is None else when(book.open[number].time + book.window)
            still = f"is open until {until}" if until else "was not told yet"
            remedy = "and has nothing to correct: tell its reward"
            raise TicketError(f"ticket {shown!r} {still}, {remedy}")
        outcome, first = counted(unit, number, ticket)
        before = outcome.metrics or {}
        whole = together(before, metrics)
        if utility is not None and metrics:
            new = checked(unit, None, whole)
        is_news = outcome.reward != new or before != whole
        if not is_news and keyed is None:  # a key is kept: sent again later, it would be news
            return False
        if new is not None:
            unit.state.decider.check_reward(unit.state.choice(outcome), new)
        self._patch(unit, number, outcome, new)  # which asks for the log, before anything happens
        unit.close()
        patch = self._patch(unit, number, outcome, new)
        body: dict[str, Any] = {"reason": self.reason, "before": outcome.reward, "patch": patch}
        if patch is not None:
            body["counted"] = first
        if metrics or before:
            body |= {"metrics": metrics, "metrics_before": before}
        if unit.state.spending is not None:
            body[ASKED] = [outcome.time, outcome.context]
        chances = unit.state.chances(number, outcome)
        if unit.state.tally.bets is not None and chances and outcome.reward != new:
            body[SHARES] = chances
        text = json.dumps(body, ensure_ascii=False, allow_nan=False)
        unit.write(Kind.CORRECTED, arm=outcome.arm, ticket=number, reward=new, key=keyed, body=text)
        return is_news

    def _patch(
        self, unit: UnitOfWork, number: int, outcome: Outcome, new: float | None
    ) -> dict[str, Any] | None:
        """Return the patch by which a ticket counts as this, as if it had counted so at its time;
        NeedsLogError where the log has to be read for it.
        """
        state = unit.state
        if outcome.reward == new:
            return None
        request = (state.choice(outcome), outcome.reward, new)
        result: dict[str, Any] | None = state.decider.corrected(*request)
        if result is not None:
            return result
        if state.tally.arms[outcome.arm].observed:
            why = "it has outcomes in bulk, of which the log keeps the sums"
            name = state.register[outcome.arm]
            raise TicketError(f"a reward of arm {name!r} cannot be corrected so far: {why}")
        if unit.head.number > MOST_EVENTS:
            why = f"that takes the whole log, which has more than {MOST_EVENTS:,} events"
            raise TicketError(f"ticket {unit.shown(number)!r} cannot be corrected any more: {why}")
        if self._anew is None or not self._anew.is_of(unit, number, outcome.reward, new):
            self._anew = _Reading(unit, outcome, number, new)
            raise NeedsLogError("the log has to be read")
        return dict(state.decider.corrected(*request, self._anew.learnt(unit.now)))


class _Reading:
    """What the rewards of an arm lead to where a ticket counts as this, event by event: read
    outside of the transaction that needs it, and to the end inside.

    Every reward that was learnt at its time fades what came before it, be it corrected or not.
    """

    def __init__(self, unit: UnitOfWork, outcome: Outcome, number: int, new: float | None) -> None:
        state = unit.state
        self._state, self._study, self._arm = state, unit.name, outcome.arm
        self.of, self._ticket = (number, outcome.reward, new), number
        self._whole = self._own = Learnt.nothing(state.learnt(outcome.arm).prior)
        self._segment = self._segment_of(outcome)
        self._book, self.head = Book().under(state.settings), Head()
        self._counts: dict[int | None, float | None] | None = None
        self._last, self._fades, self._since, self._stale = 0, 0, 0, False

    def _segment_of(self, outcome: Outcome) -> Any:
        settings, decider = self._state.settings, self._state.decider
        return None if settings.segments is None else decider.segments.key(outcome.context)

    def read(self, log: EventLog, transaction: Transaction) -> None:
        """Take in the whole log, while others write."""
        corrections = archives.corrections(log, transaction)
        self._counts = {event.ticket: event.reward for event in corrections}
        self._counts[self._ticket] = self.of[2]
        self._last = corrections[-1].number if corrections else 0
        self._follow(archives.whole(log, transaction))

    def is_of(self, unit: UnitOfWork, *of: float | None) -> bool:
        """Whether the log was read that a unit of work goes on with; if so, read what is new."""
        there = unit.log.event(self.head.number) if self.head.number else None
        if self.of != of or there is None or there.link != self.head.link:
            return False
        self._follow(unit.log.after(self.head.number))
        return not self._stale

    def _follow(self, events: Iterable[Event]) -> None:
        for event in events:
            self.head = self.head.follow(event, self._study)
            body = event.content
            if event.kind == Kind.CORRECTED and event.number > self._last:
                self._stale = self._stale or event.arm == self._arm
            self._learn(self._book.close(event.time))
            self._learn(self._book.take(event, body))

    def _learn(self, counted: Iterable[Counted]) -> None:
        decider, discount = self._state.decider, self._state.settings.discount
        family = decider.family
        assert self._counts is not None
        for key, outcome, *_ in counted:
            is_told = outcome.reward is not None
            self._fades += is_told
            self._since = 0 if key == self._ticket else self._since + is_told
            if outcome.arm != self._arm:
                continue
            reward = self._counts.get(key, outcome.reward)
            if reward is None:
                continue
            self._whole = self._whole.faded(family, discount**self._fades)
            self._fades = 0
            with contextlib.suppress(RewardError):  # as it was forgotten when it counted
                value = decider.value(reward)
                self._whole = self._whole.told(family, value)
                if self._segment_of(outcome) == self._segment:
                    self._own = self._own.told(family, value)

    def learnt(self, now: float) -> Anew:
        """Return what all rewards lead to by now."""
        self._learn(self._book.close(now))
        fade = self._state.settings.discount**self._fades
        return Anew(self._whole.faded(self._state.decider.family, fade), self._own, self._since)
