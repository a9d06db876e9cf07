"""The routes: what each does, and what bad requests get, which change nothing."""

from __future__ import annotations

import itertools
import json
from typing import Any
from urllib.parse import quote, unquote

import pytest

from tests.service.running import running

NUMBERS = itertools.count()
SQL = "'; DROP TABLE belman_events; --"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("service")) as result:
        yield result


@pytest.fixture
def study(service):
    name = f"study {next(NUMBERS)}"
    made = service.send(
        "POST", "/api/studies", {"name": name, "arms": ["blue", "green", ["red", 1]], "seed": 7}
    )
    assert made.status == 201
    return f"/api/studies/{quote(name)}"


def problem(answer, status):
    assert answer.status == status, answer.body
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["status"] == status
    assert "Traceback" not in answer.body.decode()
    return answer.json["detail"]


def test_ask_tell_and_look(service, study):
    ticket = service.send("POST", f"{study}/ask", {}).json["tickets"][0]
    assert ticket["arm"] in ("blue", "green", ["red", 1])
    assert service.send("POST", f"{study}/tell", {"ticket": ticket["id"], "reward": 1}).json == {
        "news": True
    }
    assert service.send("POST", f"{study}/tell", {"ticket": ticket["id"], "reward": 1}).json == {
        "news": False
    }
    assert "told 1.0 already" in problem(
        service.send("POST", f"{study}/tell", {"ticket": ticket["id"], "reward": 0}), 409
    )
    status = service.send("GET", study).json
    assert (status["asked"], status["told"], status["reward"], status["dial"]) == (1, 1, 1.0, 0.5)
    beliefs = service.send("GET", f"{study}/beliefs").json["columns"]
    assert beliefs["arm"] == ["blue", "green", ["red", 1]]
    assert sum(beliefs["plays"]) == 1
    assert set(service.send("GET", f"{study}/explain").json["columns"]) >= {
        "arm",
        "index",
        "exposure",
    }
    kinds = [event["kind"] for event in service.send("GET", f"{study}/history").json["events"]]
    assert kinds == ["created", "asked", "told"]
    after = service.send("GET", f"{study}/history?after=2").json["events"]
    assert [(event["number"], event["arm"], event["reward"]) for event in after] == [
        (3, ticket["arm"], 1.0)
    ]


def test_a_key_of_the_caller_gives_the_same_tickets(service, study):
    first = service.send("POST", f"{study}/ask", {"tickets": 3, "key": "order-1"})
    assert service.send("POST", f"{study}/ask", {"tickets": 3, "key": "order-1"}).json == first.json
    assert service.send("GET", study).json["asked"] == 3
    problem(service.send("POST", f"{study}/ask", {"tickets": 2, "key": "order-1"}), 422)


def test_many_tells_have_an_answer_each(service, study):
    tickets = [
        one["id"] for one in service.send("POST", f"{study}/ask", {"tickets": 2}).json["tickets"]
    ]
    tells = [
        {"ticket": tickets[0], "reward": 1},
        {"ticket": "9-nobody", "reward": 1},
        {"ticket": tickets[1], "reward": 7},
    ]
    answers = service.send("POST", f"{study}/tells", {"tells": tells}).json["answers"]
    assert answers[0] == {"news": True}
    assert [one["problem"]["type"] for one in answers[1:]] == [
        "urn:belman:unknown-ticket",
        "urn:belman:reward",
    ]
    assert service.send("GET", study).json["told"] == 1


