"""Studies that are archived, brought back, and deleted for good."""

from __future__ import annotations

import importlib
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from belman import errors
from belman.studies import Storage, archive, delete, open_study, restore
from tests.waiting import HANG

deletions = importlib.import_module("belman.studies.archive")  # a function has that name too


def test_an_archived_study_is_paused_and_not_listed_and_comes_back(opened):
    study, other = opened("one"), opened("two")
    ticket = study.ask()
    archive(study, "done")
    archive(study)
    storage = study.storage
    assert (storage.names(), storage.names(False), storage.names(True)) == (
        ["one", "two"],
        ["two"],
        ["one"],
    )
    assert "done" in study.history()["reason"]
    with pytest.raises(errors.PausedError):
        study.ask()
    assert study.tell(ticket, 1)  # what is out still counts
    assert opened("one").report().state == "paused"
    restore(storage, "one")
    assert storage.names(False) == ["one", "two"]
    study.resume()
    assert study.ask()
    with pytest.raises(errors.UnknownStudyError):
        restore(storage, "three")
    assert not other.paused


def test_a_deleted_study_is_gone_for_everybody_and_its_name_is_free(opened):
    study, other = opened("one"), opened("two")
    watcher = opened("one", None)
    ticket = study.ask()
    before = other.check()
    for wrong in ("two", "One", "", None):
        with pytest.raises(errors.SettingError, match="deleted if confirm is its name"):
            delete(study.storage, "one", wrong)
    assert delete(study.storage, "one", "one") == 2
    with pytest.raises(errors.UnknownStudyError):
        delete(study.storage, "one", "one")
    for gone in (study, watcher):
        for use in (gone.ask, gone.status, gone.report, lambda g=gone: g.tell(ticket, 1)):
            with pytest.raises(errors.UnknownStudyError, match="was deleted"):
                use()
    new = open_study("one", ["x", "y"], storage=study.storage, seed=1)
    assert new.number == 1
    with pytest.raises(errors.UnknownStudyError, match="was deleted"):
        study.ask()
    with pytest.raises(errors.UnknownTicketError):
        new.tell(ticket.id, 1)
    assert other.check() == before


def test_a_deletion_that_is_sent_again_with_its_key_is_answered_as_the_first_was(opened, url):
    study = opened("one")
    study.ask()
    assert delete(study.storage, "one", "one", key="mine") == 2
    elsewhere = Storage(url)
    for storage in (study.storage, elsewhere):
        assert delete(storage, "one", "one", key="mine") == 2
        for key in (None, "another"):
            with pytest.raises(errors.UnknownStudyError):
                delete(storage, "one", "one", key=key)
        with pytest.raises(errors.UnknownStudyError):
            delete(storage, "two", "two", key="mine")
    elsewhere.close()


def test_what_has_the_name_of_a_deleted_study_stays_where_its_deletion_is_sent_again(opened):
    storage = opened("one").storage
    assert delete(storage, "one", "one", key="mine") == 1
    new = opened("one")
    new.ask()
    assert delete(storage, "one", "one", key="mine") == 1
    new.check()
    assert new.number == 2
    with pytest.raises(errors.SettingError, match="deleted if confirm is its name"):
        delete(storage, "one", "two", key="mine")
    assert delete(storage, "one", "one", key="another") == 2


def test_a_key_of_another_change_deletes_nothing_and_a_refused_deletion_uses_none(opened):
    study = opened("one")
    study.pause(key="mine")
    with pytest.raises(errors.SettingError, match=r"'mine' was given .* \(paused\).* a new key"):
        delete(study.storage, "one", "one", key="mine")
    with pytest.raises(errors.SettingError, match="deleted if confirm is its name"):
        delete(study.storage, "one", "two", key="yours")
    assert study.number == 2
    assert delete(study.storage, "one", "one", key="yours") == 2


def test_keys_of_deletions_are_kept_for_a_week_and_so_many_of_them(opened, monkeypatch):
    storage = opened("one").storage
    known = "SELECT count(*) FROM belman_deletions"
    delete(storage, "one", "one", key="mine")
    storage.execute("UPDATE belman_deletions SET time = time - ?", deletions.KEPT - HANG)
    assert delete(storage, "one", "one", key="mine") == 1
    storage.execute("UPDATE belman_deletions SET time = time - ?", HANG)
    with pytest.raises(errors.UnknownStudyError):
        delete(storage, "one", "one", key="mine")
    assert opened("one").number == 1
    assert delete(storage, "one", "one", key="mine") == 1  # which is a new request by now
    monkeypatch.setattr(deletions, "MOST", 3)
    for name in "abcd":
        opened(name)
        delete(storage, name, name, key="mine")
    assert storage.rows(known) == [(3,)]
    assert delete(storage, "b", "b", key="mine") == 1
    with pytest.raises(errors.UnknownStudyError):
        delete(storage, "a", "a", key="mine")


def test_of_deletions_at_once_all_with_the_key_are_answered_and_one_without(opened):
    storage = opened("one").storage
    callers, together = 6, Barrier(6)

    def deleting(key):
        together.wait(HANG)
        try:
            return delete(storage, "one", "one", key=key)
        except errors.UnknownStudyError:
            return None

    with ThreadPoolExecutor(callers) as threads:
        assert list(threads.map(deleting, ["mine"] * callers)) == [1] * callers
        opened("one")
        result = list(threads.map(deleting, [None] * callers))
    assert sorted(result, key=str) == [1] + [None] * (callers - 1)
