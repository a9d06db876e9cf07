"""Long runs: the regret of the default BelMan and of IMED at T = 1,000,000 beside the bound of Lai
and Robbins, locked runs, and the turns that the proof of optimality bounds.

`python -m benchmarks.asymptotics [RUNS] [TURNS]`, by default 20 runs of a million turns. The slope
is that of regret in ln t over the last decade; a run is locked if the best arm had less than half
of its turns. *Low* turns are those of kind B in docs/maths/optimality.md: a worse arm is played
while all judged means are below m, halfway between the best two. Their number is bounded by (8).
"""

from __future__ import annotations

import math
import sys

import numpy as np
from scipy import stats

import belman
from belman import chance
from belman.engine import call_address, entry, kernel
from belman.figures.players import TEN, TWENTY
from belman.lab.bandit_loop import MIND, NATURE, play_arm
from belman.lab.bandit_runner import set_up
from belman.lab.policy_call import NO_ARM, bind_policy, call_choose, reset
from belman.policies.belman.evidence import MEAN
from belman.suite.tables import half_interval
from belman.table import Table
from benchmarks.claim import Claim, report

ARMS = {
    "0.9, 0.8": (0.9, 0.8),
    "0.5, 0.45, 0.4, 0.35, 0.3": (0.5, 0.45, 0.4, 0.35, 0.3),
    "0.6, 0.4 × 4": (0.6, 0.4, 0.4, 0.4, 0.4),
    "0.3, 0.2, 0.1": (0.3, 0.2, 0.1),
    "the paper's 20": TWENTY,
    "the paper's 10": TEN,
    "0.99, 0.95, 0.9": (0.99, 0.95, 0.9),
    "0.5, 0.4": (0.5, 0.4),
}
MOST = 1.1  # of the bound, the slope over the last decade; it is uncertain by what is printed
PLAYERS = {"BelMan": belman.BelMan(), "IMED": belman.policies.IMED()}


@kernel
def count_low(
    family, constants, prior, ledger, block, blank, generators, theta, greed, turns, seed,
    policy_call,
    judged, best, m, low,
):  # fmt: skip
    """Count, in every run, the turns at which a worse arm is played and no judged mean is m."""
    for r in range(low.size):
        for role in (NATURE, MIND):
            chance.fork(seed, r, role, generators[role])
        reset(policy_call, prior, ledger, block, blank)
        arm = NO_ARM
        for t in range(turns):
            arm = call_address(policy_call, arm, t + 1, greed)
            if arm != best:
                leading = -np.inf
                for a in range(ledger.plays.size):
                    leading = max(leading, judged[MEAN, a])
                low[r] += leading < m
            play_arm(family, constants, theta, generators[NATURE], ledger, arm)


def low_turns(means: tuple[float, ...], turns: int, runs: int, seed: int) -> np.ndarray:
    """Count the low turns of the default, run by run."""
    policy, problem = belman.BelMan(), belman.problems.bernoulli(means)
    family, arms = problem.family, problem.arms
    given, bound = set_up(policy, family, arms, policy.memory(arms, family.dimension))
    low = np.zeros(runs)
    call = bind_policy(call_choose, *bound)
    entry(count_low, family=family.kernels)(
        **given,
        theta=problem.parameters,
        greed=float(policy.turn_values(np.ones(1), arms)[0]),
        turns=turns,
        seed=chance.generator(seed),
        policy_call=call.address,
        judged=bound[4].judged,
        best=int(np.argmax(means)),
        m=halfway(means),
        low=low,
    )
    return low


def halfway(means: tuple[float, ...]) -> float:
    """The level m: halfway between the best two means that differ."""
    *_, second, best = sorted(set(means))
    return (second + best) / 2.0


def bound_of_low_turns(means: tuple[float, ...]) -> float:
    """Sum the series (8), by (3) and exact binomial chances, over the arms that are not best."""
    best, m, family = max(means), halfway(means), belman.families.Bernoulli()
    worth, apart = family.worth(family.prior), family.reward_divergence(m, best)
    n = np.arange(1.0, 60.0 / apart)
    moments = (1.0 - n * math.log1p(-m)) * np.exp(-n * apart)
    edge = np.ceil(n * m + worth * m) - 1.0
    chances = stats.binom.cdf(edge, n, best) - stats.binom.cdf(np.floor(n * m), n, best)
    series = worth + 1.0 + float(((n + worth + 1.0) * (moments + chances)).sum())
    greed = float(belman.BelMan().turn_values(np.ones(1), len(means))[0])
    return (len(means) - 1) * math.exp(greed) * (1.0 - m) ** -worth * series


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    names = (
        "arms",
        "player",
        "regret",
        "± regret",
        "p99",
        "worst",
        "slope",
        "± slope",
        "bound",
        "locked",
    )
    columns: dict[str, list[object]] = {name: [] for name in names}
    lows: dict[str, list[object]] = {name: [] for name in ("arms", "low turns", "most", "bound")}
    claims = []
    for words, means in ARMS.items():
        problem = belman.problems.bernoulli(means)
        result = belman.simulate(PLAYERS, problem, turns, runs, seed=11)
        decade = result.regret.sel(turn=turns) - result.regret.sel(
            turn=turns // 10, method="nearest"
        )
        slopes = decade / math.log(
            turns / result.turn.sel(turn=turns // 10, method="nearest").item()
        )
        bound = belman.problems.lai_robbins(problem)
        for name in PLAYERS:
            regrets, slope = (
                matches.sel(player=name).values
                for matches in (result.regret.sel(turn=turns), slopes)
            )
            locked = int(
                (result.plays.sel(player=name).values[:, int(np.argmax(means))] < 0.5 * turns).sum()
            )
            regret = (
                regrets.mean(),
                half_interval(regrets),
                float(np.quantile(regrets, 0.99)),
                regrets.max(),
            )
            row = (words, name, *regret, slope.mean(), half_interval(slope), bound, locked)
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
        ours = slopes.sel(player="BelMan").values
        over, doubt = float(ours.mean()) / bound, half_interval(ours) / bound
        what = f"slope over the bound (± {doubt:.2f}), {words}"
        claims.append(Claim(what, over, MOST, "times"))
        low, most = low_turns(means, turns, runs, seed=11), bound_of_low_turns(means)
        lows["arms"].append(words)
        for column, value in zip(
            list(lows.values())[1:], (low.mean(), low.max(), most), strict=True
        ):
            column.append(value)
        claims.append(Claim(f"locked runs, {words}", float(columns["locked"][-2]), 0.0, "runs"))
        print(f"{words}: done", file=sys.stderr, flush=True)
    print(Table(columns, f"{turns:,} turns, {runs:,} runs"))
    print(Table(lows, "turns of kind B of BelMan, a run, and the bound on their expectation"))
    report("long runs of the default", claims)


if __name__ == "__main__":
    main()
