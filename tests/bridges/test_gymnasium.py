"""Environments of Gymnasium: belman's problems as such, and agents that play those of others."""

from __future__ import annotations

import numpy as np
import pytest

import belman
from belman.errors import SettingError

gymnasium = pytest.importorskip("gymnasium", reason="no gymnasium: pip install 'belman[gymnasium]'")
from gymnasium import spaces  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

from belman.bridges.gymnasium_env import BanditEnv, agent_of, play  # noqa: E402

PROBLEMS = {
    "bernoulli": belman.problems.bernoulli([0.2, 0.5, 0.8]),
    "gaussian": belman.problems.gaussian([0.0, 1.0], sigma=2.0),
    "drawn": belman.problems.random_bernoulli(5),
    "between": belman.problems.random_bernoulli(4, between=(0.4, 0.6)),
    "changing": belman.problems.Drifting(
        belman.families.Bernoulli(), starts=(1, 51), means=((0.9, 0.1), (0.1, 0.9))
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_gymnasium_takes_every_environment(name):
    check_env(BanditEnv(PROBLEMS[name], horizon=100), skip_render_check=True)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_same_seed_is_the_same_episode_and_it_ends_at_its_horizon(name):
    env = BanditEnv(PROBLEMS[name], horizon=100)
    runs = []
    for _ in range(2):
        env.reset(seed=5)
        steps = [env.step(turn % env.action_space.n) for turn in range(100)]
        runs.append([(step[1], step[4]["regret"]) for step in steps])
        assert [step[3] for step in steps] == [False] * 99 + [True]
    assert runs[0] == runs[1]
    assert min(regret for _, regret in runs[0]) >= 0.0


def test_rewards_have_the_means_of_the_arms_and_regret_is_what_they_lack():
    """Of 4,000 rewards the mean is within 4 deviations, but for 1 in 16,000 tests."""
    env = BanditEnv(PROBLEMS["changing"], horizon=100)
    sums = np.zeros(2)
    env.reset(seed=1)
    for turn in range(8_000):
        _, reward, _, truncated, info = env.step(0)
        late = int(turn % 100 >= 50)
        sums[late] += reward
        assert info["regret"] == pytest.approx([0.0, 0.8][late])
        if truncated:
            env.reset()
    assert np.abs(sums / 4_000 - [0.9, 0.1]).max() < 4.0 * np.sqrt(0.09 / 4_000)


def test_drawn_arms_lie_between_and_differ_from_episode_to_episode():
    env = BanditEnv(PROBLEMS["between"], horizon=10)
    seen = set()
    for seed in range(20):
        env.reset(seed=seed)
        regrets = [env.step(arm)[4]["regret"] for arm in range(4)]
        assert 0.0 == min(regrets) <= max(regrets) <= 0.2
        seen.add(max(regrets))
    assert len(seen) == 20


def test_an_agent_plays_the_environments_of_river():
    """In the testbed of ten normal arms it earns more than half of the best mean in its last 500
    turns, in each of five worlds; an even split earns 0 on average.
    """
    pytest.importorskip("river.bandit.envs", reason="no river: pip install river")
    for seed in range(5):
        env = gymnasium.make("river_bandits/KArmedTestbed-v0", max_episode_steps=2_000)
        agent = agent_of(env, "gaussian-unknown", seed=seed)
        rewards = play(env, agent, 1_000, seed=seed)
        best = max(env.unwrapped._actual_rewards)
        assert rewards[500:].mean() > 0.5 * best
    candy = gymnasium.make("river_bandits/CandyCaneContest-v0")
    assert play(candy, agent_of(candy, seed=1), 300, seed=1).mean() > 0.3


class Signs(gymnasium.Env):
    """The better action is the sign of what one sees."""

    observation_space = spaces.Box(-1.0, 1.0, (1,), np.float64)
    action_space = spaces.Discrete(2, start=3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seen = self.np_random.uniform(-1.0, 1.0, 1)
        return self.seen, {}

    def step(self, action):
        reward = float((self.seen[0] > 0.0) == (action == 4))
        self.seen = self.np_random.uniform(-1.0, 1.0, 1)
        return self.seen, reward, False, False, {}


def test_what_an_environment_shows_is_the_context():
    """By chance alone, 75 of the last 100 would be right once in a million tests."""
    env = Signs()
    agent = agent_of(env, seed=1)
    assert agent.arms == (3, 4)
    rewards = play(env, agent, 300, seed=1)
    assert rewards[-100:].sum() >= 75
    assert agent.open_tickets == {}


def test_what_cannot_be_played_is_refused():
    with pytest.raises(SettingError, match="is no environment"):
        BanditEnv(belman.problems.ContextArms(number=2, size=3))
    with pytest.raises(SettingError, match="discrete"):
        agent_of(gymnasium.make("Pendulum-v1"))
    env = BanditEnv(PROBLEMS["bernoulli"])
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(SettingError, match="action=3 is not an arm"):
        env.step(3)
