"""The compiled loop of arms with features, and who runs it.

Run r of a seed has the generators of all loops: `world` gives θ, arms and contexts, `nature` one
uniform a turn, `rng` what the policy draws. The belief, which looks and learns, and the policy,
which chooses, are called by address: the loop is compiled once for a kind of problem, the belief
once for a model.
"""

from __future__ import annotations

import numpy as np

from belman import chance
from belman.engine import call_address, entry, kernel
from belman.lab.bandit_loop import MIND, NATURE, STOP_CHECK_TURNS, WORLD
from belman.lab.bandit_runner import BanditResults, in_one_block
from belman.lab.design import Stop, checkpoints
from belman.models import Sight
from belman.models.shared import learn
from belman.models.sight import expected_scale, follow, look_at_all
from belman.policies.dependent import DependentPolicy
from belman.policies.policy import pick
from belman.problems.featured.featured import Featured

LOOK, LEARN = 0, 1  # what the loop asks of a belief
ASK, TOLD = 0, 1  # and of a policy


@kernel
def call_belief(model, constants, belief, features, sight, stays, what, arm, reward):
    """Look at the arms at hand; or learn the reward of one, and follow it where arms stay."""
    if what == LOOK:
        look_at_all(model, constants, belief, features, sight)
        return arm
    before = expected_scale(model, constants, belief)
    learn(model, constants, belief, features[arm], reward)
    if stays:
        follow(model, constants, belief, features, before, sight)
    return arm


@kernel
def call_policy(
    policy,
    model,
    constants,
    params,
    belief,
    features,
    sight,
    memory,
    rng,
    index,
    what,
    number,
    amount,
):
    """Choose an arm at a turn; or note that one was told."""
    if what == TOLD:
        policy.learn(params, memory, features[number])
        return number
    policy.indices(model, constants, params, belief, features, sight, memory, number, rng, index)
    arm, _ = pick(index, rng)
    return arm


@kernel
def play_featured(
    rewards, scene, constants, numbers, table, truth, features, eta, believed, blank_belief, kept,
    blank_memory, generators, checkpoints, seed, first, belief_call, policy_call, stays, horizon,
    regret, suboptimal_draws, reward, plays, stop,
):  # fmt: skip
    """Play runs first, first + 1, … into a row of results each; how many ended before a stop."""
    for r in range(len(regret)):
        for role in range(3):
            chance.fork(seed, first + r, role, generators[role])
        nature, world = generators[NATURE], generators[WORLD]
        for i in range(believed.size):
            believed[i] = blank_belief[i]
        for i in range(kept.size):
            kept[i] = blank_memory[i]
        scene.begin(numbers, table, world, truth)
        scene.meet(numbers, table, world, truth, features, eta)
        call_address(belief_call, LOOK, 0, 0.0)
        lost, missed, earned, mark = 0.0, 0, 0.0, 0
        for t in range(horizon):
            if t > 0 and not stays:
                scene.meet(numbers, table, world, truth, features, eta)
                call_address(belief_call, LOOK, 0, 0.0)
            arm = call_address(policy_call, ASK, t + 1, 0.0)
            value = rewards.reward(constants, eta[arm], chance.uniform(nature))
            call_address(policy_call, TOLD, arm, value)
            call_address(belief_call, LEARN, arm, value)
            best = eta[arm]
            for a in range(eta.size):
                best = max(best, eta[a])
            earned += value
            plays[r, arm] += 1
            if eta[arm] < best:
                lost += rewards.mean(constants, best) - rewards.mean(constants, eta[arm])
                missed += 1
            if t + 1 == checkpoints[mark]:
                regret[r, mark], suboptimal_draws[r, mark], reward[r, mark] = lost, missed, earned
                mark += 1
            if t % STOP_CHECK_TURNS == 0 and stop[0] != 0:
                return r
    return len(regret)


class FeaturedRunner:
    """A policy for arms with features at a problem."""

    def __init__(self, policy: DependentPolicy, problem: Featured, horizon: int) -> None:
        self._policy, self._problem, self._horizon = policy, problem, horizon
        self._marks = np.append(checkpoints(horizon), -1)

    def play(self, results: BanditResults, first: int, seed: chance.Words, stop: Stop) -> int:
        """Play runs first, first + 1, … into the results; how many ended before a stop."""
        policy, problem, arms = self._policy, self._problem, self._problem.arms
        model = policy.believing(problem.model)
        believed, belief = in_one_block(model.belief(problem.blocks))
        kept, memory = in_one_block(policy.memory(arms, problem.features))
        generators = np.zeros((3, 4), dtype=np.uint64)
        features = np.zeros((arms, problem.features))
        looked = {
            "constants": model.constants,
            "belief": belief,
            "features": features,
            "sight": Sight.of(arms),
        }
        believing = entry(call_belief, model=model.kernels).hold(**looked, stays=problem.stays)
        choosing = entry(call_policy, policy=policy.kernels, model=model.kernels).hold(
            **looked,
            params=policy.params,
            memory=memory,
            rng=generators[MIND],
            index=np.zeros(arms),
        )
        done: int = entry(play_featured, rewards=problem.rewards, scene=problem.scene)(
            constants=problem.model.constants,
            numbers=problem.numbers,
            table=problem.table,
            truth=np.zeros(problem.truth_size),
            features=features,
            eta=np.zeros(arms),
            believed=believed,
            blank_belief=believed.copy(),
            kept=kept,
            blank_memory=kept.copy(),
            generators=generators,
            checkpoints=self._marks,
            seed=seed,
            first=first,
            belief_call=believing.address,
            policy_call=choosing.address,
            stays=problem.stays,
            horizon=self._horizon,
            **results._asdict(),
            stop=stop,
        )
        return done
