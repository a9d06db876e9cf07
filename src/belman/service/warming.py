"""What a service does before it is ready: a turn of a study of its own, and a look at those here,
so that no caller waits for imports and compiled code.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress

from belman.engine import tiers
from belman.errors import BelmanError
from belman.studies import Storage, open_study

#: Studies of the storage that are opened ahead.
MOST_STUDIES = 20


def play(family: str = "bernoulli") -> None:
    """Play a turn of a study that is deleted afterwards, and do what its page looks at."""
    with tempfile.TemporaryDirectory(prefix="belman-warm-") as folder:
        storage = Storage(f"sqlite:///{folder}/studies.db")
        study = open_study("warm", ["a", "b"], family, storage=storage, seed=0)
        study.tell(study.ask(), 1.0 if family != "beta" else 0.5)
        study.beliefs()
        study.explain()
        storage.close()


def warm(storage: Storage) -> None:
    """Play a turn, and look at the first studies of a storage; what cannot be opened is left
    to the caller who asks for it.
    """
    tiers.hasten()
    play()
    for name in storage.names(archived=False)[:MOST_STUDIES]:
        with suppress(BelmanError):
            open_study(name, storage=storage).beliefs()
