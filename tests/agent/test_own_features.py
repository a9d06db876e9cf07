"""Arrays as values, and features from functions and models of one's own."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

import belman
from belman import Agent
from belman.agent import Features
from belman.deciders.featured.arrays import Arrays, signs
from belman.errors import SettingError, StateError

pytestmark = pytest.mark.interpreted


def arrays(count, length=40, seed=3):
    return np.random.default_rng(seed).normal(size=(count, length))


# Arrays


def test_short_arrays_are_numbers_like_any_other():
    one = Agent(["a", "b"], context=["x[2]"], seed=1)
    two = Agent(["a", "b"], context=["x 1 of 2", "x 2 of 2"], seed=1)
    for turn, values in enumerate(arrays(30, 2)):
        arm = one.ask(context={"x": values})
        assert arm == two.ask(context=dict(zip(("x 1 of 2", "x 2 of 2"), values, strict=True)))
        for agent in (one, two):
            agent.tell(arm, turn % 2)
    assert one.coefficients().columns == two.coefficients().columns


def test_projections_are_drawn_once_and_for_all():
    result = signs(1_536, 32)
    assert result.shape == (32, 1_536)
    assert set(np.unique(np.sign(result))) == {-1.0, 0.0, 1.0}
    # 49,152 draws: the shares of added and subtracted are a sixth within 5 deviations (1e-6)
    for sign in (-1.0, 1.0):
        assert abs((np.sign(result) == sign).mean() - 1 / 6) < 5 * (5 / 36 / result.size) ** 0.5
    drawn = np.sign(signs(8, 2)).astype(int).ravel().tolist()
    text = hashlib.shake_256(b"belman: projection of 8 on 2").digest(100)
    assert drawn == [{0: 1, 1: -1}.get(byte % 6, 0) for byte in text if byte < 252][:16]


def test_projections_keep_lengths_on_average():
    """Of 400 arrays the mean squared length is kept; its deviation is √(2/32)/√400 = 0.0125 or
    little more, and 5 of them are beyond chance.
    """
    given = arrays(400, 512)
    kept = given @ signs(512, 32).T
    ratio = (kept**2).sum(axis=1) / (given**2).sum(axis=1)
    assert abs(ratio.mean() - 1.0) < 5 * 0.0125


def test_what_is_kept_is_the_projection():
    agent = Agent(["a", "b"], context=["hour", "text[40:3]"], seed=1)
    agent.ask(context={"hour": 2, "text": arrays(1)[0]})
    (choice,) = agent.last
    assert list(choice.context) == ["hour", "text 1 of 3", "text 2 of 3", "text 3 of 3"]
    expected = signs(40, 3) @ arrays(1)[0]
    assert list(choice.context.values())[1:] == pytest.approx(expected.tolist())


def test_a_projected_array_is_learnt_from():
    """A reward along one direction of 12 numbers, of which 8 sums are seen: better than a coin by
    more than chance (300 fair coins exceed 180 with probability 2e-4).
    """
    direction, agent = arrays(1, 12)[0], Agent(["a", "b"], context=["x[12:8]"], seed=1)
    won = 0
    for values in arrays(300, 12, seed=4):
        arm = agent.ask(context={"x": values})
        reward = int((values @ direction > 0) == (arm == "a"))
        agent.tell(arm, reward)
        won += reward
    assert won > 180


def test_arrays_of_candidates_and_their_pairs():
    shelf = Agent(
        features=["price", "image[9:2]"],
        context=["user[3]", "hour"],
        interactions=[("user", "image"), ("hour", "price")],
        seed=1,
    )
    candidates = [{"price": 1.0, "image": values} for values in arrays(4, 9)]
    assert shelf.ask(context={"user": [1, 2, 3], "hour": 4}, candidates=candidates) in range(4)
    pairs = [name for name in shelf.coefficients()["feature"] if "×" in name]
    assert len(pairs) == 3 * 2 + 1


def test_arms_with_embeddings():
    features = {"a": {"e": np.ones(40), "price": 1}, "b": {"e": np.zeros(40), "price": 2}}
    agent = Agent(features, features=features, seed=1)
    assert agent.ask() in features
    assert "e 32 of 32" in agent.coefficients()["feature"]
    with pytest.raises(SettingError, match=r"e has 40 numbers: it is an array of 2 numbers"):
        Agent(["a", "b"], features=features | {"b": {"e": [1, 2]}})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1, 2], r"x has 2 numbers: it is an array of 3 numbers \('x\[3\]'\) here"),
        ([1, 2, np.nan], r"x=\[1, 2, nan\] is not allowed: it must be a list or an array"),
        ([[1, 2, 3]], r"in one dimension"),
        (["a", "b", "c"], r"is not allowed"),
        ("abc", r"x=abc is not allowed"),
        ([1, 2, 1e30], r"numbers up to 1e\+09"),
    ],
)
def test_arrays_that_are_none_change_nothing(given, words):
    agent = Agent(["a", "b"], context=["x[3]"], seed=1)
    before = agent.to_json()
    with pytest.raises(SettingError, match=words):
        agent.ask(context={"x": given})
    assert agent.to_json() == before


@pytest.mark.parametrize("name", ["x[0]", "x[5:6]", "x[5:0]", "x[5000]"])
def test_names_that_declare_no_array(name):
    with pytest.raises(SettingError, match=r"declares no array: give name\[length\]"):
        Agent(["a", "b"], context=[name])


def test_missing_arrays():
    agent = Agent(["a", "b"], context=["x[2]"], seed=1)
    agent.tell("a", 1, {"x": [1, 2]})
    agent.tell("a", 0, {"x": None})
    assert "x 2 of 2=missing" in agent.coefficients()["feature"]


def test_names_are_written_as_they_are_declared():
    declared = ["hour", "text[40]", "image[512:7]", "small[3:2]"]
    assert [getattr(part, "declared", part) for part in Arrays(declared).parts] == declared


def test_a_study_with_arrays_comes_back(tmp_path):
    url = f"sqlite:///{tmp_path}/studies.db"
    study = belman.open_study("s", ["a", "b"], context=["x[40:3]"], storage=url, seed=1)
    for values in arrays(6).tolist():
        study.tell(study.ask(context={"x": values}), 1)
    again = belman.open_study("s", storage=url)
    value = arrays(1, seed=9)[0]
    assert (
        again.beliefs(context={"x": value}).columns == study.beliefs(context={"x": value}).columns
    )
    assert again.settings.context == ("x[40:3]",)
    study.storage.close()
    again.storage.close()


# Functions and models


def embed(text):
    return [len(text), text.count("a"), 1.5]


def test_contexts_through_a_function():
    own = Agent(["a", "b"], context=Features(embed, ["text[3]"]), seed=1)
    by_hand = Agent(["a", "b"], context=["text[3]"], seed=1)
    for text in ("banana", "kiwi", "apple"):
        arm = own.ask(context=text)
        assert arm == by_hand.ask(context={"text": embed(text)})
        own.tell(arm, 1)
        by_hand.tell(arm, 1)
    own.tell("a", 0, "plum")
    by_hand.tell("a", 0, {"text": embed("plum")})
    assert own.explain(context="fig").columns == (
        by_hand.explain(context={"text": embed("fig")}).columns
    )


def test_a_function_is_given_again_when_loading(tmp_path):
    agent = Agent(["a", "b"], context=Features(embed, ["n", "as", "other"]), seed=1)
    agent.tell(agent.ask(context="banana"), 1)
    agent.ask(context="kiwi")
    agent.save(tmp_path / "state.json")
    with pytest.raises(StateError, match=r"contexts that go through embed, which no file can hold"):
        Agent.load(tmp_path / "state.json")
    again = Agent.load(tmp_path / "state.json", context=embed)
    assert again.to_json() == agent.to_json()
    assert again.ask(context="fig") == agent.ask(context="fig")
    assert json.loads(agent.to_json())["functions"] == {"context": "embed"}


def test_a_function_that_replaces_nothing_is_refused(tmp_path):
    Agent(["a", "b"], context=["x"]).save(tmp_path / "state.json")
    with pytest.raises(StateError, match=r"context=… replaces nothing"):
        Agent.load(tmp_path / "state.json", context=embed)


def test_features_of_arms_from_a_function():
    agent = Agent(["a", "bbb"], features=lambda arm: {"length": len(arm)}, seed=1)
    assert "length" in agent.coefficients()["feature"]
    agent = Agent(["a", "bbb"], features=embed, seed=1)
    assert "features 3 of 3" in agent.coefficients()["feature"]
    assert Agent.from_json(agent.to_json()).ask() == agent.ask()  # what it gave is kept


def test_candidates_through_a_function():
    agent = Agent(features=Features(embed, ["n", "as", "other"]), seed=1)
    position = agent.ask(candidates=["banana", "kiwi"])
    agent.tell(position, 1)
    agent.tell("plum", 0)
    assert agent.beliefs(candidates=["banana", "kiwi", "fig"])["arm"] == [0, 1, 2]


def test_transformers_name_their_columns():
    texts = ["refund my money", "where is my parcel", "the parcel is broken"]
    words = TfidfVectorizer().fit(texts)
    agent = Agent(["a", "b"], context=words, seed=1)
    assert agent.ask(context="my parcel") in ("a", "b")
    assert "parcel" in agent.coefficients()["feature"]
    many = Features(HashingVectorizer(n_features=512), ["words[512]"])
    agent = Agent(["a", "b"], context=many, seed=1)
    assert agent.ask(context="my parcel") in ("a", "b")
    agent = Agent(["a", "b"], context=PCA(2).fit(arrays(20)), seed=1)
    assert agent.ask(context=arrays(1)[0]) in ("a", "b")


def test_a_transformer_of_many_columns_is_one_array():
    texts = [" ".join(f"word{i}" for i in range(start, start + 90)) for start in (0, 90, 180)]
    assert Features(TfidfVectorizer().fit(texts)).names == ["features[270]"]


def test_a_model_speaks_by_its_predictions():
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"age": arrays(60, 1)[:, 0], "income": arrays(60, 1, seed=5)[:, 0]})
    model = GradientBoostingClassifier(n_estimators=5).fit(rows, rows["age"] > 0)
    agent = Agent(["a", "b"], context=Features(model, ["no", "yes"]), seed=1)
    agent.ask(context={"income": 0.5, "age": 2.0})
    expected = model.predict_proba(pandas.DataFrame({"age": [2.0], "income": [0.5]}))[0]
    assert list(agent.last[0].context.values()) == pytest.approx(expected.tolist())


def test_what_gives_no_features(tmp_path):
    with pytest.raises(SettingError, match=r"what embed returns has no names: give Features\("):
        Agent(["a", "b"], context=embed)
    with pytest.raises(SettingError, match=r"5 gives no features: it must be a function"):
        Features(5, ["x"])
    agent = Agent(["a", "b"], context=Features(embed, ["one", "two"]), seed=1)
    with pytest.raises(SettingError, match=r"embed returned 3 numbers, and 2 are named"):
        agent.ask(context="text")
    url = f"sqlite:///{tmp_path}/studies.db"
    with pytest.raises(SettingError, match=r"is not a list of names: of a function give what"):
        belman.open_study("s", ["a", "b"], context=Features(embed, ["x[3]"]), storage=url)
