"""Estimators for scikit-learn: its own checks, and the numbers of an agent told the same rows."""

# ruff: noqa: N803, N806 (X, as it is called there)
from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest

import belman
from belman import Agent
from belman.agent.making import ALONG_FEATURES
from belman.deciders.shares import Shares
from belman.errors import PolicyError, RewardError, SettingError

sklearn = pytest.importorskip("sklearn", reason="no scikit-learn: pip install 'belman[sklearn]'")
pd = pytest.importorskip("pandas", reason="no pandas")
from sklearn.base import clone  # noqa: E402
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from belman.bridges.sklearn_estimators import ContextualDecider, RewardRegressor  # noqa: E402
from belman.deciders.featured import at_edge  # noqa: E402
from belman.deciders.featured.forecasts import _distribution  # noqa: E402

pytestmark = pytest.mark.interpreted
RNG = np.random.default_rng(7)
NUMBERS = RNG.normal(size=(60, 2))
REWARDS = NUMBERS @ [1.0, -2.0] + 0.3 * RNG.normal(size=60)
COINS = (RNG.uniform(size=60) < 0.5).astype(float)
ARMS = RNG.choice(["blue", "red"], size=60)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of those that its checks provoke
@parametrize_with_checks(
    [
        RewardRegressor(),
        RewardRegressor(model=belman.models.Linear(noise=1.0)),
        ContextualDecider(),
        ContextualDecider("lin-ts", floor=0.01),
    ]
)
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def told(agent, X, rewards, arms=None):
    for row, reward, arm in zip(X.tolist(), rewards, arms or ["reward"] * len(X), strict=True):
        agent.tell(arm, reward, {"x0": row[0], "x1": row[1]})
    return agent


@pytest.mark.parametrize(
    ("model", "y"), [("linear", REWARDS), ("logistic", COINS), ("poisson", COINS)]
)
def test_a_regressor_foretells_what_an_agent_does(model, y):
    regressor = RewardRegressor(model=model).fit(NUMBERS, y)
    agent = told(Agent(["reward"], context=["x0", "x1"], model=model), NUMBERS, y)
    new = RNG.normal(size=(5, 2))
    tables = [agent.beliefs(context={"x0": a, "x1": b}, level=0.8) for a, b in new.tolist()]
    assert regressor.predict(new).tolist() == [one["expected reward"][0] for one in tables]
    both = regressor.predict_interval(new, 0.8)
    assert both.tolist() == [[one["low"][0], one["high"][0]] for one in tables]
    assert regressor.agent_.to_json() == Agent.from_json(regressor.agent_.to_json()).to_json()


@pytest.mark.parametrize(("model", "y"), [("linear", REWARDS), ("logistic", COINS)])
def test_deviations_are_those_of_draws_of_the_belief(model, y):
    """Of 20,000 draws the deviation is known to about 0.5 %: 5 % is ten of these."""
    regressor = RewardRegressor(model=model).fit(NUMBERS, y)
    mean, wide = regressor.predict(NUMBERS[:3], return_std=True)
    decider = regressor.agent_._decider
    form = decider.knowledge.form
    theta = at_edge._drawn(form.model, form.belief, np.random.default_rng(1), 20_000, 1.0)
    for row, one in enumerate(NUMBERS[:3].tolist()):
        asking = decider.check({"x0": one[0], "x1": one[1]})
        features = decider._calls.survey(asking.context, (), [0], 1)["features"][0]
        kernel, constants = form.model.kernels.mean, form.model.constants
        drawn = [kernel(constants, float(eta)) for eta in theta @ features]
        assert wide[row] == pytest.approx(np.std(drawn), rel=0.05)
        assert mean[row] == pytest.approx(np.mean(drawn), abs=5 * wide[row] / np.sqrt(10_000))


@pytest.mark.parametrize(("shape", "variance"), [(0.0, 1.0), (5.0, 1.25), (50.0, 1.0 / 0.98)])
def test_points_of_a_distribution_have_its_moments(shape, variance):
    nodes, weights = _distribution(shape)
    assert weights.sum() == pytest.approx(1.0)
    assert weights @ nodes == pytest.approx(0.0, abs=1e-12)
    assert weights @ nodes**2 == pytest.approx(variance, rel=0.05)


def test_the_deviation_is_infinite_while_the_noise_is_hardly_known():
    _, wide = RewardRegressor().fit([[1.0]], [3.0]).predict([[2.0]], return_std=True)
    assert wide.tolist() == [np.inf]


