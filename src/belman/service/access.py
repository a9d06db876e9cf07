"""Access control: keys, roles, limits on rates and bodies, checked before a request is read."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes, urlsplit

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from belman.errors import StorageError
from belman.service import logs
from belman.service.answers import Problem
from belman.service.keys import Role, role_named
from belman.service.problems import MEDIA_TYPE, RefusedError, problem, problem_of
from belman.service.registry import Registry
from belman.service.sharing import Recent

log = logging.getLogger("belman.service")

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
WRONG_KEYS_PER_SECOND = 5.0
READY_PER_SECOND = 10.0  # of one address, which needs no key for it
TOO_MANY_SECONDS = 0.05  # that a request waits for its refusal if it is one too many
LONGEST_KEY = 200  # characters of an idempotency key
MAX_CALLERS = 10_000
MAX_DRAINED = 32_000_000
_OUTCOMES = ("/tell", "/tells", "/observations", "/correct", "/reward")  # where they are sent
_FOR_GOOD = {400, 401, 403, 404, 409, 413, 422}  # what else is wrong may go well the next time
_SAFE = {"GET", "HEAD", "OPTIONS"}
_PROTECTED = ("/api/", "/metrics", "/ofrep/", "/sub/")
#: Where a key stands in the path, as GrowthBook's clients send it: no log shows it.
_WITH_KEY = ("/api/features/", "/sub/")
_READY = "/readyz"
_ROLE = "x-role"
_PROBLEM = {"model": Problem, "content": {MEDIA_TYPE: {}}, "description": "What is wrong."}
_POLICY = b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
_SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", _POLICY),
)


class Caller(NamedTuple):
    """Who sent a request: by the id of a key, or by an address where keys are not asked for."""

    name: str
    key_id: str | None
    role: Role
    given: str | None  # the key itself, to be looked at again as long as a stream lasts


def caller_of(scope: Scope) -> Caller | None:
    """Who sent a request, once the access control has let it in."""
    result: Caller | None = scope.get("belman.caller")
    return result


def idempotency_key(scope: Scope, in_body: str | None = None) -> str | None:
    """The idempotency key of a request, from its header or its body: the caller's own.

    Keys belong to the API key that used them, so that nobody meets another's by chance or design.
    """
    sent = [value for name, value in scope["headers"] if name == b"idempotency-key"]
    given = {*(unquote_to_bytes(value).decode("utf-8", "replace") for value in sent)}
    given |= set() if in_body is None else {in_body}
    if len(given) > 1:
        raise RefusedError(422, "the header Idempotency-Key and the key of the body differ")
    if not given:
        return None
    key = given.pop()
    if not 0 < len(key) <= LONGEST_KEY:
        raise RefusedError(422, f"an idempotency key has 1 to {LONGEST_KEY} characters")
    caller = caller_of(scope)
    own = caller is not None and caller.key_id is not None
    return f"{caller.key_id}:{key}" if own and caller is not None else key


def charge(scope: Scope, more: int) -> None:
    """Count a request as `more` requests: a caller who asks for many tickets waits the longer."""
    caller = caller_of(scope)
    if caller is not None and more > 0:
        scope["belman.rate"].charge(caller.name, more)


class RateLimit:
    """A token bucket for each caller: `per_second` on average, twice that at once."""

    def __init__(self, per_second: float) -> None:
        self._per_second, self._most = per_second, max(2.0 * per_second, 1.0)
        self._buckets: Recent[str, tuple[float, float]] = Recent(MAX_CALLERS)

    def allows(self, caller: str) -> bool:
        """Whether the caller may send a request now, which counts as sent."""
        now = time.monotonic()
        left, since = self._buckets.get(caller, (self._most, now))
        left = min(self._most, left + (now - since) * self._per_second)
        allowed = left >= 1.0
        self._buckets.keep(caller, (left - allowed, now))
        return allowed

    def charge(self, caller: str, more: int) -> None:
        """Count `more` requests of a caller who was allowed in: a debt, paid by waiting."""
        left, since = self._buckets.get(caller, (self._most, time.monotonic()))
        self._buckets[caller] = (left - more, since)


class AccessControl:
    """Middleware: lets a request in with its caller's role, or answers a problem; counts both."""

    def __init__(self, app: ASGIApp, registry: Registry) -> None:
        self.app, self.registry, self.max_body = app, registry, registry.limits.max_body
        self._rate = RateLimit(registry.limits.rate)
        self._wrong_keys = RateLimit(WRONG_KEYS_PER_SECOND)
        self._unknown = RateLimit(READY_PER_SECOND)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500
        began = False
        said = b""

        async def answer(message: Message) -> None:
            nonlocal status, began, said
            if message["type"] == "http.response.start":
                status, began = message["status"], True
                message["headers"] = [*message.get("headers", ()), *_SECURITY_HEADERS]
            elif status >= 400:
                said = message.get("body", b"")
            await send(message)

        try:
            await self._check(scope, receive)
            await self.app(scope, self._limited(scope, receive), answer)
        except RefusedError as error:
            response = problem(error.status_code, error.detail, headers=error.headers)
            await response(scope, receive, answer)
        except StorageError as error:
            log.warning("storage: %s", error)
            await problem_of(error)(scope, receive, answer)
        except ClientDisconnect:
            status = 499  # nobody is there to be answered
        except Exception:
            log.exception("%s %s broke", scope["method"], _route(scope))
            if began:
                raise
            response = problem(500, "this is a fault of the service; its log says more")
            await response(scope, receive, answer)
        finally:
            taken, route = time.perf_counter() - started, _route(scope)
            self.registry.metrics.answered(scope["method"], route, status, taken)
            caller = caller_of(scope)
            sent_by = "-" if caller is None else caller.name
            path = route if scope["path"].startswith(_WITH_KEY) else scope["path"]
            logs.answered(scope["method"], path, status, taken, sent_by)
            if status in _FOR_GOOD and scope["path"].endswith(_OUTCOMES):
                self.registry.metrics.refused.inc()
                logs.refused(scope["path"], _detail(said), status)

    async def _check(self, scope: Scope, receive: Receive) -> None:
        headers = dict(reversed(scope["headers"]))  # of two with one name the first counts
        size = headers.get(b"content-length", b"0")
        if not size.isdigit() or int(size) > self.max_body:
            raise await self._too_large(receive)
        path, client = scope["path"], scope.get("client")
        address = client[0] if client else "unknown"
        if not path.startswith(_PROTECTED):
            if path == _READY and not self._unknown.allows(address):
                raise await _too_many()
            return
        caller = Caller(address, None, Role.ADMIN, None)
        given = headers.get(b"authorization", b"")
        if beginning := next(filter(path.startswith, _WITH_KEY), None):
            scope["belman.route"] = f"{beginning}{{key}}"
            given = b"Bearer " + path.removeprefix(beginning).encode("latin-1", "replace")
        elif path.startswith("/ofrep/") and not given:
            given = b"Bearer " + headers.get(b"x-api-key", b"")
        if await self.registry.requires_key():
            caller = await self._authenticate(given, address)
        else:
            origin = headers.get(b"origin", b"")
            if origin.decode("latin-1") in self.registry.limits.origins:
                origin = b""
            _check_origin(scope["method"], headers.get(b"host", b""), origin)
        scope["belman.caller"], scope["belman.rate"] = caller, self._rate
        if not self._rate.allows(caller.name):
            raise await _too_many()

    async def _authenticate(self, header: bytes, address: str) -> Caller:
        scheme, _, given = header.decode("latin-1").partition(" ")
        challenge = {"WWW-Authenticate": "Bearer"}
        if scheme.lower() != "bearer" or not given:
            detail = "give your key in the header 'Authorization: Bearer belman_…'"
            raise RefusedError(401, detail, challenge)
        key = await self.registry.key(given.strip()) if len(given) < 200 else None
        if key is None and not self._wrong_keys.allows(address):
            raise await _too_many("too many wrong keys from this address: slow down")
        if key is None:
            raise RefusedError(401, "this key is unknown, or was revoked", challenge)
        return Caller(key.id, key.id, key.role, given.strip())

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self.max_body:
                raise await self._too_large(receive)
            return message

        return limited

    async def _too_large(self, receive: Receive) -> RefusedError:
        await _drain(receive)
        return RefusedError(413, f"the body is too large: it may have {self.max_body:,} bytes")


