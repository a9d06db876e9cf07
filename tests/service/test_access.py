"""Closed: every route of the OpenAPI document, without a key, with a wrong one, with each role; and
nothing that breaks it.
"""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from belman.errors import SettingError
from belman.service import registry
from belman.service.access import RateLimit
from belman.service.app import needs_keys
from belman.service.keys import Keys, Role, role_named
from belman.studies import Storage, open_study
from tests.service.running import keys_of, running

OPEN = {"/healthz", "/readyz"}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("closed"), require_keys=True) as result:
        result.keys = keys_of(result.storage)
        made = result.send(
            "POST", "/api/studies", {"name": "one", "arms": ["a", "b"]}, key=result.keys[Role.ADMIN]
        )
        assert made.status == 201
        open_study("one", storage=result.storage).publish(10)
        yield result


def routes(service):
    document = service.send("GET", "/openapi.json").json
    return [
        (method.upper(), path, what)
        for path, methods in document["paths"].items()
        for method, what in methods.items()
    ]


def test_every_route_asks_for_its_role(service):
    """A route that is open, or lets the role below its own in, or does not let its own in, is found
    here.
    """
    result = routes(service)
    assert len(result) >= 22
    before = service.send("GET", "/api/studies/one", key=service.keys[Role.READ]).json
    for method, path, what in result:
        if path in OPEN:
            assert service.send(method, path).status == 200
            continue
        needed, at = role_named(what["x-role"]), path.replace("{name}", "one")
        body = None if method == "GET" else {}
        assert what["security"] == [{"key": []}]
        for key in (None, "", "belman_x_y", "belman_00000000_secret"):
            assert service.send(method, at, body, key=key).status in (401, 429), (method, path, key)
        service.app.state.registry._cache.clear()
        for role in Role:
            if role < needed:
                assert service.send(method, at, raw="{", key=service.keys[role]).status == 403, (
                    method,
                    path,
                    role,
                )
        if path.endswith("/live") or path == "/api/demo":
            continue
        status = service.send(
            method, at, raw=None if body is None else "{", key=service.keys[needed]
        ).status
        assert status == (200 if method == "GET" else 422), (method, path)
    assert service.send("GET", "/api/studies/one", key=service.keys[Role.READ]).json == before


def test_every_change_needs_more_than_read_and_has_an_example(service):
    document = service.send("GET", "/openapi.json").json
    for method, path, what in routes(service):
        if method != "GET":
            assert what["x-role"] in ("play", "admin"), path
        if "requestBody" in what:
            name = what["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition(
                "/"
            )[2]
            assert document["components"]["schemas"][name]["examples"], name


def test_a_revoked_key_opens_nothing(service, monkeypatch):
    monkeypatch.setattr(registry, "KEY_CACHE_SECONDS", 0.0)
    keys = Keys(service.storage)
    key = keys.add("short", Role.READ)
    assert service.send("GET", "/api/studies", key=key).status == 200
    keys.revoke(key.split("_")[1])
    service.app.state.registry._cache.clear()
    assert service.send("GET", "/api/studies", key=key).status in (401, 429)


def test_keys_are_stored_as_hashes_and_never_logged(service, caplog):
    caplog.set_level(logging.DEBUG)
    key = service.keys[Role.PLAY]
    secret = key.split("_", 2)[2]
    service.send("GET", "/api/studies", key=key)
    service.send("GET", "/api/nothing", key=key)
    service.send("POST", "/api/studies/one/tell", raw="{", key=key)
    assert secret not in caplog.text
    rows = service.storage.rows("SELECT * FROM belman_keys")
    assert len(rows) >= 3
    assert not any(secret in str(row) for row in rows)


def test_no_answer_and_no_export_shows_a_secret(service, tmp_path):
    """Of any read, the page's files included: neither what tickets are checked by, nor what signs
    weights, nor the hash of a key.
    """
    study = open_study("one", storage=service.storage)
    study.tell(study.ask(), 1.0)
    study.export(tmp_path / "log.csv")
    hidden = [study.storage.find("one")[1], study.signing_key.private.hex()]
    hidden += Path(study.storage.key_file).read_text("utf-8").split()
    hidden += [hash for (hash,) in service.storage.rows("SELECT hash FROM belman_keys")]
    shown = {"log.csv": (tmp_path / "log.csv").read_bytes()}
    for method, path, _ in routes(service):
        if method == "GET" and not path.endswith("/live"):
            at = path.replace("{name}", "one")
            shown[path] = service.send("GET", at, key=service.keys[Role.ADMIN]).body
    shown["signed"] = service.send(
        "GET", "/api/studies/one/weights?signed=true", key=service.keys[Role.ADMIN]
    ).body
    assert len(shown) > 12
    for path, body in shown.items():
        assert not [one for one in hidden if one.encode() in body], path


def test_wrong_keys_are_slowed_down(tmp_path, clock):
    with running(tmp_path, require_keys=True) as service:
        result = [
            service.send("GET", "/api/studies", key=f"belman_0_{i}").status for i in range(15)
        ]
        assert result[0] == 401
        assert result[-1] == 429
        assert service.send("GET", "/healthz").status == 200


def test_the_rate_of_one_caller(tmp_path, clock):
    with running(tmp_path, rate=2.0) as service:
        result = [service.send("GET", "/api/studies") for _ in range(8)]
        assert result[0].status == 200
        assert result[-1].status == 429
        assert result[-1].headers["retry-after"] == "1"


def test_the_rate_counts_tickets(tmp_path, clock):
    with running(tmp_path, rate=10.0) as service:
        open_study("s", ["a", "b"], storage=service.storage)
        result = []
        for _ in range(3):
            result.append(service.send("POST", "/api/studies/s/ask", {"tickets": 30}).status)
            clock.now += 0.5  # in which five requests would be allowed
        assert result == [200, 429, 429]
        clock.now += 1.0
        tells = [{"ticket": "1-aaaaaa", "reward": 1}] * 40
        assert service.send("POST", "/api/studies/s/tells", {"tells": tells}).status == 200
        assert service.send("GET", "/api/studies").status == 429


def test_a_bucket_fills_again(clock):
    rate = RateLimit(2.0)
    assert [rate.allows("a") for _ in range(5)] == [True] * 4 + [False]
    assert rate.allows("b")
    clock.now += 0.5
    assert [rate.allows("a") for _ in range(2)] == [True, False]


def test_a_service_that_can_be_reached_needs_a_key(tmp_path):
    storage = Storage(f"sqlite:///{tmp_path}/studies.db")
    assert not needs_keys("127.0.0.1", storage)
    for host in ("0.0.0.0", "::", "192.168.0.7", "example.org"):
        with pytest.raises(SettingError, match="belman key add"):
            needs_keys(host, storage)
    Keys(storage).add("me", Role.ADMIN)
    assert needs_keys("0.0.0.0", storage)
    storage.close()


def test_the_first_key_closes_the_door(tmp_path):
    with running(tmp_path) as service:
        assert service.send("GET", "/api/studies").status == 200
        key = Keys(service.storage).add("me", Role.READ)
        service.app.state.registry._cache.clear()
        assert service.send("GET", "/api/studies").status == 401
        assert service.send("GET", "/api/studies", key=key).status == 200
        Keys(service.storage).revoke(key.split("_")[1])
        service.app.state.registry._cache.clear()
        assert service.send("GET", "/api/studies").status == 401
