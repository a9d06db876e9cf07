"""Files that are whole or not there: written beside their place, then moved into it."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(
    path: str | os.PathLike[str], *, private: bool = False, new: bool = False
) -> Iterator[Path]:
    """A draft beside `path`, moved into its place at the end; an error leaves the old file. A new
    file that is `private` can be read by its owner alone. With `new` a file that is there by then
    stays, and FileExistsError is raised.
    """
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.chmod(_mode(target, private))
        if new:
            _take_position(draft, target)
        else:
            draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _take_position(draft: Path, target: Path) -> None:
    """Move a draft to a place where nothing is; of two who do so one gets FileExistsError."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: the place is taken first, and then filled
        target.open("x").close()
        draft.replace(target)
    else:
        draft.unlink()


def write_atomically(
    path: str | os.PathLike[str], content: str | bytes, *, private: bool = False
) -> None:
    """Write `content` to `path`: a crash at any moment leaves the old file or the new one, whole.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder) / "state.json"
    ...     write_atomically(target, "{}")
    ...     target.read_text()
    '{}'
    """
    with replacing(path, private=private) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


def write_new(path: str | os.PathLike[str], content: str, *, private: bool = False) -> bool:
    """Write `content` to `path`, whole, unless there is a file already; whether it was written."""
    try:
        with replacing(path, private=private, new=True) as draft:
            draft.write_text(content, encoding="utf-8")
    except FileExistsError:
        return False
    return True


def is_own(path: str | os.PathLike[str], *, others_write: bool = False) -> bool:
    """Whether a file or directory is this user's, no link, and closed to the writing of others.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     is_own(folder)
    True
    """
    if not hasattr(os, "geteuid"):  # permissions are not kept in a mode here
        return True
    try:
        result = os.lstat(path)
    except OSError:
        return False
    plain = stat.S_ISREG(result.st_mode) or stat.S_ISDIR(result.st_mode)
    closed = others_write or not result.st_mode & 0o022
    return plain and closed and result.st_uid == os.geteuid()


def sync(path: str | os.PathLike[str]) -> None:
    """Wait until a file, or the names in a directory, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mode(target: Path, private: bool) -> int:
    """The permissions of the file that is replaced, or those that a new file gets here."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    if private:
        return 0o600
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
