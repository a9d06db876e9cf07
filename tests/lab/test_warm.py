"""Compiling ahead: who compiles what, once for each family and loop, and processes that end with
their work.
"""

from __future__ import annotations

import os
from concurrent.futures import CancelledError, Future

import pytest

import belman
from belman.lab.crew import Crew
from belman.lab.exploration import Exploration
from belman.lab.simulation import Simulation
from belman.lab.verdicts import Question
from belman.lab.warm import Warming
from tests.waiting import HANG, wait_until

PLAYERS = {"Thompson": belman.Thompson(), "UCB": belman.UCB1(), "IMED": belman.policies.IMED()}
COINS, WAITS = belman.bernoulli([0.5, 0.6]), belman.environments.exponential([1.0, 2.0])
QUEUE, QUEUES = belman.queue([0.5, 0.6], 0.2), belman.queue([[0.5, 0.6], [0.6, 0.5]], [0.2, 0.2])


class Jobs:
    """A crew that only writes down who is given what, and lets the test say when it is done."""

    def __init__(self, size):
        self.given, self.futures = [[] for _ in range(size)], []

    def __len__(self):
        return len(self.given)

    def least_busy(self):
        return min(range(len(self)), key=lambda process: len(self.given[process]))

    def submit(self, process, function, design):
        self.given[process].append(design)
        self.futures.append(Future())
        return self.futures[-1]


def simulation(problem, players=PLAYERS):
    return Simulation(players, problem, 10, 2, 1)


def test_players_of_a_family_are_compiled_in_one_process():
    crew = Jobs(2)
    Warming([simulation(COINS), simulation(WAITS), simulation(QUEUE)], crew, lambda done, all: None)
    families = [{type(job.problem.family).__name__ for job in given} for given in crew.given]
    assert families == [
        {"Bernoulli"},
        {"Bernoulli", "Exponential"},
    ]  # six Bernoulli players are more than half of nine
    assert [len(given) for given in crew.given] == [5, 4]
    assert all(len(job.players) == 1 and job.runs == 1 for given in crew.given for job in given)


def test_a_player_is_compiled_once_for_each_loop():
    crew, said = Jobs(1), []
    question = Question(1, 10)
    explored = Exploration(PLAYERS, COINS, 10, 2, 1, question)
    several = [
        simulation(COINS),
        simulation(belman.bernoulli([0.1, 0.2, 0.3])),
        explored,
        simulation(QUEUE),
        simulation(QUEUES),
    ]
    Warming(several, crew, lambda *progress: said.append(progress))
    assert len(crew.futures) == 4 * len(PLAYERS)
    for future in crew.futures:
        future.set_result(None)
    assert said == [(done, 4 * len(PLAYERS)) for done in range(4 * len(PLAYERS) + 1)]


def test_a_figure_can_be_played_when_its_own_players_are_compiled():
    crew = Jobs(1)
    few, more = simulation(COINS, {"UCB": belman.UCB1()}), simulation(COINS)
    warming = Warming([few, more], crew, lambda done, all: None)
    assert warming.is_over([])
    assert not warming.is_over([few])
    crew.futures[0].set_result(None)
    assert warming.is_over([few])
    assert not warming.is_over([few, more])
    warming.wait_for([few])
    crew.futures[1].set_exception(ZeroDivisionError("in the compiler"))
    with pytest.raises(ZeroDivisionError, match="in the compiler"):
        warming.wait_for([more])


def wait_for(path):
    """Be at work until a file is there."""
    wait_until(path.exists)


def test_a_crew_has_a_process_for_each_core_and_gives_work_to_the_idle(tmp_path):
    with Crew() as crew:
        here = [crew.submit(process, os.getpid) for process in range(len(crew)) for _ in range(2)]
        pids = [future.result(HANG) for future in here]
        assert len(set(pids)) == len(crew) == os.cpu_count()
        assert os.getpid() not in pids
        slow = crew.submit(0, wait_for, tmp_path / "enough")
        assert crew.least_busy() != 0 or len(crew) == 1
        (tmp_path / "enough").touch()
        slow.result(HANG)
        assert crew.least_busy() == 0


def interrupted(crew, given, enough):
    """Something that goes wrong while there is much left to do."""
    with crew:
        begun = crew.submit(0, os.getpid)
        given += [crew.submit(0, wait_for, enough) for _ in range(20)]
        given[-1].add_done_callback(lambda last: enough.touch())
        begun.result(HANG)
        raise KeyboardInterrupt


def test_work_that_has_not_begun_is_dropped_with_an_error(tmp_path):
    given = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(Crew(), given, tmp_path / "enough")
    with pytest.raises(CancelledError):
        given[-1].result()
    assert sum(not future.cancelled() for future in given) <= 3  # under way, or handed over already
