"""What drawing by chances costs: regret of a study's traffic, by goal, beside its bare policy.

A study with a control draws every ask from the shares in which its policy would deal the next
decisions; the policy alone plays one arm for sure. Nothing is decided here: the cap of goal "both"
is paid to the last turn, which a study pays only until somebody ships.

    python -m benchmarks.chances [runs]
"""

from __future__ import annotations

import sys

import numpy as np

import belman
from belman.measures.staged_plays import World, play_stages
from belman.measures.stop_rules import MOST_SHARE, Separated

PROBLEMS = {
    "0.03, 0.036": ([0.03, 0.036], 20_000),
    "0.8, 0.9": ([0.8, 0.9], 5_000),
    "five arms": ([0.3, 0.35, 0.4, 0.45, 0.5], 5_000),
    "ten arms": ([0.03] * 9 + [0.04], 20_000),
}
NEVER = Separated(1e-300)


def main(runs: int) -> None:
    print(f"{'problem':>12} {'turns':>7} {'bare policy':>14}", *(f"{g:>14}" for g in MOST_SHARE))
    for name, (means, turns) in PROBLEMS.items():
        problem = belman.problems.bernoulli(means)
        bare = belman.simulate([belman.BelMan()], problem, horizon=turns, runs=runs, seed=1)
        world, every = World(np.array(means)), MOST_SHARE.values()
        goals = (play_stages(world, NEVER, most, turns, runs, 1).lost for most in every)
        lost = [np.asarray(bare["regret"])[..., -1].ravel(), *goals]
        cells = (f"{one.mean():8.1f} ± {one.std() / runs**0.5:3.1f}" for one in lost)
        print(f"{name:>12} {turns:7,}", *(f"{cell:>14}" for cell in cells), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
