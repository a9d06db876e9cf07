"""`belman warm`: compile ahead what agents and studies use, so that a service starts fast."""

from __future__ import annotations

import os
import tempfile
import time
from typing import Annotated

import typer

from belman.cli.show import console
from belman.engine.cache import cache_directory
from belman.errors import FamilyError, listing, nearest
from belman.families import FAMILIES


def warm(
    family: Annotated[
        list[str] | None,
        typer.Option(help="A family whose default policy is compiled; may be repeated."),
    ] = None,
) -> None:
    """Compile the kernels of studies with the default policy into the cache, and say where it is.

    `$BELMAN_CACHE` says where; a container runs this while it is built.
    """
    names = family or ["bernoulli"]
    for name in names:
        if name not in FAMILIES:
            known = f"there are {listing(FAMILIES)}{nearest(name, FAMILIES)}"
            raise FamilyError(f"unknown family {name!r}: {known}")
    os.environ["BELMAN_COMPILE"] = "first"
    for name in names:
        started = time.perf_counter()
        _play(name)
        console.print(f"{name}: {time.perf_counter() - started:.1f} s", highlight=False)
    console.print(f"compiled code is in {cache_directory()}", highlight=False, soft_wrap=True)


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
