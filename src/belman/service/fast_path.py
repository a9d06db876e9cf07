"""The fast path of ask, tell and observe: what their routes answer in OpenAPI, at a fraction of the
cost.

Most requests of a service are the first two, and most of what one costs on the way through FastAPI
is finding out what its route wants. Outcomes in bulk are large: here they are read in a thread.
"""

from __future__ import annotations

import re

from pydantic import ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from belman.errors import BelmanError, StorageError, UnknownStudyError
from belman.service.access import require_role
from belman.service.bodies import body_of
from belman.service.edge_routes import answer_observe
from belman.service.keys import Role
from belman.service.models import AskBody, TellBody
from belman.service.problems import invalid, problem_of
from belman.service.registry import Registry
from belman.service.routes import answer_ask, answer_tell

_PATH = re.compile(r"/api/studies/([^/]{1,200})/(ask|tell|observations)")


class FastPath:
    """Middleware that answers ask and tell itself, and passes everything else on."""

    def __init__(self, app: ASGIApp, registry: Registry) -> None:
        self.app, self.registry = app, registry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        result = _PATH.fullmatch(scope["path"]) if is_post else None
        if result is None or (b"content-type", b"application/json") not in scope["headers"]:
            await self.app(scope, receive, send)
            return
        scope["belman.route"] = f"/api/studies/{{name}}/{result[2]}"
        require_role(scope, Role.PLAY)
        response = await self._answer(scope, result[1], result[2], await body_of(receive))
        await response(scope, receive, send)

    async def _answer(self, scope: Scope, name: str, what: str, body: bytes) -> Response:
        try:
            if what == "ask":
                asked = AskBody.model_validate_json(body)
                return await answer_ask(self.registry, scope, name, asked)
            if what == "observations":
                return await answer_observe(self.registry, scope, name, body)
            told = TellBody.model_validate_json(body)
            return await answer_tell(self.registry, scope, name, told)
        except ValidationError as error:
            faults = error.errors(include_input=False)
            return invalid([(("body", *one["loc"]), one["msg"]) for one in faults])
        except StorageError:
            raise
        except BelmanError as error:
            if isinstance(error, UnknownStudyError):
                self.registry.forget(name)
            return problem_of(error)
