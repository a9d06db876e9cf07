"""The verdict: by how much, how sure, may one stop; as a table, as data, as a page, as a sentence.

Every arm has two kinds of statement. *Credible* ones come from the beliefs: given the prior, they
hold now. *Anytime* ones are confidence sequences: they hold at every look at once, whatever the
truth, and are wider for it. A report says which is which.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman import spec
from belman.errors import ArmError, listing, nearest, unknown
from belman.escaping import for_terminal
from belman.families.family import Family
from belman.measures import bet_intervals, sentences, sequences
from belman.measures.best import best_probabilities, expected_losses
from belman.measures.bets import ArmBets
from belman.measures.lift import OWN, Interval, Lift, Units, lift
from belman.measures.martingales import Martingale, Mixture, mixture, no_mixture
from belman.measures.mean_tables import tabulated
from belman.measures.soundness import Finding
from belman.measures.stop_rules import Separated, StopRule, Sure, Verdict
from belman.table import Table

Floats = NDArray[np.float64]
Ends = tuple[float, float]


@dataclass(frozen=True)
class Known:
    """What is known of some arms, on the scale of the family.

    Parameters
    ----------
    family
        The family of the rewards.
    arms
        Names.
    priors
        The prior of each arm.
    beliefs
        The belief about each arm.
    plays
        The number of rewards of each arm.
    sums
        Their sums.
    squares
        The sums of their squares.
    units
        How rewards look to the user.
    faded
        Why rewards are not told as they came (a discount); empty where they are.
    """

    family: Family
    arms: Sequence[Hashable]
    priors: Floats
    beliefs: Floats
    plays: Floats
    sums: Floats
    squares: Floats
    units: Units = OWN
    faded: str = ""

    @property
    def conversions(self) -> bool:
        """Whether every reward was a coin's 0 or 1, on no other scale."""
        bare = getattr(self.family, "of", self.family)
        counted = self.units.offset == 0.0 and abs(self.units.slope) == 1.0
        exact = np.array_equal(np.abs(self.sums), self.squares)
        return bool(bare.coin and counted and exact)


@dataclass(frozen=True)
class ArmReport:
    """One arm: what is believed, what holds at any look, and both beside control.

    Parameters
    ----------
    arm
        The name of the arm.
    plays
        How many rewards it had.
    average
        Their average.
    expected
        The expected reward.
    credible
        The ends of its credible interval.
    chance_best
        The probability that the arm is the best.
    expected_loss
        How much less a decision earns with this arm than with the best one, on average.
    lift
        The lift over control; None for control itself.
    anytime
        The ends of an interval of the mean that holds at any look.
    anytime_lift
        The ends of an interval of the difference to control that holds at any look.
    anytime_relative
        The ends of an interval of the difference as a share of control's mean that holds at any
        look.
    """

    arm: Hashable
    plays: float
    average: float
    expected: float
    credible: Ends
    chance_best: float
    expected_loss: float
    lift: Lift | None = None
    anytime: Ends | None = None
    anytime_lift: Ends | None = None
    anytime_relative: Ends | None = None

    def beside_control(self, relative: bool) -> tuple[Interval | None, Ends | None]:
        """Return the lift and its ends at any look; None for control.

        Parameters
        ----------
        relative
            Whether as shares of control's mean, or as differences.

        Returns
        -------
        tuple
            The interval, and the ends.
        """
        if self.lift is None:
            return None, None
        if relative:
            return self.lift.relative, self.anytime_relative
        return self.lift.absolute, self.anytime_lift


