"""Outcomes in bulk: rows of units, or sums, checked as a whole and learnt at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from belman.errors import SettingError, StudyError
from belman.measures.soundness import SampleRatio
from belman.studies.log.event_log import Kind
from belman.studies.outcomes.book import Row
from belman.studies.outcomes.bulk import Bulk
from belman.studies.requests.observed_rows import of_rows
from belman.studies.requests.observed_sums import of_sums
from belman.studies.requests.rows import Rows, Sums, says
from belman.studies.requests.rows_in_contexts import fell, in_contexts
from belman.studies.requests.versions import Versions
from belman.studies.unit_of_work import UnitOfWork


def observe(
    unit: UnitOfWork, batch: Rows | Sums, digest: str, reason: str, key: str | None
) -> None:
    """Let a batch count, all of it or (one row is bad) none, unless it did under this key."""
    request = (digest,)
    if unit.made_before(key, Kind.OBSERVED, request) is None:
        _check_study(unit, batch)
        if unit.state.book.is_due(unit.now):
            unit.close()  # the event that follows has this time
        versions = Versions(unit.log, unit.state.publishing)
        made: list[Row] | None = None
        if unit.state.settings.has_features:
            assert isinstance(batch, Rows)
            result, made = in_contexts(unit, batch, versions)
        elif isinstance(batch, Sums):
            result = of_sums(unit, batch, versions)
        else:
            result = of_rows(unit, batch, versions)
        body = _with_odds(unit, result, versions, made).body(reason)
        unit.change(Kind.OBSERVED, key, request, body)


def _check_study(unit: UnitOfWork, batch: Rows | Sums) -> None:
    settings, policy = unit.state.settings, unit.state.decider.policy
    why = None
    if settings.has_candidates:
        why = "candidates come with every ask"
    elif settings.has_features and isinstance(batch, Sums):
        why = "it learns along features, each reward in its context, and sums have none"
    elif settings.has_features and settings.reward is None:
        return
    elif not settings.has_features and isinstance(batch, Rows) and says(batch.context):
        raise SettingError(
            f"context was given to study {unit.name!r}, which decides without, or by the segment "
            "that a version is of"
        )
    elif settings.discount != 1.0:
        why = f"its beliefs fade at every reward (discount={settings.discount:g})"
    elif settings.reward is not None:
        why = f"its reward is declared over metrics ({settings.reward.text!r})"
    elif not unit.state.learns_sums:
        why = f"{policy.name} follows rewards one by one"
    elif unit.state.in_contexts and settings.window is not None:
        why = "it learns by segment when windows close"
    elif unit.state.in_contexts and not unit.state.decider.family.summed:
        why = f"it learns by segment, and {settings.family.name} rewards one by one"
    if why is not None:
        remedy = "tell the rewards of tickets instead"
        raise StudyError(f"study {unit.name!r} takes no outcomes in bulk: {why}; {remedy}")


def _with_odds(unit: UnitOfWork, result: Bulk, versions: Versions, made: list[Row] | None) -> Bulk:
    """Return the same, with how the units fell beside how the published weights say that they
    fall: the rows that were made in their contexts, or all by version.
    """
    state = unit.state
    test = state.tally.assigned(state.register)
    if made is not None:
        return _odds(test, result, fell(unit, made))
    counts = defaultdict[int, list[int]](lambda: [0] * len(state.register))
    for group in result.groups:
        if group.version is not None:
            counts[group.version][group.arm] += group.n
    first = {(row[0], row[1]): row for row in result.open}
    for key, row in first.items():
        version = row[0] if row[7] is None else versions.number_of(tuple(row[7]))
        if version is not None and key not in state.book.open:
            counts[version][row[2]] += 1
    shares = [(version, versions.chances(version, state.positions)) for version in sorted(counts)]
    result = _odds(test, result, ((counts[version], chances) for version, chances in shares))
    if state.tally.bets is None:
        shares = [one for one in shares if one[0] < 0]  # which no event of a version keeps
    return result._replace(shares=shares)


def _odds(
    test: SampleRatio, result: Bulk, units: Iterable[tuple[list[int], Sequence[float]]]
) -> Bulk:
    """Return the same, with units that fell on arms under chances."""
    assigned, meant = np.zeros(len(test.arms), dtype=np.int64), test.expected.copy()
    for counts, chances in units:
        test.add(counts, chances)
        assigned += counts
    meant = test.expected - meant
    return result._replace(
        assigned=[
            (int(position), int(assigned[position])) for position in np.flatnonzero(assigned)
        ],
        meant=[(int(position), float(meant[position])) for position in np.flatnonzero(meant)],
        log_odds=float(test.log_odds),
    )
