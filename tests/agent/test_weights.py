"""The weights of the next decisions, beside the slow way to find them: asking so often."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import belman
from belman import Agent, BelMan, Thompson
from belman.errors import ArmError, SettingError
from belman.families import FAMILIES, Bernoulli
from belman.measures import best_probabilities
from belman.policies import (
    IDS,
    IMED,
    POLICIES,
    TSUCB,
    EpsilonGreedy,
    Forced,
    KLUCBPlus,
    Random,
    TopTwoThompson,
    dealing,
)
from belman.policies.belman import waterfilling
from belman.policies.dealing import PARTS, SINGLY
from tests.agent.played import ARMS, played
from tests.members import BY_QUADRATURE, KNOWN_HORIZON, member, random_rewards

# far more decisions than rewards, of which it warns
pytestmark = pytest.mark.filterwarnings("ignore:arm .* decisions, and it is the best")

#: Policies that need to be told something.
TOLD = {
    "successive-rejects": {"budget": 500},
    "successive-accepts-rejects": {"budget": 500},
    "sequential-halving": {"budget": 500},
    "explore-then-commit": {"explore": 20},
    **{name: {"horizon": 1_000} for name in KNOWN_HORIZON},
    "gittins-exact": {"horizon": 100},
    **{name: {"horizon": 40} for name in POLICIES if name.startswith("irs-")},  # slow
    "phases": {"turns": 50},
}


def asked_shares(agent: Agent, n: int) -> np.ndarray:
    """The slow twin: shares of n asks of a copy."""
    twin = Agent.from_json(agent.to_json(), family=agent._decider.scale.base)
    counts = Counter(twin.ask(n))
    return np.array([counts[arm] / n for arm in agent.arms])


def shares(agent: Agent, n: int) -> np.ndarray:
    return np.array(list(agent.weights(n).values()))


def learnt(arms: int, turns: int, seed: int, top: float = 1.0, **settings) -> Agent:
    chances = top * np.random.default_rng(seed).random(arms)
    return played(Agent(range(arms), seed=seed, **settings), turns, chances, seed)


@pytest.mark.parametrize(
    ("arms", "turns", "top"), [(2, 30, 1.0), (5, 200, 1.0), (20, 100, 0.1), (60, 900, 0.1)]
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_defaults_weights_are_the_shares_of_so_many_asks(arms, turns, top, seed, monkeypatch):
    """Up to one decision an arm, whose last ones are whole in asks, and of a shift in steps."""
    monkeypatch.setenv("BELMAN_COMPILE", "first")
    agent = learnt(arms, turns, seed, top)
    for n in (2, SINGLY, SINGLY + 1, 300, 3_000):
        apart = np.abs(shares(agent, n) - asked_shares(agent, n)).max()
        assert apart <= arms / n + 1e-9, (n, apart * n)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in BY_QUADRATURE])
def test_so_they_are_for_every_family(name):
    family, arms = member(name), 8
    agent = Agent(range(arms), family, seed=3)
    for reward in random_rewards(family, np.random.default_rng(5), 80):
        agent.tell(agent.ask(), reward)
    for n in (80, 400):
        assert np.abs(shares(agent, n) - asked_shares(agent, n)).max() <= arms / n


def dealt_singly(agent: Agent, n: int, monkeypatch) -> np.ndarray:
    """The slow twin where it is known when play ends, and decisions made together count fewer
    turns left than asks do: decision by decision.
    """
    with monkeypatch.context() as patch:
        for module in (dealing, waterfilling):
            patch.setattr(module, "SINGLY", 10**6)
        return shares(agent, n)


def learnt_of_several_kinds(policy) -> Agent:
    agent = Agent(range(5), "bounded", policy, seed=3)
    rng = np.random.default_rng(6)
    for _ in range(150):
        arm = agent.ask()
        mean = 0.3 + 0.05 * arm
        narrow = rng.beta(60.0 * mean, 60.0 * (1.0 - mean))
        agent.tell(arm, float(rng.random() < mean) if arm % 2 else narrow)
    return agent


def test_so_they_are_where_a_reward_of_one_arm_tells_more():
    agent = learnt_of_several_kinds(BelMan())
    for n in (SINGLY + 1, 300, 1_000):
        assert np.abs(shares(agent, n) - asked_shares(agent, n)).max() <= 5 / n


@pytest.mark.interpreted
def test_where_play_ends_they_are_those_of_as_many_decisions_made_together(monkeypatch):
    late = learnt(6, 300, 4, policy=BelMan.until(600))
    late.ask(40)
    for agent in (learnt_of_several_kinds(BelMan.until(2_000)), late):
        for n in (SINGLY + 1, 200):
            apart = np.abs(shares(agent, n) - dealt_singly(agent, n, monkeypatch)).max()
            assert apart <= len(agent.arms) / n


def test_a_block_that_lasts_to_the_end_goes_to_the_leader():
    """What it tells comes too late; one that ends sooner has something for others."""
    agent = Agent(range(3), policy=BelMan.until(1_000), seed=1)
    for arm, wins in enumerate((6, 5, 5)):
        for told in range(10):
            agent.tell(arm, float(told < wins))
    for n in (970, 971, 5_000):
        assert shares(agent, n).tolist() == [1.0, 0.0, 0.0]
    assert shares(agent, 20)[0] < 1.0


@pytest.mark.parametrize("policy", [IMED(), KLUCBPlus(), BelMan.paper(), belman.policies.UCB1()])
def test_other_policies_are_asked_in_fluid_form(policy):
    """Several decisions at a time blur a share by one part in PARTS, or by one decision an arm."""
    agent = learnt(5, 300, 2, policy=policy)
    for n in (10, SINGLY, 600):
        apart = np.abs(shares(agent, n) - asked_shares(agent, n)).max()
        assert apart <= max(5 / n, 2 / PARTS) * (n > SINGLY) + 1e-9


@pytest.mark.parametrize("name", [name for name in POLICIES if name != "oracle"])
def test_every_policy_has_weights(name, monkeypatch):
    if name in ("gittins", "gittins-exact"):  # its table is long in the making, interpreted
        monkeypatch.setenv("BELMAN_COMPILE", "first")
    agent = learnt(4, 30, 1, policy=POLICIES[name](**TOLD.get(name, {})))
    before = agent.to_json()
    for n in (1, 7, 10**3, 10**12):
        result = shares(agent, n)
        assert result.min() >= 0.0
        assert result.sum() == pytest.approx(1.0, abs=1e-12)
    assert agent.to_json() == before


@pytest.mark.parametrize(
    "policy",
    [
        BelMan(),
        Thompson(),
        TopTwoThompson(),
        EpsilonGreedy(0.3),
        IDS(),
        TSUCB(),
        Random(),
        IMED(),
        KLUCBPlus(),
    ],
)
def test_one_decision_is_the_policy_itself(policy):
    """The weight of the arm that is asked for next is the chance that `last` gives it."""
    for turns in (0, 1, 2, 40):
        agent = played(Agent(ARMS, policy=policy, seed=turns), turns)
        weights = agent.weights(1)
        arm = agent.ask()
        assert weights[arm] == pytest.approx(agent.last[0].probability, abs=1e-9)


def test_thompsons_weights_are_the_chances_of_being_best_for_any_number():
    agent = learnt(4, 60, 1, policy=Thompson())
    best = best_probabilities(Bernoulli(), np.array([agent.belief(arm) for arm in agent.arms]))
    for n in (1, 1_000):
        assert shares(agent, n) == pytest.approx(best, abs=1e-12)


def test_forced_exploration_mixes_in_every_arm():
    agent = learnt(4, 400, 1, policy=Forced(Thompson()))
    explores = agent.policy.chance(agent.turn, 4)
    agent.policy = Thompson()
    inside = shares(agent, 1)
    agent.policy = Forced(Thompson())
    assert shares(agent, 1) == pytest.approx(explores / 4 + (1.0 - explores) * inside)


def test_chances_that_are_not_known_are_counted_over_draws():
    """1,024 draws against 1,000 asks: apart by 0.1 with a chance below 1e-6; by one draw alone it
    would be 0 or 1.
    """
    agent = learnt(3, 60, 1, policy=TSUCB(draws=3))
    rng_shares = [agent.weights(1), agent.weights(1)]
    assert rng_shares[0] == rng_shares[1]  # a copy of the agent's generator is drawn from
    chosen = Counter()
    for _ in range(1_000):
        arm = agent.ask()
        agent.cancel(arm)
        chosen[arm] += 1
    for arm, weight in rng_shares[0].items():
        assert abs(weight - chosen[arm] / 1_000) < 0.1


def test_untried_arms_share_what_there_is():
    assert Agent(ARMS, seed=1).weights(2) == pytest.approx(dict.fromkeys(ARMS, 1 / 3))
    agent = Agent(ARMS, start={"blue": (50, 25)}, seed=1)
    assert agent.weights(2) == pytest.approx({"blue": 0.0, "green": 0.5, "red": 0.5})


@given(
    st.lists(st.tuples(st.floats(-3.0, 9.0), st.floats(-3.0, 9.0)), min_size=1, max_size=6),
    st.integers(1, 10**15),
)
def test_beliefs_of_any_size_have_weights(counts, n):
    """α + β from 1e-3 to 1e9, interpreted and compiled alike."""
    priors = {position: (10.0**won, 10.0**lost) for position, (won, lost) in enumerate(counts)}
    agent = Agent(range(len(counts)), priors=priors, seed=1)
    result = shares(agent, n)
    assert np.isfinite(result).all()
    assert result.min() >= 0.0
    assert result.sum() == pytest.approx(1.0, abs=1e-9)


def test_a_level_is_met_by_all_arms_that_are_filled():
    """After N asks at expectation the indices of the arms that got any are all alike."""
    agent = learnt(6, 300, 3)
    weights = agent.weights(100_000)
    assert min(weights.values()) > 0.0
    for arm, weight in weights.items():
        share, of = 100_000 * weight, agent._decider.learnt(arm)
        won, lost = of.belief
        more = (share * won / (won + lost), share * lost / (won + lost))
        agent.provisional = {**agent.provisional, arm: more}
    level = np.array(list(agent.explain().columns["index"]))
    assert np.ptp(level) < 0.02, level


def test_compiled_and_interpreted_weights_are_the_same(monkeypatch):
    agent = learnt(7, 200, 5)
    kept = agent.to_json()
    interpreted = [agent.weights(n) for n in (1, 10, 1_000, 10**9)]
    monkeypatch.setenv("BELMAN_COMPILE", "first")
    compiled = Agent.from_json(kept)
    for n, wanted in zip((1, 10, 1_000, 10**9), interpreted, strict=True):
        assert compiled.weights(n) == pytest.approx(wanted, rel=1e-9, abs=1e-15)


def test_floors():
    agent = learnt(4, 200, 1)
    plain = agent.weights(500)
    same = agent.weights(500, floor=0.05)
    assert same == pytest.approx({arm: 0.05 + 0.8 * share for arm, share in plain.items()})
    one = agent.weights(500, floor={2: 0.3})
    wanted = {arm: 0.3 * (arm == 2) + 0.7 * share for arm, share in plain.items()}
    assert one == pytest.approx(wanted)
    assert agent.weights(500, floor=0.25) == pytest.approx(dict.fromkeys(range(4), 0.25))


@pytest.mark.parametrize("floor", [-0.1, 0.3, math.nan, "some", True, {0: 0.6, 1: 0.6}, {0: None}])
def test_bad_floors_are_refused(floor):
    with pytest.raises(SettingError, match="floor"):
        learnt(4, 10, 1).weights(10, floor=floor)


def test_bad_numbers_and_unknown_arms_are_refused():
    agent = Agent(ARMS, seed=1)
    for n in (0, -1, 2.5, True, None):
        with pytest.raises(SettingError, match=r"weights\("):
            agent.weights(n)
    with pytest.raises(ArmError, match="did you mean 'green'"):
        agent.weights(10, floor={"gren": 0.1})
