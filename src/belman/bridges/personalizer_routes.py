"""The routes of Personalizer's API, for clients that people have already.

The endpoint of a client says which study answers: `https://host/api/studies/NAME`, or the address
of the service itself for the study `personalizer`.
"""

from __future__ import annotations

import json
import re
import uuid
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from belman.bridges import personalizer
from belman.bridges.personalizer import INSTEAD, OPERATIONS, Operation, Ranking, Refusal
from belman.errors import BelmanError, StorageError, UnknownStudyError, UnknownTicketError
from belman.service.access import charge, idempotency_key, require_role
from belman.service.bodies import body_of
from belman.service.keys import Role
from belman.service.problems import MEDIA_TYPE, problem, problem_of
from belman.service.registry import Registry
from belman.studies import Activate, Ask, AskSlots, Slot, Study, Tell, TellAll, Ticket
from belman.studies.group_commit import GroupCommit

#: The study of clients whose endpoint names none.
DEFAULT = "personalizer"
#: The version that newer clients say.
VERSION = "2022-09-01-preview"
#: Longer names in a path are no study's.
_PATH = re.compile(
    r"/*(?:api/studies/([^/]{1,600})/+)?personalizer(?:/v1\.[01](?:-preview(?:\.\d)?)?)?/(.+)"
)
#: The slot of an event without slots.
_ONLY = ""
_HEADER, _REQUEST_ID = b"ocp-apim-subscription-key", b"x-ms-client-request-id"


class Call(NamedTuple):
    """What a request is for: the study, the operation (None for others), and the event."""

    study: str
    path: str
    operation: Operation | None
    event: str

    @property
    def route(self) -> str:
        """The route, few of them whatever is asked for."""
        what = "*" if self.operation is None else self.path
        return f"/personalizer/{what}"


def call_of(scope: Scope) -> Call | None:
    """Return what a request asks for, if it is one of the protocol."""
    raw = scope.get("raw_path") or scope["path"].encode()
    result = _PATH.fullmatch(raw.decode("latin-1"))
    if result is None:
        return None
    study = DEFAULT if result[1] is None else unquote(result[1])
    parts = result[2].split("/")
    event = ""
    if "events" in parts[:2] and len(parts) > parts.index("events") + 1:
        position = parts.index("events") + 1
        event, parts[position] = unquote(parts[position]), "*"
    path = "/".join(parts)
    operation = OPERATIONS.get(path) if scope["method"] == "POST" else None
    return Call(study, path, operation, event)


class PersonalizerWords:
    """Middleware around the access control: its header for keys is ours, and what is wrong is said
    in its words.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = call_of(scope) if scope["type"] == "http" else None
        if call is None:
            await self.app(scope, receive, send)
            return
        headers = list(scope["headers"])
        names = {name for name, _ in headers}
        given = next((value for name, value in headers if name == _HEADER), None)
        if given is not None and b"authorization" not in names:
            headers.append((b"authorization", b"Bearer " + given))
        path = f"/api/studies/{call.study}/personalizer/{call.path}"  # which is guarded
        inner = {**scope, "path": path, "headers": headers, "belman.personalizer": call}
        await self.app(inner, receive, _in_its_words(call, send))


def _in_its_words(call: Call, send: Send) -> Send:
    """Send what is wrong as an error of the protocol, and all else as it is."""
    begun: Message | None = None
    said = b""

    async def answer(message: Message) -> None:
        nonlocal begun, said
        if message["type"] == "http.response.start":
            kind = dict(message.get("headers", ())).get(b"content-type", b"")
            if kind.startswith(MEDIA_TYPE.encode()):
                begun = message
                return
        if begun is None:
            await send(message)
            return
        said += message.get("body", b"")
        if message.get("more_body"):
            return
        result = json.loads(said)
        code, status = result.get("code", ""), begun["status"]
        error = personalizer.described(status, code, result["detail"], call.operation)
        content = json.dumps(error).encode()
        apart = (b"content-type", b"content-length")
        headers = [one for one in begun["headers"] if one[0] not in apart]
        headers += [(b"content-type", b"application/json")]
        headers += [(b"content-length", str(len(content)).encode())]
        await send({**begun, "status": personalizer.status_in(status), "headers": headers})
        await send({"type": "http.response.body", "body": content})

    return answer


class PersonalizerRoutes:
    """Middleware that answers Personalizer's clients, and passes everything else on."""

    def __init__(self, app: ASGIApp, registry: Registry) -> None:
        self.app, self.registry = app, registry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call: Call | None = scope.get("belman.personalizer")
        if call is None:
            await self.app(scope, receive, send)
            return
        scope["belman.route"] = call.route
        require_role(scope, Role.PLAY)
        try:
            _check_known(scope, call)
            response = await self._answer(scope, call, await body_of(receive))
        except Refusal as refusal:
            response = problem(refusal.status, refusal.message, code=refusal.code)
        except StorageError:
            raise
        except BelmanError as error:
            if isinstance(error, UnknownStudyError):
                self.registry.forget(call.study)
            response = _refused(error, call)
        await response(scope, receive, send)

    async def _answer(self, scope: Scope, call: Call, body: bytes) -> Response:
        operation = call.operation
        assert operation is not None
        if operation.name == "rank":
            asked = personalizer.ranking_in(body, operation.slots)
            charge(scope, len(asked.slots) - 1)
            return _json(await self._rank(call.study, asked, operation.slots))
        event = personalizer.check_id(call.event, "eventId")
        rewards = dict[str, float]()
        if operation.name == "reward" and operation.slots:
            rewards = personalizer.rewards_in(body)
        elif operation.name == "reward":
            rewards = {_ONLY: personalizer.reward_in(body)}
        commit = await self.registry.group_commit(call.study)
        tickets = await self.registry.change(_tickets, commit.study, event, operation.slots)
        if operation.name == "activate":
            await commit.submit(Activate(list(tickets.values())))
            return Response(status_code=204)
        if stray := sorted(rewards.keys() - tickets.keys()):
            words = f"event {event!r} has no slot {stray[0]!r}: it has {', '.join(tickets)}"
            raise Refusal(400, "", words)
        told = [_tell(scope, tickets[slot], reward) for slot, reward in rewards.items()]
        news = await commit.submit(TellAll(told))
        self.registry.metrics.rewards.inc(len(rewards) if news else 0)
        return Response(status_code=204)

    async def _rank(self, name: str, asked: Ranking, slots: bool) -> dict[str, Any]:
        commit = await self.registry.group_commit(name)
        names = await self.registry.change(_names, commit.study)
        event = str(uuid.uuid4()) if asked.event is None else asked.event
        rows = asked.candidates(names)
        if not slots:
            return personalizer.ranked(await self._one(commit, asked, rows, event), asked, event)
        positions = []
        for slot in asked.slots:
            if twice := asked.context.keys() & slot.features.keys():
                words = f"slot {slot.id!r} and contextFeatures both have {min(twice)!r}"
                raise Refusal(400, "", words)
            context = {**asked.context, **slot.features}
            positions.append(Slot(slot.id, context, asked.among(slot.excluded)))
        request = AskSlots(_key(event, slots=True), rows, positions, asked.deferred)
        tickets = await commit.submit(request)
        assert isinstance(tickets, list)
        self.registry.metrics.tickets.inc(len(tickets))
        return personalizer.filled(tickets, asked, event)

    async def _one(
        self, commit: GroupCommit, asked: Ranking, rows: list[dict[str, Any]], event: str
    ) -> Ticket:
        among = [rows[position] for position in asked.among(asked.excluded)]
        key = _key(event, slots=False)
        request = Ask(1, key, None, asked.context, among, len(among), asked.deferred)
        tickets = await commit.submit(request)
        assert isinstance(tickets, list)
        self.registry.metrics.tickets.inc()
        return tickets[0]


