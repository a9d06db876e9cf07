"""Segments: alone they are agents of their own, shared they are one agent, pooled in between."""

import json

import numpy as np
import pytest
from scipy import stats

import belman
from belman import Agent
from belman.deciders import Learnt, state_file
from belman.deciders.segmented.pooling import STRENGTHS, Pools, foretold
from belman.engine import kernel
from belman.errors import ArmError, RewardError, SettingError, StateError
from belman.families import FAMILIES, Bernoulli, Gaussian

ARMS = ["blue", "green", "red"]
CHANCES = {"de": (0.2, 0.5, 0.3), "fr": (0.5, 0.2, 0.3)}


def play(agent, turns, luck, chances=CHANCES):
    arms = []
    for turn in range(turns):
        country = list(chances)[turn % len(chances)]
        arms.append(agent.ask(context={"country": country}))
        reward = int(luck.random() < chances[country][ARMS.index(arms[-1])])
        agent.tell(arms[-1], reward, {"country": country})
    return arms


def certain(agent, strength):
    """Make an agent sure of one strength, whatever it sees."""
    agent._decider.segments.pools.pooled.evidence[:] = -np.inf
    agent._decider.segments.pools.pooled.evidence[STRENGTHS.index(strength)] = 0.0
    agent._decider.segments.pools.weigh = lambda *_: None
    return agent


def believed(agent, country):
    """The belief about blue in a country."""
    decider = agent._decider
    return decider.within(decider.check({"country": country})).learnt("blue").belief


def test_shared_by_all_it_believes_what_one_agent_believes():
    agent = certain(Agent(ARMS, segments=("country",), seed=1), np.inf)
    one = belman.Agent(ARMS, seed=1)
    luck = np.random.default_rng(2)
    for country in ("de", "fr") * 20:
        arm, reward = ARMS[luck.integers(3)], int(luck.integers(2))
        agent.tell(arm, reward, {"country": country})
        one.tell(arm, reward)
    for country in ("de", "fr", "it"):
        assert agent.beliefs(context={"country": country}).columns == one.beliefs().columns
        assert agent.weights(100, context={"country": country}) == one.weights(100)


def test_what_is_borrowed_are_rewards():
    """Where these are 0 or 1, own and lent, the sum of their squares is their sum."""
    agent, luck = Agent(ARMS, segments=("country",), seed=1), np.random.default_rng(2)
    play(agent, 60, luck)
    segments = agent._decider.segments
    borrowed = 0.0
    for key in segments.own:
        for arm, learnt in segments.believed(key).items():
            own = segments.of(key)[arm]
            assert learnt.squares == pytest.approx(learnt.sum)
            assert 0.0 <= learnt.sum <= learnt.plays
            borrowed += learnt.plays - own.plays
    assert borrowed > 1.0


def test_without_borrowing_it_is_an_agent_a_segment():
    agent = certain(Agent(ARMS, segments=("country",), seed=1), 0.0)
    alone = {country: belman.Agent(ARMS, seed=1) for country in CHANCES}
    luck = np.random.default_rng(2)
    for country in ("de", "fr") * 20:
        arm, reward = ARMS[luck.integers(3)], int(luck.integers(2))
        agent.tell(arm, reward, {"country": country})
        alone[country].tell(arm, reward)
    for country, one in alone.items():
        assert agent.beliefs(context={"country": country}).columns == one.beliefs().columns
    assert agent.borrowed({"country": "de"}) == dict.fromkeys(ARMS, 0.0)


def test_a_belief_in_between_counts_a_share_of_the_others_rewards():
    """Under k = 10 the 40 of one segment count as 8 for all, and these as 80/18 for another."""
    agent = certain(Agent(ARMS, segments=("country",), seed=1), 10.0)
    for _ in range(40):
        agent.tell("blue", 1, {"country": "fr"})
    for _ in range(5):
        agent.tell("blue", 0, {"country": "de"})
    assert agent.borrowed({"country": "de"})["blue"] == pytest.approx(80 / 18 / 40)
    assert believed(agent, "de") == pytest.approx((1 + 80 / 18, 1 + 5))
    of_five = 5 * 10 / 15
    lent = of_five * 10 / (of_five + 10)
    assert agent.borrowed({"country": "fr"})["blue"] == pytest.approx(lent / 5)
    assert believed(agent, "fr") == pytest.approx((1 + 40, 1 + lent))


