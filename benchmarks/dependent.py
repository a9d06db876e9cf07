"""Arms that share a belief: regret beside rivals on problems held back from tuning, and costs.

    python -m benchmarks.dependent                # costs, accuracy and one-hot features
    python -m benchmarks.dependent regret 100     # the held-back problems, so many runs a cell
    python -m benchmarks.dependent locked 1000    # runs that lock on a wrong arm at 100,000 turns

`p` and `q` of the default were settled on other problems (`DEVELOPED_ON`); those here differ in
size, noise, model or kind, and were not looked at before.
"""

from __future__ import annotations

import math
import os
import sys

import numpy as np

import belman
from belman import problems
from belman.engine import entry, kernel
from belman.models import Linear, Logistic, PoissonLog
from belman.models.shared import learn
from belman.policies.dependent import GLMUCB, LaplaceTS, LinTS, LinUCB, SharedBelMan
from belman.problems import Featured
from belman.table import Table
from benchmarks.claim import Claim, best_cpu_seconds, report

HORIZONS = (300, 3_000, 30_000)
_ALPHAS = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
_RESAMPLES = 1_000

#: Where the default was settled: unit balls of 50 × 5 and 20 × 10, Russo and Van Roy's 30 × 5,
#: 10 independent arms and 10 intercepts, contexts of 5 × 4, changing arms of 20 × 10, the end of
#: optimism (ε 0.05, noise 0.3), and logistic arms of 20 × 5.
DEVELOPED_ON = 9


def held_back() -> dict[str, Featured]:
    """The problems that judge."""
    return {
        "ball 100 × 3": problems.unit_ball(100, 3),
        "ball 15 × 8, loud": problems.unit_ball(15, 8, model=Linear(noise=2.0)),
        "ball, unknown noise": problems.unit_ball(30, 6, model=Linear(unknown=True)),
        "ball, misspecified": problems.unit_ball(30, 5, misfit=0.1),
        "Russo–Van Roy 60 × 8": problems.russo_van_roy(60, 8),
        "end of optimism": problems.end_of_optimism(0.02, 0.1),
        "changing 8 × 6": problems.changing_arms(8, 6),
        "disjoint 4 × 6": problems.contextual(4, 6),
        "hybrid 6 × 4": problems.contextual(6, 4, pooling="hybrid", own_scale=0.3),
        "factors 6 × 6": problems.factors((6, 6)),
        "intercepts 25": problems.intercepts(25, noise=0.5),
        "logistic ball 30 × 4": problems.unit_ball(30, 4, model=Logistic()),
        "logistic contexts 3 × 5": problems.contextual(3, 5, model=Logistic()),
        "Poisson ball 20 × 4": problems.unit_ball(20, 4, model=PoissonLog()),
    }


def rivals(problem: Featured) -> dict[str, object]:
    """The default, the draw that it is held against, and bounds of every width."""
    linear = isinstance(problem.model, Linear)
    bound = LinUCB if linear else GLMUCB
    return {
        "default": SharedBelMan(),
        "draw": LinTS() if linear else LaplaceTS(),
        **{f"ucb {alpha}": LinUCB(alpha) for alpha in _ALPHAS},
        **({} if linear else {f"glm {alpha}": bound(alpha) for alpha in _ALPHAS}),
    }


def _ratio(first: np.ndarray, second: np.ndarray, seed: int = 1) -> tuple[float, float, float]:
    """A ratio of mean regrets of the same runs, with its 95 % interval by resampling runs."""
    rng = np.random.default_rng(seed)
    runs = rng.integers(len(first), size=(_RESAMPLES, len(first)))
    resampled = first[runs].mean(axis=1) / second[runs].mean(axis=1)
    low, high = np.quantile(resampled, [0.025, 0.975])
    return float(first.mean() / second.mean()), float(low), float(high)


def _tuned(bounds: np.ndarray) -> tuple[float, float]:
    """The mean regret of the best width of all (widths × runs): chosen afterwards, by the runs that
    judge it, and chosen by the other half of the runs.
    """
    even, odd = bounds[:, ::2], bounds[:, 1::2]
    halves = ((even, odd), (odd, even))
    lost = sum(judged[chosen.mean(axis=1).argmin()].sum() for judged, chosen in halves)
    return float(bounds.mean(axis=1).min()), float(lost / bounds.shape[1])


