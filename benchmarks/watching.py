"""Plays that are watched after every reward, until a stopping rule has decided.

For coins, whose average is their parameter: what a mixture martingale loses at its least is then a
few logarithms, and `Separated` is Chernoff's evidence of every pair against a bar that grows by
these losses. `Sure` with two arms moves by a closed form with every reward; with more it is what
`best_probabilities` computes at every look.
"""

from __future__ import annotations

import math

import numpy as np

from belman import chance
from belman.engine import call_address, entry, kernel
from belman.errors import SettingError
from belman.lab.bandit_loop import NATURE, play_arm, prepare_run
from belman.lab.bandit_runner import set_up
from belman.lab.policy_call import NO_ARM, bind_policy, call_choose, reset, values_of_turns
from belman.measures.best import DEPTH, best_share
from belman.measures.staged_plays import Watched
from belman.measures.stop_rules import Separated, StopRule, Sure
from belman.policies.best_arm.stopping import contrast
from belman.policies.policy import Policy
from belman.problems.problem import Problem
from belman.special import log_beta

_SEPARATED, _SURE_OF_TWO, _SURE = 0, 1, 2


@kernel
def _log_share(part, whole):
    return part * math.log(part / whole) if part > 0.0 else 0.0


@kernel
def _loss_of_mixture(family, constants, prior, ledger, arm):
    """ln of the mixture martingale at the average reward, where it is least."""
    plays, total = ledger.plays[arm], ledger.sums[arm]
    start = family.belief.log_partition(constants, prior)
    gain = family.belief.log_partition(constants, ledger.beliefs[arm]) - start
    return gain - _log_share(total, plays) - _log_share(plays - total, plays)


@kernel
def _separated(family, constants, ledger, losses, bar, doubt):
    """The arm that is apart from every other by now, or NO_ARM; `doubt` is the last obstacle."""
    leader, best = NO_ARM, -1.0
    for a in range(losses.size):
        if ledger.plays[a] == 0.0:
            return NO_ARM
        average = ledger.sums[a] / ledger.plays[a]
        if average > best:
            leader, best = a, average
    for i in range(losses.size):
        other = (doubt[0] + i) % losses.size
        if other != leader:
            against = contrast(family, constants, ledger, 0.0, leader, other)
            if against + losses[leader] + losses[other] < bar:
                doubt[0] = other
                return NO_ARM
    return leader


@kernel
def _moved(first, second, arm, won, ahead):
    """P(the first of two Beta means is larger) after a reward, from what it was before."""
    a, b, c, d = first[0], first[1], second[0], second[1]
    overlap = math.exp(log_beta(a + c, b + d) - log_beta(a, b) - log_beta(c, d))
    if arm == 0:
        return ahead + (overlap / a if won else -overlap / b)
    return ahead + (-overlap / c if won else overlap / d)


@kernel
def watch_runs(
    family, constants, prior, ledger, block, blank, world, theta, means, generators, turn_values,
    seed,
    policy_call, rule, bar, every, losses, before, doubt, scratch, turns, arms, lost, right,
):  # fmt: skip
    """Play every run until the rule has decided, or to the last turn; look at every so many."""
    for r in range(turns.size):
        best = prepare_run(family, constants, world, seed, r, generators, theta, means)
        nature = generators[NATURE]
        reset(policy_call, prior, ledger, block, blank)
        arm, winner, ahead, t = NO_ARM, NO_ARM, 0.5, 0
        losses[:] = 0.0
        lost[r] = 0.0
        while t < turn_values.size and winner == NO_ARM:
            arm = call_address(policy_call, arm, t + 1, turn_values[t])
            for a in range(len(before)):
                before[a, 0], before[a, 1] = ledger.beliefs[a, 0], ledger.beliefs[a, 1]
            won = play_arm(family, constants, theta, nature, ledger, arm) > 0.5
            lost[r] += best - means[arm]
            t += 1
            if rule == _SURE_OF_TWO:
                ahead = _moved(before[0], before[1], arm, won, ahead)
                if ahead >= bar or ahead <= 1.0 - bar:
                    winner = 0 if ahead >= bar else 1
                continue
            if rule == _SEPARATED:
                losses[arm] = _loss_of_mixture(family, constants, prior, ledger, arm)
            if t % every != 0:
                continue
            if rule == _SEPARATED:
                winner = _separated(family, constants, ledger, losses, bar, doubt)
            else:
                leader, share = best_share(family, constants, ledger.beliefs, scratch)
                winner = leader if share >= bar else NO_ARM
        turns[r], arms[r] = t, winner
        right[r] = winner != NO_ARM and means[winner] >= best


def watch(
    policy: Policy,
    problem: Problem,
    rule: StopRule,
    horizon: int,
    runs: int,
    seed: int = 0,
    every: int = 1,
) -> Watched:
    """Let a policy play coins, look after every so many rewards, and stop when a rule decides.

    >>> import belman
    >>> problem = belman.problems.bernoulli([0.2, 0.5])
    >>> result = watch(belman.Uniform(), problem, belman.measures.Separated(0.05), 2_000, 50,
    seed=7)
    >>> bool(result.decided.all()), bool(result.right.all())
    (True, True)
    """
    family, arms = problem.family, problem.arms
    if not family.coin:
        raise SettingError(f"only coins are watched, and {family.name} rewards are not")
    if isinstance(rule, Separated):
        kind, bar = _SEPARATED, math.log((arms - 1) / rule.delta)
    elif isinstance(rule, Sure):
        kind, bar = _SURE_OF_TWO if arms == 2 and every == 1 else _SURE, rule.level
    else:
        raise SettingError(
            f"{rule!r} is not watched: give belman.measures.Separated or belman.measures.Sure"
        )
    results = Watched(
        np.zeros(runs, np.int64), np.zeros(runs, np.int64), np.zeros(runs, np.bool_), np.zeros(runs)
    )
    given, bound = set_up(policy, family, arms, policy.memory(arms, family.dimension))
    call = bind_policy(call_choose, *bound)
    entry(watch_runs, family=family.kernels)(
        **given,
        world=problem.world,
        theta=problem.parameters,
        means=np.zeros(arms),
        turn_values=values_of_turns(policy, arms, horizon),
        seed=chance.generator(seed),
        policy_call=call.address,
        rule=kind,
        bar=bar,
        every=every,
        losses=np.zeros(arms),
        before=np.zeros((2 if kind == _SURE_OF_TWO else 0, 2)),
        doubt=np.zeros(1, dtype=np.int64),
        scratch=np.zeros((DEPTH + 3, arms + 2)),
        turns=results.turns,
        arms=results.arm,
        lost=results.lost,
        right=results.right,
    )
    return results