@dataclass(frozen=True)
class Report:
    """What one may say now: `sentence` says it in words; `table`, `to_dict` and `to_html` say all.

    Attributes
    ----------
    arms
        What is said of each arm.
    control
        The arm that the others are compared with; None without one.
    level
        The probability of credible intervals, and of intervals at any look.
    delta
        1 − `level`: the chance that an interval at any look ever misses.
    conversions
        Whether every reward is 0 or 1.
    minimise
        Whether less is better.
    rule
        The stopping rule that the verdict goes by.
    log_separation
        ln of the evidence that the arm most likely the best is apart from the others (from control,
        where bets are kept and it is not control). None without such evidence.
    without_sequences
        Why there are no intervals at any look; empty where there are.
    findings
        What tests of the data found.
    notes
        What a reader has to know of the numbers, in sentences.
    comparisons
        Over how many comparisons an error is counted.
    bets_on
        "rate", "range" or "amount", where intervals at any look come from bets on the arm; empty
        where they come from the rewards of each arm.

    >>> import belman
    >>> agent = belman.Agent(["blue", "green"], control="blue", seed=7,
    ...     start={"blue": (10_000, 300), "green": (10_000, 381)})
    >>> print(agent.report().sentence)
    green converts 27 % better than blue, between 9 % and 47 % better; the chance that anything else
    is better is below 0.1 %; given the prior, you may stop.
    """

    arms: tuple[ArmReport, ...]
    control: Hashable | None
    level: float
    delta: float
    conversions: bool
    minimise: bool
    rule: StopRule
    log_separation: float | None
    without_sequences: str
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = field(default=())
    #: Comparisons over which an error is counted, and the kind of the bets that intervals at any
    #: look come from; empty where they come from the rewards of each arm.
    comparisons: int = 1
    bets_on: str = ""

    @property
    def leader(self) -> ArmReport:
        """The arm that is most likely the best."""
        return max(self.arms, key=lambda arm: arm.chance_best)

    @property
    def others(self) -> int:
        """How many arms there are beside one."""
        return len(self.arms) - 1

    @property
    def farthest_lift(self) -> float | None:
        """How far any arm's mean may be from control's at any look, as a share of it; None where
        that is not known.
        """
        others = [arm.anytime_relative for arm in self.arms if arm.arm != self.control]
        if self.control is None or not others or not all(others):
            return None
        return max(abs(end) for ends in others if ends for end in ends)

    @property
    def relative(self) -> bool:
        """Whether every lift can be told as a share of the control's mean."""
        return all(arm.lift is None or arm.lift.relative is not None for arm in self.arms)

    @property
    def verdict(self) -> Verdict:
        """What the stopping rule says now."""
        return self.rule.decided(self)

    @property
    def words(self) -> sentences.Words:
        """What plays and their rewards are called."""
        return sentences.words(self)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return sentences.verdict(self)

    def __getitem__(self, arm: Hashable) -> ArmReport:
        for result in self.arms:
            if result.arm == arm:
                return result
        raise ArmError(unknown("arm", arm, [result.arm for result in self.arms], "this report has"))

    def table(self) -> Table:
        """Return the report as a table.

        Returns
        -------
        Table
            A row for each arm.
        """
        names = self.words
        columns: dict[str, list[Any]] = {
            "arm": [arm.arm for arm in self.arms],
            names.plays: [round(arm.plays) for arm in self.arms],
            names.quantity: [arm.expected for arm in self.arms],
            "low": [arm.credible[0] for arm in self.arms],
            "high": [arm.credible[1] for arm in self.arms],
        }
        if self.control is not None:
            lifts = [arm.lift for arm in self.arms]
            chosen, ends = zip(
                *(arm.beside_control(self.relative) for arm in self.arms), strict=True
            )
            style = sentences.percent if self.relative else sentences.plain
            columns["lift"] = [style(result.middle) if result else "–" for result in chosen]
            columns["lift low"] = [style(result.low) if result else "–" for result in chosen]
            columns["lift high"] = [style(result.high) if result else "–" for result in chosen]
            columns["P(beats control)"] = [
                math.nan if result is None else round(result.beats, 6) for result in lifts
            ]
            columns["lift at any look"] = [
                f"{style(result[0])} to {style(result[1])}" if result else "–" for result in ends
            ]
        else:
            columns["at any look"] = [
                f"{result.anytime[0]:.4g} to {result.anytime[1]:.4g}" if result.anytime else "–"
                for result in self.arms
            ]
        columns["P(best)"] = [round(arm.chance_best, 6) for arm in self.arms]
        columns["expected loss"] = [arm.expected_loss for arm in self.arms]
        return Table(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data.

        Returns
        -------
        dict
            Its parts by name.
        """
        verdict = self.verdict
        return {
            "sentence": self.sentence,
            "decided": verdict.decided,
            "arm": plain(verdict.arm),
            "why": verdict.sentence,
            "rule": spec.describe(self.rule),
            "control": plain(self.control),
            "level": self.level,
            "delta": self.delta,
            "minimise": self.minimise,
            "arms": [_arm(arm) for arm in self.arms],
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Return the report as JSON.

        Returns
        -------
        str
            The text.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)

    def to_html(self, title: str = "Report") -> str:
        """Write the report as a page that needs nothing from elsewhere.

        Parameters
        ----------
        title
            The title of the page.

        Returns
        -------
        str
            The page, as HTML.
        """
        from belman.measures import report_page

        return report_page.page(title, [report_page.section(self)])

    def _repr_html_(self) -> str:
        from belman.measures import report_page

        return report_page.section(self)

    def __str__(self) -> str:
        alarms = [
            f"! {result.sentence} {result.look_at}" for result in self.findings if result.alarm
        ]
        said = map(for_terminal, (self.sentence, *alarms, *self.notes))
        return "\n".join([next(said), str(self.table()), *said])

    __repr__ = __str__


def plain(value: Any) -> Any:
    """A value as JSON holds it: infinite numbers, and what JSON lacks, are words."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _arm(arm: ArmReport) -> dict[str, Any]:
    result = {name: plain(value) for name, value in vars(arm).items() if name != "lift"}
    result["lift"] = None
    if arm.lift is not None:
        parts = (("absolute", arm.lift.absolute), ("relative", arm.lift.relative))
        result["lift"] = {
            name: part and {"middle": plain(part.middle), "credible": plain(part[1:])}
            for name, part in parts
        }
        result["lift"]["beats"] = arm.lift.beats
    return result


def report(
    known: Known,
    control: Hashable | None = None,
    level: float = 0.95,
    stop_when: StopRule | None = None,
    findings: Sequence[Finding] = (),
    most: int | None = None,
    bets: ArmBets | None = None,
    positions: Sequence[int] | None = None,
) -> Report:
    """Report on every arm, beside a control if there is one.

    Of very many arms only some get lifts and intervals that hold at any look, which take longest to
    find.

    Parameters
    ----------
    known
        What is known of the arms.
    control
        The arm that the others are compared with.
    level
        The probability of credible intervals, and of intervals at any look (δ = 1 − level), for
        every interval by itself.
    stop_when
        The rule that the verdict goes by.
    findings
        What tests of the data found.
    most
        How many arms get lifts and intervals at any look, beside control: those that are most
        likely the best. With 0 none does, unless the stopping rule reads them.
    bets
        Bets on rewards as the user counts them: lifts at any look and separation come from them
        where chances are known of most outcomes. They hold whatever the prior, also if rates
        change, and for all comparisons at once.
    positions
        The positions of the arms in the bets.

    Returns
    -------
    Report
        The report.

    Raises
    ------
    ArmError
        If control is not one of the arms.
    """
    units, delta = known.units, 1.0 - level
    arms = list(known.arms)
    if control is not None and control not in arms:
        play = f"there are {listing(arms)}{nearest(control, arms)}"
        raise ArmError(f"control={control!r} is not one of the arms: {play}")
    distributions, rows = tabulated(known.family, known.beliefs)
    chances = best_probabilities(distributions, rows)
    losses = expected_losses(distributions, rows, units)
    ends = zip(*distributions.mean_intervals(rows, 0.5 * delta), strict=True)
    without = known.faded or no_mixture(known.family)
    base = None if control is None else arms.index(control)
    rule = stop_when or Sure(level)
    shown = None if most == 0 and rule.reads_lifts else most
    full = set(np.argsort(-chances, kind="stable")[:shown].tolist())
    if full:
        full.add(base)
    wagers = _Wagers.of(known, bets, positions, base)
    martingales = None
    if not without and not (wagers and wagers.bets.kind != "amount"):
        martingales = [_martingale(known, a) for a in range(len(arms))]
    asks_lifts = isinstance(stop_when, Separated) and stop_when.within > 0.0
    result = []
    for a, (arm, tails) in enumerate(zip(arms, ends, strict=True)):
        beside: dict[str, Any] = {}
        if base is not None and a != base and a in full:
            beside["lift"] = lift(distributions, rows[a], rows[base], level, units)
        if wagers and wagers.bets.kind != "amount" and a in full:
            beside["anytime"] = bet_intervals.mean(wagers.bets, wagers.positions[a], level)
        elif martingales and a in full:
            beside["anytime"] = sequences.mean_sequence(martingales[a], delta)
        if base is not None and a != base and (a in full or (wagers and asks_lifts)):
            if wagers:
                beside |= wagers.lifts(a, base, level)
            elif martingales:
                pair = (martingales[a], martingales[base])
                beside["anytime_lift"] = sequences.difference_sequence(*pair, delta)
                beside["anytime_relative"] = sequences.ratio_sequence(*pair, delta)
        plays = float(known.plays[a])
        average = units.shown(float(known.sums[a]) / plays) if plays else math.nan
        expected = units.shown(distributions.expected_reward(rows[a]))
        low, high = sorted(units.offset + units.slope * float(tail) for tail in tails)
        chance, loss = float(chances[a]), float(losses[a])
        result.append(ArmReport(arm, plays, average, expected, (low, high), chance, loss, **beside))
    leader, apart = int(np.argmax(chances)), None
    if wagers:
        apart = wagers.apart(leader, base, units.minimise)
    elif martingales:
        apart = _apart(martingales, leader, units.minimise)
    kind = wagers.bets.kind if wagers else ""
    return Report(
        tuple(result),
        control,
        level,
        delta,
        known.conversions,
        units.minimise,
        rule,
        apart,
        "" if wagers else without,
        tuple(findings),
        sentences.notes(level, without, known.conversions, known.family, kind),
        wagers.bets.comparisons if wagers else max(len(arms) - 1, 1),
        kind,
    )


@dataclass(frozen=True)
class _Wagers:
    """Bets that hold for the arms of a report, and the position of each of them there."""

    bets: ArmBets
    positions: Sequence[int]

    @classmethod
    def of(
        cls, known: Known, bets: ArmBets | None, positions: Sequence[int] | None, base: int | None
    ) -> _Wagers | None:
        """Return them if chances are known of most outcomes, be they such that an arm had none: an
        arm that the policy has left keeps what was bet on it.
        """
        if bets is None or len(known.arms) < 2:
            return None
        where = range(len(known.arms)) if positions is None else positions
        if bets.control is not None and (base is None or where[base] != bets.control):
            return None
        held = bets.outcomes >= 0.5 * float(known.plays.sum()) > 0.0
        return cls(bets, where) if held else None

    def lifts(self, a: int, base: int, level: float) -> dict[str, Ends | None]:
        """Return how an arm does beside control at any look."""
        pair = (self.positions[a], level, self.positions[base])
        relative = bet_intervals.lift(self.bets, *pair)
        difference = bet_intervals.difference(self.bets, *pair)
        return {
            "anytime_lift": difference[1:],
            "anytime_relative": None if relative is None else relative[1:],
        }

    def apart(self, leader: int, base: int | None, minimise: bool) -> float:
        """Return how far the leader is from control, or, if it is control or there is none, from
        the nearest of all others.
        """
        others = [base] if base is not None and base != leader else range(len(self.positions))
        return min(
            bet_intervals.log_better(
                self.bets, self.positions[leader], self.positions[other], least=minimise
            )
            for other in others
            if other != leader
        )


def _martingale(known: Known, a: int) -> Martingale:
    """What the rewards of an arm say against a mean, as the user counts it."""
    plays = float(known.plays[a])
    average = float(known.sums[a]) / plays if plays else 0.0
    own = mixture(known.family, known.priors[a], known.beliefs[a], plays, average)
    offset, slope = known.units
    low, high = sorted(offset + slope * end for end in own.ends)
    return Mixture(
        offset + slope * own.centre, (low, high), lambda mean: own.log((mean - offset) / slope)
    )


def _apart(martingales: Sequence[Martingale], leader: int, minimise: bool) -> float:
    """How far every other arm is from the leader, in logarithms of odds; 0 for one ahead of it."""
    best = martingales[leader]
    others = [other for position, other in enumerate(martingales) if position != leader]
    return min(
        (
            sequences.log_separation([best, other])
            if (other.centre > best.centre if minimise else other.centre < best.centre)
            else 0.0
            for other in others
        ),
        default=math.inf,
    )
