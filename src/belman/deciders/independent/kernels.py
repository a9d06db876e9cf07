"""The kernels of an agent: one decision, one reward.

The *truth* is the ledger of what was told, and the *working* ledger is what the policy sees
(`policies/dealing.py`). An arm is *stale* when its working row lags behind; rows are renewed at
the next decision, so that an ask followed by its tell refreshes an arm once.
"""

from __future__ import annotations

from belman.engine import kernel
from belman.policies.dealing import count_provisional, renew_row
from belman.policies.policy import any_open, choose_open, record


@kernel
def mark_stale(stale, arm: int):
    """Put an arm on the list (its length first) unless it is there."""
    count = stale[0]
    for i in range(1, count + 1):
        if stale[i] == arm:
            return
    stale[0] = count + 1
    stale[count + 1] = arm


@kernel
def mark_all_stale(stale):
    arms = stale.size - 1
    stale[0] = arms
    for a in range(arms):
        stale[a + 1] = a


@kernel
def renew(
    policy, family, law, params, truth, provisional, working, memory, pending, stale, scratch
):
    """Bring the working rows of all stale arms up to date."""
    for i in range(1, stale[0] + 1):
        arm = stale[i]
        renew_row(family, law, truth, provisional, pending, working, scratch, arm)
        policy.refresh(family, law, params, working, memory, arm)
    stale[0] = 0


@kernel
def set_provisional(rows, provisional, stale):
    """Replace what counts provisionally, of every arm; arms of which it is new become stale."""
    for arm in range(len(rows)):
        changed = False
        for j in range(rows.shape[1]):
            changed = changed or rows[arm, j] != provisional[arm, j]
            provisional[arm, j] = rows[arm, j]
        if changed:
            mark_stale(stale, arm)


@kernel
def count_all_provisional(truth, provisional, working):
    """Fill a ledger with what was told and what counts provisionally, of every arm."""
    for arm in range(len(provisional)):
        count_provisional(truth, provisional, working, arm)


@kernel
def decide(
    policy, family, law, params, truth, provisional, working, memory, pending, stale, scratch,
    index, mind, closed, limited: bool, turn: int, turn_value: float,
):  # fmt: skip
    """Choose an arm that is not closed, mark it outstanding, and give the chance of the choice."""
    renew(policy, family, law, params, truth, provisional, working, memory, pending, stale, scratch)
    shut = closed[: closed.size if limited else 0]
    if limited:
        arm, ties = choose_open(
            policy, family, law, params, working, memory, turn, turn_value, mind, index, closed
        )
    else:
        index[:] = 0.0
        arm, ties = policy.choose(
            policy, family, law, params, working, memory, turn, turn_value, mind, index
        )
    if ties == 0:  # no index is a number
        arm, ties = any_open(index.size, shut, mind)
    pending[arm] += 1
    mark_stale(stale, arm)
    return arm, policy.propensity(
        family, law, params, working, memory, turn, turn_value, shut, arm, ties
    )


@kernel
def survey(
    policy, family, law, params, truth, provisional, working, memory, pending, stale, scratch,
    index, mind, turn, turn_value,
):  # fmt: skip
    """The index of every arm, without choosing."""
    renew(policy, family, law, params, truth, provisional, working, memory, pending, stale, scratch)
    index[:] = 0.0
    policy.indices(family, law, params, working, memory, turn, turn_value, mind, index)


@kernel
def hear(policy, family, law, params, truth, memory, arm: int, reward: float):
    """Tell a policy that keeps more of rewards than beliefs do."""
    policy.learn(family, law, params, truth, memory, arm, reward)


@kernel
def reaches(family, law, truth, priors, reach, after, discount, arm: int, reward: float):
    """Whether the belief `after` a reward stays within its reach; nothing is learnt."""
    for j in range(after.size):
        after[j] = truth.beliefs[arm, j]
    if discount < 1.0:
        family.belief.blend(law, after, priors[arm], discount)
    family.update(law, after, reward)
    for j in range(after.size):  # noqa: SIM110 (kernels make no generators)
        if not abs(after[j]) <= reach[j]:
            return False
    return True


@kernel
def learn(
    family, law, truth, priors, pending, stale, reach, after, discount, arm: int, reward: float
):  # fmt: skip
    """Enter a reward; a discount below 1 first fades every belief and count towards its prior.

    Gives False, and changes nothing, where the belief would leave its reach.
    """
    if not reaches(family, law, truth, priors, reach, after, discount, arm, reward):
        return False
    if discount < 1.0:
        for a in range(truth.plays.size):
            family.belief.blend(law, truth.beliefs[a], priors[a], discount)
            truth.plays[a] *= discount
            truth.sums[a] *= discount
            truth.squares[a] *= discount
        mark_all_stale(stale)
    record(family, law, truth, arm, reward)
    if pending[arm] > 0:
        pending[arm] -= 1
    mark_stale(stale, arm)
    return True
