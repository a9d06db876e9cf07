"""Personalizer, the service of Microsoft that was retired: its requests, answers and errors.

A study whose arms are candidates answers. Features come nested, in several objects; here they are
flat, by names such as `user.age`, of which the study has declared those that it learns along.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from belman.assignment.refusals import shown
from belman.service.context_models import MOST_CANDIDATES, MOST_NAMES
from belman.studies import Ticket
from belman.studies.requests.slots import MOST_SLOTS

#: Characters of an id.
LONGEST_ID = 256
#: How deep features may be nested.
DEEPEST = 8
ID = "id"

Features = dict[str, Any]


class Refusal(Exception):  # noqa: N818 (a word of the protocol)
    """What cannot be done, with a code of the protocol."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


class Operation(NamedTuple):
    """What the protocol can be asked for here, and the code of a request for it that is wrong."""

    name: str
    wrong: str
    slots: bool = False


#: By their paths, in which a star stands for the id of an event.
OPERATIONS = {
    "rank": Operation("rank", "InvalidRankRequest"),
    "events/*/reward": Operation("reward", "InvalidRewardRequest"),
    "events/*/activate": Operation("activate", "InvalidEventIdToActivate"),
    "multislot/rank": Operation("rank", "InvalidRankRequest", slots=True),
    "multislot/events/*/reward": Operation("reward", "InvalidRewardRequest", slots=True),
    "multislot/events/*/activate": Operation("activate", "InvalidEventIdToActivate", slots=True),
}
#: What else its clients may ask for, and what there is instead.
INSTEAD = {
    "configurations": "a study has its settings from its creation: `belman study create`",
    "model": "what was learnt is shown by `belman study contexts`",
    "logs": "the log of a study is exported by `belman study export`",
    "evaluations": "another policy is evaluated by `belman study replay`",
    "featureImportances": "what every feature counts is said by GET /api/studies/{name}/contexts",
}
#: The codes of what goes wrong elsewhere, by status.
_CODES = {
    401: "401",
    403: "InvalidApiAccess",
    404: "ResourceNotFound",
    409: "ModelRankingError",
    413: "PayloadSizeExceeded",
    429: "429",
    503: "OperationNotAllowed",
}


class Action(NamedTuple):
    """What may be shown."""

    id: str
    features: Features


class Slot(NamedTuple):
    """Where something is shown: the features of the place, and who may not stand there."""

    id: str
    features: Features
    excluded: frozenset[str]


class Ranking(NamedTuple):
    """A request to rank; of several slots, or of none."""

    context: Features
    actions: list[Action]
    excluded: frozenset[str]
    event: str | None
    deferred: bool
    slots: list[Slot]

    def candidates(self, names: Sequence[str]) -> list[Features]:
        """Return the features of all actions; their ids are among them where a study asks so."""
        own = ID in names
        return [{ID: one.id, **one.features} if own else one.features for one in self.actions]

    def among(self, excluded: frozenset[str]) -> list[int]:
        """Return the places of the actions that are not excluded."""
        return [position for position, one in enumerate(self.actions) if one.id not in excluded]


# Requests


def ranking_in(body: bytes, slots: bool) -> Ranking:
    """Read a request to rank.

    >>> result = ranking_in(b'{"contextFeatures": [{"user": {"age": 31}}], '
    ...                    b'"actions": [{"id": "pasta", "features": [{"price": 9}]}]}', False)
    >>> result.context, result.actions
    ({'user.age': 31}, [Action(id='pasta', features={'price': 9})])
    """
    result = _object_in(body)
    actions = [_action(one) for one in _list(result, "actions", MOST_CANDIDATES, needed=True)]
    _check_different([one.id for one in actions], "actions")
    event = result.get("eventId")
    deferred = result.get("deferActivation")
    if deferred is not None and not isinstance(deferred, bool):
        _refuse(f"deferActivation={shown(deferred)} is neither true nor false")
    given = _list(result, "slots", MOST_SLOTS, needed=True) if slots else []
    own = [_slot(one) for one in given]
    _check_different([one.id for one in own], "slots")
    if slots:
        _check_baselines(given, own, actions)
    excluded = frozenset() if slots else _ids(result, "excludedActions")
    ranking = Ranking(
        flat(_list(result, "contextFeatures", MOST_NAMES), "contextFeatures"),
        actions,
        excluded,
        None if event is None else check_id(event, "eventId"),
        bool(deferred),
        own,
    )
    if not slots and not ranking.among(excluded):
        _refuse("all actions are excluded")
    return ranking


