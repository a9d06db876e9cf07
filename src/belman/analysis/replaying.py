"""What would a bandit have earned on a past A/B test? In earnings, by playing the test again.

Rows of an arm are shuffled and come in that order, each at most once, until as many decisions are
made as the arm with the fewest rows has rows: then no arm runs out, whatever is played, and what
is earned is what the bandit would have earned on as many new visitors, on average. No row is drawn
twice, so that a lucky arm is not taken for a good one by those who know its average.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.analysis.columns import roles
from belman.analysis.estimates import Metric, sample
from belman.analysis.known import Kind, kind_of
from belman.analysis.rows import Account, Rows, read_rows
from belman.errors import SettingError
from belman.escaping import for_terminal
from belman.families import Bernoulli, Family, GaussianUnknown, Money
from belman.frames import Frame
from belman.frames import read as read_frame
from belman.policies import BelMan, Policy
from belman.problems.replayed import MOST, Replayed
from belman.table import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class WhatIf:
    """What each player would have earned in as many `decisions`, beside an even split.

    Attributes
    ----------
    players
        The names of the players (P); the first is the even split.
    decisions
        How many decisions each replay has.
    earned
        What each player earned in each replay (P × replays).
    shown
        The share of decisions that each player gave to each arm (P × K).
    arms
        The names of the arms (K).
    account
        How many rows were read and used, and why the others were dropped.
    family
        The name of the family that players believe rewards to be of.
    """

    players: tuple[str, ...]
    decisions: int
    earned: Floats
    shown: Floats
    arms: tuple[str, ...]
    account: Account
    family: str

    @property
    def sentence(self) -> str:
        """What the first bandit would have earned, in words."""
        split, bandit = self.earned[0].mean(), self.earned[1].mean()
        gains = self.earned[1] - self.earned[0].mean()
        low, high = np.quantile(gains, (0.05, 0.95))
        share = f" ({100.0 * (bandit / split - 1.0):+.3g} %)" if split > 0.0 else ""
        return (
            f"In {self.decisions:,} decisions {self.players[1]} would have earned {bandit:,.4g}, "
            f"and an even split {split:,.4g}: {bandit - split:+,.3g}{share}; in nine of ten "
            f"replays between {low:+,.3g} and {high:+,.3g}."
        )

    def table(self) -> Table:
        """Tabulate the earnings, on average over the replays.

        Returns
        -------
        Table
            A row for each player: what it earned in all and a decision, how much more than an even
            split (with ends that nine of ten replays lie between), and the traffic of every arm.
        """
        split = self.earned[0].mean()
        rows = list(range(len(self.players)))
        columns: dict[str, list[Any]] = {
            "player": list(self.players),
            "earned": [float(self.earned[i].mean()) for i in rows],
            "a decision": [float(self.earned[i].mean()) / self.decisions for i in rows],
            "more than even": [float(self.earned[i].mean() - split) for i in rows],
            "low": [float(np.quantile(self.earned[i], 0.05) - split) for i in rows],
            "high": [float(np.quantile(self.earned[i], 0.95) - split) for i in rows],
        }
        for a, name in enumerate(self.arms):
            columns[f"to {name}"] = [f"{100.0 * self.shown[i, a]:.0f} %" for i in rows]
        return Table(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data.

        Returns
        -------
        dict
            Its parts by name.
        """
        return {
            "sentence": self.sentence,
            "decisions": self.decisions,
            "replays": int(self.earned.shape[1]),
            "family": self.family,
            "rows": self.account.to_dict(),
            "players": [dict(row) for row in self.table()],
        }

    def __str__(self) -> str:
        said = map(for_terminal, (self.sentence, self.account.sentence, *self.account.said))
        return "\n".join([next(said), str(self.table()), *said])

    __repr__ = __str__


