"""The kernels of independent arms, and the calls of them that hold arrays.

The *truth* is the ledger of what was told, and the *working* ledger is what the policy sees
(`policies/dealing.py`). An arm is *stale* when its working row lags behind; rows are renewed at
the next decision, so that an ask followed by its tell refreshes an arm once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from belman.engine import LATER, Call, entry, kernel
from belman.policies.dealing import count_provisional, renew_row
from belman.policies.ledger import record
from belman.policies.policy_kernels import any_open, choose_open

AT_ONCE = 256  # arms of a batch that one call chooses


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
    policy, family, constants, params, truth, provisional, working, memory, pending, stale, scratch
):
    """Bring the working rows of all stale arms up to date."""
    for i in range(1, stale[0] + 1):
        arm = stale[i]
        renew_row(family, constants, truth, provisional, pending, working, scratch, arm)
        policy.refresh(family, constants, params, working, memory, arm)
    stale[0] = 0


@kernel
def set_provisional(rows, provisional, stale):
    """Replace what counts provisionally of every arm; arms for which it changes become stale."""
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
    policy, family, constants, params, truth, provisional, working, memory, pending, stale, scratch,
    index, rng, closed, limited: bool, turn: int, turn_value: float,
):  # fmt: skip
    """Choose an arm that is not closed, mark it outstanding, and give the chance of the choice."""
    renew(
        policy, family, constants, params, truth, provisional, working, memory, pending, stale,
        scratch,
    )  # fmt: skip
    shut = closed[: closed.size if limited else 0]
    if limited:
        arm, ties = choose_open(
            policy, family, constants, params, working, memory, turn, turn_value, rng, index, closed
        )
    else:
        index[:] = 0.0
        arm, ties = policy.choose(
            policy, family, constants, params, working, memory, turn, turn_value, rng, index
        )
    if ties == 0:  # no index is a number
        arm, ties = any_open(index.size, shut, rng)
    pending[arm] += 1
    mark_stale(stale, arm)
    return arm, policy.propensity(
        family, constants, params, working, memory, turn, turn_value, shut, arm, ties
    )


@kernel
def decide_some(
    policy, family, constants, params, truth, provisional, working, memory, pending, stale, scratch,
    index, rng, closed, arms, chances, limited: bool, turn: int, turn_value: float, apart: bool,
    count: int,
):  # fmt: skip
    """Choose arms, one after another, until the chance of one is to be integrated; if they are to
    be `apart`, each closes its arm. Give the last arm, its chance, and how many were chosen.
    """
    arm, chance = 0, 0.0
    for i in range(count):
        arm, chance = decide(
            policy, family, constants, params, truth, provisional, working, memory, pending, stale,
            scratch, index, rng, closed, limited, turn, turn_value,
        )  # fmt: skip
        arms[i], chances[i] = arm, chance
        if chance != chance:
            return arm, chance, i + 1
        if apart:
            closed[arm] = True
    return arm, chance, count


@kernel
def survey(
    policy, family, constants, params, truth, provisional, working, memory, pending, stale, scratch,
    index, rng, turn, turn_value,
):  # fmt: skip
    """The index of every arm, without choosing."""
    renew(
        policy, family, constants, params, truth, provisional, working, memory, pending, stale,
        scratch,
    )  # fmt: skip
    index[:] = 0.0
    policy.indices(family, constants, params, working, memory, turn, turn_value, rng, index)


@kernel
def hear(policy, family, constants, params, truth, memory, arm: int, reward: float):
    """Tell a policy that keeps more of rewards than beliefs do."""
    policy.learn(family, constants, params, truth, memory, arm, reward)


@kernel
def reaches(family, constants, truth, priors, reach, after, discount, arm: int, reward: float):
    """Whether the belief `after` a reward stays within its reach; nothing is learnt."""
    for j in range(after.size):
        after[j] = truth.beliefs[arm, j]
    if discount < 1.0:
        family.belief.blend(constants, after, priors[arm], discount)
    family.update(constants, after, reward)
    for j in range(after.size):  # noqa: SIM110 (kernels make no generators)
        if not abs(after[j]) <= reach[j]:
            return False
    return True


@kernel
def fade(family, constants, truth, priors, stale, discount):
    """Fade every belief and count towards its prior."""
    for a in range(truth.plays.size):
        family.belief.blend(constants, truth.beliefs[a], priors[a], discount)
        truth.plays[a] *= discount
        truth.sums[a] *= discount
        truth.squares[a] *= discount
    mark_all_stale(stale)


@kernel
def learn(
    family, constants, truth, priors, pending, stale, reach, after, discount, arm: int,
    reward: float
):  # fmt: skip
    """Enter a reward; a discount below 1 first fades every belief and count towards its prior.

    Gives False, and changes nothing, where the belief would leave its reach.
    """
    if not reaches(family, constants, truth, priors, reach, after, discount, arm, reward):
        return False
    if discount < 1.0:
        fade(family, constants, truth, priors, stale, discount)
    record(family, constants, truth, arm, reward)
    if pending[arm] > 0:
        pending[arm] -= 1
    mark_stale(stale, arm)
    return True


#: What renewing the rows of stale arms takes.
_RENEWED = {
    "constants", "params", "truth", "provisional", "working", "memory", "pending", "stale",
    "scratch",
}  # fmt: skip


class Calls:
    """One decision, one reward, and what marks arms as stale; made anew with the arrays.

    `held` is what a decision is given, by name; `after` the belief that a reward led to, and `rows`
    what is to count provisionally.
    """

    def __init__(self, decider: Any) -> None:
        policy, family = decider._policy.kernels, decider.family.kernels
        learnt: dict[str, Any] = {
            "constants": decider.family.constants,
            "truth": decider._truth,
            "pending": decider._pending,
            "stale": decider._stale,
        }
        self.held: dict[str, Any] = {
            **learnt,
            "params": decider._policy.params(decider.family),
            "provisional": decider._provisional,
            "scratch": np.zeros((2, decider.family.dimension)),
            "working": decider._working,
            "memory": decider._memory,
            "index": decider._index,
            "rng": decider._rng,
        }
        self._renew = entry(renew, policy=policy, family=family)
        self.arms, self.chances = np.zeros(AT_ONCE, dtype=np.int64), np.zeros(AT_ONCE)
        choosing = entry(decide_some, policy=policy, family=family)
        chosen = {"closed": decider._shut, "arms": self.arms, "chances": self.chances}
        self.decide: Call = choosing.hold(LATER, **self.held, **chosen)
        self.after = np.zeros(decider.family.dimension)
        reached = {
            "priors": decider._priors,
            "reach": np.array(decider.family.reach),
            "after": self.after,
            "discount": float(decider.discount),
        }
        self.learn: Call = entry(learn, family=family).hold(LATER, **learnt, **reached)
        reached |= {name: learnt[name] for name in ("constants", "truth")}
        self.reaches: Call = entry(reaches, family=family).hold(LATER, **reached)
        self.hear: Call | None = None
        if decider._policy.learns:
            heard = {name: self.held[name] for name in ("constants", "params", "truth", "memory")}
            self.hear = entry(hear, policy=policy, family=family).hold(LATER, **heard)
        self.mark_stale: Call = entry(mark_stale).hold(LATER, stale=decider._stale)
        self.rows = np.zeros_like(decider._provisional)
        self.set_provisional: Call = entry(set_provisional).hold(
            LATER, rows=self.rows, provisional=decider._provisional, stale=decider._stale
        )

    def settle_heard(self) -> None:
        """Let a policy that hears rewards take arms that are new to it as they are believed now:
        from here on, and not from what comes before the next decision, or is imagined for it.
        """
        if self.hear is None:
            return
        renewed = {name: part for name, part in self.held.items() if name in _RENEWED}
        nothing = {name: np.zeros_like(renewed[name]) for name in ("pending", "provisional")}
        self._renew(LATER, **{**renewed, **nothing})
        stale = self.held["stale"]
        stale[:] = np.arange(-1, len(stale) - 1)
        stale[0] = len(stale) - 1
