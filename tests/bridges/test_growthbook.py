"""GrowthBook: its clients decide by our weights, and the study learns from what came of it."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial

import numpy as np
import pytest

from belman.assignment import GrowthBook, assign
from belman.bridges import growthbook
from belman.bridges.flags import flag_of
from belman.errors import SettingError, WeightsError
from belman.studies import open_study
from tests.service.running import keys_of, running


def features(service, known: str | None = None):
    headers = {} if known is None else {"If-None-Match": known}
    return service.send("GET", "/api/features/sdk-1", headers=headers)


def test_features_are_the_studies_that_are_published_for_growthbook(service, flags):
    answer = features(service)
    assert (answer.status, answer.headers["x-sse-support"]) == (200, "enabled")
    served = answer.json["features"]
    assert sorted(served) == ["checkout", "offer"]
    (rule,) = served["checkout"]["rules"]
    weights = flags["checkout"].weights()
    assert (rule["phase"], rule["seed"]) == (str(weights.version), weights.salt)
    assert rule["weights"] == list(weights.weights)
    assert sum(end - start for start, end in rule["ranges"]) == pytest.approx(1.0)
    assert [one["condition"] for one in served["offer"]["rules"]] == [
        {"country": "fr"}, {"country": "de"},
    ]  # fmt: skip
    assert features(service, answer.headers["etag"]).status == 304
    assert features(service, '"other"').status == 200


def test_keys_stand_in_the_path_and_flags_is_all_that_they_may(tmp_path, caplog):
    with running(tmp_path, require_keys=True) as service:
        keys = keys_of(service.storage)
        by_word = {role.word: key for role, key in keys.items()}
        assert service.send("GET", "/api/features/wrong").status == 401
        assert service.send("GET", f"/api/features/{by_word['flags']}").status == 200
        assert service.send("GET", f"/api/features/{by_word['read']}").status == 200
        assert service.send("GET", "/api/studies", key=by_word["flags"]).status == 403
        metrics = service.send("GET", "/metrics", key=by_word["read"]).body.decode()
        assert by_word["flags"] not in metrics
        assert "/api/features/{key}" in metrics


def test_exposures_are_rows():
    told = {"inExperiment": True, "hashUsed": True, "value": "b", "hashValue": "u1"}
    experiment = {"key": "x", "phase": "12"}
    result = growthbook.row(experiment, told, 1, time=5.0)
    assert result == {"unit": "u1", "version": 12, "arm": "b", "reward": 1.0, "time": 5.0}
    with pytest.raises(SettingError, match="forced"):
        growthbook.row(experiment, {**told, "hashUsed": False}, 1)
    with pytest.raises(SettingError, match="no version"):
        growthbook.row({"key": "x", "phase": "first"}, told, 1)


def test_an_arm_alone_is_forced(service):
    study = open_study("alone", ["a", "b"], storage=service.storage)
    study.publish(10, by="growthbook")
    study.retire_arm("b")
    study.publish(10, by="growthbook")
    assert growthbook.feature(flag_of(study))["rules"] == [{"force": "a"}]


OLD = {
    "key": "old-test", "seed": "s9", "hashVersion": 1, "variations": ["a", "b", "c"],
    "weights": [0.5, 0.3, 0.2], "coverage": 0.6, "namespace": ["shop", 0.1, 0.9],
}  # fmt: skip


@pytest.mark.parametrize("changes", [{}, {"hashVersion": 2}, {"namespace": None, "seed": None}])
def test_an_experiment_assigns_as_its_client_does(changes):
    client = pytest.importorskip("growthbook.core", reason="pip install growthbook")
    from growthbook import Experiment
    from growthbook import GrowthBook as Client

    given = {name: value for name, value in {**OLD, **changes}.items() if value is not None}
    made = growthbook.read(json.dumps(given))
    assert isinstance(made.weights.assigner, GrowthBook)
    counts = Counter()
    for i in range(3_000):
        unit = f"user-{i}"
        book = Client(attributes={"id": unit})
        result = book.run(Experiment(**given))
        try:
            mine = assign(made.weights, unit).arm
        except WeightsError:
            mine = None
        assert mine == (result.value if result.inExperiment else None)
        counts[mine] += 1
        book.destroy()
    assert counts[None] > 500
    assert client.getBucketRanges(3, 0.6, [0.5, 0.3, 0.2]) == list(
        growthbook.bucket_ranges(3, 0.6, [0.5, 0.3, 0.2])
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [("[]", "not an experiment"), ("{", "not an experiment"), ('{"key": "x"}', "two variations"),
     ('{"features": {"a": {"rules": []}}}', "has no experiment")],
)  # fmt: skip
def test_what_is_no_experiment_is_refused(text, words):
    with pytest.raises(SettingError, match=words):
        growthbook.read(text)


def test_an_experiment_becomes_a_study(tmp_path):
    made = growthbook.read(json.dumps(OLD))
    from belman.studies import Storage

    storage = Storage(f"sqlite:///{tmp_path}/studies.db")
    study = open_study(made.name, made.arms, storage=storage, control="a")
    known = study.declare(made.weights, "imported")
    rows = []
    for i in range(500):
        try:
            arm = assign(known, f"u{i}").arm
        except WeightsError:
            continue
        rows.append((f"u{i}", known.version, arm, 1.0))
    assert study.observe(rows) == len(rows) > 150
    storage.close()


def viewed(told, experiment, result, **_):
    told.append((experiment, result))


@pytest.mark.slow
def test_the_python_client_decides_and_the_study_learns(service, flags):
    """Frequencies against chances: five standard deviations, errs once in 10⁶ an arm."""
    pytest.importorskip("growthbook", reason="pip install growthbook")
    from growthbook import GrowthBook as Client

    study, seen = flags["checkout"], list[dict]()
    rng, counts = np.random.default_rng(1), Counter()
    for i in range(1_500):
        told = []
        book = Client(
            api_host=service.url,
            client_key="sdk-1",
            attributes={"id": f"user-{i}", "country": "fr"},
            on_experiment_viewed=partial(viewed, told),
        )
        book.load_features()
        arm = book.get_feature_value("checkout", "none")
        counts[arm] += 1
        (exposure,) = told
        seen.append(growthbook.row(*exposure, float(rng.random() < 0.5)))
        assert seen[-1]["arm"] == arm
        assert book.get_feature_value("offer", 0) in (1, 2)
        book.destroy()
    weights = study.weights()
    for arm, chance in zip(weights.arms, weights.weights, strict=True):
        spread = (chance * (1 - chance) * 1_500) ** 0.5
        assert abs(counts[arm] - 1_500 * chance) < 5 * spread
    before = study.status()["told"]
    assert study.observe(seen) == 1_500
    assert study.status()["told"] == before + 1_500
    assert study.copied()[0].tally.bets.outcomes == 1_500
    assert not [one for one in study.report().findings if one.alarm and "ratio" in one.question]
    segment = flags["offer"].weights({"country": "de"})
    book = Client(api_host=service.url, client_key="sdk-1", attributes={"id": "u", "country": "de"})
    book.load_features()
    assert book.get_feature_value("offer", 0) == assign(segment, "u").arm
    book.set_attributes({"id": "u", "country": "it"})
    assert book.get_feature_value("offer", 0) == 1  # no segment of it is published: the default
    book.destroy()


@pytest.mark.slow
def test_a_stream_tells_of_new_weights(service, flags):
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    connection.request("GET", "/sub/sdk-1")
    answer = connection.getresponse()
    assert answer.getheader("content-type").startswith("text/event-stream")
    first = [answer.readline() for _ in range(3)]
    assert first[0] == b"event: features\n"
    version = flags["checkout"].publish(50, by="growthbook").version
    later = [answer.readline() for _ in range(3)]
    served = json.loads(later[1].removeprefix(b"data: "))["features"]
    assert served["checkout"]["rules"][0]["phase"] == str(version)
    answer.close()
    connection.close()
