"""Queues: the recursion against a slow twin, the genie, the stationary start, matching,
conservation, doors.
"""

from __future__ import annotations

import json
from collections import deque

import numpy as np
import pytest
from scipy import stats

import belman
from belman import chance
from belman.errors import PolicyError
from belman.lab.bandit_loop import NATURE, WORLD
from belman.lab.queue_loop import quantile
from belman.problems.queueing import UnstableQueueWarning
from tests.members import interpreted

PAPER = [
    [0.5, 0.33, 0.33, 0.33, 0.25],
    [0.33, 0.5, 0.25, 0.33, 0.25],
    [0.25, 0.33, 0.5, 0.25, 0.25],
]
AUTHORS = {"services": PAPER, "arrivals": [0.3, 0.25, 0.2]}
MEAN_OF_OPT = (
    1.575  # (λ + λ² + μ − 2λμ − (μ − λ)) / (2(μ − λ)) at λ = 0.35, μ = 0.5, Poisson arrivals
)


@pytest.fixture(scope="module")
def three():
    players = {
        "OPT": belman.policies.Oracle(),
        "Thompson": belman.Thompson(),
        "Random": belman.policies.Random(),
    }
    return belman.simulate(players, belman.problems.queue(**AUTHORS), horizon=600, runs=60, seed=3)


@np.errstate(over="ignore")
def streams(seed, run):
    words = chance.generator(seed)
    out = np.zeros((4, 4), np.uint64)
    for role in range(4):
        chance.fork(words, run, role, out[role])
    return out


@np.errstate(over="ignore")
def twin(seed, run, rate, arrivals, horizon):
    """One queue and one server, by the book: quantiles from SciPy, jobs in a list."""
    generators = streams(seed, run)
    ratio = arrivals * (1 - rate) / (rate * (1 - arrivals))
    jobs = deque([0] * int(np.log(chance.uniform(generators[WORLD])) / np.log(ratio)))
    came, lengths, waits = len(jobs), [], []
    for turn in range(1, horizon + 1):
        fresh = int(stats.bernoulli.ppf(chance.uniform(generators[NATURE]), arrivals))
        jobs.extend([turn] * fresh)
        came += fresh
        if stats.bernoulli.ppf(chance.uniform(generators[NATURE]), rate) and jobs:
            waits.append(turn - jobs.popleft())
        lengths.append(len(jobs))
    out = len(waits)
    waits += [horizon - arrival for arrival in jobs]
    return lengths, waits, came, out


def test_the_recursion_and_the_waits_are_those_of_a_slow_twin():
    horizon, runs, seed = 250, 6, 11
    problem = belman.problems.queue([0.45], 0.4, arrival_distribution="bernoulli")
    result = belman.simulate(
        [belman.policies.Random()], problem, horizon=horizon, runs=runs, seed=seed
    ).isel(player=0)
    for run in range(runs):
        lengths, waits, came, out = twin(seed, run, 0.45, 0.4, horizon)
        matches = result.sel(run=run)
        assert matches.queue.values.tolist() == lengths
        assert (int(matches.jobs_in), int(matches.jobs_out)) == (came, out)
        assert float(matches.mean_backlog) == pytest.approx(np.mean(lengths))
        assert int(matches.largest_backlog) == max(lengths)
        assert float(matches.waiting_mean) == pytest.approx(np.mean(waits))
        for share, name in ((0.95, "waiting_p95"), (0.99, "waiting_p99")):
            assert float(matches[name]) == np.quantile(waits, share, method="inverted_cdf")
        late = np.array(lengths[125:])
        positions = np.arange(125) * 20 // 125
        assert np.allclose(
            matches.late_backlog, [late[positions == batch].mean() for batch in range(20)]
        )


def test_a_quantile_is_the_least_time_that_so_many_jobs_did_not_exceed():
    waits = np.array([95, 0, 4, 1])
    assert [quantile(waits, 100, share) for share in (0.95, 0.96, 0.99, 1.0)] == [
        0.0,
        2.0,
        2.0,
        3.0,
    ]


