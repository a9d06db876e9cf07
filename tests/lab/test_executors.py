"""Executors: Dask on real processes, a worker killed in the middle, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import belman

distributed = pytest.importorskip("distributed", reason="needs the extra 'dask'")

PLAYERS = {"BelMan": belman.BelMan(), "Thompson": belman.Thompson()}
PROBLEM = belman.problems.bernoulli([0.8, 0.9, 0.3])


@pytest.fixture(scope="module")
def exact():
    return belman.simulate(PLAYERS, PROBLEM, horizon=2_000, runs=200, seed=7)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as running:
        yield running


@pytest.mark.filterwarnings("ignore")
def test_dask_gives_the_same_numbers(exact, cluster):
    result = belman.simulate(
        PLAYERS, PROBLEM, horizon=2_000, runs=200, seed=7, executor=cluster.scheduler_address
    )
    assert result.identical(exact)


@pytest.mark.filterwarnings("ignore")
def test_dask_survives_a_killed_worker(exact, cluster):
    def kill_one() -> None:
        time.sleep(0.5)
        worker = next(iter(cluster.workers.values()))
        os.kill(worker.pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    slow = belman.simulate(
        PLAYERS, PROBLEM, horizon=2_000, runs=200, seed=7, executor=cluster.scheduler_address
    )
    killer.join()
    assert slow.identical(exact)


def test_ctrl_c_stops_within_a_second_and_keeps_what_is_finished(tmp_path):
    """A run of 20 million turns is interrupted in its middle; finished tasks stay in the store."""
    pytest.importorskip("zarr", reason="needs the extra 'store'")
    script = textwrap.dedent(
        f"""
        import belman
        players = {{"BelMan": belman.BelMan(), "Thompson": belman.Thompson()}}
        problem = belman.problems.bernoulli([0.8, 0.9, 0.3])
        belman.simulate(players, problem, 200_000, 1_000, seed=1, workers=1, store={str(tmp_path / "s")!r})
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
    marks = tmp_path / "s" / "belman-done"
    deadline = time.monotonic() + 120
    while not any(marks.glob("[0-9]*")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors
    assert process.returncode != 0
    assert any(marks.glob("[0-9]*"))
