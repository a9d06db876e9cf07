"""The time machine: the chance of every past assignment, from public hashes and from the rules that
held at its time; and what another policy would have earned.

Where units were assigned by a hash, everybody can draw their lots again. A row of a log whose arm
is not the one that its unit's hash gives was assigned by something else; such rows are counted by
reason, and too many of them are an error. Rows without a lot (no rule targets them, they lie
outside of the coverage, their value was forced) say nothing of other arms, and are set aside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman import frames
from belman.analysis.columns import ARM, REWARD, TIME, UNIT, found_column
from belman.analysis.evaluation import (
    Ends,
    Evaluation,
    Target,
    ends_of,
    evaluation_of,
    features_of,
    foretold,
    positions_of,
    target_of,
)
from belman.analysis.lots import Lots, drawn_again, drop
from belman.analysis.past import Log, Past
from belman.analysis.rows import Account
from belman.errors import SettingError, listing
from belman.escaping import for_terminal
from belman.frames import Frame, together
from belman.table import Table

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_ARM = ("variation", "variation_id", "variation_key", *ARM)
_UNIT = ("unit", "id", *UNIT)
_TOPIC = (
    "feature", "feature_id", "feature_key", "experiment", "experiment_id", "experiment_key",
    "study",
)  # fmt: skip
_UNEVEN = 4.5  # standard deviations from which shares of arms are not those of the chances


@dataclass(frozen=True, repr=False)
class TimeMachine:
    """What a log says once the chances of its rows are known.

    Attributes
    ----------
    arms
        The names of the arms (K).
    rows
        The positions in the table of the rows that were used, in the order of time (n).
    played
        The arm of each of them, as a position in `arms` (n).
    chances
        The chance that every arm had in each row (n × K).
    versions
        The version that assigned each row, as a position in the history (n).
    units
        How many units the rows are of.
    rewards
        The columns of rewards.
    evaluations
        The value of each policy, by its name and the column of rewards.
    account
        How many rows were read and used, and why the others were dropped.
    """

    arms: tuple[str, ...]
    rows: Whole
    played: Whole
    chances: Floats
    versions: Whole
    units: int
    rewards: tuple[str, ...]
    evaluations: dict[tuple[str, str], Evaluation]
    account: Account

    @property
    def sentence(self) -> str:
        """How much of the log was assigned as hashes say, and by how many versions."""
        used, count = self.account.used, np.unique(self.versions).size
        by = "one version" if count == 1 else f"{count:,} versions"
        return (
            f"{used:,} assignments of {self.units:,} units were drawn again, by {by} of the rules; "
            f"their arms had chances from {self._logged.min():.3g} to {self._logged.max():.3g}."
        )

    @property
    def _logged(self) -> Floats:
        result: Floats = self.chances[np.arange(self.rows.size), self.played]
        return result

    def __getitem__(self, policy: str) -> Evaluation:
        for (name, _), one in self.evaluations.items():
            if name == policy:
                return one
        known = dict.fromkeys(name for name, _ in self.evaluations)
        raise SettingError(f"policy {policy!r} was not asked about: there are {listing(known)}")

    def columns(self) -> dict[str, list[Any]]:
        """Return arms and chances by row, as `belman.evaluate` takes them.

        Returns
        -------
        dict
            Columns by title: `row` (its position in the table), `arm` and `chance`.
        """
        return {
            "row": self.rows.tolist(),
            "arm": [self.arms[position] for position in self.played.tolist()],
            "chance": self._logged.tolist(),
        }

    def table(self) -> Table:
        """Tabulate what policies would have earned.

        Returns
        -------
        Table
            A row for each policy and reward: what was earned, and the doubly robust estimate with
            intervals at one look and at any look.
        """
        keys, result = list(self.evaluations), list(self.evaluations.values())
        best = [one["doubly robust"] for one in result]
        columns: dict[str, list[Any]] = {"policy": [policy for policy, _ in keys]}
        if len(self.rewards) > 1:
            columns["reward"] = [reward for _, reward in keys]
        columns |= {
            "rows": [one.rows for one in result],
            "was earned": [one.logged for one in result],
            "a decision": [one.value for one in best],
            "low": [one.one_look[0] for one in best],
            "high": [one.one_look[1] for one in best],
            "at any look": [
                f"{one['IPS'].any_look[0]:.4g} to {one['IPS'].any_look[1]:.4g}"
                if one["IPS"].exact
                else f"{of.any_look[0]:.4g} to {of.any_look[1]:.4g} (asymptotic)"
                for one, of in zip(result, best, strict=True)
            ],
        }
        if any(len(one.values) > 3 for one in result):
            steady = [one["steady"].one_look for one in result]
            columns["steady"] = [f"{low:.4g} to {high:.4g}" for low, high in steady]
        return Table(columns)

    @property
    def said(self) -> list[str]:
        """What was done with rows, and warnings."""
        warned = [
            f"! {policy}: {words}"
            for (policy, _), one in self.evaluations.items()
            for words in one.warnings
        ]
        return [self.account.sentence, *self.account.said, *warned]

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data.

        Returns
        -------
        dict
            Its parts by name.
        """
        return {
            "sentence": self.sentence,
            "rows": self.account.to_dict(),
            "arms": list(self.arms),
            "units": self.units,
            "policies": [
                {"policy": policy, "reward": reward, **one.to_dict()}
                for (policy, reward), one in self.evaluations.items()
            ],
        }

    def __str__(self) -> str:
        said = map(for_terminal, self.said)
        return "\n".join([for_terminal(self.sentence), str(self.table()), *said])

    __repr__ = __str__


