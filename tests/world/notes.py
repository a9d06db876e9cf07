"""What callers were answered, and what has to follow from it: the promises, one method each."""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from belman.studies import Kind, Study
from belman.studies.log.event_log import Event


class BrokenPromiseError(AssertionError):
    """A promise of docs/guide/promises.md that does not hold."""


def holds(truth: object, otherwise: str) -> None:
    """Raise unless something is so."""
    if not truth:
        raise BrokenPromiseError(otherwise)


class Call(NamedTuple):
    """A request as its caller made it: sent again it is the same, and so is its key."""

    method: str
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    key: str  # which a give-back has for us alone, since it is safe by itself
    remote: bool

    def __str__(self) -> str:
        given = [*map(repr, self.arguments), *(f"{k}={v!r}" for k, v in self.named.items())]
        return f"{self.method}({', '.join(given)}, key={self.key!r})"


class Notes:
    """The calls that were answered, and those of which nobody knows."""

    def __init__(self) -> None:
        self.tickets: dict[str, Any] = {}
        self.told: dict[str, dict[str, float]] = defaultdict(dict)  # by ticket and key
        self.corrected: dict[str, list[float | None]] = defaultdict(list)
        self.returned: set[str] = set()  # that somebody wanted to give back
        self.rows: dict[str, list[tuple[str, float]]] = {}  # arms and rewards of batches by key
        self.recorded: dict[str, list[tuple[str, float]]] = {}
        self.sums: dict[str, tuple[int, float]] = {}
        self.replaced: dict[str, tuple[float, float | None]] = {}  # rewards of rows, by key
        self.maybe: list[float] = []  # rewards of rows whose sender died with them
        self.answered: list[tuple[Call, Any]] = []
        self.unknown: dict[str, Call] = {}
        self.lost: set[str] = set()  # tickets of a future that a restore took away

    def copied(self) -> Notes:
        """The notes of this moment."""
        return copy.deepcopy(self)

    def unit_rows(self) -> list[tuple[str, Any]]:
        """The batches of rows that count."""
        return list(self.rows.items())

    def take(self, call: Call, answer: Any) -> None:
        """Note what a call was answered."""
        key = call.key
        self.unknown.pop(key, None)
        self.answered.append((call, answer))
        if call.method == "ask":
            tickets = answer if isinstance(answer, list) else [answer]
            self.tickets |= {ticket.id: ticket for ticket in tickets}
        elif call.method == "tell":
            self.told[call.arguments[0]][call.key] = call.arguments[1]
        elif call.method == "correct":
            self.corrected[call.arguments[0]].append(call.arguments[1])
        elif call.method == "record":
            self.recorded[key] = [(row[0], row[1]) for row in call.arguments[0]]
        elif call.method == "observe":
            first = call.arguments[0][0]
            if "n" in first:
                self.sums[key] = first["n"], first["sum"]
            else:
                self.rows[key] = [(row["arm"], row["reward"]) for row in call.arguments[0]]
        elif call.method == "correct_rows":
            (row,) = call.arguments[0]
            self.replaced[key] = row["was"], row["reward"]

    # The promises

    def answered_as_the_first_time(self, call: Call, first: Any, now: Any) -> None:
        """A change that is sent again with its key is answered as the first time."""
        if call.method in ("tell", "correct"):  # which say whether it was news
            holds(now is False, f"{call} was known, and is answered {now} when sent again")
        else:
            holds(_plain(now) == _plain(first), f"{call}: first {first}, sent again {now}")

    def nothing_lost_and_nothing_twice(self, events: Sequence[Event], study: Study) -> None:
        """An answer that somebody got is in the log, once, and nothing is that nobody asked for."""
        register = study.register
        asks = {event.number: event for event in events if event.kind == Kind.ASKED}
        known = {number_of(ticket): one for ticket, one in self.tickets.items()}
        holds(not known.keys() - asks.keys(), f"asks are lost: {known.keys() - asks.keys()}")
        holds(not asks.keys() - known.keys(), f"nobody made {asks.keys() - known.keys()}")
        for number, ticket in known.items():
            asked = asks[number]
            holds(register[asked.arm or 0] == ticket.arm, f"{ticket} is for another arm: {asked}")
            same = math.isclose(asked.probability or 0.0, ticket.probability or 0.0)
            holds(same or math.isnan(ticket.probability), f"{ticket} had another chance: {asked}")
        times = [event.time for event in events]
        holds(times == sorted(times), f"time goes back: {times}")
        self._tells_once(events, study)

    def _tells_once(self, events: Sequence[Event], study: Study) -> None:
        tells: dict[int, list[float | None]] = defaultdict(list)
        for event in events:
            if event.kind == Kind.TOLD:
                tells[event.ticket or 0].append(event.reward)
        told = {number_of(ticket): list(by.values()) for ticket, by in self.told.items()}
        late = study.settings.window is not None  # then what silence counted as may be told
        silent = {study.settings.silent_reward} if late else set()
        lost = {n for n in told.keys() - tells.keys() if not {*told[n]} <= silent}
        holds(not lost, f"told {sorted(lost)}, which is not in the log")
        holds(not tells.keys() - told.keys(), f"nobody told {tells.keys() - told.keys()}")
        for number, rewards in tells.items():
            often = len(rewards) == len(told[number])
            if study.settings.window is None:
                often = len(rewards) == 1
            elif not study.settings.accumulate:
                often = 1 <= len(rewards) <= len(told[number])
            ours = set(rewards) <= set(told[number])
            holds(often and ours, f"{number}: told {told[number]}, in the log {rewards}")
        keys = [event.key for event in events if event.key is not None]
        holds(len(keys) == len(set(keys)), "a key is in the log twice")

    def counts_by_hand(self, events: Sequence[Event], study: Study) -> None:
        """No reward counts twice, and none is forgotten: every outcome is counted here by hand,
        once all windows have closed.
        """
        counted = [*self._tickets_by_hand(events, study)]
        for batch in (*self.rows.values(), *self.recorded.values()):
            counted += [reward for _, reward in batch]
        n, total = len(counted), math.fsum(counted)
        for count, reward in self.sums.values():
            n, total = n + count, total + reward
        for was, reward in self.replaced.values():
            n, total = n - (reward is None), total - was + (reward or 0.0)
        result = study.status()
        close = math.isclose(result["reward"], total, abs_tol=1e-6, rel_tol=1e-9)
        if self.maybe:
            holds(n <= result["told"] <= n + len(self.maybe), f"{result['told']} counted, not {n}")
            close = True
        else:
            holds(result["told"] == n, f"{result['told']} outcomes counted, and {n} were told")
        holds(close, f"rewards of {result['reward']} counted, and {total} were told")

    def _tickets_by_hand(self, events: Sequence[Event], study: Study) -> list[float]:
        settings = study.settings
        last: dict[int, float | None] = {}
        corrections: dict[int, float | None] = {}
        returned = {event.ticket for event in events if event.kind == Kind.RETURNED}
        wished = {number_of(ticket) for ticket in self.returned}
        holds(returned <= wished, f"nobody gave back {returned - wished}")
        for event in events:
            if event.kind == Kind.TOLD:
                last[event.ticket or 0] = event.reward
            elif event.kind == Kind.CORRECTED:
                corrections[event.ticket or 0] = event.reward
        result = []
        for ticket in self.tickets:
            number, reward = number_of(ticket), None
            if number in returned:
                holds(ticket not in self.told, f"{ticket} was told, and given back")
            elif number in corrections:
                reward = corrections[number]
                mine = self.corrected[ticket]
                holds(reward in mine, f"{ticket} was corrected to {mine}, and is {reward}")
            elif settings.accumulate and ticket in self.told:
                reward = math.fsum(self.told[ticket].values())
            elif number in last:
                reward = last[number]
            elif settings.window is not None:
                reward = settings.silent_reward
            result.append(reward)
        return [reward for reward in result if reward is not None]


def number_of(ticket: str) -> int:
    """The number of the ask that a ticket is for."""
    return int(ticket.partition("-")[0])


def no_retired_arm(study: Study, table: Any) -> None:
    """A view names no arm that was retired."""
    named = {name for column in ("arm", "of") for name in table.columns.get(column, ())}
    holds(not named & set(study.retired), f"{named & set(study.retired)} is retired, and shown")


def _plain(answer: Any) -> Any:
    """An answer without what rounding does to it on its way."""
    if isinstance(answer, list):
        return [_plain(one) for one in answer]
    if hasattr(answer, "probability"):
        return answer.id, answer.arm, f"{answer.probability:.12g}"
    return answer
