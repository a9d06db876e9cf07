"""The dispatcher: who is busy, what is learnt, who waits, what survives; from threads and from
coroutines.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter

import pytest

import belman
from belman import Dispatcher
from belman.deciders import state_file
from belman.dispatch import Breaker
from belman.dispatch.roster_file import FORMAT
from belman.errors import ArmError, BusyError, ServerError, SettingError, StateError
from tests.dispatch.clocks import Clock
from tests.waiting import HANG


def work(dispatcher, times, jobs):
    """One job after the other, each as long as its server takes."""
    served = Counter()
    for _ in range(jobs):
        server = dispatcher.assign()
        served[server] += 1
        dispatcher.completed(server, time=times[server])
    return served


def state(dispatcher):
    return dispatcher.to_json()


def test_a_server_has_one_job_at_a_time():
    dispatcher = Dispatcher(["a", "b"], seed=1, clock=Clock())
    first, second = dispatcher.assign(), dispatcher.assign()
    assert {first, second} == {"a", "b"}
    assert dispatcher.free == ()
    before = state(dispatcher)
    with pytest.raises(BusyError, match="no server is free: 2 busy"):
        dispatcher.assign()
    assert state(dispatcher) == before
    dispatcher.completed(first, time=1.0)
    assert dispatcher.free == (first,)
    assert dispatcher.assign() == first


def test_at_most_so_many_jobs_at_once():
    dispatcher = Dispatcher(["a", "b", "c"], limit=2, seed=1)
    servers = [dispatcher.assign(), dispatcher.assign()]
    with pytest.raises(BusyError, match="2 jobs are under way, which is the limit"):
        dispatcher.assign()
    dispatcher.release(servers[0])
    dispatcher.assign()


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_it_finds_the_fast_server_whatever_the_unit_of_time(scale):
    times = {"slow": 3.0 * scale, "fast": 1.0 * scale, "slower": 5.0 * scale}
    served = work(Dispatcher(times, seed=7), times, 300)
    assert served["fast"] > 260


def test_it_finds_the_server_that_succeeds():
    dispatcher = Dispatcher(["good", "bad"], learns="success", seed=7)
    served = Counter()
    for turn in range(300):
        server = dispatcher.assign()
        served[server] += 1
        (dispatcher.completed if server == "good" or turn % 4 == 0 else dispatcher.failed)(server)
    assert served["good"] > 250
    assert dispatcher.beliefs().row("good")["expected reward"] > 0.9


def test_the_clock_measures_what_is_not_told():
    clock = Clock()
    dispatcher = Dispatcher(["only"], clock=clock, seed=1)
    for _ in range(200):
        dispatcher.assign()
        clock.now += 0.5
        dispatcher.completed("only")
    assert dispatcher.beliefs().row("only")["expected time"] == pytest.approx(0.5, rel=0.02)


def test_a_server_that_fails_at_once_is_not_the_fastest():
    dispatcher = Dispatcher(["works", "breaks"], seed=3)
    served = Counter()
    for _ in range(200):
        server = dispatcher.assign()
        served[server] += 1
        if server == "works":
            dispatcher.completed(server, time=1.0)
        else:
            dispatcher.failed(server, time=0.001)
    assert served["works"] > 170
    assert dispatcher.status().row("breaks")["failed"] == served["breaks"]


def test_every_queue_learns_for_itself():
    dispatcher = Dispatcher(["left", "right"], queues=["letters", "parcels"], seed=5)
    served = Counter()
    for _ in range(200):
        for queue, fast in (("letters", "left"), ("parcels", "right")):
            server = dispatcher.assign(queue)
            served[queue, server] += 1
            dispatcher.completed(server, time=1.0 if server == fast else 4.0)
    assert served["letters", "left"] > 160
    assert served["parcels", "right"] > 160
    with pytest.raises(ServerError, match=r"unknown queue 'leters'.*did you mean 'letters'"):
        dispatcher.assign("leters")
    with pytest.raises(ServerError, match="unknown queue None"):
        dispatcher.assign()


def test_servers_come_and_go():
    dispatcher = Dispatcher(["a", "b"], seed=1)
    dispatcher.pause("a")
    assert [dispatcher.assign()] == ["b"]
    with pytest.raises(BusyError, match="1 busy, 1 paused"):
        dispatcher.assign()
    with pytest.raises(ServerError, match="busy"):
        dispatcher.remove_server("b")
    dispatcher.completed("b", time=1.0)
    dispatcher.remove_server("b")
    dispatcher.add_server("c")
    assert dispatcher.servers == ("a", "c")
    assert dispatcher.assign() == "c"
    dispatcher.resume("a")
    assert dispatcher.assign() == "a"
    assert dispatcher.status()["now"] == ["busy", "busy"]


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        (lambda d: d.completed("b"), ServerError, "has no job: it was never assigned"),
        (lambda d: d.failed("b"), ServerError, "never assigned"),
        (lambda d: d.release("b"), ServerError, "never assigned"),
        (lambda d: d.completed("z"), ServerError, "unknown server 'z'"),
        (lambda d: d.completed("a", time=-1.0), ServerError, "time=-1.0"),
        (lambda d: d.completed("a", time="long"), ServerError, "long"),
        (lambda d: d.failed("a", time=float("nan")), ServerError, "nan"),
        (lambda d: d.add_server("a"), ArmError, "there already"),
        (lambda d: d.remove_server("z"), ServerError, "unknown server"),
        (lambda d: d.pause("z"), ServerError, "unknown server"),
    ],
)
def test_bad_input_changes_nothing(act, error, words):
    dispatcher = Dispatcher(["a", "b"], seed=1, clock=Clock())
    while dispatcher.assign() != "a":
        dispatcher.release("b")
    before = state(dispatcher)
    with pytest.raises(error, match=words):
        act(dispatcher)
    assert state(dispatcher) == before


@pytest.mark.parametrize(
    "settings",
    [
        {"learns": "speed"},
        {"limit": 0},
        {"limit": True},
        {"penalty": 0.5},
        {"queues": []},
        {"queues": ["a", "a"]},
    ],
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(SettingError):
        Dispatcher(["a"], **settings)


def test_it_goes_on_where_it_was_saved(tmp_path):
    times = {"slow": 3.0, "fast": 1.0, ("rack", 2): 2.0}
    clock = Clock()
    dispatcher = Dispatcher(
        times, queues=["x", "y"], limit=2, policy=belman.policies.q_ths(), seed=9, clock=clock
    )
    for turn in range(40):
        server = dispatcher.assign("xy"[turn % 2])
        dispatcher.completed(server, time=times[server])
    held = dispatcher.assign("x")
    clock.now += 4.0
    dispatcher.pause("slow")
    dispatcher.save(tmp_path / "state.json")
    again = Dispatcher.load(tmp_path / "state.json", clock=clock)
    assert again.busy == {held: "x"}
    assert state(again) == state(dispatcher)
    for each in (dispatcher, again):
        each.completed(held)
    for turn in range(40):
        servers = [each.assign("xy"[turn % 2]) for each in (dispatcher, again)]
        assert servers[0] == servers[1]
        for each in (dispatcher, again):
            each.completed(servers[0], time=times[servers[0]])
    assert state(again) == state(dispatcher)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "state.json"
    Dispatcher(["a"]).save(path)
    whole = path.read_text()
    for text, words in (
        (whole.replace('"spent": 0.0', '"spent": 1.0'), "checksum"),
        (whole[: len(whole) // 2], "not JSON"),
        (belman.Agent(["a"]).to_json(), "not the state of a dispatcher"),
    ):
        path.write_text(text)
        with pytest.raises(StateError, match=words):
            Dispatcher.load(path)
    with pytest.raises(StateError, match="cannot be read"):
        Dispatcher.load(tmp_path / "none.json")


def test_threads_never_share_a_server():
    dispatcher = Dispatcher(range(3), seed=1)
    held, clashes, done = set(), [], Counter()
    lock = threading.Lock()

    def customer():
        for _ in range(150):
            server = dispatcher.assign(timeout=None)
            with lock:
                clashes.extend([server] * (server in held))
                held.add(server)
            with lock:
                held.discard(server)
                done[server] += 1
            dispatcher.completed(server)

    threads = [threading.Thread(target=customer) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
    assert not clashes
    assert sum(done.values()) == 8 * 150
    assert dispatcher.waiting == 0
    assert len(dispatcher.free) == 3


def test_a_thread_gives_up_when_its_time_is_over():
    dispatcher = Dispatcher(["a"], seed=1)
    dispatcher.assign()
    with pytest.raises(BusyError):
        dispatcher.assign(timeout=0.05)
    assert dispatcher.waiting == 0


def test_coroutines_are_served_in_the_order_in_which_they_came():
    async def program():
        dispatcher = Dispatcher(["a", "b"], seed=1)
        order = []

        async def customer(number):
            async with dispatcher.job():
                order.append(number)
                await asyncio.sleep(0)

        await asyncio.gather(*(customer(number) for number in range(40)))
        return order, dispatcher

    order, dispatcher = asyncio.run(program())
    assert order == list(range(40))
    assert sum(dispatcher.status()["completed"]) == 40


def test_an_exception_is_a_failure_and_a_cancelled_job_is_none():
    async def program():
        dispatcher = Dispatcher(["a"], learns="success", seed=1)
        with pytest.raises(ZeroDivisionError):
            async with dispatcher.job():
                raise ZeroDivisionError
        holder = await dispatcher.assign_async()
        waiter = asyncio.create_task(dispatcher.assign_async())
        other = asyncio.create_task(dispatcher.assign_async())
        await asyncio.sleep(0)
        assert dispatcher.waiting == 2
        dispatcher.completed(holder)
        waiter.cancel()
        assert await other == "a"
        with pytest.raises(asyncio.CancelledError):
            await waiter
        dispatcher.release("a")
        return dispatcher

    dispatcher = asyncio.run(program())
    assert dispatcher.free == ("a",)
    assert dispatcher.status().row("a") == {
        "server": "a",
        "now": "free",
        "completed": 1,
        "failed": 1,
    }


def test_a_closed_loop_keeps_no_server():
    dispatcher = Dispatcher(["a"], seed=1)
    holder = dispatcher.assign()
    loop = asyncio.new_event_loop()
    task = loop.create_task(dispatcher.assign_async())
    loop.run_until_complete(asyncio.sleep(0))
    task._log_destroy_pending = False
    loop.close()
    dispatcher.completed(holder, time=1.0)
    assert dispatcher.free == ("a",)
    task.get_coro().close()


def edited(dispatcher, *path):
    """The text of a dispatcher with the last of a path in the place of what is there."""
    content = state_file.read(dispatcher.to_json(), "it", FORMAT)
    *names, last, value = path
    part = content
    for name in names:
        part = part[name]
    part[last] = value
    return state_file.write(content, FORMAT)


@pytest.mark.parametrize(
    "path",
    [
        ("spent", -1.0), ("unit", 0.0), ("sent", 0), ("rng", [1, 2, 3]), ("learns", "luck"),
        ("more", 1), ("agents", []), ("limit", "two"), ("breaker", "memory", 0.5),
        ("jobs", 0, "number", 9), ("jobs", 0, "server", "c"), ("jobs", 0, "began", 1.0),
        ("servers", 1, 1, "completed", -1), ("servers", 1, 1, "paused", 0),
        ("servers", 1, 1, "record", "rest", 10_000), ("servers", 1, 1, "record", "passed", 5),
        ("servers", 1, 1, "record", "failures", 16.0), ("servers", 0, 1, "slots", 0),
        ("servers", 1, 1, "slots", "drawn", 33), ("servers", 1, 1, "slots", "left", 10**6),
        ("servers", 1, 1, "slots", "completed", [1.0, 2.0]), ("servers", 1, 0, "a"),
        ("servers", 1, 1, "slots", "completed", [1e6]),
        ("servers", 1, 1, "slots", "rules", "most", 0), ("new_slots", "learnt"),
    ],
)  # fmt: skip
def test_a_state_that_no_dispatcher_has_is_refused(path):
    breaker = Breaker(memory=15)
    dispatcher = Dispatcher(["a", "b"], slots={"b": "learnt"}, breaker=breaker, clock=Clock())
    dispatcher.pause("a")
    for _ in range(2):
        dispatcher.completed(dispatcher.assign(), time=1.0)
    dispatcher.assign_job()
    kept = dispatcher.to_json()
    assert Dispatcher.from_json(kept, clock=Clock()).to_json() == kept
    with pytest.raises(StateError, match="does not hold a whole dispatcher"):
        Dispatcher.from_json(edited(dispatcher, *path))
