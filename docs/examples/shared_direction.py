"""Arms that share a direction move on the manifold together (docs/images/shared-direction.png).

Only rewards of one arm are told. On the left every arm is a direction of its own, and it moves
alone. On the right another points nearly where it does, and goes along; the third is at a right
angle to it, and stays.
"""

import math
import sys

import matplotlib.pyplot as plt
import numpy as np

from belman.models import Linear
from belman.models.shared import learn, marginal
from belman.plots.beliefs import Paths, draw_manifold

ARMS = ("told", "near", "apart")
ANGLES = {"independent arms": (0, None, 90), "two arms that share a direction": (0, 25, 90)}


def directions(angles: tuple[int | None, ...]) -> np.ndarray:
    """A direction of each arm in the plane; an arm of no angle has a third one to itself."""
    rows = []
    for angle in angles:
        if angle is None:
            rows.append((0.0, 0.0, 1.0))
        else:
            rows.append((math.cos(math.radians(angle)), math.sin(math.radians(angle)), 0.0))
    return np.array(rows)


def paths(features: np.ndarray, rewards: np.ndarray) -> Paths:
    """Where every arm's marginal, and their barycentre, went as rewards of the first were told."""
    model = Linear(noise=1.0)
    belief, positions = model.belief(features.shape[1]), []
    for reward in (None, *rewards):
        if reward is not None:
            learn(model.kernels, model.constants, belief, features[0], reward)
        positions.append(
            [marginal(model.kernels, model.constants, belief, row) for row in features]
        )
    mean, variance = np.array(positions).transpose(2, 0, 1)
    middle, wide = mean.mean(axis=1), variance.mean(axis=1) + mean.var(axis=1)
    turns, best = tuple(range(len(positions))), np.array([0.5, 0.4, 0.1])
    return Paths(ARMS, turns, mean, 1.0 / variance, middle, 1.0 / wide, best, "expected reward")


def main(rewards: int = 12, picture: str = "shared-direction.png") -> None:
    told = 0.8 + 0.4 * np.random.default_rng(7).normal(size=rewards)
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharex=True, sharey=True)
    for ax, (title, angles) in zip(axes, ANGLES.items(), strict=True):
        draw_manifold(paths(directions(angles), told), ax, highlight=ARMS)
        ax.set_title(title)
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12, *sys.argv[2:3])
