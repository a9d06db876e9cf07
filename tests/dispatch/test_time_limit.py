"""Jobs that take too long have failed: their slots are free, and those who wait are served."""

from __future__ import annotations

import asyncio
import threading

import pytest

from belman import Dispatcher
from belman.dispatch import Breaker
from belman.errors import ServerError, SettingError
from tests.dispatch.clocks import Clock
from tests.waiting import HANG, wait_until


def test_a_job_over_the_limit_has_failed():
    clock = Clock()
    dispatcher = Dispatcher(["a"], time_limit=2.0, seed=1, clock=clock)
    late = dispatcher.assign_job()
    clock.now += 1.99
    assert dispatcher.waiting == 0
    dispatcher.pause("a")
    dispatcher.resume("a")
    assert dispatcher.under_way == (late,)
    clock.now += 0.01
    other = dispatcher.assign_job()
    assert other.server == "a"
    assert dispatcher.status().row("a")["failed"] == 1
    before = dispatcher.to_json()
    dispatcher.completed(late)  # too late: it has failed, and changes nothing
    dispatcher.failed(late)
    dispatcher.release(late)
    assert dispatcher.to_json() == before
    dispatcher.completed(other, time=1.0)
    with pytest.raises(ServerError, match="has no job"):
        dispatcher.completed("a")
    assert 'belman_dispatch_jobs_expired_total{server="a"} 1.0' in dispatcher.metrics()


def test_the_end_of_a_job_over_the_limit_is_a_failure_whoever_looked_before():
    clock = Clock()
    dispatcher = Dispatcher(["a"], time_limit=2.0, breaker=Breaker(), seed=1, clock=clock)
    job = dispatcher.assign_job()
    clock.now += 3.0
    dispatcher.completed(job)
    assert dispatcher.status().row("a")["failed"] == 1
    assert dispatcher.status().row("a")["completed"] == 0


def test_a_thread_that_waits_is_served_when_a_job_is_over_the_limit():
    dispatcher = Dispatcher(["a"], time_limit=0.2, seed=1)
    lost = dispatcher.assign_job()
    result = dispatcher.assign_job(timeout=HANG)
    assert result.number > lost.number
    dispatcher.completed(result)


def test_a_coroutine_over_the_limit_is_ended_and_one_that_waits_is_served():
    async def program():
        dispatcher = Dispatcher(["a"], time_limit=0.1, seed=1)

        async def too_long():
            async with dispatcher.job():
                await asyncio.sleep(HANG)

        async def waits():
            async with dispatcher.job() as server:
                return server

        results = await asyncio.gather(too_long(), waits(), return_exceptions=True)
        return dispatcher, results

    dispatcher, (error, server) = asyncio.run(program())
    assert isinstance(error, TimeoutError)
    assert server == "a"
    row = dispatcher.status().row("a")
    assert (row["completed"], row["failed"], row["now"]) == (1, 1, "free")


def test_a_block_without_asyncio_is_a_job():
    clock = Clock()
    dispatcher = Dispatcher(["a"], learns="time", seed=1, clock=clock)
    with dispatcher.job() as server:
        assert server == "a"
        assert dispatcher.busy == {"a": None}
        clock.now += 0.5
    with pytest.raises(ZeroDivisionError), dispatcher.job():
        raise ZeroDivisionError
    with pytest.raises(KeyboardInterrupt), dispatcher.job():
        raise KeyboardInterrupt
    row = dispatcher.status().row("a")
    assert (row["completed"], row["failed"], row["now"]) == (1, 1, "free")
    assert dispatcher.beliefs().row("a")["plays"] == 2


def test_blocks_of_threads_wait_for_each_other():
    dispatcher = Dispatcher(["a"], slots=2, seed=1)
    inside, most, lock = 0, 0, threading.Lock()

    def customer():
        nonlocal inside, most
        for _ in range(50):
            with dispatcher.job():
                with lock:
                    inside += 1
                    most = max(most, inside)
                with lock:
                    inside -= 1

    threads = [threading.Thread(target=customer) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
    wait_until(lambda: dispatcher.under_way == ())
    assert most <= 2
    assert dispatcher.status()["completed"] == [200]


@pytest.mark.parametrize("limit", [0.0, -1.0, True, float("inf"), "1 s"])
def test_a_limit_that_cannot_be(limit):
    with pytest.raises(SettingError, match="time_limit"):
        Dispatcher(["a"], time_limit=limit)
