"""Two phases: by the clock, by confidence and by hand, with nothing that was learnt lost."""

from __future__ import annotations

import numpy as np
import pytest

import belman
from belman import Agent, BelMan, Thompson, Uniform, simulate
from belman.errors import PolicyError
from belman.exposure import Evidence, Infinite, Paper, two_phase
from belman.policies import Phases, TopTwoThompson

MEANS = (0.2, 0.5, 0.35, 0.45)
EXPLORE = BelMan(Infinite())


def rewards(turns: int, means: tuple[float, ...] = MEANS) -> np.ndarray:
    return (np.random.default_rng(3).random((turns, len(means))) < means).astype(float)


def live(agent: Agent, luck: np.ndarray) -> list[int]:
    chosen = []
    for row in luck:
        chosen.append(agent.ask())
        agent.tell(chosen[-1], row[chosen[-1]])
    return chosen


def test_no_exploration_is_plain_belman_choice_by_choice() -> None:
    plain = live(Agent(range(4), policy=BelMan(), seed=5), rewards(400))
    assert live(Agent(range(4), policy=BelMan(two_phase(0)), seed=5), rewards(400)) == plain
    assert (
        live(Agent(range(4), policy=Phases(EXPLORE, BelMan(), turns=0), seed=5), rewards(400))
        == plain
    )
    players = {
        "plain": BelMan(),
        "two": BelMan(two_phase(0)),
        "phases": Phases(EXPLORE, BelMan(), turns=0),
    }
    result = simulate(players, belman.problems.bernoulli(MEANS), 400, 30, 1)
    for name in ("two", "phases"):
        assert (result.regret.sel(player=name) == result.regret.sel(player="plain")).all()


def test_three_ways_to_switch_by_the_clock_choose_alike() -> None:
    luck = rewards(300)
    by_clock = live(Agent(range(4), policy=BelMan(two_phase(100)), seed=5), luck)
    assert (
        live(Agent(range(4), policy=Phases(EXPLORE, BelMan(), turns=100), seed=5), luck) == by_clock
    )
    agent = Agent(range(4), policy=EXPLORE, seed=5)
    first = live(agent, luck[:100])
    before = [agent.belief(arm) for arm in agent.arms]
    agent.exposure = Evidence()
    assert [agent.belief(arm) for arm in agent.arms] == before
    assert agent.turn == 101
    assert first + live(agent, luck[100:]) == by_clock


@pytest.mark.parametrize(
    "policy",
    [BelMan(two_phase(100)), Phases(turns=100), Phases(EXPLORE, BelMan(), turns=100)],
    ids=repr,
)
def test_saving_at_the_switch_and_loading_changes_nothing(policy: belman.policies.Policy) -> None:
    luck = rewards(200)
    for saved_at in (99, 100, 101):
        agent = Agent(range(4), policy=policy, seed=5)
        live(agent, luck[:saved_at])
        twin = Agent.from_json(agent.to_json())
        assert live(twin, luck[saved_at:]) == live(agent, luck[saved_at:])


def test_confidence_ends_the_first_phase_when_it_is_reached_and_for_good() -> None:
    policy = Phases(Uniform(), BelMan(), turns=None, confidence=0.9)
    luck = rewards(1_000, (0.3, 0.7, 0.4, 0.5))
    agent, watcher = (
        Agent(range(4), policy=policy, seed=5),
        Agent(range(4), policy=Uniform(), seed=5),
    )
    switched = None
    for turn, row in enumerate(luck):
        agent.ask()
        if switched is None:
            sure = watcher.confidence()
            assert (agent._decider._memory.switched[0] > 0) == (sure >= 0.9)
            switched = turn if sure >= 0.9 else None
        arm = turn % 4 if switched is None else agent.last[0].arm
        agent.cancel(agent.last[0].arm)
        agent.tell(arm, row[arm])
        watcher.tell(arm, row[arm])
    assert switched is not None
    assert 20 < switched < 700
    assert agent._decider._memory.switched[0] == 1.0
    assert agent.beliefs()["plays"][1] > 0.6 * (1_000 - switched)


def test_the_rival_is_top_two_thompson_then_thompson() -> None:
    """The first phase plays as top-two does, draw by draw; chances are those of whoever chooses."""
    luck = rewards(60)
    agent = Agent(range(4), policy=Phases(turns=40), seed=5)
    assert live(agent, luck[:40]) == live(
        Agent(range(4), policy=TopTwoThompson(), seed=5), luck[:40]
    )
    words = agent.to_json()
    chances = {}
    for policy in (None, Thompson(), TopTwoThompson()):
        twin = Agent.from_json(words, policy=policy)
        twin.ask()
        chances[policy and policy.name] = twin.last[0]
    assert chances[None][:3] == chances["thompson"][:3]
    assert chances["top-two-thompson"].probability != pytest.approx(chances["thompson"].probability)
    early = Agent(range(4), policy=Phases(turns=40), seed=5)
    early.ask()
    assert early.last[0].probability == pytest.approx(0.25, abs=1e-3)
    assert "index" in early.explain().columns


@pytest.mark.compiled
def test_lab_and_confidence() -> None:
    """By confidence, too, regret stops growing as it did, and hundreds of runs switch at many
    times.
    """
    problem = belman.problems.bernoulli([0.8, 0.3])
    players = {
        "explore": Uniform(),
        "phases": Phases(Uniform(), Thompson(), turns=None, confidence=0.95),
    }
    result = simulate(players, problem, 400, 200, 2)
    end = result.regret.isel(turn=-1).mean("run")
    assert float(end.sel(player="phases")) < 0.25 * float(end.sel(player="explore"))


def test_by_hand_any_policy_takes_over() -> None:
    agent = Agent(range(4), policy=TopTwoThompson(), seed=5)
    live(agent, rewards(30))
    agent.ask()
    said, beliefs = agent.last, [agent.belief(arm) for arm in agent.arms]
    agent.policy = Thompson()
    assert agent.last == said
    assert agent.outstanding
    assert [agent.belief(arm) for arm in agent.arms] == beliefs
    with pytest.raises(PolicyError, match=r"'thompson' has no exposure: only belman has"):
        agent.exposure = Paper()
    with pytest.raises(PolicyError, match="knows the true means"):
        agent.policy = belman.policies.Oracle()
    assert agent.policy == Thompson()
    agent.policy = BelMan()
    with pytest.raises(belman.BelmanError, match="neither one of"):
        agent.exposure = 3  # type: ignore[assignment]
    assert agent.exposure == Evidence()
