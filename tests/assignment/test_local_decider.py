"""A decider in this process: right arms, outcomes that count once, through restarts and forks."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest

import belman
from belman.assignment import LocalDecider, WeightsError, assign
from belman.assignment.fetching import Service
from belman.assignment.paced_log import PacedLog
from belman.errors import RewardError, ServiceError, SettingError
from belman.studies import Storage, Study, open_study
from tests.service.running import running
from tests.waiting import HANG, wait_until

pytestmark = pytest.mark.interpreted
UNITS = [f"user-{i}" for i in range(500)]


@pytest.fixture
def service(tmp_path):
    with running(tmp_path) as result:
        yield result


@pytest.fixture
def study(service):
    made = open_study("button", ["blue", "green"], storage=service.storage, seed=1, floor=0.1)
    made.publish(100, every=60)
    return made


def decider(service, study="button", **more):
    rule = {"fallback": "blue", "start": False, "timeout": HANG}
    return LocalDecider(service.url, study, **{**rule, **more})


def test_it_assigns_as_the_weights_say_and_every_outcome_counts(service, study):
    with LocalDecider(service.url, "button", fallback="blue", flush=0.01, refresh=0.05) as mine:
        wait_until(lambda: mine.weights is not None)
        result = [mine.decide(unit) for unit in UNITS]
        assert [one.arm for one in result] == [assign(study.weights(), unit).arm for unit in UNITS]
        assert all(mine.observe(one, 1.0, {"device": "phone"}) for one in result)
        wait_until(lambda: mine.counts.sent == len(UNITS))
        assert study.report(by="device").segments.names == ("phone",)
        study.retire_arm("green")
        wait_until(lambda: mine.weights.arms == ("blue",))
    told = {arm: study.copied()[0].decider.learnt(arm).tells for arm in study.arms}
    assert told == {"blue": Counter(one.arm for one in result)["blue"]}
    study.check()


def test_without_weights_it_falls_back_and_says_why(service, study):
    now = [time.time()]
    mine = decider(service, clock=lambda: now[0])
    assert mine.decide("user-1")[:4] == ("user-1", "blue", None, None)
    assert mine.fetch()
    assert not mine.fetch()  # the same tag
    assert mine.decide("user-1").version == study.weights().version
    now[0] += 86_400.0
    late = mine.decide("user-1")
    assert (late.arm, late.version, mine.weights) == ("blue", None, None)
    mine.observe(late, 1.0)
    assert mine.send()
    assert study.copied()[0].decider.learnt("blue").tells == 1
    assert mine.close()
    gone = LocalDecider(service.url, "gone", fallback="red", start=False)
    assert not gone.fetch()
    assert "gone" in gone.problem
    assert gone.decide(7).arm == "red"
    gone.close()


def test_weights_do_not_wait_for_outcomes_that_are_slow_to_be_taken(service, study, monkeypatch):
    asked, taken, gone = threading.Event(), threading.Event(), []

    def slow(*batch):
        asked.set()
        taken.wait(HANG)
        gone.append(batch)

    monkeypatch.setattr(Service, "observe", slow)
    rule = {"start": True, "flush": 0.01, "refresh": 0.02}
    with decider(service, **rule) as mine:
        wait_until(lambda: mine.weights is not None)
        mine.observe(mine.decide("user-1"), 1.0)
        assert asked.wait(HANG)
        study.retire_arm("green")
        wait_until(lambda: mine.weights.arms == ("blue",))
        assert not gone
        taken.set()


def test_coroutines_decide_and_observe(service, study):
    mine = decider(service)
    mine.fetch()

    async def visit(unit):
        decision = mine.decide(unit)
        await asyncio.sleep(0)
        mine.observe(decision, 1.0)
        return decision.arm

    async def visits():
        return await asyncio.gather(*map(visit, UNITS))

    assert asyncio.run(visits()) == [assign(study.weights(), unit).arm for unit in UNITS]
    assert mine.close()
    assert study.status()["told"] == len(UNITS)


def test_it_believes_only_signed_weights_where_it_has_keys(service, study):
    key, other = study.signing_key, belman.assignment.SigningKey(bytes(32))
    right, wrong = (decider(service, keys={one.id: one.public}) for one in (key, other))
    assert right.fetch()
    assert not wrong.fetch()
    assert "not trusted" in wrong.problem
    assert wrong.decide("user-1").version is None
    right.close()
    wrong.close()


def test_a_batch_whose_answer_was_lost_counts_once(service, study, monkeypatch):
    mine = decider(service)
    mine.fetch()
    for unit in UNITS:
        mine.observe(mine.decide(unit), 1.0)
    real, lost = mine._service.observe, []

    def lose(key, rows):
        real(key, rows)
        if len(lost) < 2:
            lost.append(key)
            raise ServiceError("the answer was lost")

    monkeypatch.setattr(mine._service, "observe", lose)
    assert not mine.send()
    assert mine.counts.waiting == len(UNITS)
    assert not mine.send()
    assert mine.send()
    assert len(set(lost)) == 1
    assert study.status()["told"] == len(UNITS) == mine.counts.sent
    mine.close()


def test_a_bad_outcome_takes_no_other_with_it(service, study):
    mine = decider(service)
    mine.fetch()
    result = [mine.decide(unit) for unit in UNITS[:20]]
    for one in result:
        mine.observe(one, 1.0)
    mine.observe(result[3]._replace(arm="red"), 1.0)
    mine.observe(result[4], 7.0)
    assert not mine.send()  # two were refused, and are handed back
    assert mine.counts == (0, 20, 2, 0)
    assert study.status()["told"] == 20
    mine.close()


def test_outcomes_are_held_until_their_window_is_over(service):
    open_study("button", ["blue", "green"], storage=service.storage, window=30.0).publish(9)
    now = [time.time() - 1_000.0]
    mine = decider(service, clock=lambda: now[0], hold=30.0)
    mine._weights = Study("button", service.storage).weights()
    mine.observe(mine.decide("user-1"), 1.0)
    assert mine.send()
    assert mine.counts.waiting == 1
    now[0] += 30.0
    assert mine.send()
    assert mine.counts.sent == 1
    mine.close()


def test_what_cannot_be_is_refused():
    for wrong in ({"refresh": 0.0}, {"flush": -1.0}, {"hold": -1.0}):
        with pytest.raises(WeightsError, match="give seconds"):
            LocalDecider("http://127.0.0.1:9", "x", fallback="a", **wrong)
    for url in ("ftp://x", "http://me:secret@x", 5, "http://x:99999"):
        with pytest.raises(SettingError, match=r"not an address|opened by a key") as raised:
            LocalDecider(url, "x", fallback="a")
        assert "secret" not in str(raised.value)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_sends_its_own_outcomes_and_none_of_its_parents(service, study):
    script = f"""
