"""The provider of feature flags, through the SDK of OpenFeature and a service that listens."""

from __future__ import annotations

import asyncio

import pytest
from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import Reason
from openfeature.track import TrackingEventDetails

from belman.assignment import assign
from belman.assignment.feature_flags import BelmanProvider
from belman.errors import SettingError
from belman.studies import open_study
from tests.service.running import running
from tests.waiting import HANG

FLAGS = {
    "button": None,
    "banner": {"on": True, "off": False},
    "size": {"small": 10, "large": 12.5},
    "layout": {"a": {"columns": 1}, "b": {"columns": 2}},
}
UNITS = [f"user-{i}" for i in range(40)]


@pytest.fixture
def now():
    return [2_000_000_000.0]


@pytest.fixture
def studies(tmp_path, now):
    with running(tmp_path) as service:
        made = {"url": service.url}
        for name, values in FLAGS.items():
            arms = list(values or ("blue", "green"))
            made[name] = open_study(name, arms, storage=service.storage, seed=1, floor=0.2)
            made[name].publish(100, valid_for=None)
        yield made


@pytest.fixture
def client(studies, now):
    def opened(**more):
        given = {"within": 60.0, "start": False, "timeout": HANG, "clock": lambda: now[0]}
        provider = BelmanProvider(studies["url"], FLAGS, **given | more)
        api.set_provider_and_wait(provider)
        return api.get_client()

    yield opened
    api.clear_providers()


def of(unit):
    return EvaluationContext(targeting_key=unit)


def test_flags_have_the_values_of_their_arms(studies, client):
    flags = client()
    for unit in UNITS:
        arms = {name: assign(studies[name].weights(), unit).arm for name in FLAGS}
        result = flags.get_string_details("button", "none", of(unit))
        assert (result.value, result.variant, result.reason) == (
            arms["button"],
            arms["button"],
            Reason.SPLIT,
        )
        assert result.flag_metadata["version"] == studies["button"].weights().version
        assert flags.get_boolean_value("banner", False, of(unit)) == (arms["banner"] == "on")
        assert flags.get_float_value("size", 0.0, of(unit)) == FLAGS["size"][arms["size"]]
        assert flags.get_object_value("layout", {}, of(unit)) == FLAGS["layout"][arms["layout"]]


def test_events_in_time_are_rewards_and_silence_counts(studies, client, now):
    flags = client(goals={"purchase": ["button", "banner"]})
    for unit in UNITS:
        flags.get_string_value("button", "none", of(unit))
        flags.get_string_value("button", "none", of(unit))  # seen twice, counted once
    for unit in UNITS[:10]:
        flags.track("purchase", of(unit), TrackingEventDetails(value=0.5))
    for unit in UNITS[:5]:
        flags.track("purchase", of(unit))
    flags.track("purchase", of("a stranger"))
    flags.track("something else", of(UNITS[0]))
    now[0] += 60.0
    flags.track("purchase", of(UNITS[20]))  # too late
    for unit in UNITS[:3]:
        flags.get_boolean_value("banner", False, of(unit))  # whose time is not over at the end
    api.shutdown()
    status = studies["button"].status()
    assert (status["told"], status["reward"]) == (40, 5 * 1.0 + 5 * 0.5)
    assert studies["banner"].status()["told"] == 0
    assert not [one for one in studies["button"].report().findings if one.alarm]


def test_flags_of_a_study_with_contexts_go_by_attributes(tmp_path, now):
    with running(tmp_path) as service:
        study = open_study(
            "offer",
            ["blue", "green"],
            storage=service.storage,
            seed=1,
            context=["country"],
            floor=0.2,
        )
        past = [("blue", 1, {"country": "fr"}), ("green", 0, {"country": "fr"})] * 20
        study.record([*past, ("blue", 0, {"country": "de"}), ("green", 1, {"country": "de"})] * 20)
        weights = study.publish(100, valid_for=None)
        given = {"within": 60.0, "start": False, "timeout": HANG, "clock": lambda: now[0]}
        api.set_provider_and_wait(BelmanProvider(service.url, ["offer"], **given))
        for unit in UNITS:
            user = EvaluationContext(unit, {"country": "de", "device": "phone"})
            result = api.get_client().get_string_value("offer", "none", user)
            assert result == assign(weights, unit, {"country": "de"}).arm
        now[0] += 61.0
        api.get_client().track("offer", of("nobody"))  # hands in what is over
        api.shutdown()
        api.clear_providers()
        assert study.status()["told"] == len(UNITS) + 840


def test_what_cannot_be_evaluated_gives_the_default_and_says_why(client):
    flags = client()
    for unit, call, code in (
        (of("u"), flags.get_boolean_details("button", False, of("u")), ErrorCode.TYPE_MISMATCH),
        (of("u"), flags.get_string_details("nothing", "x", of("u")), ErrorCode.FLAG_NOT_FOUND),
        (None, flags.get_string_details("button", "x"), ErrorCode.TARGETING_KEY_MISSING),
    ):
        assert (call.error_code, call.reason, unit) == (code, Reason.ERROR, unit)
        assert call.value in (False, "x")


def test_without_a_service_flags_have_their_defaults_and_nothing_is_learnt(now):
    provider = BelmanProvider("http://127.0.0.1:9", ["button"], within=1.0, start=False)
    api.set_provider_and_wait(provider)
    try:
        result = api.get_client().get_string_details("button", "mine", of("user-1"))
        assert (result.value, result.reason, result.error_code) == ("mine", Reason.DEFAULT, None)
        assert not provider._flags["button"].awaited
    finally:
        api.clear_providers()


async def _evaluated(flags):
    return await flags.get_string_value_async("button", "none", of("user-1"))


def test_it_serves_asyncio(studies, client):
    wanted = assign(studies["button"].weights(), "user-1").arm
    assert asyncio.run(_evaluated(client())) == wanted


def test_what_cannot_be_is_refused():
    for wrong in (
        {"flags": []},
        {"within": 0.0},
        {"goals": {"purchase": ["nothing"]}},
    ):
        given = {"flags": ["button"], "within": 1.0} | wrong
        with pytest.raises(SettingError, match="flag"):
            BelmanProvider("http://127.0.0.1:9", **given)
