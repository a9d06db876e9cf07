"""Whether "earned 98 % of what was attainable, 96–99" is right as often as it says, and its price.

`python -m benchmarks.attained [RUNS]`: a study's agent plays arms whose chances are drawn from the
prior that it believes, or arms that are alike (A/A) or fixed, which its prior does not know. The
interval is right if it holds what was earned over what the best arm expects in as many turns.
"""

from __future__ import annotations

import sys

import numpy as np

import belman
from belman.families import Bernoulli
from belman.measures.attained import attained
from belman.measures.best import expected_losses
from belman.measures.report import Known, report
from belman.measures.trial_plays import Rules, played
from belman.policies import Policy
from belman.table import Table
from benchmarks.claim import Claim, best_cpu_seconds
from benchmarks.claim import report as judge

LEVEL = 0.95
POLICIES: dict[str, Policy] = {
    "belman": belman.BelMan(),
    "thompson": belman.Thompson(),
    "even split": belman.policies.Uniform(),
}
#: Prior, arms, turns, and the chances of fixed arms; none where they are drawn from the prior.
WORLDS = [
    ((1.0, 1.0), 2, 200, ()),
    ((1.0, 1.0), 10, 2_000, ()),
    ((2.0, 8.0), 3, 500, ()),
    ((5.0, 5.0), 10, 200, ()),
    ((1.0, 1.0), 2, 2_000, (0.05,) * 2),
    ((1.0, 1.0), 10, 2_000, (0.3,) * 10),
    ((2.0, 8.0), 5, 500, (0.5,) * 5),
    ((1.0, 1.0), 5, 5_000, (0.03, 0.03, 0.03, 0.03, 0.04)),
]


def known(prior: tuple[float, float], patients: np.ndarray, successes: np.ndarray) -> Known:
    """What is known of arms after these plays and successes."""
    before = np.tile(np.array(prior), (len(patients), 1))
    won = successes.astype(float)
    beliefs = before + np.stack([won, patients - won], axis=1)
    names = list(range(len(patients)))
    return Known(Bernoulli(prior=prior), names, before, beliefs, patients.astype(float), won, won)


def best_mean(told: Known) -> float:
    """The mean that the best arm is expected to have, as a report has it."""
    first = told.family.expected_reward(told.beliefs[0])
    return first + float(expected_losses(told.family, told.beliefs)[0])


def right(
    policy: Policy, prior: tuple[float, float], arms: int, turns: int, fixed: tuple[float, ...],
    runs: int,
) -> tuple[float, float, float, float]:  # fmt: skip
    """How often the interval is right, and is said; the mean share, and the mean width."""
    rng = np.random.default_rng(3)
    result, hits = [], []
    truths = [np.array(fixed)] if fixed else rng.beta(prior[0], prior[1], (runs, arms))
    for i, rates in enumerate(truths):
        ends = played(policy, prior, Rules(turns), rates, runs // len(truths), seed=i)
        for n, s in zip(ends.patients, ends.successes, strict=True):
            total = float(s.sum())
            told = known(prior, n, s)
            of = attained(told, best_mean(told), turns, total)
            if of is not None:
                result.append((of.share, of.high - of.low))
                hits.append(of.low <= total / (turns * rates.max()) <= of.high)
    share, width = np.mean(result, axis=0)
    return float(np.mean(hits)), len(hits) / runs, float(share), float(width)


def seconds(arms: int) -> tuple[float, float]:
    """CPU time of the share, and of the report that it is a line of."""
    rng = np.random.default_rng(1)
    plays = rng.integers(100, 1_000, arms)
    told = known((1.0, 1.0), plays, rng.binomial(plays, 0.1))

    best = best_mean(told)

    def share() -> None:
        attained(told, best, int(plays.sum()), float(told.sums.sum()))

    def whole() -> None:
        report(told, most=50)

    share(), whole()
    return best_cpu_seconds(share), best_cpu_seconds(whole)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    rows, claims = [], []
    for prior, arms, turns, fixed in WORLDS:
        of = f"Beta({prior[0]:g}, {prior[1]:g})"
        world = f"of {of}" if not fixed else ", ".join(f"{rate:g}" for rate in sorted(set(fixed)))
        for name, policy in POLICIES.items():
            hit, said, share, width = right(policy, prior, arms, turns, fixed, runs)
            rows.append(
                {
                    "arms": f"{arms} {world}", "prior": of, "turns": turns, "policy": name,
                    "right": hit, "said": said, "share": share, "width": width,
                }
            )  # fmt: skip
            error = 3.0 * (LEVEL * (1.0 - LEVEL) / (said * runs)) ** 0.5
            what = f"{arms} arms {world}, {turns} turns, {name}"
            claims.append(Claim(what, hit, round(LEVEL - error, 4), "", more=True))
    print(Table({name: [row[name] for row in rows] for name in rows[0]}, f"{runs:,} runs each"))
    times = {}
    for arms in (2, 10, 1_000):
        share, whole = seconds(arms)
        times[f"{arms:,} arms"] = f"{1e3 * share:.2g} ms of CPU, the report {1e3 * whole:.3g} ms"
    judge("the interval is right at least as often as it says (− 3 deviations)", claims, times)


if __name__ == "__main__":
    main()
