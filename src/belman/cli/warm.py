"""`belman warm`: compile ahead what agents and studies use, so that a service starts fast."""

from __future__ import annotations

import os
import tempfile
import time

from belman.cli.commands import app, command
from belman.cli.output import say
from belman.engine.cache import cache_directory
from belman.errors import FamilyError, unknown
from belman.families import FAMILIES


@command(app, family="A family whose default policy is compiled; may be repeated.")
def warm(*, family: list[str] | None = None) -> None:
    """Compile the kernels of studies with the default policy into the cache, and say where it is.

    `$BELMAN_CACHE` says where; a container runs this while it is built.
    """
    names = family or ["bernoulli"]
    for name in names:
        if name not in FAMILIES:
            raise FamilyError(unknown("family", name, FAMILIES))
    os.environ["BELMAN_COMPILE"] = "first"
    for name in names:
        started = time.perf_counter()
        _play(name)
        say(f"{name}: {time.perf_counter() - started:.1f} s")
    say(f"compiled code is in {cache_directory()}")


def _play(family: str) -> None:
    """A turn of a study, and what its page looks at."""
    from belman.studies import Storage, open_study

    with tempfile.TemporaryDirectory(prefix="belman-warm-") as folder:
        storage = Storage(f"sqlite:///{folder}/studies.db")
        study = open_study("warm", ["a", "b"], family, storage=storage, seed=0)
        study.tell(study.ask(), 1.0 if family != "beta" else 0.5)
        study.beliefs()
        study.explain()
        storage.close()
