"""What the page shows: series that grow coarser without losing count, views of few and many arms,
streams, the demo.
"""

from __future__ import annotations

import asyncio
import http.client
import importlib
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from belman import BelMan
from belman.dashboard import demo, judgement
from belman.dashboard import view as view_of
from belman.dashboard.feed import Feed
from belman.dashboard.judgement import MOST
from belman.dashboard.past import MAX_BARS, Past
from belman.dashboard.view import PLAIN, Snapshot, Wanted
from belman.exposure import Constant, Evidence, FadingEvidence, Paper
from belman.service.metrics import Metrics
from belman.service.models import dial_of, exposure_at
from belman.service.registry import Registry
from belman.service.views import jsonable, status
from belman.studies import Storage, Study, open_study
from belman.studies.traffic.course import Course
from tests.service.running import running
from tests.waiting import HANG


@pytest.fixture
def storage(tmp_path):
    result = Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    yield result
    result.close()


def test_a_view_says_what_the_study_says(storage):
    study = open_study("seen", ["a", ("b", 2), "c"], storage=storage, seed=1, control="a")
    for _ in range(20):
        ticket = study.ask()
        study.tell(ticket.id, float(ticket.arm == "c"))
    feed = Feed(study)
    assert feed.judge()
    view = feed.view(Wanted(details=True))
    table, report = study.beliefs(), study.report(most=MOST).to_dict()
    assert view["number"] == study.number
    assert {arm["label"]: arm["plays"] for arm in view["arms"]} == {
        str(arm): plays for arm, plays in zip(table["arm"], table["plays"], strict=True)
    }
    assert (view["arms"][0]["label"], view["control"]) == ("c", "a")
    shown = {key: value for key, value in view["report"].items() if key not in ("arms", "time")}
    assert shown == {key: report[key] for key in shown}
    assert sorted(arm["id"] for arm in view["report"]["arms"]) == [0, 1, 2]
    assert view["earned"]["total"][-1] == study.status()["reward"]
    for key in ("split", "low", "high"):
        split = report["earned"]["fixed_split"]
        whole = {"split": split["middle"], "low": split["credible"][0]}
        whole["high"] = split["credible"][1]
        assert view["earned"][key][-1] == pytest.approx(whole[key], rel=1e-9)
    asks = np.array([*view["traffic"]["asks"], view["traffic"]["others"]])
    assert asks.sum() == 20
    assert dict(zip(view["drawn"], asks.sum(axis=1), strict=False)) == {
        arm["id"]: arm["asked"] for arm in view["arms"]
    }
    result = view["details"]
    areas = [
        np.trapezoid(curve, result["densities"]["x"]) for curve in result["densities"]["series"]
    ]
    np.testing.assert_allclose(areas, 1.0, atol=0.02)
    assert result["why"]["rows"][0]["label"] == str(study.explain()["arm"][0])
    assert [change["kind"] for change in view["changes"]] == ["created"]
    json.dumps(jsonable(view), allow_nan=False)


def told_once(feed):
    """What the page says more than once is the same everywhere, once the report is of the moment;
    until then the page shows what the report says.
    """
    feed._judgement._due = 0.0
    feed.judge()
    view = feed.view()
    report, rows = view["report"], {row["id"]: row for row in view["arms"]}
    assert report["number"] == view["number"]
    for arm in report["arms"]:
        row = rows[arm["id"]]
        assert row["best"] == pytest.approx(arm["chance_best"], abs=1e-6)
        assert row["plays"] == round(arm["plays"])
        assert row["expected"] == pytest.approx(arm["expected"], rel=1e-3)
        assert (row["asked"], row["told"], row["open"]) == (arm["asked"], arm["told"], arm["out"])
        assert row["share"] == pytest.approx(arm["share"], abs=1e-3)
        assert row["asked"] - row["told"] == row["open"]
    alarms = any(one["alarm"] for one in report["findings"])
    assert (report["state"] == "wrong") == alarms
    if alarms:
        assert "you may stop" not in report["sentence"]
    assert bool(report["floors"]) == (report["shipped"] is None)


