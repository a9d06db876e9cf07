"""Worlds compose: layers of lateness and batches around any world, for any player, beside twins.

The twin is an agent, which `ask`s and is `tell`ed by the loop of plain Python: it shares neither
loop, nor post, nor clock with the compiled ones. Interpreted, so that nothing has to be compiled.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats

import belman
from belman import Agent, simulate, spec
from belman.errors import ArmError, SettingError
from belman.models import Logistic
from belman.policies import LBSDA, UCB1, Drift, Forgetting, Oracle, Random, TsallisINF
from belman.policies.dependent import LinUCB
from belman.problems import (
    ChangingArms,
    DrawnArms,
    Problem,
    batched,
    bernoulli,
    changing,
    coming_and_going,
    contextual,
    corrupted,
    delayed,
    from_rewards,
    gaussian,
    piecewise,
    random_bernoulli,
    random_walk,
    renewing,
    unit_ball,
)
from tests.members import interpreted

TURNS = 50
WORLDS: dict[str, Problem] = {
    "fixed": bernoulli([0.2, 0.5, 0.4]),
    "drawn": random_bernoulli(3),
    "stretches": piecewise([[0.2, 0.8, 0.5], [0.8, 0.2, 0.5]], 25),
    "jumps": changing(3, TURNS, 3, None),
    "one jumps": changing(3, TURNS, 3, None, all_arms=False),
    "walk": random_walk(3, TURNS, 0.05, None),
    "come and go": coming_and_going(4, TURNS, 3),
    "come and go, drawn": coming_and_going(4, TURNS, None),
    "renewed": renewing(3, 0.05),
    "false": corrupted(changing(3, TURNS, 3, None), 5),
    "replayed": from_rewards({"a": [0, 1, 1], "b": [1, 0]}),
}
EXPONENTIAL = stats.expon(scale=5.0)
LAYERS: dict[str, Any] = {
    "plain": lambda world: world,
    **{
        told: lambda world, told=told: delayed(world, EXPONENTIAL, 12.0, told=told, looks=2)
        for told in ("at once", "window", "late", "naive")
    },
    "turn by turn": lambda world: batched(world, 7, weights=False),
    "late, turn by turn": lambda world: batched(
        delayed(world, [3.0, 6.0], 12.0, told="late"), 7, weights=False
    ),
}
POLICIES = [belman.BelMan(), belman.Thompson(), UCB1(), Drift(), Forgetting(UCB1(), last=20)]


class Twin:
    """An agent with the words of the generator that compiled players have."""

    def __init__(self, arms, rng, policy):
        self.agent = Agent(list(range(arms)), policy=policy, seed=1)
        self.agent._decider._rng[:] = rng.bit_generator.seed_seq.entropy
        self.ask, self.tell = self.agent.ask, self.agent.tell

    def renew(self, arm):
        """Let the agent take an arm for a new one, at its place."""
        decider = self.agent._decider
        fresh = Agent(list(decider.arms))._decider._truth
        for column, blank in zip(decider._truth, fresh, strict=True):
            column[arm] = blank[arm]
        decider._waiting -= int(decider._pending[arm])
        decider._tells[arm] = decider._pending[arm] = 0
        decider._all_tried = False
        for column, blank in zip(decider._working, fresh, strict=True):
            column[arm] = blank[arm]
        decider.policy.forget(decider._memory, arm)
        decider._calls.mark_stale(arm)
        if decider._calls.hear is not None:
            decider._calls.settle_heard()


@pytest.mark.interpreted
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("world", WORLDS)
def test_any_layer_around_any_world_asks_and_tells_as_an_agent_does(world, layer):
    """To the last bit; every policy meets every world, and every layer, in some of the pairs."""
    number = list(WORLDS).index(world) + list(LAYERS).index(layer)
    policy, problem = POLICIES[number % len(POLICIES)], LAYERS[layer](WORLDS[world])
    players = {"own": policy, "twin": lambda arms, rng: Twin(arms, rng, policy)}
    players["twin"].ask = players["twin"].tell = None  # as a class would have
    result = simulate(players, problem, TURNS, 2, 3, progress=False, workers=1)
    for name in ("plays", "regret", "reward"):
        own, twin = (result[name].sel(player=player).values for player in players)
        assert (own == twin).all(), name


@pytest.mark.interpreted
@pytest.mark.parametrize("policy", [*POLICIES, TsallisINF(), LBSDA()])
def test_every_kind_of_memory_forgets_an_arm_that_was_renewed(policy):
    """Renewed at every turn, no arm has ever been tried: a fair share each, five deviations."""
    problem = renewing(2, 1.0)
    plays = simulate([policy], problem, 300, 2, 1, progress=False).plays.values.ravel()
    assert np.abs(plays - 150.0).max() < 5.0 * 300**0.5 / 2.0


@pytest.mark.interpreted
@pytest.mark.parametrize("told", ["at once", "early", "late"])
@pytest.mark.parametrize("world", WORLDS)
def test_weights_are_for_arms_that_are_there(world, told):
    problem = batched(delayed(WORLDS[world], EXPONENTIAL, 12.0, told=told, looks=1), 9)
    players = [belman.BelMan(), belman.Thompson(), Drift()]
    result = simulate(players, problem, TURNS, 2, 3, progress=False)
    assert (result.plays.sum("arm") == TURNS).all()
    assert np.isfinite(result.regret).all()
    assert (result.regret.values >= 0.0).all()


def test_compiled_loops_make_the_same_choices_as_interpreted_ones():
    script = """
