"""A policy call: what a loop calls to have a policy choose, weigh or advise, at its address.

So a loop is compiled once for a family, whoever plays, and a policy once for a family, wherever it
plays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.engine import Call, call_address, entry, inlined_kernel, kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.dealing import deal_and_forget, set_to_prior
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats
from belman.policies.policy import Policy
from belman.policies.policy_kernels import any_open, choose_open

#: No arm, and no turn: for calls that ask for half of what they could.
NO_ARM, NO_TURN = -1, 0
#: What a loop can ask of a call for advice: to fill the scores of a recommendation, or whether the
#: policy has had enough.
RECOMMEND, FINISHED = 0, 1


@inlined_kernel
def take_in(policy, family, constants, params, ledger, memory, heard, changed):
    """Renew the memory of the arm whose ledger has changed.

    `heard` is the reward by which it has changed, or no number.
    """
    if changed != NO_ARM:
        if heard[0] == heard[0]:
            policy.learn(family, constants, params, ledger, memory, changed, heard[0])
        policy.refresh(family, constants, params, ledger, memory, changed)


@inlined_kernel
def call_choose(
    policy, family, constants, params, ledger, memory, rng, index, heard, changed, turn, turn_value
):
    """Renew the memory of the arm whose ledger has changed, and choose an arm."""
    take_in(policy, family, constants, params, ledger, memory, heard, changed)
    if turn == NO_TURN:
        return NO_ARM
    arm, _ = policy.choose(
        policy, family, constants, params, ledger, memory, turn, turn_value, rng, index
    )
    return arm


@inlined_kernel
def call_choose_among(
    policy, family, constants, params, ledger, memory, rng, index, heard, shut, limited, changed,
    turn, turn_value,
):  # fmt: skip
    """Renew the memory of an arm, and choose one: among those that are not shut, if limited."""
    take_in(policy, family, constants, params, ledger, memory, heard, changed)
    if turn == NO_TURN:
        return NO_ARM
    if limited[0]:
        arm, ties = choose_open(
            policy, family, constants, params, ledger, memory, turn, turn_value, rng, index, shut
        )
    else:
        index[:] = 0.0
        arm, ties = policy.choose(
            policy, family, constants, params, ledger, memory, turn, turn_value, rng, index
        )
    if ties == 0:
        arm, _ = any_open(index.size, shut[: index.size if limited[0] else 0], rng)
    return arm


@inlined_kernel
def call_hear(
    policy, family, constants, params, ledger, memory, rng, index, heard, arm, turn, turn_value
):
    """Tell a policy a reward of an arm, which stands in this ledger already."""
    policy.learn(family, constants, params, ledger, memory, arm, heard[0])
    return NO_ARM


@inlined_kernel
def call_indices(
    policy, family, constants, params, ledger, memory, rng, index, heard, changed, turn, turn_value
):
    """Renew the memory of the arm whose ledger has changed, and fill all indices to match by."""
    if changed != NO_ARM:
        policy.refresh(family, constants, params, ledger, memory, changed)
    if turn != NO_TURN:
        policy.indices(family, constants, params, ledger, memory, turn, turn_value, rng, index)
    return NO_ARM


@inlined_kernel
def call_advice(
    policy, family, constants, params, ledger, memory, rng, index, heard, what, number, turn_value
):
    """Say whether the policy has had enough, or fill the scores of what it recommends."""
    if what == FINISHED:
        return 1 if policy.finished(family, constants, params, ledger, memory) else 0
    policy.recommend(family, constants, params, ledger, memory, index)
    return number


@inlined_kernel
def call_deal(
    policy, family, constants, params, ledger, memory, rng, index, heard, kept, block, deal,
    decisions,
    turn, turn_value,
):  # fmt: skip
    """Deal a number of decisions, and forget them."""
    deal_and_forget(
        policy, family, constants, params, ledger, memory, turn, turn_value, decisions, rng, deal,
        kept, block,
    )  # fmt: skip
    return NO_ARM


def bind_policy(
    template: Callable[..., Any],
    policy: Policy,
    family: Family,
    params: Floats,
    ledger: Ledger,
    memory: Any,
    rng: NDArray[Any],
    index: Floats,
    heard: Floats | None = None,
    **more: Any,
) -> Call:
    """One of the calls above for a policy, at these arrays. Keep it while a loop uses it.

    A loop that tells rewards one by one writes each to `heard`; others are none for policies that
    learn from them.
    """
    if policy.by_clock:
        why = "turns of a simulation have no times: give hazards per turn"
        raise PolicyError(f"policy {policy.name!r} goes by the clock: {why}")
    if heard is None and policy.learns:
        where = "it plays at arms, and not at queues"
        raise PolicyError(f"policy {policy.name!r} is told rewards one by one: {where}")
    return entry(template, policy=policy.kernels, family=family.kernels).hold(
        constants=np.ascontiguousarray(family.constants),
        params=np.ascontiguousarray(params),
        ledger=ledger,
        memory=memory,
        rng=rng,
        index=index,
        heard=np.full(1, np.nan) if heard is None else heard,
        **more,
    )


def values_of_turns(policy: Policy, arms: int, horizon: int) -> Floats:
    """What a policy computes of every turn beforehand, as kernels take it."""
    result = policy.turn_values(np.arange(1.0, horizon + 1.0), arms)
    return np.ascontiguousarray(result, dtype=np.float64)


@kernel
def look_at(policy_call, arm: int):
    """Let a policy look at an arm whose ledger has changed."""
    return call_address(policy_call, arm, NO_TURN, 0.0)


def forget_arms(
    policy: Policy, prior: Floats, ledger: Ledger, memory: Any, arms: NDArray[np.int64]
) -> None:
    """Let a policy take these arms for new ones, when it looks at them next."""
    for arm in arms.tolist():
        set_to_prior(ledger, prior, arm)
        policy.forget(memory, arm)


@kernel
def reset(policy_call, prior, ledger, block, blank):
    """Beliefs at the prior and memory as it was made, then refreshed arm by arm."""
    for i in range(block.size):
        block[i] = blank[i]
    for a in range(ledger.plays.size):
        set_to_prior(ledger, prior, a)
    for a in range(ledger.plays.size):
        call_address(policy_call, a, NO_TURN, 0.0)
