"""Calls that a study routes: chances, sessions, targets that cannot be had, late qualities."""

from __future__ import annotations

import asyncio
import csv
import math

import pytest

import belman
from belman.bridges.routed_calls import RoutedCalls, check_patience
from belman.errors import BelmanError, SettingError
from belman.studies import Storage

pytestmark = pytest.mark.interpreted
TARGETS = {"1": "large", "2": "medium", "3": "small"}


@pytest.fixture
def storage(tmp_path):
    position = Storage(f"sqlite:///{tmp_path}/studies.db")
    yield position
    position.close()


def opened(storage, name="router", **settings):
    settings = {"control": "large", "goal": "earn", "floor": 0.1, "seed": 7, **settings}
    return belman.open_study(name, list(TARGETS.values()), storage=storage, **settings)


def routed(study, play, **settings):
    """Play with the calls of a study, and close them."""

    async def main():
        calls = RoutedCalls(study, **{"patience": 600.0, **settings})
        try:
            return await play(calls)
        finally:
            await calls.close()

    return asyncio.run(main())


def logged(study, tmp_path):
    """The rewards of a study as an export has them, each with the chance of its ask."""
    study.export(tmp_path / "log.csv")
    with (tmp_path / "log.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    chances = {row["ticket"]: float(row["probability"]) for row in rows if row["event"] == "asked"}
    told = [row for row in rows if row["event"] == "told"]
    return [(row["arm"], float(row["reward"]), chances[row["ticket"]]) for row in told]


@pytest.mark.slow
def test_a_study_learns_who_answers_best(storage):
    study, rewards = opened(storage), {"1": 0.2, "2": 0.9, "3": 0.2}

    async def play(calls):
        went = []
        for i in range(300):
            target, ticket = await calls.choose(TARGETS, f"call {i}")
            await calls.ended(ticket, {"seconds": 1.0}, float(i % 10 < 10 * rewards[target]))
            went.append(target)
        return went

    went = routed(study, play)
    assert went[-100:].count("2") > 50
    assert (study.status()["told"], study.outstanding) == (300, 0)


@pytest.mark.slow
def test_who_cannot_be_had_gets_nothing_and_chances_are_those_of_the_draws(storage, tmp_path):
    """Weighted by one over their chances, two arms that can be had come equally often, whatever the
    policy prefers: within 4 deviations, but for 1 in 16,000 tests.
    """
    study, had = opened(storage), {name: TARGETS[name] for name in "13"}

    async def play(calls):
        for i in range(400):
            target, ticket = await calls.choose(had, f"call {i}")
            if ticket is not None:
                await calls.ended(ticket, {}, float(i % 10 < {"1": 9, "3": 5}[target]))

    routed(study, play)
    told = logged(study, tmp_path)
    assert {arm for arm, _, _ in told} == {"large", "small"}
    assert len(told) > 390
    weights = [(-1) ** (arm == "small") / chance for arm, _, chance in told]
    assert len(set(weights)) > 10  # the policy does have preferences
    assert abs(sum(weights)) < 4.0 * math.sqrt(sum(weight**2 for weight in weights))
    assert study.outstanding == 0
    study.check()


def test_a_study_that_is_paused_or_insists_sends_calls_to_the_best_that_can_be_had(storage):
    study = opened(storage, floor=None, control=None, goal=None)
    study.record([("small", 1.0), ("medium", 0.0), ("large", 1.0)] * 20)

    async def play(calls):
        study.ship("large")
        result = [await calls.choose({"2": "medium", "3": "small"}, "a")]
        study.pause()
        result.append(await calls.choose({"2": "medium", "3": "small"}, "b"))
        return result

    assert routed(study, play) == [("3", None), ("3", None)]
    assert study.outstanding == 0


def test_a_session_stays_while_its_target_can_be_had_and_is_one_decision(storage):
    study = opened(storage)

    async def play(calls):
        first, ticket = await calls.choose(TARGETS, "1", session="s")
        for i in range(20):
            assert await calls.choose(TARGETS, f"more {i}", session="s") == (first, None)
        await calls.ended(ticket, {}, 1.0)
        rest = {name: arm for name, arm in TARGETS.items() if name != first}
        second, ticket = await calls.choose(rest, "2", session="s")
        assert second != first
        assert ticket is not None
        assert await calls.choose(TARGETS, "3", session="s") == (second, None)
        await calls.give_back(ticket)
        assert (await calls.choose(TARGETS, "4", session="s"))[1] is not None
        calls.leave("s")
        assert (await calls.choose(TARGETS, "5", session="s"))[1] is not None

    routed(study, play)
    assert (study.status()["told"], study.outstanding) == (1, 0)


def test_a_quality_may_come_before_the_end_of_a_call_or_after_it(storage, tmp_path):
    study = opened(
        storage,
        family=belman.families.GaussianUnknown(),
        reward="4*quality - 100*dollars - 0.2*seconds",
    )
    took = {"dollars": 0.01, "seconds": 5.0, "failed": 0.0}

    async def play(calls):
        _, early = await calls.choose(TARGETS, "early")
        _, late = await calls.choose(TARGETS, "late")
        assert calls.waits_for("early")
        await calls.tell("early", 0.75)
        assert study.status()["told"] == 0
        await calls.ended(early, took, None)
        await calls.ended(early, took, 0.0)  # once more, which changes nothing
        await calls.ended(late, took, None)
        assert study.status()["told"] == 1
        await calls.tell("late", 1.0)
        assert not calls.waits_for("late")

    routed(study, play)
    result = [reward for _, reward, _ in logged(study, tmp_path)]
    assert sorted(result) == pytest.approx([1.0, 2.0])
    assert study.metrics()["metric"][:4] == ["dollars", "failed", "quality", "seconds"]


def test_what_a_study_refuses_or_nobody_heard_of_is_given_back(storage):
    study, now = opened(storage), [0.0]

    async def play(calls):
        _, ticket = await calls.choose(TARGETS, "a")
        with pytest.raises(BelmanError, match="2"):
            await calls.ended(ticket, {}, 2.0)
        assert study.outstanding == 0
        await calls.choose(TARGETS, "b")
        now[0] = 599.0
        await calls.choose(TARGETS, "c")
        assert study.outstanding == 2
        now[0] = 601.0
        _, ticket = await calls.choose(TARGETS, "d")
        assert not calls.waits_for("b")
        assert study.outstanding == 2
        await calls.ended(ticket, {}, 1.0)

    routed(study, play, clock=lambda: now[0])
    assert (study.status()["told"], study.outstanding) == (1, 0)


def test_segments_are_asked_for(storage):
    study = opened(storage, control=None, goal=None, floor=None, segments=["kind"])

    async def play(calls):
        for i in range(120):
            kind = ("chat", "code")[i % 2]
            target, ticket = await calls.choose(TARGETS, str(i), {"kind": kind})
            await calls.ended(ticket, {}, float(target == {"chat": "1", "code": "3"}[kind]))
        assert calls.segments == ("kind",)

    routed(study, play)
    means = {
        kind: study.beliefs(context={"kind": kind})["expected reward"] for kind in ("chat", "code")
    }
    assert means["chat"][0] > means["chat"][2]
    assert means["code"][2] > means["code"][0]


@pytest.mark.parametrize("patience", [0, -1.0, "long", True, math.nan])
def test_patience_is_a_time(patience):
    with pytest.raises(SettingError, match="patience"):
        check_patience(patience)