def test_one_number_per_fact_over_the_life_of_a_study(storage):
    """With a window, learning early, floors, a guard-rail that takes an arm out, and shipping."""
    now = [1e9]
    settings = {"window": 3600.0, "floor": 0.05, "guard": {"refund": "< 0.2"}, "control": "a"}
    study = open_study("life", ["a", "b", "c"], storage=storage, seed=1, clock=lambda: now[0],
                       **settings)  # fmt: skip
    feed, rng = Feed(study), np.random.default_rng(1)
    told_once(feed)
    assert "Stops are wrong in at most 5.0 %" in feed.view()["report"]["promise"]
    for hour in range(10):
        for ticket in study.ask(30):
            if rng.random() < {"a": 0.2, "b": 0.6, "c": 0.5}[ticket.arm]:
                study.tell(ticket, 1, metrics={"refund": float(ticket.arm == "c")})
        told_once(feed)
        now[0] += 1800.0
        told_once(feed)
        if hour == 8:
            study.ship("b")
    assert study.retired == ("c",)
    view = feed.view()
    assert view["report"]["shipped"] == "b"
    assert [one["arm"] for one in view["report"]["retired"]] == ["c"]


def test_where_contexts_decide_there_is_no_one_next_arm(storage):
    study = open_study("seen", ["a", "b"], context=["age"], storage=storage, seed=1)
    study.tell(study.ask(context={"age": 3}), 1)
    view = Snapshot("seen", *study.copied()).view(Wanted(details=True))
    assert view["details"]["why"] is None
    assert len(view["details"]["arms"]) == 2


def test_an_arm_that_was_retired_keeps_its_traffic(storage):
    study = open_study("seen", ["a", "b", "c"], storage=storage, seed=1)
    for ticket in study.ask(9):
        study.tell(ticket, 1)
    study.retire_arm("a", "ugly")
    view = Feed(study).view()
    assert sum(map(sum, view["traffic"]["asks"])) + sum(view["traffic"]["others"]) == 9
    assert sorted(arm["arm"] for arm in view["report"]["arms"]) == ["b", "c"]
    assert view["changes"][0] | {"time": 0, "number": 0} == {
        "kind": "arm retired", "arm": "a", "reason": "ugly", "time": 0, "number": 0,
    }  # fmt: skip


def test_bars_of_time_are_few_and_lose_nothing():
    course, luck = Course(), np.random.default_rng(1)
    times = np.sort(1.7e9 + luck.random(5_000) * 3e6)
    for time in times.tolist():
        course.ask(int(luck.integers(0, 3)), time)
        course.earn(time, 1.0)
    past = Past(course, 3)
    bars = past.traffic([0, 1])
    assert len(bars["start"]) <= MAX_BARS + 1
    assert bars["start"][0] <= times[0]
    assert times[-1] < bars["start"][-1] + bars["width"]
    for start, *counts in zip(bars["start"], *bars["asks"], bars["others"], strict=True):
        inside = (start <= times) & (times < start + bars["width"])
        assert sum(counts) == inside.sum()
    earned = past.earnings(0.5, 0.1)
    assert earned["rewards"][-1] == earned["total"][-1] == 5_000
    assert (earned["split"][-1], earned["rewards"][0]) == (2_500.0, 0)
    assert Past(Course(), 2).traffic([0, 1])["start"] == Past(Course(), 2).earnings(1, 1)["time"]


def test_a_verdict_is_worked_out_once_for_a_moment_and_seldom(storage, monkeypatch):
    study = open_study("seen", ["a", "b"], storage=storage, control="a")
    feed, made = Feed(study), []
    real = judgement.report_of
    monkeypatch.setattr(
        judgement, "report_of", lambda *a, most: made.append(most) or real(*a, most=most)
    )
    first = json.loads(feed.views([PLAIN])[PLAIN])
    assert (first["report"]["number"], made) == (1, [judgement.FIRST])
    assert feed.judge()
    assert not feed.judge()
    study.ask()
    monkeypatch.setattr(feed._judgement, "_due", math.inf)
    assert not feed.judge()  # not due yet
    assert made == [judgement.FIRST, judgement.MOST]
    later = json.loads(feed.views([PLAIN])[PLAIN])
    assert (later["number"], later["report"]["number"]) == (2, 1)
    monkeypatch.setattr(feed._judgement, "_due", 0.0)
    assert feed.judge()
    monkeypatch.setattr(feed._judgement, "_due", 0.0)
    assert not feed.judge()  # nothing has happened since


