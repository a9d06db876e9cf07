"""A study in numbers: counts of all kinds, and the rule of its window."""

from __future__ import annotations

from typing import Any

from belman.studies.state import State
from belman.studies.traffic import budget_views


def status(state: State, now: float | None = None) -> dict[str, Any]:
    """Return counts of all kinds, and the rule of a window where there is one; a budget is that of
    now, or of the last event.
    """
    rule, book, tally = state.settings, state.book, state.tally
    counts: dict[str, Any] = {
        "family": rule.family.name,
        "policy": repr(state.decider.policy),
        "arms": len(state.arms),
        "retired": len(state.retired),
        "paused": state.paused,
        "events": state.number,
        "asked": sum(arm.asks for arm in tally.arms),
        "told": tally.told,
        "outstanding": book.tickets,
        "expired": tally.expired,
        "reward": tally.reward,
    }
    if rule.segments is not None:
        counts |= {"segments": list(rule.segments), "seen": len(state.decider.segments.own)}
    elif rule.has_features:
        counts |= {"model": state.decider.model.name, "context": state.decider.context_names}
    if state.spending is not None:
        counts["budget"] = budget_views.row(state.spending, state.book.time if now is None else now)
    if state.shipped is not None:
        counts["shipped"] = state.register[state.shipped]
    if state.noticed:
        counts["changes_noticed"] = state.noticed
    if rule.clip:
        counts["clipped"] = tally.clipped
    if observed := sum(arm.observed for arm in tally.arms):
        counts["observed"] = observed
    if book.rows:
        counts["waiting"] = book.rows
    if rule.window is None:
        return counts
    counts |= {"window": rule.window, "silence": rule.silence, "accumulate": rule.accumulate}
    counts |= {"silent": book.tickets - book.told, "early": rule.early}
    return counts if state.waits is None else {**counts, "early": False, "waits": state.waits}
