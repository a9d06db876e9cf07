"""The agent: asking, telling, batches, subsets, arms that come and go, and schedules of the user's
own.
"""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections import Counter

import pytest

from belman import Agent, BelMan, Thompson
from belman.errors import ArmError
from belman.exposure import Constant
from belman.families import Bernoulli, Exponential
from belman.manifold import divergence, least_kl_from_arms
from tests.agent.played import ARMS, played

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
    """Ties among 1,000 arms are broken at random: two agents agree three times with a chance of
    1e-9.
    """
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
    agent = Agent(
        ["a", "b"], policy=BelMan.paper(), priors={"a": (3.0, 1.0), "b": (2.0, 2.0)}, seed=1
    )
    arm = agent.ask(among=["a"])
    agent.ask(among=["a"])
    assert agent.belief(arm) == (3.0, 1.0)  # nothing is known yet …
    imagined = [(4.5, 1.5), (2.0, 2.0)]  # … but the policy sees two plays at ¾
    row = agent.explain().row("a")
    assert row["expected reward"] == pytest.approx(0.75)
    centre = least_kl_from_arms(Bernoulli(), imagined)
    assert row["KL to pseudobelief"] == pytest.approx(
        divergence(Bernoulli(), imagined[0], centre), rel=1e-9
    )
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
    for position in (5, 0, 3, 1, 4, 2):
        late.tell(arms[position], position % 2)
    for position, arm in enumerate(arms):
        prompt.tell(arm, position % 2)
    assert [late.belief(arm) for arm in ARMS] == [prompt.belief(arm) for arm in ARMS]
    for arm in ARMS:
        assert late.explain().row(arm)["index"] == pytest.approx(
            prompt.explain().row(arm)["index"], rel=1e-12
        )


# Subsets of arms


def test_among_chooses_the_largest_index_of_the_subset_under_the_pseudobelief_of_all():
    agent = played(
        Agent(range(5), policy=BelMan.paper(), seed=3), 40, chances=(0.1, 0.9, 0.4, 0.6, 0.3)
    )
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


@pytest.mark.parametrize("forget", [False, True])
def test_a_retired_arm_is_never_chosen_and_comes_back_or_is_forgotten(forget):
    agent = played(Agent(ARMS, seed=3), 30)
    agent.ask(9)
    before = agent.beliefs().row("green"), agent.belief("green"), agent.outstanding.get("green")
    agent.retire_arm("green", forget=forget)
    assert agent.arms == ("blue", "red")
    assert "green" not in agent.outstanding
    assert {agent.ask() for _ in range(10)} <= {"blue", "red"}
    agent.add_arm("green")
    if forget:
        assert agent.belief("green") == (1.0, 1.0)
        assert agent.beliefs().row("green")["plays"] == 0
    else:
        after = agent.beliefs().row("green"), agent.belief("green"), agent.outstanding.get("green")
        assert after == before


def test_a_retired_arm_hears_of_its_asks_and_of_no_others():
    agent = Agent(ARMS, seed=3)
    agent.ask(3)
    agent.retire_arm("green")
    agent.tell("green", 1)
    for refused in (lambda: agent.tell("green", 1), lambda: agent.cancel("green")):
        before = agent.to_json()
        with pytest.raises(ArmError, match=r"'green' is retired, .*add_arm\('green'\) brings it"):
            refused()
        assert agent.to_json() == before
    assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()
    agent.add_arm("green")
    assert agent.belief("green") == (2.0, 1.0)
    assert agent.turn == 2
    assert "green" not in agent.outstanding


def test_what_was_chosen_last_outlives_the_removal_of_an_arm():
    agent = Agent(ARMS, policy=Thompson(), seed=3)
    agent.ask(3)
    before = agent.last
    agent.retire_arm("blue")
    assert agent.last == before


def test_indices_after_add_and_remove_are_those_of_an_agent_made_so():
    grown = Agent(["b", "x", "c"], seed=1)
    for arm, reward in (("b", 1), ("x", 0), ("c", 1), ("x", 1), ("b", 0)):
        grown.tell(arm, reward)
    grown.retire_arm("x")
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
    assert content["decider"] == "independent"
    assert content["state"]["arms"] == ARMS
    assert content["state"]["told"] == 5


def test_exponential_arms_are_each_tried_before_any_twice():
    agent = Agent(range(6), Exponential(), seed=1)
    for turn in range(6):
        arm = agent.ask()
        assert agent.beliefs()["plays"][arm] == 0
        assert agent.last[0].probability == pytest.approx(1.0 / (6 - turn))
        agent.tell(arm, 1.0)


@pytest.mark.parametrize("setting", ["first", "background", "never"])
@pytest.mark.parametrize("how", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_a_copy_goes_its_own_way(monkeypatch, setting, how):
    """Exactly as the first one would have gone, which is left as it was."""
    monkeypatch.setenv("BELMAN_COMPILE", setting)
    agent = Agent(["blue", "red"], "exponential", minimise=True, seed=3)
    for reward in (1.0, 2.0, 0.5):
        agent.tell(agent.ask(), reward)
    before, twin = agent.to_json(), how(agent)
    lived = []
    for each in (twin, agent):
        lived.append([each.ask() for _ in range(3)])
        each.tell("red", 0.25)
        if each is twin:
            assert agent.to_json() == before
    assert lived[0] == lived[1]
    assert twin.to_json() == agent.to_json()
