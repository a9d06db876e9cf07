"""The keys by which a study signs its weights: each follows from a key that no storage holds.

So a copy of the data signs nothing that an edge believes. The key outside is that of the
environment, or of a file beside a SQLite file. There may be several, separated by white space: the
first one signs, and edges are told to trust the others too, so that keys can be changed.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from belman.assignment import SigningKey
from belman.assignment.signatures import derived
from belman.errors import StudyError
from belman.files import write_new
from belman.studies.log.storage import Storage

VARIABLE = "BELMAN_SIGNING_KEY"
#: Characters that a key outside has at least.
LEAST = 32


def signing_keys(storage: Storage, secret: str) -> list[SigningKey]:
    """Return the keys of the study with this secret; the first one signs."""
    return [derived(f"{key}\0{secret}".encode()) for key in _outside(storage)]


def _outside(storage: Storage) -> list[str]:
    """Return the keys of the environment or of the file; StudyError where there are none."""
    position, given = VARIABLE, os.environ.get(VARIABLE, "").split()
    file = storage.key_file
    if not given and file is not None:
        position, path = str(file), Path(file)
        if not path.exists() and not storage.read_only:
            write_new(path, f"{secrets.token_hex(LEAST)}\n", private=True)
        given = path.read_text("utf-8").split() if path.exists() else []
    remedy = f"set {VARIABLE} to {LEAST} characters or more that nobody can guess"
    if not given:
        raise StudyError(f"there is no key to sign with, and {storage} holds none: {remedy}")
    if min(map(len, given)) < LEAST or len(set(given)) < len(given):
        raise StudyError(f"{position} holds a key that is too short, or one twice: {remedy}")
    return given