def regret(runs: int, horizons: tuple[int, ...] = HORIZONS) -> None:
    """Play the held-back problems, and hold the ratios against their limits."""
    claims = []
    for horizon in horizons:
        rows: dict[str, list[object]] = {
            name: []
            for name in (
                "problem", "draw", "default/draw", "low", "high", "p99", "/tuned UCB", "/other half"
            )
        }  # fmt: skip
        for name, problem in held_back().items():
            players = rivals(problem)
            result = belman.simulate(players, problem, horizon, runs, seed=20, progress=False)
            final = dict(zip(players, result.regret.isel(turn=-1).values, strict=True))
            ratio, low, high = _ratio(final["default"], final["draw"])
            bounds = [final[player] for player in final if player[:3] in ("ucb", "glm")]
            after, before = _tuned(np.array(bounds))
            tails = [float(np.quantile(final[player], 0.99)) for player in ("default", "draw")]
            for key, value in zip(
                rows,
                (name, float(final["draw"].mean()), ratio, low, high, tails[0] / tails[1],
                 float(final["default"].mean() / after), float(final["default"].mean() / before)),
                strict=True,
            ):  # fmt: skip
                rows[key].append(value)
        print(Table(rows, f"{horizon:,} turns, {runs} runs"), flush=True)
        print()
        mean = {
            key: _geometric(rows[key])
            for key in ("default/draw", "p99", "/tuned UCB", "/other half")
        }
        print(f"beside a width chosen by the other half of the runs: {mean['/other half']:.3f}")
        worst = max(float(value) for value in rows["default/draw"])
        claims += [
            Claim(f"default/draw, geometric mean, {horizon:,}", mean["default/draw"], 0.75, ""),
            Claim(f"default/draw, worst, {horizon:,}", worst, 1.05, ""),
            Claim(f"99th percentile of both, {horizon:,}", mean["p99"], 1.0, ""),
            Claim(f"default/tuned UCB, {horizon:,}", mean["/tuned UCB"], 1.05, ""),
        ]
    report(f"held back from tuning, {runs} runs a cell", claims)


def _geometric(values: list[object]) -> float:
    return float(np.exp(np.mean(np.log(np.array(values, dtype=np.float64)))))


def locked(runs: int, horizon: int = 100_000) -> None:
    """Runs whose last tenth of so many turns was all on wrong arms.

    Arms that differ by less than √(2 ln T/T) deviations of a reward cannot be told apart in T turns
    however they are played, so that who stays with one of them waits for nothing. Such runs are
    listed, and do not count as locked.
    """
    claims, notes = [], {}
    for name, problem in {
        "ball 10 × 3": problems.unit_ball(10, 3),
        "independent 5": problems.one_hot(5),
        "end of optimism": problems.end_of_optimism(0.05, 0.3),
    }.items():
        result = belman.simulate([SharedBelMan()], problem, horizon, runs, seed=3, progress=False)
        late = result.sel(turn=slice(0.9 * horizon, None)).isel(player=0)
        ends = late.isel(turn=[0, -1])
        turns = float(ends.turn.diff("turn").item())
        missed = ends.suboptimal_draws.diff("turn").values.ravel()
        gaps = ends.regret.diff("turn").values.ravel()[missed >= turns] / turns
        tellable = math.sqrt(2.0 * math.log(horizon) / horizon) * problem.model.noise
        stuck = float((gaps > tellable).sum())
        claims.append(Claim(f"locked runs of {runs}, {name}", stuck, 0.0, "runs"))
        notes[f"{name}: lost a turn by those on wrong arms alone"] = (
            ", ".join(f"{gap:.4f}" for gap in np.sort(gaps)) or "none"
        )
        final = result.regret.isel(player=0, turn=-1).values
        notes[f"{name}: regret, worst run"] = f"{final.mean():.1f}, {final.max():,.0f}"
    report(f"consistency at {horizon:,} turns", claims, notes)


@kernel
def _learn_all(model, constants, belief, rows, rewards):
    for i in range(len(rewards)):
        learn(model, constants, belief, rows[i], rewards[i])
    return 0


