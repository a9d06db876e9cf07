"""What is said while one looks: how often it is wrong, how soon it is said, how long it takes.

Here are verdicts of agents and of studies without a control, whose chances nobody bets on: beside a
control see `benchmarks.guarantee`. Coins at 10 % and a lift of 10 %, looked at after every reward,
under BelMan, Thompson and a fixed split. The prior is what `belman plan` would take: arms around
the baseline that differ by about the lift. Limits on errors are held against the upper end of a
99 % interval (Clopper and Pearson).

`python -m benchmarks.verdict [RUNS [PART …]]`, with parts out of separated, intervals, calibrated,
ratio_test, speed.
"""

from __future__ import annotations

import math
import random
import sys
import tempfile
from functools import partial

import numpy as np
from scipy import stats

import belman
from belman.measures.planning import expected_prior
from belman.measures.soundness import SampleRatio, told_shares
from belman.measures.staged_plays import Watched
from belman.problems.stationary import RandomStationary, Stationary
from benchmarks.claim import Claim, best_cpu_seconds, report
from benchmarks.watching import watch

RUNS, SEED = 2_000, 17
BASELINE, LIFT, DELTA, LEVEL = 0.1, 0.1, 0.05, 0.95
NULL_TURNS, LIFT_TURNS, PRIOR_TURNS = 30_000, 40_000, 10_000
WATCHED_TURNS = 1_500
TICKETS, BATCH = 20_000, 200
SPOKEN = 2_000
STUDIES = {
    "rates": ("bernoulli", 2), "four rates": ("bernoulli", 4), "a range": ("bounded", 3),
    "amounts": ("log-normal", 3), "revenue": ("money", 3), "numbers": ("gaussian-unknown", 3),
}  # fmt: skip
PLAYERS = {
    "fixed split": belman.Uniform(),
    "BelMan": belman.BelMan(),
    "Thompson": belman.Thompson(),
}
FAMILY = belman.families.Bernoulli(prior=expected_prior(BASELINE, LIFT))


def upper(wrong: int, runs: int) -> float:
    """The upper end of a 99 % interval of a chance."""
    return 1.0 if wrong == runs else float(stats.beta.ppf(0.995, wrong + 1, runs - wrong))


def errors(result: Watched) -> int:
    """Runs that were decided for an arm that is not the best."""
    return int((result.decided & ~result.right).sum())


def separated(runs: int) -> tuple[list[Claim], dict[str, str]]:
    """Errors of `Separated` where arms are alike, and with a lift; and what a decision costs."""
    claims, notes, split = [], {}, None
    rule = belman.measures.Separated(DELTA)
    for name, player in PLAYERS.items():
        alike = watch(player, Stationary(FAMILY, (BASELINE,) * 2), rule, NULL_TURNS, runs, SEED)
        false = int(alike.decided.sum())
        claims.append(
            Claim(f"no lift, {name}: separated", upper(false, runs), DELTA, "(upper end)")
        )
        means = (BASELINE, BASELINE * (1.0 + LIFT))
        lifted = watch(player, Stationary(FAMILY, means), rule, LIFT_TURNS, runs, SEED)
        wrong = errors(lifted)
        claims.append(Claim(f"lift, {name}: wrong arm", upper(wrong, runs), DELTA, "(upper end)"))
        split = split or lifted
        notes[f"separated, {name}"] = (
            f"{false} of {runs} false with no lift; with a lift {lifted.decided.mean():.3f} "
            f"decided in {LIFT_TURNS:,} turns, {wrong} wrong, turns "
            f"×{_ratio(lifted.turns, split.turns):.2f}, conversions lost "
            f"×{_ratio(lifted.lost, split.lost):.2f} of the fixed split's"
        )
    return claims, notes


def _ratio(mine: np.ndarray, other: np.ndarray) -> float:
    return float(mine.mean() / other.mean())


def ever_missed(player: belman.policies.Policy, seed: int) -> tuple[bool, bool]:
    """Whether the interval at any look of the first of two arms, and that of their difference, ever
    misses the truth, looked at after every reward.

    The first misses where the martingale of the true mean has reached 1/δ, the second only where
    the product of both martingales has, at the true means.
    """
    truths, prior, bar = (BASELINE, BASELINE * (1.0 + LIFT)), FAMILY.prior, -math.log(DELTA)
    agent, luck = belman.Agent([0, 1], FAMILY, player, seed=seed), random.Random(seed)
    plays, wins, logs = [0, 0], [0, 0], [0.0, 0.0]
    one = both = False
    for _ in range(WATCHED_TURNS):
        arm = agent.ask()
        won = luck.random() < truths[arm]
        agent.tell(arm, float(won))
        plays[arm] += 1
        wins[arm] += won
        a, b = prior[0] + wins[arm], prior[1] + plays[arm] - wins[arm]
        gain = _log_beta(a, b) - _log_beta(*prior)
        likely = wins[arm] * math.log(truths[arm])
        unlikely = (plays[arm] - wins[arm]) * math.log1p(-truths[arm])
        logs[arm] = gain - likely - unlikely
        one, both = one or logs[0] >= bar, both or sum(logs) >= bar
    return one, both


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def intervals(runs: int) -> tuple[list[Claim], dict[str, str]]:
    """How often intervals at any look are ever wrong over whole runs."""
    claims, notes, runs = [], {}, runs // 4
    for name, player in PLAYERS.items():
        missed = np.sum([ever_missed(player, SEED + run) for run in range(runs)], axis=0)
        for what, count in zip(("an arm", "the difference"), missed.tolist(), strict=True):
            title = f"{name}: interval of {what} ever wrong"
            claims.append(Claim(title, upper(count, runs), DELTA, "(upper end)"))
            notes[title] = f"{count} of {runs} runs of {WATCHED_TURNS:,} turns"
    return claims, notes


