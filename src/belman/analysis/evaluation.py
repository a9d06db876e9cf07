"""What another policy would have earned, from a log of decisions whose chances are known.

A row has the arm that was played, its reward, and the chance with which that arm was chosen. With
the weight w of a row, the target's chance of its arm over the logged one, the mean of w·r is the
target's value (IPS). Divided by the mean weight it varies less, and is slightly biased
(self-normalised). The doubly robust estimate adds what a model foretells of all arms and weighs
only what the model missed. The model of a row is fitted to the rows before it, so that every term
has the target's value as its mean, whatever the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman import frames
from belman.analysis.columns import ARM, REWARD, found_column
from belman.analysis.comparing import any_look_score
from belman.errors import ArmError, SettingError, listing, nearest
from belman.escaping import for_terminal
from belman.frames import Frame, together
from belman.measures.report import plain
from belman.measures.sequences import policy_value_sequence
from belman.table import Table

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Ends = tuple[float, float]
Target = str | Mapping[Any, float] | Callable[[Mapping[str, Any]], Any] | ArrayLike

CHANCE = (
    "chance", "propensity", "propensity_score", "pscore", "probability", "action_probability",
    "action_prob", "prob",
)  # fmt: skip
_FIRST = 64  # rows before the model is first fitted; then again at twice as many
_MOST_LEVELS = 20  # of a context that is a text
_RIDGE = 1.0
_ALIKE = 5.0  # standard errors within which the mean weight has to be 1


class Value(NamedTuple):
    """An estimate of a policy's value: its error, and ends at one look and at any look, which are
    `exact` for rewards in a known range and else asymptotic.
    """

    estimator: str
    value: float
    error: float
    one_look: Ends
    any_look: Ends
    exact: bool


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The value of a policy by three estimators, beside what was earned.

    Attributes
    ----------
    rows
        How many rows the estimates rest on.
    logged
        The average reward of these rows.
    effective
        How many rows of the target policy itself they are worth.
    mean_weight
        The average of the weights; it is near 1 where the logged chances are right.
    values
        The estimates: "IPS", "self-normalised" and "doubly robust", with "steady" behind them where
        the rows come from several versions of weights.
    level
        The probability of intervals.
    warnings
        What speaks against the estimates, as sentences.
    """

    rows: int
    logged: float
    effective: float
    mean_weight: float
    values: tuple[Value, ...]
    level: float
    warnings: tuple[str, ...] = ()

    def __getitem__(self, estimator: str) -> Value:
        for one in self.values:
            if one.estimator == estimator:
                return one
        known = [one.estimator for one in self.values]
        raise SettingError(f"estimator {estimator!r} is unknown: there are {listing(known)}")

    @property
    def sentence(self) -> str:
        """The doubly robust estimate in words."""
        best = self["doubly robust"]
        low, high = best.one_look
        side = "more" if best.value >= self.logged else "less"
        sure = "" if not low <= self.logged <= high else "; that may be luck"
        return (
            f"The policy would have earned {best.value:.4g} a decision ({low:.4g} to {high:.4g}), "
            f"{abs(best.value - self.logged):.3g} {side} than the {self.logged:.4g} that was "
            f"earned{sure}."
        )

    def table(self) -> Table:
        """Tabulate the estimates.

        Returns
        -------
        Table
            A row for each estimator: its value and standard error, and intervals at one look and at
            any look.
        """
        rows = self.values
        return Table(
            {
                "estimator": [one.estimator for one in rows],
                "value": [one.value for one in rows],
                "error": [one.error for one in rows],
                "low": [one.one_look[0] for one in rows],
                "high": [one.one_look[1] for one in rows],
                "at any look": [f"{one.any_look[0]:.4g} to {one.any_look[1]:.4g}" for one in rows],
                "which is": ["exact" if one.exact else "asymptotic" for one in rows],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data.

        Returns
        -------
        dict
            Its parts by name.
        """
        return {
            "sentence": self.sentence,
            "rows": self.rows,
            "logged": self.logged,
            "effective": self.effective,
            "mean_weight": self.mean_weight,
            "level": self.level,
            "values": [{k: plain(v) for k, v in one._asdict().items()} for one in self.values],
            "warnings": list(self.warnings),
        }

    def _repr_html_(self) -> str:
        return f"<p>{self.sentence}</p>{self.table()._repr_html_()}"

    def __str__(self) -> str:
        worth = f"{self.rows:,} rows, worth {self.effective:,.0f} of the policy itself."
        warned = [f"! {words}" for words in self.warnings]
        return "\n".join([*map(for_terminal, (self.sentence, *warned, worth)), str(self.table())])

    __repr__ = __str__


def evaluate(
    data: Any,
    policy: Target,
    *,
    arm: str | None = None,
    reward: str | None = None,
    chance: str | None = None,
    context: Sequence[str] = (),
    range: tuple[float, float] | None = None,
    predictions: ArrayLike | None = None,
    unit: str | None = None,
    level: float = 0.95,
) -> Evaluation:
    """Say what a policy would have earned, from any log with chances.

    Parameters
    ----------
    data
        A table: a file, a data frame, columns by name or rows, in the order of time.
    policy
        The policy that is asked about: the name of an arm; shares by arm; a function of a row's
        context that returns an arm or shares; or an array of chances, a row each and a column for
        each arm, arms in the order in which they appear.
    arm, reward, chance
        The columns; by default found by the names that such columns have.
    context
        Columns that were known when a decision was made: a function sees them, and the model of
        the doubly robust estimate.
    range
        The ends between which rewards lie, for ends at any look that are exact; (0, 1) where all
        rewards are 0 or 1.
    predictions
        Expected rewards by row and arm, if you have a model; it must not have seen its own row.
    unit
        The column of whom arms were given to, where some have several rows: errors then count
        each of them once.
    level
        The probability of intervals.

    Returns
    -------
    Evaluation
        Estimates by several methods, each with intervals for one look and for any look.

    >>> rng = np.random.default_rng(7)
    >>> arms = rng.choice(["a", "b"], 4_000, p=[0.8, 0.2])
    >>> log = {"arm": arms, "chance": np.where(arms == "a", 0.8, 0.2),
    ...     "reward": rng.random(4_000) < np.where(arms == "a", 0.2, 0.3)}
    >>> result = evaluate(log, "b")
    >>> low, high = result["doubly robust"].one_look
    >>> result.logged < low < 0.3 < high
    True
    """
    if not 0.0 < level < 1.0:
        raise SettingError(f"level={level!r} is not valid: it must lie between 0 and 1")
    frame = data if isinstance(data, Frame) else frames.read(data)
    frame.require(*context, *(name for name in (arm, reward, chance, unit) if name is not None))
    arm = arm or found_column(frame, ARM, "arms", "arm=")
    reward = reward or found_column(frame, REWARD, "rewards", "reward=")
    chance = chance or found_column(frame, CHANCE, "chances", "chance=")
    names, rewards, chances = together(
        lambda: frame.names(arm), lambda: frame.numbers(reward), lambda: _chances(frame, chance)
    )
    arms = list(dict.fromkeys(names))
    position = {name: i for i, name in enumerate(arms)}
    played = np.array([position[name] for name in names], dtype=np.int64)
    target = target_of(policy, frame, arms, context)
    weights = target[np.arange(played.size), played] / chances
    if predictions is None:
        believed = foretold(features_of(frame, context), played, rewards, len(arms))
    else:
        believed = np.asarray(predictions, dtype=np.float64)
        if believed.shape != target.shape:
            raise SettingError(f"predictions have the shape {believed.shape}: give {target.shape}")
    owners = None if unit is None else positions_of(frame.names(unit))
    ends = ends_of(rewards, range)
    return evaluation_of(rewards, weights, target, believed, played, ends, level, owners)


def positions_of(names: Sequence[Any]) -> Whole:
    """The place of each name among all of them, in the order in which they appear."""
    position = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return np.array([position[name] for name in names], dtype=np.int64)


def ends_of(rewards: Floats, given: Ends | None) -> Ends | None:
    """The ends between which rewards lie: those that were given, or 0 and 1."""
    return (0.0, 1.0) if given is None and np.isin(rewards, (0.0, 1.0)).all() else given


def _chances(frame: Frame, name: str) -> Floats:
    result = frame.numbers(name)
    wrong = np.flatnonzero(~((result > 0.0) & (result <= 1.0)))
    if wrong.size:
        raise frames.refusal(
            frame.source,
            wrong.tolist(),
            lambda i: f"row {i + 1}: {name} {result[i]:g} is not a chance above 0, and up to 1",
        )
    return result


# The policy that is asked about


def target_of(policy: Target, frame: Frame, arms: list[str], context: Sequence[str]) -> Floats:
    """The chances of every arm in every row."""
    size = len(frame)
    if isinstance(policy, (str, Mapping)):
        return np.tile(_shares(policy, arms), (size, 1))
    if callable(policy):
        columns = [frame.values(name) for name in context]
        known: dict[Any, Floats] = {}
        result = np.empty((size, len(arms)))
        for i, row in enumerate(zip(*columns, strict=True) if columns else ((),) * size):
            if row not in known:
                known[row] = _shares(policy(dict(zip(context, row, strict=True))), arms)
            result[i] = known[row]
        return result
    table = np.asarray(policy, dtype=np.float64)
    if table.shape != (size, len(arms)):
        give = f"a row for each of {size:,} and a column for each of {listing(arms)}"
        raise SettingError(f"the policy has the shape {table.shape}: give {give}")
    if not ((table >= 0.0).all() and np.allclose(table.sum(1), 1.0, atol=1e-6)):
        raise SettingError("the chances of a policy must not be negative, and add up to 1")
    return table


def _shares(given: Any, arms: list[str]) -> Floats:
    """The chances of all arms, from the name of one or from shares by arm."""
    if not isinstance(given, Mapping):
        given = {given: 1.0}
    result = np.zeros(len(arms))
    for name, share in given.items():
        if str(name) not in arms:
            there = f"the log has {listing(arms)}{nearest(name, arms)}"
            raise ArmError(f"the policy plays {name!r}, which was never played: {there}")
        result[arms.index(str(name))] = float(share)
    if not (result >= 0.0).all() or not math.isclose(result.sum(), 1.0, abs_tol=1e-6):
        raise SettingError(f"the shares of a policy are {dict(given)}: they must add up to 1")
    return result


# What a model foretells


def features_of(frame: Frame, context: Sequence[str]) -> Floats:
    """Numbers about their mean, a column for each of the commonest texts, and a constant."""
    columns = [np.ones(len(frame))]
    for name in context:
        values = frame.values(name)
        if all(isinstance(one, (int, float, type(None))) for one in values):
            numbers = np.array([np.nan if one is None else float(one) for one in values])
            numbers = np.where(np.isnan(numbers), np.nanmean(numbers), numbers)
            spread = float(numbers.std())
            if spread > 0.0:
                columns.append((numbers - numbers.mean()) / spread)
            continue
        texts = np.array([str(one) for one in values])
        levels, counts = np.unique(texts, return_counts=True)
        usual = levels[np.argsort(-counts, kind="stable")[1:_MOST_LEVELS]]
        columns += [(texts == level).astype(np.float64) for level in usual]
    return np.stack(columns, axis=1)


def foretold(features: Floats, played: Whole, rewards: Floats, arms: int) -> Floats:
    """Expected rewards of all arms in every row, by least squares on the rows before it.

    An arm's coefficients are drawn towards those of all arms, whose constant is not drawn to 0.
    """
    size, width = features.shape
    result = np.zeros((size, arms))
    ridge = _RIDGE * np.eye(width)
    free = ridge.copy()
    free[0, 0] = 1e-9
    start = min(_FIRST, size)
    while start < size:
        stop = min(2 * start, size)
        x, y, of = features[:start], rewards[:start], played[:start]
        common = np.linalg.solve(x.T @ x + free, x.T @ y)
        rest = y - x @ common
        for a in range(arms):
            own = x[of == a]
            slope = np.linalg.solve(own.T @ own + ridge, own.T @ rest[of == a])
            result[start:stop, a] = features[start:stop] @ (common + slope)
        start = stop
    return result


# Estimates


def evaluation_of(
    rewards: Floats,
    weights: Floats,
    target: Floats,
    believed: Floats,
    played: Whole,
    ends: Ends | None,
    level: float,
    units: Whole | None = None,
    steady: Floats | None = None,
) -> Evaluation:
    """Estimate the value of a policy from arrays with a row a decision, in the order of time.

    Errors are those of `units`, where these are given. `steady` weighs rows by what was known
    before they came: the estimate `steady` is the doubly robust one with these weights.
    """
    size = rewards.size
    weighted = weights * rewards
    mean_weight = float(weights.mean())
    owners = np.arange(size) if units is None else np.unique(units, return_inverse=True)[1]
    exact = None
    if ends is not None:
        low, high = ends
        if not low < high or not ((rewards >= low) & (rewards <= high)).all():
            raise SettingError(f"range={ends!r} does not hold all rewards: give (low, high)")
        if int(owners.max()) + 1 == size:  # or else a row is foretold by those of its unit
            scaled = (rewards - low) / (high - low)
            result = policy_value_sequence(scaled, weights, 1.0 - level)
            exact = (low + (high - low) * result[0], low + (high - low) * result[1])
    own = float(weighted.sum() / weights.sum()) if mean_weight > 0.0 else math.nan
    residual = (weighted - own * weights) / (mean_weight or math.nan)
    rows = np.arange(size)
    robust = (target * believed).sum(1) + weights * (rewards - believed[rows, played])
    values = [
        _value("IPS", float(weighted.mean()), weighted, level, exact, owners),
        _value("self-normalised", own, residual, level, None, owners),
        _value("doubly robust", float(robust.mean()), robust, level, None, owners),
    ]
    if steady is not None:
        even = steady / steady.mean()
        centre = float((even * robust).mean())
        values.append(_value("steady", centre, even * (robust - centre), level, None, owners))
    squares = float((weights**2).sum())
    effective = float(weights.sum()) ** 2 / squares if squares else 0.0
    warnings = []
    error = _error(weights, owners)
    if abs(mean_weight - 1.0) > _ALIKE * error + 1e-9:
        warnings.append(
            f"Weights are {mean_weight:.3g} on average, and should be 1: the logged chances are "
            "not those of the arms that were played, or the policy plays what the log never does."
        )
    if effective < 100.0:
        warnings.append(
            f"The log is worth {effective:.0f} rows of the policy: intervals of so few mislead."
        )
    return Evaluation(
        size, float(rewards.mean()), effective, mean_weight, tuple(values), level, tuple(warnings)
    )


def _error(terms: Floats, owners: Whole) -> float:
    """The standard error of the mean of terms, those of an owner together; NaN of one owner."""
    sums = np.bincount(owners, weights=terms - terms.mean())
    if sums.size < 2:
        return math.nan
    return math.sqrt(float((sums**2).sum()) * sums.size / (sums.size - 1.0)) / terms.size


def _value(
    name: str, value: float, terms: Floats, level: float, exact: Ends | None, owners: Whole
) -> Value:
    """An estimate that is the mean of terms, or has their error."""
    from scipy.special import ndtri

    error = _error(terms, owners)
    score = float(ndtri(0.5 + 0.5 * level))
    far = max(any_look_score(int(owners.max()) + 1, 1.0 - level), score)
    one, ever = ((value - width * error, value + width * error) for width in (score, far))
    return Value(name, value, error, one, exact or ever, exact is not None)
