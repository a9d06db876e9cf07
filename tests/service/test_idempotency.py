"""Every change takes an idempotency key, the client sends one, and keys belong to the API key that
used them: an answer that was lost is never a second event, nor an error that is none.
"""

from __future__ import annotations

import pytest

import belman
from belman.assignment import transport
from belman.exposure import Constant
from belman.service.keys import Keys, Role
from belman.studies import Study
from tests.service.running import keys_of, running
from tests.waiting import HANG


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("once"), require_keys=True) as result:
        result.keys = keys_of(result.storage)
        yield result


@pytest.fixture
def client(service):
    with belman.Client(service.url, service.keys[Role.ADMIN], timeout=HANG) as result:
        yield result


CHANGES = {
    "ask": lambda study: study.ask(2),
    "tell": lambda study: study.tell(study.ask(key="for the tell"), 1),
    "pause": lambda study: study.pause("Sunday"),
    "add": lambda study: study.add_arm("violet", [2.0, 1.0]),
    "retire": lambda study: study.retire_arm("red", "sold out"),
    "exposure": lambda study: study.set_exposure(Constant(0.5)),
    "dial": lambda study: study.set_exposure(0.25),
    "guard": lambda study: study.set_guard({"refund": "< 0.05"}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_whose_answer_is_lost_happens_once_and_is_no_error(service, client, what):
    study = client.create(f"lossy {what}", ["blue", "red"], seed=1)
    near = Study(f"lossy {what}", service.storage)
    once, lost = client._transport._send_once, []

    def unlucky(*request):
        answer = once(*request)
        lost.append(answer)
        if len(lost) % 2:
            raise ConnectionResetError("the answer was lost")
        return answer

    client._transport._send_once = unlucky
    CHANGES[what](study)
    assert [answer[0] for answer in lost] == [200] * len(lost)
    assert near.number == 3 if what in ("ask", "tell") else near.number == 2


def test_resuming_twice_by_intent_is_an_error_and_by_accident_is_not(service, client):
    study = client.create("pausing", ["blue", "red"])
    study.pause(key="first")
    study.pause(key="first")
    with pytest.raises(belman.errors.StudyError, match="paused already"):
        study.pause(key="second")
    study.resume(key="third")
    study.pause(key="first")  # long done, and not done again
    assert not study.status()["paused"]


def test_a_key_that_is_used_for_something_else_is_refused(client):
    study = client.create("strict", ["blue", "red", "green"])
    study.retire_arm("red", key="mine")
    for another in (
        lambda: study.retire_arm("green", key="mine"),
        lambda: study.retire_arm("red", "why", key="mine"),
        lambda: study.pause(key="mine"),
    ):
        with pytest.raises(belman.errors.SettingError, match="use a new key"):
            another()
    assert study.status()["events"] == 2


def test_keys_belong_to_the_api_key_that_used_them(service, client):
    study = client.create("shared", ["blue", "red"])
    first = study.ask(key="order-1")
    other = Keys(service.storage).add("another", Role.PLAY)
    with belman.Client(service.url, other, timeout=HANG) as stranger:
        theirs = stranger.study("shared").ask(key="order-1")
        assert theirs.id != first.id
        assert stranger.study("shared").ask(key="order-1") == theirs
    assert study.ask(key="order-1") == first


def test_a_deletion_that_is_sent_again_is_answered_as_the_first_was(service, client):
    client.create("gone", ["blue", "red"]).ask()
    admin, path = service.keys[Role.ADMIN], "/api/studies/gone/delete"

    def deletion(key, idempotency_key="mine", confirm="gone"):
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        return service.send("POST", path, {"confirm": confirm}, key=key, headers=headers)

    assert deletion(admin, confirm="gnoe").status == 422
    first = deletion(admin)
    assert (first.status, first.json) == (200, {"deleted": 2})
    assert deletion(admin).json == first.json
    other = Keys(service.storage).add("another", Role.ADMIN)
    for stranger in (deletion(other), deletion(admin, "yours"), deletion(admin, None)):
        assert stranger.status == 404
        assert "sqlite" not in stranger.json["detail"]
    assert deletion(service.keys[Role.PLAY]).status == 403
    assert deletion(admin, "x" * 201).status == 422
    anew = client.create("gone", ["blue", "red"])
    assert deletion(admin).json == first.json
    assert anew.status()["events"] == 1


@pytest.mark.parametrize("key", ["Bestellung № 7", "50%", " a ", "x" * 200])
def test_any_text_is_a_key(client, key):
    study = client.create("texts", ["blue", "red"])
    assert study.ask(key=key) == study.ask(key=key)


def test_the_header_is_checked(service, client):
    client.create("headers", ["blue", "red"])
    admin, path = service.keys[Role.ADMIN], "/api/studies/headers/ask"

    def ask(body, key):
        return service.send("POST", path, body, key=admin, headers={"Idempotency-Key": key})

    assert ask({}, "x" * 201).status == 422
    assert ask({}, "").status == 422
    assert ask({"key": "a"}, "b").status == 422
    assert ask({"key": "a"}, "a").status == 200
    assert client.study("headers").status()["asked"] == 1


def test_keys_of_the_client_are_neighbours_of_their_time(monkeypatch):
    """So that the index of a log is written to at its end."""
    keys = []
    for seconds in (1, 2, 2_000_000_000):
        monkeypatch.setattr(transport.time, "time_ns", lambda now=seconds: now * 10**9)
        keys += sorted(transport.own_key() for _ in range(100))
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert {len(key) for key in keys} == {32}
