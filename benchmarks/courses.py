"""Courses of play that are as likely as beliefs have it, and what each gave away.

The mean of what is given away is what a policy lacks to the best possible one: its regret over
that of the Bayes-optimal policy, with little of the noise of rewards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import entry, kernel
from belman.families import Bernoulli
from belman.lab.policy_call import values_of_turns
from belman.measures.limit import step_back
from belman.measures.priced_plays import offsets_of
from belman.measures.trial_plays import given_to
from belman.policies.ledger import record
from belman.policies.policy import Policy

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@kernel
def _play_believed(
    policy, family, constants, params, prior, ledger, memory, kind: int, turn_values, rng, deal,
    stored, block, blank, chosen, won,
):  # fmt: skip
    """Play a course in every row (R × horizon), outcomes as likely as beliefs have it."""
    for run in range(len(chosen)):
        for i in range(block.size):
            block[i] = blank[i]
        for a in range(deal.indices.size):
            policy.refresh(family, constants, params, ledger, memory, a)
        for t in range(turn_values.size):
            deal.indices[:] = 0.0
            arm, _ = policy.choose(
                policy, family, constants, params, ledger, memory, t + 1, turn_values[t], rng,
                deal.indices,
            )  # fmt: skip
            likely = (prior[0] + ledger.sums[arm]) / (prior[0] + prior[1] + ledger.plays[arm])
            outcome = 1.0 * (chance.uniform(rng) < likely)
            chosen[run, t], won[run, t] = arm, int(outcome)
            record(family, constants, ledger, arm, outcome)
            policy.learn(family, constants, params, ledger, memory, arm, outcome)
            policy.refresh(family, constants, params, ledger, memory, arm)


def believed_courses(
    policy: Policy, prior: tuple[float, float], arms: int, horizon: int, runs: int, seed: int
) -> tuple[Counts, Counts]:
    """The arm and the outcome of every turn (runs × horizon) where chances are drawn from the
    prior: a course is as likely as what is known at each turn makes it.
    """
    given = given_to(policy, prior, arms, seed)
    chosen, won = np.zeros((runs, horizon), np.int64), np.zeros((runs, horizon), np.int64)
    entry(_play_believed, policy=policy.kernels, family=Bernoulli().kernels)(
        **given, turn_values=values_of_turns(policy, arms, horizon),
        blank=given["block"].copy(), chosen=chosen, won=won,
    )  # fmt: skip
    return chosen, won


def given_away(
    priors: Floats, horizon: int, chosen: NDArray[np.int64], won: NDArray[np.int64]
) -> Floats:
    """What each course of play of two or three arms with these Beta priors gave away: over its
    turns, what the best arm would have let one expect of all rewards to come, less what the chosen
    one did. Its mean is what a policy lacks to the best possible, with little noise.

    Parameters
    ----------
    priors
        The Beta prior of each arm (K × 2).
    horizon
        The number of turns.
    chosen, won
        The arm of every turn, and whether it brought a reward (R × horizon). Outcomes must be drawn
        as the priors and what was seen by then let one expect.

    Returns
    -------
    ndarray
        Of every course (R).
    """
    middle = horizon if len(priors) == 3 else 0
    three = np.array([priors[0], priors[1 if middle else 0], priors[-1]])
    offsets = offsets_of(horizon, middle)
    value = np.zeros(int(offsets[horizon + 1, 0]))
    back = entry(step_back).hold(
        horizon=horizon, middle=middle, priors=three, offsets=offsets, value=value
    )
    arms = np.where(chosen == len(priors) - 1, 2, chosen)
    used, rows = (0, 1, 2) if middle else (0, 2), np.arange(len(arms))
    plays, wins = np.zeros((len(arms), 3), np.int64), np.zeros((len(arms), 3), np.int64)
    for t in range(horizon):
        plays[rows, arms[:, t]] += 1
        wins[rows, arms[:, t]] += won[:, t]

    def worth(arm: int) -> Floats:
        chance_of_one = (three[arm, 0] + wins[:, arm]) / (three[arm].sum() + plays[:, arm])
        result = np.zeros(len(arms))
        for more, likely in ((1, chance_of_one), (0, 1.0 - chance_of_one)):
            n, m = plays[:, 0] + (arm == 0), plays[:, 1] + (arm == 1)
            s = [wins[:, a] + more * (a == arm) for a in range(3)]
            last = horizon - n - m + 1
            result += likely * (more + value[offsets[n, m] + (s[0] * (m + 1) + s[1]) * last + s[2]])
        return result

    lost = np.zeros(len(arms))
    for t in range(horizon - 1, -1, -1):
        plays[rows, arms[:, t]] -= 1
        wins[rows, arms[:, t]] -= won[:, t]
        expected = np.array(
            [worth(arm) if arm in used else np.zeros(len(arms)) for arm in range(3)]
        )
        lost += expected.max(axis=0) - expected[arms[:, t], rows]
        back(t)
    return lost
