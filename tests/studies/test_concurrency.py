"""Many at once: threads, processes and forks on one study."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from belman.studies import Kind, Storage, open_study
from tests.waiting import HANG

PROCESS = textwrap.dedent(
    """
    import os, random, sys
    from belman.studies import open_study, Storage

    url, workers, decisions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    parent = open_study("shared", range(5), storage=url, seed=1)
    parent.tell(parent.ask(key="first").id, 1)
    children = []
    for worker in range(workers):
        child = os.fork()
        if child == 0:
            code = 3
            try:
                study = parent if worker % 2 else open_study("shared", storage=url)
                luck, out = random.Random(worker), []
                for turn in range(decisions):
                    out.append(study.ask())
                    if len(out) > 5:
                        study.tell(out.pop(0).id, float(luck.random() < 0.5))
                for ticket in out:
                    study.tell(ticket.id, 1.0)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * workers
    parent.tell(parent.ask().id, 1)
    parent.check()
    """
)


def test_processes_that_share_a_study_lose_and_double_nothing(url):
    """Half of them use the study object that they were forked with."""
    command = [sys.executable, "-W", "error", "-c", PROCESS, url, "4", "100"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr
    storage = Storage(url)
    study = open_study("shared", storage=storage)
    assert (
        study.status() | {"asked": 402, "told": 402, "outstanding": 0, "events": 805}
        == study.status()
    )
    tells = [event.ticket for event in study.events() if event.kind == Kind.TOLD]
    assert len(set(tells)) == len(tells) == 402
    study.check()
    storage.close()


def test_processes_that_share_a_study_with_a_window_count_everything_once(url):
    """The eight processes of benchmarks/windows.py, in small: told again, too late, corrected."""
    command = [sys.executable, "-W", "error", "-m", "benchmarks.windows", "4", "100", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["told"] > 0


OPENING = textwrap.dedent(
    """
    import os, sys
    from belman.studies import Storage, open_study

    url, workers = sys.argv[1], int(sys.argv[2])
    waiting, go = os.pipe()
    children = []
    for worker in range(workers):
        child = os.fork()
        if child == 0:
            code = 3
            try:
                os.close(go)
                os.read(waiting, 1)
                storage = Storage(url)
                open_study("new", ["a", "b"], storage=storage).ask(key=str(worker))
                storage.close()
                code = 0
            except Exception as error:
                print(error, file=sys.stderr, flush=True)
            finally:
                os._exit(code)
        children.append(child)
    os.close(go)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * workers
    study = open_study("new", storage=url)
    assert (study.storage.names(), study.outstanding) == (["new"], workers)
    study.check()
    study.storage.close()
    """
)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_processes_that_open_a_new_database_at_once_make_one_of_it(kind, tmp_path, request):
    if kind == "sqlite":
        url = f"sqlite:///{tmp_path}/new.db"
    else:
        url = request.getfixturevalue("postgres").database("opened_at_once")
    command = [sys.executable, "-W", "error", "-c", OPENING, url, "8"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr


def test_threads_that_share_an_object_lose_and_double_nothing(opened):
    study, other = opened(), opened()

    def work(worker: int) -> None:
        mine = study if worker % 2 else other
        for _ in range(25):
            ticket = mine.ask()
            assert mine.tell(ticket.id, worker % 2) is True
            mine.beliefs()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert study.status() | {"asked": 100, "told": 100, "outstanding": 0} == study.status()
    assert study.check() == other.check()


def test_one_ticket_told_by_many_at_once_counts_once(opened):
    studies = [opened() for _ in range(4)]
    ticket = studies[0].ask()
    with ThreadPoolExecutor(4) as pool:
        news = list(pool.map(lambda study: study.tell(ticket.id, 1), studies))
    assert sorted(news) == [False, False, False, True]


def test_many_that_create_a_study_at_once_create_one(url):
    def create(_: int) -> str:
        storage = Storage(url)
        study = open_study("new", ["a", "b"], storage=storage)
        storage_names = storage.names()
        storage.close()
        return json.dumps([storage_names, study.settings.seed])

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(create, range(4)))) == 1
