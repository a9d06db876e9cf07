"""Eppo's bandits: what a study believes, what Eppo's client then chooses, and what came of it."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import belman
from belman import Agent
from belman.bridges import eppo
from belman.errors import BelmanError, SettingError, StudyError

ARMS = ["blue", "green", "red"]
WORTH = {"blue": 0.01, "green": 0.02, "red": 0.0}


def some_context(rng):
    """Numbers, words and truths, some of them missing and some of them new."""
    result = {
        "age": round(float(rng.normal(40, 12)), 2),
        "country": str(rng.choice(["fr", "de", "é t"])),
        "member": bool(rng.random() < 0.5),
    }
    return {name: value for name, value in result.items() if rng.random() < 0.85}


def taught(agent, rng, rewards=120, binary=False):
    for _ in range(rewards):
        context, arm = some_context(rng), str(rng.choice(list(agent.arms)))
        mean = 0.2 + WORTH[arm] * context.get("age", 40.0) + 0.1 * (context.get("country") == "fr")
        agent.tell(arm, float(rng.random() < mean) if binary else mean + rng.normal(), context)
    return agent


FEATURES = {"blue": {"price": 5.0}, "green": {"price": 7.0}, "red": {"price": 4.0}}
SETTINGS = {
    "linear": {"model": "linear"},
    "costs": {"model": "linear", "minimise": True},
    "features": {"model": "linear", "features": FEATURES},
    "yes or no": {"model": "logistic"},
    "drifting": {"model": "linear", "drift": "auto"},
}


def agent_of(kind, rewards=120, seed=7):
    agent = Agent(ARMS, context=["age", "country", "member"], seed=seed, **SETTINGS[kind])
    return taught(agent, np.random.default_rng(seed), rewards, kind == "yes or no")


@contextmanager
def served(bandit):
    """Serve a bandit on loopback, as Eppo does."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            answer = bandit.models() if "/bandits" in self.path else bandit.flags()
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def client_of(bandit):
    """Eppo's own client, with what it logs."""
    eppo_client = pytest.importorskip("eppo_client", reason="no eppo-server-sdk: make clients")
    events = []

    class Logger(eppo_client.AssignmentLogger):
        def log_assignment(self, event):
            pass

        def log_bandit_action(self, event):
            events.append(event)

    with served(bandit) as url:
        config = eppo_client.ClientConfig(
            api_key="any",
            base_url=url,
            assignment_logger=Logger(),
            is_graceful_mode=False,
            poll_interval_seconds=3600,
        )
        client = eppo_client.init(config)
        client.wait_for_initialization()
        try:
            yield client, events
        finally:
            client.shutdown()


@pytest.mark.parametrize("kind", SETTINGS)
def test_their_client_chooses_as_we_say(kind):
    bandit = eppo.bandit(agent_of(kind), "banner", gamma=2.5)
    rng, actions = np.random.default_rng(1), {arm: {} for arm in ARMS}
    with client_of(bandit) as (client, events):
        for unit in range(300):
            name, context = f"unit-é-{unit}", some_context(rng)
            result = client.get_bandit_action("banner", name, context, actions, "none")
            wanted = bandit.choose(name, context)
            assert result.action == wanted.arm
            assert events[-1]["actionProbability"] == pytest.approx(wanted.chance, abs=1e-12)
            assert events[-1]["modelVersion"] == bandit.version
            some = {"blue": {}, "new": {}}  # an action without coefficients, and fewer of them
            result = client.get_bandit_action("banner", name, context, some, "none")
            assert result.action == bandit.choose(name, context, some).arm


def test_attributes_of_actions_are_scored_as_their_client_does():
    """A model that is not ours may have them; 300 units, each with some of the attributes."""
    from_client = pytest.importorskip("eppo_client", reason="no eppo-server-sdk: make clients")
    made = eppo.bandit(agent_of("linear"), "banner", gamma=2.0)
    data = json.loads(json.dumps(made.data))
    for position, own in enumerate(data["coefficients"].values()):
        line = {"attributeKey": "price", "coefficient": 0.3 - 0.2 * position}
        words = {"attributeKey": "shop", "valueCoefficients": {"main": 1.0, "true": -0.5}}
        own["actionNumericCoefficients"] = [{**line, "missingValueCoefficient": 0.4}]
        own["actionCategoricalCoefficients"] = [
            {**words, "missingValueCoefficient": 0.2 * position}
        ]
    bandit, rng = eppo.Bandit("banner", data), np.random.default_rng(3)
    seen = set()
    with client_of(bandit) as (client, events):
        for unit in range(300):
            context, actions = {"age": float(rng.normal(40, 12))}, {}
            for arm in ARMS:
                given = {"price": float(rng.normal(5, 2)), "shop": str(rng.choice(["main", "x"]))}
                actions[arm] = {name: one for name, one in given.items() if rng.random() < 0.8}
            theirs = {
                arm: from_client.ContextAttributes.from_dict(own) for arm, own in actions.items()
            }
            result = client.get_bandit_action("banner", f"u{unit}", context, theirs, "none")
            chosen = bandit.choose(f"u{unit}", context, actions)
            assert result.action == chosen.arm
            assert events[-1]["actionProbability"] == pytest.approx(chosen.chance, abs=1e-12)
            seen.add(round(chosen.chance, 6))
    assert len(seen) > 100
    assert bandit.scores({}, {"blue": {"price": True}}) == bandit.scores({}, ["blue"])