def reward_in(body: bytes) -> float:
    """Read the reward of an event.

    >>> reward_in(b'{"value": 1}')
    1.0
    """
    return _reward(_object_in(body))


def rewards_in(body: bytes) -> dict[str, float]:
    """Read the rewards of slots.

    >>> rewards_in(b'{"reward": [{"slotId": "top", "value": 0.5}]}')
    {'top': 0.5}
    """
    given = _list(_object_in(body), "reward", MOST_SLOTS, needed=True)
    pairs = [(check_id(one.get("slotId"), "slotId"), _reward(one)) for one in given]
    _check_different([slot for slot, _ in pairs], "slots")
    return dict(pairs)


def _object_in(body: bytes) -> dict[str, Any]:
    try:
        result = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Refusal(400, "BadRequest", "the body is not JSON") from None
    if not isinstance(result, dict):
        raise Refusal(400, "BadRequest", "the body is not a JSON object")
    return result


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


def _list(
    result: Mapping[str, Any], name: str, most: int, needed: bool = False
) -> list[dict[str, Any]]:
    """Return a list of objects; an empty one where there is none and none is needed."""
    given = result.get(name)
    if given is None and not needed:
        return []
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        _refuse(f"{name} is not a list of objects")
    if len(given) > most or (needed and not given):
        _refuse(f"{name} has {len(given):,}: give from {int(needed)} to {most:,}")
    return given


def _ids(result: Mapping[str, Any], name: str) -> frozenset[str]:
    given = result.get(name)
    if given is None:
        return frozenset()
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        _refuse(f"{name} is not a list of ids")
    return frozenset(given)


def check_id(given: object, what: str) -> str:
    """Return an id of an action, an event or a slot."""
    if not isinstance(given, str) or not 0 < len(given) <= LONGEST_ID or not _is_text(given):
        _refuse(f"{what}={shown(given)} is not an id of 1 to {LONGEST_ID} characters")
    return given


def _is_text(given: str) -> bool:
    return "\0" not in given and not any("\ud800" <= one <= "\udfff" for one in given)


def _check_different(ids: Sequence[str], what: str) -> None:
    known = set[str]()
    for id in ids:
        if id in known:
            _refuse(f"{what} have the id {shown(id)} twice")
        known.add(id)


def _action(given: Mapping[str, Any]) -> Action:
    id = check_id(given.get("id"), "id of an action")
    return Action(id, flat(_list(given, "features", MOST_NAMES), f"features of action {shown(id)}"))


def _slot(given: Mapping[str, Any]) -> Slot:
    id = check_id(given.get("id"), "id of a slot")
    features = flat(_list(given, "features", MOST_NAMES), f"features of slot {shown(id)}")
    return Slot(id, features, _ids(given, "excludedActions"))


def _check_baselines(
    given: Sequence[Any], slots: Sequence[Slot], actions: Sequence[Action]
) -> None:
    """Hold the rules of the protocol: every slot names another action that it may show."""
    known = {one.id for one in actions}
    baselines = [check_id(one.get("baselineAction"), "baselineAction") for one in given]
    for slot, baseline in zip(slots, baselines, strict=True):
        if baseline not in known or baseline in slot.excluded:
            _refuse(f"baselineAction={shown(baseline)} of slot {shown(slot.id)} is no action there")
        if stray := sorted(slot.excluded - known):
            _refuse(f"slot {shown(slot.id)} excludes {shown(stray[0])}, which is no action")
    _check_different(baselines, "baselines of slots")


