"""What every policy keeps: frozen data, fresh memory, the same play in lab, agent and file."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from belman.agent import Agent
from belman.deciders import state_file
from belman.engine import named_leaves
from belman.engine.tiers import interpreted
from belman.errors import BelmanError
from belman.families import Family
from belman.lab import simulate
from belman.packed import read_array, write_array
from belman.policies import Policy, PolicyKernels, Random
from belman.problems import problem
from belman.testing import frequencies
from belman.testing.cases import FamilyCase, Faults, checks_in

_TURNS, _RUNS = 120, 4
_ELSEWHERE = 10_000.0  # beyond the end of all that a policy of few arms holds
_ARMS = ("blue", "green", "red", "white")


class PolicyCase:
    """A policy at a family, with rewards to play on.

    Parameters
    ----------
    policy
        The policy to check, with the settings to try.
    family
        The family of the rewards.
    means
        Two means that rewards can have, the smaller first; by default they are found.
    """

    def __init__(
        self, policy: Policy, family: Family, means: tuple[float, float] | None = None
    ) -> None:
        self.policy, self.family = policy, family
        self.rewards = FamilyCase(family, means)
        low, high = self.rewards.means
        self.problem = problem(family, [low, low + 0.4 * (high - low), high])

    def agent(self, seed: int = 5) -> Agent:
        """Make a new agent of four arms with this policy and family.

        Parameters
        ----------
        seed
            The seed of the agent.

        Returns
        -------
        Agent
            The agent, which has learnt nothing.
        """
        return Agent(_ARMS, self.family, self.policy, seed=seed)

    def played(self, agent: Agent, turns: int, seed: int) -> list[Any]:
        """Let an agent live, with batches, arms that are not available, and late rewards.

        Parameters
        ----------
        agent
            The agent; it learns what it plays.
        turns
            How many turns.
        seed
            The seed of the rewards, and of which arms are available.

        Returns
        -------
        list
            The arms that it chose; None where it chose one that was not available.
        """
        rng = np.random.default_rng(seed)
        streams = [self.rewards.draws(mean, turns, seed) for mean in self.rewards.means]
        chosen: list[Any] = []
        for turn in range(turns):
            if turn % 20 == 7:
                chosen += agent.ask(3)
            elif turn % 20 == 13:
                for arm in list(agent.outstanding):
                    agent.tell(arm, float(streams[len(str(arm)) % 2][turn]))
            among = rng.permutation(_ARMS)[:2].tolist() if turn % 9 == 4 else None
            arm = agent.ask(among=among)
            chosen.append(arm if among is None or arm in among else None)
            agent.tell(arm, float(streams[len(str(arm)) % 2][turn]))
        return chosen


def policy_is_frozen_data(case: PolicyCase) -> Faults:
    """A policy equals its copy and can be a key."""
    policy = case.policy
    if not isinstance(policy.name, str) or not policy.name:
        yield f"its name is {policy.name!r}"
    if replace(policy) != policy:
        yield f"a copy of {policy!r} is not the same"
    try:
        hash(policy)
    except TypeError as error:
        yield f"{policy!r} cannot be a key: {error}"


def kernels_are_one_bundle(case: PolicyCase) -> Faults:
    """The same at every look, so that they are compiled once."""
    kernels = case.policy.kernels
    if not isinstance(kernels, PolicyKernels):
        yield f"its kernels are {kernels!r}, not PolicyKernels"
    if not case.policy.kernels == kernels == replace(case.policy).kernels:
        yield "its kernels are others at every look: make them globals of your module, or a factory"


def params_and_memory_are_arrays(case: PolicyCase) -> Faults:
    """Of floats, the same at every look, and no array of a memory is another's."""
    params = case.policy.params(case.family)
    if params.dtype != np.float64 or params.ndim != 1:
        yield f"params are {params!r}, not a line of floats"
    if not np.array_equal(params, case.policy.params(case.family), equal_nan=True):
        yield "params are other numbers at every look"
    for arms in (1, 7):
        one, two = (case.policy.memory(arms, case.family.dimension) for _ in range(2))
        for (name, part), (_, other) in zip(named_leaves(one), named_leaves(two), strict=True):
            if part.dtype != np.float64 or not part.flags.c_contiguous:
                yield f"memory.{name} is not a contiguous array of floats"
            if np.shares_memory(part, other):
                yield f"two memories share {name}"


def turn_values_are_a_table(case: PolicyCase) -> Faults:
    """What changes with the turn alone, whichever turns are asked for together."""
    turns = np.arange(1.0, 41.0)
    for arms in (1, 5):
        whole = np.asarray(case.policy.turn_values(turns, arms))
        if whole.shape != turns.shape or np.isnan(whole).any():
            yield f"turn_values(turns, {arms}) is {whole!r} for 40 turns"
            continue
        parts = np.concatenate(
            [case.policy.turn_values(part, arms) for part in (turns[:1], turns[1:])]
        )
        if not np.array_equal(whole, parts):
            yield "the value of a turn depends on the turns that are asked for with it"


