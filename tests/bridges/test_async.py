"""Studies and clients for asyncio: the same answers, nothing lost where a caller is cancelled, and
an event loop that goes on while a study works.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing

import pytest

import belman
from belman.errors import ArmError, ServiceError, SettingError, StudyError, UnknownStudyError
from belman.studies import Kind, Storage, Study
from tests.service.running import running

ARMS = ["blue", "green"]


@pytest.fixture
def storage(tmp_path):
    with closing(Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")) as result:
        yield result


def opened(storage, **settings):
    return belman.AsyncStudy(belman.open_study("page", ARMS, storage=storage, seed=1, **settings))


class Gate:
    """Holds the commits of a study until it is opened; says when one has come."""

    def __init__(self, monkeypatch):
        self.came, self._open = threading.Event(), threading.Event()
        self.batches = []
        together = Study.together

        def held(study, requests):
            self.batches.append(len(requests))
            self.came.set()
            assert self._open.wait(60.0)
            return together(study, requests)

        monkeypatch.setattr(Study, "together", held)

    async def reached(self):
        assert await asyncio.to_thread(self.came.wait, 60.0)

    def open(self):
        self._open.set()


def test_it_decides_and_learns_as_the_study_does(storage):
    near = belman.open_study("near", ARMS, storage=storage, seed=1)
    wanted = []
    for i in range(6):
        ticket = near.ask()
        near.tell(ticket, i % 2)
        wanted.append((ticket.arm, ticket.probability))

    async def main():
        async with opened(storage) as study:
            result = []
            for i in range(6):
                ticket = await study.ask()
                assert await study.tell(ticket, i % 2)
                assert not await study.tell(ticket.id, i % 2)
                result.append((ticket.arm, ticket.probability))
            assert len(await study.ask(3, attributes={"device": "phone"})) == 3
            beliefs, status = await study.beliefs(level=0.9), await study.status()
            await study.pause("lunch")
            assert await study.run(lambda study: study.paused)
            return result, beliefs, status

    result, beliefs, status = asyncio.run(main())
    assert result == wanted
    assert str(beliefs) == str(near.beliefs(level=0.9))
    assert (status["told"], status["outstanding"]) == (6, 3)


def test_coroutines_that_ask_at_once_share_a_transaction(storage, monkeypatch):
    gate = Gate(monkeypatch)

    async def main():
        async with opened(storage) as study:
            first = asyncio.create_task(study.ask())
            await gate.reached()
            others = [asyncio.create_task(study.ask()) for _ in range(20)]
            await asyncio.sleep(0)
            gate.open()
            tickets = await asyncio.gather(first, *others)
            return {ticket.id for ticket in tickets}

    assert len(asyncio.run(main())) == 21
    assert gate.batches == [1, 20]


def test_each_gets_its_own_error(storage):
    async def main():
        async with opened(storage) as study:
            await study.retire_arm("green")
            answers = await asyncio.gather(
                study.ask(),
                study.tell("no such ticket", 1),
                study.ask(0),
                study.add_arm("blue"),
                return_exceptions=True,
            )
        with pytest.raises(StudyError, match="'page' is closed here"):
            await study.ask()
        return answers

    ticket, tell, ask, arm = asyncio.run(main())
    assert ticket.arm == "blue"
    assert [type(error).__name__ for error in (tell, ask)] == ["UnknownTicketError", "SettingError"]
    assert isinstance(arm, ArmError)


def test_a_cancelled_ask_leaves_no_ticket_out(storage, monkeypatch):
    """Before its transaction it is not made; after it its tickets go back."""
    gate = Gate(monkeypatch)

    async def main():
        async with opened(storage) as study:
            written = asyncio.create_task(study.ask(2))
            await gate.reached()
            waiting, kept = asyncio.create_task(study.ask()), asyncio.create_task(study.ask())
            keyed = asyncio.create_task(study.ask(key="mine"))
            await asyncio.sleep(0)
            for task in (written, waiting):
                task.cancel()
            gate.open()
            answers = await asyncio.gather(written, waiting, kept, keyed, return_exceptions=True)
            assert [type(one).__name__ for one in answers[:2]] == ["CancelledError"] * 2
        return answers[2:]

    kept, keyed = asyncio.run(main())
    near = Study("page", storage)
    assert {ticket.id for ticket in near.tickets()} == {kept.id, keyed.id}
    kinds = [event.kind for event in near.events()]
    assert kinds.count(Kind.ASKED) == 4  # of five, one was never made
    near.check()


def test_a_keyed_ask_that_is_cancelled_is_had_again(storage, monkeypatch):
    gate = Gate(monkeypatch)

    async def main():
        async with opened(storage) as study:
            task = asyncio.create_task(study.ask(key="mine"))
            await gate.reached()
            task.cancel()
            gate.open()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await study.ask(key="mine")

    ticket = asyncio.run(main())
    assert [one.id for one in Study("page", storage).tickets()] == [ticket.id]


def test_tickets_of_an_answer_that_comes_as_the_caller_is_cancelled_go_back(storage):
    """At every number of steps of the loop: whatever is under way then, no ticket is lost."""

    async def main():
        told = 0
        async with opened(storage) as study:
            for steps in range(40):
                task = asyncio.create_task(study.ask())
                for _ in range(steps):
                    await asyncio.sleep(0.0005)
                task.cancel()
                answers = await asyncio.gather(task, return_exceptions=True)
                if not isinstance(answers[0], BaseException):
                    told += await study.tell(answers[0], 1)
        return told

    told = asyncio.run(main())
    near = Study("page", storage)
    assert near.outstanding == 0
    assert near.status()["told"] == told


def test_the_loop_goes_on_while_a_study_waits_for_its_disk(storage, monkeypatch):
    gate = Gate(monkeypatch)

    async def main():
        async with opened(storage) as study:
            task = asyncio.create_task(study.ask())
            await gate.reached()
            for _ in range(100):
                await asyncio.sleep(0)
            looked = await study.beliefs()  # nor does who looks wait for who decides
            assert not task.done()
            gate.open()
            return await task, looked

    ticket, looked = asyncio.run(main())
    assert ticket.arm in ARMS
    assert looked["arm"] == ARMS


# A service from afar


@pytest.fixture
def service(tmp_path):
    with running(tmp_path) as result:
        yield result


def test_a_service_is_awaited(service):
    async def main():
        async with belman.AsyncClient(service.url, connections=4) as client:
            study = await client.create("far", ARMS, seed=3, family=belman.families.Bernoulli())
            tickets = await asyncio.gather(*(study.ask() for _ in range(20)))
            news = await asyncio.gather(*(study.tell(one, 1) for one in tickets))
            assert len(await study.ask(2)) == 2
            assert await client.studies() == ["far"]
            with pytest.raises(UnknownStudyError):
                await client.study("fra")
            with pytest.raises(ArmError):
                await study.retire_arm("red")
            beliefs = await study.beliefs()
        with pytest.raises(ServiceError, match="closed"):
            await study.ask()
        return tickets, news, beliefs

    tickets, news, beliefs = asyncio.run(main())
    assert len({ticket.id for ticket in tickets}) == 20
    assert all(news)
    near = Study("far", service.storage)
    assert str(beliefs) == str(near.beliefs())
    assert near.outstanding == 2


def test_a_cancelled_ask_of_a_service_leaves_no_ticket_out(service):
    async def main():
        told = 0
        async with belman.AsyncClient(service.url, connections=2) as client:
            study = await client.create("far", ARMS)
            for steps in range(30):
                tasks = [
                    asyncio.create_task(study.ask()) for _ in range(3)
                ]  # one waits for a thread
                await asyncio.sleep(0.0005 * steps)
                for task in tasks:
                    task.cancel()
                for result in await asyncio.gather(*tasks, return_exceptions=True):
                    if not isinstance(result, BaseException):
                        told += await study.tell(result, 1)
        return told

    told = asyncio.run(main())
    near = Study("far", service.storage)
    assert near.outstanding == 0
    assert near.status()["told"] == told


def test_connections_are_a_number():
    with pytest.raises(SettingError, match="connections"):
        belman.AsyncClient("http://127.0.0.1:1", connections=0)
