"""Every wrapper forwards the whole contract of the policy inside, but for what it overrides."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import belman
from belman import chance
from belman.agent import Agent
from belman.engine import leaves
from belman.errors import PolicyError
from belman.families import Bernoulli, Family, Gaussian, GaussianUnknown
from belman.policies import (
    EXP3P,
    KLUCB,
    LUCB,
    BelMan,
    BoltzmannGumbel,
    Clipping,
    Drift,
    Forced,
    Forgetting,
    Phases,
    Policy,
    PolicyKernels,
    Restarting,
    SuccessiveRejects,
    Thompson,
    TopTwoThompson,
    TrackAndStop,
)
from belman.policies.dealing import Deal
from belman.policies.policy_kernels import learns_nothing, to_be_integrated
from belman.policies.wrappers.restarting import remembered_turn, value_at
from belman.policies.wrappers.wrapper import OwnLedger, Wrapper
from tests.policies.interpreted_play import Seat

pytestmark = pytest.mark.interpreted

FAMILY, ARMS, TURN = Bernoulli(), 3, 41
OTHERS = (Bernoulli(), Gaussian(sigma=0.5), GaussianUnknown())
BELIEVERS = (
    BelMan(),
    Thompson(),
    TopTwoThompson(),
    BoltzmannGumbel(),
    KLUCB(),
    LUCB(delta=0.9),
    TrackAndStop(),
    SuccessiveRejects(60),
)
LEARNERS = (
    Drift(),
    Drift(half_life=3600.0),
    EXP3P(60),
    Forgetting(Thompson(), last=9),
    Restarting(KLUCB()),
    Clipping(BelMan()),
)
WRAPPERS: tuple[tuple[Callable[[Policy], Wrapper], tuple[Policy, ...]], ...] = (
    (lambda inside: Forced(inside, factor=0.0), BELIEVERS + LEARNERS),
    (lambda inside: Forgetting(inside, discount=0.9), BELIEVERS),
    (lambda inside: Forgetting(inside, last=12), BELIEVERS),
    (lambda inside: Forgetting(inside, restarts=(30,)), BELIEVERS),
    (lambda inside: Restarting(inside, explore=0.0), BELIEVERS),
    (lambda inside: Clipping(inside), BELIEVERS),
)
CASES = [make(inside) for make, insides in WRAPPERS for inside in insides]
#: Who chooses is the wrapper: chances are not those of the policy inside.
CHOOSING = {"leaves_all_a_chance", "acting", "chances", "own_chances", "draws_from_beliefs"}
#: What each wrapper says of itself.
OWN: dict[type, set[str]] = {
    Forced: {"params"},
    OwnLedger: {"params", "memory", "whole_numbers", "learns", "learns_sums"},
    Forgetting: {"forgets", "turn_values"},
    Restarting: {"forgets", "turn_values"},
    Clipping: {"believed"},
}


def own(policy: Policy) -> set[str]:
    return set().union(*(names for kind, names in OWN.items() if isinstance(policy, kind)))


class Taught:
    """A wrapper that was told rewards, and what the policy inside sees and keeps."""

    def __init__(self, policy: Wrapper) -> None:
        self.policy, self.inside = policy, policy.policy
        self.seat = Seat(policy, FAMILY, ARMS)
        policy.set_time(self.seat.memory, 1e6)
        rng = np.random.default_rng(3)
        for turn in range(TURN - 1):
            arm = turn % ARMS
            mean = (0.9 if turn < 20 else 0.1) if arm == 0 else 0.5
            self.seat.tell(arm, float(rng.random() < mean))

    def both(self) -> tuple[tuple[Policy, Any, Any], tuple[Policy, Any, Any]]:
        """The wrapper and the policy inside, each with copies of its ledger and memory."""
        ledger, memory = copy.deepcopy((self.seat.ledger, self.seat.memory))
        seen, kept = self.policy.ledger_inside(ledger, memory), self.policy.memory_inside(memory)
        return (self.policy, ledger, memory), (self.inside, *copy.deepcopy((seen, kept)))

    def turn_values(self, memory: Any) -> tuple[float, float]:
        """The values of the turn: of the wrapper, and of the policy inside."""
        value = float(self.policy.turn_values(np.array([float(TURN)]), ARMS)[0])
        if isinstance(self.policy, Restarting):
            return value, float(value_at(memory.values_scratch, remembered_turn(memory.own)))
        return value, value


def plain(value: Any) -> Any:
    """What can be compared: arrays as lists, NaN as a word."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return [str(one) for one in value.ravel()]
    return value


