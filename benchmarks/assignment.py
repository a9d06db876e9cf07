"""How fast units are assigned, one by one, in bulk and in Node.js; and how many move with weights.

`python -m benchmarks.assignment`
"""

from __future__ import annotations

import json
import math
import os

os.environ["BELMAN_COMPILE"] = "first"

import shutil
import subprocess
import sys
from hashlib import blake2s
from itertools import pairwise
from pathlib import Path

import numpy as np

import belman.assignment
from belman import Weights, assign, assign_many
from benchmarks.claim import Claim, best_cpu_seconds, report

ARMS = 10
ONE_BY_ONE, MANY = 200_000, 2_000_000
_NODE = """
import { assign, assignMany } from %s;
const weights = JSON.parse(process.argv[1]), size = %d;
const units = Array.from({ length: size }, (_, i) => `user-${i}`);
const best = (work) => {
  let least = Infinity;
  for (let i = 0; i < 6; i++) {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1e6);
  }
  return size / least;
};
const one = best(() => { for (const unit of units) assign(weights, unit); });
console.log(JSON.stringify([one, best(() => assignMany(weights, units))]));
"""


def wandered(versions: int, size: float, seed: int = 1) -> list[Weights]:
    """Versions of weights that wander, by steps of a size in their logarithms."""
    rng = np.random.default_rng(seed)
    level, made = np.zeros(ARMS), []
    for _ in range(versions):
        level = 0.995 * level + size * rng.normal(size=ARMS)
        shares = 0.01 + (1.0 - 0.01 * ARMS) * np.exp(level) / np.exp(level).sum()
        weights = dict(enumerate((shares / shares.sum()).tolist()))
        made.append(
            made[-1].following(weights) if made else Weights.of("bench", weights, salt="0" * 16)
        )
    return made


def rendezvous(weights: Weights, unit: str) -> int:
    """Weighted rendezvous hashing: the arm with the least −ln(h)/w."""

    def score(position: int) -> float:
        digest = blake2s(f"{position}/{unit}".encode()).digest()
        chance = (int.from_bytes(digest[:6], "big") + 0.5) / 2.0**48
        return -math.log(chance) / weights.weights[position]

    return min(range(ARMS), key=score)


def moved(versions: list[Weights]) -> tuple[float, float, float]:
    """The least share of units that must move over the versions, and those that do: by cuts, and by
    rendezvous hashing (of fewer units).
    """
    least = by_cuts = by_score = 0.0
    units, few = np.arange(400_000), [f"user-{number}" for number in range(4_000)]
    for before, after in pairwise(versions):
        least += 0.5 * float(np.abs(np.subtract(before.weights, after.weights)).sum())
        first, second = assign_many(before, units), assign_many(after, units)
        by_cuts += float((first.positions != second.positions).mean())
        by_score += sum(rendezvous(before, unit) != rendezvous(after, unit) for unit in few) / len(
            few
        )
    return least, by_cuts, by_score


def in_node(weights: Weights) -> list[float]:
    """Assignments a second in Node.js, one by one and many; none where it is not installed."""
    node = shutil.which("node")
    if node is None:
        return []
    module = Path(belman.assignment.__file__).with_name("assign.mjs").as_uri()
    script = _NODE % (json.dumps(module), 1_000_000)
    command = [node, "--input-type=module", "-e", script, weights.to_json()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: list[float] = json.loads(done.stdout)
    return result


def import_seconds() -> float:
    """How long the slim client takes to import, beyond what starting Python does."""
    package = Path(belman.assignment.__file__).parent
    script = (
        "import importlib.util, sys, time; start = time.process_time();"
        f"place, inside = {str(package / '__init__.py')!r}, [{str(package)!r}];"
        "spec = importlib.util.spec_from_file_location('belman_client', place,"
        " submodule_search_locations=inside);"
        "made = importlib.util.module_from_spec(spec); sys.modules['belman_client'] = made;"
        "spec.loader.exec_module(made); print(time.process_time() - start)"
    )
    command = [sys.executable, "-I", "-c", script]
    return min(float(subprocess.check_output(command, text=True)) for _ in range(5))


def main() -> None:
    weights = wandered(50, 0.3)[-1]
    units = [f"user-{number}" for number in range(ONE_BY_ONE)]
    texts = np.array([f"user-{number}" for number in range(MANY)])

    def one_by_one() -> None:
        for unit in units:
            assign(weights, unit)

    assign_many(weights, texts[:10])
    single = ONE_BY_ONE / best_cpu_seconds(one_by_one)
    bulk = MANY / best_cpu_seconds(lambda: assign_many(weights, texts))
    numbers = MANY / best_cpu_seconds(lambda: assign_many(weights, np.arange(MANY)))
    least, by_cuts, by_score = moved(wandered(12, 0.1))
    claims = [
        Claim("assign, one core", single, 300_000, "/s", more=True),
        Claim("assign_many, texts", bulk, 5_000_000, "/s", more=True),
        Claim("assign_many, whole numbers", numbers, 5_000_000, "/s", more=True),
        Claim("units moved / least possible", by_cuts / least, 1.1, ""),
        Claim("import of belman_client", import_seconds(), 0.1, "s"),
    ]
    if rates := in_node(weights):
        claims.append(Claim("Node.js, assign", rates[0], 150_000, "/s", more=True))
        claims.append(Claim("Node.js, assignMany", rates[1], 2_500_000, "/s", more=True))
    long = wandered(1_000, 0.1)[-1]
    notes = {
        "after 1,000 versions": f"{len(long.cuts)} cuts, {len(long.to_json()):,} bytes",
        "weights": f"{ARMS} arms, {len(weights.cuts)} cuts, {len(weights.to_json()):,} bytes",
        "rendezvous hashing": f"moves {by_score / least:.2f} times the least possible",
    }
    report("Assignment", claims, notes)


if __name__ == "__main__":
    main()
