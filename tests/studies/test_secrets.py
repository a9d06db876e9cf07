"""What a storage holds, and what it does not: files for their owner alone, and no signing key."""

from __future__ import annotations

import itertools
import os
import shutil
import stat

import pytest

import belman
from belman.assignment import sign, verify
from belman.assignment.signatures import derived
from belman.errors import StudyError, WeightsError
from belman.studies import Storage

pytestmark = pytest.mark.interpreted
KEYS = ("a" * 32, "b" * 32)


@pytest.fixture(autouse=True)
def _open_to_all(monkeypatch):
    monkeypatch.delenv("BELMAN_SIGNING_KEY", raising=False)
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def study(tmp_path):
    study = belman.open_study("button", ["a", "b"], storage=f"sqlite:///{tmp_path}/studies.db")
    study.tell(study.ask(), 1.0)
    yield study
    study.storage.close()


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_files_are_for_their_owner_alone(study, tmp_path):
    study.export(tmp_path / "log.csv")
    _ = study.signing_key
    result = modes(tmp_path)
    assert {"studies.db", "studies.db-wal", "studies.db-shm", "studies.db.key"} < set(result)
    assert set(result.values()) == {0o600}


def test_permissions_that_a_person_gave_stay(study, tmp_path):
    for name in ("log.csv", "studies.db"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o640)
    study.export(tmp_path / "log.csv")
    study.storage.close()
    again = belman.open_study("button", storage=f"sqlite:///{tmp_path}/studies.db")
    again.ask()
    result = modes(tmp_path)
    assert {result[name] for name in ("log.csv", "studies.db", "studies.db-wal")} == {0o640}
    again.storage.close()


def test_a_copy_of_the_data_signs_nothing_that_an_edge_trusts(study, tmp_path):
    document, trusted = study.publish(100), study.public_keys
    (tmp_path / "stolen").mkdir()
    for name in ("studies.db", "studies.db-wal"):
        shutil.copy(tmp_path / name, tmp_path / "stolen" / name)
    copy = belman.open_study("button", storage=f"sqlite:///{tmp_path}/stolen/studies.db")
    known = copy.storage.find("button")[1].encode()
    assert verify(sign(document, study.signing_key), trusted) == document
    for key in (copy.signing_key, derived(known)):
        with pytest.raises(WeightsError, match="not trusted"):
            verify(sign(document, key), trusted)
    copy.storage.close()


def test_the_same_key_in_every_process_and_another_for_every_study(study, tmp_path):
    again = belman.open_study("button", storage=f"sqlite:///{tmp_path}/studies.db")
    other = belman.open_study("other", ["a", "b"], storage=again.storage)
    assert study.signing_key == again.signing_key != other.signing_key
    again.storage.close()


def test_keys_are_rotated_without_an_edge_that_distrusts(study, monkeypatch):
    document, (old, new) = study.publish(100), KEYS
    seen = []
    for given in (old, f"{old} {new}", f"{new} {old}", new):
        monkeypatch.setenv("BELMAN_SIGNING_KEY", given)
        seen.append((sign(document, study.signing_key), study.public_keys))
    for (_, trusted), (signed, _) in itertools.pairwise(seen):
        assert verify(signed, trusted) == document
    assert len(seen[1][1]) == 2
    with pytest.raises(WeightsError, match="not trusted"):
        verify(seen[0][0], seen[3][1])


@pytest.mark.parametrize("given", ["hunter2", f"{KEYS[0]} hunter2", "x" * 32 + " " + "x" * 32])
def test_a_weak_key_is_refused_and_not_shown(study, given, monkeypatch):
    monkeypatch.setenv("BELMAN_SIGNING_KEY", given)
    with pytest.raises(StudyError, match="BELMAN_SIGNING_KEY") as refused:
        _ = study.signing_key
    assert not any(word in str(refused.value) for word in given.split())


def test_a_copy_that_is_only_looked_at_gets_no_key(study, tmp_path):
    looked = Storage(f"sqlite:///{tmp_path}/studies.db", read_only=True)
    with pytest.raises(StudyError, match="BELMAN_SIGNING_KEY"):
        _ = belman.open_study("button", storage=looked).signing_key
    assert "studies.db.key" not in modes(tmp_path)
    looked.close()


def test_a_server_has_no_position_for_a_key(postgres, monkeypatch):
    storage = Storage(postgres.url)
    study = belman.open_study("keyed", ["a", "b"], storage=storage)
    with pytest.raises(StudyError, match="set BELMAN_SIGNING_KEY"):
        _ = study.signing_key
    monkeypatch.setenv("BELMAN_SIGNING_KEY", KEYS[0])
    assert list(study.public_keys) == [study.signing_key.id]
    storage.close()
