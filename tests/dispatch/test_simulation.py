"""Parallel servers, simulated: against formulas, obvious twins, and the dispatcher itself."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest
from scipy import stats

import belman
from belman import Dispatcher, problems
from belman.dispatch import Breaker
from belman.dispatch.simulation import dispatched, simulate_servers
from belman.errors import SettingError
from belman.lab.servers import RIVALS, KnowsAll, RoundRobin, ServerLoop
from tests.dispatch.clocks import Clock


def erlang_response(rate, mean, slots):
    """The mean seconds of a job in M/M/c, by Erlang's formula."""
    load = rate * mean
    parts = [load**k / math.factorial(k) for k in range(slots)]
    last = load**slots / math.factorial(slots) * slots / (slots - load)
    return mean + last / (sum(parts) + last) / (slots / mean - rate)


@pytest.mark.parametrize("slots", [1, 3])
def test_one_server_is_erlangs(slots):
    """Within 4.5 standard errors of 40 runs, from an empty start: a risk of about 1e-5."""
    problem = problems.servers({"only": 0.1}, arrivals=6.0 * slots, slots=slots)
    result = simulate_servers(problem, {"x": RIVALS["oracle"]}, jobs=3_000, runs=40, seed=7)
    matches = result.response_mean.sel(player="x").values
    error = matches.std(ddof=1) / math.sqrt(matches.size)
    assert abs(matches.mean() - erlang_response(6.0 * slots, 0.1, slots)) < 4.5 * error
    assert result.utilisation.mean().item() == pytest.approx(0.6, rel=0.03)


def test_a_line_of_any_distribution_follows_lindley():
    """W ← max(W + S − A, 0), job by job."""
    problem = problems.servers(
        {"only": stats.lognorm(1.0, scale=0.1)},
        arrivals=lambda generator, size: generator.uniform(0.05, 0.3, size),
    )
    jobs = problem.jobs(500, np.random.default_rng(3))
    served = ServerLoop(problem, RoundRobin(problem, 1)).play(jobs)
    wait, before, ends = 0.0, 0.0, []
    for job in jobs:
        wait = max(wait - (job.time - before), 0.0)
        before = job.time
        wait += float(job.seconds[0])
        ends.append(job.time + wait)
    assert served.ended == pytest.approx(ends, abs=1e-9)


def test_every_job_is_served_once_and_failures_are_as_said():
    problem = problems.servers(
        {"letters": {"a": 0.1, "b": 0.2}, "parcels": {"a": 0.5, "b": 0.1}},
        arrivals={"letters": 3.0, "parcels": 2.0},
        failures={"b": lambda now: 1.0 if now > 50.0 else 0.0},
        slots={"b": 2},
    )
    jobs = problem.jobs(600, np.random.default_rng(3))
    for name, make in {"dispatcher": dispatched(), **RIVALS}.items():
        served = ServerLoop(problem, make(problem, 1)).play(jobs)
        assert sorted(served.arrived) == [job.time for job in jobs], name
        for position, ended, success in zip(
            served.server, served.ended, served.success, strict=True
        ):
            assert success == (position == 0 or ended <= 50.0)


def test_the_oracle_takes_the_fast_one_of_each_class():
    services = {"x": {"a": 0.1, "b": 1.0}, "y": {"a": 1.0, "b": 0.1}}
    problem = problems.servers(services, arrivals={"x": 0.2, "y": 0.2})
    oracle = KnowsAll(problem, 1)
    assert [oracle.choose(name, [0, 0], 0.0)[0] for name in "xy"] == [0, 1]
    assert oracle.choose("x", [1, 0], 0.0)[0] == 1
    assert oracle.choose("x", [1, 1], 0.0) is None