def test_a_column_can_say_the_arm():
    frame = pd.DataFrame({"x0": NUMBERS[:, 0], "x1": NUMBERS[:, 1], "offer": ARMS})
    regressor = RewardRegressor("offer").fit(frame, REWARDS)
    arms = list(dict.fromkeys(ARMS.tolist()))
    agent = Agent(arms, context=["x0", "x1"], model="linear")
    told(agent, NUMBERS, REWARDS, ARMS.tolist())
    known = agent.beliefs(context={"x0": 0.5, "x1": -1.0})
    for arm in arms:
        row = pd.DataFrame({"x0": [0.5], "x1": [-1.0], "offer": [arm]})
        assert regressor.predict(row)[0] == known.row(arm)["expected reward"]
    by_position = RewardRegressor(2).fit(frame.to_numpy(), REWARDS)
    assert by_position.predict(frame.to_numpy()).tolist() == regressor.predict(frame).tolist()
    later = pd.DataFrame({"x0": [0.5], "x1": [1.0], "offer": ["green"]})
    with pytest.raises(SettingError, match="'green' was not met"):
        regressor.predict(later)
    assert regressor.partial_fit(later, [1.0]).predict(later).shape == (1,)
    with pytest.raises(SettingError, match="not which arm"):
        regressor.predict(later.assign(offer=[None]))
    with pytest.raises(SettingError, match="is no column"):
        RewardRegressor("price").fit(frame, REWARDS)


@pytest.mark.parametrize("policy", [None, "lin-ts", "lin-med", "lin-epsilon-greedy"])
@pytest.mark.parametrize("model", ["logistic", "linear"])
def test_a_decider_chooses_as_an_agent_does(policy, model):
    decider = ContextualDecider(policy, model=model).fit(NUMBERS, ARMS, reward=COINS)
    agent = Agent(["blue", "red"], context=["x0", "x1"], policy=policy, model=model, seed=3)
    told(agent, NUMBERS, COINS, ARMS.tolist())
    chances = decider.predict_proba(NUMBERS[:8])
    for row, (a, b) in enumerate(NUMBERS[:8].tolist()):
        context = {"x0": a, "x1": b}
        known = agent.beliefs(context=context)["expected reward"]
        assert decider.transform(NUMBERS[row : row + 1])[0].tolist() == known
        asked = copy.deepcopy(agent)  # an ask counts the numbers of its context
        position = decider.classes_.tolist().index(asked.ask(context=context))
        assert chances[row, position] == pytest.approx(asked.last[0].probability, abs=0.004)
    assert decider.predict(NUMBERS).tolist() == [
        decider.classes_[position] for position in decider.predict_proba(NUMBERS).argmax(axis=1)
    ]


def test_floors_are_kept_as_a_decider_keeps_them():
    """4,000 draws of a chance: five deviations are at most 0.04."""
    decider = ContextualDecider("lin-ts", floor={"red": 0.2}).fit(NUMBERS, ARMS, reward=COINS)
    inner = decider.agent_._decider.copy()
    asking = inner.check({"x0": 0.2, "x1": 0.1})
    shares, count = Shares((("red", 0.2),)), 0
    for _ in range(4_000):
        (choice,) = inner.choose(asking, 1, None, shares)
        inner.settle(choice, None)
        count += choice.arm == "red"
    assert decider.predict_proba([[0.2, 0.1]])[0, 1] == pytest.approx(count / 4_000, abs=0.04)


def test_samples_are_by_the_chances():
    decider = ContextualDecider("lin-ts", floor=0.1).fit(NUMBERS, ARMS, reward=COINS)
    many = np.repeat([[0.2, 0.1]], 200, axis=0)
    arms, chances = decider.sample(many, random_state=5)
    blue = decider.predict_proba(many[:1])[0, 0]
    assert abs((arms == "blue").sum() - 200 * blue) < 5 * np.sqrt(200 * blue * (1 - blue))
    assert chances[arms == "blue"].tolist() == [blue] * int((arms == "blue").sum())
    again, _ = decider.sample(many, random_state=5)
    assert (again == arms).all()


FRAME = pd.DataFrame(
    {
        "country": ["FR", "DE", None, "FR", "DE", "IT"] * 10,
        "age": pd.array([31, 44, None, 52, 23, 38] * 10, dtype="Int64"),
        "plan": pd.Categorical(["a", "b", "a", "a", None, "b"] * 10),
        "member": [True, False, True, False, True, True] * 10,
    }
)


def test_frames_with_words_and_missing_values_need_no_encoder():
    decider = ContextualDecider().fit(FRAME, ARMS, reward=COINS)
    agent = Agent(["blue", "red"], context=list(FRAME.columns), seed=3)
    for row, arm, reward in zip(FRAME.to_dict(orient="records"), ARMS, COINS, strict=True):
        agent.tell(str(arm), reward, row)
    for row in FRAME.head(6).to_dict(orient="records"):
        alone = pd.DataFrame([row], columns=FRAME.columns)
        known = agent.beliefs(context=row)["expected reward"]
        assert decider.transform(alone)[0].tolist() == known
    assert decider.feature_names_in_.tolist() == list(FRAME.columns)
    with pytest.raises(ValueError, match="feature names"):
        decider.predict(FRAME.rename(columns={"age": "years"}))


def test_what_is_new_in_one_row_tells_nothing_of_the_others():
    decider = ContextualDecider().fit(FRAME, ARMS, reward=COINS)
    new = FRAME.head(5).assign(country=["ES", "PT", "FR", "ES", "NL"])
    together = decider.transform(new)
    alone = np.vstack([decider.transform(new.iloc[[row]]) for row in range(5)])
    assert (together == alone).all()
    before = decider.agent_.to_json()
    decider.predict_proba(new)
    assert decider.agent_.to_json() == before


