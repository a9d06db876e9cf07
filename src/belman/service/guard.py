"""Routes that say which role they need, in the OpenAPI document too, and check it before the body
is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from belman.service.keys import Role, role_named
from belman.service.models import Problem
from belman.service.problems import MEDIA_TYPE, RefusedError

_NEEDED = "x-role"
_PROBLEM = {"model": Problem, "content": {MEDIA_TYPE: {}}, "description": "What is wrong."}


def admit(scope: Scope, needed: Role) -> None:
    """Refuse a caller whom the gate did not give this role, or a higher one."""
    role = scope.get("belman.role")
    if role is None or role < needed:
        raise RefusedError(403, f"this needs a key with the role {needed.word!r}")


class GuardedRoute(APIRoute):
    """A route with the role that it needs; one without a role cannot be made."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handler = super().get_route_handler()
        needed = role_named((self.openapi_extra or {})[_NEEDED])

        async def guarded(request: Request) -> Response:
            admit(request.scope, needed)
            return await handler(request)

        return guarded


def guarded_router(**options: Any) -> APIRouter:
    """A router whose every route is guarded."""
    return APIRouter(route_class=GuardedRoute, **options)


def needs(role: Role, *problems: int) -> dict[str, Any]:
    """What a route's decorator says of its role and of what may go wrong, whichever route it is."""
    usual = (401, 403, 404, 413, 422, 429, 503)
    return {
        "openapi_extra": {_NEEDED: role.word, "security": [{"key": []}]},
        "responses": dict.fromkeys(sorted({*usual, *problems}), _PROBLEM),
    }
