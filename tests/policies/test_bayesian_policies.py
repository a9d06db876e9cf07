"""Bayes-UCB, top-two Thompson, Gittins, information-directed sampling, TS-UCB and the oracle
against slow twins.

Statistical tests compare counts by chi-squared at a level of 1e-6 each: by chance fewer than one
suite in 100,000 fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from belman import Agent, chance, simulate
from belman.engine import entry, kernel
from belman.errors import PolicyError
from belman.families import Bernoulli, Exponential, Family, Gaussian
from belman.measures.best import best_probabilities
from belman.policies import (
    IDS,
    POLICIES,
    TSUCB,
    BayesUCB,
    Gittins,
    Ledger,
    Oracle,
    Policy,
    TopTwoThompson,
)
from belman.policies.gittins import gittins, table
from belman.policies.ledger import record
from belman.policies.policy_kernels import pick
from belman.policies.thompson.ids import best_pair
from belman.policies.thompson.two_arms import renew_pair
from belman.problems import bernoulli, random_bernoulli
from belman.special import chance_above

Floats = NDArray[np.float64]

LEVEL = 1e-6
CONTEST = np.array([[3.0, 4.0], [5.0, 3.0], [1.0, 1.0], [9.0, 8.0]])
EXTREMES = np.array(
    [
        [1e-3, 1e-3],
        [1e9, 1e9],
        [1e-3, 1e9],
        [1e9, 1e-3],
        [0.3, 2.7],
        [1.0, 1.0],
        [1.0, 1.0],
        [1e5, 1.0],
    ]
)


@kernel
def _act(
    policy,
    family,
    constants,
    params,
    ledger,
    memory,
    turn,
    turn_value,
    rng,
    index,
    counts,
    shares,
    closed,
):
    """Refresh every arm, then decide again and again; count the arms and keep the chance that was
    said of each.
    """
    for a in range(index.size):
        policy.refresh(family, constants, params, ledger, memory, a)
    policy.indices(family, constants, params, ledger, memory, turn, turn_value, rng, index)
    for _ in range(int(counts[-1])):
        arm, ties = policy.choose(
            policy, family, constants, params, ledger, memory, turn, turn_value, rng, index
        )
        counts[arm] += 1.0
        shares[arm] = policy.propensity(
            family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties
        )


class Seen:
    """What a policy makes of some beliefs: its memory, the indices, and the counts and chances of
    many decisions.
    """

    def __init__(
        self,
        policy: Policy,
        family: Family,
        beliefs: Floats,
        plays: Any = 0.0,
        turn: int = 9,
        decisions: int = 0,
    ):
        arms = len(beliefs)
        self.ledger = Ledger(beliefs.copy(), np.zeros(arms) + plays, np.zeros(arms), np.zeros(arms))
        self.memory = policy.memory(arms, family.dimension)
        self.index, self.shares, counts = np.zeros(arms), np.full(arms, np.nan), np.zeros(arms + 1)
        counts[-1] = decisions
        turn_value = float(policy.turn_values(np.array([float(turn)]), arms)[0])
        entry(_act, policy=policy.kernels, family=family.kernels)(
            constants=family.constants,
            params=policy.params(family),
            ledger=self.ledger,
            memory=self.memory,
            turn=turn,
            turn_value=turn_value,
            rng=chance.generator(5),
            index=self.index,
            counts=counts,
            shares=self.shares,
            closed=np.zeros(0, dtype=np.bool_),
        )
        self.counts = counts[:-1]


def agree(counts: Floats, twin: Floats) -> bool:
    """Whether two samples of choices may have the same distribution."""
    table = np.stack([counts, twin])
    return bool(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > LEVEL)


def fits(counts: Floats, chances: Floats) -> bool:
    """Whether choices may have these chances."""
    likely = chances > 0.0
    expected = chances[likely] / chances[likely].sum() * counts.sum()
    return bool(
        counts[~likely].sum() == 0 and stats.chisquare(counts[likely], expected).pvalue > LEVEL
    )


# Bayes-UCB

QUANTILES: dict[str, tuple[Family, Callable[[Floats, float], float]]] = {
    "bernoulli": (Bernoulli(), lambda row, tail: stats.beta.isf(tail, *row)),
    "exponential": (
        Exponential(),
        lambda row, tail: 1.0 / stats.gamma.ppf(tail, row[0], scale=1.0 / row[1]),
    ),
    "gaussian": (Gaussian(), lambda row, tail: stats.norm.isf(tail, row[0], row[1] ** -0.5)),
}


@pytest.mark.interpreted
@pytest.mark.parametrize("name", QUANTILES)
def test_bayes_ucb_index_is_the_quantile(name: str) -> None:
    family, quantile = QUANTILES[name]
    rng = np.random.default_rng(1)
    for turn in (2, 37, 10_000):
        beliefs = np.exp(rng.uniform(-1.0, 6.0, (8, 2)))
        seen = Seen(BayesUCB(), family, beliefs, turn=turn)
        assert seen.index == pytest.approx([quantile(row, 1.0 / turn) for row in beliefs], rel=1e-8)


def test_bayes_ucb_tail_knows_the_horizon() -> None:
    tail = BayesUCB(c=2.0, horizon=1000).turn_values(np.array([1.0, 50.0]), 3)
    assert tail == pytest.approx(1.0 / (np.array([1.0, 50.0]) * math.log(1000) ** 2))
    with pytest.raises(PolicyError, match=r"needs the horizon: give horizon=T"):
        BayesUCB(c=2.0).check(Bernoulli(), 3)


@kernel
def _compare(
    policy,
    family,
    constants,
    params,
    ledger,
    memory,
    turn_values,
    means,
    index,
    other,
    rng,
    twin,
    nature,
):
    """Play, and count the turns at which `choose` differs from the largest index, in its arm, its
    ties or its draws.
    """
    wrong = 0
    for a in range(index.size):
        policy.refresh(family, constants, params, ledger, memory, a)
    for t in range(turn_values.size):
        for i in range(4):
            twin[i] = rng[i]
        policy.indices(
            family, constants, params, ledger, memory, t + 1, turn_values[t], twin, other
        )
        expected, expected_ties = pick(other, twin)
        arm, ties = policy.choose(
            policy, family, constants, params, ledger, memory, t + 1, turn_values[t], rng, index
        )
        wrong += arm != expected or ties != expected_ties or rng[0] != twin[0]
        played = chance.below(nature, index.size) if chance.uniform(nature) < 0.1 else arm
        record(
            family,
            constants,
            ledger,
            played,
            family.reward(constants, means[played], chance.uniform(nature)),
        )
        policy.refresh(family, constants, params, ledger, memory, played)
    return wrong


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("name", "prior"),
    [("bernoulli", (1.0, 1.0)), ("bernoulli", (0.4, 1.3)), ("exponential", (1.0, 1.0))],
)
def test_bayes_ucb_is_lazy_but_exact(name: str, prior: tuple[float, float]) -> None:
    family, policy = QUANTILES[name][0], BayesUCB()
    means = np.array([[0.2], [0.2], [0.5], [0.45], [0.9], [0.88], [0.01]])
    arms, turns = len(means), 4000
    ledger = Ledger.blank(np.tile(prior, (arms, 1)))
    memory = policy.memory(arms, 2)
    wrong = entry(_compare, policy=policy.kernels, family=family.kernels)(
        constants=family.constants,
        params=policy.params(family),
        ledger=ledger,
        memory=memory,
        turn_values=policy.turn_values(np.arange(1.0, turns + 1.0), arms),
        means=means,
        index=np.empty(arms),
        other=np.empty(arms),
        rng=chance.generator(3),
        twin=chance.generator(3),
        nature=chance.generator(4),
    )
    assert wrong == 0


def test_bayes_ucb_regret() -> None:
    """Within 4 combined standard errors of independent values (1,000 runs each): by chance once in
    10,000 suites.
    """
    low = (0.1, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01)
    for means, horizon, known in (((0.45, 0.55), 1000, 10.99), (low, 500, 25.96)):
        regret = simulate(
            {"Bayes-UCB": BayesUCB()}, bernoulli(list(means)), horizon=horizon, runs=1000, seed=2
        ).regret[0, :, -1]
        assert abs(float(regret.mean()) - known) < 4.0 * math.sqrt(2.0) * float(
            regret.std()
        ) / math.sqrt(1000)


# Gittins

KNOWN = {
    0.9: {
        (1, 1): 0.7029,
        (1, 2): 0.5001,
        (1, 3): 0.3796,
        (2, 1): 0.8001,
        (2, 2): 0.6346,
        (3, 1): 0.8452,
    },
    0.99: {(1, 1): 0.8699, (1, 2): 0.7005, (2, 1): 0.9102, (2, 2): 0.7844},
}


def slow_index(discount: float, alpha: float, beta: float, depth: int) -> float:
    """Bisection on the certain reward, with the value of all states from (α, β) on down to a depth
    of no more learning.
    """
    low, high = alpha / (alpha + beta), 1.0
    for _ in range(24):
        sure = 0.5 * (low + high)
        wins = np.arange(depth + 1.0)
        mean = (alpha + wins) / (alpha + beta + depth)
        value = np.maximum(sure, mean) / (1.0 - discount)
        for n in range(depth - 1, -1, -1):
            mean = (alpha + wins[: n + 1]) / (alpha + beta + n)
            play = mean + discount * (mean * value[1:] + (1.0 - mean) * value[:-1])
            value = np.maximum(play, sure / (1.0 - discount))
        low, high = (sure, high) if play[0] > sure / (1.0 - discount) else (low, sure)
    return 0.5 * (low + high)


@pytest.mark.parametrize(("discount", "known"), KNOWN.items())
def test_gittins_known_values(discount: float, known: dict[tuple[int, int], float]) -> None:
    for (alpha, beta), value in known.items():
        assert round(Gittins(discount=discount).index(alpha, beta), 4) == value


@pytest.mark.parametrize(
    ("discount", "alpha", "beta", "error"),
    [
        *((0.9, a, b, 1e-4) for a, b in ((1, 9), (30, 2), (60, 50))),
        *((0.99, a, b, 1e-4) for a, b in ((4, 3), (20, 90), (150, 1))),
        *(
            (0.9, a, b, 2e-3)
            for a, b in ((1.5, 2.5), (10.5, 7.3), (0.05, 3.0), (3.0, 0.05), (20.0, 0.5))
        ),  # between whole counts
        *((0.99, a, b, 4e-4) for a, b in ((450, 450), (700, 40), (1e-3, 800))),  # beyond the table
    ],
)
def test_gittins_slow_twin(discount: float, alpha: float, beta: float, error: float) -> None:
    depth = 200 if discount == 0.9 else 1000
    assert Gittins(discount=discount).index(alpha, beta) == pytest.approx(
        slow_index(discount, alpha, beta, depth), abs=error
    )


@pytest.mark.parametrize("steps", [(0, 0), (0, 1), (5, 3), (20, 0)])
def test_gittins_is_exact_a_whole_number_of_rewards_from_the_prior(steps: tuple[int, int]) -> None:
    prior = (0.5, 0.25)
    belief = np.add(prior, steps)
    seen = Seen(Gittins(discount=0.9), Bernoulli(prior=prior), belief[None, :])
    assert seen.index[0] == pytest.approx(slow_index(0.9, *belief, 200), abs=1e-4)


def test_gittins_table_is_kept(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "cache_directory", lambda: tmp_path)
    gittins._params.cache_clear()
    made = gittins._params(0.5, (1.0, 1.0))
    (file,) = tmp_path.iterdir()
    gittins._params.cache_clear()
    monkeypatch.setattr(table, "lifts", lambda discount, starts: pytest.fail("computed twice"))
    assert np.array_equal(gittins._params(0.5, (1.0, 1.0)), made)
    monkeypatch.undo()
    monkeypatch.setattr(table, "cache_directory", lambda: tmp_path)
    file.write_bytes(file.read_bytes()[:1000])
    gittins._params.cache_clear()
    assert np.array_equal(gittins._params(0.5, (1.0, 1.0)), made)


def test_gittins_plays_bernoulli_only() -> None:
    with pytest.raises(PolicyError, match=r"gittins plays bernoulli rewards only, not gaussian"):
        Gittins().check(Gaussian(), 3)
    assert Gittins(horizon=10).index(1, 1) == Gittins(discount=0.9).index(1, 1)


def test_gittins_rises_with_successes_and_falls_to_the_mean() -> None:
    policy = Gittins(discount=0.99)
    counts = [1e-3, 0.5, 1.0, 2.5, 40.0, 199.0, 399.0, 1e4, 1e9]
    for beta in counts:
        along = [policy.index(alpha, beta) for alpha in counts]
        assert along == sorted(along)
        assert all(
            alpha / (alpha + beta) <= index * (1 + 1e-15) <= 1 + 1e-15
            for alpha, index in zip(counts, along, strict=True)
        )
    assert policy.index(1e9, 1e9) == pytest.approx(0.5, abs=1e-7)


# Information-directed sampling


def slow_information(beliefs: Floats) -> tuple[Floats, Floats, Floats]:
    """p, Δ and g by a Riemann sum over 100,000 levels of the best arm."""
    x = np.linspace(0.0, 1.0, 100_001)
    middle = 0.5 * (x[1:] + x[:-1])
    below = stats.beta.cdf(x, beliefs[:, :1], beliefs[:, 1:])
    inside = np.diff(below, axis=1)
    below = 0.5 * (below[:, 1:] + below[:, :-1])
    parts = np.cumsum(middle * inside, axis=1) - 0.5 * middle * inside
    given_less = parts / np.maximum(below, 1e-300)
    arms = len(beliefs)
    joint = np.empty((arms, arms))
    share = np.empty(arms)
    for b in range(arms):
        best_here = inside[b] * np.prod(np.delete(below, b, axis=0), axis=0)
        share[b] = best_here.sum()
        joint[b] = (best_here * given_less).sum(axis=1)
        joint[b, b] = (best_here * middle).sum()
    mean = beliefs[:, 0] / beliefs.sum(axis=1)
    given = joint / share[:, None]
    divergence = given * np.log(given / mean) + (1.0 - given) * np.log((1.0 - given) / (1.0 - mean))
    return share, joint.trace() - mean, (share[:, None] * divergence).sum(axis=0)


@pytest.mark.parametrize(
    "beliefs",
    [
        CONTEST,
        np.array([[1.0, 1.0], [1.0, 1.0]]),
        np.array([[0.5, 2.5], [30.0, 70.0]]),
        np.array([[400.0, 410.0], [12.0, 11.0]]),
        np.array([[0.5, 0.5], [0.3, 0.7], [2.0, 3.0]]),
        np.array([[400.0, 410.0], [12.0, 11.0], [1.0, 4.0], [900.0, 901.0]]),
        np.array([[9000.0, 9000.0], [8000.0, 8080.0], [2.0, 3.0]]),
    ],
)
def test_ids_integrals(beliefs: Floats) -> None:
    share, regret, gain = slow_information(beliefs)
    memory = Seen(IDS(), Bernoulli(), beliefs).memory
    assert memory.share == pytest.approx(share, abs=5e-4)
    assert memory.regret == pytest.approx(regret, abs=1e-3 * regret.max())
    assert memory.gain == pytest.approx(gain, abs=3e-3 * gain.max())


@pytest.mark.interpreted
def test_ids_columns_follow_the_rewards() -> None:
    """After hundreds of single steps and new meshes the integrals are those of the beliefs at the
    end.
    """
    agent = Agent(range(4), policy=IDS(), seed=1)
    rng = np.random.default_rng(2)
    for _ in range(600):
        arm = agent.ask()
        agent.tell(arm, float(rng.random() < (0.5, 0.52, 0.3, 0.45)[arm]))
    table = agent.explain()
    beliefs = np.array([agent.belief(arm) for arm in table["arm"]])
    _, regret, gain = slow_information(beliefs)
    assert table["expected regret"] == pytest.approx(regret, abs=1e-3 * regret.max())
    assert table["information gain"] == pytest.approx(gain, abs=5e-3 * gain.max())


@pytest.mark.interpreted
def test_ids_of_two_arms_follows_whatever_changes() -> None:
    """Rewards one by one, priors that are no whole numbers, corrections, and other counts at once:
    the closed form is that of the beliefs at the end.
    """
    rng = np.random.default_rng(4)
    beliefs, pair = np.array([[0.3, 0.7], [1.1, 2.0]]), np.zeros(6)
    for turn in range(400):
        arm, won = rng.integers(2), rng.integers(2)
        if turn % 7 == 3 and beliefs[arm, won] > 1.5:  # a correction
            beliefs[arm, won] -= 1.0
            beliefs[arm, 1 - won] += 1.0
        elif turn % 50 == 49:
            beliefs[arm] = 0.5 + 20.0 * rng.random(2)
        else:
            beliefs[arm, won] += 1.0
        renew_pair(beliefs, pair)
        assert pair[4] == pytest.approx(chance_above(*beliefs.ravel())[0], abs=1e-12)
    before = pair.copy()
    renew_pair(beliefs, pair)
    assert pair.tolist() == before.tolist()


def _mixed(q: Any, regret: float, other_regret: float, gain: float, other_gain: float) -> Any:
    return (q * regret + (1 - q) * other_regret) ** 2 / (q * gain + (1 - q) * other_gain)


@np.errstate(divide="ignore", invalid="ignore")
def test_ids_pair_is_the_least() -> None:
    rng = np.random.default_rng(3)
    q = np.linspace(0.0, 1.0, 501)
    for _ in range(100):
        regret, gain = rng.exponential(size=5) ** 2, rng.exponential(size=5) ** 2
        first, second, weight = best_pair(regret, gain)
        result = _mixed(weight, regret[first], regret[second], gain[first], gain[second])
        mixed = [
            _mixed(q, regret[i], regret[j], gain[i], gain[j]) for i in range(5) for j in range(5)
        ]
        assert result <= np.min(mixed) * (1 + 1e-12)
    assert best_pair(np.array([0.2, 0.0]), np.zeros(2)) == (1, 1, 1.0)


def test_ids_chances_are_those_of_its_choices() -> None:
    seen = Seen(IDS(), Bernoulli(), np.vstack([CONTEST, [1.0, 1.0]]), decisions=20_000)
    chances = seen.memory.chances
    assert chances.sum() == pytest.approx(1.0)
    assert chances[2] == chances[4] > 0.0  # twins share alike
    assert fits(seen.counts, chances)
    played = seen.counts > 0
    assert seen.shares[played] == pytest.approx(chances[played])


@pytest.mark.interpreted
def test_ids_draws_estimate_the_variance() -> None:
    """Of the conditional means, which 200,000 draws of our own and 20,000 of IDS give to 10 %, more
    than 5 standard errors.
    """
    beliefs = np.array([[0.0, 1.0], [0.3, 4.0], [-0.2, 0.5]])
    draws = np.random.default_rng(4).normal(beliefs[:, 0], beliefs[:, 1] ** -0.5, (200_000, 3))
    best = draws.argmax(axis=1)
    share = np.bincount(best) / len(draws)
    given = np.array([draws[best == b].mean(axis=0) for b in range(3)])
    memory = Seen(IDS(draws=20_000), Gaussian(), beliefs).memory
    assert memory.share == pytest.approx(share, abs=0.02)
    assert memory.regret == pytest.approx(draws.max(axis=1).mean() - beliefs[:, 0], rel=0.05)
    assert memory.gain == pytest.approx(
        (share[:, None] * (given - beliefs[:, 0]) ** 2).sum(axis=0), rel=0.1
    )


def test_ids_regret_of_the_paper() -> None:
    """Russo and Van Roy report 18.0 on ten uniform arms after 1,000 turns; 200 runs are within 4
    standard errors, about 5.
    """
    regret = simulate({"IDS": IDS()}, random_bernoulli(10), horizon=1000, runs=200, seed=5).regret[
        0, :, -1
    ]
    assert abs(float(regret.mean()) - 18.0) < 4.0 * float(regret.std()) / math.sqrt(200)


# TS-UCB and top-two Thompson


@pytest.mark.parametrize("draws", [1, 5])
def test_ts_ucb_naive_twin(draws: int) -> None:
    plays, decisions = np.array([5.0, 6.0, 1.0, 15.0]), 20_000
    seen = Seen(TSUCB(draws), Bernoulli(), CONTEST, plays, decisions=decisions)
    rng = np.random.default_rng(6)
    largest = rng.beta(CONTEST[:, 0], CONTEST[:, 1], (decisions, draws, 4)).max(axis=2).mean(axis=1)
    mean = CONTEST[:, 0] / CONTEST.sum(axis=1)
    twin = np.bincount(np.argmin((largest[:, None] - mean) * np.sqrt(plays), axis=1), minlength=4)
    assert agree(seen.counts, twin)
    if draws == 1:
        chances = np.nan_to_num(seen.shares)
        assert chances.sum() == pytest.approx(1.0, abs=1e-3)
        assert fits(seen.counts, chances)
    else:
        assert np.isnan(seen.shares).all()


def test_ts_ucb_plays_every_arm_first() -> None:
    seen = Seen(TSUCB(), Bernoulli(), CONTEST, np.array([3.0, 0.0, 0.0, 1.0]), decisions=1000)
    assert seen.counts[[0, 3]].sum() == 0
    assert seen.shares[[1, 2]].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("beta", [0.5, 0.8, 1.0])
def test_top_two_naive_twin(beta: float) -> None:
    decisions = 20_000
    policy = TopTwoThompson(beta)
    seen = Seen(policy, Bernoulli(), CONTEST, decisions=decisions)
    rng = np.random.default_rng(7)
    twin = np.zeros(4)
    for _ in range(decisions // 4):
        leader = challenger = rng.beta(CONTEST[:, 0], CONTEST[:, 1]).argmax()
        if rng.random() >= beta:
            while challenger == leader:
                challenger = rng.beta(CONTEST[:, 0], CONTEST[:, 1]).argmax()
        twin[challenger] += 1
    assert agree(seen.counts, twin)
    chances = policy.chances(best_probabilities(Bernoulli(), CONTEST))
    assert chances.sum() == pytest.approx(1.0)
    assert seen.counts / decisions == pytest.approx(chances, abs=0.02)


def test_top_two_plays_the_runner_up_of_a_sure_thing() -> None:
    sure = np.array([[1e6, 1.0], [1.0, 1e6], [5e5, 5e5]])
    seen = Seen(TopTwoThompson(), Bernoulli(), sure, decisions=400)
    assert seen.counts[1] == 0
    assert 120 < seen.counts[2] < 280
    known = TopTwoThompson().own_chances(Bernoulli(), Ledger.blank(sure), np.arange(3))
    assert known == pytest.approx([0.5, 0.0, 0.5], abs=1e-6)
    assert TopTwoThompson().chances(np.ones(1)).tolist() == [1.0]


# All of them

BAYESIAN = [BayesUCB(), TopTwoThompson(), TSUCB(), Gittins(discount=0.99), IDS()]


@pytest.mark.interpreted
@pytest.mark.parametrize("policy", BAYESIAN, ids=lambda policy: policy.name)
def test_extremes_without_nan(policy: Policy) -> None:
    for turn in (1, 2, 10**9):
        seen = Seen(
            policy,
            Bernoulli(),
            EXTREMES,
            np.linspace(0.0, 3.5, len(EXTREMES)),
            turn=turn,
            decisions=3,
        )
        assert not np.isnan(seen.index).any()
        assert seen.counts.sum() == 3
    assert Seen(policy, Bernoulli(), EXTREMES[:1], decisions=2).counts.tolist() == [2.0]


@pytest.mark.interpreted
@pytest.mark.parametrize("policy", BAYESIAN, ids=lambda policy: policy.name)
def test_agents_choose_among_open_arms_fade_and_resume(policy: Policy) -> None:
    agent = Agent(["a", "b", "c", "d"], policy=policy, discount=0.95, seed=3)
    rng = np.random.default_rng(8)
    for turn in range(60):
        arm = agent.ask(among=["b", "d"]) if turn % 3 == 0 else agent.ask()
        assert arm in (("b", "d") if turn % 3 == 0 else ("a", "b", "c", "d"))
        assert 0.0 < agent.last[0].probability <= 1.0 + 1e-9
        agent.tell(arm, rng.random())
    again = Agent.from_json(agent.to_json())
    assert [agent.ask() for _ in range(5)] == [again.ask() for _ in range(5)]


def test_oracle_knows() -> None:
    assert POLICIES["oracle"].sees_truth
    result = simulate({"Oracle": Oracle()}, random_bernoulli(5), horizon=50, runs=20, seed=1)
    assert float(abs(result.regret).max()) == 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: BayesUCB(c=-1.0),
            "c=-1.0 is not valid for bayes-ucb: it must be a number from 0 to 100",
        ),
        (lambda: BayesUCB(c=math.nan), "c=nan"),
        (lambda: BayesUCB(horizon=0), "horizon=0 is not valid for bayes-ucb"),
        (
            lambda: TopTwoThompson(beta=0.0),
            "beta=0.0 is not valid for top-two-thompson: it must be above 0 and at most 1",
        ),
        (lambda: TopTwoThompson(beta="half"), "beta='half'"),
        (
            lambda: TSUCB(draws=0),
            "draws=0 is not valid for ts-ucb: it must be a whole number from 1 to a million",
        ),
        (lambda: TSUCB(draws=2.5), "draws=2.5"),
        (
            lambda: IDS(draws=1),
            "draws=1 is not valid for ids: it must be a whole number from 2 to a million",
        ),
        (
            lambda: Gittins(discount=1.0),
            "discount=1.0 is not valid for gittins: it must be above 0",
        ),
        (lambda: Gittins(horizon=True), "horizon=True is not valid for gittins"),
    ],
)
def test_bad_settings(make: Callable[[], Policy], message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        make()
    assert message in str(caught.value)