def test_a_verdict_that_took_long_is_not_waited_for_again_as_long(storage, monkeypatch):
    study = open_study("slow", ["a", "b"], storage=storage)
    clock = iter([0.0, 100.0])  # it was compiled, say
    monkeypatch.setattr(judgement.time, "thread_time", lambda: next(clock))
    made = judgement.Judgement("slow")
    state, now = study.copied()
    made.begin(state, now)
    assert made.complete(state, now, "first")
    assert made._due - judgement.time.monotonic() <= judgement.MOST_SECONDS


def test_a_study_of_many_arms_is_shown_before_it_is_judged(storage):
    study = open_study("many", [f"arm {i}" for i in range(judgement.EASY + 1)], storage=storage)
    feed = Feed(study)
    assert feed.view()["report"] is None
    assert feed.judge()
    first = feed.view()["report"]
    assert sum(arm["anytime"] is not None for arm in first["arms"]) == judgement.FIRST
    assert feed.judge()
    whole = feed.view()["report"]
    assert whole["sentence"] == first["sentence"]
    assert all(arm["anytime"] is not None for arm in whole["arms"])


def test_the_same_moment_is_worked_out_once_and_the_next_one_anew(storage, monkeypatch):
    study = open_study("seen", ["a", "b"], storage=storage)
    feed, made = Feed(study), []
    real = Study.copied
    monkeypatch.setattr(Study, "copied", lambda self: made.append(1) or real(self))
    feed.view()
    feed.view(Wanted((1,)))
    assert len(made) == 1
    study.ask()
    assert feed.view()["status"]["asked"] == 1
    assert len(made) == 2


def test_a_view_is_worked_out_once_for_all_who_pin_the_same(storage, monkeypatch):
    study = open_study("seen", ["a", "b", "c"], storage=storage)
    feed, made, real = Feed(study), [], Snapshot.view
    monkeypatch.setattr(Snapshot, "view", lambda *given: made.append(given[1]) or real(*given))
    one, other = Wanted(), Wanted((1,))
    first = feed.views([one, other])
    assert feed.views([one]) == {one: first[one]}
    assert feed.views([other, one]) == first
    feed.judge()
    assert feed.views([one, other]).keys() == first.keys()
    assert made == [one, other]


def test_pinned_arms_and_control_are_shown_beside_the_top_ones(storage):
    arms = [f"arm {i}" for i in range(60)]
    study = open_study("many", arms, storage=storage, control="arm 58")
    feed = Feed(study)
    view = feed.view()
    assert (len(view["arms"]), len(view["drawn"])) == (view_of.MAX_LISTED + 1, view_of.TOP + 1)
    pinned = feed.view(Wanted((3, 57, 999), True))
    assert {57, 58} < {arm["id"] for arm in pinned["arms"]}
    assert {57, 58} < set(pinned["drawn"])
    assert (
        len(pinned["details"]["densities"]["series"])
        == len(pinned["drawn"])
        == len(pinned["details"]["manifold"]["points"])
        == len(pinned["traffic"]["asks"])
    )
    assert feed.judge()
    assert "arm 58" in [arm["arm"] for arm in feed.view()["report"]["arms"]]
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
    web = Path(view_of.__file__).parent / "web"
    lock = (web / "package-lock.json").read_text()
    assert "resolved" not in lock
    assert "http" not in lock
    packages = json.loads(lock)["packages"]
    assert all("integrity" in one for name, one in packages.items() if name)
    wanted = json.loads((web / "package.json").read_text())
    assert packages[""]["devDependencies"] == wanted["devDependencies"]


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
        result = service.send("GET", "/api/overview").json
        assert ([study["name"] for study in result["studies"]], result["total"]) == (["ours"], 2)
        refused = service.send("GET", "/api/studies/theirs")
        assert refused.status == 409
        assert "import elsewhere_module first" in refused.json["detail"]


@pytest.mark.parametrize(
    ("settings", "table", "column"),
    [
        ({"segments": ["country"]}, "segments", "arm"),
        ({"context": ["country"]}, "coefficients", "of"),
    ],
)
def test_a_view_shows_what_is_known_by_context(storage, settings, table, column):
    study = open_study("seen", ["a", "b"], storage=storage, seed=1, **settings)
    for country in ("fr", "de") * 5:
        ticket = study.ask(context={"country": country})
        study.tell(ticket, int((ticket.arm == "a") == (country == "fr")))
    result = Feed(study).view()["contexts"][table]
    assert len(set(map(len, result.values()))) == 1
    assert "a" in result[column]
    assert "contexts" not in Feed(open_study("plain", ["a"], storage=storage)).view()
