"""The verdict on a study: an agent's report, with what became of the traffic and what it earned."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any, NamedTuple

from belman.errors import listing, shown
from belman.measures import report_page, sentences
from belman.measures.attained import Attained, attained
from belman.measures.earned import Earned, earned
from belman.measures.martingales import no_mixture
from belman.measures.report import Report, plain, report
from belman.measures.segments import Segments
from belman.measures.soundness import RISK, Finding, late_rewards
from belman.measures.stop_rules import MOST_SHARE, Separated, StopRule
from belman.studies.requests import publishing
from belman.studies.settings.checks import check_control
from belman.studies.state import State
from belman.studies.traffic import budget_views
from belman.studies.traffic.colours import Colour, colour_of
from belman.studies.traffic.evidence import MOST_ARMS
from belman.studies.traffic.tally import LATE
from belman.studies.views.study_segments import divides
from belman.table import Table

_IN_CONTEXTS = (
    "Arms were chosen by context: what each brought on average is of those whom it was shown to, "
    "and says less than what is believed in a context."
)
#: Arms that are given lifts and intervals at any look, the most likely best first, through HTTP.
MOST = 50
#: Segments whose published weights a report has a note on.
MOST_CAUTIONS = 5
#: Begins the note on a budget.
_BUDGET = "Budget: "


class Traffic(NamedTuple):
    """What became of the traffic of one arm: its place in the register and its colour, tickets that
    were asked, counted and are out, and its share of all tickets.
    """

    id: int
    colour: Colour
    asked: int
    told: int
    out: int
    share: float

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data.

        Returns
        -------
        dict
            Its parts by name.
        """
        return {**self._asdict(), "colour": self.colour._asdict()}