def refused(policy: Policy, family: Family, arms: int) -> str:
    """Why there is no such policy for a family and so many arms; nothing where there is."""
    try:
        policy.check(family, arms)
    except PolicyError as error:
        return str(error)
    return ""


def answer(
    name: str, policy: Policy, ledger: Any, memory: Any, value: float, inside: Callable[[Any], Any]
) -> Any:
    """What a member says of a state; what it does to a memory where it changes one."""
    index = np.array([0.3, 0.1, 0.2])
    arguments: dict[str, tuple[Any, ...]] = {
        "params": (FAMILY,),
        "memory": (ARMS, 2),
        "whole_numbers": (ARMS,),
        "turn_values": (np.array([1.0, 2.0, 50.0]), ARMS),
        "learns_sums": (FAMILY,),
        "believed": (FAMILY, ledger, memory),
        "pseudobelief": (FAMILY, ledger, memory, value),
        "changes": (memory,),
        "explanation": (FAMILY, ledger, memory, value, index),
    }
    if name in ("learns", "learns_from_asks", "by_clock", "forgets", "sees_truth"):
        return getattr(policy, name)
    if name in arguments:
        return getattr(policy, name)(*arguments[name])
    if name == "resettled":
        fresh = policy.memory(2, 2)
        return list(leaves(inside(policy.resettled(memory, fresh, [2, -1]))))
    if name == "forget":
        policy.forget(memory, 1)
    if name == "set_time":
        policy.set_time(memory, 2e6)
    if name == "learn_many":
        policy.learn_many(FAMILY, memory, 1, 5, 3.0, 3.0)
    return list(leaves(inside(memory)))


COMPARED = {
    "sees_truth", "learns", "learns_from_asks", "forgets", "by_clock", "params", "memory",
    "whole_numbers", "turn_values", "check", "resettled", "forget", "learns_sums", "learn_many",
    "believed", "pseudobelief", "changes", "set_time", "explanation",
}  # fmt: skip


def test_every_member_of_the_contract_is_compared_and_forwarded() -> None:
    """A member that is added to `Policy` has to be added to `Wrapper` and to this page."""
    members = {name for name in vars(Policy) if not name.startswith("_")}
    members |= {name for name in Policy.__annotations__ if not name.startswith("_")}
    declared = {"name", "kernels", "registry", "about", "remembers"}  # members below read them
    assert members - declared == COMPARED | CHOOSING
    settled = {*declared, "sees_truth", "learns"}  # by the kernels, or refused inside
    assert members - settled <= set(vars(Wrapper))
    kinds = {kind for kind in belman.policies.POLICIES.values() if "policy" in kind.__annotations__}
    assert {type(policy) for policy in CASES} == kinds | {Forced, Forgetting}
    assert all(issubclass(kind, Wrapper) for kind in kinds)


@pytest.mark.parametrize("policy", CASES, ids=repr)
def test_what_a_wrapper_does_not_change_is_that_of_the_policy_inside(policy: Wrapper) -> None:
    taught = Taught(policy)
    for name in sorted(COMPARED - own(policy) - {"check"}):
        outer, inner = taught.both()
        values = taught.turn_values(outer[2])
        given = plain(answer(name, *outer, values[0], policy.memory_inside))
        assert given == plain(answer(name, *inner, values[1], lambda kept: kept)), name
    for family, arms in itertools.product(OTHERS, (1, 100)):
        why = refused(policy.policy, family, arms)
        assert not why or refused(policy, family, arms) == why
    for name in CHOOSING - {"acting", "chances", "own_chances"}:
        assert getattr(policy, name) is False
    assert policy.acting(taught.seat.memory) is policy
    assert np.isnan(policy.chances(np.array([0.5, 0.5]))).all()
    assert policy.own_chances(FAMILY, taught.seat.ledger, np.arange(ARMS)) is None