def test_a_large_segment_does_not_drown_small_ones():
    """What is believed where nothing was seen is near the middle of segments, not of rewards."""
    agent = certain(Agent(ARMS, segments=("country",), seed=1), 10.0)
    for _ in range(2_000):
        agent.tell("blue", 1, {"country": "fr"})
    for country in ("de", "it", "es", "pt"):
        for _ in range(50):
            agent.tell("blue", 0, {"country": country})
    assert 0.2 < agent.beliefs(context={"country": "nl"})["expected reward"][0] < 0.35


def rewards_of(family, count):
    theta = family.parameter_of(np.clip(0.4, *np.nan_to_num(family.mean_range)))
    return family.sample_rewards(theta, belman.Agent(["a"], seed=1)._decider.rng, count).tolist()


def slowly(family, first, own, others, strength):
    """The belief of a segment under a strength, in the coordinates to which rewards add."""

    def kept(n):
        return 1.0 if np.isinf(strength) else strength / (n + strength) if strength else 0.0

    start = family.additive(first)
    lent, count = np.zeros_like(start), 0.0
    for rewards in others:
        belief = first
        for reward in rewards:
            belief = family.update(belief, reward)
        lent += kept(len(rewards)) * (family.additive(belief) - start)
        count += kept(len(rewards)) * len(rewards)
    return family.from_additive(family.additive(own) + kept(count) * lent)


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_beliefs_and_likelihoods_are_those_of_rewards_counted_one_by_one(name):
    """Three segments, every strength: beside sums in natural parameters, and the evidence beside A
    after a reward less A before, both by the family's own Python methods.
    """
    family = FAMILIES[name]()
    rewards = rewards_of(family, 24)
    told = [rewards[:3], rewards[3:15], rewards[15:23]]
    start = Learnt.nothing(tuple(map(float, family.prior)))
    pools, learnt = Pools(family, [start]), [start] * 3
    for segment, some in enumerate(told):
        for reward in some:
            after = learnt[segment].told(family, reward)
            pools.recount([learnt[segment]], 0, after)
            learnt[segment] = after
    beliefs = [
        slowly(family, family.prior, learnt[0].belief, told[1:], strength) for strength in STRENGTHS
    ]
    for i, belief in enumerate(beliefs):
        pools.pooled.evidence[:] = -np.inf
        pools.pooled.evidence[i] = 0.0
        result = pools.borrowed([learnt[0]]).beliefs[0]
        np.testing.assert_allclose(result, belief, rtol=1e-9, atol=1e-12)
    pools.pooled.evidence[:] = 0.0
    middle = family.from_additive(np.mean([family.additive(belief) for belief in beliefs], axis=0))
    np.testing.assert_allclose(pools.borrowed([learnt[0]]).beliefs[0], middle, rtol=1e-9)
    pools.weigh([learnt[0]], 0, rewards[-1])
    if family.conjugate:
        gains = [
            family.log_partition(family.update(belief, rewards[-1])) - family.log_partition(belief)
            for belief in beliefs
        ]
        gains = np.where(np.isfinite(gains), gains, 0.0)
        np.testing.assert_allclose(pools.pooled.evidence, gains - gains.max(), rtol=1e-8, atol=1e-9)
    else:
        assert (pools.pooled.evidence != 0.0).any()


@kernel
def likelihood(family, constants, belief, reward, variance):
    return foretold(family, constants, belief, reward, variance)


