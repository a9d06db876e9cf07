"""The compiled loop of arms with features, and who runs it.

Run r of a seed has the generators of all loops: `world` gives θ, arms and contexts, `nature` one
uniform a turn, `rng` what the policy draws. The belief, which looks and learns, and the policy,
which chooses, are called by address: the loop is compiled once for a kind of problem, the belief
once for a model.

Rewards may come late, and decisions may be made in batches, of which nothing is told before the
next one begins. By weights, a policy decides within a batch as `Agent.ask(n)` does: every choice
counts as observed at its expected reward, until the batch is over.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.delays.counts import between
from belman.engine import call_address, entry, kernel
from belman.errors import SettingError
from belman.lab.bandit_loop import MIND, NATURE, STOP_CHECK_TURNS, WORLD
from belman.lab.bandit_runner import BanditResults, in_one_block
from belman.lab.delayed_runner import late_part
from belman.lab.design import Stop, checkpoints
from belman.lab.telling import AT_ONCE, DELAYS, LATE, NAIVE, NONE, WINDOW, due_turn
from belman.models import Sight
from belman.models.shared import learn
from belman.models.sight import expected_scale, follow, look_at_all
from belman.policies.dependent import DependentPolicy
from belman.policies.dependent.policy import pick_rounded
from belman.policies.memory import Floats
from belman.problems.featured.featured import Featured
from belman.problems.problem import Problem

LOOK, LEARN, IMAGINE = 0, 1, 2  # what the loop asks of a belief
ASK, TOLD = 0, 1  # and of a policy
_MOST_NUMBERS = 200_000_000  # features of decisions whose rewards may be out


class Out(NamedTuple):
    """Decisions by turn, whose rewards may be out; those due at a turn are a chained list."""

    features: Floats  # (T, d) where features change, else (0, d)
    arm: NDArray[np.int64]  # (T)
    reward: Floats  # (T)
    due: NDArray[np.int64]  # (T) the first that is told at each turn
    following: NDArray[np.int64]  # (T) the next one of the same turn


@kernel
def call_belief(model, constants, belief, features, lesson, sight, stays, what, arm, reward):
    """Look at the arms at hand; or learn the reward of the features of the lesson, or imagine what
    is expected of the arm, and follow it where arms stay.
    """
    if what == LOOK:
        look_at_all(model, constants, belief, features, sight)
        return arm
    before = expected_scale(model, constants, belief)
    if what == IMAGINE:
        reward = model.expected(constants, sight.eta[arm], sight.variance[arm])
    learn(model, constants, belief, lesson, reward)
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
    lesson,
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
        policy.learn(params, memory, lesson)
        return number
    policy.indices(model, constants, params, belief, features, sight, memory, number, rng, index)
    arm, _ = pick_rounded(index, rng)
    return arm


@kernel
def teach(belief_call, policy_call, row, lesson, arm, reward):
    """Tell policy and belief the reward of an arm with these features."""
    for i in range(lesson.size):
        lesson[i] = row[i]
    call_address(policy_call, TOLD, arm, reward)
    call_address(belief_call, LEARN, arm, reward)


@kernel
def teach_out(belief_call, policy_call, features, lesson, out, ticket):
    """Tell the reward of a decision that was out."""
    arm = out.arm[ticket]
    row = out.features[ticket] if len(out.features) > 0 else features[arm]
    teach(belief_call, policy_call, row, lesson, arm, out.reward[ticket])


@kernel
def send(telling, out, clock, quantiles, features, turn, arm, reward, luck):
    """A decision goes out, and what it brings is told in time."""
    out.arm[turn], out.reward[turn] = arm, reward
    if len(out.features) > 0:
        for i in range(features.shape[1]):
            out.features[turn, i] = features[arm, i]
    if telling == LATE or (telling == NAIVE and reward != 0.0):
        row = quantiles[arm if len(quantiles) > 1 else 0]
        delay = between(row, luck * (row.size - 1))
        when = due_turn(clock.times, turn, clock.times[turn] + delay)
        if when < clock.times.size:
            out.following[turn] = out.due[when]
            out.due[when] = turn


@kernel
def play_featured(
    rewards, scene, constants, numbers, table, truth, features, lesson, eta, believed, blank_belief,
    imagined_from, kept, blank_memory, generators, checkpoints, seed, first, belief_call,
    policy_call, stays, horizon, telling, batch, weighs, clock, quantiles, out, regret,
    suboptimal_draws, reward, plays, stop,
):  # fmt: skip
    """Play runs first, first + 1, … into a row of results each; how many ended before a stop."""
    for r in range(len(regret)):
        for role in range(4):
            chance.fork(seed, first + r, role, generators[role])
        nature, world = generators[NATURE], generators[WORLD]
        for i in range(believed.size):
            believed[i] = blank_belief[i]
        for i in range(kept.size):
            kept[i] = blank_memory[i]
        out.due[:] = NONE
        scene.begin(numbers, table, world, truth)
        lost, missed, earned, mark, known, closing = 0.0, 0, 0.0, 0, 0, 0
        for t in range(horizon):
            if weighs and t > 0 and t % batch == 0:
                for i in range(believed.size):
                    believed[i] = imagined_from[i]
            if telling != AT_ONCE and t % batch == 0:
                for due in range(max(t - batch + 1, 0), t + 1):
                    ticket = out.due[due]
                    while ticket != NONE:
                        teach_out(belief_call, policy_call, features, lesson, out, ticket)
                        known += 1
                        ticket = out.following[ticket]
                while closing < t and clock.times[closing] + clock.window <= clock.times[t]:
                    failed = telling == NAIVE and out.reward[closing] == 0.0
                    if telling == WINDOW or failed:
                        teach_out(belief_call, policy_call, features, lesson, out, closing)
                        known += 1
                    closing += 1
            if weighs and t % batch == 0:
                for i in range(believed.size):
                    imagined_from[i] = believed[i]
            if t == 0 or not stays:
                scene.meet(numbers, table, world, truth, features, eta)
            if t == 0 or not stays or (weighs and t % batch == 0):
                call_address(belief_call, LOOK, 0, 0.0)
            arm = call_address(policy_call, ASK, known + 1, 0.0)
            value = rewards.reward(constants, eta[arm], chance.uniform(nature))
            if telling == AT_ONCE:
                teach(belief_call, policy_call, features[arm], lesson, arm, value)
                known += 1
            else:
                luck = chance.uniform(generators[DELAYS])
                send(telling, out, clock, quantiles, features, t, arm, value, luck)
            if weighs:
                for i in range(lesson.size):
                    lesson[i] = features[arm, i]
                call_address(belief_call, IMAGINE, arm, 0.0)
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


def scene_of(problem: Any) -> Featured:
    """The arms with features of a problem, be its rewards late or not."""
    result: Featured = problem.problem if problem.late else problem
    return result


class FeaturedRunner:
    """A policy for arms with features at a problem."""

    def __init__(self, policy: DependentPolicy, problem: Problem, horizon: int) -> None:
        self._policy, self._problem, self._horizon = policy, scene_of(problem), horizon
        self._marks = np.append(checkpoints(horizon), -1)
        self._late = late_part(problem, horizon)
        kept = 0 if self._problem.stays or self._late["telling"] == AT_ONCE else horizon
        if kept * self._problem.features > _MOST_NUMBERS:
            what = f"{horizon:,} turns with {self._problem.features:,} features whose rewards are"
            raise SettingError(f"{what} late do not fit into memory: play fewer turns")
        self._kept = kept

    def play(self, results: BanditResults, first: int, seed: chance.Words, stop: Stop) -> int:
        """Play runs first, first + 1, … into the results; how many ended before a stop."""
        policy, problem, arms = self._policy, self._problem, self._problem.arms
        model = policy.believing(problem.model)
        believed, belief = in_one_block(model.belief(problem.blocks))
        kept, memory = in_one_block(policy.memory(arms, problem.features))
        generators = np.zeros((4, 4), dtype=np.uint64)
        features = np.zeros((arms, problem.features))
        looked = {
            "constants": model.constants,
            "belief": belief,
            "features": features,
            "lesson": np.zeros(problem.features),
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
        chained = np.full((3, self._horizon), NONE, dtype=np.int64)
        done: int = entry(play_featured, rewards=problem.rewards, scene=problem.scene)(
            constants=problem.model.constants,
            numbers=problem.numbers,
            table=problem.table,
            truth=np.zeros(problem.truth_size),
            features=features,
            lesson=looked["lesson"],
            eta=np.zeros(arms),
            believed=believed,
            blank_belief=believed.copy(),
            imagined_from=believed.copy(),
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
            **self._late,
            out=Out(
                np.zeros((self._kept, problem.features)), chained[0], np.zeros(self._horizon),
                chained[1], chained[2],
            ),
            **results._asdict(),
            stop=stop,
        )  # fmt: skip
        return done
