"""Lives of the simulated world (`tests/world`), each of another seed."""

from __future__ import annotations

import tempfile

from tests.attack.harness import Attack, Trials
from tests.world.__main__ import folder_in_memory, shrunk
from tests.world.life import live, script, simulated

STEPS = 25


def run(trials: Trials) -> None:
    """A trial is a life; what it shows is shown by the fewest operations."""
    first = trials.luck.getrandbits(30)
    with simulated(), tempfile.TemporaryDirectory(dir=folder_in_memory()) as folder:
        for number in trials:
            given = script(first + number, STEPS)
            if live(given, folder) is not None:
                trials.expect(False, "\n".join(map(str, shrunk(given, folder))))


ATTACK = Attack(
    "simulated world",
    "two services, a program, an edge and an analyst on one file; any statement may fail or be "
    "the last of its process, the network loses, delays, repeats and reorders, backups are put "
    "back, windows close: all by a seed (`python -m tests.world --seed N`)",
    "the promises of this page, each by its name in `tests/world/notes.py`",
    run,
    short=10,
    long=20_000,
    seconds=3_600.0,
)