def test_rewards_are_foretold_by_the_belief_or_by_a_normal_distribution():
    """By the belief itself where it is conjugate, else with the variance of rewards and its own."""
    won = Bernoulli().enter(likelihood, belief=np.array([3.0, 5.0]), reward=1.0, variance=0.0)
    assert won == pytest.approx(np.log(3.0 / 8.0))
    normal = Gaussian()
    belief = np.array([2.0, 8.0])
    mean, worth = normal.expected_reward(belief), normal.worth(belief)
    distribution = stats.norm(mean, np.sqrt(4.0 * (1.0 + 1.0 / worth)))
    result = normal.enter(likelihood, belief=belief.copy(), reward=1.5, variance=4.0)
    assert result == pytest.approx(distribution.logpdf(1.5) + 0.5 * np.log(2.0 * np.pi))


def test_rounding_does_not_add_up():
    """Of rewards around a million, in two segments, each counted anew with every one of them."""
    family = FAMILIES["gaussian-unknown"]()
    luck, start = np.random.default_rng(5), Learnt.nothing(tuple(map(float, family.prior)))
    pools, learnt = Pools(family, [start]), [start, start]
    told = [[], []]
    for turn in range(4_000):
        reward = 1e6 + float(luck.normal())
        after = learnt[turn % 2].told(family, reward)
        pools.recount([learnt[turn % 2]], 0, after)
        learnt[turn % 2] = after
        told[turn % 2].append(reward)
    result = pools.pooled.beliefs[0, -1]
    one = np.array(family.prior)
    for reward in (reward for pair in zip(*told, strict=True) for reward in pair):
        one = family.update(one, reward)
    np.testing.assert_allclose(result, one, rtol=1e-6)


def test_like_segments_share_and_unlike_ones_do_not():
    """With 300 rewards in each of two segments, whose arms are alike or far apart."""
    alike = Agent(ARMS, segments=("country",), policy=belman.Uniform(), seed=1)
    play(alike, 600, np.random.default_rng(4), {"de": (0.3, 0.3, 0.3), "fr": (0.3, 0.3, 0.3)})
    apart = Agent(ARMS, segments=("country",), policy=belman.Uniform(), seed=1)
    play(apart, 600, np.random.default_rng(4), {"de": (0.1, 0.9, 0.1), "fr": (0.9, 0.1, 0.9)})
    assert alike.borrowed({"country": "de"})["blue"] > 0.5
    assert apart.borrowed({"country": "de"})["blue"] < 0.05


def test_it_goes_on_from_its_file_to_the_last_bit(tmp_path):
    agent = Agent(ARMS, segments=("country",), policy=belman.Thompson(), seed=5)
    play(agent, 30, np.random.default_rng(6))
    agent.ask(context={"country": "it"})
    agent.save(tmp_path / "segments.json")
    again = Agent.load(tmp_path / "segments.json")
    assert play(again, 30, np.random.default_rng(7)) == play(agent, 30, np.random.default_rng(7))
    assert again.segments == agent.segments
    assert again.strengths().columns == agent.strengths().columns


@pytest.mark.parametrize(
    "change",
    [
        {"beliefs": {"pooled": {"evidence": [0.0]}}},
        {"beliefs": {"pooled": {"evidence": ["nan"] * len(STRENGTHS)}}},
        {"beliefs": {"pooled": {"counts": []}}},
        {"beliefs": {"pooled": {"beliefs": [[[0.0, 1.0]] * len(STRENGTHS)] * len(ARMS)}}},
        {"names": "country"},
        {"names": []},
        {"names": ["country", "device"]},
        {"beliefs": {"segments": [[["de"], []]]}},
        {"beliefs": {"segments": 3}},
        {"totals": {}},
        {"order": ["blue", "green"]},
        {"order": ["blue", "green", "blue"]},
        {"order": ["blue", "green", "pink"]},
        {"totals": []},
        {"out": [[{"country": "de"}, "blue", 0]]},
        {"out": [[{"country": "de"}, "pink", 1]]},
        {"out": [[{"country": "never seen"}, "blue", 1]]},
        {"out": [[{"country": "de"}, "blue", 1]]},
    ],
)
def test_a_file_of_a_stranger_is_refused(tmp_path, change):
    agent = Agent(ARMS, segments=("country",), seed=5)
    play(agent, 4, np.random.default_rng(6))
    agent.save(tmp_path / "segments.json")
    content = json.loads((tmp_path / "segments.json").read_text())
    state, within = content["state"], change.get("beliefs", {})
    beliefs = state["beliefs"] | within
    beliefs["pooled"] = state["beliefs"]["pooled"] | within.get("pooled", {})
    content["state"] = state | change | {"beliefs": beliefs}
    del content["checksum"]
    (tmp_path / "segments.json").write_text(state_file.write(content))
    with pytest.raises(StateError):
        Agent.load(tmp_path / "segments.json")


