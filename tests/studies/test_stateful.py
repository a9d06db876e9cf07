"""A model of a study, tried against real databases: several connections take turns in any order,
ask, tell, tell again, correct, retry with idempotency keys, let windows close and tickets expire,
start anew, and go back to a copy. What is known afterwards is what the naive twin counts.
"""

from __future__ import annotations

import sqlite3
import tempfile
import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from belman import errors
from belman.studies import Storage, Study, open_study
from tests.studies.conftest import Clock
from tests.studies.ticket_twin import Slip, Twin

CONNECTIONS = 3
REWARDS = st.sampled_from((0.0, 1.0))
WHO = st.integers(0, CONNECTIONS - 1)
SOME = st.integers(0, 10**6)


class Life(RuleBasedStateMachine):
    """Studies of one name, each on its own connection, and the twin that they must agree with."""

    url = ""
    can_restore = False

    @initialize(window=st.sampled_from((None, 10.0)), silence=st.sampled_from((0.0, "forget")))
    def begin(self, window, silence):
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.at = self.url or f"sqlite:///{self.folder.name}/studies.db?synchronous=normal"
        self.storages = [Storage(self.at) for _ in range(CONNECTIONS)]
        tables = ("belman_events", "belman_snapshots", "belman_studies")
        for table in tables if self.url else ():
            self.storages[0].execute(f"DELETE FROM {table}")
        rule: dict[str, Any] = {"window": window, "silence": silence} if window else {}
        first = open_study(
            "life", ["a", "b"], storage=self.storages[0], seed=1, clock=self.clock, **rule
        )
        self.studies = [first, *map(self._opened, range(1, CONNECTIONS))]
        self.twin = Twin(first.settings)
        self.keys: dict[str, list[Any]] = {}
        self.lost: list[str] = []
        self.copy: tuple[dict[str, Slip], dict[str, list[Any]], int] | None = None

    def _opened(self, who: int) -> Study:
        return open_study("life", storage=self.storages[who], clock=self.clock)

    def teardown(self):
        if hasattr(self, "studies"):
            for study in self.studies:
                study.check()
            for storage in self.storages:
                storage.close()
            self.folder.cleanup()

    @rule(who=WHO, n=st.integers(1, 3), key=st.none() | st.sampled_from("xyz"))
    def ask(self, who, n, key):
        if key in self.keys and len(self.keys[key]) != n:
            with pytest.raises(errors.SettingError, match="use a new key"):
                self.studies[who].ask(n, key=key)
            return
        tickets = self.studies[who].ask(n, key=key)
        if key in self.keys:
            assert tickets == self.keys[key]
            return
        if key is not None:
            self.keys[key] = tickets
        for ticket in tickets:
            assert ticket.id not in self.twin.slips
            assert ticket.id not in self.lost
            number = int(ticket.id.partition("-")[0])
            self.twin.slips[ticket.id] = Slip(number, ticket.arm, ticket.time)

    def _one(self, some: int) -> tuple[str, Slip]:
        return list(self.twin.slips.items())[some % len(self.twin.slips)]

    @precondition(lambda self: self.twin.slips)
    @rule(who=WHO, some=SOME, reward=REWARDS)
    def tell(self, who, some, reward):
        ticket, slip = self._one(some)
        study, now = self.studies[who], self.clock.now
        if self.twin.is_open(slip, now):
            news = not slip.told or slip.told[-1][1] != reward
            assert study.tell(ticket, reward) is news
            if news:
                slip.told.append((study.number, reward))
            return
        with_window = self.twin.settings.window is not None
        first = self.twin.first_count(slip) if with_window else slip.told[0][1]
        if first == reward:  # whatever was corrected since
            assert study.tell(ticket, reward) is False
        else:
            with pytest.raises(errors.TicketError):
                study.tell(ticket, reward)

    @precondition(lambda self: self.twin.slips)
    @rule(who=WHO, some=SOME, reward=st.none() | REWARDS)
    def correct(self, who, some, reward):
        ticket, slip = self._one(some)
        study = self.studies[who]
        if self.twin.is_open(slip, self.clock.now):
            with pytest.raises(errors.TicketError, match="nothing to correct"):
                study.correct(ticket, reward, "refund")
            return
        changes = self.twin.counts_as(slip) != reward
        assert study.correct(ticket, reward, "refund") is changes
        if changes:
            slip.corrections.append(reward)

    @rule(seconds=st.sampled_from((0.5, 4.0, 11.0)))
    def wait(self, seconds):
        self.clock.now += seconds

    @rule(who=WHO)
    def start_anew(self, who):
        """As a new process would: with nothing that was seen before."""
        self.storages[who].close()
        self.storages[who] = Storage(self.at)
        self.studies[who] = self._opened(who)

    @precondition(lambda self: self.can_restore)
    @rule()
    def back_up(self):
        self._copy("studies.db", "copy.db")
        slips = {
            ticket: Slip(s.number, s.arm, s.asked, list(s.told), list(s.corrections))
            for ticket, s in self.twin.slips.items()
        }
        self.copy = slips, dict(self.keys), self.studies[0].number

    @precondition(lambda self: self.copy is not None)
    @rule()
    def restore(self):
        """Whoever knew more than the copy stops; those who start anew go on from it."""
        assert self.copy is not None
        numbers = [study.number for study in self.studies]
        self._copy("copy.db", "studies.db")
        slips, keys, number = self.copy
        for study, known in zip(self.studies, numbers, strict=True):
            if known > number:
                for call in (study.ask, study.status):
                    with pytest.raises(errors.StateError, match="restored from a backup"):
                        call()
        self.lost += [ticket for ticket in self.twin.slips if ticket not in slips]
        self.twin.slips, self.keys, self.copy = slips, keys, None
        for who in range(CONNECTIONS):
            self.start_anew(who)
        for ticket in self.lost[-3:]:
            with pytest.raises(errors.UnknownTicketError):
                self.studies[0].tell(ticket, 1.0)

    def _copy(self, source: str, target: str) -> None:
        one, other = (sqlite3.connect(f"{self.folder.name}/{name}") for name in (source, target))
        one.backup(other)
        one.close()
        other.close()

    @invariant()
    def all_know_what_the_twin_knows(self):
        if not hasattr(self, "studies"):
            return
        wanted = self.twin.status(self.clock.now)
        for study in self.studies:
            status = study.status()
            assert {name: status[name] for name in wanted} == wanted


def run(machine: type[Life], examples: int) -> None:
    with warnings.catch_warnings():
        chosen = settings(
            max_examples=examples,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        run_state_machine_as_test(machine, settings=chosen)


def test_connections_to_a_file_agree_with_the_twin():
    run(type("OnSQLite", (Life,), {"can_restore": True}), 12)


def test_connections_to_a_server_agree_with_the_twin(postgres):
    run(type("OnPostgreSQL", (Life,), {"url": postgres.url}), 6)
