"""The agent: asking, telling, batches, subsets, arms that come and go, and what it says of itself."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from belman import Agent, BelMan, Choice, Thompson
from belman.exposure import Constant, Evidence, FadingEvidence, Infinite
from belman.families import Bernoulli, Exponential, Gaussian
from belman.manifold import divergence, least_kl_from_arms
from belman.measures import best_probabilities
from belman.table import Table
from tests.naive_belman import naive_phi

ARMS = ["blue", "green", "red"]
#: What one agent draws is fixed by its seed: nothing here is random, so no test has an error rate unless it says so.


def played(agent, turns, chances=(0.2, 0.5, 0.8), seed=0):
    """Ask and tell, with rewards from a stream of its own."""
    rng = np.random.default_rng(seed)
    places = {arm: place for place, arm in enumerate(agent.arms)}
    for _ in range(turns):
        arm = agent.ask()
        agent.tell(arm, float(rng.random() < chances[places[arm] % len(chances)]))
    return agent


# Asking and telling


def test_a_few_turns_find_the_best_arm():
    """The arm of chance 0.8 against 0.2 and 0.5. Error rate: with a fixed seed, none."""
    agent = played(Agent(ARMS, seed=7), 300)
    plays = dict(zip(agent.arms, agent.beliefs()["plays"], strict=True))
    assert plays["red"] > 200
    assert sum(plays.values()) == 300


def test_same_seed_same_choices_and_another_seed_others():
    first, again, other = (played(Agent(range(10), seed=seed), 60) for seed in (3, 3, 4))
    assert first.to_json() == again.to_json()
    assert first.to_json() != other.to_json()


def test_without_a_seed_agents_differ():
    """Ties among 1,000 arms are broken at random: two agents agree three times with a chance of 1e-9."""
    firsts = [[Agent(range(1000)).ask() for _ in range(3)] for _ in range(2)]
    assert firsts[0] != firsts[1]


def test_the_belief_is_the_prior_and_the_statistics_whatever_the_order():
    tells = [("blue", 1), ("red", 0), ("blue", 0.25), ("red", 1), ("blue", 1)]
    forward, backward = Agent(ARMS, seed=1), Agent(ARMS, seed=2)
    for arm, reward in tells:
        forward.tell(arm, reward)
    for arm, reward in reversed(tells):
        backward.tell(arm, reward)
    for agent in (forward, backward):
        assert agent.belief("blue") == (3.25, 1.75)
        assert agent.belief("green") == (1.0, 1.0)
        assert agent.belief("red") == (2.0, 2.0)
        assert agent.turn == 6


def test_late_rewards_and_rewards_nobody_asked_for():
    agent = Agent(ARMS, seed=1)
    first, second, third = agent.ask(), agent.ask(), agent.ask()
    assert agent.outstanding == Counter([first, second, third])
    agent.tell(third, 1)
    agent.tell(first, 0)
    assert agent.outstanding == {second: 1}
    agent.tell(first, 1)  # nobody asked
    assert agent.outstanding == {second: 1}
    agent.tell(second, 1)
    assert agent.outstanding == {}
    assert sum(agent.beliefs()["plays"]) == 4


def test_the_turn_counts_rewards_told_not_asks():
    agent = Agent(ARMS, seed=1)
    assert agent.turn == 1
    agent.ask()
    agent.ask(5)
    assert agent.turn == 1
    assert {choice.turn for choice in agent.last} == {1}
    agent.tell("blue", 1)
    agent.tell("red", 1)
    agent.ask()
    assert agent.turn == agent.last[0].turn == 3


def test_cancel_forgets_one_ask():
    agent, twin = Agent(ARMS, seed=5), Agent(ARMS, seed=5)
    arm = agent.ask()
    agent.cancel(arm)
    assert agent.outstanding == {}
    agent.ask(3)
    busy = next(iter(agent.outstanding))
    before = agent.outstanding[busy]
    agent.cancel(busy)
    assert agent.outstanding.get(busy, 0) == before - 1
    # the cancelled ask leaves no trace in what the policy sees
    assert twin.explain()["index"] == pytest.approx([twin.explain()["index"][0]] * 3)
    other = Agent(ARMS, seed=5)
    other.cancel(other.ask())
    assert other.explain()["index"] == pytest.approx(twin.explain()["index"], abs=1e-12)


def test_names_of_any_hashable_kind():
    names = ["a", 3, 2.5, None, ("x", 1), frozenset({1}), b"raw", True]
    agent = Agent(names, seed=1)
    assert agent.arms == tuple(names)
    assert set(agent.ask(8)) == set(names)
    agent.tell(frozenset({1}), 1)
    assert agent.belief(frozenset({1})) == (2.0, 1.0)


# Batches


@pytest.mark.parametrize("family", ["bernoulli", "exponential", "gaussian"])
@pytest.mark.parametrize("arms", [2, 3, 10])
def test_a_first_batch_tries_every_arm(family, arms):
    for seed in range(5):
        agent = Agent(range(arms), family, seed=seed)
        assert sorted(agent.ask(arms)) == list(range(arms))
        assert agent.outstanding == dict.fromkeys(range(arms), 1)


@pytest.mark.parametrize("family", ["bernoulli", "exponential", "gaussian"])
def test_arms_never_played_come_first_in_a_batch(family):
    agent = Agent(range(8), family, seed=1)
    for arm in (0, 3, 5):
        for _ in range(20):
            agent.tell(arm, 1.0)
    assert sorted(agent.ask(5)) == [1, 2, 4, 6, 7]
    agent.add_arm("new")
    assert "new" in agent.ask(2)


def test_single_asks_without_tells_spread_like_a_batch():
    one, batch = Agent(range(6), seed=4), Agent(range(6), seed=4)
    singles = [one.ask() for _ in range(9)]
    assert singles == batch.ask(9)
    assert set(singles) == set(range(6))


def test_a_batch_of_one_is_a_list():
    alone, batch = Agent(ARMS, seed=4), Agent(ARMS, seed=4)
    assert batch.ask(1) == [alone.ask()]


def test_a_batch_among_some_arms_stays_among_them():
    agent = Agent(range(6), seed=2)
    assert sorted(agent.ask(3, among=[1, 4, 5])) == [1, 4, 5]
    assert set(agent.ask(6, among=[1, 4])) <= {1, 4}


def test_a_batch_hedges_between_near_contenders():
    agent = Agent(range(4), seed=2)
    for arm, wins in ((0, 5), (1, 50), (2, 50), (3, 20)):
        agent.tell(arm, 1.0)
        for _ in range(70):
            agent.tell(arm, wins / 70)
    assert set(agent.ask(40)) >= {1, 2}


def test_outstanding_asks_count_as_observed_at_their_expected_statistic():
    agent = Agent(["a", "b"], policy=BelMan.paper(), priors={"a": (3.0, 1.0), "b": (2.0, 2.0)}, seed=1)
    arm = agent.ask(among=["a"])
    agent.ask(among=["a"])
    assert agent.belief(arm) == (3.0, 1.0)  # nothing is known yet …
    imagined = [(4.5, 1.5), (2.0, 2.0)]  # … but the policy sees two plays at ¾
    row = agent.explain().row("a")
    assert row["expected reward"] == pytest.approx(0.75)
    centre = least_kl_from_arms(Bernoulli(), imagined)
    assert row["KL to pseudobelief"] == pytest.approx(divergence(Bernoulli(), imagined[0], centre), rel=1e-9)
    agent.tell("a", 0.0)
    agent.tell("a", 0.0)
    assert agent.belief("a") == (3.0, 3.0)
    centre = least_kl_from_arms(Bernoulli(), [(3.0, 3.0), (2.0, 2.0)])
    kl = divergence(Bernoulli(), (3.0, 3.0), centre)
    assert agent.explain().row("a")["KL to pseudobelief"] == pytest.approx(kl, rel=1e-9)


def test_a_late_tell_leaves_the_same_agent_as_a_prompt_one():
    """Beliefs and indices depend on what was told, not on when it was asked."""
    late, prompt = Agent(ARMS, seed=1), Agent(ARMS, seed=1)
    arms = late.ask(6)
    for place in (5, 0, 3, 1, 4, 2):
        late.tell(arms[place], place % 2)
    for place, arm in enumerate(arms):
        prompt.tell(arm, place % 2)
    assert [late.belief(arm) for arm in ARMS] == [prompt.belief(arm) for arm in ARMS]
    for arm in ARMS:
        assert late.explain().row(arm)["index"] == pytest.approx(prompt.explain().row(arm)["index"], rel=1e-12)


# Subsets of arms


def test_among_chooses_the_largest_index_of_the_subset_under_the_pseudobelief_of_all():
    agent = played(Agent(range(5), policy=BelMan.paper(), seed=3), 40, chances=(0.1, 0.9, 0.4, 0.6, 0.3))
    index = {row["arm"]: row["index"] for row in agent.explain()}
    for subset in ([0, 2], [4, 3, 2], [0], range(5)):
        best = max(subset, key=index.__getitem__)
        choice = Agent.from_json(agent.to_json()).ask(among=subset)
        assert index[choice] == index[best]


def test_among_accepts_any_iterable():
    agent = Agent(ARMS, seed=3)
    assert agent.ask(among=iter(["red"])) == "red"
    assert agent.ask(among={"green"}) == "green"


# Arms that come and go, and priors


def test_an_added_arm_starts_from_its_prior():
    agent = played(Agent(ARMS, prior=(2.0, 3.0), seed=3), 30)
    kept = [agent.belief(arm) for arm in ARMS]
    agent.add_arm("grey")
    agent.add_arm("pink", prior=(9.0, 1.0))
    assert agent.arms == (*ARMS, "grey", "pink")
    assert [agent.belief(arm) for arm in ARMS] == kept
    assert agent.belief("grey") == (2.0, 3.0)
    assert agent.belief("pink") == (9.0, 1.0)
    assert agent.turn == 31
    played(agent, 30)
    assert sum(agent.beliefs()["plays"]) == 60


def test_a_removed_arm_is_never_chosen_and_its_memory_is_gone():
    agent = played(Agent(ARMS, seed=3), 30)
    agent.ask(4)
    agent.remove_arm("green")
    assert agent.arms == ("blue", "red")
    assert "green" not in agent.outstanding
    assert {agent.ask() for _ in range(10)} <= {"blue", "red"}
    agent.add_arm("green")
    assert agent.belief("green") == (1.0, 1.0)
    assert agent.beliefs().row("green")["plays"] == 0


def test_what_was_chosen_last_outlives_the_removal_of_an_arm():
    agent = Agent(ARMS, policy=Thompson(), seed=3)
    agent.ask(3)
    before = agent.last
    agent.remove_arm("blue")
    assert agent.last == before


def test_indices_after_add_and_remove_are_those_of_an_agent_made_so():
    grown = Agent(["b", "x", "c"], seed=1)
    for arm, reward in (("b", 1), ("x", 0), ("c", 1), ("x", 1), ("b", 0)):
        grown.tell(arm, reward)
    grown.remove_arm("x")
    grown.add_arm("d", prior=(2.0, 1.0))
    fresh = Agent(["b", "c", "d"], priors={"d": (2.0, 1.0)}, seed=1)
    for arm, reward in (("b", 1), ("c", 1), ("b", 0), ("c", 0.5), ("c", 0.5)):
        fresh.tell(arm, reward)
    grown.tell("c", 1.0)
    assert grown.turn == 7
    assert grown.belief("b") == fresh.belief("b")
    assert grown.belief("d") == fresh.belief("d")


def test_priors_per_agent_per_arm_and_per_family():
    agent = Agent(ARMS, prior=(2, 5), priors={"red": [0.5, 0.5]}, seed=1)
    assert [agent.belief(arm) for arm in ARMS] == [(2.0, 5.0), (2.0, 5.0), (0.5, 0.5)]
    own = Agent(ARMS, Bernoulli(prior=(3.0, 4.0)), seed=1)
    assert own.belief("blue") == (3.0, 4.0)
    agent.tell("red", 1)
    assert agent.belief("red") == (1.5, 0.5)


# Looking


def test_beliefs_by_hand():
    agent = Agent(ARMS, seed=1)
    for arm, reward in (("blue", 1), ("blue", 1), ("blue", 0), ("red", 0.5)):
        agent.tell(arm, reward)
    table = agent.beliefs(level=0.9)
    assert table["arm"] == ARMS
    assert table["plays"] == [3, 0, 1]
    assert table["expected reward"] == pytest.approx([3 / 5, 1 / 2, 1.5 / 3])
    laws = [stats.beta(3, 2), stats.beta(1, 1), stats.beta(1.5, 1.5)]
    assert table["low"] == pytest.approx([law.ppf(0.05) for law in laws], rel=1e-9)
    assert table["high"] == pytest.approx([law.ppf(0.95) for law in laws], rel=1e-9)
    chances = best_probabilities(Bernoulli(), np.array([agent.belief(arm) for arm in ARMS]))
    assert table["P(best)"] == pytest.approx(chances.tolist(), abs=1e-6)
    assert sum(table["P(best)"]) == pytest.approx(1.0, abs=1e-5)


def test_beliefs_are_about_what_was_told_not_what_is_outstanding():
    agent = Agent(ARMS, seed=1)
    before = str(agent.beliefs())
    agent.ask(5)
    assert str(agent.beliefs()) == before


def test_tables_print_aligned_and_become_pandas_and_html():
    agent = Agent(["a", ("long", "name"), "<b>"], seed=1)
    agent.tell("a", 1)
    lines = str(agent.beliefs()).splitlines()
    assert len(lines) == 4
    ends = {line.rindex(cell) + len(cell) for line, cell in zip(lines, ["P(best)", "0.5", "0.25", "0.25"], strict=True)}
    assert len(ends) == 1
    frame = agent.beliefs().to_pandas()
    assert frame.index.name == "arm"
    assert list(frame.index) == ["a", ("long", "name"), "<b>"]
    assert frame.loc["a", "plays"] == 1
    assert frame["P(best)"].sum() == pytest.approx(1.0, abs=1e-5)
    assert "&lt;b&gt;" in agent.beliefs()._repr_html_()
    assert "<b>" not in agent.beliefs()._repr_html_()
    assert list(agent.explain().to_pandas().columns) == ["expected reward", "surprise", "evidence against", "exposure", "index"]


def test_rows_of_a_table():
    table = Table({"arm": ["x", "y"], "plays": [1, 2]}, "title")
    assert len(table) == 2
    assert table.row("y") == {"arm": "y", "plays": 2}
    assert [row["plays"] for row in table] == [1, 2]
    with pytest.raises(KeyError, match=r"no row 'z'.*'x', 'y'"):
        table.row("z")
    assert str(table).splitlines()[0] == "title"
    assert len(Table({})) == 0


def test_repr_says_what_matters():
    agent = Agent(ARMS, seed=1)
    agent.ask(2)
    agent.tell("blue", 1)
    text = repr(agent)
    assert text.startswith("Agent(3 arms, family='bernoulli', policy=BelMan(")
    assert "1 reward told" in text
    assert f"{sum(agent.outstanding.values())} outstanding" in text


def check_index(agent, index):
    table = agent.explain()
    assert table["index"] == sorted(table["index"], reverse=True)
    for arm in agent.arms:
        assert table.row(arm)["index"] == pytest.approx(index[arm], abs=1e-9)


def test_explained_index_under_fading_evidence_is_minus_evidence_minus_kl():
    """index = −c (n + p) d(μ, μ_L) − KL(b ‖ b̄), each from the public methods, and the exposure that goes with it."""
    agent = played(Agent(range(4), policy=BelMan(FadingEvidence(p=0.5)), seed=3), 50, chances=(0.3, 0.6, 0.5, 0.8))
    family, beliefs = Bernoulli(), {arm: agent.belief(arm) for arm in agent.arms}
    plays = dict(zip(agent.arms, agent.beliefs()["plays"], strict=True))
    centre = least_kl_from_arms(family, list(beliefs.values()))
    means = {arm: family.expected_reward(belief) for arm, belief in beliefs.items()}
    leader = max(means, key=means.__getitem__)
    weight = 0.5 + 0.8 * math.log(4) / (1.0 + 0.1 * math.log(1.0 + 51 / 4))
    evidence = {arm: weight * (plays[arm] + 0.5) * family.reward_divergence(means[arm], means[leader]) for arm in beliefs}
    kl = {arm: divergence(family, belief, centre) for arm, belief in beliefs.items()}
    check_index(agent, {arm: -evidence[arm] - kl[arm] for arm in beliefs})
    for row in agent.explain():
        assert row["KL to pseudobelief"] == pytest.approx(kl[row["arm"]], rel=1e-7)
        gap = means[leader] - means[row["arm"]]
        tau = gap / evidence[row["arm"]] if gap > 0.0 else math.inf
        assert row["exposure"] == pytest.approx(tau, rel=1e-9)
    assert agent.explain()["arm"][0] == agent.ask()


def test_explained_index_under_evidence_is_surprise_minus_evidence():
    """index = φ(ln(t/ν)) − ν d(μ, μ_L) by hand, without the shift of the prior."""
    agent = played(Agent(range(4), policy=BelMan(Evidence(pool=math.inf)), seed=3), 50, chances=(0.3, 0.6, 0.5, 0.8))
    family = Bernoulli()
    worths = {arm: sum(agent.belief(arm)) for arm in agent.arms}
    means = {arm: agent.belief(arm)[0] / worths[arm] for arm in agent.arms}
    leading = max(means.values())
    against = {arm: worths[arm] * family.reward_divergence(means[arm], leading) for arm in agent.arms}
    check_index(agent, {arm: naive_phi(math.log(51.0 / worths[arm]), 4) - against[arm] for arm in agent.arms})
    for row in agent.explain():
        assert row["evidence against"] == pytest.approx(against[row["arm"]], abs=1e-12)
        gap = leading - means[row["arm"]]
        assert row["exposure"] == pytest.approx(gap / against[row["arm"]] if gap > 0.0 else math.inf, rel=1e-9)
    assert agent.explain()["arm"][0] == agent.ask()


def test_explained_index_under_one_exposure_is_reward_over_tau_minus_kl():
    agent = played(Agent(range(4), policy=BelMan.paper(), seed=3), 50, chances=(0.3, 0.6, 0.5, 0.8))
    family, beliefs = Bernoulli(), {arm: agent.belief(arm) for arm in agent.arms}
    centre = least_kl_from_arms(family, list(beliefs.values()))
    pull = math.log(51) + 15.0 * math.log(math.log(51))
    index = {arm: pull * family.expected_reward(belief) - divergence(family, belief, centre) for arm, belief in beliefs.items()}
    check_index(agent, index)
    assert agent.explain()["exposure"] == pytest.approx([1.0 / pull] * 4, rel=1e-12)
    assert agent.explain()["arm"][0] == agent.ask()
    assert agent.explain().title == "turn 51: the arm with the largest index is played"


def test_pure_exploration_is_explained_by_an_infinite_exposure():
    agent = Agent(ARMS, policy=BelMan(Infinite()), seed=3)
    agent.tell("blue", 1)
    assert agent.explain()["exposure"] == [math.inf] * 3


@pytest.mark.parametrize("policy", [BelMan(), Thompson()], ids=["belman", "thompson"])
def test_looking_changes_nothing(policy):
    seen, unseen = (played(Agent(ARMS, policy=policy, seed=3), 20) for _ in range(2))
    for agent in (seen, unseen):
        agent.ask(2)
    before = seen.to_json()
    repr(seen), seen.explain(), seen.beliefs(), seen.last, seen.outstanding, seen.pseudobelief, seen.turn, seen.belief("red")
    assert seen.to_json() == before
    for _ in range(50):
        seen.explain()
        arm = seen.ask()
        assert arm == unseen.ask()
        seen.tell(arm, 1.0)
        unseen.tell(arm, 1.0)


def test_the_pseudobelief_is_the_barycentre_of_what_was_told():
    agent = played(Agent(ARMS, seed=3), 20)
    centre = least_kl_from_arms(Bernoulli(), [agent.belief(arm) for arm in ARMS])
    assert agent.pseudobelief == pytest.approx(tuple(centre), rel=1e-9)


# Costs, ranges and drift


def test_costs_make_the_choices_of_the_mirrored_rewards():
    """Bernoulli costs 1 − x against rewards x: α and β change places, the index is the same, and so are choices."""
    rng = np.random.default_rng(5)
    rewards, costs = Agent(range(4), seed=9), Agent(range(4), minimise=True, seed=9)
    for _ in range(400):
        arm = rewards.ask()
        assert costs.ask() == arm
        x = float(rng.random() < (0.2, 0.4, 0.6, 0.5)[arm])
        rewards.tell(arm, x)
        costs.tell(arm, 1.0 - x)
    for arm in range(4):
        assert costs.belief(arm) == rewards.belief(arm)[::-1]
    paid = costs.beliefs()
    assert paid["expected cost"] == pytest.approx([1.0 - mean for mean in rewards.beliefs()["expected reward"]])
    assert paid["P(best)"] == pytest.approx(rewards.beliefs()["P(best)"], abs=1e-4)
    assert all(low <= mean <= high for low, mean, high in zip(paid["low"], paid["expected cost"], paid["high"], strict=True))


def test_least_waiting_time_is_found_and_every_arm_is_tried_first():
    rng = np.random.default_rng(5)
    agent = Agent(range(4), "exponential", minimise=True, seed=9)
    assert sorted(agent.ask() for _ in range(4)) == [0, 1, 2, 3]
    for arm in range(4):
        agent.cancel(arm)
    for _ in range(300):
        arm = agent.ask()
        agent.tell(arm, rng.exponential((4.0, 1.0, 8.0, 2.0)[arm]))
    table = agent.beliefs()
    assert np.argmax(table["plays"]) == np.argmin(table["expected cost"]) == np.argmax(table["P(best)"]) == 1
    assert all(0.0 < low < high for low, high in zip(table["low"], table["high"], strict=True))


def test_costs_without_a_finite_expectation_are_shown_as_such():
    agent = Agent(["a", "b"], "exponential", prior=(1e-3, 1.0), minimise=True, seed=1)
    table = agent.beliefs()
    assert table["expected cost"] == [math.inf, math.inf]
    assert all(0.0 < low < high == math.inf for low, high in zip(table["low"], table["high"], strict=True))


def test_rewards_on_another_scale():
    scaled, plain = Agent(ARMS, range=(-10.0, 30.0), seed=2), Agent(ARMS, seed=2)
    rng = np.random.default_rng(1)
    for _ in range(100):
        arm = scaled.ask()
        assert arm == plain.ask()
        x = float(rng.integers(0, 5)) / 4.0
        scaled.tell(arm, -10.0 + 40.0 * x)
        plain.tell(arm, x)
    assert [scaled.belief(arm) for arm in ARMS] == [plain.belief(arm) for arm in ARMS]
    for column in ("expected reward", "low", "high"):
        assert scaled.beliefs()[column] == pytest.approx([-10.0 + 40.0 * x for x in plain.beliefs()[column]])
    assert scaled.explain()["expected reward"] == pytest.approx([-10.0 + 40.0 * x for x in plain.explain()["expected reward"]])


def test_costs_on_another_scale():
    agent = Agent(ARMS, range=(0.0, 100.0), minimise=True, seed=2)
    for _ in range(3):
        agent.tell("blue", 25.0)
    assert agent.belief("blue") == (1.75, 3.25)
    table = agent.beliefs()
    assert table["expected cost"][0] == pytest.approx(35.0)
    assert 0.0 <= table["low"][0] < 35.0 < table["high"][0] <= 100.0
    assert table["P(best)"][0] > table["P(best)"][1]


def test_discounted_bernoulli_beliefs_by_hand():
    """prior + Σ γ^k statistic, k the rewards told since (of any arm)."""
    gamma, prior = 0.9, {"a": (1.0, 1.0), "b": (2.0, 3.0)}
    agent = Agent(["a", "b"], priors=prior, discount=gamma, seed=1)
    tells = [("a", 1.0), ("b", 0.0), ("a", 0.0), ("a", 0.5), ("b", 1.0), ("a", 1.0)]
    for arm, reward in tells:
        agent.ask()
        agent.tell(arm, reward)
    for arm, (alpha, beta) in prior.items():
        for age, (told, reward) in enumerate(reversed(tells)):
            if told == arm:
                alpha += gamma**age * reward
                beta += gamma**age * (1.0 - reward)
        assert agent.belief(arm) == pytest.approx((alpha, beta), rel=1e-12)
    assert agent.beliefs()["plays"] == [4, 2]
    assert agent.turn == 7


def test_discounted_gaussian_beliefs_by_hand():
    """In natural parameters (κm, κ) as for Bernoulli: each reward adds (x, 1)/σ²."""
    gamma, sigma, prior = 0.8, 0.7, (1.5, 0.2)
    agent = Agent(["a", "b"], Gaussian(sigma), prior=prior, discount=gamma, seed=1)
    tells = [("a", 1.0), ("b", -2.0), ("a", 4.0), ("b", 0.5), ("b", 3.0), ("a", -1.0)]
    for arm, reward in tells:
        agent.tell(arm, reward)
    for arm in ("a", "b"):
        first, precision = prior[0] * prior[1], prior[1]
        for age, (told, reward) in enumerate(reversed(tells)):
            if told == arm:
                first += gamma**age * reward / sigma**2
                precision += gamma**age / sigma**2
        assert agent.belief(arm) == pytest.approx((first / precision, precision), rel=1e-12)


def test_evidence_fades_like_the_beliefs():
    """The exposure of an arm is (μ_L − μ)/(c n d), with n the sum of γ^k over its rewards."""
    agent = Agent(["a", "b"], policy=BelMan(FadingEvidence()), discount=0.5, seed=1)
    for arm, reward in (("b", 0.0), ("a", 1.0), ("b", 0.0), ("a", 1.0)):
        agent.tell(arm, reward)
    mean, leading = (Bernoulli().expected_reward(agent.belief(arm)) for arm in ("b", "a"))
    weight = 0.5 + 0.8 * math.log(2) / (1.0 + 0.1 * math.log(1.0 + 5 / 2))
    against = weight * (0.5 + 0.125) * Bernoulli().reward_divergence(mean, leading)
    assert agent.explain().row("b")["exposure"] == pytest.approx((leading - mean) / against, rel=1e-12)


def test_a_faded_belief_returns_to_its_prior_and_the_arm_is_tried_again():
    """After the best arm has gone bad, a discounting agent changes over; with these seeds nothing is random."""
    agent = Agent(["a", "b"], discount=0.95, seed=3)
    played(agent, 200, chances=(0.9, 0.1))
    assert agent.belief("b")[0] + agent.belief("b")[1] < 12.0
    played(agent, 300, chances=(0.1, 0.9))
    assert agent.beliefs()["expected reward"][1] > agent.beliefs()["expected reward"][0]


# The chance of each choice


def test_among_ties_each_has_an_equal_chance():
    agent = Agent(range(5), seed=3)
    arm = agent.ask()
    assert agent.last == [Choice(arm, 1, 0.2)]
    agent.ask(among=[0, 1, 2])
    assert agent.last[0].probability == pytest.approx(1.0 / (3 - (arm in (0, 1, 2))))


def test_ties_are_broken_uniformly():
    """4,000 first choices among 4 arms: a χ² above 27.9 has a chance of 4e-6 (the seeds are fixed all the same)."""
    agent = Agent(range(4), seed=11)
    counts = Counter()
    for _ in range(4_000):
        arm = agent.ask()
        agent.cancel(arm)
        counts[arm] += 1
    assert sum((count - 1_000) ** 2 / 1_000 for count in counts.values()) < 27.9


def test_a_single_best_arm_has_probability_one():
    agent = played(Agent(ARMS, seed=3), 30)
    arm = agent.ask()
    assert agent.last == [Choice(arm, 31, 1.0)]


def test_thompsons_chance_is_the_probability_of_being_best_at_that_time():
    agent = Agent(ARMS, policy=Thompson(), seed=3)
    for arm, reward in (("blue", 1), ("blue", 1), ("green", 0), ("red", 1)):
        agent.tell(arm, reward)
    beliefs = np.array([agent.belief(arm) for arm in ARMS])
    chances = dict(zip(ARMS, best_probabilities(Bernoulli(), beliefs), strict=True))
    arm = agent.ask()
    assert agent.last[0].probability == pytest.approx(chances[arm], abs=1e-12)
    for _ in range(9):
        agent.tell(arm, 0)  # what is learnt later does not change what was recorded
    assert agent.last[0].probability == pytest.approx(chances[arm], abs=1e-12)


def test_thompsons_chance_among_some_arms_and_in_a_batch():
    agent = Agent(ARMS, policy=Thompson(), seed=3)
    for arm, reward in (("blue", 1), ("green", 0), ("red", 1), ("red", 0)):
        agent.tell(arm, reward)
    arm = agent.ask(among=["blue", "green"])
    chances = best_probabilities(Bernoulli(), np.array([agent.belief("blue"), agent.belief("green")]))
    assert agent.last[0].probability == pytest.approx(chances[["blue", "green"].index(arm)], abs=1e-12)
    agent.cancel(arm)
    first, second = agent.ask(2)
    rows = np.array([agent.belief(name) for name in ARMS])
    assert agent.last[0].probability == pytest.approx(best_probabilities(Bernoulli(), rows)[ARMS.index(first)], abs=1e-12)
    place = ARMS.index(first)
    rows[place] += rows[place] / rows[place].sum()  # the first ask counts as observed at its expectation
    assert agent.last[1].probability == pytest.approx(best_probabilities(Bernoulli(), rows)[ARMS.index(second)], abs=1e-12)


def test_thompson_plays_each_arm_as_often_as_it_says():
    """20,000 draws of one decision: each share is within 4.9 standard errors of its chance, all three fail with 3e-6."""
    agent = Agent(ARMS, policy=Thompson(), seed=12)
    for arm, reward in (("blue", 1), ("green", 0), ("red", 1), ("red", 0)):
        agent.tell(arm, reward)
    counts = Counter()
    for _ in range(20_000):
        arm = agent.ask()
        agent.cancel(arm)
        counts[arm] += 1
    chances = best_probabilities(Bernoulli(), np.array([agent.belief(arm) for arm in ARMS]))
    for arm, chance in zip(ARMS, chances, strict=True):
        assert abs(counts[arm] / 20_000 - chance) < 4.9 * math.sqrt(chance * (1.0 - chance) / 20_000) + 1e-3


# Schedules of the user's own


def test_a_schedule_need_not_reach_beyond_the_turn_being_decided():
    taus = [math.inf, 2.0, 1.0, 0.5]
    agent = Agent(["a", "b"], policy=BelMan(lambda t: taus[t - 1]), seed=1)
    for turn in range(4):
        assert agent.explain()["exposure"] == [taus[turn]] * 2
        agent.tell(agent.ask(), 1.0)
    before = agent.to_json()
    for _ in range(3):
        with pytest.raises(IndexError):
            agent.ask()
    assert agent.to_json() == before


def test_the_schedule_is_read_at_the_turn_and_for_the_number_of_arms():
    agent = Agent(range(2), policy=BelMan(Constant(0.25)), seed=1)
    assert agent.explain()["exposure"] == [0.25, 0.25]
    root = Agent(range(4), policy=BelMan(lambda t: 1.0 / t), seed=1)
    for turn in range(1, 300):
        assert root.explain()["exposure"][0] == pytest.approx(1.0 / turn)
        root.tell(root.ask(), 0.5)


def test_state_is_plain_json():
    content = json.loads(played(Agent(ARMS, seed=3), 5).to_json())
    assert content["format"] == "belman agent"
    assert content["arms"] == ARMS
    assert content["told"] == 5


def test_exponential_arms_are_each_tried_before_any_twice():
    agent = Agent(range(6), Exponential(), seed=1)
    for turn in range(6):
        arm = agent.ask()
        assert agent.beliefs()["plays"][arm] == 0
        assert agent.last[0].probability == pytest.approx(1.0 / (6 - turn))
        agent.tell(arm, 1.0)
