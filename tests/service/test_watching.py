"""Watching does not starve deciding: threads of their own, reads that are shared, streams that are
counted.
"""

from __future__ import annotations

import asyncio
import http.client
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from belman.dashboard import feed
from belman.service.sharing import SharedReads
from belman.studies import Study
from tests.service.running import running
from tests.waiting import HANG, wait_until


@pytest.fixture
def service(tmp_path):
    with running(tmp_path, max_streams=4, max_streams_per_key=3) as result:
        result.send("POST", "/api/studies", {"name": "one", "arms": ["a", "b"]})
        yield result


def test_asks_are_answered_while_every_reader_is_stuck(service, monkeypatch):
    real, stuck, go_on = Study.beliefs, [], threading.Event()

    def wait(self, *given, **chosen):
        stuck.append(self)
        go_on.wait(HANG)
        return real(self, *given, **chosen)

    monkeypatch.setattr(Study, "beliefs", wait)
    paths = [f"/api/studies/one/beliefs?level={0.5 + i / 100}" for i in range(20)]
    with ThreadPoolExecutor(20) as readers:
        result = [readers.submit(service.send, "GET", path) for path in paths]
        try:
            wait_until(lambda: stuck or any(one.done() for one in result))
            assert stuck, result[0].result().body
            ticket = service.send("POST", "/api/studies/one/ask", {}).json["tickets"][0]["id"]
            told = service.send("POST", "/api/studies/one/tell", {"ticket": ticket, "reward": 1})
            assert told.json == {"news": True}
            assert service.send("POST", "/api/studies/one/pause", {}).json["paused"]
        finally:
            go_on.set()
        assert all(one.result().status == 200 for one in result)


def test_beliefs_are_worked_out_once_until_the_study_moves(service, monkeypatch):
    real, made = Study.beliefs, []

    def counted(self, *given, **chosen):
        made.append(1)
        return real(self, *given, **chosen)

    monkeypatch.setattr(Study, "beliefs", counted)
    result = [service.send("GET", "/api/studies/one/beliefs").body for _ in range(5)]
    assert len(set(result)) == len(made) == 1
    service.send("POST", "/api/studies/one/ask", {})
    service.send("GET", "/api/studies/one/beliefs")
    service.send("GET", "/api/studies/one/beliefs?level=0.5")
    assert len(made) == 3


def test_whoever_comes_while_a_read_is_under_way_shares_the_next_one():
    async def run():
        reads, begun, go_on = SharedReads(), [], asyncio.Event()

        async def work():
            begun.append(1)
            number = len(begun)
            await go_on.wait()
            return number

        first = asyncio.create_task(reads.read("it", work))
        while not begun:
            await asyncio.sleep(0)
        others = [asyncio.create_task(reads.read("it", work)) for _ in range(10)]
        await asyncio.sleep(0)
        assert len(begun) == 1
        go_on.set()
        assert await first == 1
        assert set(await asyncio.gather(*others)) == {2}
        assert await reads.read("it", work) == 3
        return reads._flights

    assert asyncio.run(run()) == {}


def test_a_read_that_fails_fails_for_those_who_shared_it_and_no_other():
    async def run():
        reads = SharedReads()

        async def fail():
            await asyncio.sleep(0)
            raise ValueError("this one")

        async def work():
            return "read"

        first = asyncio.create_task(reads.read("it", fail))
        await asyncio.sleep(0)
        second = asyncio.create_task(reads.read("it", work))
        return await asyncio.gather(first, second, return_exceptions=True)

    first, second = asyncio.run(run())
    assert isinstance(first, ValueError)
    assert second == "read"


def open_stream(service):
    line = http.client.HTTPConnection("127.0.0.1", service.port, timeout=HANG)
    line.request("GET", "/api/studies/one/live")
    return line, line.getresponse()


def test_streams_are_counted_and_refused_with_a_problem(service):
    streams = [open_stream(service) for _ in range(3)]
    assert [answer.status for _, answer in streams] == [200] * 3
    refused = service.send("GET", "/api/studies/one/live")
    assert (refused.status, refused.headers["retry-after"]) == (429, "10")
    assert "3 streams are open with this key, and 3 may be" in refused.json["detail"]
    streams.pop()[0].close()
    wait_until(lambda: _is_let_in(service))
    for line, _ in streams:
        line.close()


def _is_let_in(service):
    line, answer = open_stream(service)
    line.close()
    return answer.status == 200


def test_there_is_a_limit_for_all_together(tmp_path):
    with running(tmp_path, max_streams=1) as service:
        service.send("POST", "/api/studies", {"name": "one", "arms": ["a", "b"]})
        line, _ = open_stream(service)
        refused = service.send("GET", "/api/studies/one/live")
        assert refused.status == 503
        assert "1 streams are open here" in refused.json["detail"]
        line.close()


def test_views_take_a_share_of_the_time(monkeypatch):
    """Work that kept a core busy for 0.2 s is followed by 1.8 s of rest, and never by more than the
    most.
    """
    busy, slept = iter([0.0, 0.2, 0.2, 100.0, 100.0, 100.0]), []
    time = SimpleNamespace(monotonic=lambda: 50.0, thread_time=lambda: next(busy))
    monkeypatch.setattr(feed, "time", time)

    class Threads:
        async def watch(self, work):
            return work()

    async def sleep(seconds):
        slept.append(seconds)

    async def run():
        turns = feed.Pace(Threads())
        monkeypatch.setattr(feed.asyncio, "sleep", sleep)
        return [await turns.work(str, number) for number in range(3)]

    assert asyncio.run(run()) == ["0", "1", "2"]
    assert slept == [0.0, pytest.approx(1.8), feed.MOST_SECONDS]
