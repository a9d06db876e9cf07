"""An analysis while it is put together: arms with enough rows, estimates, verdict, words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from belman.analysis import checks
from belman.analysis.analysis import Analysis
from belman.analysis.beside import Beside
from belman.analysis.comparing import Comparison
from belman.analysis.estimates import Estimates, Metric, Sample
from belman.analysis.known import Kind, kind_of, known_by
from belman.analysis.one_look import OneLook
from belman.analysis.rows import Account, Rows
from belman.analysis.splitting import segments_by
from belman.errors import SettingError
from belman.families import Family
from belman.measures.lift import Units
from belman.measures.report import ArmReport, Report, report
from belman.measures.segments import compared
from belman.measures.soundness import Finding
from belman.measures.stop_rules import StopRule

_LARGE_SAMPLES = (
    "Intervals ({percent}) are those of means of large samples with a flat prior: they hold at one "
    "look, and chances and expected losses are read from them."
)


class Making:
    """One analysis while it is made."""

    def __init__(
        self,
        rows: Rows,
        account: Account,
        wanted: list[Metric],
        unit: str | None,
        before: str | None,
        level: float,
        minimise: bool,
    ) -> None:
        self.rows, self.account, self.wanted = rows, account, wanted
        self.unit, self.before, self.level, self.minimise = unit, before, level, minimise
        self.is_totals = rows.counts is not None
        self.units = Units(0.0, -1.0 if minimise else 1.0)

    def analysis(
        self,
        control: str | None,
        holdout: str | None,
        family: Family | None,
        rule: StopRule | None,
        split: Mapping[str, float] | str | None,
        by: Sequence[str],
        repeated: Finding | None,
    ) -> Analysis:
        """Put all of it together."""
        metric, everything = self.wanted[0], self.rows
        result = [checks.sample_ratio(everything, split)]
        shares = checks.intended(split, everything.names)
        # bets rest on the intended shares: where the rows contradict these, nobody may bet on them
        named = {} if result[0].alarm else dict(zip(everything.names, shares, strict=True))
        beside = Beside(self.wanted, self.before, self.level, named, self.account)
        told = everything.told(metric.columns)
        if not told.all():
            result.append(checks.missing(everything, told))
        self.account.drop(f"without a {metric.column}", (~told).sum())
        if not told.any():
            raise SettingError(f"no row has a {metric.column}: there is nothing to report")
        chosen = everything.where(told)
        self._one_row_each(checks.arms_with_rows(chosen))
        chosen = self._with_a_second(chosen)
        self.account.used = len(chosen)
        kept_out = beside.holdout(chosen, metric, holdout) if holdout else None
        rows = checks.arms_with_rows(_without(chosen, holdout))
        if control is not None and control not in rows.names:
            raise SettingError(f"control {control!r} has too few rows: {self.account.sentence}")
        whole, made = beside.estimates(rows, metric)
        kind = kind_of(rows, metric, made)
        if kind is Kind.MONEY:
            self.account.said.append(checks.money_words(metric.column, rows, made))
        if made is not None and made.before is not None:
            result.append(checks.balanced(self.before or "", made, rows.names))
            self._say_gain(whole, made)
        known = known_by(kind, rows, metric, made, whole, family, self.minimise)
        bets = None
        if family is None and metric.cap is None:
            bets = beside.bets(rows, control, kind, made, whole)
        rule = rule or OneLook(round(1.0 - self.level, 12))
        base = report(known, control, self.level, rule, result, bets=bets)
        pair = tuple(rows.names.index(str(name)) for name in compared(base)) if base.others else ()
        if pair:
            base = replace(base, findings=(*result, *checks.over_time(rows, metric, made, pair)))
        if repeated is not None:
            base = replace(base, findings=(repeated, *base.findings))
        comparisons = beside.comparisons(rows, control, whole, kind, bets)
        decisive = beside.decisive(base, rows, whole, kind, bets)
        arms = tuple(_with_any_look(one, comparisons, metric.text) for one in base.arms)
        plain = {one.name: getattr(base, one.name) for one in fields(Report)}
        return Analysis(
            **{**plain, "arms": arms, "notes": self._notes(base, kind, family)},
            account=self.account,
            metric=metric.text,
            per=self._per,
            comparison=decisive,
            beside=tuple(comparisons),
            segments=tuple(
                segments_by(name, rows, metric, kind, base, self.units, self.account) for name in by
            ),
            holdout=kept_out,
        )

    # Parts

    def _one_row_each(self, rows: Rows) -> None:
        """Refuse what looks like totals whose visitors are in a column of another name."""
        if not self.is_totals and len(rows) <= 2 * len(rows.names) and len(rows) < 10:
            raise SettingError(
                f"{self.account.source} has {len(rows)} rows for {len(rows.names)} arms: if they "
                "are totals, write --visitors and --reward with the columns of visitors and of "
                "conversions (and --squares for sums of amounts)"
            )

    def _with_a_second(self, rows: Rows) -> Rows:
        """Leave out arms of a single unit, which has no error: typing mistakes, tests of a test."""
        keep = np.ones(len(rows), dtype=np.bool_)
        for position, count in enumerate(checks.units_by_arm(rows)):
            if count == 1:
                lost = rows.arms == position
                keep &= ~lost
                why = f"of {rows.names[position]}, which has a single {self._per}"
                self.account.drop(why, int(lost.sum()))
        if not keep.any():
            raise SettingError(f"no arm has a second {self._per}: there is nothing to report")
        return rows.where(keep)

    @property
    def _per(self) -> str:
        return "visitor" if self.is_totals else _one(self.unit)

    def _say_gain(self, whole: Estimates, made: Sample) -> None:
        gain = whole.gain or 0.0
        assert made.before is not None
        lacking = int(np.isnan(made.before).sum())
        words = f"{self.before} explains {100.0 * gain:.0f} % of the variance (CUPED)"
        worth = f"as much as {1.0 / max(1.0 - gain, 1e-9):.2g} times the data"
        gaps = f"; {lacking:,} without it count as average" if lacking else ""
        self.account.said.append(f"{words}: {worth}{gaps}.")

    def _notes(self, base: Report, kind: Kind, family: Family | None) -> tuple[str, ...]:
        if kind is Kind.COIN or family is not None:
            return base.notes
        percent = f"{100.0 * self.level:.4g} %"
        if base.bets_on:
            return (_LARGE_SAMPLES.format(percent=percent), *base.notes[1:])
        return (
            _LARGE_SAMPLES.format(percent=percent),
            f"Intervals 'at any look' ({percent}) are asymptotic: they hold at every look at once "
            "as far as means of that number of units are normal, which is not proved.",
        )


def _without(rows: Rows, holdout: str | None) -> Rows:
    return rows if holdout is None else rows.where(rows.arms != rows.names.index(holdout))


def _one(unit: str | None) -> str:
    if unit is None:
        return "row"
    return "block" if unit.startswith("time:") else unit.removesuffix("_id")


def _with_any_look(one: ArmReport, result: Sequence[Comparison], metric: str) -> ArmReport:
    """An arm with intervals at any look by large samples, where its family has none."""
    for row in result:
        if row.arm == one.arm and row.metric == metric and one.anytime_lift is None:
            return replace(one, anytime_lift=row.any_look, anytime_relative=row.relative_any_look)
    return one