def test_dims_of_one_queue_and_of_several(three):
    one = belman.simulate(
        [belman.policies.Oracle()],
        belman.problems.queue(PAPER[0], 0.35),
        horizon=50,
        runs=4,
        seed=1,
    )
    assert one.queue.dims == one.queue_regret.dims == ("player", "run", "turn")
    assert one.plays.dims == ("player", "run", "server")
    assert three["queue"].dims == three.queue_regret.dims == ("player", "run", "turn", "queue")
    assert three.plays.dims == ("player", "run", "queue", "server")
    assert json.loads(one.attrs["problem"])["stable"] is True


def test_conservation_in_every_run(three):
    assert (three.jobs_in == three.jobs_out + three["queue"].isel(turn=-1)).all()
    assert (three["queue"] >= 0).all()


def test_every_queue_gets_one_server_a_turn(three):
    assert (three.plays.sum("server") == 600).all()


def test_the_genie_has_no_regret_and_nobody_beats_it_on_the_same_luck():
    players = {
        "OPT": belman.policies.Oracle(),
        "Random": belman.policies.Random(),
        "Thompson": belman.Thompson(),
    }
    result = belman.simulate(
        players, belman.problems.queue(PAPER[2], 0.35), horizon=400, runs=40, seed=5
    )
    assert (result.queue_regret.sel(player="OPT") == 0).all()
    assert (result.queue_regret >= 0).all()
    assert (result.plays.sel(player="OPT", server=2) == 400).all()
    assert (result.jobs_in.sel(player="Random") == result.jobs_in.sel(player="OPT")).all()


@pytest.mark.parametrize("constants", ["bernoulli", "poisson"])
def test_queues_start_in_the_stationary_distribution_of_the_genie(constants):
    """The mean length at turns 1 and 300 is the exact one; 5-sigma limits (false alarm 1e-6)."""
    result = belman.simulate(
        [belman.policies.Oracle()],
        belman.problems.queue(PAPER[0], 0.35, arrival_distribution=constants),
        horizon=300,
        runs=4_000,
        seed=9,
    )
    ratio = 0.35 * 0.5 / (0.5 * 0.65)
    exact = ratio / (1 - ratio) if constants == "bernoulli" else MEAN_OF_OPT
    for turn in (1, 300):
        lengths = result.queue.sel(turn=turn).values
        assert abs(lengths.mean() - exact) < 5 * lengths.std() / np.sqrt(lengths.size)


POLICIES = {
    "Thompson": belman.Thompson(),
    "BelMan": belman.BelMan(),
    "Q-UCB": belman.policies.q_ucb(),
    "Random": belman.policies.Random(),
}


def test_one_row_of_a_matching_is_the_single_queue_choice_by_choice():
    one = belman.simulate(
        POLICIES, belman.problems.queue(PAPER[2], 0.35), horizon=1_500, runs=6, seed=2
    )
    row = belman.simulate(
        POLICIES, belman.problems.queue([PAPER[2]], [0.35]), horizon=1_500, runs=6, seed=2
    ).isel(queue=0)
    for name in ("queue", "queue_regret", "plays", "waiting_mean", "late_backlog", "jobs_out"):
        assert (row[name].values == one[name].values).all(), name


@pytest.mark.parametrize("constants", ["geometric", "exponential"])
def test_jobs_of_random_size_hold_their_servers(constants):
    """Busy turns per job are the mean of the distribution, rounded up to whole turns; players learn
    times and find the fast server.
    """
    rates = np.array([[0.5, 0.2, 0.1], [0.2, 0.5, 0.1]])
    problem = belman.problems.queue(rates, [0.25, 0.25], service_distribution=constants)
    assert problem.throughput == pytest.approx(
        rates if constants == "geometric" else 1 - np.exp(-rates)
    )
    result = belman.simulate([belman.Thompson()], problem, horizon=3_000, runs=20, seed=4)
    assert (result.jobs_in == result.jobs_out + result["queue"].isel(turn=-1)).all()
    served = result.plays.sum("server") - result.jobs_out
    assert ((served >= 0) & (served <= 1)).all()
    learnt = result.plays.isel(player=0).mean("run").values
    assert (learnt.argmax(axis=1) == [0, 1]).all()