def test_fits_in_parts_are_one_fit():
    whole = ContextualDecider(random_state=1).fit(NUMBERS, ARMS, reward=COINS)
    parts = ContextualDecider(random_state=1)
    for rows in (slice(0, 20), slice(20, 21), slice(21, None)):
        parts.partial_fit(NUMBERS[rows], ARMS[rows], ["blue", "red"], reward=COINS[rows])
    assert parts.agent_.to_json() == whole.agent_.to_json()
    assert pickle.loads(pickle.dumps(parts)).agent_.to_json() == whole.agent_.to_json()
    regressor = RewardRegressor().fit(NUMBERS[:30], REWARDS[:30])
    regressor.partial_fit(NUMBERS[30:], REWARDS[30:])
    assert regressor.agent_.to_json() == RewardRegressor().fit(NUMBERS, REWARDS).agent_.to_json()
    assert not hasattr(clone(regressor), "agent_")


@pytest.mark.parametrize(
    ("rows", "arms", "rewards", "error", "words"),
    [
        ([[1.0, 2.0]] * 2, ["blue", "red"], [1.0, 7.0], RewardError, "7"),
        ([[1.0, 2.0]] * 2, ["blue", "red"], [1.0, np.nan], RewardError, "NaN"),
        ([[1.0, 2.0]] * 2, ["blue", "green"], [1.0, 0.0], SettingError, "green"),
        ([[1.0, 2.0]] * 2, ["blue", "red"], [1.0], SettingError, "1 in reward"),
        ([[1.0, 2.0]] * 2, ["blue"], [1.0, 0.0], SettingError, "1 in y"),
        ([[1.0, 2.0], [np.inf, 1.0]], ["blue", "red"], [1.0, 0.0], ValueError, "infinity"),
        ([[1.0, 2.0], [1e300, 1.0]], ["blue", "red"], [1.0, 0.0], SettingError, "1e"),
        ([[1.0, 2.0], ["a", 1.0]], ["blue", "red"], [1.0, 0.0], SettingError, "is a number here"),
        ([[1.0, 2.0], [1.0, {}]], ["blue", "red"], [1.0, 0.0], TypeError, "a string or"),
        ([[1.0, 2.0, 3.0]] * 2, ["blue", "red"], [1.0, 0.0], ValueError, "3 features"),
    ],
)
def test_what_is_refused_changes_nothing(rows, arms, rewards, error, words):
    decider = ContextualDecider().fit(NUMBERS, ARMS, reward=COINS)
    before = decider.agent_.to_json()
    if any(not isinstance(value, float) for row in rows for value in row):
        rows = np.array(rows, dtype=object)
    with pytest.raises(error, match=words):
        decider.partial_fit(rows, arms, reward=rewards)
    assert decider.agent_.to_json() == before


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(SettingError, match="floor"):
        ContextualDecider(floor=0.6).fit(NUMBERS, ARMS)
    with pytest.raises(PolicyError, match="chances"):
        ContextualDecider("lin-ids").fit(NUMBERS, ARMS).predict(NUMBERS)
    with pytest.raises(SettingError, match="level"):
        RewardRegressor().fit(NUMBERS, REWARDS).predict_interval(NUMBERS, 1.0)


def test_it_has_the_settings_of_an_agent():
    ours = set(inspect.signature(ContextualDecider).parameters) - {"floor", "random_state"}
    agents = {*ALONG_FEATURES, "policy", "minimise", "discount", "drift"} - {"context"}
    assert ours == agents == set(ContextualDecider._settings)


def test_without_rewards_labels_are_the_right_arms():
    X = RNG.normal(size=(200, 2))
    right = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    decider = ContextualDecider().fit(X, right)
    assert decider.score(X, right) > 0.9
    costs = ContextualDecider(minimise=True).fit(X, right)
    assert (costs.predict(X) == decider.predict(X)).all()
    assert np.allclose(costs.transform(X), 1 - decider.transform(X))


def test_in_pipelines_searches_and_frames():
    frame = pd.DataFrame(NUMBERS, columns=["a", "b"]).assign(word="w")
    scaled = ColumnTransformer([("s", StandardScaler(), ["a"])], remainder="passthrough")
    pipeline = make_pipeline(scaled, RewardRegressor()).set_output(transform="pandas")
    pipeline.fit(frame, REWARDS)
    assert pipeline[-1].feature_names_in_.tolist() == ["s__a", "remainder__b", "remainder__word"]
    assert pipeline.score(frame, REWARDS) > 0.9
    assert cross_val_score(RewardRegressor(), NUMBERS, REWARDS, cv=3).min() > 0.5
    with sklearn.config_context(enable_metadata_routing=True):
        decider = ContextualDecider().set_fit_request(reward=True)
        search = GridSearchCV(decider, {"scale": [0.5, 1.0]}, cv=2)
        search.fit(NUMBERS, ARMS, reward=COINS)
    assert search.best_estimator_.agent_.turn == 61  # each row was told once
    out = ContextualDecider().set_output(transform="pandas").fit(frame, ARMS, reward=COINS)
    assert out.transform(frame).columns.tolist() == ["blue", "red"]
