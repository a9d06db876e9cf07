"""Bandits for Gymnasium: a problem as an environment, and an agent that plays an environment."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.agent import Agent
from belman.errors import SettingError, needing
from belman.problems import Drifting, Problem, RandomStationary, Stationary
from belman.validate import require_whole

with needing("an environment of Gymnasium", "gymnasium", "gymnasium"):
    import gymnasium
    from gymnasium import spaces

Floats = NDArray[np.float64]


class BanditEnv(gymnasium.Env[Any, Any]):
    """A problem of `belman.problems` as an environment: actions are arms, and an episode a run.

    There is nothing to observe: the observation is always 0. What `step` adds, for judging and not
    for players, is in `info`: `regret`, by how much the arm's mean falls short of the best one.

    Parameters
    ----------
    problem
        Arms that stay the same (`belman.problems.bernoulli([0.1, 0.2])`), are drawn anew for every
        episode (`random_bernoulli(10)`), or change (`piecewise(…)`).
    horizon
        How many turns an episode has; it is truncated then.

    >>> import belman
    >>> env = BanditEnv(belman.problems.bernoulli([0.2, 0.8]), horizon=100)
    >>> observation, info = env.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = env.step(0)
    >>> observation, reward in (0.0, 1.0), round(info["regret"], 6)
    (0, True, 0.6)
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (a dictionary there too)

    def __init__(self, problem: Problem, horizon: int = 1_000) -> None:
        if not isinstance(problem, (Stationary, RandomStationary, Drifting)):
            kinds = "arms that stay the same, are drawn at random, or change at given turns"
            raise SettingError(f"problem={problem!r} is no environment: give {kinds}")
        require_whole("horizon", horizon, 1)
        self.problem, self.horizon = problem, horizon
        self.action_space = spaces.Discrete(problem.arms)
        self.observation_space = spaces.Discrete(1)
        self._nature: chance.Words | None = None
        self._theta: Floats = np.zeros((0, 0, 0))
        self._turn = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Begin an episode, with arms of its own where the problem draws them."""
        super().reset(seed=seed)
        problem, family = self.problem, self.problem.family
        self._nature = chance.generator(int(self.np_random.integers(2**32)))
        if isinstance(problem, Drifting):
            self._theta = problem.courses
        elif isinstance(problem, RandomStationary):
            drawn = family.sample_parameters(problem.prior, self._nature, problem.number)
            if problem.between is not None:
                low, high = problem.between
                drawn = low + (high - low) * drawn
            self._theta = drawn[np.newaxis]
        else:
            self._theta = problem.parameters[np.newaxis]
        self._turn = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Play an arm: its reward, and whether the episode has come to its horizon."""
        if self._nature is None:
            raise gymnasium.error.ResetNeeded("call reset before step")
        if not self.action_space.contains(action):
            raise SettingError(
                f"action={action!r} is not an arm: give 0 to {self.problem.arms - 1}"
            )
        family = self.problem.family
        self._turn += 1
        stretch = 0
        if isinstance(self.problem, Drifting):
            stretch = int(np.searchsorted(self.problem.starts, self._turn, side="right")) - 1
        theta = self._theta[stretch]
        if np.isnan(theta[action]).any():
            raise SettingError(f"action={action!r} is not there at turn {self._turn}")
        means = np.array([family.mean_of(row) for row in theta if not np.isnan(row).any()])
        reward = float(family.sample_rewards(theta[action], self._nature, 1)[0])
        regret = float(means.max() - family.mean_of(theta[action]))
        return 0, reward, False, self._turn >= self.horizon, {"regret": regret}


def agent_of(env: gymnasium.Env[Any, Any], family: str | None = None, **settings: Any) -> Agent:
    """Make an agent for an environment: its arms are the actions.

    Where observations are a box of numbers, they are the agent's context.

    Parameters
    ----------
    env
        An environment with a discrete space of actions.
    family, settings
        As those of `belman.Agent`.
    """
    space = env.action_space
    if not isinstance(space, spaces.Discrete):
        remedy = "a bandit needs a discrete one"
        raise SettingError(f"the environment has the space of actions {space!r}: {remedy}")
    arms = [int(space.start) + i for i in range(int(space.n))]
    if isinstance(env.observation_space, spaces.Box):
        size = int(np.prod(env.observation_space.shape))
        names = {"context": [f"x{i}" for i in range(size)], "model": "linear"}
        return Agent(arms, **{**names, **settings})
    return Agent(arms, family, **settings)


def play(
    env: gymnasium.Env[Any, Any], agent: Agent, turns: int, *, seed: int | None = None
) -> Floats:
    """Let an agent play an environment.

    Parameters
    ----------
    env, agent
        An environment, and an agent whose arms are its actions (`agent_of` makes one).
    turns
        How many turns are played, over as many episodes as that takes.
    seed
        Of the environment.

    Returns
    -------
    The rewards, a turn each.

    >>> import belman
    >>> env = BanditEnv(belman.problems.bernoulli([0.2, 0.8]))
    >>> rewards = play(env, agent_of(env, seed=7), 200, seed=7)
    >>> bool(rewards[100:].mean() > 0.6)
    True
    """
    require_whole("turns", turns, 1)
    has_context = isinstance(env.observation_space, spaces.Box)
    rewards = np.empty(turns)
    observation, _ = env.reset(seed=seed)
    for turn in range(turns):
        context = None
        if has_context:
            numbers = np.asarray(observation, dtype=np.float64).ravel().tolist()
            context = {f"x{i}": number for i, number in enumerate(numbers)}
        arm = agent.ask(context=context)
        observation, reward, terminated, truncated, _ = env.step(arm)
        ticket = agent.ticket if has_context else None
        agent.tell(arm, float(reward), ticket=ticket)
        rewards[turn] = reward
        if terminated or truncated:
            observation, _ = env.reset()
    return rewards
