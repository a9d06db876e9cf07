"""How far from the best possible where decisions are made in blocks: regret over the Bayes-optimal
one of two yes-or-no arms with uniform chances, both exact.

`python -m benchmarks.blocks`. The best possible policy splits each block as a dynamic programme has
it; the others randomise every decision of a block by the shares in which they would deal it, as
`belman.trial` does. A table, and a claim.
"""

from __future__ import annotations

import math

import numpy as np

import belman
from belman.engine import entry, kernel
from belman.measures.trial_plays import Rules
from belman.special import log_gamma
from belman.table import Table
from benchmarks.claim import Claim, report
from benchmarks.limit import exact_regret

UNIFORM = (1.0, 1.0)
DESIGNS = ((36, 9), (54, 9), (99, 9), (60, 20))  # turns, block


@kernel
def _outcomes(n: int, s: int, k: int, out):
    """The chances of 0 … k successes in k plays of an arm that had s in n."""
    a, b = 1.0 + s, 1.0 + n - s
    whole = log_gamma(a + b) - log_gamma(a) - log_gamma(b) + log_gamma(k + 1.0)
    for j in range(k + 1):
        likely = whole + log_gamma(a + j) + log_gamma(b + k - j) - log_gamma(a + b + k)
        out[j] = math.exp(likely - log_gamma(j + 1.0) - log_gamma(k - j + 1.0))


@kernel
def _block_back(t: int, size: int, first, second, before, after):
    """Fill what is expected before a block of the best split of it by what is expected after it."""
    for n in range(t + 1):
        for s in range(n + 1):
            for r in range(t - n + 1):
                best = 0.0
                for k in range(size + 1):
                    _outcomes(n, s, k, first)
                    _outcomes(t - n, r, size - k, second)
                    worth = 0.0
                    for i in range(k + 1):
                        for j in range(size - k + 1):
                            worth += first[i] * second[j] * (i + j + after[n + k, s + i, r + j])
                    best = max(best, worth)
                before[n, s, r] = best


def most_in_blocks(horizon: int, block: int) -> float:
    """The successes that the best split of every block expects."""
    after = np.zeros((horizon + 1,) * 3)
    before = after.copy()
    room = np.zeros(block + 1), np.zeros(block + 1)
    for t in reversed(range(0, horizon, block)):
        size = min(block, horizon - t)
        entry(_block_back)(
            t=t, size=size, first=room[0], second=room[1], before=before, after=after
        )
        before, after = after, before
    return float(after[0, 0, 0])


def main() -> None:
    players = {
        "until": belman.BelMan.until,
        "default": lambda horizon: belman.BelMan(),
        "gittins": lambda horizon: belman.policies.Gittins(horizon=horizon),
    }
    rows: dict[str, list[str]] = {"turns, block": [], "optimum": [], **{who: [] for who in players}}
    claims = []
    for horizon, block in DESIGNS:
        best = horizon * 2.0 / 3.0  # what the better of two uniform chances earns
        least = best - most_in_blocks(horizon, block)
        rows["turns, block"].append(f"{horizon}, {block}")
        rows["optimum"].append(f"{least:.4f}")
        for who, made in players.items():
            ratio = exact_regret(made(horizon), UNIFORM, Rules(horizon, block), best) / least
            rows[who].append(f"{ratio:.4f}")
            if who == "until":
                claims.append(
                    Claim(f"until over the optimum, {horizon} in {block}s", ratio, 1.03, "")
                )
    print(Table(rows, "regret in blocks over that of the best possible policy"))
    report("blocks", claims)


if __name__ == "__main__":
    main()
