"""Real data as a problem: every turn a row of a table, and what each arm would earn there.

Of a row of a log only one arm's reward r is known, and the chance p that it had. With any guess
g_a(x) that was made without this row, g_a + [a was played]·(r − g_a)/p has the right expectation
for every arm: the doubly robust estimate. Guesses are ridge regressions per arm, of one half of the
log for the other.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from belman import chance
from belman.engine import kernel
from belman.errors import SettingError
from belman.models import Block, Linear, Logistic, Model, ModelKernels
from belman.problems.featured.context_arms import lay_out
from belman.problems.featured.featured import Featured, SceneKernels
from belman.problems.problem import Floats
from belman.validate import require_number

_MOST_ROWS = 10_000_000
_RIDGE = 1.0


class Rows:
    """A matrix that is equal to another of the same numbers, and does not change."""

    def __init__(self, values: ArrayLike) -> None:
        self.values = np.ascontiguousarray(values, dtype=np.float64)
        self.values.setflags(write=False)
        self.digest = hashlib.sha256(self.values.tobytes()).hexdigest()[:12]

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Rows) and self.values.shape == other.values.shape
        return same and self.digest == other.digest  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self.values.shape, self.digest))

    def __repr__(self) -> str:
        rows, columns = self.values.shape
        return f"Rows({rows} × {columns}, {self.digest})"


@kernel
def begin(numbers, table, world, truth):
    pass


@kernel
def meet(numbers, table, world, truth, features, eta):
    """A row, drawn with replacement: its context, and then what every arm earns."""
    size = int(numbers[0])
    row = chance.below(world, len(table))
    lay_out(table[row, :size], truth[:0], features)
    for a in range(eta.size):
        eta[a] = table[row, size + a]


@kernel
def as_it_is(constants, eta):
    return eta


@kernel
def earned(constants, eta, uniform):
    return eta


SCENE = SceneKernels(begin, meet)


@dataclass(frozen=True, kw_only=True)
class TableArms(Featured):
    """Rows of contexts, and the rewards of all arms in each; made by `belman.problems.from_table`.

    Every turn draws a row with replacement. Each arm has coefficients of its own.

    Parameters
    ----------
    family
        The family of the rewards of one arm; by default that of the model.
    model
        The model of rewards by which players learn; by default linear.
    contexts
        The context of each row, scaled as `from_table` does, a constant first.
    earnings
        The reward that every arm would give in each row (rows × arms).
    scale
        The prior's standard deviation of coefficients.
    """

    contexts: Rows
    earnings: Rows
    scale: float = 1.0

    scene = SCENE
    stays = False

    @property
    def arms(self) -> int:
        return self.earnings.values.shape[1]

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (Block(self.arms * self.contexts.values.shape[1], self.scale),)

    @property
    def numbers(self) -> Floats:
        return np.array([float(self.contexts.values.shape[1])])

    @property
    def table(self) -> Floats:
        return np.hstack([self.contexts.values, self.earnings.values])

    @property
    def truth_size(self) -> int:
        return 1

    @property
    def rewards(self) -> ModelKernels:
        return replace(self.model.kernels, mean=as_it_is, reward=earned)


def _matrix(name: str, given: Any) -> Floats:
    try:
        result = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        result = np.zeros(0)
    if result.ndim != 2 or not result.size or not np.isfinite(result).all():
        remedy = "give a matrix of finite numbers, a row for every turn (encode categories first)"
        raise SettingError(f"{name} are not valid: {remedy}")
    if len(result) > _MOST_ROWS:
        raise SettingError(f"{name} have {len(result):,} rows: {_MOST_ROWS:,} are the most")
    return result


def from_table(
    rows: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    rewards: ArrayLike | None = None,
    actions: ArrayLike | None = None,
    propensities: ArrayLike | None = None,
    model: Model | None = None,
    scale: float = 1.0,
) -> TableArms:
    """Make a contextual bandit from a table: `labels` to guess, with an arm for each class and a
    reward of 1 for the right one; or the `rewards` (rows × arms) that every arm would give; or a
    log of `actions` with their `rewards` and `propensities`, from which every arm's reward is
    estimated without bias.

    Of a log only the mean over many rows has a meaning: the estimate of a single row has the larger
    an error the smaller its propensity was, and a policy that learns from such rewards learns less
    than it would have. So a log compares policies under the same noise; `belman.evaluate(log,
    policy)` says what a policy would have earned.

    Every turn draws a row; regret is to the best arm of that row. The model is logistic for rewards
    from 0 to 1, else linear with unknown noise.

    Parameters
    ----------
    rows
        Features by row. Columns are standardised and divided by the root of their number, and a
        constant comes first.
    labels
        The class of each row.
    rewards
        The reward of every arm by row; with `actions`, the logged reward of each row.
    actions
        The logged arm of each row.
    propensities
        The probability of each logged arm.
    model
        Another model of rewards.
    scale
        The prior's standard deviation of coefficients.

    Returns
    -------
    TableArms
        The problem.

    Raises
    ------
    SettingError
        If neither or both of `labels` and `rewards` are given, a log lacks a part, numbers of rows
        differ, or a number is not finite.

    >>> problem = from_table([[0.1, 2.0], [0.4, 1.0], [0.3, 3.0]], ["a", "b", "a"])
    >>> problem.arms, problem.features
    (2, 6)
    """
    table = _matrix("rows", rows)
    if (labels is None) == (rewards is None):
        raise SettingError("give labels, or rewards=…, and not both")
    if (actions is None) != (propensities is None) or (actions is not None and rewards is None):
        raise SettingError("a log has actions=…, rewards=… and propensities=…, all three")
    spread = table.std(axis=0)
    usable = np.where(spread > 1e-12 * (1.0 + np.abs(table).max(axis=0)), spread, np.inf)
    scaled = (table - table.mean(axis=0)) / usable / np.sqrt(table.shape[1])
    contexts = np.hstack([np.ones((len(table), 1)), scaled])
    if actions is not None and rewards is not None and propensities is not None:
        earnings = earnings_of(contexts, actions, rewards, propensities)
    elif labels is not None:
        given = np.asarray(labels).ravel()
        _, positions = np.unique(given, return_inverse=True)
        earnings = np.eye(int(positions.max()) + 1)[positions] if len(given) else np.zeros((0, 1))
    else:
        earnings = _matrix("rewards", rewards)
    if len(earnings) != len(table):
        raise SettingError(f"{len(table)} rows and {len(earnings)} rewards: give as many of both")
    if model is None:
        within = earnings.min() >= 0.0 and earnings.max() <= 1.0
        wide = max(float(earnings.std()), 1e-6)
        model = Logistic() if within else Linear(noise=wide, unknown=True)
    require_number("scale", scale, 1e-6, 1e6)
    return TableArms(
        model=model, contexts=Rows(contexts), earnings=Rows(earnings), scale=float(scale)
    )


def earnings_of(
    contexts: Floats, actions: ArrayLike, rewards: ArrayLike, propensities: ArrayLike
) -> Floats:
    """The doubly robust reward (rows × arms) of every arm in every row, with a constant in
    `contexts`; arms are the actions in their order.

    >>> rows = np.ones((4, 1))
    >>> result = earnings_of(rows, ["a", "b", "a", "b"], [1.0, 0.0, 1.0, 0.0], [0.5] * 4)
    >>> result.shape, result[:, 1].tolist()
    ((4, 2), [0.0, 0.0, 0.0, 0.0])
    """
    names, played = np.unique(np.asarray(actions).ravel(), return_inverse=True)
    earned, chance = _column("rewards", rewards), _column("propensities", propensities)
    if not len(played) == len(earned) == len(chance) == len(contexts):
        given = f"{len(contexts)} rows, {len(played)} actions, {len(earned)} rewards"
        raise SettingError(f"{given} and {len(chance)} propensities: give as many of all")
    if not ((chance > 0.0) & (chance <= 1.0)).all():
        raise SettingError("propensities are the chances of what was played: above 0, at most 1")
    guesses = np.zeros((len(contexts), len(names)))
    half = np.arange(len(contexts)) % 2 == 0
    for learnt, used in ((half, ~half), (~half, half)):
        for arm in range(len(names)):
            own = learnt & (played == arm)
            guesses[used, arm] = contexts[used] @ _ridge(contexts[own], earned[own])
    rows = np.arange(len(contexts))
    guesses[rows, played] += (earned - guesses[rows, played]) / chance
    return guesses


def _ridge(contexts: Floats, earned: Floats) -> Floats:
    gram = contexts.T @ contexts + _RIDGE * np.eye(contexts.shape[1])
    return np.asarray(np.linalg.solve(gram, contexts.T @ earned), dtype=np.float64)


def _column(name: str, given: Any) -> Floats:
    try:
        result = np.asarray(given, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        result = np.full(1, np.nan)
    if not np.isfinite(result).all():
        raise SettingError(f"{name} of a log are finite numbers, one for every row")
    return result
