"""OFREP: flags of studies, evaluated for OpenFeature's remote providers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from belman.assignment import assign
from belman.studies import open_study
from tests.service.running import keys_of, running

PATH = "/ofrep/v1/evaluate/flags"


def context(unit="user-1", **attributes):
    return {"context": {"targetingKey": unit, **attributes}}


def test_a_flag_has_its_arm_with_version_and_chance(service, flags):
    answer = service.send("POST", f"{PATH}/checkout", context())
    weights = flags["checkout"].weights()
    arm, chance, version = assign(weights, "user-1")
    known = {"version": version, "chance": chance}
    assert (answer.status, answer.json) == (
        200,
        {"key": "checkout", "reason": "SPLIT", "variant": arm, "value": arm, "metadata": known},
    )
    german = service.send("POST", f"{PATH}/offer", context(country="de")).json
    segment = flags["offer"].weights({"country": "de"})
    assert german["metadata"]["version"] == segment.version
    other = service.send("POST", f"{PATH}/offer", context(country="it")).json
    assert (other["reason"], other["value"]) == ("DEFAULT", 1)


def test_all_flags_at_once_with_their_tag(service, flags):
    answer = service.send("POST", PATH, context(country="fr"))
    assert [one["key"] for one in answer.json["flags"]] == ["banner", "checkout", "offer"]
    tag = answer.headers["etag"]
    known = {"If-None-Match": tag}
    assert service.send("POST", PATH, context(country="fr"), headers=known).status == 304
    answers = {
        service.send("POST", PATH, context(f"u{i}"), headers=known).status for i in range(20)
    }
    assert 200 in answers


@pytest.mark.parametrize(
    ("path", "raw", "status", "code"),
    [
        ("/checkout", "{", 400, "PARSE_ERROR"),
        ("/checkout", "[]", 400, "PARSE_ERROR"),
        ("/checkout", '{"context": {}}', 400, "TARGETING_KEY_MISSING"),
        ("/checkout", "{}", 400, "TARGETING_KEY_MISSING"),
        ("/checkout", '{"context": 5}', 400, "INVALID_CONTEXT"),
        ("/checkout", '{"context": {"targetingKey": 5}}', 400, "INVALID_CONTEXT"),
        ("/nothing", '{"context": {"targetingKey": "u"}}', 404, "FLAG_NOT_FOUND"),
        ("", '{"context": {}}', 400, "TARGETING_KEY_MISSING"),
    ],
)
def test_refusals_are_in_the_words_of_the_protocol(service, flags, path, raw, status, code):
    answer = service.send("POST", PATH + path, raw=raw)
    assert (answer.status, answer.json["errorCode"]) == (status, code)
    assert answer.json["errorDetails"]
    assert answer.json.get("key") == (path[1:] or None)


def test_a_context_that_the_study_refuses_is_invalid(service):
    study = open_study("deep", ["a", "b"], context=["age"], storage=service.storage, seed=1)
    study.record([("a", 1, {"age": 30}), ("b", 0, {"age": 40})] * 10)
    study.publish(10)
    good = service.send("POST", f"{PATH}/deep", context(age=31)).json
    assert good["value"] == assign(study.weights(), "user-1", {"age": 31}).arm
    bad = service.send("POST", f"{PATH}/deep", context(age="old"))
    assert (bad.status, bad.json["errorCode"]) == (400, "INVALID_CONTEXT")


def test_keys_come_in_either_header(tmp_path):
    with running(tmp_path, require_keys=True) as service:
        key = next(iter(keys_of(service.storage).values()))
        assert service.send("POST", PATH, context()).status == 401
        assert service.send("POST", PATH, context(), headers={"X-API-Key": key}).status == 200
        assert service.send("POST", PATH, context(), key=key).status == 200


@pytest.mark.slow
def test_the_remote_provider_decides_and_the_study_learns(service, flags):
    """Frequencies against chances: five standard deviations, errs once in 10⁶ an arm."""
    ofrep = pytest.importorskip(
        "openfeature.contrib.provider.ofrep", reason="pip install openfeature-provider-ofrep"
    )
    from openfeature import api
    from openfeature.evaluation_context import EvaluationContext

    provider = ofrep.OFREPProvider(service.url)
    api.set_provider(provider)
    client, rows, rng = api.get_client(), [], np.random.default_rng(2)
    for i in range(800):
        unit = EvaluationContext(targeting_key=f"user-{i}")
        result = client.get_string_details("checkout", "none", unit)
        version = result.flag_metadata["version"]
        rows.append((f"user-{i}", version, result.value, float(rng.random() < 0.5)))
    study, counts = flags["checkout"], Counter(row[2] for row in rows)
    weights = study.weights()
    for arm, chance in zip(weights.arms, weights.weights, strict=True):
        assert abs(counts[arm] - 800 * chance) < 5 * (chance * (1 - chance) * 800) ** 0.5
    assert study.observe(rows) == 800
    assert study.copied()[0].tally.bets.outcomes == 800
    missing = client.get_string_details("nothing", "none", EvaluationContext(targeting_key="u"))
    assert (missing.value, missing.error_code.value) == ("none", "FLAG_NOT_FOUND")
    nobody = client.get_string_details("checkout", "none", EvaluationContext())
    assert nobody.error_code.value == "TARGETING_KEY_MISSING"
    provider.session.close()
    api.clear_providers()
