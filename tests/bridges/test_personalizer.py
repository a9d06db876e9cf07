"""Personalizer: Microsoft's own clients rank, reward and activate, and the study learns from it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest

from belman.bridges import personalizer
from belman.bridges.personalizer import Refusal, flat, ranking_in, rewards_in
from belman.policies.dependent import LinEpsilonGreedy
from belman.service.keys import Keys, Role
from belman.studies import Storage, open_study
from tests.service.running import keys_of, running
from tests.waiting import HANG

V1, NEW = "/personalizer/v1.0", "/api/studies/menu/personalizer"
DISHES = {"pasta": {"price": 9, "taste": "salty"}, "cake": {"price": 5, "taste": "sweet"},
          "ice": {"price": 4, "taste": "sweet"}}  # fmt: skip
ACTIONS = [{"id": name, "features": [food]} for name, food in DISHES.items()]
SLOTS = [
    {"id": "top", "features": [{"slot": "top"}], "baselineAction": "pasta"},
    {"id": "side", "features": [{"slot": "side"}], "baselineAction": "ice"},
]
USER = [{"user": {"age": 31}}]


def menu(storage, name="menu", **options):
    """A study of dishes, which learns along what they are and who asks."""
    rule = {"features": ["price", "taste"], "context": ["user.age", "slot"], "uniform_share": 0.2}
    return open_study(name, storage=storage, **{**rule, "seed": 4, **options})


@pytest.fixture
def study(service):
    return menu(service.storage)


def body(**more):
    return {"contextFeatures": USER, "actions": ACTIONS, **more}


def rank(service, *, path=NEW, **more):
    return service.send("POST", f"{path}/rank", body(**more))


def reward(service, event, value, path=NEW, **more):
    return service.send("POST", f"{path}/events/{event}/reward", {"value": value}, **more)


def code(answer):
    return answer.status, answer.json["error"]["code"]


def told(study):
    status = study.status()
    return status["told"], status["outstanding"], status["reward"]


# Ranking and rewarding


def test_rank_reward_and_again(service, study):
    first = rank(service, eventId="one/or another %")
    assert first.status == 201
    result = first.json
    assert result["eventId"] == "one/or another %"
    assert result["rewardActionId"] == result["ranking"][0]["id"]
    assert sorted(one["id"] for one in result["ranking"]) == sorted(DISHES)
    assert sum(one["probability"] for one in result["ranking"]) == pytest.approx(1.0)
    assert rank(service, eventId="one/or another %").json == result
    event = "one%2For%20another%20%25"
    assert reward(service, event, 1).status == 204
    assert reward(service, event, 1.0).status == 204
    assert told(study) == (1, 0, 1.0)
    assert code(reward(service, event, 0)) == (409, "InvalidRewardRequest")
    assert code(rank(service, eventId="one/or another %", contextFeatures=[])) == (
        400, "InvalidRankRequest",
    )  # fmt: skip
    assert told(study) == (1, 0, 1.0)


@pytest.mark.parametrize(
    "path",
    ["/personalizer/v1.0", "//personalizer/v1.0", "/personalizer/v1.1-preview.3", "/personalizer"],
)
def test_an_endpoint_without_a_study_is_for_the_one_of_that_name(service, study, path):
    missing = rank(service, path=path)
    assert code(missing) == (404, "ResourceNotFound")
    assert "/api/studies/NAME" in missing.json["error"]["message"]
    other = menu(service.storage, "personalizer")
    assert rank(service, path=path).status == 201
    assert rank(service, path=f"/api/studies/menu{path}").status == 201
    assert (told(other)[1], told(study)[1]) == (1, 1)


def test_excluded_actions_keep_their_positions_and_are_not_chosen(service, study):
    for turn in range(20):
        result = rank(service, excludedActions=["cake"], eventId=f"event {turn}").json
        assert result["ranking"][1] == {"id": "cake", "probability": 0.0}
        assert result["rewardActionId"] == result["ranking"][0]["id"] != "cake"
        assert sum(one["probability"] for one in result["ranking"]) == pytest.approx(1.0)
    first = rank(service, excludedActions=["pasta"]).json
    assert first["ranking"][0]["id"] == "pasta" != first["rewardActionId"]


def test_ids_are_features_where_the_study_asks_for_them(service):
    study = menu(service.storage, "by-id", features=["id"], context=[])
    bare = [{"id": name, "features": []} for name in DISHES]
    path = "/api/studies/by-id/personalizer"
    assert rank(service, path=path, actions=bare, contextFeatures=None).status == 201
    assert study.tickets()[0].candidate["id"] in DISHES


def test_arrays_are_features_where_they_are_declared(service):
    rule = {"features": ["look.image[2]"], "context": ["user.taste[3]"]}
    study = menu(service.storage, "arrays", **rule)
    actions = [
        {"id": name, "features": [{"look": {"image": [0.5, i]}}]} for i, name in enumerate("ab")
    ]
    path, user = "/api/studies/arrays/personalizer", [{"user": {"taste": [1, 0, 0.5]}}]
    result = rank(service, path=path, actions=actions, contextFeatures=user, eventId="one")
    assert result.status == 201
    assert reward(service, "one", 1, path).status == 204
    assert told(study) == (1, 0, 1.0)
    short = rank(service, path=path, actions=actions, contextFeatures=[{"user": {"taste": [1]}}])
    assert code(short) == (400, "InvalidRankRequest")


def test_what_is_not_activated_is_not_learnt(service, study):
    for event in ("told", "used", "silent"):
        assert rank(service, eventId=event, deferActivation=True).status == 201
    assert reward(service, "told", 1).status == 204
    assert reward(service, "used", 1).status == 204
    assert told(study) == (0, 3, 0.0)
    for _ in range(2):
        assert service.send("POST", f"{NEW}/events/used/activate").status == 204
    assert told(study) == (1, 2, 1.0)
    rank(service, eventId="shown at once")
    assert service.send("POST", f"{NEW}/events/shown%20at%20once/activate").status == 204
    assert told(study) == (1, 3, 1.0)


def test_silence_counts_as_the_study_says_and_only_if_activated(service, monkeypatch):
    now = [1_000.0]
    of_database = SimpleNamespace(**{**vars(time), "time": lambda: now[0]})
    monkeypatch.setattr("belman.studies.log.sqlite.time", of_database)
    study = menu(service.storage, "late", window=60.0)
    path = "/api/studies/late/personalizer"
    for event in ("silent", "never", "used", "early"):
        rank(service, path=path, eventId=event, deferActivation=event != "silent")
    service.send("POST", f"{path}/events/used/activate")
    reward(service, "early", 1, path)
    now[0] += 61.0
    assert told(study) == (2, 0, 0.0)  # silent and used, both as 0
    late = service.send("POST", f"{path}/events/never/activate")
    assert code(late) == (409, "InvalidEventIdToActivate")
    assert code(reward(service, "silent", 1, path)) == (409, "InvalidRewardRequest")


def test_a_request_that_is_sent_again_adds_up_once(service):
    study = menu(service.storage, "sums", window=3_600.0, accumulate=True, model="linear")
    path = "/api/studies/sums/personalizer"
    rank(service, path=path, eventId="one")
    for request in ("a", "a", "b"):
        header = {"x-ms-client-request-id": request}
        assert reward(service, "one", 0.25, path, headers=header).status == 204
    (outcome,) = study.copied()[0].book.open.values()
    assert outcome.reward == 0.5


# Slots


def test_slots_show_different_actions_and_learn_apart(service, study):
    asked = {"slots": SLOTS, "eventId": "page"}
    first = service.send("POST", f"{NEW}/multislot/rank", body(**asked))
    assert first.status == 201
    shown = {one["id"]: one["rewardActionId"] for one in first.json["slots"]}
    assert len(set(shown.values())) == 2 == len(shown)
    assert service.send("POST", f"{NEW}/multislot/rank", body(**asked)).json == first.json
    rewards = {"reward": [{"slotId": "side", "value": 1}, {"slotId": "top", "value": 0}]}
    path = f"{NEW}/multislot/events/page"
    for _ in range(2):
        assert service.send("POST", f"{path}/reward", rewards).status == 204
    assert told(study) == (2, 0, 1.0)
    assert service.send("POST", f"{path}/activate").status == 204
    lost = {"reward": [{"slotId": "bottom", "value": 1}]}
    assert code(service.send("POST", f"{path}/reward", lost)) == (400, "InvalidRewardRequest")
    assert code(reward(service, "page", 1)) == (404, "ResourceNotFound")  # not of this kind
    fewer = service.send("POST", f"{NEW}/multislot/rank", body(slots=SLOTS[:1], eventId="page"))
    assert code(fewer) == (400, "InvalidRankRequest")


def test_rewards_of_slots_count_all_or_none(service, study):
    asked = body(slots=SLOTS, eventId="page", deferActivation=True)
    service.send("POST", f"{NEW}/multislot/rank", asked)
    path = f"{NEW}/multislot/events/page"
    wrong = {"reward": [{"slotId": "top", "value": 1}, {"slotId": "side", "value": -1}]}
    assert code(service.send("POST", f"{path}/reward", wrong)) == (400, "InvalidRewardRequest")
    service.send("POST", f"{path}/activate")
    assert told(study) == (0, 2, 0.0)
    right = {"reward": [{"slotId": "top", "value": 1}]}
    assert service.send("POST", f"{path}/reward", right).status == 204
    assert told(study) == (1, 1, 1.0)


def test_excluded_actions_of_slots(service, study):
    slots = [{**SLOTS[0], "excludedActions": ["ice", "cake"]}, SLOTS[1]]
    for turn in range(10):
        asked = body(slots=slots[::-1], eventId=f"page {turn}")
        result = service.send("POST", f"{NEW}/multislot/rank", asked).json["slots"]
        assert result[1]["rewardActionId"] == "pasta" != result[0]["rewardActionId"]


# What is refused


@pytest.mark.parametrize(
    "raw",
    [
        "{", "[]", "", "null", '{"actions": NaN}', "[" * 100_000, '{"actions": []}', "{}",
        '{"actions": {}}', '{"actions": [null]}', '{"actions": [{"features": []}]}',
        '{"actions": [{"id": ""}]}', '{"actions": [{"id": 5}]}',
        '{"actions": [{"id": "a\\u0000"}]}',
        json.dumps({"actions": [{"id": "a" * 257}]}),
        json.dumps({"actions": [*ACTIONS, ACTIONS[0]]}),
        json.dumps(body(excludedActions=list(DISHES))),
        json.dumps(body(excludedActions=[5])),
        json.dumps({"actions": [{"id": f"a{i}", "features": []} for i in range(1_001)]}),
        json.dumps(body(eventId="")),
        json.dumps(body(eventId=7)),
        json.dumps(body(eventId="a" * 257)),
        json.dumps(body(eventId="half \ud800")),
        json.dumps(body(deferActivation="yes")),
        json.dumps(body(contextFeatures={"age": 3})),
        json.dumps(body(contextFeatures=[{"user": {"height": 3}}])),
        json.dumps(body(contextFeatures=[{"user": {"age": 3}}, {"user": {"age": 4}}])),
        json.dumps(body(contextFeatures=[{"user": {"age": [{"a": 1}, 2]}}])),
        json.dumps(body(contextFeatures=[{"user": {"age": ["old"]}}])),
        json.dumps(body(contextFeatures=[{"": 1}])),
        json.dumps(body(contextFeatures=[{"user.age": 10**400}])),
        '{"actions": [{"id": "a", "features": [' + '{"a": ' * 60 + "1" + "}" * 60 + "]}]}",
    ],
)  # fmt: skip
def test_what_cannot_be_ranked_changes_nothing(service, study, raw):
    number = study.number
    answer = service.send("POST", f"{NEW}/rank", raw=raw)
    assert answer.status == 400
    assert answer.json["error"]["code"] in ("InvalidRankRequest", "BadRequest")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json["error"]["message"]
    assert study.number == number


@pytest.mark.parametrize(
    "slots",
    [
        [], None, [5], [{"id": "top"}], [*SLOTS, SLOTS[0]],
        [{**SLOTS[0], "baselineAction": "soup"}],
        [{**SLOTS[0], "excludedActions": ["pasta"]}],
        [{**SLOTS[0], "excludedActions": ["soup"]}],
        [SLOTS[0], {**SLOTS[1], "baselineAction": "pasta"}],
        [{**SLOTS[0], "features": [{"user": {"age": 3}}]}],
        [{**SLOTS[0], "features": [{"colour": 3}]}],
        [{"id": str(i), "baselineAction": str(i)} for i in range(51)],
    ],
)  # fmt: skip
def test_slots_that_cannot_be_filled_change_nothing(service, study, slots):
    number = study.number
    answer = service.send("POST", f"{NEW}/multislot/rank", body(slots=slots))
    assert code(answer) == (400, "InvalidRankRequest")
    assert study.number == number


@pytest.mark.parametrize("value", [None, True, "1", 1.5, -2, [1], 10**400])
def test_what_is_no_reward_is_refused(service, study, value):
    rank(service, eventId="one")
    assert code(reward(service, "one", value)) == (400, "InvalidRewardRequest")
    assert told(study)[0] == 0


def test_unknown_events(service, study):
    assert code(reward(service, "nothing", 1)) == (404, "ResourceNotFound")
    for path in ("events/nothing/activate", "multislot/events/nothing/activate"):
        assert code(service.send("POST", f"{NEW}/{path}")) == (404, "ResourceNotFound")
    assert code(reward(service, "%00", 1)) == (400, "InvalidRewardRequest")
    assert code(reward(service, "a" * 257, 1)) == (400, "InvalidRewardRequest")


def test_a_study_of_named_arms_is_refused(service):
    open_study("plain", ["blue", "red"], storage=service.storage)
    path = "/api/studies/plain/personalizer"
    refused = rank(service, path=path)
    assert code(refused) == (400, "InvalidRankRequest")
    assert "with --features id" in refused.json["error"]["message"]
    assert code(reward(service, "one", 1, path)) == (400, "InvalidRewardRequest")


def test_a_study_that_is_paused_or_gone(service, study):
    rank(service, eventId="before")
    study.pause("stop")
    assert code(rank(service)) == (409, "ModelRankingError")
    assert reward(service, "before", 1).status == 204
    assert code(rank(service, path="/api/studies/gone/personalizer")) == (404, "ResourceNotFound")


@pytest.mark.parametrize(
    ("method", "path", "status", "known"),
    [
        ("GET", "configurations/service", 403, "InvalidApiAccess"),
        ("PUT", "configurations/policy", 403, "InvalidApiAccess"),
        ("POST", "configurations/applyFromEvaluation", 403, "InvalidApiAccess"),
        ("GET", "model?signed=false", 403, "InvalidApiAccess"),
        ("DELETE", "logs", 403, "InvalidApiAccess"),
        ("GET", "logs/properties", 403, "InvalidApiAccess"),
        ("PUT", "evaluations/one", 403, "InvalidApiAccess"),
        ("GET", "featureImportances/one", 403, "InvalidApiAccess"),
        ("GET", "rank", 404, "ResourceNotFound"),
        ("POST", "status", 404, "ResourceNotFound"),
        ("POST", "events/one/forget", 404, "ResourceNotFound"),
        ("POST", "rank?api-version=2030-01-01", 400, "BadRequest"),
    ],
)
def test_the_rest_of_the_surface_is_refused_in_its_words(
    service, study, method, path, status, known
):
    answer = service.send(method, f"{V1}/{path}", body() if method == "POST" else None)
    assert code(answer) == (status, known)


def test_keys_and_roles_come_from_the_one_table(tmp_path):
    with running(tmp_path, require_keys=True) as service:
        study, keys = menu(service.storage), keys_of(service.storage)
        assert code(rank(service)) == (401, "401")
        for role, key in keys.items():
            given = {"Ocp-Apim-Subscription-Key": key}
            answer = service.send("POST", f"{NEW}/rank", body(eventId="one"), headers=given)
            assert answer.status == (201 if role >= Role.PLAY else 403)
            if role < Role.PLAY:
                assert code(answer) == (403, "InvalidApiAccess")
        play = {"Ocp-Apim-Subscription-Key": keys[Role.PLAY]}
        wrong = {"Ocp-Apim-Subscription-Key": keys[Role.PLAY] + "x"}
        for path in (NEW, "/" + NEW, V1, "//" + V1.lstrip("/"), "///personalizer"):
            assert code(service.send("POST", f"{path}/rank", body(), headers=wrong)) == (401, "401")
        Keys(service.storage).add("second", Role.PLAY)
        # Who rewards may have another key than who ranked: it is the study's event.
        admin = {"Ocp-Apim-Subscription-Key": keys[Role.ADMIN]}
        assert reward(service, "one", 1, headers=admin).status == 204
        assert reward(service, "one", 1, headers=play).status == 204
        assert told(study) == (1, 0, 1.0)


def test_too_much_is_refused_in_its_words(tmp_path):
    with running(tmp_path, max_body=2_000, rate=1.0) as service:
        menu(service.storage)
        assert code(rank(service, eventId="a" * 3_000)) == (413, "PayloadSizeExceeded")
        result = [rank(service) for _ in range(4)]
        assert code(result[-1]) == (429, "429")
        assert result[-1].headers["retry-after"] == "1"


# Restarts, services, and many at once


def test_events_survive_a_restart_and_hold_with_two_services(tmp_path):
    with running(tmp_path) as one, running(tmp_path) as other:
        study = menu(one.storage)
        first = rank(one, eventId="page", deferActivation=True).json
        assert rank(other, eventId="page", deferActivation=True).json == first
        assert reward(other, "page", 1).status == 204
        assert code(reward(one, "page", 0)) == (409, "InvalidRewardRequest")
        service_slots = body(slots=SLOTS, eventId="slots")
        filled = one.send("POST", f"{NEW}/multislot/rank", service_slots).json
        assert other.send("POST", f"{NEW}/multislot/rank", service_slots).json == filled
        assert told(study) == (0, 3, 0.0)
    with running(tmp_path) as again:
        assert rank(again, eventId="page", deferActivation=True).json == first
        assert again.send("POST", f"{NEW}/events/page/activate").status == 204
        with closing(Storage(str(again.storage))) as storage:
            study = open_study("menu", storage=storage)
            assert told(study) == (1, 2, 1.0)
            study.check()


def test_one_event_at_once_is_one_ask_whichever_service_hears_of_it(tmp_path):
    with running(tmp_path) as one, running(tmp_path) as other:
        study = menu(one.storage)
        ranked, filled, told_of, start = [], [], [], threading.Barrier(8)

        def send(service):
            start.wait(HANG)
            ranked.append(rank(service, eventId="same").json)
            told_of.append(reward(service, "same", 1).status)
            asked = body(slots=SLOTS, eventId="same")
            filled.append(service.send("POST", f"{NEW}/multislot/rank", asked).json)

        threads = [
            threading.Thread(target=send, args=[service])
            for service in (one, other)
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANG)
        assert told_of == [204] * 8
        assert all(result == ranked[0] for result in ranked)
        assert all(result == filled[0] for result in filled)
        assert told(study) == (1, 2, 1.0)


# Features


def test_features_are_flat():
    parts = [{"a": 1, "b": {"c": "x", "d": {"e": True}}}, {"b": [{"f": None}, {"g": [1, 2.5]}]}]
    result = {"a": 1, "b.c": "x", "b.d.e": True, "b.f": None, "b.g": [1, 2.5]}
    assert flat(parts, "features") == result
    assert flat([], "features") == {}


def test_bodies_of_slots_name_each_once():
    with pytest.raises(Refusal, match="twice"):
        rewards_in(b'{"reward": [{"slotId": "a", "value": 1}, {"slotId": "a", "value": 0}]}')
    with pytest.raises(Refusal, match="twice"):
        ranking_in(json.dumps(body(slots=[SLOTS[0], SLOTS[0]])).encode(), True)


def test_every_code_is_one_of_the_protocol():
    known = {operation.wrong for operation in personalizer.OPERATIONS.values()}
    for status in (400, 401, 403, 404, 409, 413, 422, 429, 500, 501, 503):
        for operation in (None, *personalizer.OPERATIONS.values()):
            result = personalizer.described(status, "", "words", operation)["error"]["code"]
            assert result
            assert (result in known) <= (status in (400, 409, 422))


# The clients themselves


@pytest.fixture
def older(service):
    """The client of version 1.0."""
    client = pytest.importorskip("azure.cognitiveservices.personalizer", reason="make clients")
    from msrest.authentication import CognitiveServicesCredentials

    with client.PersonalizerClient(service.url, CognitiveServicesCredentials("any")) as result:
        yield result


@pytest.fixture
def newer(service):
    """The client of today, for the study `menu`."""
    client = pytest.importorskip("azure.ai.personalizer", reason="make clients")
    from azure.core.credentials import AzureKeyCredential

    url = f"{service.url}/api/studies/menu"
    with client.PersonalizerClient(url, AzureKeyCredential("any")) as result:
        yield result


@pytest.mark.slow
def test_the_client_of_version_1_decides_and_the_study_learns(service, older):
    """Frequencies against chances: five standard deviations, errs once in 10⁶ an action."""
    from azure.cognitiveservices.personalizer import models

    study, rng = menu(service.storage, "personalizer"), np.random.default_rng(5)
    actions = [models.RankableAction(id=name, features=[food]) for name, food in DISHES.items()]
    off, spread, sweet = dict.fromkeys(DISHES, 0.0), dict.fromkeys(DISHES, 0.0), []
    for _ in range(400):
        age = float(rng.choice([8, 40]))
        request = models.RankRequest(actions=actions, context_features=[{"user": {"age": age}}])
        result = older.rank(request)
        for one in result.ranking:
            off[one.id] += (one.id == result.reward_action_id) - one.probability
            spread[one.id] += one.probability * (1.0 - one.probability)
        is_sweet = result.reward_action_id != "pasta"
        sweet.append((age, is_sweet))
        chance = 0.8 if is_sweet == (age == 8) else 0.2
        older.events.reward(result.event_id, float(rng.random() < chance))
    for name, total in off.items():
        assert abs(total) <= 5.0 * spread[name] ** 0.5 + 1e-9
    assert told(study)[:2] == (400, 0)
    right = [is_sweet == (age == 8) for age, is_sweet in sweet[200:]]
    assert np.mean(right) > 0.75  # 0.89 is the most that a uniform share of 0.2 leaves


@pytest.mark.slow
def test_the_client_of_version_1_says_what_is_wrong(service, older, study):
    from azure.cognitiveservices.personalizer import models
    from msrest.exceptions import HttpOperationError

    menu(service.storage, "personalizer")
    wrong = models.RankRequest(
        actions=[models.RankableAction(id="a", features=[{"size": 1}])], event_id="one"
    )
    with pytest.raises(models.ErrorResponseException, match="InvalidRankRequest") as refused:
        older.rank(wrong)
    assert "size" in refused.value.error.error.message
    assert refused.value.response.status_code == 400
    with pytest.raises(HttpOperationError) as refused:
        older.events.reward("never ranked", 1)
    assert refused.value.response.json()["error"]["code"] == "ResourceNotFound"
    actions = [models.RankableAction(id=name, features=[food]) for name, food in DISHES.items()]
    older.rank(models.RankRequest(actions=actions, event_id="x/y", defer_activation=True))
    older.events.reward("x/y", 1)
    older.events.activate("x/y")
    with pytest.raises(HttpOperationError) as refused:
        older.events.reward("x/y", 0)
    assert refused.value.response.json()["error"]["code"] == "InvalidRewardRequest"


@pytest.mark.slow
def test_the_client_of_today_decides_by_chance_and_the_study_learns(service, newer):
    """The same of a policy that plays by chance; half of the events are never activated."""
    study = menu(service.storage, policy=LinEpsilonGreedy(epsilon=0.3), uniform_share=0.0)
    rng, off, spread, used = np.random.default_rng(6), 0.0, 0.0, 0
    for turn in range(300):
        result = newer.rank(body(eventId=f"event {turn}", deferActivation=True))
        chances = {one["id"]: one["probability"] for one in result["ranking"]}
        assert sum(chances.values()) == pytest.approx(1.0)
        off += (result["rewardActionId"] == "ice") - chances["ice"]
        spread += chances["ice"] * (1.0 - chances["ice"])
        chance = 0.9 if result["rewardActionId"] == "ice" else 0.1
        # What is told of an event that was not used says the opposite, and is not learnt from.
        chance = chance if turn % 2 else 1.0 - chance
        newer.reward(result["eventId"], {"value": float(rng.random() < chance)})
        if turn % 2:
            newer.activate(result["eventId"])
            used += 1
    assert abs(off) <= 5.0 * spread**0.5
    assert told(study)[:2] == (used, 300 - used)
    last = newer.rank(body(eventId="last"))["ranking"]
    assert {one["id"]: one["probability"] > 0.5 for one in last}["ice"]


@pytest.mark.slow
def test_the_client_of_today_fills_slots(service, newer):
    study, rng = menu(service.storage, uniform_share=0.3), np.random.default_rng(7)
    shown = []
    for turn in range(150):
        result = newer.rank_multi_slot(body(slots=SLOTS, eventId=f"page {turn}"))
        at = {one["id"]: one["rewardActionId"] for one in result["slots"]}
        assert len(set(at.values())) == 2
        shown.append(at["top"])
        rewards = [
            {"slotId": slot, "value": float(rng.random() < (0.9 if id == "pasta" else 0.1))}
            for slot, id in at.items()
        ]
        newer.reward_multi_slot(result["eventId"], {"reward": rewards})
    newer.activate_multi_slot("page 3")
    assert told(study)[:2] == (300, 0)
    assert shown[75:].count("pasta") > 40
    tickets = [json.loads(row[0]) for row in study.storage.rows(
        "SELECT body FROM belman_events WHERE kind = 2 ORDER BY number")]  # fmt: skip
    assert {one["slot"] for one in tickets} == {"top", "side"}


@pytest.mark.slow
def test_the_client_of_today_says_what_is_wrong(service, newer, study):
    from azure.ai.personalizer import PersonalizerAdministrationClient
    from azure.core import exceptions
    from azure.core.credentials import AzureKeyCredential

    with pytest.raises(exceptions.ResourceNotFoundError) as refused:
        newer.reward("never ranked", {"value": 1})
    assert refused.value.error.code == "ResourceNotFound"
    newer.rank(body(eventId="one"))
    newer.reward("one", {"value": 1})
    with pytest.raises(exceptions.ResourceExistsError) as refused:
        newer.reward("one", {"value": 0})
    assert refused.value.error.code == "InvalidRewardRequest"
    with pytest.raises(exceptions.HttpResponseError) as refused:
        newer.rank_multi_slot(body(slots=[]))
    assert refused.value.error.code == "InvalidRankRequest"
    with PersonalizerAdministrationClient(service.url, AzureKeyCredential("any")) as admin:
        calls = [
            admin.get_service_configuration, admin.get_policy, admin.reset_policy,
            admin.reset_model, admin.get_model_properties, admin.get_log_properties,
            admin.delete_logs, lambda: list(admin.list_evaluations()),
            lambda: list(admin.list_feature_importances()),
            lambda: admin.update_service_configuration({}),
            lambda: admin.create_evaluation("one", {}),
        ]  # fmt: skip
        for call in calls:
            with pytest.raises(exceptions.HttpResponseError) as refused:
                call()
            assert refused.value.error.code == "InvalidApiAccess"
            assert "belman" in refused.value.error.message
        with pytest.raises(exceptions.HttpResponseError) as refused:
            list(admin.export_model())  # of which the client reads no more than the status
        assert refused.value.status_code == 403
        refused.value.response.read()  # to give its connection back


@pytest.mark.slow
def test_wrong_keys_raise_what_the_client_has_for_them(tmp_path):
    client = pytest.importorskip("azure.ai.personalizer", reason="make clients")
    from azure.core import exceptions
    from azure.core.credentials import AzureKeyCredential

    with running(tmp_path, require_keys=True) as service:
        menu(service.storage)
        key = Keys(service.storage).add("shop", Role.PLAY)
        url = f"{service.url}/api/studies/menu"
        with client.PersonalizerClient(url, AzureKeyCredential(key)) as shop:
            assert shop.rank(body())["rewardActionId"] in DISHES
        with (
            client.PersonalizerClient(url, AzureKeyCredential("wrong")) as stranger,
            pytest.raises(exceptions.ClientAuthenticationError, match="unknown, or was revoked"),
        ):
            stranger.rank(body())


@pytest.mark.slow
def test_the_asynchronous_client(service, study):
    client = pytest.importorskip("azure.ai.personalizer.aio", reason="make clients")
    pytest.importorskip("aiohttp")
    from azure.core.credentials import AzureKeyCredential

    async def play():
        url = f"{service.url}/api/studies/menu"
        async with client.PersonalizerClient(url, AzureKeyCredential("any")) as shop:
            result = await asyncio.gather(*(shop.rank(body()) for _ in range(20)))
            rewards = (shop.reward(one["eventId"], {"value": 1}) for one in result)
            await asyncio.gather(*rewards)

    asyncio.run(play())
    assert told(study)[:2] == (20, 0)
