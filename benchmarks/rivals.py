"""The rivals: what a turn of each costs beside Thompson's, and the order that their papers found.

Two coins of 0.9 and 0.8 over 20,000 turns are a setting of the papers on BESA (2014) and on
sub-sampling duels (2020): there BESA and RB-SDA lose less than KL-UCB, and NPTS as much as these.
Of rewards in a range NPTS loses less than UCB1.
"""

from __future__ import annotations

import sys

import numpy as np
import xarray as xr

import belman
from belman.families import Bounded
from belman.lab import simulate
from benchmarks.claim import Claim, best_cpu_seconds, report

TWENTY = (
    *(0.25, 0.22, 0.2, 0.17, 0.17, 0.2, 0.13, 0.13, 0.1, 0.07),
    *(0.07, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01),
)
#: Those whose definition asks for no more than a draw or a bound an arm.
QUICK = {
    "med": belman.policies.MED(),
    "kl-ms": belman.policies.KLMS(),
    "exp-kl-ms": belman.policies.ExpKLMS(),
    "exp-ts+": belman.policies.ExpTSPlus(),
    "boltzmann-gumbel": belman.policies.BoltzmannGumbel(),
    "tsallis-inf": belman.policies.TsallisINF(),
    "exp3.p": belman.policies.EXP3P(1_000),
    "rb-sda": belman.policies.RBSDA(),
    "lb-sda": belman.policies.LBSDA(),
    "light-tailed": belman.policies.LightTailed(1_000),
    "ada-ucb": belman.policies.AdaUCB(),
    "mots": belman.policies.MOTS(1_000),
    "ucboost": belman.policies.UCBoost(),
    "ossb": belman.policies.OSSB(),
    "eb-tc": belman.policies.EBTC(),
    "eb-tc-epsilon": belman.policies.EBTCEpsilon(),
    "ttucb": belman.policies.TTUCB(),
    "t3c": belman.policies.T3C(),
    "ugape": belman.policies.UGapE(),
    "lil-ucb": belman.policies.LilUCB(),
    "lucb++": belman.policies.LUCBPlusPlus(),
    "anytime-halving": belman.policies.AnytimeHalving(),
    "gittins-normal": belman.policies.NormalGittins(),
    "gittins-finite": belman.policies.FiniteGittins(1_000),
    "gittins-brezzi-lai": belman.policies.BrezziLaiGittins(),
}


def rate(policy: belman.policies.Policy, runs: int = 20, turns: int = 1_000) -> float:
    """Turns per CPU-second at twenty arms."""
    problem = belman.problems.bernoulli(TWENTY)
    simulate({"own": policy}, problem, turns, 1, workers=1, progress=False)
    return (
        runs
        * turns
        / best_cpu_seconds(
            lambda: simulate({"own": policy}, problem, turns, runs, workers=1, progress=False), 3
        )
    )


def less(result: xr.Dataset, one: str, other: str) -> Claim:
    """That one player loses less than another: the upper end of the 95 % interval is below 0."""
    regret = result.regret.isel(turn=-1)
    apart = (regret.sel(player=one) - regret.sel(player=other)).values
    upper = apart.mean() + 1.96 * apart.std(ddof=1) / np.sqrt(len(apart))
    means = " and ".join(f"{float(regret.sel(player=who).mean()):.1f}" for who in (one, other))
    return Claim(f"{one} less {other}, at most (they lose {means})", float(upper), 0.0, "")


def order(runs: int) -> list[Claim]:
    """Who loses less in the settings of the papers."""
    coins = simulate(
        {
            "KL-UCB": belman.policies.KLUCB(),
            "BESA": belman.policies.BESA(),
            "RB-SDA": belman.policies.RBSDA(),
            "NPTS": belman.policies.NPTS(),
        },
        belman.problems.bernoulli([0.9, 0.8]),
        20_000,
        runs,
        1,
    )
    wide = belman.problems.problem(Bounded(8.0), [0.5, 0.45, 0.4, 0.35, 0.3])
    shaped = simulate(
        {"NPTS": belman.policies.NPTS(), "UCB1": belman.policies.UCB1()}, wide, 1_000, runs, 1
    )
    return [
        *(less(coins, name, "KL-UCB") for name in ("BESA", "RB-SDA", "NPTS")),
        less(shaped, "NPTS", "UCB1"),
    ]


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    ours = rate(belman.Thompson())
    claims = [
        Claim(f"turns of {name} / Thompson's", rate(policy) / ours, 0.5, "", more=True)
        for name, policy in QUICK.items()
    ]
    report("rivals", claims + order(runs), {"Thompson": f"{ours:,.0f} turns per CPU-second"})


if __name__ == "__main__":
    main()
