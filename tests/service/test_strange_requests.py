"""Requests that nobody means: each is answered in our words, and leaves nothing behind."""

from __future__ import annotations

import http.client
import tempfile

import pytest

from belman import errors
from belman.service import context_models, under_way, views
from belman.service.problems import RefusedError
from belman.service.under_way import Exports
from tests.waiting import wait_until

ACTIONS = [{"id": "a", "features": [{"price": 1.0}]}, {"id": "b", "features": [{"price": 2.0}]}]


def test_a_context_of_any_depth_is_answered(service, client):
    client.create("deep", ["blue", "red"], context=["age"])
    for nested in ("[" * 3_900, '%7B"age":' + "[" * 3_800):
        for what in ("beliefs", "explain"):
            answer = service.send("GET", f"/api/studies/deep/{what}?context={nested}")
            assert (answer.status, answer.json["title"]) == (422, "Not valid")


def test_the_reward_of_an_event_that_was_no_ranking_is_refused(service, client):
    study = client.create("events", features=["price"], seed=1)
    tickets = study.ask(3, candidates=[{"price": 1.0}, {"price": 2.0}], key="several")
    answer = service.send("POST", "/api/studies/events/events/several/reward", {"value": 1.0})
    assert answer.status == 422
    assert "3 tickets" in answer.json["detail"]
    assert study.tell(tickets[0], 1.0)


def test_excluded_actions_are_looked_up_and_not_gone_through(service, client, monkeypatch):
    """A thousand actions beside as many that are excluded would be a million comparisons, and the
    event loop would wait for them.
    """
    client.create("shelf", features=["price"], seed=1)
    body = {"actions": ACTIONS, "excludedActions": ["a"] * 1_001}
    refused = service.send("POST", "/api/studies/shelf/rank", body)
    assert refused.status == 422
    compared = []

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            compared.append(other)
            return str.__eq__(self, other)

    many = [context_models.Action.model_construct(id=f"a{i}") for i in range(100)]
    names = [Name(f"b{i}") for i in range(100)]
    result = context_models.RankBody.model_construct(actions=many, excludedActions=names)
    assert result.chosen_from() == many
    assert len(compared) < 10


@pytest.mark.parametrize("part", ["bytes=x-y", "bytes=5-1", "bytes=999999-", "foo=1", "bytes=0-3"])
def test_an_export_is_sent_whole_and_leaves_no_file(service, client, part, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    study = client.create("parts", ["blue", "red"])
    whole = study.exported()
    answer = service.send("GET", "/api/studies/parts/export", headers={"Range": part})
    assert (answer.status, answer.body) == (200, whole)
    wait_until(lambda: not list(tmp_path.iterdir()))
    assert service.app.state.registry.exports.under_way == 0


def test_an_export_whose_reader_went_away_leaves_no_file(service, client, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    client.create("gone", ["blue", "red"]).ask(1_000)
    begun, export = [], views.export
    monkeypatch.setattr(views, "export", lambda *given: begun.append(given) or export(*given))
    line = http.client.HTTPConnection("127.0.0.1", service.port)
    line.request("GET", "/api/studies/gone/export")
    line.close()
    wait_until(lambda: begun)
    wait_until(lambda: not service.app.state.registry.exports.under_way)
    wait_until(lambda: not list(tmp_path.iterdir()))


def test_exports_under_way_are_counted(service, client, monkeypatch):
    study = client.create("counted", ["blue", "red"])
    exports: Exports = service.app.state.registry.exports
    monkeypatch.setattr(exports, "under_way", under_way.MOST_EXPORTS)
    answer = service.send("GET", "/api/studies/counted/export")
    assert answer.status == 503
    assert "under way" in answer.json["detail"]
    monkeypatch.setattr(exports, "under_way", 0)
    broken = RefusedError(503, "the disk is full")
    with monkeypatch.context() as patched:
        patched.setattr(views, "export", lambda *_: (_ for _ in ()).throw(broken))
        assert service.send("GET", "/api/studies/counted/export").status == 503
    assert exports.under_way == 0
    assert study.exported()


def test_a_history_of_long_events_comes_in_several_answers(service, client, monkeypatch):
    study = client.create("long", features=["colour"], seed=1)
    for turn in range(5):  # with new ones: those that are known are referred to
        study.ask(candidates=[{"colour": f"colour {turn} {i}"} for i in range(50)])
    monkeypatch.setattr("belman.service.views.MOST_TEXT", 3_000)
    answer = service.send("GET", "/api/studies/long/history")
    assert 1 <= len(answer.json["events"]) < 6
    assert [event["number"] for event in study.history()] == [1, 2, 3, 4, 5, 6]


def test_a_deletion_whose_answer_was_lost_is_no_error(service, client, monkeypatch):
    study = client.create("lost", ["blue", "red"])
    study.ask(3)
    once = client._transport._send_once
    lost = []

    def losing(method: str, path: str, *rest: object):
        answer = once(method, path, *rest)
        if path.endswith("/delete") and not lost:
            lost.append(answer)
            raise TimeoutError
        return answer

    monkeypatch.setattr(client._transport, "_send_once", losing)
    assert study.delete("lost") == 4
    assert lost
    with pytest.raises(errors.UnknownStudyError):
        study.delete("lost")