def _reward(result: Mapping[str, Any]) -> float:
    value = result.get("value")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1 <= value <= 1:
        _refuse(f"value={shown(value)} is not a reward: give a number from -1 to 1")
    return float(value)


def _refuse(words: str) -> NoReturn:
    raise Refusal(400, "", words)


# Features


def flat(parts: Sequence[Mapping[str, Any]], what: str) -> Features:
    """Return nested features by their names, joined by dots.

    >>> flat([{"day": "friday"}, {"user": {"age": 31, "seen": [0.5, 0.25]}}], "contextFeatures")
    {'day': 'friday', 'user.age': 31, 'user.seen': [0.5, 0.25]}
    """
    result: Features = {}
    for part in parts:
        for name, value in _flat(part, "", what, 1):
            if name in result:
                _refuse(f"{what} have {shown(name)} twice")
            result[name] = value
    return result


def _flat(part: Mapping[str, Any], before: str, what: str, deep: int) -> Iterator[tuple[str, Any]]:
    if deep > DEEPEST:
        _refuse(f"{what} are nested more than {DEEPEST} deep")
    for name, value in part.items():
        if not name:
            _refuse(f"{what} have a name without letters")
        whole = f"{before}{name}"
        inside = value if isinstance(value, list) else [value]
        if any(isinstance(one, dict) for one in inside):
            for one in inside:
                if not isinstance(one, dict):
                    _refuse(f"{what}: {shown(whole)} mixes objects with other values")
                yield from _flat(one, f"{whole}.", what, deep + 1)
        elif isinstance(value, list) and not _are_numbers(value):
            _refuse(f"{what}: the list {shown(whole)} holds what is no number")
        else:
            yield whole, value


def _are_numbers(given: Sequence[Any]) -> bool:
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in given)


# Answers


def ranked(ticket: Ticket, asked: Ranking, event: str) -> dict[str, Any]:
    """Return a ranking as it is answered: actions that are excluded keep their places."""
    among = asked.among(asked.excluded)
    order = [among[position] for position in ticket.ranking or ()]
    known: Sequence[float | None] = ticket.chances or [None] * len(order)
    chances = dict(zip(order, known, strict=True))
    rest = iter(order)
    positions = [
        position if one.id in asked.excluded else next(rest)
        for position, one in enumerate(asked.actions)
    ]
    ranking = [
        {ID: asked.actions[one].id, "probability": chances.get(one, 0.0)} for one in positions
    ]
    return {"ranking": ranking, "eventId": event, "rewardActionId": asked.actions[order[0]].id}


def filled(tickets: Sequence[Ticket], asked: Ranking, event: str) -> dict[str, Any]:
    """Return slots as they are answered."""
    slots = [
        {ID: slot.id, "rewardActionId": asked.actions[ticket.arm].id}
        for slot, ticket in zip(asked.slots, tickets, strict=True)
    ]
    return {"slots": slots, "eventId": event}


# Errors


def status_in(status: int) -> int:
    """Return the status with which the protocol says what is wrong."""
    return 400 if status == 422 else status


def described(status: int, code: str, message: str, operation: Operation | None) -> dict[str, Any]:
    """Return an error as it is answered.

    >>> described(422, "", "value=3 is not a reward", OPERATIONS["events/*/reward"])
    {'error': {'code': 'InvalidRewardRequest', 'message': 'value=3 is not a reward'}}
    """
    is_ours = operation is not None and operation.name != "rank"
    if not code and operation is not None and (status in (400, 422) or (is_ours and status == 409)):
        code = operation.wrong
    if not code:
        code = _CODES.get(status, "InternalServerError" if status >= 500 else "BadRequest")
    return {"error": {"code": code, "message": message}}
