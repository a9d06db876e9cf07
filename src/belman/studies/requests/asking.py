"""Asks, which are given tickets, and past data, which nobody asked for."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from belman import codec
from belman.deciders import Asking, validate
from belman.errors import ArmError, RewardError, SettingError, shown
from belman.studies.deciding import chances_of_last, decide
from belman.studies.log.event_log import FIRST_CHUNK, Kind
from belman.studies.outcomes.book import (
    CHANCES,
    CONTEXT,
    DEFERRED,
    RANKING,
    SHARES,
    SLOT,
    Outcome,
)
from belman.studies.outcomes.candidates import CANDIDATE, CANDIDATES, CHOSEN, whole
from belman.studies.rules.attributes import check_attributes
from belman.studies.state import State
from belman.studies.ticket import Ticket, ticket_of
from belman.studies.traffic.spending import PRICE
from belman.studies.unit_of_work import UnitOfWork, check_key


class AskOptions(TypedDict, total=False):
    """What an ask may be given by name, as `Ask` has it."""

    context: Mapping[str, Any] | None
    candidates: Sequence[Mapping[str, Any]] | None
    top: int | None
    attributes: Mapping[str, Any] | None
    key: str | None


class Ask(NamedTuple):
    """A request for tickets, which is safe to send again where it has a key.

    Attributes
    ----------
    tickets
        How many tickets; an arm is chosen for each of them.
    key
        An idempotency key: the same key gives the same tickets.
    attributes
        Values by name that are kept in the log for reports, and that no policy sees.
    context
        Values by name, in a study with contexts or segments.
    candidates
        Features of each candidate, in a study whose arms are candidates.
    top
        How many arms or candidates each ticket ranks, the chosen one first; None for no ranking.
    deferred
        Whether the rewards of these tickets count only once they are activated (`Activate`).
    slot
        The name of the slot that the ask is for, where several are filled at once (`AskSlots`).
    """

    tickets: int = 1
    key: str | None = None
    attributes: Mapping[str, Any] | None = None
    context: Mapping[str, Any] | None = None
    candidates: Sequence[Mapping[str, Any]] | None = None
    top: int | None = None  # how many to rank, the chosen one first
    deferred: bool = False
    slot: str | None = None  # which of several that are filled at once it is for


def ask(unit: UnitOfWork, request: Ask) -> list[Ticket]:
    """Return tickets for the arms to try now, or those that the same key was given before."""
    if type(request.tickets) is not int or request.tickets != 1:
        validate.check_count(request.tickets)
    state, attributes = unit.state, None
    if request.attributes is not None:
        attributes = check_attributes(request.attributes, state.tally.attribute_names)
    asking = state.check_asking(request.context, request.candidates)
    if request.top is not None:
        _check_top(request.top, asking)
    body: dict[str, Any] = {"attributes": attributes} if attributes else {}
    body |= _body(asking)
    if request.deferred:
        _check_deferred(unit)
        body[DEFERRED] = True
    if request.slot is not None:
        body[SLOT] = request.slot
    key = check_key(request.key)
    if key is not None and (given := _given(unit, request, key, body)):
        return given
    unit.check_playing()
    unit.check_budget(request.tickets, asking)
    _check_room(unit, request, asking)
    unit.close_and_play()  # the asks that follow have this time
    unit.check_budget(request.tickets, asking)  # arms may be gone by what closed
    state.count_early(unit.now)
    asks = unit.write_asks(_rows(unit, request, asking, body))
    return [ticket_of(event, state.register, unit.secret) for event in asks]


def _rows(
    unit: UnitOfWork, request: Ask, asking: Asking, body: dict[str, Any]
) -> Iterator[tuple[Any, ...]]:
    """Yield the asks of a request as the log keeps them, but for their links."""
    state = unit.state
    kind, now, key, text = int(Kind.ASKED), unit.now, None, _text(body)
    first, positions = state.number + 1, state.positions
    ranking = None if request.top is None else state.ready().rank(asking)
    decided, own, rest = decide(state, request.tickets, asking, now)
    likely_first = None
    if ranking is not None and request.tickets == 1:
        likely_first = chances_of_last(state, asking)
    known = codec.copied(state.catalogue) if asking.candidates is not None else None
    for i, (arm, _, likely, draw, context, candidate) in enumerate(decided):
        if request.key is not None:
            key = f"{request.key}/{i}"
        if context is not None:
            chosen = _chosen(arm, candidate is not None, ranking, request.top, positions)
            if likely_first is not None:
                chosen[CHANCES] = _of_ranked(chosen[RANKING], likely_first, state, candidate)
            if known is not None:
                assert asking.candidates is not None
                if i < 2:  # from the second on none is new
                    kept = known.kept(asking.candidates)
                    known.take(first + i, kept)
                chosen |= {CANDIDATES: kept, CANDIDATE: candidate}
            text = _text(body | chosen | (rest if i else own))
        elif own:
            text = _text(body | (rest if i else own))
        position = 0 if candidate is not None else positions[arm]
        yield first + i, kind, now, position, int(draw), likely, None, None, key, text


def _check_room(unit: UnitOfWork, request: Ask, asking: Asking) -> None:
    """Refuse more tickets than may be, and what a context brings that there is no room for."""
    out, _ = unit.state.book.waiting(unit.now)
    candidates = 1 if asking.candidates is None else len(asking.candidates)
    unit.limits.check(request.tickets, out, unit.name, candidates)
    if asking.context is not None:
        unit.state.decider.check_room(asking, request.tickets)


def _check_deferred(unit: UnitOfWork) -> None:
    if unit.state.early is not None:
        why = "it learns before windows close, from the silence of tickets that were used"
        raise SettingError(f"study {unit.name!r} takes no deferred asks: {why} (early=False)")


def _check_top(top: int, asking: Asking) -> None:
    if asking.context is None:
        raise SettingError("top=… ranks arms in a context: this study decides without")
    validate.check_count(top, f"top={shown(top)}")


def _given(unit: UnitOfWork, request: Ask, key: str, body: dict[str, Any]) -> list[Ticket]:
    """Return the tickets that an earlier request with this key was given."""
    result: list[Ticket] = []
    if (first := unit.log.keyed(f"{key}/0")) is None:
        return result
    at_once = min(request.tickets + 1, FIRST_CHUNK)
    for event in unit.log.after(first.number - 1, at_once):  # they lie together
        if event.key != f"{key}/{len(result)}":
            break
        before = event.content
        if CANDIDATES in before:
            known = unit.state.catalogue
            before[CANDIDATES] = whole(before[CANDIDATES], known, unit.log.event)
        for name in (CANDIDATE, CHOSEN, RANKING, CHANCES, SHARES, PRICE):
            before.pop(name, None)
        if before != body:
            was = "was given with other attributes, or another context, before: use a new key"
            raise SettingError(f"key={key!r} {was}")
        result.append(ticket_of(event, unit.state.register, unit.secret))
    if result and len(result) != request.tickets:
        now = f"now asks for {request.tickets}: use a new key"
        raise SettingError(f"key={key!r} was given {len(result)} tickets before, and {now}")
    return result


def _body(asking: Asking) -> dict[str, Any]:
    """Return what is asked with."""
    if asking.context is None:
        return {}
    result: dict[str, Any] = {CONTEXT: asking.context}
    if asking.candidates is not None:
        result[CANDIDATES] = asking.candidates
    return result


def _chosen(
    arm: Any,
    is_candidate: bool,
    ranking: list[Any] | None,
    top: int | None,
    positions: Mapping[Hashable, int],
) -> dict[str, Any]:
    """Return what the body of an ask in a context keeps of its choice."""
    own: dict[str, Any] = {CHOSEN: arm} if is_candidate else {}
    if ranking is None:
        return own
    order = [arm, *(one for one in ranking if one != arm)][:top]
    return {**own, RANKING: order if is_candidate else [positions[one] for one in order]}


def _of_ranked(
    ranking: Sequence[Any], chances: Mapping[Any, float], state: State, candidate: Any
) -> list[float]:
    """Return the chances of those that are ranked, in their order."""
    named = ranking if candidate is not None else [state.register[position] for position in ranking]
    return [chances[one] for one in named]


def _text(body: dict[str, Any]) -> str | None:
    return json.dumps(body, ensure_ascii=False) if body else None


# Past data


def record(
    unit: UnitOfWork,
    rows: Sequence[tuple[Any, ...]],
    numbers: Sequence[int],
    reason: str,
    key: str | None = None,
) -> int:
    """Learn past data, checked as a whole before any of it counts; the count. `numbers` are those
    of the rows where they were brought from.
    """
    check_key(key)
    request = (reason, *rows)
    if unit.made_before(key, Kind.RECORDED, request) is not None:
        return len(rows)
    names = set(unit.state.tally.attribute_names)
    checked = [_checked(unit, i, row, names) for i, row in zip(numbers, rows, strict=True)]
    for i, (outcome, body) in enumerate(checked):
        assert outcome.reward is not None
        try:
            unit.state.decider.check_reward(unit.state.choice(outcome), outcome.reward)
        except RewardError as error:
            raise RewardError(f"row {numbers[i]}: {error}") from None
        own = {"arm": outcome.arm, "reward": outcome.reward}
        if i == 0:
            why = {"reason": reason, "rows": len(checked)}
            unit.change(Kind.RECORDED, key, request, {**why, **body}, **own)
        else:
            unit.write(Kind.RECORDED, **own, body=_text(body))
    return len(checked)


def _checked(
    unit: UnitOfWork, i: int, row: tuple[Any, ...], names: set[str]
) -> tuple[Outcome, dict[str, Any]]:
    """Return a row of past data as an outcome, and the body of its event."""
    state = unit.state
    known, in_contexts = state.positions, state.in_contexts
    try:
        arm, reward, *rest = row
        (more,) = rest or (None,)
        candidate = [arm] if in_contexts and isinstance(arm, Mapping) else None
        position = known.get(arm) if candidate is None else 0
    except (TypeError, ValueError):
        third = "context" if in_contexts else "attributes"
        give = f"give (arm, reward), or (arm, reward, {third})"
        raise SettingError(f"row {i} of the past data is {shown(row)}: {give}") from None
    if position is None:
        raise ArmError(f"row {i}: {validate.unknown_arm(arm, known, 'this study knows')}")
    try:
        outcome = Outcome(position, unit.now, reward=unit.check_reward(reward))
        if not in_contexts:
            attributes = check_attributes(more, names)
            names.update(attributes)
            return outcome, {"attributes": attributes} if attributes else {}
        asking = state.check_asking(more, candidate)
    except (RewardError, SettingError) as error:
        raise type(error)(f"row {i}: {error}") from None
    body: dict[str, Any] = {CONTEXT: asking.context}
    if asking.candidates is not None:
        (body[CANDIDATE],) = asking.candidates
    return outcome._replace(context=asking.context, candidate=body.get(CANDIDATE)), body
