"""Files are whole or not there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from belman.files import replacing, write_atomically, write_new


def test_writes_text_and_bytes(tmp_path):
    write_atomically(tmp_path / "text", "ψ and η\n")
    write_atomically(str(tmp_path / "bytes"), b"\x00\xff")
    assert (tmp_path / "text").read_text(encoding="utf-8") == "ψ and η\n"
    assert (tmp_path / "bytes").read_bytes() == b"\x00\xff"
    assert sorted(os.listdir(tmp_path)) == ["bytes", "text"]


def test_replaces_and_keeps_permissions(tmp_path):
    target = tmp_path / "state.json"
    target.write_text("a much longer text that must not shine through")
    target.chmod(0o640)
    write_atomically(target, "new")
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_new_files_obey_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "new", "x")
        assert os.umask(umask) == umask  # and the umask is left as it was
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == mode


@pytest.mark.parametrize("step", ["replace", "fsync", "chmod"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_failure_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch, step, error):
    target = tmp_path / "state.json"
    target.write_text("old")

    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write_atomically(target, "new")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["state.json"]


def test_old_file_is_whole_until_the_last_moment(tmp_path, monkeypatch):
    """When the new file moves into place it is complete, beside the old one, and of the same
    directory.
    """
    target = tmp_path / "state.json"
    target.write_text("old")
    seen = []
    replace = os.replace

    def look(draft, position):
        seen.append((os.path.dirname(draft), Path(draft).read_text(), target.read_text()))
        replace(draft, position)

    monkeypatch.setattr(os, "replace", look)
    write_atomically(target, "new")
    assert seen == [(str(tmp_path), "new", "old")]


def test_missing_directory_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nowhere" / "state.json", "x")


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_never_takes_the_position_of_another(tmp_path, monkeypatch, links):
    if not links:

        def link(*_):
            raise PermissionError("a file system without links")

        monkeypatch.setattr("os.link", link)
    target = tmp_path / "new"
    assert write_new(target, "first", private=True)
    assert not write_new(target, "second")
    with pytest.raises(FileExistsError), replacing(target, new=True) as draft:
        draft.write_text("third")
    assert target.read_text() == "first"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["new"]
