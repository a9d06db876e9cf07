"""What the best possible policy earns of arms that are drawn from a known prior.

*Exactly*, for two and three yes-or-no arms: the dynamic programme over all counts of successes and
failures. A layer holds the states after t turns and is overwritten by the one before it, turn by
turn back to the first; two arms are three of which the middle one is never played.

*For three yes-or-no arms and more, a bound* from a price for every turn (`priced_plays.py`), up to
a thousand turns and ten million arms × turns².

*Elsewhere, a looser bound* (Min, Maglaras and Moallemi, 2019, "Thompson sampling
with information relaxation penalties", IRS.V-Zero): someone who foresees every reward, but is paid
for the n-th play of an arm only what its first n − 1 rewards let one expect, plans the plays. A
policy that foresees nothing is paid as much as ever, on average. A draw takes O(K T²).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import entry, kernel
from belman.errors import SettingError
from belman.measures import priced_plays
from belman.measures.best import expected_losses
from belman.measures.priced_plays import offsets_of
from belman.problems.problem import Problem
from belman.problems.stationary import RandomStationary
from belman.validate import require_whole

Floats = NDArray[np.float64]
#: The longest horizon of the dynamic programme, by the number of arms: seconds and 0.8 GB at most.
LONGEST = {1: 10**9, 2: 500, 3: 100}
_SCORE = 1.959963984540054  # standard deviations of a central 95 %


class Attainable(NamedTuple):
    """What no policy exceeds on average over the prior.

    Parameters
    ----------
    rewards
        The total reward.
    regret
        The regret, at least.
    error
        Half of the 95 % interval of a bound, from draws.
    best_arm
        What always playing the best arm earns.
    exact
        Whether this is the value of the best policy; else it is a bound.
    """

    rewards: float
    regret: float
    error: float
    best_arm: float
    exact: bool

    def share(self, regret: float) -> float:
        """Compute the share of the attainable rewards that a policy earns.

        Parameters
        ----------
        regret
            The mean regret of the policy over the same horizon.

        Returns
        -------
        float
            Its rewards over the best attainable ones; at least so much is earned where those are a
            bound.

        >>> round(Attainable(62.0, 4.0, 0.0, 66.0, True).share(5.0), 3)
        0.984
        """
        return (self.best_arm - regret) / self.rewards


def attainable(problem: Problem, horizon: int, *, draws: int = 1_000, seed: int = 0) -> Attainable:
    """Compute what the best possible policy earns, or a bound that no policy exceeds.

    Parameters
    ----------
    problem
        Arms that are drawn from a prior, such as `belman.problems.random_bernoulli(2)`.
    horizon
        The number of turns.
    draws
        How many truths the bound is an average over, where the optimum is not computed: it is for
        two yes-or-no arms up to 500 turns, and three up to 100. A truth of ten yes-or-no arms takes
        milliseconds for 100 turns and a fifth of a second for 1,000.
    seed
        The same seed gives the same numbers.

    Returns
    -------
    Attainable
        Rewards and regret of the best possible, and whether they are exact.

    Raises
    ------
    SettingError
        If the arms have no prior, or one whose beliefs are not those of the family.

    >>> from belman.problems import random_bernoulli
    >>> result = attainable(random_bernoulli(2), 50)
    >>> round(result.rewards, 3), round(result.regret, 3), result.exact
    (31.997, 1.337, True)
    """
    if not isinstance(problem, RandomStationary) or problem.between is not None:
        raise SettingError(
            f"attainable needs arms that are drawn from a prior of their family, such as "
            f"belman.problems.random_bernoulli(2): {problem!r} has none"
        )
    require_whole("horizon", horizon)
    require_whole("draws", draws, 2)
    family = problem.family
    priors = np.tile(np.array(problem.prior), (problem.arms, 1))
    loss = expected_losses(family, priors)[0] if problem.arms > 1 else 0.0
    best_arm = horizon * (family.expected_reward(priors[0]) + float(loss))
    if family.coin and horizon <= LONGEST.get(problem.arms, 0):
        rewards = most_successes(priors, horizon)
        return Attainable(rewards, best_arm - rewards, 0.0, best_arm, True)
    if (
        family.coin
        and horizon <= priced_plays.LONGEST
        and (2 < problem.arms <= priced_plays.MOST / horizon**2)
    ):
        bound = priced_plays.Relaxation(priors[0], problem.arms, horizon).bound(draws, seed)
        return Attainable(bound.rewards, best_arm - bound.rewards, bound.error, best_arm, False)
    regrets = np.empty(draws)
    entry(_relaxed, family=family.kernels)(
        constants=family.constants,
        prior=priors[0],
        theta=np.zeros((problem.arms, family.parameters)),
        belief=np.zeros_like(priors[0]),
        paid=np.zeros(horizon + 1),
        plan=np.zeros(horizon + 1),
        rng=chance.generator(seed),
        regrets=regrets,
    )
    regret = float(regrets.mean())
    error = _SCORE * float(regrets.std(ddof=1)) / math.sqrt(draws)
    return Attainable(best_arm - regret, regret, error, best_arm, False)


def most_successes(priors: Floats, horizon: int) -> float:
    """The successes that the best policy expects at up to three arms with these Beta priors."""
    if len(priors) == 1:
        return float(horizon * priors[0, 0] / priors[0].sum())
    middle = horizon if len(priors) == 3 else 0
    first, second, third = priors[0], priors[1 if middle else 0], priors[-1]
    sizes = offsets_of(horizon, middle)
    value = np.zeros(int(sizes[horizon + 1, 0]))
    entry(_walk_back)(
        horizon=horizon, middle=middle, priors=np.array([first, second, third]),
        offsets=sizes, value=value,
    )  # fmt: skip
    return float(value[0])


@kernel
def step_back(horizon: int, middle: int, priors, offsets, value, t: int):
    """Overwrite what is expected from t + 1 turns on by what is expected from t.

    A state is (n₁, n₂, s₁, s₂, s₃), plays of two arms and successes of all. It reads states whose
    first number that differs is larger, and these are overwritten later.
    """
    a1, a2, a3 = priors[0, 0], priors[1, 0], priors[2, 0]
    w1, w2, w3 = a1 + priors[0, 1], a2 + priors[1, 1], a3 + priors[2, 1]
    for n in range(t + 1):
        for m in range(min(middle, t - n) + 1):
            last = horizon - n - m + 1  # numbers of s₃ in this block, in that of n + 1 one less
            here, first, second = offsets[n, m], offsets[n + 1, m], 0
            if middle > 0:
                second = offsets[n, m + 1]
            for s1 in range(n + 1):
                p1 = (a1 + s1) / (w1 + n)
                for s2 in range(m + 1):
                    p2 = (a2 + s2) / (w2 + m)
                    row = here + (s1 * (m + 1) + s2) * last
                    lost = first + (s1 * (m + 1) + s2) * (last - 1)
                    won = lost + (m + 1) * (last - 1)
                    lost2 = second + (s1 * (m + 2) + s2) * (last - 1)
                    won2 = lost2 + last - 1
                    for s3 in range(t - n - m + 1):
                        p3 = (a3 + s3) / (w3 + t - n - m)
                        best = max(
                            p1 * (1.0 + value[won + s3]) + (1.0 - p1) * value[lost + s3],
                            p3 * (1.0 + value[row + s3 + 1]) + (1.0 - p3) * value[row + s3],
                        )
                        if middle > 0:
                            other = p2 * (1.0 + value[won2 + s3]) + (1.0 - p2) * value[lost2 + s3]
                            best = max(best, other)
                        value[row + s3] = best


@kernel
def _walk_back(horizon: int, middle: int, priors, offsets, value):
    """Overwrite what is expected after the last turn by what is expected before the first."""
    for t in range(horizon - 1, -1, -1):
        step_back(horizon, middle, priors, offsets, value, t)


@kernel
def _relaxed(family, constants, prior, theta, belief, paid, plan, rng, regrets):
    """Fill what even the foreseeing planner loses to the best arm, truth by truth.

    `plan[n]` is the most that n plays of the arms so far are paid, `paid[n]` n plays of one arm.
    Whichever arm looks best after all its rewards is on average as good as it looks: adding the
    difference takes most of the noise away, and changes no expectation.
    """
    horizon = paid.size - 1
    for i in range(regrets.size):
        best, seen, luck = -np.inf, -np.inf, 0.0
        for a in range(len(theta)):
            family.sample(constants, prior, rng, theta[a])
            mean = family.mean(constants, theta[a])
            best = max(best, mean)
            for j in range(belief.size):
                belief[j] = prior[j]
            for n in range(horizon):
                paid[n + 1] = paid[n] + family.expected_reward(constants, belief)
                reward = family.reward(constants, theta[a], chance.uniform(rng))
                family.update(constants, belief, reward)
            expected = family.expected_reward(constants, belief)
            if expected > seen:
                seen, luck = expected, expected - mean
            for n in range(horizon, -1, -1):
                most = paid[n]
                if a > 0:
                    for k in range(n + 1):
                        most = max(most, paid[k] + plan[n - k])
                plan[n] = most
        regrets[i] = horizon * (best + luck) - plan[horizon]
