"""A service that is killed (SIGKILL) and started anew under load, on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import IO

import belman
from belman.studies import Storage, Study
from tests.attack.harness import Attack, Trials
from tests.attack.insisting import Insisting
from tests.attack.killed_writers import on_postgresql, on_sqlite
from tests.studies.postgres import free_port, missing_postgresql

AT_ONCE = 100  # kills that a study lives through


def nursery(url: str, port: int) -> None:
    """Start a service for every line that is read, say its number, and wait for its end.

    What a service imports takes a second, and is imported once.
    """
    from belman.dashboard import application
    from belman.service.app import bind, serve
    from belman.service.limits import Limits

    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            app = application(Storage(url), limits=Limits(rate=1e6))
            serve(app, bind("127.0.0.1", port), quiet=True)
            os._exit(3)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        with suppress(BrokenPipeError):  # whoever asked has gone on
            print(os.waitstatus_to_exitcode(status), flush=True)


def run(trials: Trials, position: Callable[[], AbstractContextManager[str]]) -> None:
    """A trial is a kill, most of them while requests are under way, some while it starts."""
    todo = iter(trials)
    more = next(todo, None) is not None
    while more:
        with position() as url:
            more = _under_load(trials, todo, url)


def _under_load(trials: Trials, todo, url: str) -> bool:
    """Some kills on one storage; whether there are more to do."""
    port = free_port()
    command = [sys.executable, "-m", "tests.attack.killed_servers", url, str(port)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (
        subprocess.Popen(command, text=True, **pipes) as nursery,
        belman.Client(f"http://127.0.0.1:{port}", retries=0, timeout=60.0) as client,
    ):
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        try:
            server = _start(nursery.stdin, nursery.stdout)
            with belman.Client(f"http://127.0.0.1:{port}", retries=30) as patient:
                study = patient.create("killed", ["a", "b", "c"], seed=1).name
            remote = client.study(study)
            insisting = Insisting(
                lambda key: remote.ask(key=key), lambda ticket: remote.tell(ticket, 1)
            )
            more = True
            with insisting:
                for _ in range(AT_ONCE):
                    if trials.luck.random() < 0.9:
                        insisting.wait_for_answers()
                    time.sleep(trials.luck.uniform(0.0, 0.1))
                    os.kill(server, signal.SIGKILL)
                    ended = int(nursery.stdout.readline())
                    trials.expect(ended == -signal.SIGKILL, f"a service ended by itself: {ended}")
                    server = _start(nursery.stdin, nursery.stdout)
                    more = next(todo, None) is not None
                    if not more or insisting.broken:
                        break
            os.kill(server, signal.SIGKILL)
        finally:
            nursery.stdin.close()
    storage = Storage(url)
    insisting.compare(trials, Study("killed", storage))
    storage.close()
    return more and not insisting.broken


def _start(ask: IO[str], answer: IO[str]) -> int:
    ask.write("\n")
    ask.flush()
    return int(answer.readline())


ON_SQLITE = Attack(
    "servers killed, SQLite",
    "a service is killed (SIGKILL) and started anew under 3 callers, which send again with their "
    "idempotency keys what was not answered",
    "every key has one ticket, told once; the state is the fold of the log",
    partial(run, position=on_sqlite),
    short=3,
    long=300,
    seconds=1_800.0,
)
ON_POSTGRESQL = ON_SQLITE._replace(
    name="servers killed, PostgreSQL",
    run=partial(run, position=on_postgresql),
    long=200,
    needs=missing_postgresql,
)


if __name__ == "__main__":
    nursery(sys.argv[1], int(sys.argv[2]))
