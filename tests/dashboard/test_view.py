"""What the page shows: series that grow coarser without losing count, views of few and many arms,
streams, the demo.
"""

from __future__ import annotations

import asyncio
import http.client
import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from belman.dashboard.timeline import Timeline

from belman import BelMan
from belman.dashboard import demo, timeline, view
from belman.dashboard.feed import Feed
from belman.dashboard.view import Snapshot
from belman.exposure import Constant, Evidence, FadingEvidence, Paper
from belman.service.dial import dial_of, exposure_at
from belman.service.metrics import Metrics
from belman.service.registry import Registry
from belman.service.views import jsonable, status
from belman.studies import Event, Kind, Storage, Study, open_study
from tests.service.running import running
from tests.waiting import HANG


def log(asks, rewards):
    """A log in which arms are asked and rewards told, in turn."""
    events = [Event(1, int(Kind.CREATED), 0.0)]
    for arm, reward in zip(asks, rewards, strict=True):
        number = len(events) + 1
        events.append(Event(number, int(Kind.ASKED), 0.0, arm=arm))
        events.append(Event(number + 1, int(Kind.TOLD), 0.0, arm=arm, ticket=number, reward=reward))
    return events


@pytest.mark.parametrize("turns", [0, 1, 7, 240, 241, 1_000, 5_003])
def test_a_timeline_loses_no_count(turns):
    luck = np.random.default_rng(turns)
    asks, rewards = (
        luck.integers(0, 1 + np.arange(turns) // 50 % 7, turns).tolist(),
        luck.random(turns).tolist(),
    )
    found, events = Timeline(), log(asks, rewards)
    for start in range(0, len(events), 97):
        found.take(events[start : start + 97])
    assert found.asked.sum() == turns
    np.testing.assert_array_equal(
        found.asked, np.bincount(asks, minlength=len(found.asked)) if asks else []
    )
    shares = found.shares()
    assert len(shares.decisions) <= timeline.MAX_SHARES + 1
    widths = np.diff(np.concatenate([[0], shares.decisions]))
    assert widths.sum() == turns
    start = 0
    for width, share in zip(widths, shares.share, strict=True):
        own = np.bincount(asks[start : start + width], minlength=len(found.asked)) / width
        np.testing.assert_allclose(share, own)
        start += width
    count, total = found.earnings()
    assert len(count) <= timeline.MAX_POINTS + 2
    np.testing.assert_allclose(total, np.concatenate([[0.0], np.cumsum(rewards)])[count], atol=1e-9)
    assert count[-1] == turns


def test_past_data_are_not_earned():
    found = Timeline()
    found.take([Event(1, int(Kind.RECORDED), 0.0, arm=0, reward=1.0)])
    assert found.earned == 0.0
    assert found.number == 1


def test_what_counts_is_earned_when_its_window_closes_and_corrected_later(storage):
    now = [1000.0]
    study = open_study("study", ["a", "b"], storage=storage, window=60, clock=lambda: now[0])
    tickets = study.ask(4)
    for reward in (0, 1):
        for ticket in tickets[:3]:
            study.tell(ticket, reward)
    found = Timeline(study.settings)
    found.take(study.events(), now[0])
    assert found.earnings()[0].tolist() == [0]
    before = study.moment
    now[0] += 60.0
    assert study.moment != before  # so that the page moves, though nothing was written
    found.take(study.events(found.number), now[0])
    assert [list(part)[-1] for part in found.earnings()] == [4, 3.0]
    study.correct(tickets[0], 0, "refund")
    found.take(study.events(found.number), now[0])
    assert [list(part)[-1] for part in found.earnings()] == [4, 2.0]


@pytest.fixture
def storage(tmp_path):
    found = Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    yield found
    found.close()


def test_a_view_says_what_the_study_says(storage):
    study = open_study("seen", ["a", ("b", 2), "c"], storage=storage, seed=1)
    for _ in range(20):
        ticket = study.ask()
        study.tell(ticket.id, float(ticket.arm == "c"))
    study.retire_arm("a")
    view = Feed(study).view([])
    table = study.beliefs()
    assert view["number"] == study.number
    assert {arm["label"]: arm["plays"] for arm in view["arms"]} == {
        str(arm): plays for arm, plays in zip(table["arm"], table["plays"], strict=True)
    }
    assert view["arms"][0]["label"] == "c"
    assert view["earned"]["total"][-1] == study.status()["reward"]
    assert view["earned"]["uniform"][-1] == pytest.approx(
        20 * np.mean(table["expected reward"]), rel=1e-4
    )
    assert view["earned"]["low"][-1] < view["earned"]["uniform"][-1] < view["earned"]["high"][-1]
    shares = np.array([*view["shares"]["series"], view["shares"]["rest"]])
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, atol=1e-4)
    areas = [np.trapezoid(curve, view["densities"]["x"]) for curve in view["densities"]["series"]]
    np.testing.assert_allclose(areas, 1.0, atol=0.02)
    assert view["why"]["rows"][0]["label"] == str(study.explain()["arm"][0])
    json.dumps(jsonable(view), allow_nan=False)


def test_the_same_moment_is_worked_out_once_and_the_next_one_anew(storage, monkeypatch):
    study = open_study("seen", ["a", "b"], storage=storage)
    feed, made = Feed(study), []
    real = Study.agent
    monkeypatch.setattr(Study, "agent", lambda self: made.append(1) or real(self))
    feed.view([])
    feed.view([1])
    assert len(made) == 1
    study.ask()
    assert feed.view([])["status"]["asked"] == 1
    assert len(made) == 2


