"""The routes of feature flags, for clients that people have already: those of GrowthBook and of
OpenFeature's remote evaluation.

They stand outside of FastAPI's machinery, and answer from what was rendered at most a second ago.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections.abc import AsyncIterator
from typing import NamedTuple
from urllib.parse import unquote

from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from belman.bridges import growthbook, ofrep
from belman.bridges.flags import Flag, flag_of
from belman.errors import BelmanError, UnknownStudyError
from belman.service.access import caller_of, require_role
from belman.service.bodies import body_of
from belman.service.keys import Role
from belman.service.registry import Registry
from belman.service.sharing import SharedReads
from belman.studies import Study

#: Seconds for which flags are answered as they were rendered; between signs of life of a stream.
FRESH, ALIVE = 1.0, 15.0

_OFREP = re.compile(r"/ofrep/v1/evaluate/flags(?:/([^/]{1,600}))?")
_FEATURES = re.compile(r"/(api/features|sub)/[^/]+")


class Rendered(NamedTuple):
    """Flags by name, and the features that GrowthBook's clients fetch, with their tag."""

    flags: dict[str, Flag]
    features: bytes
    tag: str


class Flags:
    """All flags of a service, rendered anew when somebody asks and they are not fresh."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._until, self._result = 0.0, Rendered({}, b"", "")
        self._reads: SharedReads[Rendered] = SharedReads()

    async def now(self) -> Rendered:
        """The flags as they were a second ago at most."""
        if time.monotonic() < self._until:
            return self._result
        return await self._reads.read("flags", self._render)

    async def _render(self) -> Rendered:
        if time.monotonic() < self._until:  # another rendered them while this waited
            return self._result
        started, studies = time.monotonic(), []
        for name in await self._registry.names(""):
            try:
                studies.append(await self._registry.deciding_study(name))
            except UnknownStudyError:
                continue  # deleted a moment ago
        self._result = await self._registry.change(_rendered, studies)
        spent = time.monotonic() - started
        self._until = time.monotonic() + max(FRESH, 10.0 * spent)
        return self._result


def _rendered(studies: list[Study]) -> Rendered:
    flags = []
    for study in studies:
        try:
            flags.append(flag_of(study))
        except BelmanError:
            continue  # paused by a guard, restored under the service, or deleted: it says so itself
    result = {flag.name: flag for flag in flags if flag is not None}
    features = json.dumps(growthbook.payload(result.values()), ensure_ascii=False).encode()
    return Rendered(result, features, _tag(features))


def _tag(content: bytes) -> str:
    return f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'


class FlagRoutes:
    """Middleware that answers the clients of feature flags, and passes everything else on."""

    def __init__(self, app: ASGIApp, registry: Registry) -> None:
        self.app, self.registry, self.flags = app, registry, Flags(registry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        response: Response | None = None
        if scope.get("method") == "GET" and (result := _FEATURES.fullmatch(path)):
            require_role(scope, Role.FLAGS)
            stream = result[1] == "sub"
            response = self._stream(scope) if stream else await self._features(scope)
        elif scope.get("method") == "POST" and (result := _OFREP.fullmatch(path)):
            require_role(scope, Role.FLAGS)
            one = "" if result[1] is None else "/{key}"
            scope["belman.route"] = f"/ofrep/v1/evaluate/flags{one}"
            response = await self._evaluate(scope, result[1], await body_of(receive))
        await (self.app if response is None else response)(scope, receive, send)

    # GrowthBook

    async def _features(self, scope: Scope) -> Response:
        result = await self.flags.now()
        headers = {"ETag": result.tag, "Cache-Control": "max-age=1", "x-sse-support": "enabled"}
        return _unless_known(scope, result.features, result.tag, headers)

    def _stream(self, scope: Scope) -> Response:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(
            self._events(scope), headers=headers, media_type="text/event-stream"
        )

    async def _events(self, scope: Scope) -> AsyncIterator[bytes]:
        caller, known, said = caller_of(scope), "", time.monotonic()
        assert caller is not None
        with self.registry.streams.one_more(caller.name):
            while not self.registry.stopping.is_set():
                result = await self.flags.now()
                if result.tag != known:
                    known, said = result.tag, time.monotonic()
                    yield b"event: features\ndata: " + result.features + b"\n\n"
                elif time.monotonic() - said > ALIVE:
                    said = time.monotonic()
                    if not await self.registry.admits(caller.given):
                        return
                    yield b": alive\n\n"
                try:
                    await asyncio.wait_for(self.registry.stopping.wait(), FRESH)
                except TimeoutError:
                    continue

    # OFREP

    async def _evaluate(self, scope: Scope, key: str | None, body: bytes) -> Response:
        name = None if key is None else unquote(key)
        try:
            who = ofrep.asked(body)
            flags = (await self.flags.now()).flags
            if name is not None:
                return _json(ofrep.evaluated(flags.get(name), name, who))
            content = json.dumps(ofrep.all_evaluated(flags.values(), who)).encode()
        except ofrep.Refusal as refusal:
            return _json(refusal.described(name), refusal.status)
        tag = _tag(content)
        return _unless_known(scope, content, tag, {"ETag": tag})


def _json(content: dict[str, object], status: int = 200) -> Response:
    return Response(json.dumps(content), status, media_type="application/json")


def _unless_known(scope: Scope, content: bytes, tag: str, headers: dict[str, str]) -> Response:
    """The content, or 304 for who has it already."""
    for name, value in scope["headers"]:
        if name == b"if-none-match":
            given = value.decode("latin-1").split(",")
            if tag in (one.strip().removeprefix("W/") for one in given):
                return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type="application/json")
