"""Studies that are archived, brought back, and deleted for good."""

from __future__ import annotations

import pytest

from belman import errors
from belman.studies import archive, delete, open_study, restore


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
