"""Play every policy over the validation suite and draw docs/leaderboard.md and .json.

    python tools/leaderboard.py [--runs 100] [--horizon 1000] [--families bernoulli] [--folder DIR]

What the same code played is kept in the folder with what a turn of it cost, so that an interrupted
call goes on, and a second one measures nothing. `--only a,b` plays these policies and takes the
other rows from leaderboard.json; `--draw` plays none. On the site static/filters.js lets it be
sorted and filtered.
"""

from __future__ import annotations

import argparse
import json
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman import spec
from belman.cli import parse
from belman.errors import BelmanError
from belman.files import write_atomically
from belman.lab import simulate
from belman.lab.design import sources, versions
from belman.policies import POLICIES, Policy
from belman.policies.best_arm.elimination import Elimination
from belman.policies.best_arm.lucb import KLLUCB
from belman.policies.best_arm.top_two import TopTwo
from belman.policies.scale import Bounded, SubGaussian
from belman.suite import play, suite
from belman.suite.tables import geometric_mean

Floats = NDArray[np.float64]
DOCS = Path(__file__).parents[1] / "docs"
CLAIMS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: Policies that are told the truth, wrap another, or are made for queues.
LEFT_OUT = ("oracle", "phases", "forced", "forgetting", "clipping", "drift", "explore-then-commit")
EXPLORERS = ("top-two-thompson", "track-and-stop", "ugape", "lil-ucb", "lucb++", "anytime-halving")
TWENTY = next(c for c in suite().cells if c.kind == "paper-20").problem
COLUMNS = {
    "policy": "policy",
    "mean": "regret / Thompson",
    "mean_error": "±",
    "tail": "99th percentile / Thompson",
    "tail_error": "± ",
    "worst": "worst cell",
    "share": "of the attainable",
    "cells": "cells",
    "cost": "µs a turn",
    "horizon": "horizon",
    "needs": "must know",
    "histories": "keeps rewards",
    "for": "made for",
    "proven": "proven",
}


def needs(name: str, player: Policy) -> str:
    """What a policy must know of rewards."""
    if name in CLAIMS["needs"]:
        return str(CLAIMS["needs"][name])
    if isinstance(player, SubGaussian):
        return "deviation"
    return "range" if isinstance(player, Bounded) else "distribution"


def knows_horizon(name: str) -> bool:
    """Whether the horizon of a run is told to it."""
    return any(parse.policy(name, 100) != parse.policy(name, turns) for turns in (1_000, 10_000))


def explores(name: str, player: Policy) -> bool:
    """Whether it is made to find the best arm, and not to earn on the way."""
    return name in EXPLORERS or isinstance(player, (Elimination, KLLUCB, TopTwo))


def timed(name: str) -> tuple[Policy, int] | None:
    """Who is timed on the paper's 20 arms, and over how many turns: 1,000, or what the suite gives
    a slow one; none where it does not play them.
    """
    arms = len(TWENTY.means)
    turns = min(1_000, suite().at_most.get(name, 1_000 * arms) // arms)
    player = parse.policy(name, turns)
    try:
        player.check(TWENTY.family, arms)
    except BelmanError:
        return None
    return player, turns


def cost(name: str, player: Policy, turns: int, runs: int = 10) -> float:
    """Microseconds of CPU a turn on the paper's 20 arms, the best of three."""
    simulate({name: player}, TWENTY, turns, 1, workers=1, progress=False)
    times = []
    for _ in range(3):
        started = time.process_time()
        simulate({name: player}, TWENTY, turns, runs, workers=1, progress=False)
        times.append(time.process_time() - started)
    return min(times) / (runs * turns) * 1e6


def known_cost(name: str, folder: Path) -> float | str:
    """The cost as it was measured of the same code, or measured and written."""
    result = timed(name)
    if result is None:
        return "–"
    player, turns = result
    path = folder / "cost.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    design = {
        "player": spec.describe(player),
        "versions": versions(),
        "sources": sources(player, TWENTY),
    }
    described = json.loads(json.dumps(design))
    if kept.get(name, {}).get("design") != described:
        kept[name] = {"design": described, "cost": cost(name, player, turns)}
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(kept))
    return round(float(kept[name]["cost"]), 2)


def ratios_of(cells: list[tuple[Floats, Floats]]) -> tuple[float, float]:
    """Geometric means over cells of ours to theirs: ratios of means, and of 99th percentiles.

    >>> ratios_of([(np.array([1.0, 3.0]), np.array([2.0, 6.0]))])
    (0.5, 0.5)
    """
    means = [max(float(ours.mean() / theirs.mean()), 1e-9) for ours, theirs in cells]
    tails = [[float(np.quantile(each, 0.99)) for each in pair] for pair in cells]
    return geometric_mean(means), geometric_mean([max(a / b, 1e-9) for a, b in tails])


def errors_of(cells: list[tuple[Floats, Floats]], draws: int = 200) -> tuple[float, float]:
    """Half of their 95 % intervals, by drawing runs again; runs are paired."""
    rng, result = np.random.default_rng(1), []
    for _ in range(draws):
        again = []
        for ours, theirs in cells:
            runs = rng.integers(0, len(ours), len(ours))
            again.append((ours[runs], theirs[runs]))
        result.append(ratios_of(again))
    low, high = np.quantile(result, [0.025, 0.975], axis=0)
    return float(high[0] - low[0]) / 2.0, float(high[1] - low[1]) / 2.0


