"""Write the samples with the release that is installed: `python -m tests.studies.samples.write`.

A sample is written once, by the release that is named in its file, and never changed after that:
later releases open it and go on as that release did.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import belman
from belman.service.keys import Keys, Role
from belman.studies import Storage, Study, open_study
from tests.studies.postgres import Postgres

HERE = Path(__file__).parent
NOW = 1_800_000_000.0
SNAPSHOT_EVERY = 40


def settings() -> dict[str, dict[str, Any]]:
    """The studies of a sample: several families, policies and rules."""
    return {
        "default": {"arms": ["blue", "green", "red"], "seed": 7},
        "thompson": {
            "arms": ["a", ("b", 1), 3],
            "policy": belman.Thompson(),
            "uniform_share": 0.2,
            "expire_after": 100.0,
            "expired_reward": 0.0,
            "prior": (2.0, 3.0),
            "priors": {"a": (4.0, 1.5)},
            "seed": 8,
        },
        "costs": {
            "arms": ["x", "y"],
            "family": belman.GaussianUnknown(),
            "policy": belman.BelMan(belman.exposure.Constant(0.3)),
            "minimise": True,
            "discount": 0.99,
            "expire_after": 50.0,
            "seed": 9,
        },
        "counts": {
            "arms": range(4),
            "family": "poisson",
            "policy": belman.Phases(belman.Random(), belman.KLUCB(), turns=20),
            "seed": 10,
        },
        "scaled": {
            "arms": ["日", "a 'quoted' \"name\""],
            "range": (10.0, 20.0),
            "policy": belman.EpsilonGreedy(0.25),
            "seed": 11,
        },
    }


def reward(study: Study, number: int) -> float:
    """What the world answers, by the number of the ask alone."""
    lot = number * 7919 % 101 / 101
    return {
        "costs": lot * 4.0 - 1.0,
        "counts": float(int(lot * 6)),
        "scaled": 10.0 + 10.0 * (lot < 0.4),
    }.get(study.name, float(lot < 0.4))


def play(study: Study, turns: int, out: list[Any]) -> None:
    """Asks whose rewards come late, and some never."""
    for turn in range(turns):
        out += study.ask(2, key=f"{study.number}") if turn % 5 == 0 else [study.ask()]
        while len(out) > 3:
            told = out.pop(turn % 3)
            study.tell(told.id, reward(study, int(told.id.partition("-")[0])))


def fill(storage: Storage, clock: list[float]) -> None:
    """A life for every study: asks, tells, expiries, pauses, arms that come and go, past data."""
    for name, chosen in settings().items():
        clock[0] = NOW
        study = open_study(name, storage=storage, clock=lambda: clock[0], **chosen)
        arms, out = list(study.arms), []
        play(study, 24, out)
        study.pause("lunch; it's late")
        study.resume()
        study.add_arm("new", reason="a new idea")
        clock[0] += 60.0
        study.expire()
        play(study, 12, [])
        study.retire_arm(arms[0], "too dear")
        study.record([(arm, reward(study, 5)) for arm in (arms[0], arms[1])], "last year")
        play(study, 6, [])
        if name == "default":
            study.set_exposure(belman.exposure.Infinite(), "look around")
            study.pause("over night")


def seen(study: Study) -> dict[str, Any]:
    """What a study knows, down to the last bit."""
    study.check()
    agent = study.agent()
    log = "\n".join(re.sub(r", link=.*\)$", ")", str(event)) for event in study.events())
    return {
        "status": {name: value for name, value in study.status().items() if name != "policy"},
        "register": [repr(arm) for arm in study.register],
        "retired": [repr(arm) for arm in study.retired],
        "beliefs": [list(agent.belief(arm)) for arm in agent.arms],
        "tickets": [[t.id, repr(t.arm), t.probability, t.uniform, t.time] for t in study.tickets()],
        "log": hashlib.sha256(log.encode()).hexdigest(),
    }


def go_on(study: Study) -> list[list[Any]]:
    """The next decisions, and what is learnt of them and of tickets that were out."""
    study.expire()
    if study.paused:
        study.resume("a new day")
    play(study, 8, study.tickets()[:2])
    asked = list(study.history(last=10))
    return [[row["event"], repr(row["arm"]), row["probability"], row["reward"]] for row in asked]


def write(url: str, clock: list[float]) -> tuple[Storage, dict[str, Any]]:
    storage = Storage(url)
    fill(storage, clock)
    keys = Keys(storage)
    added = [keys.add("old friend", Role.PLAY), keys.add("revoked", Role.ADMIN)]
    keys.revoke(added[1].split("_")[1])
    known = {name: seen(open_study(name, storage=storage)) for name in storage.names()}
    return storage, {"belman": belman.__version__, "keys": added, "studies": known}


def continued(storage: Storage) -> dict[str, Any]:
    """How each study goes on, an hour later."""
    found = {}
    for name in storage.names():
        study = open_study(name, storage=storage, clock=lambda: NOW + 3600.0)
        found[name] = {"turns": go_on(study), "afterwards": seen(study)}
    return found


def main() -> None:
    from belman.studies import unit_of_work

    unit_of_work.SNAPSHOT_EVERY = SNAPSHOT_EVERY
    with tempfile.TemporaryDirectory() as folder:
        clock = [NOW]
        storage, known = write(f"sqlite:///{folder}/studies.db", clock)
        storage.close()  # the last connection moves what is in the write-ahead log to the file
        shutil.copy(f"{folder}/studies.db", HERE / "sqlite.db")
        open_study("thompson", storage=storage).export(HERE / "thompson.csv")
        known["continued"] = continued(storage)
        storage.close()
        (HERE / "sqlite.json").write_text(_text(known), encoding="utf-8")
    server = Postgres()
    try:
        storage, known = write(server.url, clock)
        dump = subprocess.run(
            ["pg_dump", "--inserts", "--no-owner", "--no-privileges", server.url],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        known["continued"] = continued(storage)
        storage.close()
    finally:
        server.close()
    kept = [line for line in dump.splitlines() if line and not line.startswith(("--", "\\"))]
    (HERE / "postgresql.sql").write_text("\n".join(kept) + "\n", encoding="utf-8")
    (HERE / "postgresql.json").write_text(_text(known), encoding="utf-8")


def _text(known: dict[str, Any]) -> str:
    return json.dumps(known, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    main()