def time_machine(
    data: Any,
    history: Past,
    policies: Mapping[str, Target] | None = None,
    *,
    unit: str | None = None,
    time: str | None = None,
    arm: str | None = None,
    reward: str | Sequence[str] | None = None,
    context: Sequence[str] = (),
    attributes: Mapping[str, str] | None = None,
    spelling: str | None = None,
    late: float = 0.0,
    contradicted: float = 0.01,
    range: tuple[float, float] | None = None,
    level: float = 0.95,
) -> TimeMachine:
    """Recompute the chance of every past assignment, and say what other policies would have earned.

    Parameters
    ----------
    data
        A table with a row an assignment: a file, a data frame, columns by name or rows.
    history
        By what units were assigned: `belman.bridges.growthbook_history.read_payloads(…)`, or
        `belman.analysis.weights_history.read_weights(…)` for weights documents.
    policies
        The policies that are asked about, by name, as `evaluate` takes them; by default each arm
        for everybody.
    unit, time, arm, reward
        The columns; by default found by the names that such columns have. There may be several
        rewards.
    context
        Columns that were known when a decision was made: policies see them, and the model of the
        doubly robust estimate.
    attributes
        The columns of attributes that rules look at, where they have other names.
    spelling
        What the log calls arms: "value", "key" or "index"; by default what fits all rows.
    late
        Seconds after a change during which a client may still have had what held before; rows of
        this time are set aside, whatever their arm.
    contradicted
        The largest share of rows that may have another arm than their hash gives.
    range
        The ends between which rewards lie, for ends at any look that are exact.
    level
        The level of all intervals.

    Returns
    -------
    TimeMachine
        The chances of the rows, and the value of each policy.

    Raises
    ------
    SettingError
        If columns are missing, or too many rows contradict their hashes.

    >>> from belman import Weights, assign
    >>> from belman.analysis.weights_history import read_weights
    >>> shares = {"blue": 0.75, "green": 0.25}
    >>> weights = Weights.of("checkout", shares, salt="s1", published=0.0)
    >>> log = [{"unit": i, "time": i, "arm": assign(weights, i).arm, "reward": i % 3 == 0}
    ...     for i in range(1, 1_001)]
    >>> result = time_machine(log, read_weights([weights]))
    >>> result.account.sentence, set(result.columns()["chance"])
    ('1,000 rows read, 1,000 used, 0 dropped.', {0.75, 0.25})
    >>> low, high = result["green"]["doubly robust"].one_look
    >>> low < 1 / 3 < high
    True
    """
    _check(late, contradicted, level)
    frame = data if isinstance(data, Frame) else frames.read(data)
    rewards = [reward] if isinstance(reward, str) else list(reward or ())
    frame.require(*context, *rewards, *(one for one in (unit, time, arm) if one is not None))
    unit = unit or found_column(frame, _UNIT, "units", "unit=")
    time = time or found_column(frame, TIME, "times", "time=")
    arm = arm or found_column(frame, _ARM, "variations", "arm=")
    rewards = rewards or [found_column(frame, REWARD, "rewards", "reward=")]
    log = history.checked(Log(frame, unit, dict(attributes or {})))
    names, times, *values = together(
        lambda: [text.strip() for text in map(_seen, frame.cells(arm))],
        lambda: frame.times(time, missing=True),
        *(lambda one=one: frame.numbers(one, missing=True) for one in rewards),
    )
    account = Account(frame.source, len(frame))
    chosen = _chosen(frame, history, account)
    chosen = drop(account, chosen, np.isnan(times), "without a time")
    for one, numbers in zip(rewards, values, strict=True):
        chosen = drop(account, chosen, np.isnan(numbers), f"without a {one}")
    lot = drawn_again(log, history, names, times, chosen, spelling, late, contradicted, account)
    order = lot.rows[np.argsort(times[lot.rows], kind="stable")]
    lot = lot.where(order)
    account.used = order.size
    if not order.size:
        raise SettingError(f"{account.source} has no row with a lot: {account.sentence}")
    owners = positions_of(log.hashed(unit).texts[order].tolist())
    _say(account, owners, lot)
    known = {one: frame.values(one) for one in context} or {arm: names}
    kept = {one: [cells[i] for i in order.tolist()] for one, cells in known.items()}
    part = Frame(frame.source, kept, typed=True)
    features = features_of(part, context)
    asked = policies or {name: name for name in lot.arms}
    evaluations = {}
    for one, numbers in zip(rewards, values, strict=True):
        told = _Told(lot, numbers[order], owners, part, context, features, range, level)
        for name, target in asked.items():
            evaluations[name, one] = told.of(target)
    return TimeMachine(
        lot.arms,
        order,
        lot.played,
        lot.chances,
        lot.versions,
        int(owners.max()) + 1,
        tuple(rewards),
        evaluations,
        account,
    )


