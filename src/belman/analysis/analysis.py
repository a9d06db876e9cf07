"""The report on a table: a verdict, what became of its rows, and every metric beside control."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from belman.analysis.comparing import Comparison
from belman.analysis.one_look import OneLook
from belman.analysis.rows import Account
from belman.measures import sentences
from belman.measures.report import Report, plain
from belman.measures.segments import Segments
from belman.measures.sentences import Words, percent
from belman.table import Table


@dataclass(frozen=True, repr=False)
class Analysis(Report):
    """What a table says, shown alike in a terminal, a notebook, on a page and in a chat.

    Attributes
    ----------
    arms
        The report on each arm.
    control
        The arm that the others are compared with; None where there is none.
    level
        The probability of intervals.
    delta
        The chance, at most, that statements at any look are ever wrong: 1 − level.
    conversions
        Whether every reward is 0 or 1.
    minimise
        Whether rewards are costs: less is better.
    rule
        The rule that the verdict goes by.
    log_separation
        How far the rewards set the leader apart at any look, as ln of odds; None where there are no
        statements at any look.
    without_sequences
        Why there are no statements at any look; empty where there are.
    findings
        What tests of the data found, such as traffic that is not split as intended.
    notes
        What each kind of interval means, as sentences.
    comparisons
        Over how many comparisons an error at any look is counted.
    bets_on
        What statements at any look bet on: "rate", "range" or "amount"; empty where they come from
        the rewards of each arm.
    account
        How many rows were read and used, and why the others were dropped.
    metric
        The metric that decides.
    per
        What is counted as one: "row", or the column of units.
    comparison
        The comparison that decides, at one look: the leader beside control, or control that leads
        beside its nearest rival. None where there is a single arm.
    beside
        Every metric and arm beside control.
    segments
        The lifts within each part, for every column of `by`.
    holdout
        All other arms together beside the holdout; None where there is none.

    >>> import belman
    >>> result = belman.analyse({"variant": ["old", "new"], "visitors": [10_000, 10_000],
    ...     "conversions": [300, 381]}, control="old")
    >>> print(result.account.sentence)
    2 rows read, 2 used, 0 dropped.
    """

    account: Account = field(default_factory=lambda: Account("", 0))
    metric: str = ""
    per: str = "row"
    comparison: Comparison | None = None
    beside: tuple[Comparison, ...] = ()
    segments: tuple[Segments, ...] = ()
    holdout: Comparison | None = None

    @property
    def words(self) -> Words:
        """What the quantity is called."""
        if self.conversions and not self.minimise:
            used = Words("plays", "conversion rate", "converts", "better", "worse")
        elif self.metric == "reward":
            used = sentences.words(self)
        else:
            sides = ("lower", "higher") if self.minimise else ("higher", "lower")
            used = Words("plays", self.metric, "is", *sides)
        return used._replace(plays=f"{self.per}s")

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        best, used = self.leader, self.words
        if self.others == 0:
            return f"{best.arm} is the only arm: there is nothing to compare."
        first = sentences.beside_control(self, best, used)
        if not first:
            first = f"{best.arm} is ahead so far by {used.quantity}"
        elif used.does == "is":
            first = f"{used.quantity}: {first}"
        return f"{first}; {self._end()}."

    def _end(self) -> str:
        decided = self.verdict.decided
        if any(result.alarm for result in self.findings):
            return "but the data are not sound: look at them before you decide"
        if not isinstance(self.rule, OneLook):
            return sentences.end(self)
        p_value = "" if self.comparison is None else f" (p = {self.comparison.corrected:.2g})"
        if not decided:
            return f"that may be luck{p_value}: it is too early to stop"
        if self.holds_at_any_look:
            return "that is more than luck at any look: you may stop"
        return f"that is more than luck at one look{p_value}: you may stop if this is the first"

    @property
    def holds_at_any_look(self) -> bool:
        """Whether the difference that decides also stands if the data were looked at before."""
        if self.comparison is None:
            return False
        low, high = self.comparison.any_look
        return low > 0.0 or high < 0.0

    @property
    def has_metrics(self) -> bool:
        """Whether several metrics were compared."""
        return len({row.metric for row in self.beside}) > 1

    def metrics(self) -> Table:
        """Tabulate every metric beside control, at one look and at any look.

        Returns
        -------
        Table
            A row for each metric and arm: its value, control's, the lift with both intervals and
            the p-value; * marks those that are told apart at one look.
        """
        rows = self.beside
        return Table(
            {
                "metric": [row.metric for row in rows],
                "arm": [row.arm for row in rows],
                "value": [row.value for row in rows],
                f"{rows[0].against if rows else 'control'}": [row.other for row in rows],
                "lift": [_lift(row) for row in rows],
                "one look": [_span(row, row.relative_one_look, row.one_look) for row in rows],
                "any look": [_span(row, row.relative_any_look, row.any_look) for row in rows],
                "p": [float(f"{row.corrected:.3g}") for row in rows],
                "": ["*" if row.corrected <= self.delta else "" for row in rows],
            },
            f"Metrics beside control, with errors that {len(rows)} comparisons share",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data.

        Returns
        -------
        dict
            Its parts by name.
        """
        lifts = [one.to_dict() for one in self.beside]
        return {
            **super().to_dict(),
            "rows": self.account.to_dict(),
            "metric": self.metric,
            "per": self.per,
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
            "metrics": lifts,
            "segments": {
                part.attribute: {
                    "sentence": part.sentence,
                    "rows": [{k: plain(v) for k, v in row.items()} for row in part.table()],
                }
                for part in self.segments
            },
            "holdout": None if self.holdout is None else self.holdout.to_dict(),
        }

    @property
    def holdout_sentence(self) -> str:
        """What all arms together do beside the holdout."""
        if (result := self.holdout) is None:
            return ""
        size = _span(result, result.relative_one_look, result.one_look)
        what = f"{_lift(result)} beside {result.against}, the holdout ({size})"
        sure = "that may be luck" if result.p_value > self.delta else "that is not luck"
        return f"All other arms together: {what}; {sure} (p = {result.p_value:.2g})."

    def to_markdown(self) -> str:
        """Return text for a chat: the verdict, a table, alarms, and what became of the rows.

        Returns
        -------
        str
            Markdown.
        """
        from belman.analysis import texts

        return texts.markdown(self)

    def to_html(self, title: str = "Report") -> str:
        """Return a page that needs nothing from elsewhere.

        Parameters
        ----------
        title
            The title of the page.

        Returns
        -------
        str
            HTML.
        """
        from belman.analysis import texts
        from belman.measures import report_page

        return report_page.page(title, texts.sections(self))

    def to_pdf(self, file: str | PathLike[str], title: str = "Report") -> None:
        """Write the report as a PDF, on pages of A4.

        Parameters
        ----------
        file
            The path of the file, which is replaced if it exists.
        title
            The title of the first page.
        """
        from belman.analysis import pdf

        pdf.write(self, file, title)

    def _repr_html_(self) -> str:
        from belman.analysis import texts

        return "".join(texts.sections(self))

    def __str__(self) -> str:
        from belman.analysis import texts

        return texts.terminal(self)

    __repr__ = __str__


def _lift(row: Comparison) -> str:
    return sentences.plain(row.difference) if row.relative is None else percent(row.relative)


def _span(row: Comparison, share: Any, ends: tuple[float, float]) -> str:
    if row.relative is None or share is None:
        return f"{sentences.plain(ends[0])} to {sentences.plain(ends[1])}"
    return f"{percent(share[0])} to {percent(share[1])}"
