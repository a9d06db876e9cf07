"""Deciding elsewhere through a service: weights with tags and ages, signed ones, outcomes once."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from belman.assignment import LocalDecider, Weights, assign, schema, verify
from belman.cli import app as command_line
from belman.errors import ArmError, SettingError, StudyError
from belman.studies import Study


@pytest.fixture
def study(client, request):
    return client.create(request.node.name, ["blue", "green"], seed=1, floor=0.1)


def path(study):
    return f"/api/studies/{quote(study.name, safe='')}"


def rows_of(weights, n, reward=1.0):
    units = [f"user-{i}" for i in range(n)]
    return [(unit, weights.version, assign(weights, unit).arm, reward) for unit in units]


def test_weights_have_a_tag_and_an_age(service, study):
    assert service.send("GET", f"{path(study)}/weights").status == 409
    made = study.publish(100, every=30)
    first = service.send("GET", f"{path(study)}/weights")
    assert Weights.from_json(first.body) == made == study.weights()
    assert first.headers["cache-control"].startswith("public, max-age=")
    assert 1 <= int(first.headers["cache-control"].split("max-age=")[1].split(",")[0]) <= 30
    tag = {"If-None-Match": first.headers["etag"]}
    again = service.send("GET", f"{path(study)}/weights", headers=tag)
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    study.retire_arm("green")
    changed = service.send("GET", f"{path(study)}/weights", headers=tag)
    assert changed.status == 200
    assert changed.headers["etag"] != first.headers["etag"]
    assert changed.json["arms"] == ["blue"]


def test_segments_have_weights_of_their_own(service, study):
    study.publish(10, segment="phones & tablets")
    result = study.weights("phones & tablets")
    assert result.segment == "phones & tablets"
    with pytest.raises(StudyError, match="segment='phones'"):
        study.weights("phones")
    assert service.send("GET", f"{path(study)}/weights?segment=%01").status == 422


def test_signed_weights_are_trusted_by_the_key_of_the_study(service, study):
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    made = study.publish(10)
    signed = service.send("GET", f"{path(study)}/weights?signed=true").body
    keys = study.public_keys()
    assert verify(signed, keys, study=study.name) == made
    assert keys == {(own := Study(study.name, service.storage).signing_key).id: own.public}
    for document in (signed, made.to_json()):
        jsonschema_rs.validate(schema(), json.loads(document))


def test_a_study_with_contexts_is_decided_at_the_edge(service, client):
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    study = client.create("offers", ["a", "b"], context=["country", "age"], seed=1)
    made = study.publish(10)
    jsonschema_rs.validate(schema(), json.loads(made.to_json()))
    context = {"country": "fr", "age": 31}
    rows = [
        {"unit": f"u{i}", "version": made.version, "reward": 1.0, "context": context}
        | {"arm": assign(made, f"u{i}", context).arm}
        for i in range(20)
    ]
    assert study.observe(rows) == 20
    with LocalDecider(service.url, "offers", fallback="a", start=False) as edge:
        assert edge.fetch()
        decision = edge.decide("u99", context)
        assert decision.version == made.version
        assert edge.observe(decision, 0.0)
        assert edge.send()
    assert study.status()["told"] == 21


def test_outcomes_count_once_and_all_or_none(service, study):
    rows = rows_of(study.publish(100), 200)
    assert study.observe(rows, key="hour 1") == 200
    events = study.status()["events"]
    assert study.observe(rows, key="hour 1") == 200
    assert study.status()["events"] == events
    assert study.status()["told"] == 200
    with pytest.raises(SettingError, match="use a new key"):
        study.observe(rows[1:], key="hour 1")
    wrong = [*rows[:3], (rows[3][0], rows[3][1], {"blue": "green", "green": "blue"}[rows[3][2]], 1)]
    with pytest.raises(ArmError, match="row 4"):
        study.observe(wrong)
    sums = [{"version": rows[0][1], "arm": "blue", "n": 10, "sum": 4.0, "squares": 4.0}]
    assert study.observe(sums, key="hour 2") == 10
    assert study.status()["told"] == 210
    Study(study.name, service.storage).check()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"rows": [], "sums": []},
        {"rows": [{"unit": "u", "version": 0, "arm": "blue", "reward": 1}]},
        {"rows": [{"unit": "u", "version": 1, "arm": "blue", "reward": "1"}]},
        {"rows": [{"unit": "u", "version": 2**70, "arm": "blue", "reward": 1}]},
        {"rows": [{"unit": "\ud800", "version": 2, "arm": "blue", "reward": 1}]},
        {"sums": [{"version": 2, "arm": "blue", "n": 0, "sum": 0, "squares": 0}]},
        {"sums": [{"version": 2, "arm": "blue", "n": 1, "sum": 0, "squares": 0}]},
        {"rows": [{"version": 2, "arm": ["blue"], "reward": 1}]},
    ],
)
def test_what_is_no_batch_is_refused(service, study, body):
    study.publish(10)
    answer = service.send("POST", f"{path(study)}/observations", body)
    assert answer.status == 422, answer.body
    assert study.status()["told"] == 0


def test_many_rows_are_read_some_at_a_time(service, study):
    """And what is wrong with one of them is said as if they were read at once."""
    rows = [
        {"unit": f"u{i}", "version": None, "arm": "green", "reward": i % 2} for i in range(1_001)
    ]
    answer = service.send("POST", f"{path(study)}/observations", {"rows": rows, "key": "all"})
    assert (answer.status, answer.json) == (200, {"observed": 1_001})
    assert study.status()["told"] == 1_001
    again = service.send("POST", f"{path(study)}/observations", {"rows": rows, "key": "all"})
    assert again.json == {"observed": 1_001}
    assert study.status()["told"] == 1_001
    wrong = [*rows[:700], rows[700] | {"reward": "1"}, *rows[701:]]
    for body, words in [
        ({"rows": wrong}, "rows.700.reward"),
        ({"rows": rows, "sums": []}, "either rows or sums"),
        ({"rows": rows, "colour": 1}, "colour"),
        ({"rows": rows * 10}, "10000"),
        ({"rows": rows, "key": 5}, "key"),
    ]:
        answer = service.send("POST", f"{path(study)}/observations", body)
        assert answer.status == 422, answer.body
        assert words in str(answer.json), answer.json
    assert study.status()["told"] == 1_001


def test_rows_are_corrected_from_afar_once(study):
    weights = study.publish(100)
    row = ("user-1", weights.version, assign(weights, "user-1").arm)
    study.observe([(*row, 1.0)], key="rows")
    for _ in range(2):
        assert study.correct_rows([(*row, 1.0, 0.0)], "refund", key="back") == 1
    assert study.status() | {"told": 1, "reward": 0.0} == study.status()
    with pytest.raises(SettingError, match="row 1"):
        study.correct_rows([row], "refund")
    other = "blue" if row[2] == "green" else "green"
    with pytest.raises(ArmError, match="row 1: unit 'user-1' has arm"):
        study.correct_rows([(*row[:2], other, 1.0, 0.0)], "refund")


def test_attributes_of_rows_come_from_afar_too(service, study):
    weights = study.publish(100)
    rows = [(*row, None, {"device": "phone"}) for row in rows_of(weights, 40)]
    study.observe(rows, key="rows")
    report = service.send("GET", f"{path(study)}/report?by=device").json
    assert [row["plays"] for row in report["segments"]["rows"]] == [40]
    study.correct_rows([(*rows[0][:4], None, rows[0][5])], "fraud", key="one")
    report = service.send("GET", f"{path(study)}/report?by=device").json
    assert [row["plays"] for row in report["segments"]["rows"]] == [39]
    with pytest.raises(SettingError, match="row 1: 'a device' cannot name"):
        study.observe([(*rows[0][:5], {"a device": "phone"})], key="other")


def test_an_empty_batch_changes_nothing(service, study):
    assert service.send("POST", f"{path(study)}/observations", {"rows": []}).json == {"observed": 0}


def test_from_a_shell(tmp_path):
    url = f"sqlite:///{tmp_path}/studies.db"

    def run(*words):
        result = CliRunner().invoke(command_line, ["study", *words, "--storage", url])
        assert result.exit_code == 0, result.output
        return result.output

    run("create", "button", "--arms", "blue,green")
    document = run("publish", "button", "--decisions", "100", "--every", "60")
    weights = Weights.from_json(document)
    assert json.loads(run("publish", "button", "--decisions", "100", "--every", "60", "--signed"))
    lines = [",".join(map(str, row)) for row in rows_of(weights, 20)]
    (tmp_path / "rows.csv").write_text("\n".join(["unit,version,arm,reward", *lines]))
    assert "observed 20 outcomes" in run("observe", "button", str(tmp_path / "rows.csv"))
    assert "known already" in run("observe", "button", str(tmp_path / "rows.csv"))
