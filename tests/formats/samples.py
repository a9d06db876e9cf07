"""One sample of each format that a release freezes, and how a reader goes on from it.

`python -m tests.formats.samples` writes them anew: before the first release where a format changes,
afterwards never, but for samples of formats that are new.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import belman
from belman.engine.tiers import interpreted
from belman.studies import Storage, open_study, unit_of_work

FOLDER = Path(__file__).parent / "samples"
UNITS = [f"unit-{number}" for number in range(20)]
CLOCK = 1_700_000_000.0
_TURNS, _NEXT = 12, 6

#: An agent for every decider, and what it is asked with at a turn.
AGENTS: dict[str, tuple[Callable[[], belman.Agent], Callable[[int], dict[str, Any]]]] = {
    "independent": (
        lambda: belman.Agent(["a", "b", "c"], control="a", range=(0.0, 2.0), seed=1),
        lambda turn: {},
    ),
    "segmented": (
        lambda: belman.Agent(["a", "b"], segments=["country"], seed=2),
        lambda turn: {"context": {"country": ["fr", "sg"][turn % 2]}},
    ),
    "featured": (
        lambda: belman.Agent(["a", "b"], context=["age", "plan"], seed=3),
        lambda turn: {"context": {"age": 20.0 + 5.0 * turn, "plan": ["free", "paid"][turn % 2]}},
    ),
    "box": (
        lambda: belman.Agent(space=belman.Box(price=(1.0, 9.0)), context=["age", "plan"], seed=4),
        lambda turn: {"context": {"age": 20.0 + 5.0 * turn, "plan": ["free", "paid"][turn % 2]}},
    ),
}


def next_asks(agent: belman.Agent, kind: str) -> list[Any]:
    """What an agent does next: its asks, with the rewards of half of them told."""
    given, asked = AGENTS[kind][1], []
    for turn in range(_NEXT):
        ticket = agent.ask(**given(turn))
        asked.append(ticket.arm if hasattr(ticket, "arm") else ticket)
        if turn % 2:
            agent.tell(ticket, 1.0)
    return asked


def opened(path: Path) -> Storage:
    """A storage made of the sample of a database."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript((FOLDER / "study.sql").read_text(encoding="utf-8"))
    return Storage(f"sqlite:///{path}?synchronous=normal")


def _write_agents(known: dict[str, Any]) -> None:
    for kind, (made, given) in AGENTS.items():
        agent = made()
        for turn in range(_TURNS):
            ticket = agent.ask(**given(turn))
            if turn % 3:  # the others are outstanding
                agent.tell(ticket, float(turn % 2))
        agent.save(FOLDER / f"agent-{kind}.json")
        known[f"agent-{kind}"] = next_asks(agent, kind)
    agent = belman.Agent(["old", "new"], control="old", seed=5)
    for number in range(60):
        agent.tell(["old", "new"][number % 2], float(number % 3 == 0))
    (FOLDER / "report.json").write_text(agent.report().to_json() + "\n", encoding="utf-8")


def _write_study(folder: Path, known: dict[str, Any]) -> None:
    path = folder / "study.db"
    unit_of_work.SNAPSHOT_EVERY = 8  # so that a snapshot is in the sample
    with closing(Storage(f"sqlite:///{path}?synchronous=normal")) as storage:
        study = open_study(
            "sample", ["a", "b"], storage=storage, seed=6, control="a", window=60.0,
            guard={"refund": "< 0.9"}, clock=lambda: CLOCK,
        )  # fmt: skip
        for number, ticket in enumerate(study.ask(8)):
            study.tell(ticket, number % 2, metrics={"refund": 0})
        study.publish(100, every=3600.0)
        weights = study.weights()
        arm = belman.assign(weights, UNITS[0]).arm
        row = {"unit": UNITS[0], "version": weights.version, "arm": arm, "reward": 1, "time": CLOCK}
        study.observe([row])
        study.add_arm("c")
        study.pause("tea")
        study.resume()
        (FOLDER / "weights.json").write_text(weights.to_json() + "\n", encoding="utf-8")
        known["weights"] = {unit: belman.assign(weights, unit).arm for unit in UNITS}
        known["study"] = {"number": study.number, "arms": list(study.arms)}
        past = open_study("past", ["a", "b"], storage=storage, seed=7, clock=lambda: CLOCK)
        for number, ticket in enumerate(past.ask(8)):
            past.tell(ticket, number % 2)
        past.export(FOLDER / "export.csv")
    with closing(sqlite3.connect(path)) as database:
        text = "\n".join(database.iterdump()) + "\n"
    (FOLDER / "study.sql").write_text(text, encoding="utf-8")
    with closing(opened(folder / "again.db")) as storage:
        again = open_study("sample", storage=storage, clock=lambda: CLOCK + 1.0)
        known["study"]["next"] = [ticket.arm for ticket in again.ask(6)]


def main() -> None:
    """Write every sample, and what a reader does next."""
    FOLDER.mkdir(exist_ok=True)
    known: dict[str, Any] = {}
    with interpreted(), tempfile.TemporaryDirectory() as folder:
        _write_agents(known)
        _write_study(Path(folder), known)
    text = json.dumps(known, indent=1, sort_keys=True) + "\n"
    (FOLDER / "next.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
