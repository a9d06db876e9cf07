"""Corrections: what an arm is believed to be once a reward of its past is replaced.

The belief is as if the ticket had counted at its time as it is corrected now; under a discount what
is left of it is corrected. A belief that is a sum, as a conjugate one is in natural parameters,
η = η₀ + Σ T(x), has T(x) taken out and T(x′) put in, whatever the length of the log. Where rounding
could then be seen (a slip of the pen of 10¹² leaves nothing of what it was added to), where beliefs
are no sums, and under a discount, the arm is folded anew from the log. The writer does either, and
the event keeps what came of it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from belman.agent.learnt import Learnt
from belman.agent.scale import Scale
from belman.errors import BelmanError, RewardError
from belman.families import Family
from belman.studies.contexts.context import Contexts, refold
from belman.studies.log.event_log import Event, Kind
from belman.studies.rules.guards import Guards
from belman.studies.rules.metrics import Metrics, SumsByArm, together
from belman.studies.settings import StudySettings
from belman.studies.tickets.open_tickets import Counted, OpenTickets

_EPSILON = float(np.finfo(np.float64).eps)
#: The KL divergence that rounding may cause: a ten-millionth of a belief's standard deviation.
_UNSEEN = 1e-14
#: The same for sums of squares, which no belief bounds: relative.
_UNSEEN_SQUARES = 1e-9


def body(
    reason: str,
    before: float | None,
    learnt: Learnt,
    metrics: Metrics,
    metrics_before: Metrics,
    contexts: Mapping[str, Any] | None = None,
) -> str:
    """What the event of a correction keeps beside the ticket and its reward; of metrics those that
    are given, which replace those of their names, and what the ticket had; and what is learnt by
    context, where there are contexts.
    """
    row = {name: getattr(learnt, name) for name in ("belief", "plays", "sum", "squares", "tells")}
    content: dict[str, Any] = {"reason": reason, "before": before, "learnt": row}
    if metrics or metrics_before:
        content |= {"metrics": metrics, "metrics_before": metrics_before}
    if contexts is not None:
        content["contexts"] = contexts
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def learnt_by_context(event: Event) -> Mapping[str, Any] | None:
    """What is learnt by context once a correction counts."""
    found: Mapping[str, Any] | None = json.loads(event.body or "{}").get("contexts")
    return found


def change(event: Event) -> float:
    """What a correction adds to the sum of rewards."""
    before = json.loads(event.body or "{}")["before"]
    return (event.reward or 0.0) - (before or 0.0)


def recount_metrics(event: Event, sums: SumsByArm | Guards) -> None:
    """Let the metrics of a corrected ticket count as they are now, if it counts at all."""
    content = json.loads(event.body or "{}")
    assert event.arm is not None
    if content["before"] is not None:
        sums.count(event.arm, content.get("metrics_before", {}), -1)
    sums.count(event.arm, metrics_after(event))


def metrics_after(event: Event) -> Metrics:
    """The metrics with which a corrected ticket counts; none if it is forgotten."""
    content = json.loads(event.body or "{}")
    if event.reward is None:
        return {}
    return together(content.get("metrics_before", {}), content.get("metrics", {}))


def corrected(event: Event, learnt: Learnt) -> Learnt:
    """What is learnt of an arm by the event of a correction; its open asks stay."""
    row = json.loads(event.body or "{}")["learnt"]
    return learnt._replace(**{**row, "belief": tuple(row["belief"])})


def swapped(family: Family, learnt: Learnt, old: float | None, new: float | None) -> Learnt | None:
    """One reward for another, on the scale of the family; None where rounding could be seen.

    >>> from belman.families import Bernoulli
    >>> one = Learnt.nothing((1.0, 1.0)).told(Bernoulli(), 1.0).told(Bernoulli(), 1.0)
    >>> swapped(Bernoulli(), one, 1.0, 0.0).belief
    (2.0, 2.0)
    """
    tells = learnt.tells - (old is not None) + (new is not None)
    if tells == 0:
        return Learnt.nothing(learnt.prior)._replace(pending=learnt.pending)
    out, into = old or 0.0, new or 0.0
    squares = learnt.squares - out * out + into * into
    unit = 0.0 if family.reward_range is None else 1.0
    noise = _EPSILON * max(learnt.squares, out * out)
    if noise > _UNSEEN_SQUARES * max(squares, unit):
        return None
    plays = learnt.plays - (old is not None) + (new is not None)
    after = learnt._replace(
        plays=plays, sum=learnt.sum - out + into, squares=max(squares, 0.0), tells=tells
    )
    belief = _swapped_belief(family, learnt, old, new) if family.adds_up else None
    return None if belief is None else after._replace(belief=belief)


def _swapped_belief(
    family: Family, learnt: Learnt, old: float | None, new: float | None
) -> tuple[float, ...] | None:
    start, eta = family.additive(learnt.prior), family.additive(learnt.belief)
    try:
        taken, put = (
            0.0 * start if x is None else family.additive(family.update(learnt.prior, x)) - start
            for x in (old, new)
        )
    except RewardError:  # within the reach of this belief, and not of the prior
        return None
    after = eta - taken + put
    noise = 2.0 * _EPSILON * np.max(np.abs([start, eta, taken, put]), axis=0)
    try:
        beliefs = [
            family.check_belief(family.from_additive(eta))
            for eta in (after, after + noise, after - noise)
        ]
        seen = max(family.divergence(beliefs[0], beliefs[i]) for i in (1, 2))
    except (BelmanError, ArithmeticError):
        return None
    return beliefs[0] if seen <= _UNSEEN else None


def refolded(
    settings: StudySettings,
    scale: Scale,
    family: Family,
    arm: int,
    prior: tuple[float, ...],
    events: Iterable[Event],
    now: float,
    counts: Mapping[int | None, float | None],
) -> Learnt:
    """What was learnt of an arm, from the log alone, where these tickets count as given.

    Every reward that was learnt at its time fades what came before it, be it corrected or not.
    """
    tickets, learnt, fades = OpenTickets(settings), Learnt.nothing(prior), 0
    retired: set[int | None] = {arm} if arm >= len(settings.arms) else set()  # or not there yet

    def count(found: Iterable[Counted]) -> None:
        nonlocal learnt, fades
        for one in found:
            is_learnt = one.reward is not None and one.arm not in retired
            fades += is_learnt and arm not in retired
            reward = counts.get(one.ticket, one.reward) if one.arm == arm else None
            if reward is not None:
                learnt = learnt.faded(family, settings.discount**fades)
                with contextlib.suppress(RewardError):  # as it was forgotten when it counted
                    learnt = learnt.told(family, scale.inward(reward))
                fades = 0

    for event in events:
        count(tickets.take(event))
        if event.kind == Kind.ARM_RETIRED:
            retired.add(event.arm)
        elif event.kind == Kind.ARM_ADDED:
            retired.discard(event.arm)
    count(tickets.close(now))
    return learnt.faded(family, settings.discount**fades)


def refolded_contexts(
    settings: StudySettings,
    events: Iterable[Event],
    now: float,
    counts: Mapping[int | None, float | None],
) -> Contexts:
    """What was learnt by context, from the log alone, where these tickets count as given."""
    found, tickets = settings.begin_contexts(), OpenTickets(settings)
    assert found is not None

    def count(counted: Iterable[Counted], event: Event | None) -> None:
        for one in counted:
            if one.ticket is not None:
                reward = counts.get(one.ticket, one.reward)
                try:
                    if reward is not None:
                        found.check_reward(*found.open[one.ticket], reward)
                except RewardError:  # as it was forgotten when it counted
                    reward = None
                found.settle(one.ticket, reward)
            elif event is not None and one.reward is not None:
                found.record(event)

    for event in events:
        count(tickets.take(event), event)
        refold(found, event)
    count(tickets.close(now), None)
    return found