@dataclass(frozen=True, repr=False)
class StudyReport(Report):
    """A report on a study at one moment.

    `state` is "running", "decided", "paused" or "wrong" (something is wrong: see `findings`).
    """

    name: str = ""
    number: int = 0
    time: float = 0.0
    paused: bool = False
    traffic: dict[Hashable, Traffic] = field(default_factory=dict)
    earned: Earned | None = None
    attained: Attained | None = None
    retired: dict[Hashable, Traffic] = field(default_factory=dict)
    then: str = "say"
    shipped: Hashable | None = None
    floors: dict[Hashable, float] = field(default_factory=dict)
    guards: tuple[dict[str, Any], ...] = ()
    metrics: tuple[dict[str, Any], ...] = ()
    attributes: tuple[str, ...] = ()
    segments: Segments | None = None
    budget: dict[str, Any] | None = None
    spent: Table | None = None
    goal: str = "earn"
    promise: str = ""

    def to_html(self, title: str = "Report") -> str:
        """A page that needs nothing from elsewhere."""
        budget = [note for note in self.notes if note.startswith(_BUDGET)]
        rest = tuple(note for note in self.notes if note not in budget)
        parts = [report_page.section(replace(self, notes=rest))]
        if self.segments is not None:
            of = self.segments
            parts.append(report_page.table_section(f"By {of.attribute}", of.sentence, of.table()))
        if self.spent is not None:
            said = " ".join(budget).removeprefix(_BUDGET)
            parts.append(
                report_page.table_section("Budget", said, budget_views.with_dates(self.spent))
            )
        return report_page.page(title, parts)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        out = sum(one.out for one in self.traffic.values())
        if out and not any(arm.plays for arm in self.arms):
            return f"Nothing has counted yet: {out:,} ticket{'s are' if out != 1 else ' is'} out."
        return super().sentence

    @property
    def state(self) -> str:
        """How the study stands, in a word; what needs a person comes first."""
        if any(result.alarm for result in self.findings):
            return "wrong"
        if self.paused:
            return "paused"
        is_decided = self.shipped is not None or self.verdict.decided
        return "decided" if is_decided else "running"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data.

        Returns
        -------
        dict
            Its parts by name.
        """
        result, used = super().to_dict(), sentences.words(self)
        rows = zip(result["arms"], self.arms, strict=True)
        return {
            "name": self.name,
            "state": self.state,
            **result,
            "words": used._asdict(),
            "conversions": self.conversions,
            "arms": [{**row, **self.traffic[arm.arm].to_dict()} for row, arm in rows],
            "retired": [{"arm": plain(arm), **one.to_dict()} for arm, one in self.retired.items()],
            "earned": None if self.earned is None else self.earned.to_dict(),
            "attained": None if self.attained is None else self.attained.to_dict(),
            "goal": self.goal,
            "promise": self.promise,
            "then": self.then,
            "shipped": plain(self.shipped),
            "floors": [{"arm": plain(arm), "share": share} for arm, share in self.floors.items()],
            "guards": [{**row, "arm": plain(row["arm"])} for row in self.guards],
            "metrics": [
                {name: plain(value) for name, value in row.items()} for row in self.metrics
            ],
            "attributes": list(self.attributes),
            "segments": None if self.segments is None else self.segments.to_dict(),
            "budget": self.budget,
            "number": self.number,
            "time": self.time,
        }


def report_of(
    state: State,
    name: str,
    now: float,
    level: float = 0.95,
    control: Hashable | None = None,
    most: int | None = None,
) -> StudyReport:
    """The report on a state of this moment, beside another control than its own if one is given."""
    known, settings = state.decider.known(), state.settings
    against = check_control(control, known.arms) if control is not None else settings.control
    notes: tuple[str, ...] = (_IN_CONTEXTS,) if settings.has_contexts else ()
    if against is not None and against not in known.arms:
        notes = (f"Control {against!r} is not played any more: nothing is compared with it.",)
        against = None
    positions = [state.positions[arm] for arm in known.arms]
    bets = state.tally.bets if against is not None and against == settings.control else None
    result = report(
        known,
        against,
        level,
        settings.stop_when,
        findings(state, now, most),
        most,
        bets=bets,
        positions=positions,
    )
    if why := _without_guarantee(state, result):
        notes = (*notes, f"The verdict beside {against} has no guarantee by bets: {why}.")
    if most is not None and len(known.arms) > most:
        of = f"the {most} arms that are most likely the best"
        notes = (*notes, f"Lift and intervals at any look are given for {of}.")
    traffic = {arm: _traffic(state, position) for position, arm in enumerate(state.register)}
    tally = state.tally
    told = sum(arm.told for arm in tally.arms)
    if told and (never := sorted(set(state.guards.limits) - tally.metrics.names)):
        words = f"{listing(never)} was never told: is the metric spelt so, and sent?"
        notes = (*notes, f"The guard watches nothing, since {words}")
    notes = (*notes, *islice(_cautions(state), MOST_CAUTIONS))
    earnt = tally.reward - tally.past_sum
    share, unsaid = None, no_share(state, result)
    best = result.arms[0].expected + result.arms[0].expected_loss
    if not unsaid and (share := attained(known, best, told, earnt)):
        notes = (*notes, share.sentence)
    elif unsaid and known.plays.any():
        notes = (*notes, f"What was attainable is not said: {unsaid}.")
    spending = state.spending
    if spending is not None:
        alone = "The verdict is of rewards alone: what arms cost is not in it."
        notes = (*notes, f"{_BUDGET}{budget_views.sentence(spending, now)} {alone}")
    plain = {one.name: getattr(result, one.name) for one in fields(result)}
    return StudyReport(
        **{**plain, "notes": (*result.notes, *notes)},
        name=name,
        number=state.number,
        time=now,
        paused=state.paused,
        traffic=traffic,
        earned=earned(known, told, earnt),
        attained=share,
        then=settings.then,
        shipped=None if state.shipped is None else state.register[state.shipped],
        floors={} if state.shipped is not None else settings.shares.of(state.arms),
        guards=tuple(state.guards.rows(state.register, tally.metrics)),
        metrics=tuple(tally.metrics.rows(state.register, level)),
        attributes=tuple(sorted(divides(state))),
        budget=None if spending is None else budget_views.row(spending, now),
        spent=None if spending is None else budget_views.table(spending),
        goal=settings.goal,
        promise=promise(state, result.rule),
        retired={
            state.register[position]: traffic[state.register[position]]
            for position in state.retired
        },
    )


def _cautions(state: State) -> Iterator[str]:
    """Sentences on published weights that are far surer than what is known, a segment each."""
    for segment, published in state.publishing.current.items():
        asking = publishing.segment_in(state, segment)[1]
        if caution := publishing.caution(state, published.weights, asking):
            of = "" if segment is None else f" of segment {shown(segment)}"
            yield f"By the published weights{of} {caution}."


def no_share(state: State, result: Report) -> str:
    """Why what was earned is not told as a share of the attainable, where that would be wrong."""
    settings = state.settings
    if settings.has_contexts:
        return "the best arm depends on the context"
    changed = any(one.question == "drift" and one.alarm for one in result.findings)
    if changed or state.decider.known().faded:
        return "means may change over time, and with them the best arm"
    if settings.window is not None:
        return "rewards that a window still waits for are not counted"
    if settings.minimise:
        return "rewards are costs"
    if settings.budget is not None:
        return "what the budget allows is less than the best arm"
    if tuple(state.arms) != settings.arms:
        return "not all arms were there all the time"
    return ""


def _without_guarantee(state: State, result: Report) -> str:
    """Why the chances by which arms were drawn do not say how they compare with control."""
    settings = state.settings
    if result.control is None or result.bets_on or not any(arm.plays for arm in result.arms):
        return ""
    if result.control != settings.control:
        return f"bets are kept beside {settings.control}"
    if state.tally.bets is None:
        return f"they are kept for {MOST_ARMS} arms at most"
    if not settings.draws_by_chances:
        return "in a context an arm is chosen for sure; goal='both' or floor=… leave all a chance"
    return "chances are not known of most outcomes"


def promise(state: State, rule: StopRule) -> str:
    """How traffic is shared until somebody decides, and how often the rule is wrong."""
    settings, arms = state.settings, len(state.register)
    control = settings.control
    shared = {
        "earn": "Traffic goes where the policy expects most; a verdict may take long.",
        "decide": "Traffic is split evenly: the soonest verdict, at the full price of a test.",
        "both": f"The leader gets at most {MOST_SHARE['both']:.0%} of what it and "
        f"{'control get' if control is not None else 'the others get'}: it earns while it decides.",
    }[settings.goal].replace("%", " %")
    if not isinstance(rule, Separated):
        return f"{shared} The rule holds given the prior: A/A tests that are watched often stop."
    late = sum(1.0 / (count - 1) for count in range(len(settings.arms) + 1, arms + 1))
    risk = sentences.share(rule.delta * (1.0 + late))
    pairs = f"over all {arms - 1} comparisons, " if arms > 2 else ""
    return f"{shared} Stops are wrong in at most {risk} of studies, {pairs}however often one looks."


def _traffic(state: State, position: int) -> Traffic:
    own, total = state.tally.arms[position], sum(arm.asks for arm in state.tally.arms)
    out = state.learnt(position).pending
    share = own.asks / total if total else 0.0
    colour = colour_of(state.register[position], position)
    return Traffic(position, colour, own.asks, own.told, out, share)


def late_outcomes(state: State) -> Finding | None:
    """Return what late rewards leave open in a study with a control and without a window, where
    they count in the order in which they are told.
    """
    settings, arms = state.settings, state.tally.arms
    if settings.window is not None or settings.control is None:
        return None
    told, known = sum(arm.told for arm in arms), state.decider.known()
    successes = known.conversions and float(known.sums.sum()) == float(known.plays.sum())
    return late_rewards(sum(arm.asks for arm in arms), told, state.book.tickets, successes)


def findings(state: State, now: float, most: int | None = None) -> list[Finding]:
    """Every question of soundness that a state can answer; of very many arms the `most` that were
    played most often are asked whether they changed, all of them at one risk.
    """
    register, counts = state.register, state.tally
    result: list[Finding | None] = [counts.sample_ratio(register)]
    out, late = [0] * len(register), [0] * len(register)
    settings = state.settings
    awaited = settings.window is None
    for key, one in state.book.open.items():
        if type(key) is int:
            out[one.arm] += 1
            late[one.arm] += awaited and one.time + LATE <= now
    result.append(counts.missing(register, out, late))
    result.append(late_outcomes(state))
    decider, known = state.decider, state.decider.known()
    if known.faded:
        followed = "Arms may change over time: this study follows them."
        result.append(Finding("drift", False, 1.0, followed))
    elif not settings.has_contexts and not no_mixture(decider.family):  # contexts shift
        positions = [
            state.positions[arm] for arm in state.arms if counts.arms[state.positions[arm]].cuts
        ]
        for position in sorted(
            sorted(positions, key=lambda position: -counts.arms[position].asks)[:most]
        ):
            arm, risk = register[position], RISK / len(positions)
            now_known = decider.learnt(arm)
            result.append(counts.drift(position, arm, decider.family, now_known, known.units, risk))
    return [one for one in result if one is not None]