def test_a_view_is_worked_out_once_for_all_who_pin_the_same(storage, monkeypatch):
    study = open_study("seen", ["a", "b", "c"], storage=storage)
    feed, made, real = Feed(study), [], Snapshot.view
    monkeypatch.setattr(Snapshot, "view", lambda *given: made.append(given[2]) or real(*given))
    first = feed.views([(), (1,)])
    assert feed.views([()]) == {(): first[()]}
    assert feed.views([(1,), ()]) == first
    assert made == [(), (1,)]


def test_pinned_arms_are_shown_beside_the_top_ones(storage):
    study = open_study("many", [f"arm {i}" for i in range(50)], storage=storage)
    feed = Feed(study)
    assert len(feed.view([])["arms"]) == 6
    pinned = feed.view([3, 49, 999])
    assert [arm["id"] for arm in pinned["arms"][-1:]] == [49]
    assert (
        len(pinned["densities"]["series"])
        == len(pinned["arms"])
        == len(pinned["manifold"]["points"])
    )
    assert [arm["label"] for arm in feed.search("ARM 4", 3)["arms"]] == [
        "arm 4",
        "arm 40",
        "arm 41",
    ]


def test_a_stream_sends_a_view_when_something_happens(tmp_path):
    with running(tmp_path) as service:
        study = open_study("live", ["a", "b"], storage=service.storage)
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=HANG)
        connection.request("GET", "/api/studies/live/live")
        response = connection.getresponse()
        assert response.headers["content-type"].startswith("text/event-stream")

        def next_view():
            while not (line := response.readline()).startswith(b"data: "):
                assert line
            return json.loads(line[6:])

        assert next_view()["number"] == 1
        study.ask()
        assert next_view()["number"] == 2
        service.app.state.registry.stopping.set()  # a server that stops ends its streams
        response.read()
        connection.close()


def test_a_demo_plays_and_finds_the_best_button(storage, monkeypatch):
    monkeypatch.setattr(demo, "VISITORS", 400)
    monkeypatch.setattr(demo, "PER_SECOND", 1e9)
    monkeypatch.setattr(demo, "DELAY", 0.0)

    async def run():
        registry = Registry(storage, Metrics(), False)
        await demo.play(registry, demo.new_study(storage, seed=7).name, seed=7)
        assert demo.new_study(storage).name == "demo-2"

    asyncio.run(run())
    study = Study("demo", storage)
    assert study.status()["told"] == 400
    assert study.status()["outstanding"] == 0


def test_a_demo_ends_with_the_service(storage, monkeypatch):
    """Visitors who have not decided yet go home too: nothing asks or tells where nobody answers any
    more.
    """
    monkeypatch.setattr(demo, "PER_SECOND", 1e9)

    async def run():
        registry = Registry(storage, Metrics(), False)
        playing = registry.start_task(
            demo.play(registry, demo.new_study(storage, seed=7).name, seed=7)
        )
        while not storage.names() or not Study("demo", storage).status()["outstanding"]:
            await asyncio.sleep(0.01)
        await registry.close()
        return playing.cancelled(), len(asyncio.all_tasks())

    cancelled, left = asyncio.run(run())
    assert cancelled
    assert left <= 2  # this one, and the door to the study


@pytest.mark.parametrize("dial", [0.0, 0.05, 0.3, 0.5, 0.85, 1.0])
def test_the_dial_reads_back(dial):
    assert dial_of(exposure_at(dial)) == pytest.approx(dial)


OTHERS = [
    Constant(0.5),
    Paper(),
    Evidence(pool=7.0),
    Evidence(gain=0.0),
    Evidence(horizon=50),
    FadingEvidence(p=2.0),
]


@pytest.mark.parametrize("exposure", OTHERS)
def test_the_dial_stands_nowhere_for_other_exposures(exposure):
    assert dial_of(exposure) is None


def test_a_bad_study_shows_as_bad_and_breaks_no_list(tmp_path, monkeypatch):
    with running(tmp_path) as service:
        for name in ("bad", "good"):
            open_study(name, ["a", "b"], storage=service.storage)

        def counts(study):
            if study.name == "bad":
                raise FloatingPointError("a belief without precision")
            return status(study)

        monkeypatch.setattr("belman.dashboard.routes.status", counts)
        bad, good = service.send("GET", "/api/overview").json["studies"]
        why = "FloatingPointError: a belief without precision"
        assert (bad, good["name"]) == ({"name": "bad", "problem": why}, "good")


def test_what_the_page_is_built_from_is_pinned_without_addresses():
    web = Path(view.__file__).parent / "web"
    lock = (web / "package-lock.json").read_text()
    assert "resolved" not in lock
    assert "http" not in lock
    packages = json.loads(lock)["packages"]
    assert all("integrity" in one for name, one in packages.items() if name)
    wanted = json.loads((web / "package.json").read_text())
    for group in ("dependencies", "devDependencies"):
        assert packages[""][group] == wanted[group]


def test_a_study_that_cannot_be_opened_here_hides_no_other(tmp_path, monkeypatch):
    (tmp_path / "elsewhere_module.py").write_text(
        "from tests.own import Steady\nclass Theirs(Steady): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    theirs = importlib.import_module("elsewhere_module").Theirs()
    with running(tmp_path) as service:
        open_study("ours", ["a", "b"], storage=service.storage)
        open_study("theirs", ["a", "b"], policy=BelMan(theirs), storage=service.storage)
        del sys.modules["elsewhere_module"]
        found = service.send("GET", "/api/overview").json
        assert ([study["name"] for study in found["studies"]], found["total"]) == (["ours"], 2)
        refused = service.send("GET", "/api/studies/theirs")
        assert refused.status == 409
        assert "import elsewhere_module first" in refused.json["detail"]
