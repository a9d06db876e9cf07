"""A report in plain words: what was found, and what each kind of statement means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from belman.families import Bounded
from belman.families.family import Family
from belman.measures.soundness import LATE

if TYPE_CHECKING:
    from belman.measures.report import ArmReport, Report


class Words(NamedTuple):
    """What things are called where the family makes it true."""

    plays: str
    quantity: str
    does: str
    better: str
    worse: str


def words(report: Report) -> Words:
    """Impressions and conversions for coins that were never a share; else rewards or costs."""
    if report.conversions and not report.minimise:
        return Words("impressions", "conversion rate", "converts", "better", "worse")
    if report.minimise:
        return Words("plays", "expected cost", "costs", "less", "more")
    return Words("plays", "expected reward", "earns", "more", "less")


def percent(share: float) -> str:
    """A share as people write it, with a sign.

    >>> percent(0.274), percent(-0.0312), percent(math.inf), percent(0.00012)
    ('+27.4 %', '−3.1 %', '∞', '+0.012 %')
    """
    if not math.isfinite(share):
        return "∞" if share > 0.0 else "−∞"
    return f"{'−' if share < 0.0 else '+'}{_digits(abs(share))} %"


def plain(value: float) -> str:
    """A difference with its sign.

    >>> plain(0.25), plain(-3.0)
    ('+0.25', '−3')
    """
    if not math.isfinite(value):
        return "∞" if value > 0.0 else "−∞"
    return f"{'−' if value < 0.0 else '+'}{abs(value):.4g}"


def _digits(share: float) -> str:
    hundredths = 100.0 * share
    return f"{hundredths:.1f}" if hundredths >= 0.95 or hundredths == 0.0 else f"{hundredths:.2g}"


def _size(value: float, relative: bool) -> str:
    if not math.isfinite(value):
        return "infinitely"
    if not relative:
        return f"{abs(value):.4g}"
    hundredths = abs(100.0 * value)
    return f"{hundredths:,.0f} %" if hundredths >= 1.5 else f"{hundredths:.2g} %"


def verdict(report: Report) -> str:
    """The sentence of a report."""
    best, used = report.leader, words(report)
    if not any(arm.plays for arm in report.arms):
        return "No reward was told yet: all that is known are the priors."
    if report.others == 0:
        return f"{best.arm} is the only arm: there is nothing to decide."
    last = end(report)
    doubt = f"the chance that anything else is better is {chance(1.0 - best.chance_best)}"
    compared = beside_control(report, best, used)
    if compared:
        return f"{compared}; {doubt}; {last}."
    first = f"{best.arm} {used.does} {'least' if report.minimise else _most(used)} so far"
    loss = f"choosing it now is expected to lose {best.expected_loss:.3g} a turn"
    return f"{first}; {doubt}; {loss}; {last}."


def end(report: Report) -> str:
    """Whether one may stop; an alarm comes before that."""
    if not report.verdict.decided:
        return "it is too early to stop"
    unsound = any(finding.alarm for finding in report.findings)
    if unsound:
        return "but the data are not sound: look at them before you stop"
    if not report.rule.guaranteed:
        return "given the prior, you may stop"
    late = any(finding.question == LATE for finding in report.findings)
    return "you may stop" + ", if rewards come as late for one arm as for another" * late


def _most(used: Words) -> str:
    return "best" if used.better == "better" else "most"


def beside_control(report: Report, best: ArmReport, used: Words) -> str:
    """How the leader, or the nearest rival of a control that leads, does beside control."""
    if report.control is None:
        return ""
    arm, start = best, ""
    if best.arm == report.control:
        rivals = [other for other in report.arms if other.arm != report.control]
        arm = max(rivals, key=lambda other: other.chance_best)
        start = f"{best.arm}, the control, is ahead: "
    if arm.lift is None:
        return ""
    relative = arm.lift.relative is not None
    result = arm.lift.relative or arm.lift.absolute
    sign = -1.0 if report.minimise else 1.0
    middle, low, high = (sign * value for value in result)
    low, high = min(low, high), max(low, high)
    side = used.better if middle >= 0.0 else used.worse
    span = _span(low, high, relative, used)
    size = _size(middle, relative)
    return f"{start}{arm.arm} {used.does} {size} {side} than {report.control}, {span}"


def _span(low: float, high: float, relative: bool, used: Words) -> str:
    near, far = _size(low, relative), _size(high, relative)
    if low >= 0.0:
        return f"between {near} and {far} {used.better}"
    if high <= 0.0:
        return f"between {far} and {near} {used.worse}"
    return f"between {near} {used.worse} and {far} {used.better}"


def share(value: float) -> str:
    """A share of 1 without a sign.

    >>> share(0.0986), share(0.0), share(2.7e-7)
    ('9.9 %', '0.0 %', 'below 0.001 %')
    """
    return "below 0.001 %" if 0.0 < value < 1e-5 else f"{_digits(value)} %"


def chance(share: float) -> str:
    """A chance in words; best probabilities are known to a thousandth.

    >>> chance(0.0002), chance(0.36), chance(0.9972), chance(0.9999)
    ('below 0.1 %', '36 %', '99.7 %', 'above 99.9 %')
    """
    if share > 0.999:
        return "above 99.9 %"
    if share < 0.001:
        return "below 0.1 %"
    return f"{100.0 * share:.2g} %" if share < 0.995 else f"{100.0 * share:.3g} %"


def notes(
    level: float, without: str, conversions: bool, family: Family, bets_on: str = ""
) -> tuple[str, ...]:
    """What each kind of statement of a report means, and why it is `without` some."""
    percent = f"{100.0 * level:.4g} %"
    credible = (
        f"Credible intervals ({percent}), chances and expected losses are what the beliefs say "
        "now, given the prior. They are right on average over the prior; for one fixed truth, an "
        "interval that is looked at again and again until it pleases errs more often than its "
        "level says."
    )
    if bets_on:
        return (credible, _OF_BETS.format(percent=percent) + _OF_KINDS[bets_on])
    if without:
        return (credible, f"There are no intervals at any look: {without}.")
    distribution = _assumption(family, conversions)
    anytime = (
        f"Intervals 'at any look' ({percent} each) are confidence sequences: whatever the truth, "
        f"the chance that one is ever wrong is at most {100.0 * (1.0 - level):.4g} %, however "
        f"often one looks and whatever the policy does, if {distribution}, and the prior was not "
        "chosen by looking at these rewards."
    )
    return (credible, anytime)


_OF_BETS = (
    "Lifts 'at any look' ({percent} for all comparisons together) come from bets on the arm that "
    "each outcome came from, by the chances with which arms were drawn: they hold however often "
    "one looks, whatever the policy does and whatever the prior is, "
)
_OF_KINDS = {
    "rate": "also while rates change, if the lift stays the same.",
    "range": "also while means change, if the lift stays the same and rewards lie in their range.",
    "amount": (
        "in the limit of many outcomes; that arms differ at all is said with a guarantee at any "
        "number of them."
    ),
}


def _assumption(family: Family, conversions: bool) -> str:
    bare = getattr(family, "of", family)
    if conversions:
        return "an arm's chance to convert stays the same"
    if bare.coin or isinstance(bare, Bounded):
        return "rewards of an arm are independent, within their range, and keep their mean"
    distribution = {"gaussian": "Gaussian", "gaussian-unknown": "Gaussian"}.get(
        bare.name, bare.name
    )
    return f"rewards of an arm are independent and {distribution}, of one distribution"
