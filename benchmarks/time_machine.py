"""How long the time machine takes for a million rows, by whose hash assigned them; and how often
its intervals hold the truth where weights follow the best arm.

`python -m benchmarks.time_machine`; `--speed` measures nothing but the time.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from tests.analysis.past_logs import ARMS, adapting

from belman import assign_many
from belman.analysis import read_weights, time_machine
from belman.analysis.past import Past
from belman.assignment import Eppo, Weights
from belman.bridges.growthbook_history import read_payloads
from benchmarks.claim import Claim, report

ROWS, VERSIONS, LOGS = 1_000_000, 20, 1_000
COUNTRIES = ("fr", "de", "it")


def growthbook() -> tuple[dict[str, list[object]], Past]:
    """Twenty payloads that adapt, with a targeting condition."""
    rng = np.random.default_rng(1)
    log, history = adapting(rng, VERSIONS, ROWS // VERSIONS, (0.2, 0.3, 0.4))
    log["country"] = rng.choice(COUNTRIES, ROWS).tolist()
    for payload in history.values():
        rule = payload["features"]["offer"]["rules"][0]
        rule["condition"] = {"country": {"$in": list(COUNTRIES)}}
    return log, read_payloads(history)


def documents(assigner: Eppo | None) -> tuple[dict[str, list[object]], Past]:
    """Twenty versions of weights."""
    rng = np.random.default_rng(2)
    first = Weights.of("offer", dict.fromkeys(ARMS, 1 / 3), salt="s", published=0.0,
                       assigner=assigner)  # fmt: skip
    versions, each, arms = [first], ROWS // VERSIONS, []
    for i in range(1, VERSIONS):
        shares = dict(zip(ARMS, rng.dirichlet((5.0, 5.0, 5.0)).tolist(), strict=True))
        versions.append(versions[-1].following(shares, published=float(i * each)))
    for i, weights in enumerate(versions):
        units = [f"u{one}" for one in range(i * each, (i + 1) * each)]
        arms += [str(weights.arms[position]) for position in assign_many(weights, units).positions]
    log = {"unit": [f"u{i}" for i in range(ROWS)], "time": list(range(ROWS)), "variation": arms,
           "reward": (rng.random(ROWS) < 0.3).astype(float).tolist()}  # fmt: skip
    return log, read_weights(versions)


def covered(means: tuple[float, ...], repeats: bool) -> dict[str, float]:
    """How often intervals of 95 % hold the mean of an arm, over all arms, by estimator."""
    rng, inside = np.random.default_rng(3), dict[str, list[bool]]()
    for i in range(LOGS):
        log, history = adapting(rng, 8, 250, means, repeats=repeats, name=f"{i}-")
        result = time_machine(log, read_payloads(history))
        for arm, mean in zip(ARMS, means, strict=True):
            for one in result[arm].values:
                low, high = one.one_look
                inside.setdefault(one.estimator, []).append(low <= mean <= high)
    return {name: float(np.mean(hits)) for name, hits in inside.items()}


def main() -> None:
    claims = []
    for name, (log, past) in (
        ("growthbook", growthbook()),
        ("belman", documents(None)),
        ("eppo", documents(Eppo())),
    ):
        time_machine({key: cells[:1_000] for key, cells in log.items()}, past)  # compiles
        started = time.process_time()
        result = time_machine(log, past)
        spent = time.process_time() - started
        assert result.account.used == ROWS
        what = f"seconds of the processor for 10⁶ rows, {VERSIONS} versions, {name}"
        claims.append(Claim(what, spent, 10.0, "s"))
    if "--speed" not in sys.argv:
        for means, repeats, name in (
            ((0.3, 0.3, 0.3), False, "A/A"),
            ((0.2, 0.3, 0.4), False, "effects"),
            ((0.3, 0.3, 0.3), True, "units that come again"),
        ):
            for estimator, share in covered(means, repeats).items():
                what = f"share of 95 % intervals that hold, {estimator}, {name}"
                claims.append(Claim(what, share, 0.92, "", more=True))
    report("The time machine", claims)


if __name__ == "__main__":
    main()