@pytest.mark.parametrize("policy", CASES, ids=repr)
def test_kernels_are_those_of_the_policy_inside(policy: Wrapper) -> None:
    """From the same words each does the same, to what the policy inside sees and keeps."""
    taught = Taught(policy)

    def ran(name: str, state: tuple[Policy, Any, Any], value: float) -> Any:
        player, ledger, memory = state
        seen = FAMILY.kernels, FAMILY.constants, player.params(FAMILY), ledger, memory
        clock, rng, out = (TURN, value), chance.generator(5), np.zeros(ARMS)
        if isinstance(policy, Restarting) and player is not policy:
            clock = int(remembered_turn(ledger)), value
        if isinstance(policy, Forced) and player is not policy and name in ("indices", "choose"):
            chance.uniform(rng)  # the coin
        call = getattr(player.kernels, name)
        none_closed = np.zeros(0, dtype=np.bool_)
        deal = Deal.blank(ARMS, FAMILY.dimension)
        with np.errstate(all="ignore"):
            result = {
                "indices": lambda: call(*seen, *clock, rng, out),
                "choose": lambda: call(player.kernels, *seen, *clock, rng, out),
                "propensity": lambda: call(*seen, *clock, none_closed, 1, 1),
                "recommend": lambda: call(*seen, out),
                "finished": lambda: bool(call(*seen)),
                "deal": lambda: call(player.kernels, *seen, *clock, 10.0, rng, deal),
            }[name]()
        return plain(
            [np.array([result], dtype=np.float64) if result is not None else 0, out, *deal]
        )

    skipped = {"refresh", "learn"}  # by which it was taught: what is kept inside is compared above
    if isinstance(policy, Forced):
        skipped.add("propensity")  # the coin hides what the policy inside would play
        assert (policy.kernels.learn is learns_nothing) == (not policy.policy.learns)
    for name in {field.name for field in fields(PolicyKernels)} - skipped:
        outer, inner = taught.both()
        values = taught.turn_values(outer[2])
        assert ran(name, outer, values[0]) == ran(name, inner, values[1]), name


def change(agent: Agent) -> Agent:
    """A life in which an arm changes."""
    rng = np.random.default_rng(1)
    for turn in range(400):
        mean = 0.5 if turn % 2 else (0.95 if turn < 200 else 0.05)
        agent.tell("ab"[turn % 2], float(rng.random() < mean))
    return agent


def test_forced_drift_follows_changes_as_drift_does() -> None:
    """Beliefs of now and not of all time, the changes, no interval that holds at any look."""
    alone = change(Agent(["a", "b"], policy=Drift(), seed=1))
    forced = change(Agent(["a", "b"], policy=Forced(Drift()), seed=1))
    assert forced.beliefs().columns == alone.beliefs().columns
    assert alone.beliefs().row("a")["expected reward"] < 0.2
    assert alone.changes()["arm"] == forced.changes()["arm"] == ["a"]
    assert str(forced.report()) == str(alone.report())
    assert "follows changes" in str(forced.report())
    assert Agent(["a"], policy=Forced(Restarting())).policy.forgets == Drift().forgets


def test_forced_drift_goes_by_the_clock() -> None:
    agents = [Agent(["a", "b"], policy=policy) for policy in (BY_CLOCK, Forced(BY_CLOCK))]
    for agent in agents:
        change(agent)
        agent.time = 3600.0 * 50
    alone, forced = (agent.belief("a") for agent in agents)
    assert forced == alone
    assert sum(alone) < 3.0  # after fifty half-lives next to nothing is known


BY_CLOCK = Drift(half_life=3600.0)


def test_phases_forward_to_the_policy_that_acts() -> None:
    """Kernels and explanations of the phase; draws are those of both."""
    for turns in (10**6, 1):
        phases = Phases(SuccessiveRejects(60), LUCB(delta=0.9), turns=turns)
        seat = Seat(phases, FAMILY, ARMS)
        for turn in range(1, TURN):
            seat.ask(turn)
            seat.tell(turn % ARMS, float(turn % ARMS == 0))
        acting = phases.acting(seat.memory)
        assert acting == (phases.first if turns > TURN else phases.then)
        kept = seat.memory.first if turns > TURN else seat.memory.then
        seen = FAMILY.kernels, FAMILY.constants, acting.params(FAMILY), seat.ledger, kept
        own = FAMILY.kernels, FAMILY.constants, seat.params, seat.ledger, seat.memory
        deals = [Deal.blank(ARMS, FAMILY.dimension) for _ in range(2)]
        value = float(acting.turn_values(np.array([float(TURN)]), ARMS)[0])
        for kernels, state, deal in zip(
            (acting.kernels, phases.kernels), (seen, own), deals, strict=True
        ):
            state = copy.deepcopy(state[3:])
            first = (
                FAMILY.kernels,
                FAMILY.constants,
                (seen if kernels is acting.kernels else own)[2],
            )
            with np.errstate(all="ignore"):
                kernels.deal(kernels, *first, *state, TURN, value, 10.0, chance.generator(5), deal)
        assert deals[0].dealt.tolist() == deals[1].dealt.tolist()
        stops = bool(acting.kernels.finished(*seen))
        assert bool(phases.kernels.finished(*own)) == (stops and turns == 1)
    assert acting.kernels.propensity is not to_be_integrated
