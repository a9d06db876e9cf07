"""Arms with given features, and θ given or drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belman import chance
from belman.engine import kernel
from belman.errors import SettingError
from belman.models import Block
from belman.models.shared import dot
from belman.problems.featured.featured import Featured, SceneKernels
from belman.problems.problem import Floats
from belman.validate import require_number

MISFIT, DRAWN, THETA = 0, 1, 2  # of numbers: from THETA on θ, or the scales of its draws


@kernel
def begin(numbers, table, world, truth):
    size = table.shape[1]
    for i in range(size):
        known = numbers[THETA + i]
        truth[i] = known * chance.normal(world) if numbers[DRAWN] > 0.0 else known
    for a in range(len(table)):
        truth[size + a] = numbers[MISFIT] * chance.normal(world)


@kernel
def meet(numbers, table, world, truth, features, eta):
    size = table.shape[1]
    for a in range(len(table)):
        for i in range(size):
            features[a, i] = table[a, i]
        eta[a] = dot(features[a], truth[:size]) + truth[size + a]


SCENE = SceneKernels(begin, meet)


@dataclass(frozen=True, kw_only=True)
class GivenArms(Featured):
    """Arms with given features; made by `end_of_optimism`, `one_hot`, `intercepts` and `factors`.

    Players believe that each coefficient is drawn from N(0, scale²), with the scale of its block.

    Parameters
    ----------
    family
        The family of the rewards of one arm; by default that of the model.
    model
        The model of rewards; by default linear.
    rows
        The features of each arm, one row an arm, all of one length.
    theta
        The true coefficients, one a feature; None draws them from the belief of players in every
        run.
    block_sizes
        How many features each block has, in their order; by default one block of them all.
    block_scales
        The standard deviation of the coefficients of each block.
    misfit
        The standard deviation of what the worth of an arm has that its features do not tell.

    >>> GivenArms(rows=((1.0, 0.0), (0.0, 1.0)), theta=(1.0, 0.5)).features
    2
    """

    rows: tuple[tuple[float, ...], ...]
    theta: tuple[float, ...] | None = None
    block_sizes: tuple[int, ...] = ()
    block_scales: tuple[float, ...] = (1.0,)
    misfit: float = 0.0

    scene = SCENE

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = tuple(tuple(float(x) for x in row) for row in self.rows)
        object.__setattr__(self, "rows", rows)
        lengths = {len(row) for row in rows}
        if len(lengths) != 1 or not np.isfinite(np.array(rows)).all() or not rows[0]:
            raise SettingError("rows are not valid: give every arm the same number of features")
        if not self.block_sizes:
            object.__setattr__(self, "block_sizes", (len(rows[0]),))
        size = len(rows[0])
        fits = len(self.block_sizes) == len(self.block_scales) and sum(self.block_sizes) == size
        if not fits or not (self.theta is None or len(self.theta) == size):
            allowed = f"block_sizes sum to {size}, one scale each, and as many numbers in theta"
            given = f"block_sizes={self.block_sizes!r}, block_scales={self.block_scales!r}"
            raise SettingError(f"{given} are not valid: {allowed}")
        require_number("misfit", self.misfit)

    @property
    def arms(self) -> int:
        return len(self.rows)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(map(Block, self.block_sizes, self.block_scales))

    @property
    def numbers(self) -> Floats:
        drawn = self.theta is None
        known = np.repeat(self.block_scales, self.block_sizes) if drawn else np.array(self.theta)
        return np.array([self.misfit, float(drawn), *known])

    @property
    def table(self) -> Floats:
        return np.array(self.rows)

    @property
    def truth_size(self) -> int:
        return self.features + self.arms