def test_changes_while_it_runs(service, study):
    assert service.send("POST", f"{study}/pause", {"reason": "Sunday"}).json["paused"]
    assert "paused" in problem(service.send("POST", f"{study}/ask", {}), 409)
    problem(service.send("POST", f"{study}/pause", {}), 409)
    assert not service.send("POST", f"{study}/resume", {}).json["paused"]
    assert (
        service.send("POST", f"{study}/arms", {"arm": "violet", "prior": [2.0, 2.0]}).json["arms"]
        == 4
    )
    problem(service.send("POST", f"{study}/arms", {"arm": "violet"}), 422)
    assert service.send("POST", f"{study}/arms/retire", {"arm": ["red", 1]}).json["arms"] == 3
    assert service.send("PUT", f"{study}/exposure", {"dial": 0.0}).json["dial"] == 0.0
    assert (
        service.send("PUT", f"{study}/exposure", {"exposure": {"name": "paper", "C": 3.0}}).json[
            "dial"
        ]
        is None
    )
    events = service.send("GET", f"{study}/history").json["events"]
    assert [event["details"].get("reason") for event in events[1:2]] == ["Sunday"]


def test_creating_twice_is_as_good_as_once_unless_the_settings_differ(service, study):
    again = {
        "name": unquote(study.rpartition("/")[2]),
        "arms": ["blue", "green", ["red", 1]],
        "seed": 7,
    }
    assert service.send("POST", "/api/studies", again).status == 201
    assert "was created with" in problem(
        service.send("POST", "/api/studies", again | {"arms": ["blue"]}), 422
    )


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("discount", 0.99),
        ("drift", "auto"),
        ("drift", {"name": "belman-drift", "half_life": 604_800}),
        ("last", 1_000),
    ],
)
def test_studies_of_a_world_that_changes(service, setting, value):
    body = {"name": f"changing {next(NUMBERS)}", "arms": ["a", "b"], setting: value}
    assert service.send("POST", "/api/studies", body).status == 201
    assert service.send("POST", "/api/studies", body).status == 201
    path = f"/api/studies/{quote(body['name'])}"
    ticket = service.send("POST", f"{path}/ask", {}).json["tickets"][0]
    service.send("POST", f"{path}/tell", {"ticket": ticket["id"], "reward": 1})
    row = service.send("GET", f"{path}/beliefs").json["columns"]
    assert max(row["expected reward"]) > 0.6
    assert service.send("GET", f"{path}/changes").json["columns"]["arm"] == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("tell", '{"ticket": "1-abc", "reward": NaN}'),
        ("tell", '{"ticket": "1-abc", "reward": Infinity}'),
        ("tell", '{"ticket": "1-abc", "reward": 1e999}'),
        ("tell", '{"ticket": "1-abc", "reward": "1"}'),
        ("tell", '{"ticket": "1-abc", "reward": true}'),
        ("tell", '{"ticket": "\\ud800", "reward": 1}'),
        ("tell", '{"ticket": ' + "[" * 20_000),
        ("tell", "[" * 100_000 + "]" * 100_000),
        ("tell", "\xff\xfe"),
        ("tell", ""),
        ("ask", '{"tickets": 0}'),
        ("ask", '{"tickets": 1000001}'),
        ("ask", '{"tickets": 1.5}'),
        ("ask", '{"key": ""}'),
        ("ask", '{"unknown": 1}'),
        ("ask", "null"),
        ("arms", '{"arm": null}'),
        ("arms", '{"arm": "x", "prior": [-1, 2]}'),
        ("arms", '{"arm": "x", "prior": [1]}'),
        ("arms", '{"arm": "x", "prior": [1, 1e-13]}'),
        ("arms", '{"arm": 1e400}'),
    ],
)
def test_bad_bodies(service, study, path, body):
    before = service.send("GET", study).json
    answer = service.send("POST", f"{study}/{path}", raw=body.encode("latin-1"))
    problem(answer, answer.status)
    assert 400 <= answer.status < 500
    assert service.send("GET", study).json == before


@pytest.mark.parametrize("name", ["", " ", "a/b", "..", "a\nb", "a\0b", "x" * 201, "\ud800"])
def test_names_that_cannot_be(service, name):
    body = json.dumps({"name": name, "arms": ["a", "b"]})
    problem(service.send("POST", "/api/studies", raw=body), 422)


