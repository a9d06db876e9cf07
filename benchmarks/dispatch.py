"""The worked example of the queueing guide: 10,000 tasks on five worker processes, beside an oracle
in the same run.
"""

from __future__ import annotations

import asyncio
import statistics

from docs.examples.dispatch import compare

from benchmarks.claim import Claim, report

TASKS, REPEATS = 10_000, 3


def main() -> None:
    ratios = []
    for _ in range(REPEATS):
        _, runs = asyncio.run(compare(TASKS))
        ratios.append(runs["dispatcher"][-1][0] / runs["oracle"][-1][0])
    claims = [
        Claim("dispatcher / oracle, median of the wall times", statistics.median(ratios), 1.1, "×")
    ]
    report(
        f"{TASKS:,} tasks, five processes, two at a time",
        claims,
        {"ratios": ", ".join(f"{r:.3f}" for r in ratios)},
    )


if __name__ == "__main__":
    main()
