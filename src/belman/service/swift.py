"""The short way for ask and tell: the answers of their routes in the OpenAPI document, at a
fraction of the cost.

Most requests of a service are these two, and most of what one costs on the long way is finding out
what its route wants.
"""

from __future__ import annotations

import re

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from belman.errors import BelmanError, StorageError
from belman.service.guard import admit
from belman.service.keys import Role
from belman.service.models import AskBody, TellBody
from belman.service.problems import invalid, problem_of
from belman.service.routes import asked, told
from belman.service.shelf import Shelf

_PATH = re.compile(r"/api/studies/([^/]{1,200})/(ask|tell)")


class Swift:
    """Middleware that answers ask and tell itself, and passes everything else on."""

    def __init__(self, app: ASGIApp, shelf: Shelf) -> None:
        self.app, self.shelf = app, shelf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = (
            _PATH.fullmatch(scope["path"])
            if scope["type"] == "http" and scope["method"] == "POST"
            else None
        )
        if found is None or (b"content-type", b"application/json") not in scope["headers"]:
            await self.app(scope, receive, send)
            return
        scope["belman.route"] = f"/api/studies/{{name}}/{found[2]}"
        admit(scope, Role.PLAY)
        response = await self._answer(found[1], found[2], await Request(scope, receive).body())
        await response(scope, receive, send)

    async def _answer(self, name: str, what: str, body: bytes) -> Response:
        try:
            if what == "ask":
                return await asked(self.shelf, name, AskBody.model_validate_json(body))
            return await told(self.shelf, name, TellBody.model_validate_json(body))
        except ValidationError as error:
            return invalid(
                [(("body", *one["loc"]), one["msg"]) for one in error.errors(include_input=False)]
            )
        except StorageError:
            raise
        except BelmanError as error:
            return problem_of(error)