import json, belman
from belman.problems import batched, coming_and_going, delayed, renewing
from scipy import stats
late = stats.expon(scale=5.0)
problems = [renewing(3, 0.05), batched(delayed(coming_and_going(4, 80, None), late, 12.0), 7)]
found = []
for problem in problems:
    result = belman.simulate([belman.Thompson()], problem, 80, 3, 5, progress=False)
    found.append([result.plays.values.tolist(), result.regret.values[..., -1].tolist()])
print(json.dumps(found))
"""
    names: dict[str, Any] = {}
    exec(script.replace("print", "found_here = "), names)
    assert names["found"] == interpreted(script)


def test_the_oracle_follows_the_world():
    for world in ("stretches", "jumps", "come and go", "renewed"):
        result = simulate([Oracle()], WORLDS[world], TURNS, 2, 1, progress=False)
        assert (result.regret == 0.0).all()


# What the worlds are


def courses(problem: Problem, runs: int = 60) -> list[np.ndarray]:
    """The means of every turn, run by run, as a player in plain Python never sees them."""
    from belman.lab.bandit_loop import WORLD
    from belman.lab.python_runner import _Arms, fork

    generators, result = np.zeros((4, 4), dtype=np.uint64), []
    for run in range(runs):
        fork(generators, belman.chance.generator(5), run)
        world = _Arms(problem, generators[WORLD])
        world.begin()
        rows = []
        for turn in range(1, TURNS + 1):
            new = world.step(turn)
            rows.append([*world.means, float(bool(new))])
        result.append(np.array(rows))
    return result


@pytest.mark.interpreted
def test_jumps_come_at_as_many_turns_as_asked_for_anywhere():
    """60 runs with 3 jumps in 50 turns: the mean turn of a jump is 26, five deviations."""
    result = courses(WORLDS["jumps"])
    turns = [1 + np.flatnonzero((np.diff(rows, axis=0) != 0.0).any(axis=1)) + 1 for rows in result]
    assert [len(one) for one in turns] == [3] * 60
    assert abs(np.concatenate(turns).mean() - 26.0) < 5.0 * 14.4 / 180.0**0.5
    assert len({tuple(one) for one in turns}) > 50  # anew in every run
    single = courses(WORLDS["one jumps"], 20)
    assert all(((np.diff(rows, axis=0) != 0.0).sum(axis=1) <= 1).all() for rows in single)


@pytest.mark.interpreted
def test_arms_live_as_long_as_their_chance_says():
    """Chance 0.05, 3 arms, 49 turns, 60 runs: 441 renewals, five deviations of a binomial."""
    result = courses(WORLDS["renewed"])
    changed = sum(int((np.diff(rows[:, :3], axis=0) != 0.0).sum()) for rows in result)
    trials = 60 * 49 * 3
    assert abs(changed - 0.05 * trials) < 5.0 * (trials * 0.05 * 0.95) ** 0.5
    for rows in result:
        moved = (np.diff(rows[:, :3], axis=0) != 0.0).any(axis=1)
        assert (moved == (rows[1:, 3] > 0.0)).all()  # players are told of each


@pytest.mark.interpreted
def test_walks_keep_to_their_range_and_step():
    """49 / 10 steps of deviation 0.05·√10 in the place, of 0.96 of that in the mean."""
    result = courses(WORLDS["walk"])
    steps = np.concatenate([np.diff(rows[::10, :3], axis=0).ravel() for rows in result])
    assert all((rows[:, :3] >= 0.02).all() and (rows[:, :3] <= 0.98).all() for rows in result)
    assert 0.6 < steps.std() / (0.96 * 0.05 * 10**0.5) < 1.05  # some are folded at an end


def test_other_families_change_too():
    problem = changing(2, TURNS, 3, None, between=(-2.0, 3.0), family=gaussian([0.0]).family)
    assert simulate([Random()], problem, TURNS, 2, progress=False).regret.shape == (1, 2, TURNS)
    assert problem.table[:, 0, 0].min() == -2.0


# Players in plain Python, and arms with features


class Rote:
    """Plays arms in turn, and keeps what it is told."""

    told: ClassVar[list[Any]] = []

    def __init__(self, arms, rng):
        self.arms, self.turn = arms, 0
        type(self).told = []

    def ask(self, **given):
        self.turn += 1
        type(self).told.append(("ask", self.turn, sorted(given)))
        return given.get("among", range(self.arms))[0]

    def tell(self, arm, reward, **also):
        type(self).told.append((arm, self.turn, sorted(also)))


@pytest.mark.interpreted
def test_a_player_in_plain_python_hears_of_batches_arms_and_features():
    simulate({"rote": Rote}, batched(coming_and_going(4, 20, 3), 5), 20, 1, progress=False)
    tells = [one for one in Rote.told if one[0] != "ask"]
    assert {one[1] for one in tells} == {5, 10, 15}
    assert all(one[2] == ["among"] for one in Rote.told if one[0] == "ask")
    simulate({"rote": Rote}, batched(contextual(3, 4), 5), 20, 1, progress=False)
    assert all(one[2] == ["features"] for one in Rote.told)
    simulate({"rote": Rote}, delayed(unit_ball(4, 3), [3.0], 9.0, told="late"), 20, 1)
    assert {one[1] for one in Rote.told if one[0] != "ask"} == set(range(3, 20))


@pytest.mark.interpreted
def test_an_arm_that_is_not_there_is_refused():
    class Stubborn(Rote):
        def ask(self, **given):
            return 3

    with pytest.raises(ArmError, match="not there now: give one of"):
        simulate({"stubborn": Stubborn}, coming_and_going(4, 20, 3), 20, 1, progress=False)


class Lin:
    """LinUCB as a person would write it: ridge regression, told late of features it was shown."""

    def __init__(self, arms, rng):
        self.gram, self.sum, self.asked = None, None, []

    def ask(self, features):
        if self.gram is None:
            self.gram, self.sum = np.eye(features.shape[1]), np.zeros(features.shape[1])
        inverse = np.linalg.inv(self.gram)
        eta = features @ inverse @ self.sum
        wide = np.sqrt(np.einsum("ij,jk,ik->i", features, inverse, features))
        return int(np.argmax(eta + wide))

    def tell(self, arm, reward, features):
        self.gram += np.outer(features, features)
        self.sum += features * reward


FEATURED_LAYERS = {
    **{name: LAYERS[name] for name in ("plain", "at once", "turn by turn")},
    **{
        told: lambda world, told=told: delayed(world, EXPONENTIAL, 12.0, told=told)
        for told in ("window", "late", "naive")
    },
}


@pytest.mark.interpreted
@pytest.mark.parametrize("layer", FEATURED_LAYERS)
@pytest.mark.parametrize("kind", [DrawnArms, ChangingArms])
def test_arms_with_features_are_told_late_as_a_plain_regression_is(kind, layer):
    """Both play the same arms throughout: features in a box do not tie."""
    problem = FEATURED_LAYERS[layer](kind(number=4, dimension=3, shape="box"))
    players = {"own": LinUCB(1.0), "twin": Lin}
    result = simulate(players, problem, TURNS, 2, 3, progress=False)
    own, twin = (result.reward.sel(player=player).values for player in players)
    assert own == pytest.approx(twin)


@pytest.mark.interpreted
def test_a_batch_of_contexts_leaves_a_belief_as_it_was():
    """Told at once in one batch as long as the run, nothing is ever learnt: as by chance."""
    problem = contextual(3, 4)
    blind = simulate([LinUCB(1.0)], batched(problem, TURNS), TURNS, 20, 3, progress=False)
    told = simulate([LinUCB(1.0)], problem, TURNS, 20, 3, progress=False)
    assert float(blind.regret[..., -1].mean()) > 1.5 * float(told.regret[..., -1].mean())


# At the door


@pytest.mark.parametrize("world", WORLDS)
def test_a_world_is_plain_data_and_back(world):
    for layer in LAYERS.values():
        problem = layer(WORLDS[world])
        text = json.dumps(spec.describe(problem), allow_nan=False)
        assert spec.build(json.loads(text)) == problem


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: renewing(3, 0.0), "chance=0.0 is not valid"),
        (lambda: renewing(3, 0.1, between=(0.5, 0.2)), "0 ≤ low < high ≤ 1"),
        (lambda: changing(3, 10, 12, None), "changes=12 is not valid"),
        (lambda: changing(3, 10, 2, None, between=(0.5, 0.5)), "two means that rise"),
        (lambda: coming_and_going(4, 20, None, at_once=5), "at_once=5, horizon=20 are not valid"),
        (lambda: delayed(LAYERS["late"](WORLDS["fixed"]), [1.0], 2.0), "late already"),
        (lambda: delayed(contextual(model=Logistic()), [1.0], 2.0), "share a belief"),
        (lambda: corrupted(LAYERS["late"](WORLDS["fixed"]), 3), "no arms to be corrupted"),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(SettingError, match=words):
        make()


@pytest.mark.parametrize("layer", ["plain", "late", "turn by turn"])
def test_more_cores_make_no_difference(layer):
    problem = LAYERS[layer](renewing(3, 0.05))
    one, two = (
        simulate([belman.Thompson()], problem, TURNS, 8, 1, workers=workers, progress=False)
        for workers in (1, 2)
    )
    assert one.equals(two)