def _accuracy(steps: int = 1_000_000) -> list[Claim]:
    """A million rewards against one solve, in standard deviations of what is believed."""
    rng, model = np.random.default_rng(1), Linear(noise=0.5)
    rows = rng.normal(size=(steps, 8))
    rewards = rows @ rng.normal(size=8) + 0.5 * rng.normal(size=steps)
    belief = model.belief(8)
    entry(_learn_all, model=model.kernels)(
        constants=model.constants, belief=belief, rows=rows, rewards=rewards
    )
    precision = np.eye(8) + rows.T @ rows / 0.25
    mean = np.linalg.solve(precision, rows.T @ rewards / 0.25)
    wide = np.linalg.inv(precision)
    result = 0.25 * belief.root[0] @ belief.root[0].T
    return [
        Claim(
            "mean after 10⁶ rewards, relative", np.abs(belief.mean[0] / mean - 1).max(), 1e-9, ""
        ),
        Claim("variances, relative", np.abs(np.diag(result) / np.diag(wide) - 1).max(), 1e-9, ""),
    ]


def _turn(problem: Featured, horizon: int = 2_000, runs: int = 5) -> float:
    """CPU microseconds of a turn in the lab, one thread."""

    def play() -> None:
        belman.simulate([SharedBelMan()], problem, horizon, runs, progress=False, workers=1)

    play()
    return best_cpu_seconds(play) / (horizon * runs) * 1e6


def _ask_and_tell(turns: int = 4_000) -> float:
    """Microseconds of ask and tell of an agent with 20 arms and 20 columns, compiled."""
    os.environ["BELMAN_COMPILE"] = "first"
    arms = {f"arm {i}": {f"f{j}": float((i * (j + 3)) % 7) for j in range(9)} for i in range(20)}
    agent = belman.Agent(
        arms,
        features=arms,
        context=[f"c{j}" for j in range(10)],
        interactions=[],
        pooling="shared",
        model=Linear(),
        seed=1,
    )
    rng = np.random.default_rng(1)
    contexts = [{f"c{j}": float(x) for j, x in enumerate(row)} for row in rng.normal(size=(64, 10))]

    def play() -> None:
        for turn in range(turns):
            agent.tell(agent.ask(context=contexts[turn % 64]), 0.5)

    play()
    return best_cpu_seconds(play) / turns * 1e6


def _one_hot(runs: int = 400) -> list[Claim]:
    """Independent arms: the default with one-hot features beside the default for them."""
    claims = []
    for arms, horizon in ((5, 1_000), (10, 1_000), (10, 5_000), (30, 2_000)):
        shared = belman.simulate(
            [SharedBelMan()], problems.one_hot(arms), horizon, runs, seed=4, progress=False
        )
        single = belman.simulate(
            [belman.BelMan()],
            problems.random_gaussian(arms),
            horizon,
            runs,
            seed=4,
            progress=False,
        )
        ratio = float(shared.regret[0, :, -1].mean() / single.regret[0, :, -1].mean())
        claims.append(Claim(f"one-hot / independent, {arms} arms, {horizon:,}", ratio, 1.03, ""))
    return claims


def costs() -> None:
    """What a turn costs, what a million rewards leave of the digits, and one-hot features."""
    claims = [
        Claim(
            "turn, 20 × 20, changing features", _turn(problems.changing_arms(20, 20)), 15.0, "µs"
        ),
        Claim("turn, 20 × 20, features that stay", _turn(problems.unit_ball(20, 20)), 15.0, "µs"),
        Claim("turn, 1,000 factors", _turn(problems.factors(), 500, 2), 1e3, "µs"),
        Claim("turn, 1,000 × 20", _turn(problems.unit_ball(1_000, 20), 500, 2), 1e3, "µs"),
        Claim("ask and tell, 20 × 20", _ask_and_tell(), 40.0, "µs"),
        *_accuracy(),
        *_one_hot(),
    ]
    report("arms that share a belief", claims)


def main() -> None:
    """Run the part that is named."""
    part, *rest = sys.argv[1:] or ["costs"]
    if part == "regret":
        horizons = tuple(int(turns) for turns in rest[1:]) or HORIZONS
        regret(int(rest[0]) if rest else 200, horizons)
    elif part == "locked":
        locked(int(rest[0]) if rest else 1_000)
    else:
        costs()


if __name__ == "__main__":
    main()