import os, sys
from belman.assignment import LocalDecider
mine = LocalDecider({service.url!r}, "button", fallback="blue", start=False)
assert mine.fetch()
for i in range(10):
    mine.observe(mine.decide(f"user-{{i}}"), 1.0)
child = os.fork()
for i in range(10, 15 if child else 13):
    mine.observe(mine.decide(f"user-{{i}}"), 1.0)
assert mine.close()
assert mine.counts.sent == (15 if child else 3), mine.counts
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=HANG)
    assert done.returncode == 0, done.stderr.decode()
    assert study.status()["told"] == 18


def serve(url, port):
    words = ["serve", "--storage", url, "--host", "127.0.0.1", "--port", str(port)]
    return subprocess.Popen(
        [sys.executable, "-m", "belman", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_a_service_that_is_killed_and_restarted_loses_nothing(tmp_path):
    from belman.service.app import bind

    listening = bind("127.0.0.1", 0)
    port = listening.getsockname()[1]
    listening.close()
    url = f"sqlite:///{tmp_path}/studies.db"
    storage = Storage(url)
    study = open_study("button", ["blue", "green"], storage=storage, seed=1, floor=0.1)
    study.publish(50, every=0.2)
    wrong, decided, stop = [], Counter(), threading.Event()
    with LocalDecider(
        f"http://127.0.0.1:{port}", "button", fallback="blue", refresh=0.1, flush=0.02, timeout=5.0
    ) as mine:

        def decide(part: int) -> None:
            number = 0
            while not stop.wait(0.002):
                unit, number = f"{part}-{number}", number + 1
                one = mine.decide(unit)
                known = mine.weights
                same = known is not None and known.version == one.version
                if same and assign(known, unit).arm != one.arm:
                    wrong.append(one)
                mine.observe(one, float(one.arm == "green"))
                decided[part] += 1

        threads = [threading.Thread(target=decide, args=(part,)) for part in range(2)]
        process = serve(url, port)
        try:
            for thread in threads:
                thread.start()
            wait_until(lambda: mine.counts.sent > 200)
            process.send_signal(signal.SIGKILL)
            process.wait(HANG)
            before = mine.counts.sent
            assert study.status()["told"] >= before  # what was acknowledged is there
            process = serve(url, port)
            wait_until(lambda: mine.counts.sent > before + 200)
        finally:
            stop.set()
            for thread in threads:
                thread.join(HANG)
            sent = mine.close(HANG)
            process.terminate()
            process.wait(HANG)
    assert sent
    assert not wrong
    assert mine.counts[2:] == (0, 0)
    assert study.status()["told"] == mine.counts.sent == sum(decided.values())
    study.check()
    storage.close()


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines", "\u20ac", 7])
def test_a_key_that_no_header_holds_is_refused_at_the_door(key):
    with pytest.raises(SettingError, match="not a key of a service") as refused:
        LocalDecider("http://127.0.0.1:1", "shop", fallback="blue", key=key, start=False)
    assert repr(key) not in str(refused.value)


@pytest.mark.parametrize(
    "reward", [10**400, "x", None, math.nan, math.inf], ids=lambda one: str(one)[:9]
)
def test_an_outcome_that_no_study_can_learn_is_refused_at_once(reward):
    mine = LocalDecider("http://127.0.0.1:9", "button", fallback="blue", start=False)
    with pytest.raises(RewardError, match="not a finite number"):
        mine.observe(mine.decide("user-1"), reward)
    assert mine.counts.waiting == 0


def test_what_a_service_refuses_is_handed_back_counted_and_logged(service, study, caplog):
    mine = decider(service)
    mine.fetch()
    decisions = list(map(mine.decide, UNITS))
    other = {"blue": "green", "green": "blue"}[decisions[3].arm]
    wrong = {3: decisions[3]._replace(arm=other), 7: decisions[7]._replace(version=10**6)}
    for i, decision in enumerate(decisions):
        mine.observe(wrong.get(i, decision), 1.0)
    assert not mine.send()
    assert mine.counts == (0, len(UNITS) - 2, 2, 0), mine.problem
    back = mine.take_refused()
    assert [one.row["unit"] for one in back] == [UNITS[3], UNITS[7]]
    assert "assigns" in back[0].why
    assert "was never published" in back[1].why
    assert mine.take_refused() == []
    assert {one.levelname for one in caplog.records} == {"WARNING"}
    assert "an outcome was refused: " in caplog.text
    assert mine.send()
    rows = [{**back[0].row, "arm": decisions[3].arm}]
    with belman.Client(service.url) as client:
        assert client.study(study.name).observe(rows) == 1
    assert mine.close()
    assert study.status()["told"] == len(UNITS) - 1


def test_an_outcome_that_the_study_never_takes_holds_up_no_other(service):
    by_country = open_study(
        "by country", ["a", "b"], segments=["country"], storage=service.storage, seed=1
    )
    segment = by_country.publish(100, segment={"country": "fr"}).segment
    mine = decider(service, study="by country", segment=segment, fallback="a")
    mine.observe(mine.decide("user-1"), 1.0)  # by no weights, of which such a study learns nothing
    assert mine.fetch()
    mine.observe(mine.decide("user-2"), 1.0)
    assert not mine.send()
    assert mine.counts == (0, 1, 1, 0), mine.problem
    (back,) = mine.take_refused()
    assert back.row["unit"] == "user-1"
    assert "learns by segment" in back.why
    assert mine.close()
    assert by_country.status()["told"] == 1


def test_arms_that_are_truths_come_back(service):
    truths = belman.open_study("truths", [True, False], storage=service.storage, seed=1)
    truths.publish(100)
    mine = decider(service, study="truths", fallback=False)
    assert mine.fetch()
    assert {type(mine.decide(unit).arm) for unit in UNITS} == {bool}
    for unit in UNITS:
        mine.observe(mine.decide(unit), 1.0)
    assert mine.close()
    assert truths.status()["told"] == len(UNITS)
    with belman.Client(service.url) as client:
        client.study("truths").ship(True)
    assert truths.shipped is True


@pytest.mark.parametrize(("wrong", "why"), [("chekout", "no study"), ("checkout", "key")])
def test_a_decider_that_gets_no_weights_says_so_at_a_decent_pace(tmp_path, caplog, wrong, why):
    with running(tmp_path, require_keys=why == "key") as service:
        belman.open_study("checkout", ["blue", "green"], storage=service.storage).publish(10)
        mine = decider(service, wrong)
        for _ in range(5):
            assert not mine.fetch()
        assert mine.decide("user-1").arm == mine.fallback
        mine.close()
    (line,) = [one for one in caplog.records if one.name == "belman.assignment"]
    assert line.levelname == "WARNING"
    assert why in line.getMessage()
    assert f"every unit gets {mine.fallback!r}" in line.getMessage()


def test_a_line_that_repeats_is_logged_once_a_minute_with_its_count(caplog):
    now = [0.0]
    log = PacedLog("belman.assignment", clock=lambda: now[0])
    for _ in range(3):
        log.warn("away")
    now[0] = 60.0
    log.warn("away")
    assert [one.getMessage() for one in caplog.records] == [
        "away",
        "away (2 times more since it was last said)",
    ]
    assert sum(log.warn(str(i)) for i in range(1_000)) == 1_000
    assert len(log._said) <= 100