@pytest.mark.parametrize("settings", [{}, {"breaker": Breaker(), "time_limit": 0.6, "limit": 3}])
def test_it_is_the_dispatcher_at_other_servers(settings):
    """A real dispatcher whose clock is set from event to event serves the same jobs the same."""
    problem = problems.servers({"a": 0.1, "b": 0.2, "c": 0.4}, 12.0, slots={"b": 2}, failures=0.2)
    jobs = problem.jobs(300, np.random.default_rng(3))
    served = ServerLoop(problem, dispatched(**settings)(problem, 5)).play(jobs)

    clock = Clock(0.0)
    dispatcher = Dispatcher("abc", slots={"b": 2}, seed=5, clock=clock, **settings)
    line, events, working, matches = [], [], {"a": 0, "b": 0, "c": 0}, []
    at_servers = {name: [] for name in working}
    for number, job in enumerate(jobs):
        heapq.heappush(events, (job.time, 0, number, "comes", job))
    slots = dict(zip("abc", problem.slots, strict=True))
    while events:
        clock.now, _, _, what, job = heapq.heappop(events)
        if what == "comes":
            line.append(job)
        else:
            held, job = job
            fails = job.luck < 0.2
            (dispatcher.failed if fails else dispatcher.completed)(held)
            matches.append(("abc".index(held.server), clock.now))
            working[held.server] -= 1
            if at_servers[held.server]:
                _begin(events, working, at_servers[held.server].pop(0), clock.now)
        while line:
            try:
                held = dispatcher.assign_job()
            except belman.errors.BusyError:
                break
            job = line.pop(0)
            if working[held.server] < slots[held.server]:
                _begin(events, working, (held, job), clock.now)
            else:
                at_servers[held.server].append((held, job))
    assert [position for position, _ in matches] == list(served.server)
    assert [when for _, when in matches] == pytest.approx(served.ended, abs=1e-9)


def _begin(events, working, pair, now):
    held, job = pair
    working[held.server] += 1
    end = now + float(job.seconds["abc".index(held.server)])
    heapq.heappush(events, (end, 1, held.number, "ends", pair))


def test_learning_beats_rules_that_do_not_learn():
    """Every one of 5 runs, by a factor: servers eight times slower count as much as fast ones."""
    problem = problems.servers({"a": 0.05, "b": 0.05, "c": 0.4, "d": 0.4}, arrivals=20.0)
    mean = simulate_servers(problem, jobs=800, runs=5, seed=7).response_mean
    for rule in ("power of two", "round robin"):
        assert (mean.sel(player="dispatcher") < 0.8 * mean.sel(player=rule)).all()
    ratio = mean.sel(player="dispatcher").mean() / mean.sel(player="oracle").mean()
    assert ratio < 1.15


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"services": {}}, "no server"),
        ({"services": {"a": -1.0}}, "not a distribution of times"),
        ({"services": {"a": True}}, "not a distribution of times"),
        ({"services": {"a": stats.norm(0.0, 1.0)}}, "not a distribution of times"),
        ({"arrivals": 0.0}, "not a distribution of times"),
        ({"slots": 0}, "at least one"),
        ({"slots": {"z": 2}}, "unknown server 'z'"),
        ({"failures": 1.5}, "from 0 to 1"),
        (
            {"services": {"x": {"a": 1.0}, "y": {"b": 1.0}}, "arrivals": {"x": 1.0, "y": 1.0}},
            "other servers",
        ),
    ],
)
def test_problems_that_cannot_be(settings, words):
    with pytest.raises(SettingError, match=words):
        problems.servers(**{"services": {"a": 0.1}, "arrivals": 1.0, **settings})


def test_runs_that_cannot_be():
    problem = problems.servers({"a": 0.1}, arrivals=1.0)
    with pytest.raises(SettingError, match="jobs=0"):
        simulate_servers(problem, jobs=0)
    with pytest.raises(SettingError, match=r"belman\.problems\.servers"):
        simulate_servers(problems.bernoulli([0.1, 0.2]))
    with pytest.raises(SettingError, match="nobody"):
        simulate_servers(problem, {})