def _check_known(scope: Scope, call: Call) -> None:
    """Refuse what there is not, and another version of the protocol."""
    said = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
    version = said.get("api-version", VERSION)
    if version != VERSION:
        raise Refusal(400, "BadRequest", f"api-version={version!r} is not known: it is {VERSION!r}")
    if call.operation is None:
        first = call.path.split("/")[0]
        if first in INSTEAD:
            words = f"this service is belman, where {INSTEAD[first]}"
            raise Refusal(403, "InvalidApiAccess", words)
        words = f"{scope['method']} {call.path[:80]} is no operation of this API"
        raise Refusal(404, "ResourceNotFound", words)


def _refused(error: BelmanError, call: Call) -> Response:
    if isinstance(error, UnknownStudyError) and call.study == DEFAULT:
        words = "end the endpoint of the client with /api/studies/NAME, or create this study"
        return problem(404, f"no study {DEFAULT!r}: {words}")
    return problem_of(error)


def _names(study: Study) -> tuple[str, ...]:
    """Return the names of features that a study learns along; Refusal where it has fixed arms."""
    names = study.settings.features
    if not isinstance(names, tuple):
        words = (
            "which come with every request: create one without arms, with --features id to learn "
            "of each action by its id, or with the features of actions"
        )
        raise Refusal(400, "", f"the arms of study {study.name!r} are no actions, {words}")
    return names


def _key(event: str, slots: bool) -> str:
    """Return the idempotency key of an event. It is the study's own, whichever key of the service
    ranked it: a client may have another one by the time a reward comes.
    """
    return f"personalizer{'-slots' if slots else ''}/{event}"


def _tickets(study: Study, event: str, slots: bool) -> dict[str, Ticket]:
    """Return the tickets of an event by slot."""
    _names(study)
    key = _key(event, slots)
    try:
        return study.asked_slots(key) if slots else {_ONLY: study.asked(key)[0]}
    except UnknownTicketError:
        kind = "filled no slots in" if slots else "ranked no"
        words = f"study {study.name!r} {kind} event {event[:80]!r}"
        raise Refusal(404, "ResourceNotFound", words) from None


def _tell(scope: Scope, ticket: Ticket, reward: float) -> Tell:
    """Return what is told of a ticket, so that the same request sent again counts once."""
    key = idempotency_key(scope, _request_id(scope))
    return Tell(ticket, reward, None if key is None else f"{key}/{ticket.id}")


def _request_id(scope: Scope) -> str | None:
    """Return the id that a client gives a request, the same when it sends it again."""
    if any(name == b"idempotency-key" for name, _ in scope["headers"]):
        return None
    return next((v.decode("latin-1") for name, v in scope["headers"] if name == _REQUEST_ID), None)


def _json(content: dict[str, Any]) -> Response:
    return Response(json.dumps(content), 201, media_type="application/json")