def calibrated(runs: int) -> tuple[list[Claim], dict[str, str]]:
    """Of decisions by `Sure`, how many are right when truths are drawn from the prior."""
    claims, notes, split = [], {}, None
    problem, runs = RandomStationary(FAMILY, 2, FAMILY.prior), 2 * runs
    for name, player in PLAYERS.items():
        result = watch(player, problem, belman.measures.Sure(LEVEL), PRIOR_TURNS, runs, SEED)
        right = float(result.right[result.decided].mean())
        claims.append(Claim(f"sure at 95 %, {name}: right", right, 0.94, "", more=True))
        claims.append(Claim(f"sure at 95 %, {name}: right", right, 0.96, ""))
        split = split or result
        notes[f"sure, {name}"] = (
            f"{result.decided.mean():.3f} decided in {PRIOR_TURNS:,} turns, {right:.4f} right, "
            f"turns ×{_ratio(result.turns, split.turns):.2f}, conversions lost "
            f"×{_ratio(result.lost, split.lost):.2f} of the fixed split's"
        )
    return claims, notes


def alarm(rng: np.random.Generator, lost: float, plan: list[tuple[float, float]]) -> bool:
    """Whether a study whose second arm loses a share of its tickets ever alarms, a look a batch."""
    test = SampleRatio(["a", "b"])
    for batch in range(TICKETS // BATCH):
        chances = plan[batch % len(plan)]
        kept = chances[1] * (1.0 - lost)
        mine = rng.binomial(BATCH, kept / (chances[0] + kept))
        test.add([BATCH - mine, mine], chances)
        if test.finding().alarm:
            return True
    return False


def ratio_test(runs: int) -> tuple[list[Claim], dict[str, str]]:
    """False alarms of the sample-ratio test, and what it finds."""
    rng, studies = np.random.default_rng(SEED), 2 * runs
    claims, notes = [], {}
    plans = {"even": [(0.5, 0.5)], "changing": [(0.5, 0.5), (0.8, 0.2), (0.3, 0.7)]}
    for name, plan in plans.items():
        false = sum(alarm(rng, 0.0, plan) for _ in range(studies))
        claims.append(
            Claim(f"sample ratio, {name}: false", upper(false, studies), 0.01, "(upper end)")
        )
        notes[f"sample ratio, {name}"] = f"{false} false alarms of {studies} studies"
    for lost in (0.02, 0.05, 0.1):
        result = np.mean([alarm(rng, lost, plans["even"]) for _ in range(studies // 10)])
        notes[f"sample ratio, {lost:.0%} of one arm lost"] = f"found in {result:.3f} of studies"
    hits = 0
    for _ in range(studies // 10):
        given = rng.binomial(TICKETS, 0.5)
        told = {"a": rng.binomial(given, 0.999), "b": rng.binomial(TICKETS - given, 0.979)}
        hits += told_shares({"a": given, "b": TICKETS - given}, told).alarm
    share = hits / (studies // 10)
    claims.append(Claim("told shares: a loss of 2 % in one arm found", share, 0.99, "", more=True))
    return claims, notes


def speed(runs: int) -> tuple[list[Claim], dict[str, str]]:
    """CPU time of the report and the verdict of studies with a control, after one reward more."""
    claims: list[Claim] = []
    for name, (family, arms) in STUDIES.items():
        rng = random.Random(SEED)
        with tempfile.TemporaryDirectory() as folder:
            study = belman.open_study(
                "speed", [f"arm {a}" for a in range(arms)], family, control="arm 0", seed=SEED,
                storage=f"sqlite:///{folder}/studies.db",
            )  # fmt: skip
            tell = partial(_told, study, family, rng)
            for _ in range(SPOKEN // 200):
                tell(200)
            for what in (study.report, study.verdict):
                what()  # compiled before it is timed
                taken = 1e3 * best_cpu_seconds(what, 20, before=partial(tell, 1))
                claims.append(Claim(f"{name}, {arms} arms: {what.__name__}", taken, 5.0, "ms"))
            study.storage.close()
    return claims, {}


def _told(study: belman.Study, family: str, rng: random.Random, count: int) -> None:
    """Ask for some tickets and tell their rewards."""
    for ticket in study.ask(count):
        won = float(rng.random() < BASELINE)
        amount = {"bernoulli": 1.0, "money": rng.lognormvariate(3.0, 1.0)}
        reward = won * amount[family] if family in amount else rng.random()
        study.tell(ticket, reward if family != "log-normal" else math.exp(reward))


PARTS = {
    "speed": speed,
    "separated": separated,
    "intervals": intervals,
    "calibrated": calibrated,
    "ratio_test": ratio_test,
}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    claims: list[Claim] = []
    notes: dict[str, str] = {}
    for name in sys.argv[2:] or PARTS:
        part = PARTS[name](runs)
        claims += part[0]
        notes |= part[1]
    report(f"verdicts, {runs:,} experiments each, looked at after every reward", claims, notes)


if __name__ == "__main__":
    main()