@pytest.mark.parametrize(
    "name", [SQL, '<script>alert("1")</script>'.replace("/", "∕"), "%2e%2e", "名前", "a b?c#d"]
)
def test_hostile_names_are_names(service, name):
    path = f"/api/studies/{quote(name, safe='')}"
    assert service.send("POST", "/api/studies", {"name": name, "arms": [SQL, "b"]}).status == 201
    ticket = service.send("POST", f"{path}/ask", {"key": SQL}).json["tickets"][0]
    problem(service.send("POST", f"{path}/tell", {"ticket": SQL, "reward": 1}), 404)
    assert service.send("POST", f"{path}/tell", {"ticket": ticket["id"], "reward": 1}).json["news"]
    assert service.send("POST", f"{path}/pause", {"reason": SQL}).json["paused"]
    assert service.send("GET", f"{path}/view").json["arms"][0]["label"] in (SQL, "b")
    assert name in service.send("GET", "/api/studies?limit=1000").json["studies"]


DEEP: Any = "infinite"
for _ in range(100):
    DEEP = {"name": "two-phase", "explore": 1, "then": DEEP}
DEEP = {"name": "belman", "exposure": DEEP}


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("family", "nonsense"),
        ("family", {"name": "gaussian", "sigma": "wide"}),
        ("family", {"name": "gaussian", "nonsense": 1}),
        (
            "policy",
            {"name": "belman", "exposure": {"name": "schedule", "tau": {"import": "os:_exit"}}},
        ),
        ("policy", {"name": "tests.own:Layered"}),
        ("policy", {"name": "belman", "exposure": {"name": "tests.own:Steady"}}),
        ("policy", DEEP),
        ("policy", {"name": "belman", "exposure": {"name": "constant", "tau": -1}}),
        ("policy", "oracle"),
        ("policy", {"name": ["belman"]}),
        ("range", [1, 0]),
        ("discount", 2),
        ("last", 0),
        ("last", 10**7),
        ("drift", "automatic"),
        ("uniform_share", -0.1),
        ("seed", -1),
        ("prior", [0, 0]),
        ("prior", [1, 1e-13]),
        ("arms", ["a", "a"]),
        ("arms", []),
    ],
)
def test_settings_that_make_no_study(service, setting, value):
    body = {"name": "never", "arms": ["a", "b"]} | {setting: value}
    problem(service.send("POST", "/api/studies", body), 422)
    problem(service.send("GET", "/api/studies/never"), 404)


def test_bodies_that_are_too_large(service, study):
    problem(service.send("POST", f"{study}/tell", raw=b" " * 10_000_000), 413)
    chunks = (b"x" * 100_000 for _ in range(50))
    answer = service.send("POST", f"{study}/tell", raw=chunks)
    problem(answer, 413)


def test_nothing_but_json_counts(service, study):
    before = service.send("GET", study).json
    answer = service.send(
        "POST",
        f"{study}/pause",
        raw="reason=x",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    problem(answer, 422)
    assert service.send("GET", study).json == before


def test_pages_of_other_sites_get_nothing_without_keys(service, study):
    problem(service.send("GET", "/api/studies", headers={"Host": "evil.example"}), 421)
    problem(
        service.send("POST", f"{study}/pause", {}, headers={"Origin": "http://evil.example"}), 403
    )
    assert service.send("POST", f"{study}/pause", {}, headers={"Origin": service.url}).status == 200


def test_health_and_metrics(service, study):
    assert service.send("GET", "/healthz").json == {"status": "ok"}
    assert service.send("GET", "/readyz").json == {"status": "ready"}
    service.send("POST", f"{study}/ask", {})
    text = service.send("GET", "/metrics").body.decode()
    assert (
        'belman_requests_total{method="POST",route="/api/studies/{name}/ask",status="200"}' in text
    )
    assert "study 0" not in text  # names of studies are no labels
    problem(service.send("GET", "/nothing-here"), 404)
    problem(service.send("DELETE", "/api/studies"), 405)