@pytest.mark.parametrize("floor", [0.0, 0.3, 1.0])
def test_floors_are_theirs(floor):
    made = eppo.bandit(agent_of("linear"), "banner", gamma=1e6)
    bandit = eppo.Bandit("banner", {**made.data, "actionProbabilityFloor": floor})
    chances = bandit.chances({"age": 50.0})
    assert min(chances.values()) == pytest.approx(floor / 3, abs=1e-5)
    assert sum(chances.values()) == pytest.approx(1.0)
    with client_of(bandit) as (client, events):
        for unit in range(60):
            client.get_bandit_action(
                "banner", str(unit), {"age": 50.0}, {arm: {} for arm in ARMS}, ""
            )
            given = events[-1]["actionProbability"]
            assert given == pytest.approx(chances[events[-1]["action"]], abs=1e-12)


@pytest.mark.parametrize("kind", ["features", "costs", "linear"])
def test_scores_are_what_is_believed(kind):
    """Where the leading form is that of numbers as they are, scores are expected rewards."""
    agent = agent_of(kind)
    knowledge = agent._decider.knowledge
    knowledge.forms = knowledge.forms[:1]
    agent._decider._prepare()
    bandit, rng = eppo.bandit(agent, "banner"), np.random.default_rng(2)
    sign, column = (-1, "expected cost") if kind == "costs" else (1, "expected reward")
    for _ in range(20):
        context = some_context(rng)
        table = agent.beliefs(context=context)
        known = dict(zip(table["arm"], table[column], strict=True))
        scores = bandit.scores(context)
        assert {arm: sign * scores[arm] for arm in scores} == pytest.approx(known, abs=1e-9)


def test_gamma_gives_the_leader_the_chance_that_it_is_best():
    """Of 4,000 draws of the belief: five deviations are at most 0.04."""
    agent = Agent(ARMS, context=["age"], model="linear", seed=7)
    rng = np.random.default_rng(3)
    for _ in range(256):  # so many that the last scale is that of all of them
        arm, age = str(rng.choice(ARMS)), float(rng.normal(40, 12))
        agent.tell(arm, WORTH[arm] * 10 + rng.normal(), {"age": age})
    knowledge = agent._decider.knowledge
    knowledge.forms = knowledge.forms[:1]
    agent._decider._prepare()
    context = {"age": knowledge.context.moments["age"].centre}
    bandit, known = eppo.bandit(agent, "banner"), agent.beliefs(context=context)
    leader = max(known["arm"], key=lambda arm: known.row(arm)["expected reward"])
    assert bandit.chances(context)[leader] == pytest.approx(known.row(leader)["P(best)"], abs=0.04)
    gammas = [eppo.bandit(agent_of("linear", n), "b").data["gamma"] for n in (0, 100, 2_000)]
    assert gammas[0] == 0.0
    assert gammas[1] < gammas[2]
    assert eppo.bandit(agent_of("linear", 0), "b").chances({}) == dict.fromkeys(
        ARMS, pytest.approx(1 / 3)
    )


@pytest.fixture
def study(tmp_path):
    url = f"sqlite:///{tmp_path}/studies.db"
    names = ["age", "country", "member"]
    result = belman.open_study(
        "banner", ARMS, context=names, model="linear", floor=0.05, storage=url, seed=7
    )
    yield result
    result.storage.close()


def test_a_study_learns_from_what_their_client_did(study):
    """Three rounds of 400 units: counts of arms are within five deviations of their chances."""
    rng, kept, rows = np.random.default_rng(5), [], []
    for turn in range(3):
        bandit = eppo.bandit(study)
        kept.append(bandit)
        counts, wanted, spread = [np.zeros(3) for _ in range(3)]
        with client_of(bandit) as (client, events):
            for unit in range(400):
                context = some_context(rng)
                actions = {arm: {} for arm in ARMS}
                client.get_bandit_action("banner", f"{turn}-{unit}", context, actions, "none")
                chances = np.array([bandit.chances(context)[arm] for arm in ARMS])
                wanted += chances
                spread += chances * (1.0 - chances)
                counts[ARMS.index(events[-1]["action"])] += 1
                reward = WORTH[events[-1]["action"]] * context.get("age", 40.0)
                rows.append(eppo.row(events[-1], reward + 0.1 * rng.normal(), kept))
        assert (np.abs(counts - wanted) < 5 * np.sqrt(spread)).all()
        assert wanted.min() >= 0.05 * 400 - 1e-6
        assert study.observe(rows[-400:]) == 400
    assert set(rows[-1]["chances"]) == set(ARMS)
    assert (
        study.beliefs(context={"age": 60.0, "country": "fr", "member": True})["plays"] is not None
    )
    assert wanted.argmax() == ARMS.index("green")
    assert study.observe(rows) == 1200  # the same rows are learnt once


