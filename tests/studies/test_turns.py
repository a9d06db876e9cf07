"""Who waits for whom, and whose clock is asked: readers, writers, isolation, timeouts, time."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import suppress

import pytest

from belman import errors
from belman.service.keys import Keys, Role
from belman.studies import Ask, Limits, Storage, open_study, saving
from belman.studies.log import sqlite
from tests.waiting import wait_until

YEAR = 365.25 * 86400.0


def test_readers_do_not_wait_for_a_writer(tmp_path):
    """With the least patience there is, every read succeeds while another program writes."""
    path = tmp_path / "studies.db"
    url = f"sqlite:///{path}?lock_timeout=0.001"
    study = open_study("study", ["a", "b"], storage=url)
    key = Keys(study.storage).add("name", Role.PLAY)
    study.ask()
    study.storage.close()
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE belman_studies SET created = 0.0")
    storage = Storage(url)
    assert storage.names() == ["study"]
    result = Keys(storage).find(key)
    assert result is not None
    assert Keys(storage).any()
    again = open_study("study", ["a", "b"], storage=storage)
    assert again.status()["asked"] == 1
    assert len(again.history()) == len(again.tickets()) + 1 == 2
    assert again.check() == study.check()
    with pytest.raises(errors.StorageError, match="locked"):
        again.ask()
    writer.rollback()
    writer.close()
    again.ask()
    storage.close()
    study.storage.close()


def test_opening_what_is_there_writes_nothing(tmp_path):
    """Not even the mode of a file that a backup left without a write-ahead log."""
    path = tmp_path / "studies.db"
    study = open_study("study", ["a", "b"], storage=f"sqlite:///{path}")
    digest = study.check()
    study.storage.close()
    copy = tmp_path / "copy.db"
    source = sqlite3.connect(path)
    source.execute(f"VACUUM INTO '{copy}'")
    source.close()
    for file in (path, copy):
        before = file.read_bytes()
        again = open_study("study", ["a", "b"], storage=f"sqlite:///{file}")
        assert again.check() == digest
        again.storage.close()
        assert file.read_bytes() == before
        again.ask()
        again.storage.close()
        assert file.read_bytes() != before


@pytest.mark.parametrize("level", ["serializable", "repeatable read", "read uncommitted"])
def test_the_isolation_of_a_server_is_set_by_us(postgres, level):
    """Whoever waited for the lock sees what its last holder wrote."""
    options = f"options=-c%20default_transaction_isolation={level.replace(' ', '%5C%20')}"
    url = f"{postgres.database('isolation_' + level.replace(' ', '_'))}?{options}"
    one, other = (open_study("study", ["a", "b"], storage=url) for _ in range(2))
    shown = one.storage.rows("SHOW transaction_isolation")
    assert shown == [("read committed",)]
    for _ in range(5):
        one.tell(other.ask().id, 1)
        other.tell(one.ask().id, 0)
    assert one.check() == other.check()
    one.storage.close()
    other.storage.close()


def test_a_lock_that_nobody_gives_back_is_waited_for_so_long(postgres):
    study = open_study("held", ["a", "b"], storage=f"{postgres.url}?lock_timeout=0.05")
    with study.storage.transaction() as holder:
        holder.rows("SELECT id FROM belman_studies WHERE name = ? FOR UPDATE", "held")
        with pytest.raises(errors.StorageError, match="lock timeout"):
            study.ask()
        assert study.status()["asked"] == 0  # which waits for nobody
    study.ask()
    study.storage.close()


def test_a_statement_that_never_ends_is_given_up(postgres):
    storage = Storage(f"{postgres.url}?statement_timeout=0.05")
    with pytest.raises(errors.StorageError, match="statement timeout"):
        storage.rows("SELECT pg_sleep(60)")
    assert storage.rows("SELECT 1") == [(1,)]
    storage.close()


@pytest.mark.parametrize("given", ["never", "0", "-1", "nan", "1e9"])
@pytest.mark.parametrize("url", ["sqlite:///a.db", "postgresql://u@127.0.0.1:1/none"])
def test_a_timeout_that_is_none_is_refused(url, given):
    with pytest.raises(errors.SettingError, match=r"lock_timeout=.* is not a time"):
        Storage(f"{url}?lock_timeout={given}")


@pytest.mark.parametrize("wrong", [-YEAR, YEAR])
def test_the_clock_of_a_server_decides_whatever_a_caller_thinks(postgres, monkeypatch, wrong):
    storage = Storage(postgres.url)
    right = time.time()
    study = open_study(f"time {wrong}", ["a", "b"], storage=storage, window=3600)
    tickets = study.ask(3)
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: right + wrong)
        other = open_study(f"time {wrong}", storage=storage)
        assert other.tell(tickets[0].id, 1) is True
        assert abs(other.ask().time - right) < 600.0
        assert (other.outstanding, other.status()["expired"]) == (4, 0)
    assert study.tell(tickets[1].id, 1) is True
    assert study.outstanding == 4
    study.check()
    storage.close()


def test_time_never_goes_back(opened, clock):
    """A clock that is set back by a year neither expires nor holds up anything."""
    study = opened(clock=clock, window=10.0, silence=0)
    study.ask()
    clock.now -= YEAR
    assert opened("study", None, clock=clock).ask().time == 1_000_000.0
    clock.now += YEAR + 10.0
    assert study.outstanding == 0
    plain = opened("plain", clock=clock)
    first = plain.ask()
    clock.now -= YEAR
    assert opened("plain", None, clock=clock).ask().time == first.time


def test_tickets_of_an_ask_and_tickets_out_are_bounded(opened, clock):
    study = opened(clock=clock, window=10.0, limits=Limits(tickets=3, out=5))
    with pytest.raises(errors.SettingError, match=r"4 tickets were asked for.*at most 3"):
        study.ask(4, key="once")
    assert study.number == 1
    first = study.ask(3, key="once")
    with pytest.raises(errors.StudyError, match=r"3 tickets out, and 3 more.*limit of 5"):
        study.ask(3)
    assert study.ask(3, key="once") == first  # known, and given again
    study.ask(2)
    with pytest.raises(errors.StudyError, match="over the limit"):
        study.ask()
    clock.now += 10.0
    answers = study.together([Ask(2), Ask(2), Ask(4), Ask(1), Ask(1)])
    result = [len(one) if isinstance(one, list) else type(one).__name__ for one in answers]
    assert result == [2, 2, "SettingError", 1, "StudyError"]
    with pytest.raises(errors.SettingError, match="tickets=0 must be"):
        opened("study", None, limits=Limits(tickets=0)).ask()
    study.check()


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 1e300, None, "now", True])
def test_a_clock_that_gives_no_time_is_refused(opened, clock, wrong):
    study = opened(clock=clock)
    clock.now = wrong
    with pytest.raises(errors.StudyError, match="which is not a time"):
        study.ask()
    with pytest.raises(errors.StudyError, match="which is not a time"):
        opened("new", clock=clock)
    assert study.number == 1


def test_a_number_beyond_all_floats_is_a_reward_of_no_study(opened):
    study = opened(window=10.0, accumulate=True, family="gaussian")
    ticket = study.ask()
    for wrong in (10**400, 1j, "1", float("nan")):
        with pytest.raises(errors.RewardError, match="is not allowed"):
            study.tell(ticket.id, wrong)
    assert study.number == 2


def test_a_long_batch_is_several_transactions(opened, monkeypatch):
    """Others have their turn when one has taken its time; every request has its answer."""
    monkeypatch.setattr("belman.studies.requests.together.PATIENCE", -1.0)
    study, turns = opened(), []
    transact = study._replica.transact
    monkeypatch.setattr(
        study._replica, "transact", lambda work: (turns.append(1), transact(work))[1]
    )
    result = study.together([Ask(2), Ask(0), Ask(1)])
    assert len(turns) == 3
    assert [len(result[0]), len(result[2])] == [2, 1]
    assert isinstance(result[1], errors.BelmanError)


def test_an_event_that_is_too_large_is_refused_with_the_limit(opened):
    study = opened(limits=Limits(event=300))
    study.pause("short")
    with pytest.raises(errors.SettingError, match="one has at most 300: bring less"):
        study.resume("long" * 100)
    assert study.paused
    study.check()


def test_writers_of_a_process_are_served_in_order(tmp_path):
    """However long the queue is, and though some fail: nobody who comes later is served first."""
    storage = Storage(f"sqlite:///{tmp_path}/studies.db?lock_timeout=1000")
    queue, served = storage._pool.driver._queue, []
    with storage.transaction():  # keeps all others waiting until they stand in line
        threads = []
        for number in range(20):
            thread = threading.Thread(target=lambda own=number: _write(storage, own, served))
            thread.start()
            wait_until(lambda count=number: len(queue.turns) == count + 2)
            threads.append(thread)
    for thread in threads:
        thread.join()
    assert served == list(range(20))
    assert not queue.turns
    storage.close()


def _write(storage, number, served):
    with suppress(ZeroDivisionError), storage.transaction():
        served.append(number)
        if number % 3 == 0:
            1 / 0  # noqa: B018


def test_who_waits_too_long_leaves_the_queue(tmp_path):
    storage = Storage(f"sqlite:///{tmp_path}/studies.db?lock_timeout=0.001")
    queue = storage._pool.driver._queue
    with storage.transaction():
        for _ in range(3):
            with pytest.raises(errors.StorageError, match="locked"):
                storage.execute("UPDATE belman_version SET version_num = version_num")
        assert len(queue.turns) == 1
    assert not queue.turns
    assert storage.execute("UPDATE belman_version SET version_num = version_num") == 1
    storage.close()


def test_an_error_that_somebody_keeps_keeps_nobody_waiting(tmp_path):
    path = tmp_path / "studies.db"
    storage = Storage(f"sqlite:///{path}?lock_timeout=0.001")
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(errors.StorageError, match="locked") as kept:
        storage.execute("UPDATE belman_version SET version_num = version_num")
    writer.rollback()
    writer.close()
    assert storage.execute("UPDATE belman_version SET version_num = version_num") == 1
    assert kept.value.__cause__ is not None
    storage.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
def test_a_forked_process_does_not_wait_for_a_writer_that_it_has_not(tmp_path):
    storage = Storage(f"sqlite:///{tmp_path}/studies.db")
    queue = storage._pool.driver._queue
    turn = sqlite._Turn(queue)  # as if another thread of ours wrote
    child = os.fork()
    if not child:
        code = 1
        try:
            turn = None
            storage.execute("UPDATE belman_version SET version_num = version_num")
            code = len(queue.turns)
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert len(queue.turns) == 1
    del turn
    assert not queue.turns
    storage.close()


def test_a_snapshot_keeps_no_other_study_waiting(tmp_path, monkeypatch):
    """It is put into words while others may write, and those who asked get their tickets even where
    it cannot be written.
    """
    monkeypatch.setattr("belman.studies.unit_of_work.SNAPSHOT_EVERY", 5)
    url = f"sqlite:///{tmp_path}/studies.db?lock_timeout=0.001"
    study, other = (open_study(name, ["a", "b"], storage=url) for name in ("study", "other"))
    to_text, made = saving.to_text, []

    def worded(state):
        other.ask()
        made.append(state.number)
        return to_text(state)

    monkeypatch.setattr(saving, "to_text", worded)
    study.ask(20)
    assert made == [21]
    assert study.storage.rows("SELECT number FROM belman_snapshots") == [(21,)]
    writer = sqlite3.connect(tmp_path / "studies.db", isolation_level=None)

    def hindered(state):
        writer.execute("BEGIN IMMEDIATE")
        return to_text(state)

    monkeypatch.setattr(saving, "to_text", hindered)
    assert len(study.ask(20)) == 20
    assert study.storage.rows("SELECT number FROM belman_snapshots") == [(21,)]
    writer.rollback()
    writer.close()
    monkeypatch.setattr(saving, "to_text", to_text)
    assert study.check() == open_study("study", storage=url).check()


def test_no_snapshot_follows_an_event_that_is_not_there(tmp_path, monkeypatch):
    """A log that went back while a snapshot was put into words keeps none of what it lost."""
    monkeypatch.setattr("belman.studies.unit_of_work.SNAPSHOT_EVERY", 5)
    study = open_study("study", ["a", "b"], storage=f"sqlite:///{tmp_path}/studies.db")
    to_text = saving.to_text

    def worded(state):
        study.storage.execute("DELETE FROM belman_events WHERE number > 3")
        return to_text(state)

    monkeypatch.setattr(saving, "to_text", worded)
    study.ask(10)
    assert study.storage.rows("SELECT number FROM belman_snapshots") == []
