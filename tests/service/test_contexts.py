"""Deciding in contexts through a service: asks that hold them, tables, and rank with reward."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from belman import errors, models
from belman.policies.dependent import LinUCB

FOOD = {"price": 4, "taste": "sweet"}, {"price": 9, "taste": "salty"}


@pytest.fixture
def dishes(client, request):
    return client.create(
        request.node.name, features=["price", "taste"], context=["age"], model="linear", seed=1
    )


def path(study):
    return f"/api/studies/{quote(study.name, safe='')}"


def test_asks_hold_contexts_and_tables_show_them(client):
    study = client.create("colours", ["blue", "red"], context=["country"], seed=1)
    for country in ("fr", "de") * 10:
        ticket = study.ask(context={"country": country}, top=2)
        assert ticket.context == {"country": country}
        assert set(ticket.ranking) == {"blue", "red"}
        study.tell(ticket, int((ticket.arm == "blue") == (country == "fr")))
    french = study.beliefs(context={"country": "fr"})
    assert french["P(best)"][0] > 0.8
    assert "country=fr" in study.contexts()["coefficients"]["feature"]
    assert study.explain(context={"country": "fr"})["arm"][0] == "blue"
    with pytest.raises(errors.SettingError, match="name in context"):
        study.ask(context={"moon": 1})
    assert client.create("without", ["blue"]).contexts() == {}


def test_arrays_are_lists_of_numbers(client):
    study = client.create("texts", ["blue", "red"], context=["text[40:2]", "age"], seed=1)
    ticket = study.ask(context={"text": [0.5] * 40, "age": 3})
    assert list(ticket.context) == ["text 1 of 2", "text 2 of 2", "age"]
    study.tell(ticket, 1)
    assert study.beliefs(context={"text": [0.5] * 40, "age": 3})["arm"] == ["blue", "red"]
    with pytest.raises(errors.SettingError, match="text has 3 numbers: it is an array of 40"):
        study.ask(context={"text": [1, 2, 3]})


def test_segments_and_their_weights(client):
    study = client.create("segments", ["blue", "red"], segments=["country"], seed=1)
    for _ in range(10):
        for country in ("fr", "de"):
            ticket = study.ask(context={"country": country})
            study.tell(ticket, int((ticket.arm == "blue") == (country == "fr")))
    assert set(study.contexts()["segments"]["segment"]) == {"country=fr", "country=de"}
    made = study.publish(100, segment={"country": "fr"})
    assert study.weights("country=fr") == made


def test_objects_make_a_study(client):
    study = client.create(
        "objects", ["blue", "red"], context=["age"], policy=LinUCB(2.0), model=models.Linear()
    )
    assert study.status()["policy"] == "LinUCB(alpha=2.0)"
    assert study.status()["model"] == "linear"
    assert study.status()["has_exposure"] is False
    segmented = client.create("segmented", ["blue", "red"], segments=["age"])
    assert segmented.status()["has_exposure"] is True


def test_candidates_are_asked_among(dishes):
    ticket = dishes.ask(context={"age": 30}, candidates=FOOD)
    assert ticket.candidate["price"] == FOOD[ticket.arm]["price"]
    assert dishes.tell(ticket, 3.5)


def test_candidates_are_looked_at(dishes):
    for _ in range(10):
        ticket = dishes.ask(context={"age": 30}, candidates=FOOD)
        dishes.tell(ticket, 10.0 - ticket.candidate["price"])
    result = dishes.explain(context={"age": 30}, candidates=FOOD)
    assert result["arm"][0] == 0
    assert len(dishes.beliefs(candidates=FOOD)["P(best)"]) == 2
    with pytest.raises(errors.SettingError, match="give candidates"):
        dishes.explain(context={"age": 30})


@pytest.mark.parametrize(
    "given",
    [
        "candidates={}",
        "candidates=[",
        "context=[]",
        "candidates=[1]",
        "candidates=[]",
        "candidates=" + quote(r'[{"taste": "\ud800"}]'),
    ],
)
def test_what_is_no_look_is_refused(service, dishes, given):
    assert service.send("GET", f"{path(dishes)}/explain?{given}").status == 422


def test_interactions_by_a_formula(client, dishes):
    made = client.create(
        "formula", features=["price", "taste"], context=["age"], interactions="age:price"
    )
    made.ask(context={"age": 30}, candidates=FOOD)
    labels = made.contexts()["coefficients"]["feature"]
    assert [one for one in labels if "×" in one] == ["age × price"]
    with pytest.raises(errors.SettingError, match="interaction"):
        client.create("other", features=["price"], context=["age"], interactions="age*price")


def test_rank_and_reward_once(service, dishes):
    actions = [{"id": name, "features": [food]} for name, food in zip("ab", FOOD, strict=True)]
    body = {"contextFeatures": [{"age": 31}], "actions": actions, "eventId": "event-1"}
    first = service.send("POST", f"{path(dishes)}/rank", body)
    assert first.status == 201
    result = json.loads(first.body)
    assert result["eventId"] == "event-1"
    assert result["rewardActionId"] == result["ranking"][0]["id"]
    assert sorted(one["id"] for one in result["ranking"]) == ["a", "b"]
    assert result["ranking"][0]["probability"] in (0.5, 1.0)
    assert json.loads(service.send("POST", f"{path(dishes)}/rank", body).body) == result
    for _ in range(2):
        told = service.send("POST", f"{path(dishes)}/events/event-1/reward", {"value": 2.5})
        assert (told.status, told.body) == (204, b"")
    assert dishes.status()["told"] == 1
    other = service.send("POST", f"{path(dishes)}/events/event-1/reward", {"value": 3.0})
    assert other.status == 409
    assert service.send("POST", f"{path(dishes)}/events/none/reward", {"value": 1}).status == 404


def test_excluded_actions_are_not_ranked(service, dishes):
    actions = [{"id": name, "features": [food]} for name, food in zip("ab", FOOD, strict=True)]
    body = {"actions": actions, "excludedActions": ["a"]}
    result = json.loads(service.send("POST", f"{path(dishes)}/rank", body).body)
    assert [one["id"] for one in result["ranking"]] == ["b"]
    assert len(result["eventId"]) > 10
    none = service.send("POST", f"{path(dishes)}/rank", {**body, "excludedActions": ["a", "b"]})
    assert none.status == 422


def test_a_study_of_arms_ranks_no_actions(service, client):
    study = client.create("plain", ["blue", "red"])
    refused = service.send("POST", f"{path(study)}/rank", {"actions": [{"id": "a"}]})
    assert refused.status in (409, 422)
    with pytest.raises(errors.SettingError, match="decides without"):
        study.ask(context={"age": 1})


def test_more_candidates_than_one_ask_weighs_are_refused_with_the_limit(service, dishes):
    body = {"tickets": 6, "context": {}, "candidates": FOOD[:1] * 1_000}
    refused = service.send("POST", f"{path(dishes)}/ask", body)
    assert refused.status == 422
    assert "at most 5 among 1,000 candidates" in json.loads(refused.body)["detail"]