def test_rows_that_the_model_would_not_have_given_are_refused(study):
    bandit = eppo.bandit(study)
    chosen = bandit.choose("u", {"age": 40.0})
    event = {
        "flagKey": "banner",
        "subject": "u",
        "action": chosen.arm,
        "actionProbability": chosen.chance,
        "modelVersion": bandit.version,
        "timestamp": "2026-11-19T04:30:56.108937922+00:00",
        "subjectNumericAttributes": {"age": 40.0, "height": 180.0},
        "subjectCategoricalAttributes": {"member": "true"},
    }
    result = eppo.row(event, 1.0, [bandit])
    assert result["context"]["age"] == 40.0
    assert result["chances"] == bandit.chances({"age": 40.0})
    other = next(arm for arm in ARMS if arm != chosen.arm)
    for wrong, words in (
        ({"action": other}, "its model gives"),
        ({"actionProbability": 0.9}, "its model gives"),
        ({"actionProbability": float("nan")}, "its model gives"),
        ({"modelVersion": "v1"}, "keep all that served"),
        ({"subjectNumericAttributes": 7}, "no event"),
        ({"timestamp": "yesterday"}, "no event"),
    ):
        with pytest.raises(SettingError, match=words):
            eppo.row({**event, **wrong}, 1.0, [bandit])
    with pytest.raises(SettingError, match="no event"):
        eppo.row({}, 1.0, [bandit])


def test_documents_have_the_fields_of_published_ones():
    bandit = eppo.bandit(agent_of("linear"), "banner", gamma=1.0)
    flags, where = bandit.flags(), {"key", "flagKey", "variationKey", "variationValue"}
    assert set(flags["bandits"]["banner"][0]) == where
    (reference,) = flags["banditReferences"]["banner"]["flagVariations"]
    assert set(reference) == {*where, "allocationKey"}
    assert reference["allocationKey"] == flags["flags"]["banner"]["allocations"][0]["key"]
    assert bandit.models()["environment"] == flags["environment"] == {"name": "belman"}


def test_truths_are_words_of_either():
    bandit = eppo.bandit(agent_of("linear"), "banner")
    chances = bandit.chances({"member": True})
    assert chances == bandit.chances({"member": "true"}) == bandit.chances({"member": "True"})
    assert bandit.context_of({"member": "true", "age": 3, "height": 1}) == {
        "member": "True",
        "age": 3,
    }


def test_arms_come_and_go_and_a_study_comes_back(study, tmp_path):
    study.record([("blue", 1.0, {"age": 30.0}), ("red", 0.0, {"age": 50.0})])
    study.retire_arm("red")
    study.add_arm("grey")
    bandit = eppo.bandit(study)
    assert bandit.arms == ["blue", "green", "grey"]
    assert bandit.data["actionProbabilityFloor"] == pytest.approx(0.15)
    study.ask(context={"age": 31.0})  # a ticket that is out changes no model
    again = belman.open_study("banner", storage=f"sqlite:///{tmp_path}/studies.db")
    assert eppo.bandit(again) == eppo.bandit(study)
    again.storage.close()
    study.ship("green")
    with pytest.raises(StudyError, match="shipped"):
        eppo.bandit(study)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model": "logistic", "context": ["age"], "features": FEATURES}, "no line"),
        ({"model": "poisson", "context": ["age"], "features": FEATURES}, "no line"),
        ({"context": ["text[3]"], "model": "linear"}, "arrays"),
        ({}, "by context"),
        ({"segments": ["country"]}, "by context"),
        ({"arms": None, "features": ["price"], "model": "linear"}, "by context"),
        ({"arms": [1, 2], "context": ["age"], "model": "linear"}, "have to be text"),
        ({"context": ["age"], "model": "linear", "floor": {"blue": 0.1}}, "shares of single arms"),
        (
            {"context": ["age"], "model": "linear", "control": "blue", "control_share": 0.2},
            "shares of single arms",
        ),
    ],
)
def test_what_has_no_words_there_is_refused(settings, words, tmp_path):
    given = {"arms": ARMS, **settings}
    url = f"sqlite:///{tmp_path}/studies.db"
    one = belman.open_study("banner", given.pop("arms"), storage=url, seed=1, **given)
    with pytest.raises(StudyError, match=words):
        eppo.bandit(one)
    one.storage.close()


def test_settings_that_cannot_be_are_refused():
    agent = agent_of("linear", 3)
    for given in (
        {"key": None},
        {"key": ""},
        {"key": "b", "gamma": -1.0},
        {"key": "b", "gamma": "x"},
    ):
        with pytest.raises(BelmanError):
            eppo.bandit(agent, **given)
    many = Agent([f"a{k}" for k in range(60)], context=["age"], model="linear", seed=1)
    with pytest.raises(StudyError, match="give gamma="):
        eppo.bandit(many, "b")
    assert len(eppo.bandit(many, "b", gamma=1.0).arms) == 60
