"""One dispatcher for several processes, through a storage of studies."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from belman.dispatch import SharedDispatcher
from belman.errors import BusyError, ServerError, SettingError
from belman.studies import Storage
from tests.studies.conftest import postgres, url  # noqa: F401 (fixtures)
from tests.waiting import HANG

SCRIPT = """
import sys
from belman.dispatch import SharedDispatcher
from belman.studies import Storage
storage = Storage(sys.argv[1])
dispatcher = SharedDispatcher(storage, "printers", ["a", "b"], slots=2, limit=3, seed=1)
for _ in range(15):
    with dispatcher.job():
        assert len(dispatcher.under_way) <= 3
storage.close()
"""


@pytest.fixture
def storage(url):  # noqa: F811
    made = Storage(url)
    yield made
    made.close()


def test_processes_share_the_servers(storage, url):  # noqa: F811
    command = [sys.executable, "-c", SCRIPT, url]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(HANG) for process in processes] == [0, 0]
    dispatcher = SharedDispatcher(storage, "printers")
    assert sum(dispatcher.status()["completed"]) == 30
    assert dispatcher.under_way == ()
    assert sum(dispatcher.beliefs()["plays"]) == 30


def test_one_sees_what_another_does(storage):
    one = SharedDispatcher(storage, "x", ["a", "b"], time_limit=HANG, seed=1)
    other = SharedDispatcher(storage, "x")
    job = one.assign_job()
    assert other.under_way[0].number == job.number
    held = other.assign_job()
    with pytest.raises(BusyError):
        one.assign(timeout=0.05)
    other.completed(job, time=2.0)  # any of them may tell it
    assert one.beliefs().row(job.server)["expected time"] > 0.0
    one.release(held)
    one.completed(held)  # it is gone, and there is a limit: late, and nothing changes
    assert sum(other.status()["completed"]) == 1
    other.add_server("c")
    one.pause("c")
    assert other.servers == ("a", "b", "c")
    assert 'paused{server="c"} 1.0' in other.metrics()
    assert "waiting" not in other.metrics()
    with pytest.raises(ServerError, match="no dispatcher 'y'"):
        SharedDispatcher(storage, "y")


def test_coroutines_wait_and_a_cancelled_one_keeps_no_server(storage):
    async def program():
        dispatcher = SharedDispatcher(storage, "z", ["a"], nap=0.001, seed=1)
        holder = await dispatcher.assign_job_async()
        task = asyncio.create_task(dispatcher.assign_job_async())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        waiting = asyncio.create_task(dispatcher.assign_async())
        dispatcher.completed(holder)
        assert await waiting == "a"
        dispatcher.release("a")
        with pytest.raises(ZeroDivisionError):
            async with dispatcher.job():
                raise ZeroDivisionError
        return dispatcher

    dispatcher = asyncio.run(program())
    assert dispatcher.under_way == ()
    assert dispatcher.status()["failed"] == [1]


def backup(storage, name):
    row = "SELECT revision, time, content FROM belman_dispatchers WHERE name = ?"
    return storage.rows(row, name)[0]


def put_back(storage, name, kept):
    put = "UPDATE belman_dispatchers SET revision = ?, time = ?, content = ? WHERE name = ?"
    storage.execute(put, *kept, name)


def test_a_state_that_was_put_back_is_noticed(storage):
    """Another history up to the revision that was seen here is not the one that was seen."""
    one = SharedDispatcher(storage, "put back", ["a", "b"], slots=2, seed=1)
    other = SharedDispatcher(storage, "put back")
    kept = backup(storage, "put back")
    for _ in range(2):
        one.assign_job()
    put_back(storage, "put back", kept)
    held = [other.assign_job() for _ in range(2)]
    assert [job.began for job in one.under_way] == pytest.approx([job.began for job in held])
    assert one.assign_job().number == 3
    storage.execute("DELETE FROM belman_dispatchers WHERE name = ?", "put back")
    with pytest.raises(ServerError, match="is no more"):
        one.assign_job()


def test_a_job_of_a_lost_future_is_not_taken_for_another(storage):
    one = SharedDispatcher(storage, "lost future", ["a", "b"], seed=1)
    kept = backup(storage, "lost future")
    lost = one.assign_job()
    put_back(storage, "lost future", kept)
    one.pause(lost.server)
    new = one.assign_job()
    assert (new.number, new.server != lost.server) == (lost.number, True)
    with pytest.raises(ServerError, match="is not under way"):
        one.completed(lost)
    one.completed(new)
    assert one.under_way == ()
    storage.execute("DELETE FROM belman_dispatchers WHERE name = ?", "lost future")


@pytest.mark.parametrize("given", ["postgresql://me:secret@host/db", None, 5])
def test_what_is_no_storage_is_refused(given):
    with pytest.raises(SettingError, match=r"belman\.studies\.Storage") as refused:
        SharedDispatcher(given, "printers", ["near"])
    assert "secret" not in str(refused.value)