def what_if(
    data: Any,
    policies: dict[str, Policy] | None = None,
    *,
    arm: str | None = None,
    reward: str | None = None,
    unit: str | None = None,
    empty: str | None = None,
    family: Family | None = None,
    replays: int = 40,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> WhatIf:
    """Replay a past test with bandits in place of its split.

    Each replay shuffles the rows of every arm, and uses each of them at most once. Rewards must not
    depend on when they came.

    Parameters
    ----------
    data
        A table with a row for each decision: a file, a data frame, columns by name or rows.
    policies
        The policies that play, by name; by default BelMan.
    arm, reward
        The columns; by default found by the names that such columns have.
    unit
        A column, such as user_id: all rows of a unit are then one decision.
    empty
        What an empty reward is: "zero", or "missing"; by default the column tells.
    family
        What players believe rewards to be; by default a family that suits the data.
    replays
        How many replays there are, from 1 up.
    seed
        A whole number; the same seed gives the same result.
    progress
        A function that is called after each replay, with how many are done.

    Returns
    -------
    WhatIf
        The earnings of each player in each replay, beside those of an even split.

    Raises
    ------
    SettingError
        If the table has totals in place of rows, or fewer than two arms with two rows each.
    """
    if not isinstance(replays, int) or replays < 1:
        raise SettingError(f"replays={replays!r} is not valid: give a whole number from 1 up")
    frame = data if isinstance(data, Frame) else read_frame(data)
    role = roles(frame, arm, reward)
    if role.visitors is not None:
        raise SettingError(f"{frame.source} has totals: a replay needs a row for each decision")
    rows, account = read_rows(frame, role, [], [], unit, empty)
    told = ~np.isnan(rows.numbers[role.reward])
    account.drop(f"without a {role.reward}", int((~told).sum()))
    rows = rows.where(told)
    account.used = len(rows)
    metric = Metric.read(role.reward)
    made = sample(rows, metric, None)
    values = [made.sums[made.arms == a] for a in range(len(rows.names))]
    least = min(part.size for part in values)
    if len(values) < 2 or least < 2:
        raise SettingError(f"{frame.source} needs two arms with some rows each, to be replayed")
    distribution = family or _fitting(rows, metric, made.sums, kind_of(rows, metric, made))
    decisions = min(least, MOST // len(values))
    if decisions < least:
        account.said.append(f"Each replay draws {decisions:,} rows of every arm.")
    players: dict[str, Policy] = dict(policies or {"BelMan": BelMan()})
    from belman.lab import simulate  # its extra is needed by those who replay

    earned, shown = np.zeros((len(players), replays)), np.zeros((len(players), len(values)))
    rng = np.random.default_rng(seed)
    for i in range(replays):
        orders = (rng.permutation(part)[:decisions] for part in values)
        drawn = tuple(tuple(part.tolist()) for part in orders)
        problem = Replayed(distribution, drawn, rows.names, order="kept")
        luck = int(rng.integers(2**31))
        result = simulate(players, problem, decisions, 1, luck, progress=False)
        earned[:, i] = result.reward.isel(turn=-1, run=0).values
        shown += result.plays.isel(run=0).values
        if progress is not None:
            progress(i + 1)
    shown /= shown.sum(1, keepdims=True)
    even = np.array([sum(part.mean() for part in values) / len(values) * decisions] * replays)
    return WhatIf(
        ("even split", *players),
        decisions,
        np.vstack([even, earned]),
        np.vstack([np.full(len(values), 1.0 / len(values)), shown]),
        rows.names,
        account,
        distribution.name,
    )


def _fitting(rows: Rows, metric: Metric, values: Floats, kind: Kind) -> Family:
    """What players believe of rewards, on the scale of the data."""
    if kind is Kind.COIN:
        return Bernoulli()
    if kind is Kind.MONEY:
        return Money(typical=float(np.median(values[values > 0.0])))
    return GaussianUnknown(prior=(float(values.mean()), 0.1, 1.0, float(values.var()) or 1.0))
