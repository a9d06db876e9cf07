"""A PostgreSQL server that is restarted under load: writers find it again, and nothing is lost."""

from __future__ import annotations

from belman.studies import Storage, open_study
from tests.attack.harness import Attack, Trials
from tests.attack.insisting import Insisting
from tests.studies.postgres import Postgres, missing_postgresql


def run(trials: Trials) -> None:
    """A trial is a restart, at once or after what is under way was broken off."""
    server = Postgres()
    storage = Storage(server.url)
    try:
        study = open_study("restart", ["a", "b", "c"], storage=storage, seed=1)
        insisting = Insisting(lambda key: study.ask(key=key), lambda ticket: study.tell(ticket, 1))
        with insisting:
            for _ in trials:
                insisting.wait_for_answers()
                server.stop(trials.luck.choice(("immediate", "immediate", "fast")))
                insisting.wait_for_failures()
                server.start()
            insisting.wait_for_answers()
        insisting.compare(trials, study)
    finally:
        storage.close()
        server.close()


ATTACK = Attack(
    "restarts, PostgreSQL",
    "the server is stopped and started under 3 writers, which send again what was not answered",
    "every key has one ticket, told once; the state is the fold of the log",
    run,
    short=3,
    long=200,
    seconds=1_800.0,
    needs=missing_postgresql,
)