def test_what_is_refused_changes_nothing():
    agent = Agent(ARMS, segments=("country", "device"), seed=5)
    with pytest.raises(ArmError):
        agent.tell("pink", 1, {"country": "de"})
    with pytest.raises(RewardError):
        agent.tell("blue", 2, {"country": "de"})
    with pytest.raises(SettingError, match="did you mean 'country'"):
        agent.ask(context={"contry": "de"})
    with pytest.raises(SettingError, match="give text, a number or None"):
        agent.ask(context={"country": ["de"]})
    with pytest.raises(SettingError, match="is not a segment"):
        agent.ask(context="de")
    agent.beliefs(context={"country": "de"})
    assert agent.segments == []


@pytest.mark.parametrize("segments", ["country", (), ("a", "a"), (1,)])
def test_segments_are_different_names(segments):
    with pytest.raises(SettingError, match="segments="):
        Agent(ARMS, segments=segments)


def test_a_report_is_of_a_segment():
    agent = Agent(ARMS, segments=("country",), control="red", seed=5)
    play(agent, 600, np.random.default_rng(6))
    reports = {country: agent.report(context={"country": country}) for country in CHANCES}
    assert "green" in reports["de"].sentence
    assert "blue" in reports["fr"].sentence


def test_a_report_that_borrows_promises_nothing_at_any_look():
    """Other segments' rewards have other means: a sequence over them would not be one."""
    agent = Agent(ARMS, segments=("country",), control="red", seed=5)
    play(agent, 20, np.random.default_rng(6), {"de": (0.2, 0.5, 0.3)})
    assert agent.report(context={"country": "de"}).arms[0].anytime is not None
    play(agent, 20, np.random.default_rng(6))
    result = agent.report(context={"country": "de"})
    assert result.arms[0].anytime is None
    assert "other segments" in result.notes[-1]


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_every_family_has_segments(name):
    """Asked, told, and kept; a report, which takes long interpreted, of some."""
    family = FAMILIES[name]()
    agent = Agent(["blue", "red"], family, segments=("country",), control="red", seed=1)
    rewards = rewards_of(family, 6)
    for country, reward in zip("deffde", rewards, strict=True):
        agent.tell(agent.ask(context={"country": country}), reward, {"country": country})
    assert sum(agent.weights(100, context={"country": "d"}).values()) == pytest.approx(1.0)
    if name in ("poisson", "log-normal"):
        assert agent.report(context={"country": "d"}).sentence
    assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()


def test_batches_priors_and_why():
    options = {"segments": ("country",), "seed": 5, "clip": True, "range": (0, 10)}
    agent = Agent(ARMS, **options, priors={"blue": (8.0, 2.0)}, stop_when=belman.measures.Sure(0.9))
    assert sorted(agent.ask(3, context={"country": "de"})) == sorted(ARMS)
    agent.tell("blue", 99, {"country": "de"})
    table = agent.explain(context={"country": "de"})
    assert table["arm"][0] in ARMS
    assert agent.beliefs(context={"country": "fr"})["expected reward"][0] == pytest.approx(
        90 / 11, rel=0.1
    )
    assert agent.report(context={"country": "de"}).rule == belman.measures.Sure(0.9)