async def _drain(receive: Receive) -> None:
    """Read on, keeping nothing, so that a caller who is still sending gets to read why not."""
    read = 0
    while read < MAX_DRAINED:
        message = await receive()
        read += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return


def _detail(said: bytes) -> str:
    """What a problem says is wrong."""
    try:
        return str(json.loads(said)["detail"])
    except (ValueError, KeyError, TypeError):
        return "its log says more"


async def _too_many(detail: str = "too many requests: slow down") -> RefusedError:
    """The refusal of one request too many, after a moment: who sends the next at once would
    otherwise have more answers in a second than all who are let in.
    """
    await asyncio.sleep(TOO_MANY_SECONDS)
    return RefusedError(429, detail, {"Retry-After": "1"})


@lru_cache
def _check_origin(method: str, host: bytes, origin: bytes) -> None:
    """Without keys, no other site's page may act through the browser of its operator."""
    named, site = host.decode("latin-1"), origin.decode("latin-1")
    if _host(f"//{named}", "hostname") not in LOOPBACK:
        raise RefusedError(421, "without keys this service answers on localhost only")
    foreign = site and _host(site, "netloc") != named
    if foreign and method not in _SAFE:
        raise RefusedError(403, "a page of another site may not do this")


def _host(address: str, part: str) -> object:
    """A part of an address, or None of one that is none."""
    try:
        return getattr(urlsplit(address), part)
    except ValueError:
        return None


def _route(scope: Scope) -> str:
    """The route as it is written in the OpenAPI document: few of them, whatever is asked for."""
    result: Any = scope.get("route")
    return scope.get("belman.route") or getattr(result, "path", None) or "none"


def require_role(scope: Scope, needed: Role) -> None:
    """Refuse a caller who does not have this role, or a higher one."""
    caller = caller_of(scope)
    if caller is None or caller.role < needed:
        raise RefusedError(403, f"this needs a key with the role {needed.word!r}")


class RoleRoute(APIRoute):
    """A route that checks the role it needs before the body is read; one without cannot be made."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handler = super().get_route_handler()
        needed = role_named((self.openapi_extra or {})[_ROLE])

        async def checked(request: Request) -> Response:
            require_role(request.scope, needed)
            return await handler(request)

        return checked


def role_router(**options: Any) -> APIRouter:
    """A router whose every route says which role it needs."""
    return APIRouter(route_class=RoleRoute, **options)


def requires(role: Role, *problems: int) -> dict[str, Any]:
    """What a route tells the OpenAPI document: the role it needs, and what may go wrong."""
    usual = (401, 403, 404, 413, 422, 429, 503)
    return {
        "openapi_extra": {_ROLE: role.word, "security": [{"key": []}]},
        "responses": dict.fromkeys(sorted({*usual, *problems}), _PROBLEM),
    }
