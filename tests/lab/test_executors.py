"""Executors: Dask on real processes, a worker killed in the middle, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import threading
from contextlib import contextmanager

import pytest

import belman
from tests.waiting import HANG, process, wait_until

distributed = pytest.importorskip("distributed", reason="needs the extra 'dask'")

PLAYERS = {"BelMan": belman.BelMan(), "Thompson": belman.Thompson()}
PROBLEM = belman.problems.bernoulli([0.8, 0.9, 0.3])


@pytest.fixture(scope="module")
def exact():
    return belman.simulate(PLAYERS, PROBLEM, horizon=2_000, runs=200, seed=7)


@contextmanager
def running(workers):
    import dask

    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"}),
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
        ) as result,
    ):
        yield result


@pytest.fixture(scope="module")
def cluster():
    with running(2) as result:
        yield result


@pytest.mark.filterwarnings("ignore")
def test_dask_gives_the_same_numbers(exact):
    """From one process of its own; the slow tests have two."""
    with running(1) as cluster:
        result = belman.simulate(
            PLAYERS, PROBLEM, horizon=2_000, runs=200, seed=7, executor=cluster.scheduler_address
        )
    assert result.identical(exact)


@pytest.fixture
def victim(cluster):
    """A worker that is going to be killed, and will be replaced."""
    result = next(iter(cluster.workers.values()))
    before = result.pid
    yield result
    wait_until(
        lambda: result.process and result.pid != before and result.process.status.name == "running"
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("milliseconds", [2**power for power in range(10)])
def test_dask_survives_a_killed_worker(exact, cluster, victim, milliseconds):
    """At any moment: while tasks are handed out, while they are played, while results come in."""
    killer = threading.Timer(milliseconds / 1_000, os.kill, (victim.pid, signal.SIGKILL))
    killer.start()
    slow = belman.simulate(
        PLAYERS, PROBLEM, horizon=2_000, runs=200, seed=7, executor=cluster.scheduler_address
    )
    killer.join()
    assert slow.identical(exact)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_dask_survives_the_loss_of_all_its_workers(exact, cluster):
    """All at once, in the middle of their tasks; others come in their place."""
    before = {name: worker.pid for name, worker in cluster.workers.items()}

    def kill():
        for pid in before.values():
            os.kill(pid, signal.SIGKILL)

    killer = threading.Timer(0.05, kill)
    killer.start()
    slow = belman.simulate(
        PLAYERS, PROBLEM, horizon=2_000, runs=200, seed=7, executor=cluster.scheduler_address
    )
    killer.join()
    assert slow.identical(exact)
    wait_until(
        lambda: all(
            one.process and one.pid != before[name] and one.process.status.name == "running"
            for name, one in cluster.workers.items()
        )
    )


@pytest.mark.slow
def test_ctrl_c_stops_a_run_and_keeps_what_is_finished(tmp_path):
    """A run of 400 million turns is interrupted in its middle; finished tasks stay in the store."""
    pytest.importorskip("zarr", reason="needs the extra 'store'")
    script = textwrap.dedent(
        f"""
        import signal
        import belman
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started these tests
        players = {{"BelMan": belman.BelMan(), "Thompson": belman.Thompson()}}
        problem = belman.problems.bernoulli([0.8, 0.9, 0.3])
        store = {str(tmp_path / "s")!r}
        belman.simulate(players, problem, 200_000, 1_000, seed=1, workers=1, store=store)
        """
    )
    marks = tmp_path / "s" / "belman-done"
    with process([sys.executable, "-c", script]) as playing:
        wait_until(lambda: any(marks.glob("[0-9]*")) or playing.poll() is not None)
        playing.send_signal(signal.SIGINT)
        _, errors = playing.communicate(timeout=HANG)
    assert "KeyboardInterrupt" in errors
    assert playing.returncode != 0
    assert 0 < len(list(marks.glob("[0-9]*"))) < 2_000
