"""Metrics of arms beside control: estimates, bets on the arm of every outcome, comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from belman.analysis.comparing import Comparison, compare
from belman.analysis.estimates import (
    Estimates,
    Metric,
    Sample,
    covered,
    estimate,
    from_totals,
    sample,
)
from belman.analysis.known import Kind, kind_of
from belman.analysis.one_look import rates_differ
from belman.analysis.rows import Account, Rows
from belman.measures import bet_intervals
from belman.measures.bets import ArmBets
from belman.measures.report import Report
from belman.measures.segments import compared

_MOST_BETS = 12  # arms; beyond, intervals at any look are by large samples alone


@dataclass(frozen=True)
class Beside:
    """What arms are compared by: the metrics of which the first decides, a covariate from before,
    the level, and the intended shares of traffic.
    """

    wanted: list[Metric]
    before: str | None
    level: float
    shares: Mapping[str, float]
    account: Account

    def estimates(self, rows: Rows, metric: Metric) -> tuple[Estimates, Sample | None]:
        """Return the means of a metric, and the sample that they are of; totals have none."""
        if rows.counts is not None:
            whole = from_totals(rows, metric.column)
            covered(rows.names, whole, metric.text)
            return whole, None
        made = sample(rows, metric, self.before)
        whole = estimate(made, metric, len(rows.names))
        covered(rows.names, whole, metric.text)
        return whole, made

    def bets(
        self, rows: Rows, control: str | None, kind: Kind, made: Sample | None, whole: Estimates
    ) -> ArmBets | None:
        """Bets on the arm of every outcome, by the intended shares; None where a metric has none:
        ratios, percentiles, totals of amounts, and what a covariate was taken out of.
        """
        shares = [self.shares.get(name, 0.0) for name in rows.names]
        if len(rows.names) < 2 or len(rows.names) > _MOST_BETS or not min(shares) > 0.0:
            return None
        base = None if control is None else rows.names.index(control)
        if kind is Kind.COIN:
            bets = ArmBets(len(rows.names), base)
            won = [round(one.value * one.units) for one in whole.arms]
            lost = [one.units - count for one, count in zip(whole.arms, won, strict=True)]
            bets.add_counts(shares, won, lost)
            return bets
        if made is None or made.values is not None or made.before is not None:
            return None
        if not (made.sizes == 1.0).all():
            return None
        bets = ArmBets(len(rows.names), base, "amount")
        order = slice(None) if made.times is None else np.argsort(made.times, kind="stable")
        bets.add_many(made.arms[order], shares, made.sums[order])
        return bets

    def comparisons(
        self, rows: Rows, control: str | None, first: Estimates, kind: Kind, bets: ArmBets | None
    ) -> list[Comparison]:
        """Every metric of every arm beside control, at an error that all share."""
        if control is None:
            return []
        others = [name for name in rows.names if name != control]
        among, result = len(others) * len(self.wanted), []
        for position, metric in enumerate(self.wanted):
            whole = first
            if position:
                told = rows.told(metric.columns)
                if not told.all():
                    gone = f"{int((~told).sum()):,} rows without it are left out of {metric.text}."
                    self.account.said.append(gone)
                part = rows.where(told)
                whole, made = self.estimates(part, metric)
                kind = kind_of(part, metric, made)
                bets = None if metric.cap else self.bets(part, control, kind, made, whole)
            for name in others:
                positions = (rows.names.index(name), rows.names.index(control))
                result.append(self.compare(metric, rows, positions, whole, kind, among, bets))
        return result

    def compare(
        self,
        metric: Metric,
        rows: Rows,
        positions: tuple[int, int],
        whole: Estimates,
        kind: Kind,
        among: int,
        bets: ArmBets | None,
    ) -> Comparison:
        """Compare the arms at two places."""
        names = (rows.names[positions[0]], rows.names[positions[1]])
        pair = [whole.arms[position] for position in positions]
        one = compare(metric.text, names, pair[0], pair[1], 1.0 - self.level, among)
        if bets is not None:
            asked = (bets, positions[0], self.level, positions[1], among)
            ratio = bet_intervals.lift(*asked)
            one = one._replace(
                any_look=bet_intervals.difference(*asked)[1:],
                relative_any_look=None if ratio is None else ratio[1:],
            )
        if kind is Kind.COIN:
            exact = rates_differ(*((round(part.value * part.units), part.units) for part in pair))
            one = one._replace(p_value=exact, corrected=min(exact * among, 1.0))
        return one

    def decisive(
        self, base: Report, rows: Rows, whole: Estimates, kind: Kind, bets: ArmBets | None
    ) -> Comparison | None:
        """The leader beside control, or beside the runner-up."""
        if not base.others:
            return None
        leader, other = (rows.names.index(str(name)) for name in compared(base))
        positions = (leader, other)
        if base.control is not None and base.leader.arm == base.control:
            positions = (other, leader)
        among = base.others * len(self.wanted)
        return self.compare(self.wanted[0], rows, positions, whole, kind, among, bets)

    def holdout(self, rows: Rows, metric: Metric, holdout: str) -> Comparison:
        """Compare all other arms together with one that was kept out of everything."""
        position = rows.names.index(holdout)
        arms = (rows.arms == position).astype(np.int64)
        two = replace(rows, names=("all others", holdout), arms=arms)
        whole, made = self.estimates(two, metric)
        kind = kind_of(two, metric, made)
        return self.compare(metric, two, (0, 1), whole, kind, 1, None)