def _check(late: float, contradicted: float, level: float) -> None:
    if not 0.0 < level < 1.0:
        raise SettingError(f"level={level!r} is not valid: it must lie between 0 and 1")
    if not 0.0 <= contradicted < 1.0:
        raise SettingError(f"contradicted={contradicted!r} is not valid: give a share below 1")
    if not 0.0 <= late < math.inf:
        raise SettingError(f"late={late!r} is not valid: give seconds from 0 up")


def _seen(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _chosen(frame: Frame, history: Past, account: Account) -> Whole:
    """The rows of this feature, where a column names the feature."""
    chosen = np.arange(len(frame))
    for column in (one for one in frame.columns if one.strip().casefold() in _TOPIC):
        known = {name for name in set(frame.texts(column)) if name in history.topics}
        if known:
            others = np.array([name not in history.topics for name in frame.texts(column)])
            chosen = drop(account, chosen, others, f"of another {column}")
    return chosen


def _say(account: Account, owners: Whole, lots: Lots) -> None:
    """Say of repeated units, and of arms that came more often than hashes and chances allow."""
    _, first, counts = np.unique(owners, return_index=True, return_counts=True)
    several = int((counts > 1).sum())
    if several:
        account.said.append(
            f"{several:,} units have several rows: each row counts, and errors are those of units."
        )
    chances, played = lots.chances[first], lots.played[first]
    for position, name in enumerate(lots.arms):
        own = chances[:, position]
        spread = math.sqrt(float((own * (1.0 - own)).sum()))
        came, should = int((played == position).sum()), float(own.sum())
        if abs(came - should) > _UNEVEN * spread + 1e-6:
            account.said.append(
                f"! {name} came first to {came:,} units, and by its chances to {should:,.0f}: the "
                "log lacks rows of some arms more than of others."
            )


# Policies


@dataclass(frozen=True)
class _Told:
    """Rows with a reward each, on which policies are evaluated."""

    lots: Lots
    rewards: Floats
    owners: Whole
    frame: Frame
    context: Sequence[str]
    features: Floats
    range: Ends | None
    level: float

    def of(self, policy: Target) -> Evaluation:
        """What a policy would have earned, in the rows in which its arms had a chance."""
        arms, size = list(self.lots.arms), self.rewards.size
        target = target_of(policy, self.frame, arms, self.context)
        could = ~((target > 0.0) & (self.lots.chances <= 0.0)).any(1)
        if not could.any():
            raise SettingError(
                f"policy {policy!r} plays arms that never had a chance where it does"
            )
        believed = foretold(self.features, self.lots.played, self.rewards, len(arms))
        played, chances = self.lots.played[could], self.lots.chances[could]
        mine = target[could]
        weights = mine[np.arange(played.size), played] / chances[np.arange(played.size), played]
        rewards = self.rewards[could]
        steady = self._steady(mine, chances, self.lots.versions[could])
        result = evaluation_of(
            rewards,
            weights,
            mine,
            believed[could],
            played,
            ends_of(self.rewards, self.range),
            self.level,
            self.owners[could],
            steady,
        )
        if could.all():
            return result
        lost = f"{size - int(could.sum()):,} of {size:,} rows"
        words = f"In {lost} an arm that it plays had no chance: they are left out."
        return replace(result, warnings=(*result.warnings, words))

    @staticmethod
    def _steady(target: Floats, chances: Floats, versions: Whole) -> Floats | None:
        """By how much rows of each version count for errors that are alike in all versions: by what
        their chances say of errors, which was known before any of their rewards.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(target > 0.0, target**2 / chances, 0.0).sum(1)
        positions = np.unique(versions, return_inverse=True)[1]
        if positions.max(initial=0) == 0:
            return None
        mean = np.bincount(positions, weights=parts) / np.bincount(positions)
        result: Floats = 1.0 / np.sqrt(mean[positions])
        return result