def test_more_queues_than_servers_and_weighting_by_length():
    """Two servers, four queues: only lengths keep all of them bounded, and only then is the system
    stable.
    """
    rates = np.full((4, 2), 0.9)
    with pytest.warns(UnstableQueueWarning, match="unstable"):
        unfair = belman.problems.queue(rates, [0.3] * 4)
    fair = belman.problems.queue(rates, [0.3] * 4, weighting="length")
    assert (unfair.stable, fair.stable) == (False, True)
    assert fair.load == pytest.approx(np.full(4, 0.3 * 4 / 1.8))
    result = belman.simulate([belman.Thompson()], fair, horizon=3_000, runs=8, seed=1)
    assert (result.jobs_in == result.jobs_out + result["queue"].isel(turn=-1)).all()
    assert (result.plays.sum(("queue", "server")) == 2 * 3_000).all()
    assert float(result.mean_backlog.max()) < 30


def test_beliefs_may_be_shared_by_all_queues():
    """Players whose indices look at one arm alone do not mind; one pseudobelief for all pairs
    changes BelMan's choices.
    """
    players = {"UCB1": belman.policies.UCB1(), "BelMan": belman.BelMan.paper("natural")}
    apart = belman.simulate(players, belman.problems.queue(**AUTHORS), horizon=400, runs=5, seed=8)
    together = belman.simulate(
        players, belman.problems.queue(**AUTHORS, shared=True), horizon=400, runs=5, seed=8
    )
    assert (apart.plays.sel(player="UCB1") == together.plays.sel(player="UCB1")).all()
    assert (apart.plays.sel(player="BelMan") != together.plays.sel(player="BelMan")).any()


def test_servers_may_rest_while_a_queue_is_empty():
    problem = belman.problems.queue(PAPER[0], 0.2, serves_empty=False)
    result = belman.simulate([belman.policies.Oracle()], problem, horizon=2_000, runs=10, seed=1)
    assert (result.plays.sum("server") < 1_600).all()
    assert (result.queue_regret == 0).all()


def test_players_in_plain_python_are_refused_at_the_door():
    class Plain:
        def __init__(self, arms, rng): ...
        def ask(self): ...
        def tell(self, arm, reward): ...

    with pytest.raises(PolicyError, match="queues are served by policies"):
        belman.simulate({"plain": Plain}, belman.problems.queue([0.5], 0.1), horizon=5, runs=1)


def test_the_store_keeps_queues_too(tmp_path):
    pytest.importorskip("zarr", reason="needs the extra 'store'")
    call = ({"Random": belman.policies.Random()}, belman.problems.queue(**AUTHORS), 200, 30, 7)
    exact = belman.simulate(*call)
    assert belman.simulate(*call, store=tmp_path / "s").identical(exact)
    assert belman.simulate(*call, store=tmp_path / "s").identical(exact)
    assert belman.simulate(*call, workers=1).identical(exact)


def test_compiled_and_interpreted_queues_are_the_same():
    script = f"""
import json, belman
players = {{"T": belman.Thompson(), "Q": belman.policies.q_ucb()}}
single = belman.problems.queue({PAPER[2]}, 0.35)
one = belman.simulate(players, single, horizon=120, runs=2, seed=11)
several = belman.problems.queue({PAPER}, [0.3, 0.25, 0.2])
three = belman.simulate({{"T": players["T"]}}, several, horizon=60, runs=2, seed=11)
found = [one.plays, one.queue, three.plays, three["queue"]]
print(json.dumps([array.values.tolist() for array in found]))
"""
    players = {"T": belman.Thompson(), "Q": belman.policies.q_ucb()}
    one = belman.simulate(
        players, belman.problems.queue(PAPER[2], 0.35), horizon=120, runs=2, seed=11
    )
    three = belman.simulate(
        {"T": players["T"]}, belman.problems.queue(**AUTHORS), horizon=60, runs=2, seed=11
    )
    compiled = [
        array.values.tolist() for array in (one.plays, one.queue, three.plays, three["queue"])
    ]
    assert interpreted(script) == compiled
