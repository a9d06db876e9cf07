"""Compiling ahead: who compiles what, once for each family and loop, and processes that end with
their work.
"""

from __future__ import annotations

import os
from concurrent.futures import CancelledError, Future

import pytest

import belman
from belman.lab.exploration import Exploration, Question
from belman.lab.precompile import Precompilation, WorkerProcesses
from belman.lab.simulation import Simulation
from tests.waiting import HANG, wait_until

PLAYERS = {
    "Thompson": belman.Thompson(),
    "UCB": belman.policies.UCB1(),
    "IMED": belman.policies.IMED(),
}
COINS, WAITS = belman.problems.bernoulli([0.5, 0.6]), belman.problems.exponential([1.0, 2.0])
QUEUE, QUEUES = (
    belman.problems.queue([0.5, 0.6], 0.2),
    belman.problems.queue([[0.5, 0.6], [0.6, 0.5]], [0.2, 0.2]),
)


class Jobs:
    """Processes that only write down who is given what, and let the test say when it is done."""

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
    processes = Jobs(2)
    Precompilation(
        [simulation(COINS), simulation(WAITS), simulation(QUEUE)], processes, lambda done, all: None
    )
    families = [{type(job.problem.family).__name__ for job in given} for given in processes.given]
    assert families == [
        {"Bernoulli"},
        {"Bernoulli", "Exponential"},
    ]  # six Bernoulli players are more than half of nine
    assert [len(given) for given in processes.given] == [5, 4]
    assert all(
        len(job.players) == 1 and job.runs == 1 for given in processes.given for job in given
    )


def test_a_player_is_compiled_once_for_each_loop():
    processes, said = Jobs(1), []
    question = Question(1, 10)
    explored = Exploration(PLAYERS, COINS, 10, 2, 1, question)
    several = [
        simulation(COINS),
        simulation(belman.problems.bernoulli([0.1, 0.2, 0.3])),
        explored,
        simulation(QUEUE),
        simulation(QUEUES),
    ]
    Precompilation(several, processes, lambda *progress: said.append(progress))
    assert len(processes.futures) == 4 * len(PLAYERS)
    for future in processes.futures:
        future.set_result(None)
    assert said == [(done, 4 * len(PLAYERS)) for done in range(4 * len(PLAYERS) + 1)]


def test_a_figure_can_be_played_when_its_own_players_are_compiled():
    processes = Jobs(1)
    few, more = simulation(COINS, {"UCB": belman.policies.UCB1()}), simulation(COINS)
    compiled = Precompilation([few, more], processes, lambda done, all: None)
    assert compiled.is_over([])
    assert not compiled.is_over([few])
    processes.futures[0].set_result(None)
    assert compiled.is_over([few])
    assert not compiled.is_over([few, more])
    compiled.wait_for([few])
    processes.futures[1].set_exception(ZeroDivisionError("in the compiler"))
    with pytest.raises(ZeroDivisionError, match="in the compiler"):
        compiled.wait_for([more])


def wait_for(path):
    """Be at work until a file is there."""
    wait_until(path.exists)


def test_there_is_a_process_for_each_core_and_work_for_the_idle(tmp_path):
    with WorkerProcesses() as processes:
        here = [
            processes.submit(process, os.getpid)
            for process in range(len(processes))
            for _ in range(2)
        ]
        pids = [future.result(HANG) for future in here]
        assert len(set(pids)) == len(processes) == os.cpu_count()
        assert os.getpid() not in pids
        slow = processes.submit(0, wait_for, tmp_path / "enough")
        assert processes.least_busy() != 0 or len(processes) == 1
        (tmp_path / "enough").touch()
        slow.result(HANG)
        assert processes.least_busy() == 0


def interrupted(processes, given, enough):
    """Something that goes wrong while there is much left to do."""
    with processes:
        begun = processes.submit(0, os.getpid)
        given += [processes.submit(0, wait_for, enough) for _ in range(20)]
        given[-1].add_done_callback(lambda last: enough.touch())
        begun.result(HANG)
        raise KeyboardInterrupt


def test_work_that_has_not_begun_is_dropped_with_an_error(tmp_path):
    given = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(WorkerProcesses(), given, tmp_path / "enough")
    with pytest.raises(CancelledError):
        given[-1].result()
    assert sum(not future.cancelled() for future in given) <= 3  # under way, or handed over already