def lab_plays_it_twice_alike(case: PolicyCase) -> Faults:
    """The same seed gives the same numbers, alone or not, and every turn one arm is played."""

    def plays(players: dict[str, Any]) -> Any:
        return simulate(players, case.problem, _TURNS, _RUNS, 3, progress=False).sel(player="own")

    alone = plays({"own": case.policy})
    beside = plays({"random": Random(), "own": case.policy})
    if not (alone.plays.sum("arm") == _TURNS).all():
        yield f"{alone.plays.sum('arm').values.tolist()} plays in {_TURNS} turns"
    if not all((alone[name] == beside[name]).all() for name in ("plays", "reward", "regret")):
        yield "another player beside it changes what it plays"


def agent_plays_it(case: PolicyCase) -> Faults:
    """In batches, among some arms, with late rewards; one seed makes one life."""
    if case.policy.sees_truth:
        return
    lives = [case.played(case.agent(), _TURNS, seed=1) for _ in range(2)]
    if None in lives[0]:
        yield "it plays arms that are closed"
    if lives[0] != lives[1]:
        yield "the same seed and the same rewards make other choices"
    agent = case.agent()
    case.played(agent, 30, seed=2)
    agent.ask()
    chances = [choice.probability for choice in agent.last]
    if not all(math.isnan(each) or 0.0 < each <= 1.0 + 1e-9 for each in chances):
        yield f"the chance of its choice is {chances}"
    if agent.recommend() not in _ARMS:
        yield f"it recommends {agent.recommend()!r}"


def equal_arms_are_played_alike(case: PolicyCase) -> Faults:
    """Equal arms all have a chance to be played: one false alarm in a million."""
    if case.policy.sees_truth:
        return
    first = {case.agent(seed).ask() for seed in range(60)}
    if first != set(_ARMS):
        yield f"in 60 first turns it never played {sorted(set(_ARMS) - first)}"


def looking_changes_nothing(case: PolicyCase) -> Faults:
    """`explain` gives a number for each arm, the index last, and leaves the next choice alone."""
    if case.policy.sees_truth:
        return
    agent, other = case.agent(), case.agent()
    for each in (agent, other):
        case.played(each, 40, seed=3)
    table = agent.explain()
    *_, last = table.columns
    if last != "index" or any(len(column) != len(_ARMS) for column in table.columns.values()):
        given = list(table.columns)
        yield f"explanation gives the columns {given}, not one number an arm, index last"
    agent.recommend()
    if case.played(agent, 30, seed=4) != case.played(other, 30, seed=4):
        yield "to look at it changes what it plays"


def it_goes_on_from_a_file(case: PolicyCase) -> Faults:
    """Where a state file can hold it, it goes on as if it had never stopped."""
    if case.policy.sees_truth:
        return
    agent = case.agent()
    case.played(agent, 40, seed=3)
    try:
        again = Agent.from_json(agent.to_json())
    except BelmanError:
        return  # a policy that cannot be imported is given again by hand
    if case.played(agent, 40, seed=4) != case.played(again, 40, seed=4):
        yield "from a file it goes on with other choices: is something kept outside of its memory?"


def positions_are_declared(case: PolicyCase) -> Faults:
    """What kernels use as a place is in `whole_numbers`, so that no file leads them elsewhere."""
    if case.policy.sees_truth:
        return
    agent = case.agent()
    case.played(agent, 40, seed=3)
    content = json.loads(agent.to_json())
    for name in ("format", "version", "checksum"):
        del content[name]
    declared = case.policy.whole_numbers(len(_ARMS))
    state = content["state"]
    for name, part in state["memory"].items():
        kept = read_array(part, np.float64, None)
        if name in declared or not kept.size:
            continue
        elsewhere = write_array(np.full(kept.shape, _ELSEWHERE))
        memory = state["memory"] | {name: elsewhere}
        text = state_file.write(content | {"state": state | {"memory": memory}})
        if _leads_out_of_bounds(case, text):
            yield f"{name} of its memory is used as a place, and not declared in whole_numbers"


def _leads_out_of_bounds(case: PolicyCase, text: str) -> bool:
    """Whether a file makes interpreted kernels look where there is nothing."""
    with interpreted(), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            case.played(Agent.from_json(text), 30, seed=4)
        except Exception as error:
            result: BaseException | None = error
            while result is not None:
                if isinstance(result, IndexError):
                    return True
                result = result.__context__
    return False


#: Every check of a policy, each a function of a `PolicyCase` that yields a sentence a fault.
POLICY_CHECKS = (*checks_in(globals(), PolicyCase), frequencies.chances_are_frequencies)
