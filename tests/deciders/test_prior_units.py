"""The prior is in the units of the data: the belief is that of a batch on the scales known now.

Linear rewards: exactly, to rounding. Others: each reward left a normal factor in place of its
likelihood, which the prior of its time shaped; the tests state how far that is from a batch fit.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from belman import Agent
from belman.deciders.featured.columns import lay_out
from belman.models import Linear
from belman.models.arrow import spread_out
from belman.models.model import blank
from belman.models.shared import learn
from tests.models.learning import covariance

pytestmark = pytest.mark.compiled  # thousands of turns

#: What comes with an ask, by the kind of numbers in it; `v` is as plain as can be.
SHAPES = {
    "plain": lambda rng, i: rng.normal(),
    "constant": lambda rng, i: 7.0,
    "tiny": lambda rng, i: 1e-9 * rng.normal(),
    "huge": lambda rng, i: 1e9 * rng.normal() - 1e10,
    "narrow": lambda rng, i: 1e6 + rng.normal(),
    "rare": lambda rng, i: float(rng.random() < 0.05),
    "late": lambda rng, i: None if i < 60 else rng.normal(40.0, 12.0),
    "late to change": lambda rng, i: 3.0 if i < 60 else rng.normal(40.0, 12.0),
    "now and then": lambda rng, i: None if rng.random() < 0.7 else rng.normal(40.0, 12.0),
    "rising": lambda rng, i: 2.0**i / 1e9 if i < 60 else rng.normal(),
}


def contexts_of(shape, count=100, seed=3):
    """Up to 100 contexts hold no value beyond the 10 deviations that a number counts at most."""
    rng = np.random.default_rng(seed)
    return [{"u": SHAPES[shape](rng, i), "v": rng.normal(5.0, 2.0)} for i in range(count)]


def design(agent, told, form=0):
    """Return the features of all rewards on the scales in use now: in the plain form, or with
    squares.
    """
    decider = agent._decider
    learnt, rows = decider.knowledge, []
    form = learnt.forms[form]
    layout = form.layout(learnt.context, learnt.features, learnt.arms)
    for arm, _, context in told:
        x, own = np.zeros(len(learnt.context)), np.zeros(len(learnt.features))
        learnt.context.fill(learnt.context.check(context), x)
        position = -1 if isinstance(arm, dict) else decider._positions[arm]
        given = arm if isinstance(arm, dict) else decider._rows[position] if decider._rows else {}
        learnt.features.fill(learnt.features.check(given), own)
        rows.append(np.zeros(len(form.columns)))
        lay_out(x, own, layout, position, rows[-1])
    return np.array(rows), np.array([reward for _, reward, _ in told])


def position_of(agent, shape):
    """The place of the form with this shape; plain ones may be two."""
    shapes = [form.columns.shape for form in agent._decider.knowledge.forms]
    return shapes.index(shape)


def told_to(agent, told):
    for arm, reward, context in told:
        agent.tell(arm, reward, context)
    return agent


def assert_solved(agent, told, form=0):
    """The belief of linear rewards with known noise solves the normal equations."""
    belief, (rows, rewards) = agent._decider.knowledge.forms[form].belief, design(agent, told, form)
    for prior, mean, kept in zip(belief.prior, belief.mean, belief.root, strict=True):
        root = spread_out(kept, belief.begin)
        batch = np.linalg.inv(rows.T @ rows + np.diag(prior**-2.0))
        size = np.abs(rewards).max()
        np.testing.assert_allclose(mean, batch @ rows.T @ rewards, atol=1e-6 * size)
        wide = np.sqrt(np.diag(batch))
        np.testing.assert_allclose(root @ root.T, batch, atol=1e-6 * np.outer(wide, wide).max())


def rewards_for(contexts, seed=4):
    rng = np.random.default_rng(seed)
    return [(str(rng.choice(["a", "b"])), rng.normal(1.0, 1.0), one) for one in contexts]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["as it comes", "backwards", "by u"])
def test_linear_beliefs_solve_the_batch_on_the_scales_in_use(shape, order):
    told = rewards_for(contexts_of(shape))
    if order == "backwards":
        told.reverse()
    elif order == "by u":
        told.sort(key=lambda one: abs(one[2]["u"] or 0.0))
    agent = told_to(Agent(["a", "b"], context=["u", "v"], model=Linear(), seed=1), told)
    for form in ("plain", "logs"):
        assert_solved(agent, told, position_of(agent, form))


@pytest.mark.parametrize("shape", SHAPES)
def test_linear_beliefs_about_rates_solve_the_batch(shape):
    """The one that stands beside the logistic one, with numbers as they are."""
    told = [(arm, float(reward > 1.0), one) for arm, reward, one in rewards_for(contexts_of(shape))]
    agent = told_to(Agent(["a", "b"], context=["u", "v"], seed=1), told)
    assert agent._decider.knowledge.forms[1].model.name == "linear-rates"
    assert_solved(agent, told, form=1)


@pytest.mark.parametrize("late", [0, 40])
def test_squares_solve_the_batch_too(late):
    """Numbers within the three deviations whose squares count, missing now and then; their ends
    come first, so that they are within three of the first scales too.
    """
    rng = np.random.default_rng(2)
    told = []
    for i in range(150):
        u = None if i < late or rng.random() < 0.2 else rng.uniform(20.0, 60.0)
        u = {late: 20.0, late + 1: 60.0}.get(i, u)
        context = {"u": u, "v": 1e-3 * ((0.0, 1.0)[i] if i < 2 else rng.uniform())}
        told.append((str(rng.choice(["a", "b"])), float(rng.random() < 0.4), context))
    agent = told_to(Agent(["a", "b"], context=["u", "v"], model=Linear(), seed=1), told)
    form = position_of(agent, "squares")
    assert len(agent._decider.knowledge.forms[form].columns) == 13
    assert_solved(agent, told, form)


@pytest.mark.parametrize(("shape", "numbers"), [("crosses", 4), ("log crosses", 2)])
def test_products_solve_the_batch_too(shape, numbers):
    """Numbers within three deviations of every scale in use, none of them missing, and words."""
    rng = np.random.default_rng(2)
    told = []
    for i in range(150):
        u = (20.0, 60.0)[i] if i < 2 else rng.uniform(20.0, 60.0)
        v = (1e-3, 0.0)[i] if i < 2 else 1e-3 * rng.uniform()
        context = {"u": u, "v": v, "w": str(rng.choice(["x", "y"]))}
        told.append((str(rng.choice(["a", "b"])), float(rng.random() < 0.4), context))
    names = ["u", "v", "w"]
    agent = told_to(Agent(["a", "b"], context=names, model=Linear(), seed=1), told)
    form = position_of(agent, shape)
    columns = agent._decider.knowledge.forms[form].columns
    assert len(columns) == 1 + 2 * (1 + numbers + 2 + 5)
    assert_solved(agent, told, form)


@pytest.mark.parametrize("shape", [one for one in SHAPES if one not in ("late", "now and then")])
@pytest.mark.parametrize("form", [0, 1], ids=["plain", "logarithms"])
def test_whatever_the_order_the_belief_is_the_same(shape, form):
    """After 64 values of each number, whose scale is then that of all of them."""
    told = rewards_for(contexts_of(shape, count=64))
    probes = [one for _, _, one in told[:5]]
    result = []
    for seed in range(3):
        mixed = [told[i] for i in np.random.default_rng(seed).permutation(64)]
        agent = told_to(Agent(["a", "b"], context=["u", "v"], model=Linear(), seed=1), mixed)
        agent._decider.knowledge.forms[form].score = 1e3  # who speaks depends on the order
        seen = [agent.beliefs(context=probe) for probe in probes]
        result.append([[table["expected reward"], table["low"]] for table in seen])
    np.testing.assert_allclose(result[1:], [result[0]] * 2, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("model", [Linear(), Linear(unknown=True)], ids=["known", "unknown"])
def test_pairs_candidates_banks_and_noise_are_as_if_scales_had_been_known(model):
    """All of the belief, its weights too, equals what rewards on the last scales teach."""
    rng = np.random.default_rng(8)
    agent = Agent(
        features=["price", "size"], context=["u", "v"], model=model, pooling="hybrid", seed=2
    )
    told = []
    for i, context in enumerate(contexts_of("now and then", 100)):
        size = None if rng.random() < 0.2 else 1e4 * rng.exponential()
        candidate = {"price": rng.normal(9.0, 4.0) * (1.0 + i / 20), "size": size}
        told.append((candidate, rng.normal(), context))
    told_to(agent, told)
    learnt = agent._decider.knowledge
    fresh = blank(learnt.form.prior(learnt.columns.columns), model.first_noise)
    for row, reward in zip(*design(agent, told), strict=True):
        learn(model.kernels, model.constants, fresh, row, reward)
    for name in ("mean", "noise", "share"):
        np.testing.assert_allclose(
            getattr(learnt.belief, name), getattr(fresh, name), rtol=1e-6, atol=1e-8
        )
    for b in range(len(fresh.root)):
        wide = covariance(learnt.belief, member=b), covariance(fresh, member=b)
        np.testing.assert_allclose(*wide, rtol=1e-6, atol=1e-8)


def test_arms_come_in_any_order():
    """Prices of three arms: their scale is of all three."""
    prices = {"a": {"price": 1.0}, "b": {"price": 2.0}, "c": {"price": 1000.0}}
    seen = []
    for names in ("abc", "cab"):
        arms = {name: prices[name] for name in names}
        agent = Agent(arms, features=arms, context=["age"], model="linear", seed=1)
        agent.tell("a", 1.0, {"age": 3.0})
        table = agent.beliefs(context={"age": 3.0})
        seen.append(sorted(zip(table["arm"], table["expected reward"], strict=True)))
    assert [name for name, _ in seen[0]] == list("abc")
    np.testing.assert_allclose(
        [value for _, value in seen[0]], [value for _, value in seen[1]], rtol=1e-9
    )


def fitted(rows, rewards, prior, model):
    """Return the mode of the posterior, and the deviations of its curvature."""
    inverse = expit if model == "logistic" else np.exp

    def loss(theta):
        eta = rows @ theta
        height = np.logaddexp(0.0, eta) if model == "logistic" else np.exp(eta)
        return (height - rewards * eta).sum() + 0.5 * ((theta / prior) ** 2).sum()

    def slope(theta):
        return rows.T @ (inverse(rows @ theta) - rewards) + theta / prior**2

    mode = minimize(loss, np.zeros(len(prior)), jac=slope, method="BFGS").x
    mean = inverse(rows @ mode)
    weight = mean * (1.0 - mean) if model == "logistic" else mean
    precision = (rows * weight[:, None]).T @ rows + np.diag(prior**-2.0)
    return mode, np.sqrt(np.diag(np.linalg.inv(precision)))


@pytest.mark.parametrize("model", ["logistic", "poisson"])
@pytest.mark.parametrize("order", ["as it comes", "near first", "far first", "sorted"])
def test_other_beliefs_are_near_a_batch_fit(model, order):
    """400 rewards: no coefficient is further than one deviation from the mode of a batch fit with
    the same prior on the same scales (they are means, and assumed densities), and no deviation
    differs by more than a quarter.
    """
    rng = np.random.default_rng(11)
    count, units, centres = 400, np.array([1e-3, 5.0, 1e4]), np.array([0.0, 100.0, -1e4])
    raw, arms = rng.normal(size=(count, 3)), rng.integers(0, 2, count)
    eta = (np.hstack([np.ones((count, 1)), raw]) * rng.normal(0.0, 0.7, (2, 4))[arms]).sum(axis=1)
    many = (rng.random(count) < expit(eta)) * 1.0
    rewards = many if model == "logistic" else rng.poisson(np.exp(eta)) * 1.0
    key = {"near first": abs(raw[:, 0]), "far first": -abs(raw[:, 0]), "sorted": raw[:, 0]}
    values = centres + units * raw
    told = [
        ("ab"[arms[i]], rewards[i], dict(zip("uvw", values[i].tolist(), strict=True)))
        for i in np.argsort(key.get(order, np.arange(count)))
    ]
    agent = told_to(Agent(["a", "b"], context=["u", "v", "w"], model=model, seed=1), told)
    belief = agent._decider.knowledge.forms[0].belief
    mode, wide = fitted(*design(agent, told), belief.prior[0], model)
    assert np.abs((belief.mean[0] - mode) / wide).max() < 1.0
    ratio = np.linalg.norm(belief.root[0], axis=1) / wide
    assert ratio.min() > 0.8
    assert ratio.max() < 1.25


def test_coefficients_stay_as_large_as_the_prior_and_the_data_say():
    """First values that are close together: a tenth of the rewards told nothing of the scale."""
    rng = np.random.default_rng(5)
    agent = Agent(["a", "b"], context=["u"], seed=1)
    for i in range(300):
        u = 1e-3 * rng.normal() if i < 3 else rng.normal()
        agent.tell("a", float(rng.random() < expit(0.5 * u)), {"u": u})
    table = agent.coefficients()
    largest = np.abs(table["coefficient"]).max()
    assert largest < 1.5
    unknown = table["of"].index("b")
    assert table["high"][unknown] == pytest.approx(1.96, rel=0.01)


def test_one_slip_does_not_cost_what_was_learnt():
    """A value of 10¹² among 200 around 0 doubles their deviation, and leaves the slope known."""
    rng = np.random.default_rng(6)
    agent = Agent(["a", "b"], context=["u"], model="linear", seed=1)
    for _ in range(200):
        u = float(rng.normal())
        agent.tell("a", 2.0 * u + 0.1 * rng.normal(), {"u": u})
    agent.ask(context={"u": 1e12})
    low, high = (agent.beliefs(context={"u": u})["expected reward"][0] for u in (0.0, 1.0))
    assert high - low == pytest.approx(2.0, abs=0.05)
    assert agent._decider.knowledge.context.moments["u"].spread < 3.0
