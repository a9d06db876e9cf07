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
from belman.errors import ArmError, listing, nearest
from belman.families.family import Family
from belman.measures import sentences, sequences
from belman.measures.best import best_probabilities, expected_losses
from belman.measures.lift import OWN, Interval, Lift, Units, lift
from belman.measures.martingales import Martingale, Mixture, mixture, no_mixture
from belman.measures.soundness import Finding
from belman.measures.stop_rules import StopRule, Sure, Verdict
from belman.table import Table

Floats = NDArray[np.float64]
Ends = tuple[float, float]


@dataclass(frozen=True)
class Known:
    """What is known of some arms: a family, names, and per arm prior, belief, plays and sums.

    Sums and squares are of rewards on the scale of the family. `faded` says why the rewards are not
    told as they came (a discount); empty where they are.
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
    """One arm: what is believed, what holds at any look, and both beside control."""

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
        """The lift, and its ends at any look, as shares of the control's mean or as differences;
        None for control.
        """
        if self.lift is None:
            return None, None
        if relative:
            return self.lift.relative, self.anytime_relative
        return self.lift.absolute, self.anytime_lift


@dataclass(frozen=True)
class Report:
    """What one may say now. `sentence` says it in words; `table`, `to_dict` and `to_html` say all.

    >>> import belman
    >>> agent = belman.Agent(["blue", "green"], control="blue", seed=7,
    ...     start={"blue": (10_000, 300), "green": (10_000, 381)})
    >>> print(agent.report().sentence)
    green converts 27 % better than blue, between 9 % and 47 % better; the chance that anything else
    is better is below 0.1 %; you may stop.
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

    @property
    def leader(self) -> ArmReport:
        """The arm that is most likely the best."""
        return max(self.arms, key=lambda arm: arm.chance_best)

    @property
    def others(self) -> int:
        """How many arms there are beside one."""
        return len(self.arms) - 1

    @property
    def relative(self) -> bool:
        """Whether every lift can be told as a share of the control's mean."""
        return all(arm.lift is None or arm.lift.relative is not None for arm in self.arms)

    @property
    def verdict(self) -> Verdict:
        """What the stopping rule says now."""
        return self.rule.decided(self)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return sentences.verdict(self)

    def __getitem__(self, arm: Hashable) -> ArmReport:
        for found in self.arms:
            if found.arm == arm:
                return found
        names = [found.arm for found in self.arms]
        known = f"this report has {listing(names)}{nearest(arm, names)}"
        raise ArmError(f"unknown arm {arm!r}: {known}")

    def table(self) -> Table:
        """One row an arm; `low` and `high` are credible, `from … to` holds at any look."""
        names = sentences.words(self)
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
            columns["lift"] = [style(found.middle) if found else "–" for found in chosen]
            columns["lift low"] = [style(found.low) if found else "–" for found in chosen]
            columns["lift high"] = [style(found.high) if found else "–" for found in chosen]
            columns["P(beats control)"] = [
                math.nan if found is None else round(found.beats, 6) for found in lifts
            ]
            columns["lift at any look"] = [
                f"{style(found[0])} to {style(found[1])}" if found else "–" for found in ends
            ]
        else:
            columns["at any look"] = [
                f"{found.anytime[0]:.4g} to {found.anytime[1]:.4g}" if found.anytime else "–"
                for found in self.arms
            ]
        columns["P(best)"] = [round(arm.chance_best, 6) for arm in self.arms]
        columns["expected loss"] = [arm.expected_loss for arm in self.arms]
        return Table(columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds it; infinite numbers are words."""
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
        """The same as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)

    def to_html(self, title: str = "Report") -> str:
        """A page that needs nothing from elsewhere."""
        from belman.measures import report_page

        return report_page.page(title, [report_page.section(self)])

    def _repr_html_(self) -> str:
        from belman.measures import report_page

        return report_page.section(self)

    def __str__(self) -> str:
        alarms = [f"! {found.sentence} {found.look_at}" for found in self.findings if found.alarm]
        return "\n".join([self.sentence, str(self.table()), *alarms, *self.notes])

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
    found = {name: plain(value) for name, value in vars(arm).items() if name != "lift"}
    found["lift"] = None
    if arm.lift is not None:
        parts = (("absolute", arm.lift.absolute), ("relative", arm.lift.relative))
        found["lift"] = {
            name: part and {"middle": plain(part.middle), "credible": plain(part[1:])}
            for name, part in parts
        }
        found["lift"]["beats"] = arm.lift.beats
    return found


def report(
    known: Known,
    control: Hashable | None = None,
    level: float = 0.95,
    stop_when: StopRule | None = None,
    findings: Sequence[Finding] = (),
    most: int | None = None,
) -> Report:
    """The report of what is known, beside a control if there is one.

    Credible intervals have this level, and anytime ones as well: δ = 1 − level, for every interval
    by itself. Of very many arms only the `most` that are most likely the best, and control, are
    given lifts and intervals that hold at any look, which take longest to find.
    """
    units, delta = known.units, 1.0 - level
    arms = list(known.arms)
    if control is not None and control not in arms:
        play = f"there are {listing(arms)}{nearest(control, arms)}"
        raise ArmError(f"control={control!r} is not one of the arms: {play}")
    chances = best_probabilities(known.family, known.beliefs)
    losses = expected_losses(known.family, known.beliefs, units)
    ends = zip(*known.family.mean_intervals(known.beliefs, 0.5 * delta), strict=True)
    without = known.faded or no_mixture(known.family)
    martingales = None if without else [_martingale(known, a) for a in range(len(arms))]
    base = None if control is None else arms.index(control)
    full = set(np.argsort(-chances, kind="stable")[:most].tolist()) | {base}
    found = []
    for a, (arm, tails) in enumerate(zip(arms, ends, strict=True)):
        beside: dict[str, Any] = {}
        if base is not None and a != base and a in full:
            beside["lift"] = lift(known.family, known.beliefs[a], known.beliefs[base], level, units)
        if martingales and a in full:
            beside["anytime"] = sequences.mean_sequence(martingales[a], delta)
        if martingales and base is not None and a != base and a in full:
            pair = (martingales[a], martingales[base])
            beside["anytime_lift"] = sequences.difference_sequence(*pair, delta)
            beside["anytime_relative"] = sequences.ratio_sequence(*pair, delta)
        plays = float(known.plays[a])
        average = units.shown(float(known.sums[a]) / plays) if plays else math.nan
        expected = units.shown(known.family.expected_reward(known.beliefs[a]))
        low, high = sorted(units.offset + units.slope * float(tail) for tail in tails)
        chance, loss = float(chances[a]), float(losses[a])
        found.append(ArmReport(arm, plays, average, expected, (low, high), chance, loss, **beside))
    return Report(
        tuple(found),
        control,
        level,
        delta,
        known.conversions,
        units.minimise,
        stop_when or Sure(level),
        _apart(martingales, int(np.argmax(chances)), units.minimise) if martingales else None,
        without,
        tuple(findings),
        sentences.notes(level, without, known.conversions, known.family),
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
    others = [other for place, other in enumerate(martingales) if place != leader]
    return min(
        (
            sequences.log_separation([best, other])
            if (other.centre > best.centre if minimise else other.centre < best.centre)
            else 0.0
            for other in others
        ),
        default=math.inf,
    )