def share_of(shares: list[float]) -> str:
    """The mean share of the attainable over the cells that have one, in words.

    >>> share_of([0.98, float("nan"), 0.96])
    '97.0 %'
    """
    known = [share for share in shares if share == share]
    return f"{100.0 * sum(known) / len(known):.1f} %" if known else "–"


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """A row for every policy that plays."""
    cells = [
        replace(cell, runs=min(cell.runs, options.runs))
        for cell in suite().cells
        if cell.split == "validation"
        and cell.horizon <= options.horizon
        and cell.problem.family.name in options.families
    ]
    design = {"runs": options.runs, "cells": [cell.name for cell in cells], "seed": options.seed}
    rows = others(options.only, design)
    for name in options.only or [*POLICIES, *spec.PRESETS]:
        if name in LEFT_OUT:
            continue
        result: list[tuple[Floats, Floats]] = []
        shares: list[float] = []
        for cell in cells:
            if not suite().plays(name, cell):
                continue
            try:
                seated = {who: parse.policy(who, cell.horizon) for who in ("thompson", name)}
                seated[name].check(cell.problem.family, cell.problem.arms)
            except BelmanError:
                continue
            records = play(cell, seated, options.folder, options.seed)
            result.append((records[name], records["thompson"]))
            shares.append(cell.share(float(records[name].mean())))
        if not result:
            continue
        player = parse.policy(name, 1_000)
        print(f"{name}: {len(result)} cells", flush=True)
        mean, tail = ratios_of(result)
        mean_error, tail_error = errors_of(result)
        rows.append(
            {
                "policy": name,
                "mean": round(mean, 3),
                "mean_error": round(mean_error, 3),
                "tail": round(tail, 3),
                "tail_error": round(tail_error, 3),
                "worst": round(max(float(a.mean() / b.mean()) for a, b in result), 2),
                "share": share_of(shares),
                "cells": len(result),
                "cost": known_cost(name, options.folder),
                "horizon": "yes" if knows_horizon(name) else "no",
                "histories": "yes" if player.learns else "no",
                "for": "the best arm" if explores(name, player) else "reward",
            }
        )
    return design | {"rows": sorted(rows, key=lambda row: row["mean"])}


def others(only: list[str], design: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of the policies that are not to be played, which must have played the same."""
    if not only:
        return []
    kept = known()
    if any(kept[key] != value for key, value in design.items()):
        raise SystemExit("leaderboard.json is of other cells, runs or seed: play every policy")
    return [row for row in kept["rows"] if row["policy"] not in only]


def known() -> dict[str, Any]:
    """What leaderboard.json holds."""
    result: dict[str, Any] = json.loads((DOCS / "leaderboard.json").read_text(encoding="utf-8"))
    return result


def words(data: dict[str, Any]) -> str:
    """What was played, in a sentence or two."""
    return (
        f"Every policy on {len(data['cells'])} cells of the validation suite, at most "
        f"{data['runs']:,} runs each; ratios to Thompson's regret, as geometric means over cells "
        "(below 1 is better than Thompson). A policy that plays fewer cells is compared on those. "
        "± is half a 95 % interval of the ratio before it, by a bootstrap of the runs; "
        "a 99th percentile of fewer than 100 runs is hardly more than the worst run. "
        "Of the attainable: the rewards earned, over the most that any policy can earn on average "
        "(or a bound on that), on the cells that draw their arms from a prior. "
        "µs a turn: CPU time on 20 arms over 1,000 turns, or as many as a slow policy is given."
    )


def markdown(data: dict[str, Any]) -> str:
    """The page in the docs."""
    lines = [
        "# Which policy, when",
        "",
        words(data),
        "",
        "[The data](leaderboard.json). `make leaderboard` plays it anew (`RUNS=1000` for more "
        "runs, `HORIZON=1000000` for the long cells, `FAMILIES=all` for every family).",
        "",
        "In short: `belman` where the distribution of rewards is known (yes or no, counts, …), "
        "`belman-until` where the horizon is as well, and [a larger loss in a rare run]"
        "(guide/choose.md#told-when-play-ends) is bearable; `besa` or `imed-k-inf` for any "
        "rewards in a known range, `rb-sda` without even that; `tsallis-inf` where rewards may be "
        "false, and `light-tailed` where large losses must be rare, for what is proven and not for "
        "what is measured here; `med` or `kl-ms` for a log with the chance of every "
        "choice. Policies made for finding the best arm are not judged at that by regret.",
        "",
        '<div id="filters"></div>',
        "",
        "| " + " | ".join(COLUMNS.values()) + " |",
        "|" + "---|" * len(COLUMNS),
    ]
    lines += [
        "| " + " | ".join(str(row.get(key, "–")) for key in COLUMNS) + " |" for row in data["rows"]
    ]
    cells = "; ".join(data["cells"])
    return "\n".join([*lines, "", f"Cells: {cells}.", ""])


def draw(data: dict[str, Any], folder: Path = DOCS) -> None:
    """Write the data, with what is needed and proven, and the page."""
    for row in data["rows"]:
        row["needs"] = needs(row["policy"], parse.policy(row["policy"], 1_000))
        row["proven"] = CLAIMS["proven"].get(row["policy"], "–")
    write_atomically(folder / "leaderboard.json", json.dumps(data, ensure_ascii=False, indent=1))
    write_atomically(folder / "leaderboard.md", markdown(data))


def main() -> None:
    """Measure, or take what was measured, and draw."""
    parser = argparse.ArgumentParser(description="Every policy on the validation suite.")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--horizon", type=int, default=1_000)
    parser.add_argument("--families", default="bernoulli")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("bench-regret") / "leaderboard")
    parser.add_argument("--only", type=lambda names: names.split(","), default=[])
    parser.add_argument("--draw", action="store_true")
    options = parser.parse_args()
    every = {cell.problem.family.name for cell in suite().cells}
    asked = every if options.families == "all" else set(options.families.split(","))
    options.families = asked
    draw(known() if options.draw else measured(options))


if __name__ == "__main__":
    main()
