"""Kernels and bundles know who they are: equal ones are one, others are never taken for it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest

from belman import Agent, BelMan, Thompson
from belman.engine import entry, factory, kernel
from belman.engine.kernels import at, recipe
from belman.families import FAMILIES, bernoulli
from belman.families.mirror import Mirror
from belman.policies import KLUCB, POLICIES, Forced, Phases, Policy, PolicyKernels, q_ucb, qbelman
from belman.policies.policy_kernels import choose_by_index
from tests.engine.loops import Scaling, both, scaling, times


def made(thing):
    """What another process makes of a recipe."""
    result = recipe(thing)
    assert result is not None
    return eval(result.expression, {"at": at})


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_can_be_made_again(name):
    family = FAMILIES[name]()
    assert made(family.kernels) == family.kernels
    assert made(Mirror(family).kernels) is Mirror(family).kernels


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_can_be_made_again(name):
    kind = POLICIES[name]
    needs = [each.name for each in fields(kind) if each.default is each.default_factory]
    policy = kind(**dict.fromkeys(needs, 100))
    for each in (policy, *([] if policy.sees_truth else [_inside(policy)])):
        assert made(each.kernels) == each.kernels


def test_policies_inside_others_can_be_made_again():
    for policy in (q_ucb(), qbelman(), Forced(KLUCB(divergence="exponential"))):
        assert made(policy.kernels) is policy.kernels


def _inside(policy: Policy) -> Policy:
    try:
        return Forced(policy)
    except Exception:  # some cannot stand inside another
        return policy


def test_factories_remember():
    assert times(2.0) is times(2.0)
    assert times(2.0) is not times(3.0)
    tools = scaling(2.0, times(3.0))
    assert made(tools) is tools
    assert made(tools.shift) is tools.shift


def test_bundles_are_equal_where_all_their_kernels_are():
    one, same = Scaling(times(2.0), times(3.0)), Scaling(times(2.0), times(3.0))
    assert one == same
    assert hash(one) == hash(same)
    assert one != Scaling(times(2.0), times(4.0))


def test_bundles_that_differ_in_any_kernel_are_compiled_apart():
    """Closures share a name: the code of one is never taken for another's."""
    result = [
        entry(both, tools=scaling(factor, times(inner)))(x=1.0)
        for factor in (2.0, 3.0)
        for inner in (5.0, 7.0)
    ]
    expected = [f * i + 100.0 * (i + f) for f in (2.0, 3.0) for i in (5.0, 7.0)]
    assert result == expected


def test_what_no_process_could_import_has_no_recipe():
    @kernel
    def local(x):
        return x

    assert recipe(local) is None
    assert recipe(replace(bernoulli.KERNELS, update=local)) is None
    assert recipe(times(float("inf"))).expression.endswith("(float('inf'))")  # type: ignore[union-attr]


@factory
def _always(which):
    @kernel
    def choose(policy, family, constants, params, ledger, memory, turn, turn_value, rng, index):
        return (0 if which == 0 else index.size - 1), 1

    return choose


@kernel
def _level(family, constants, params, ledger, memory, turn, turn_value, rng, index):
    index[:] = 0.0


@dataclass(frozen=True)
class First(Policy):
    name = "first"

    kernels = PolicyKernels(_level, choose=_always(0))


@dataclass(frozen=True)
class Last(Policy):
    name = "last"

    kernels = PolicyKernels(_level, choose=_always(1))


def test_phases_of_policies_that_share_kernels_play_each_their_own():
    for policy, arm in ((First(), 0), (Last(), 2)):
        for around in (Phases(policy, Thompson(), turns=10), Forced(policy, factor=0.0)):
            agent = Agent(range(3), policy=around, seed=1)
            for _ in range(3):
                assert agent.ask() == arm
                agent.tell(arm, 1)


def test_the_default_chooses_by_its_index():
    assert BelMan().kernels.choose is choose_by_index
    assert np.isfinite(BelMan().params(FAMILIES["bernoulli"]())[0])
