"""Real tables as contextual bandits: the area under the reward curve beside other libraries.

    pip install 'belman[tables]' && python -m benchmarks.tables [RUNS] [TURNS]

Rows are drawn with replacement, a class is an arm, and 1 is earned by the right one. Contexts are
standardised columns and every arm has coefficients of its own. Our policies play in the lab, LinUCB
and LinTS with a noise that is learnt; MABWiser's and contextualbandits' as their documentation
says (LinUCB as published: a width of 1 for noise of 1), learning after every row, or after every
fifty where the library learns in batches.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import belman
from belman import problems
from belman.models import Linear
from belman.policies.dependent import LinTS, LinUCB, SharedBelMan
from belman.problems import TableArms
from belman.table import Table
from benchmarks.claim import Claim, report

Floats = NDArray[np.float64]
BATCH = 50
OURS = ("default", "default, linear", "LinUCB", "LinTS")


def tables() -> dict[str, tuple[Floats, NDArray[Any]]]:
    """What scikit-learn and statsmodels carry: measurements and classes."""
    from sklearn import datasets
    from statsmodels.datasets import fair

    result = {}
    for name, load in {
        "wine": datasets.load_wine,
        "breast cancer": datasets.load_breast_cancer,
    }.items():
        data = load()
        result[name] = (np.asarray(data.data, dtype=np.float64), np.asarray(data.target))
    survey = fair.load_pandas().data
    result["marriages"] = (
        survey.drop(columns=["rate_marriage", "affairs"]).to_numpy(dtype=np.float64),
        (survey["rate_marriage"] >= 4).to_numpy() + 2 * (survey["affairs"] > 0).to_numpy(),
    )
    return result


def areas(total: Floats, turns: NDArray[np.int64]) -> Floats:
    """Of every run the area under the curve of the average reward so far, by all rewards (runs ×
    turns).
    """
    result: Floats = np.trapezoid(total / turns, turns, axis=1) / (turns[-1] - turns[0])
    return result


def ours(problem: TableArms, runs: int, turns: int) -> dict[str, Floats]:
    """The default with logistic rewards, and the rivals with the linear ones they are made for; the
    default with these too, to see what is the rule's and what the belief's.
    """
    linear = problems.TableArms(
        model=Linear(noise=0.5, unknown=True), contexts=problem.contexts, earnings=problem.earnings
    )
    result = {}
    for name, policy, world in (
        ("default", SharedBelMan(), problem),
        ("default, linear", SharedBelMan(), linear),
        ("LinUCB", LinUCB(1.0), linear),
        ("LinTS", LinTS(), linear),
    ):
        played = belman.simulate({name: policy}, world, turns, runs, seed=5, progress=False)
        result[name] = areas(played.reward.values[0], played.turn.values)
    return result


def mabwiser(policy: Any, problem: TableArms, rows: NDArray[np.int64], seed: int) -> Floats:
    """MABWiser: fit on the first row of every arm, then predict and learn row by row."""
    from mabwiser.mab import MAB

    contexts, earnings = problem.contexts.values, problem.earnings.values
    arms = list(range(problem.arms))
    player = MAB(arms, policy, seed=seed)
    first = rows[: problem.arms]
    earned = [float(earnings[row, arm]) for row, arm in zip(first, arms, strict=True)]
    player.fit(arms, earned, contexts[first])
    for row in rows[problem.arms :]:
        arm = player.predict(contexts[[row]])
        earned.append(float(earnings[row, arm]))
        player.partial_fit([arm], [earned[-1]], contexts[[row]])
    return np.array(earned)


def contextualbandits(
    make: Callable[..., Any], problem: TableArms, rows: NDArray[np.int64], seed: int
) -> Floats:
    """contextualbandits: predict for fifty rows, then learn them."""
    contexts, earnings = problem.contexts.values, problem.earnings.values
    player = make(nchoices=problem.arms, random_state=seed + 1)
    luck = np.random.default_rng(seed)
    earned: list[float] = []
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        chosen = (
            luck.integers(problem.arms, size=len(batch))
            if start == 0
            else np.asarray(player.predict(contexts[batch])).astype(int)
        )
        got = earnings[batch, chosen]
        earned += got.tolist()
        player.partial_fit(contexts[batch], chosen, got)
    return np.array(earned)


def theirs(problem: TableArms, runs: int, turns: int) -> dict[str, Floats]:
    """Other libraries' policies for disjoint arms, with their defaults."""
    from contextualbandits.online import LinTS as TheirTS
    from contextualbandits.online import LinUCB as TheirUCB
    from mabwiser.mab import LearningPolicy

    players: dict[str, Callable[[NDArray[np.int64], int], Floats]] = {
        "MABWiser LinUCB": lambda rows, s: mabwiser(LearningPolicy.LinUCB(), problem, rows, s),
        "MABWiser LinTS": lambda rows, s: mabwiser(LearningPolicy.LinTS(), problem, rows, s),
        "contextualbandits LinUCB": lambda rows, s: contextualbandits(TheirUCB, problem, rows, s),
        "contextualbandits LinTS": lambda rows, s: contextualbandits(TheirTS, problem, rows, s),
    }
    result = {}
    for name, play in players.items():
        lives = []
        for run in range(runs):
            rows = np.random.default_rng([9, run]).integers(
                len(problem.contexts.values), size=turns
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                lives.append(play(rows, run))
        result[name] = areas(np.cumsum(lives, axis=1), np.arange(1, turns + 1))
    return result


def _beside(played: dict[str, Floats], player: str) -> tuple[float, float, float]:
    """A player's area, and how much more the default has, with its 95 % interval; our own players
    meet the same rows.
    """
    mine, other = played["default"], played[player]
    more = mine - other
    errors = [more] if player in OURS else [mine, other]
    wide = 1.96 * np.sqrt(sum(one.var(ddof=1) / one.size for one in errors))
    return float(other.mean()), float(more.mean()), float(wide)


def main(runs: int = 20, turns: int = 1_000) -> None:
    claims, rows = [], []
    for name, (columns, labels) in tables().items():
        problem = problems.from_table(columns, labels)
        played = {**ours(problem, runs, turns), **theirs(problem, runs, turns)}
        rows += [(name, player, *_beside(played, player)) for player in played]
        mean = {player: float(result.mean()) for player, result in played.items()}
        mine = max(mean["LinUCB"], mean["LinTS"]) / mean["default"]
        best = max(result for player, result in mean.items() if player not in OURS)
        best /= mean["default"]
        claims.append(Claim(f"other libraries' over the default, {name}", best, 1.0, ""))
        claims.append(Claim(f"ours, noise learnt, over the default, {name}", mine, 1.0, ""))
    names = ("table", "player", "area", "default more", "±")
    columns_of = {column: [row[i] for row in rows] for i, column in enumerate(names)}
    print(Table(columns_of, f"average reward so far, averaged over {turns:,} turns, {runs} runs"))
    report("real tables", claims)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
