"""`Agent.ask` + `tell` once warm, at 20 and 1,000 arms, beside two libraries measured in the same
run.
"""

from __future__ import annotations

import random
import statistics
import time
import warnings
from collections.abc import Callable

import belman
from benchmarks.claim import Claim, report


def pair_microseconds(
    ask: Callable[[], object], tell: Callable[[object, float], object], pairs: int, repeats: int = 5
) -> float:
    """Wall time of one ask and tell, the best of some repeats."""
    luck = random.Random(1)
    rewards = [float(luck.random() < 0.3) for _ in range(pairs)]
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        for reward in rewards:
            tell(ask(), reward)
        best = min(best, time.perf_counter() - started)
    return best / pairs * 1e6


def belman_pair(arms: int) -> float:
    agent = warm_agent(arms)
    return pair_microseconds(agent.ask, agent.tell, 5_000)


def seconds_for_a_batch(arms: int, size: int) -> float:
    """Wall time of one ask for a batch, once warm."""
    agent = warm_agent(arms)
    pair_microseconds(agent.ask, agent.tell, 20_000)
    started = time.perf_counter()
    agent.ask(size)
    return time.perf_counter() - started


def slowdown_with_asks_out(arms: int, size: int) -> float:
    """The time of a pair with so many asks out over that with none; blocks alternate."""
    none, many = warm_agent(arms), warm_agent(arms)
    many.ask(size)
    ratios = []
    for _ in range(9):
        busy = pair_microseconds(many.ask, many.tell, 2_000, 1)
        ratios.append(busy / pair_microseconds(none.ask, none.tell, 2_000, 1))
    return statistics.median(ratios)


def warm_agent(arms: int) -> belman.Agent:
    agent = belman.Agent(range(arms), seed=1)
    for _ in range(arms):
        agent.tell(agent.ask(), 0.0)
    return agent


def mabwiser_pair(arms: int) -> float:
    from mabwiser.mab import MAB, LearningPolicy

    rival = MAB(list(range(arms)), LearningPolicy.ThompsonSampling(), seed=1)
    rival.fit(list(range(arms)), [0] * arms)
    return pair_microseconds(
        rival.predict,
        lambda arm, reward: rival.partial_fit([arm], [int(reward)]),
        20_000 // arms + 50,
        2,
    )


def pymab_pair(arms: int) -> float:
    import numpy as np
    from pymab.policies import BernoulliThompsonSamplingPolicy

    rival, rng = BernoulliThompsonSamplingPolicy(n_arms=arms), np.random.default_rng(1)
    return pair_microseconds(
        lambda: rival.select_action(rng=rng),
        lambda arm, reward: rival.update(action=arm, reward=reward),
        20_000 // arms + 50,
        2,
    )


def main() -> None:
    claims, notes = [], {}
    for arms, limit in ((20, 8.0), (1_000, 25.0)):
        ours = belman_pair(arms)
        claims.append(Claim(f"ask + tell at {arms:,} arms", ours, limit, "µs"))
        for name, peer in (("mabwiser", mabwiser_pair), ("pymab", pymab_pair)):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    notes[f"{name} at {arms:,} arms"] = f"{peer(arms):.0f} µs (Thompson sampling)"
            except ImportError:
                notes[name] = "not measured: pip install 'belman[bench]'"
    claims.append(Claim("ask(100_000) at 20 arms", seconds_for_a_batch(20, 100_000), 1.0, "s"))
    slowdown = slowdown_with_asks_out(20, 100_000)
    claims.append(Claim("ask + tell with 100,000 asks out, over none", slowdown, 1.5, "times"))
    report("ask + tell, Bernoulli, default policy, once warm", claims, notes)


if __name__ == "__main__":
    main()
