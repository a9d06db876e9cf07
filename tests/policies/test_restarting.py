"""Detectors against slow twins, policies that restart by them, and EXP3.S by its formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

import belman
from belman.agent import Agent
from belman.errors import PolicyError
from belman.families import Bernoulli, GaussianUnknown
from belman.lab import simulate
from belman.policies import (
    EXP3S,
    CUSUMTest,
    Forgetting,
    GLRTest,
    Restarting,
    WindowTest,
    glr_klucb,
    m_ucb,
)
from belman.policies.change import detectors
from belman.policies.change.detectors import MARKS
from belman.problems import piecewise

COIN = Bernoulli()


def first_alarm(detector, rewards) -> int | None:
    """After how many rewards the detector says that there is a change."""
    marks, state = np.zeros(MARKS), np.zeros(detector.size)
    params = detector.params(COIN)
    for i, reward in enumerate(rewards, start=1):
        if type(detector).watch(COIN.kernels, COIN.constants, params, marks, state, float(reward)):
            return i
    return None


def jump(seed: int, before: float = 0.7, after: float = 0.2, at: int = 90) -> np.ndarray:
    means = np.where(np.arange(240) < at, before, after)
    return (np.random.default_rng(seed).random(240) < means).astype(float)


def kl(p: float, q: float) -> float:
    return COIN.reward_divergence(p, q)


@pytest.mark.parametrize("seed", range(6))
def test_likelihood_ratio_is_that_over_all_splits(seed) -> None:
    rewards, delta = jump(seed), 0.05

    def ratio(n: int) -> float:
        mean = rewards[:n].mean()
        return max(
            s * kl(rewards[:s].mean(), mean) + (n - s) * kl(rewards[s:n].mean(), mean)
            for s in range(1, n)
        )

    slow = [n for n in range(2, 241) if ratio(n) >= math.log(n**1.5 / delta)]
    result = first_alarm(GLRTest(delta=delta, every=1), rewards)
    assert result == slow[0]
    assert 90 < result < 140


def test_likelihood_ratio_keeps_a_bounded_grid() -> None:
    """Splits are sums at multiples of a stride that doubles; a late change is still found."""
    rng = np.random.default_rng(3)
    rewards = np.concatenate([rng.random(1_200) < 0.5, rng.random(200) < 0.1]).astype(float)
    detector = GLRTest(delta=0.01, every=40)
    marks, state, params = np.zeros(MARKS), np.zeros(detector.size), detector.params(COIN)
    for reward in rewards[:1_200]:
        assert not detectors.glr_watch(COIN.kernels, COIN.constants, params, marks, state, reward)
    stride, kept = int(marks[detectors.STRIDE]), int(marks[detectors.KEPT])
    assert (stride, kept) == (8, 150)
    sums = np.cumsum(rewards)[stride - 1 : 1_200 : stride]
    assert state[detectors.FIRST : detectors.FIRST + kept].tolist() == sums.tolist()
    assert 1_200 < first_alarm(detector, rewards) <= 1_280


@pytest.mark.parametrize("seed", range(4))
def test_cusum_and_window_are_their_formulas(seed) -> None:
    rewards = jump(seed)
    basis, up, down, slow = rewards[:30].mean(), 0.0, 0.0, None
    for n in range(31, 241):
        up = max(0.0, up + rewards[n - 1] - basis - 0.1)
        down = max(0.0, down + basis - rewards[n - 1] - 0.1)
        if slow is None and max(up, down) >= 6.0:
            slow = n
    assert first_alarm(CUSUMTest(basis=30, slack=0.1, bar=6.0), rewards) == slow
    window = [
        n
        for n in range(40, 241)
        if abs(rewards[n - 40 : n - 20].sum() - rewards[n - 20 : n].sum()) > 9
    ]
    assert first_alarm(WindowTest(last=40, bar=9.0), rewards) == next(iter(window), None)


def test_alarms_are_rare_where_nothing_changes() -> None:
    """At δ = 0.05 the chance of an alarm is at most 0.05 (it is far lower): 20 lives with more than
    4 have a chance below 0.003 then.
    """
    rng = np.random.default_rng(5)
    detector = GLRTest(delta=0.05, every=10)
    alarms = [first_alarm(detector, rng.random(150) < 0.4) for _ in range(20)]
    assert sum(alarm is not None for alarm in alarms) <= 4


@pytest.mark.interpreted
@pytest.mark.parametrize("scope", ["global", "local"])
def test_restarts_forget_the_arm_or_all(scope) -> None:
    policy = Restarting(belman.Thompson(), GLRTest(delta=0.01, every=1), scope, 0.0)
    agent = Agent(["a", "b"], policy=policy, seed=1)
    for _ in range(60):
        agent.tell("a", 1)
        agent.tell("b", 0)
    told = 0
    while agent._decider._memory.clock[1] == 0:
        agent.tell("a", 0)
        told += 1
    assert told < 15
    assert agent.belief("a") == (1.0, 1.0)
    assert agent.belief("b") == ((1.0, 1.0) if scope == "global" else (1.0, 61.0))
    again = Agent.from_json(agent.to_json())
    agent.add_arm("c"), again.add_arm("c")
    assert [again.ask() for _ in range(20)] == [agent.ask() for _ in range(20)]
    assert agent.belief("b") == again.belief("b")


@pytest.mark.interpreted
def test_a_share_of_turns_goes_round() -> None:
    policy = Restarting(belman.policies.Greedy(), WindowTest(last=10, bar=100.0), "global", 0.2)
    agent = Agent(["a", "b"], policy=policy, seed=1)
    for reward in (1, 0):
        agent.tell("ab"[1 - reward], reward)
    played = []
    for _ in range(40):
        arm = agent.ask()
        played.append((arm, agent.last[0].probability))
        agent.tell(arm, float(arm == "a"))
    assert [arm for arm, _ in played].count("b") == 4  # one slot in ten, of two
    assert all(chance == 1.0 for _, chance in played)


def test_a_rival_that_restarts_follows() -> None:
    """KL-UCB loses some 300 here, GLR-klUCB 40 with an error of 5 over six runs."""
    rows = [(0.3, 0.5, 0.9), (0.3, 0.2, 0.9), (0.3, 0.2, 0.1), (0.7, 0.2, 0.1)]
    players = {"local": glr_klucb(3_000, 3), "never": belman.policies.KLUCB()}
    result = simulate(players, piecewise(rows, 750), 3_000, 6, 3, progress=False)
    lost = {name: float(result.regret.sel(player=name).isel(turn=-1).mean()) for name in players}
    assert 2.0 * lost["local"] < 120.0 < lost["never"]


def test_weights_of_exp3_s() -> None:
    policy = EXP3S(gamma=0.2, alpha=0.01)
    agent = Agent(["a", "b", "c"], policy=policy, seed=1)
    weights = np.ones(3) / 3.0
    for arm, reward in zip("abcab", (1.0, 0.0, 1.0, 0.5, 1.0), strict=True):
        position = "abc".index(arm)
        likely = 0.8 * weights / weights.sum() + 0.2 / 3.0
        weights[position] *= math.exp(0.2 * reward / (likely[position] * 3.0))
        weights = weights + math.e * 0.01 * weights.sum() / 3.0
        weights = weights / weights.sum()
        agent.tell(arm, reward)
    assert agent._decider._memory.weights == pytest.approx(weights)
    likely = 0.8 * weights + 0.2 / 3.0
    counts = dict.fromkeys("abc", 0)
    for _ in range(3_000):
        arm = agent.ask()
        assert agent.last[0].probability == pytest.approx(likely["abc".index(arm)])
        counts[arm] += 1
        agent.cancel(arm)
    # each share has an error of 0.009 at most, and three shares are held to four of these
    assert np.abs(np.array(list(counts.values())) / 3_000 - likely).max() < 0.036


def test_doors() -> None:
    for wrong in (
        {"policy": Forgetting()}, {"detector": 3}, {"scope": "both"}, {"explore": 2.0}
    ):  # fmt: skip
        with pytest.raises(PolicyError):
            Restarting(**wrong)
    for make in (
        lambda: GLRTest(delta=0.0),
        lambda: GLRTest(every=0),
        lambda: WindowTest(last=3),
        lambda: CUSUMTest(basis=0),
        lambda: EXP3S(gamma=0.0),
        lambda: glr_klucb(1),
        lambda: m_ucb(9, 0),
    ):
        with pytest.raises(PolicyError):
            make()
    with pytest.raises(PolicyError, match="does not fix their distribution"):
        Agent(["a"], GaussianUnknown(), Restarting())
    assert belman.spec.build(belman.spec.describe(Restarting())) == Restarting()


@pytest.mark.parametrize("explore", [5e-324, 1.5, True, "x"])
def test_a_share_that_no_round_has_is_refused(explore):
    with pytest.raises(PolicyError, match="0, or a share from 1e-6 to 1"):
        Restarting(explore=explore)
