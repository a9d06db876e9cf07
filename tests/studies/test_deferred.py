"""Asks that are deferred: nothing is learnt of them before somebody says that they were used."""

from __future__ import annotations

from contextlib import closing

import pytest

from belman.errors import SettingError, TicketError, UnknownTicketError
from belman.studies import Activate, Ask, Storage, open_study
from tests.studies.forks import snapshots
from tests.studies.worlds import one

WINDOW = 60.0


@pytest.fixture
def storage(tmp_path):
    with closing(Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")) as result:
        yield result


@pytest.fixture
def made(storage, clock):
    def made(**options):
        rule = {"storage": storage, "clock": clock, "seed": 1, "early": None}
        return open_study("page", ["a", "b"], **{**rule, **options})

    return made


def deferred(study, key=None):
    return one(study, Ask(1, key, deferred=True))[0]


def counts(study):
    status = study.status()
    return status["told"], status["outstanding"]


def test_a_reward_waits_for_the_activation_where_there_is_no_window(made):
    study = made()
    ticket = deferred(study)
    assert study.tell(ticket, 1) is True
    assert study.tell(ticket, 1) is False
    with pytest.raises(TicketError, match="the first one stands"):
        study.tell(ticket, 0)
    assert counts(study) == (0, 1)
    assert one(study, Activate([ticket])) is True
    assert counts(study) == (1, 0)
    assert one(study, Activate([ticket])) is False
    assert study.tell(ticket, 1) is False
    with pytest.raises(TicketError, match=r"told 1\.0 already"):
        study.tell(ticket, 0)
    assert study.correct(ticket, 0, "refund") is True
    study.check()


def test_a_reward_that_comes_after_the_activation_counts_at_once(made):
    study = made()
    ticket = deferred(study)
    one(study, Activate([ticket]))
    assert counts(study) == (0, 1)
    study.tell(ticket, 1)
    assert counts(study) == (1, 0)


def test_what_is_never_activated_counts_as_nothing(made, clock):
    study = made(window=WINDOW, early=False)
    told, silent, used, quiet = (deferred(study) for _ in range(4))
    study.tell(told, 1)
    study.tell(used, 1)
    one(study, Activate([used, quiet]))
    clock.now += WINDOW + 1.0
    assert counts(study) == (2, 0)  # 1 of the one that was used, 0 of the silent one
    assert sum(study.beliefs()["plays"]) == 2
    for late in (told, silent):
        with pytest.raises(TicketError, match="too late"):
            one(study, Activate([late]))
    assert one(study, Activate([used, quiet])) is False
    assert study.correct(told, 1, "it was shown after all") is True
    assert counts(study)[0] == 3
    lines = study.history()
    assert lines["event"].count("activated") == 2
    assert lines["event"].count("forgotten") == 2


def test_an_ask_that_is_not_deferred_needs_no_activation(made):
    study = made()
    ticket = study.ask()
    assert one(study, Activate([ticket, ticket])) is False
    study.tell(ticket, 1)
    assert one(study, Activate([ticket])) is False
    assert counts(study) == (1, 0)


def test_tickets_are_activated_together_or_not_at_all(made, clock):
    study = made(window=WINDOW, early=False)
    old = deferred(study)
    clock.now += WINDOW + 1.0
    new = deferred(study)
    number = study.number
    with pytest.raises(TicketError, match="too late"):
        one(study, Activate([new, old]))
    with pytest.raises(UnknownTicketError):
        one(study, Activate([new, "17-hn9691"]))
    assert study.number == number
    study.give_back([new])
    with pytest.raises(TicketError, match="given back"):
        one(study, Activate([new]))


def test_a_key_is_for_a_deferred_ask_or_for_another(made):
    study = made()
    ticket = deferred(study, "event")
    assert deferred(study, "event") == ticket
    with pytest.raises(SettingError, match="new key"):
        study.ask(key="event")


def test_a_study_that_learns_from_silence_takes_no_deferred_asks(made):
    study = made(window=WINDOW)
    assert study.settings.early
    with pytest.raises(SettingError, match="early=False"):
        deferred(study)


def test_who_opens_the_study_anew_knows_what_is_deferred(made, clock, storage):
    study = made(window=WINDOW, early=False)
    with snapshots():
        told, used = deferred(study), deferred(study)
        study.tell(told, 1)
        one(study, Activate([used]))
    for with_snapshot in (True, False):
        if not with_snapshot:
            storage.execute("DELETE FROM belman_snapshots")
        other = open_study("page", storage=Storage(str(storage)), clock=clock)
        assert other.copied()[0].book.open == study.copied()[0].book.open
        assert [one.deferred for one in other.copied()[0].book.open.values()] == [True, False]
        other.storage.close()
    clock.now += WINDOW + 1.0
    assert counts(study) == (1, 0)


def test_an_export_has_what_counts(made, storage, clock, tmp_path):
    study = made()
    told, used, late = (deferred(study) for _ in range(3))
    for ticket in (told, used):
        study.tell(ticket, 1)
    one(study, Activate([used, late]))
    study.tell(late, 0)
    study.tell(study.ask(), 1)
    study.export(tmp_path / "log.csv")
    other = open_study("other", ["a", "b"], storage=storage, clock=clock)
    assert other.record(tmp_path / "log.csv") == 3
    assert counts(study) == (3, 1)
    assert other.status()["reward"] == study.status()["reward"] == 2.0
