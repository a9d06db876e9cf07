"""Turns per CPU-second through `simulate` on the paper's 20 Bernoulli arms, one thread.

Beside a hand-written C++ loop and two libraries.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import belman
from belman.cli.bench import B20
from belman.policies import IMED, KLUCB, UCB1, BayesUCB, KLUCBPlus
from benchmarks.claim import Claim, best_cpu_seconds, report

HORIZON, RUNS = 1_000, 200
LIMITS = {
    UCB1(): 6e6,
    belman.Thompson(): 8e5,
    KLUCB(): 1.5e6,
    KLUCBPlus(): 1.5e6,
    BayesUCB(): 4e5,
    IMED(): 5e6,
    belman.BelMan.paper(): 2e6,
    belman.BelMan(): 2e6,
}


def rate(policy: belman.policies.Policy, workers: int = 1) -> float:
    """Turns per CPU-second of one policy."""
    problem = belman.problems.bernoulli(B20)
    belman.simulate([policy], problem, HORIZON, 1, workers=workers)
    return (
        RUNS
        * HORIZON
        / best_cpu_seconds(
            lambda: belman.simulate([policy], problem, HORIZON, RUNS, workers=workers)
        )
    )


def cpp_rate() -> float | None:
    """The same of Thompson sampling in C++, compiled here with -O2; None without a compiler."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "thompson"
        subprocess.run(
            [compiler, "-O2", "-o", str(program), str(Path(__file__).with_name("thompson.cpp"))],
            check=True,
        )
        rates = []
        for _ in range(5):
            done = subprocess.run(
                [str(program), str(RUNS), str(HORIZON)], capture_output=True, text=True, check=True
            )
            rates.append(float(done.stdout.split()[0]))
    return max(rates)


def pymab_rate(name: str) -> float:
    """The same of pymab's own simulator, which is compiled."""
    import pymab
    from pymab import policies

    kind = {"Thompson": "BernoulliThompsonSamplingPolicy", "KL-UCB": "KLUCBPolicy"}[name]
    runs = 20
    experiment = pymab.Experiment(
        environment=pymab.BanditEnvironment(np.array(B20), pymab.BernoulliReward()),
        policies={name: getattr(policies, kind)(n_arms=len(B20))},
        config=pymab.ExperimentConfig(horizon=HORIZON, n_replicates=runs, seed=1),
    )
    return runs * HORIZON / best_cpu_seconds(experiment.run, 2)


def mabalgs_rate() -> float:
    """The same of mabalgs' Thompson sampling, one ask and tell a turn."""
    from mab import algs

    rng = np.random.default_rng(1)

    def play() -> None:
        rival = algs.ThompsomSampling(len(B20))
        for _ in range(HORIZON):
            arm = rival.select()[0]
            if rng.random() < B20[arm]:
                rival.reward(arm)

    return HORIZON / best_cpu_seconds(play, 2)


def two_threads() -> float:
    """How much faster two threads are than one, in wall time, on a long simulation."""
    problem, players = belman.problems.bernoulli(B20), {"BelMan": belman.BelMan()}
    times = {}
    for workers in (1, 2):
        best = float("inf")
        for _ in range(3):
            started = time.perf_counter()
            belman.simulate(players, problem, 10_000, 400, workers=workers)
            best = min(best, time.perf_counter() - started)
        times[workers] = best
    return times[1] / times[2]


def main() -> None:
    rates = {policy: rate(policy) for policy in LIMITS}
    label = {
        policy: f"{policy.name}{' (paper)' if policy == belman.BelMan.paper() else ''}"
        for policy in LIMITS
    }
    claims = [
        Claim(label[policy], rates[policy] / 1e6, limit / 1e6, "M turns/s", more=True)
        for policy, limit in LIMITS.items()
    ]
    notes = {}
    yardstick = cpp_rate()
    if yardstick is None:
        notes["C++"] = "not measured: there is no C++ compiler here"
    else:
        claims.append(
            Claim(
                "thompson / C++ Thompson", rates[belman.Thompson()] / yardstick, 0.7, "", more=True
            )
        )
        notes["C++ Thompson"] = f"{yardstick / 1e6:.2f} M turns/s"
    claims.append(Claim("two threads / one (wall time)", two_threads(), 1.8, "×", more=True))
    peers = {
        "pymab, Thompson": lambda: pymab_rate("Thompson"),
        "pymab, KL-UCB": lambda: pymab_rate("KL-UCB"),
        "mabalgs, Thompson": mabalgs_rate,
    }
    for name, measure in peers.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                notes[name] = f"{measure() / 1e6:.3f} M turns/s"
        except ImportError:
            notes[name] = "not measured: pip install 'belman[bench]'"
    report("20 Bernoulli arms, 1,000 turns, 200 runs, one thread, CPU time", claims, notes)


if __name__ == "__main__":
    main()
