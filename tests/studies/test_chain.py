"""A log that shrank, was restored or was edited is noticed; a lost future's tickets are unknown."""

from __future__ import annotations

import shutil
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belman import errors
from belman.studies import Event, Storage, open_study
from belman.studies.log.chain import link


@pytest.fixture
def told(opened):
    """A study with some events, and its storage behind its back."""
    study = opened()
    some_events(study)
    return study


def some_events(study):
    """Asks, tells and a pause: events 2 to 11."""
    for turn in range(4):
        study.tell(study.ask().id, turn % 2)
    study.pause("lunch")
    study.resume()


EDITS = {
    "removed": "DELETE FROM belman_events WHERE number = 5",
    "first removed": "DELETE FROM belman_events WHERE number = 1",
    "reward": "UPDATE belman_events SET reward = 1 - reward WHERE number = 3",
    "arm": "UPDATE belman_events SET arm = 2 - arm, draw = 1 WHERE number = 2",
    "time": "UPDATE belman_events SET time = time + 1e-6 WHERE number = 4",
    "key": "UPDATE belman_events SET key = 'x' WHERE number = 6",
    "body": 'UPDATE belman_events SET body = \'{"reason": "dinner"}\' WHERE number = 10',
    "link": (
        "UPDATE belman_events SET link = (SELECT link FROM belman_events WHERE number = 6) "
        "WHERE number = 7"
    ),
    "added": (
        "INSERT INTO belman_events (study, number, kind, time, arm, reward, link) "
        "SELECT 1, 12, 5, 2e9, 0, 1.0, link FROM belman_events WHERE number = 11"
    ),
    "swapped": "UPDATE belman_events SET ticket = 13 - ticket WHERE number IN (7, 9)",
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_every_edit_of_a_log_is_found(opened, told, edit):
    told.check()
    told.storage.execute(edit)
    with pytest.raises(errors.StateError, match=r"edited|does not begin"):
        opened("study", None).check()
    with pytest.raises(errors.StateError, match=r"edited|does not begin"):
        told.check()


def test_a_log_that_lost_its_end_is_known_to_whoever_opens_it(opened, told):
    """By the note of every 64th event."""
    told.ask(60)
    told.storage.execute("DELETE FROM belman_events WHERE number > 60")
    with pytest.raises(errors.StateError, match="event 71 was its last"):
        opened("study", None)


def test_a_log_that_lost_its_end_is_not_gone_on_with(opened, told):
    ticket = told.ask()
    told.storage.execute("DELETE FROM belman_events WHERE number > 5")
    for _ in range(2):  # and it stays so
        for call in (told.ask, told.status, lambda: told.tell(ticket.id, 1), told.check):
            with pytest.raises(errors.StateError, match=r"restored from a backup, or edited.*12"):
                call()


def back_up(path, copy):
    source, target = sqlite3.connect(path), sqlite3.connect(copy)
    source.backup(target)
    source.close()
    target.close()


def test_a_restored_file_is_noticed_and_may_be_opened_anew(tmp_path):
    path, copy = tmp_path / "studies.db", tmp_path / "copy.db"
    url = f"sqlite:///{path}"
    study = open_study("study", ["a", "b"], storage=url, seed=1, clock=lambda: 1e6)
    early = study.ask()
    back_up(path, copy)
    lost = study.ask(3)
    back_up(copy, path)
    with pytest.raises(errors.StateError, match=r"restored from a backup.*open the study anew"):
        study.tell(lost[0].id, 1)
    study.storage.close()
    again = open_study("study", storage=url, clock=lambda: 1e6)
    result = again.ask(3)  # of the same numbers, time and arms
    assert [one[1:] for one in result] == [one[1:] for one in lost]
    for ticket in lost:
        with pytest.raises(errors.UnknownTicketError, match="restored to a time before"):
            again.tell(ticket.id, 1)
    assert again.tell(early.id, 1) is True
    assert again.tell(result[0].id, 1) is True
    with pytest.raises(errors.StateError, match="is now another one"):
        study.ask()
    again.check()
    study.storage.close()
    again.storage.close()


@pytest.mark.parametrize("how", ["moved", "copied", "gone"])
def test_a_file_that_took_the_position_of_another_is_noticed(tmp_path, how):
    """Even where SQLite, which holds the old one open and its pages, would go on as before."""
    path, copy = tmp_path / "studies.db", tmp_path / "copy.db"
    study = open_study("study", ["a", "b"], storage=f"sqlite:///{path}", seed=1)
    study.ask()
    back_up(path, copy)
    study.ask(3)
    study.storage.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    if how == "moved":
        copy.replace(path)
        for end in ("-wal", "-shm"):
            (tmp_path / f"studies.db{end}").unlink(missing_ok=True)
    elif how == "copied":
        shutil.copyfile(copy, path)
    else:
        path.unlink()
    words = "it is gone" if how == "gone" else "restored from a backup"
    for call in (study.ask, study.status):
        with pytest.raises((errors.StateError, errors.StorageError), match=words):
            call()
    study.storage.close()


def test_a_snapshot_of_a_lost_future_is_noticed(opened, monkeypatch):
    monkeypatch.setattr("belman.studies.unit_of_work.SNAPSHOT_EVERY", 5)
    study = opened()
    study.ask(8)
    study.storage.execute("DELETE FROM belman_events WHERE number > 4")
    with pytest.raises(errors.StateError, match="event 9 was its last"):
        opened("study", None)


def test_a_copy_is_opened_to_look_at_and_nothing_else(tmp_path):
    path = tmp_path / "folder" / "copy.db"
    path.parent.mkdir()
    url = f"sqlite:///{tmp_path}/studies.db"
    study = open_study("study", ["a", "b"], storage=url)
    ticket = study.ask()
    study.storage.close()
    shutil.copy(tmp_path / "studies.db", path)
    before = path.read_bytes()
    copy = open_study("study", ["a", "b"], storage=f"sqlite:///{path}", read_only=True)
    assert (copy.outstanding, copy.check()) == (1, study.check())
    for change in (copy.ask, lambda: copy.tell(ticket.id, 1), lambda: copy.pause("why")):
        with pytest.raises(errors.StorageError, match="read_only=True"):
            change()
    with pytest.raises(errors.StorageError, match="read_only=True"):
        open_study("new", ["a"], storage=copy.storage)
    copy.storage.close()
    study.storage.close()
    assert path.read_bytes() == before
    with pytest.raises(errors.StorageError, match="unable to open"):
        Storage(f"sqlite:///{tmp_path}/none.db", read_only=True)
    assert not (tmp_path / "none.db").exists()


def test_a_server_refuses_what_a_reader_would_write(postgres):
    open_study("look", ["a", "b"], storage=postgres.url).storage.close()
    copy = open_study("look", storage=postgres.url, read_only=True)
    assert copy.status()["asked"] == 0
    with pytest.raises(errors.StorageError, match="read_only=True"):
        copy.ask()
    with pytest.raises(errors.StorageError, match="read-only transaction"):
        copy.storage.rows("DELETE FROM belman_keys RETURNING id")
    copy.storage.close()


fields = st.builds(
    Event,
    st.integers(1, 2**40),
    st.integers(1, 20),
    st.floats(0, 1e12),
    *(st.none() | st.integers(0, 9) for _ in range(2)),
    st.none() | st.floats(0, 1),
    st.none() | st.integers(1, 2**40),
    st.none() | st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0),
    st.none() | st.text("ab/", max_size=3),
    st.none() | st.text("ab/", max_size=3),
    st.none(),
)


@given(fields, fields)
@settings(max_examples=300)
def test_different_events_have_different_links(one, other):
    assert (link(b"", one) == link(b"", other)) == (one == other)
    assert link(b"x", one) != link(b"", one) != link(b"", one, b"12345678")


def test_a_link_is_of_what_a_database_gives_back():
    """SQLite keeps NaN as NULL, and -0.0 as 0.0: a policy may know no probability."""
    written = Event(1, 2, -0.0, 0, 0, float("nan"), None, -0.0)
    assert link(b"", written) == link(b"", Event(1, 2, 0.0, 0, 0, None, None, 0.0))
