"""The service as an ASGI application: a storage in, routes behind a gate out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

from belman.errors import BelmanError, needing
from belman.version import __version__

with needing("a service", "service", "prometheus_client", "fastapi"):
    import prometheus_client  # noqa: F401
    from fastapi import APIRouter, FastAPI
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

from starlette.requests import Request
from starlette.responses import Response

from belman.service import routes
from belman.service.gate import Gate
from belman.service.guard import guarded_router, needs
from belman.service.keys import Role
from belman.service.metrics import Metrics
from belman.service.problems import invalid, problem
from belman.service.shelf import Shelf
from belman.service.swift import Swift
from belman.studies import Storage

MAX_BODY = 1_000_000
RATE = 2_000.0

health = APIRouter(tags=["health"])
measured = guarded_router(tags=["health"])


def create_app(
    storage: Storage,
    *,
    closed: bool = False,
    max_body: int = MAX_BODY,
    rate: float = RATE,
    routers: Iterable[APIRouter] = (),
    beside: Iterable[Callable[[Shelf], Coroutine[Any, Any, None]]] = (),
) -> FastAPI:
    """The service of a storage; `closed` asks for keys even where there is none yet.

    `routers` are served beside the studies', and the coroutines that `beside` makes run as long as
    the service does. All state lives in the storage, so that any number of such services may stand
    on one.
    """
    shelf = Shelf(storage, Metrics(), closed)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        for make in beside:
            shelf.start(make(shelf))
        yield
        await shelf.close()

    app = FastAPI(
        title="belman",
        version=__version__,
        description="Bayesian bandits that survive: ask which arm to try, tell its reward, watch what is believed.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        swagger_ui_oauth2_redirect_url=None,
    )
    app.state.shelf = shelf
    app.add_exception_handler(BelmanError, routes.refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _failed)
    for router in (routes.router, health, measured, *routers):
        app.include_router(router)
    app.add_middleware(Swift, shelf=shelf)
    app.add_middleware(Gate, shelf=shelf, max_body=max_body, rate=rate)
    _describe_key(app)
    return app


@health.get("/healthz")
async def healthz() -> dict[str, str]:
    """Whether the service runs."""
    return {"status": "ok"}


@health.get("/readyz", responses={503: {"description": "The storage cannot be reached."}})
async def readyz(request: Request) -> dict[str, str]:
    """Whether the service can do its work: 503 while the storage cannot be reached."""
    shelf = routes.shelf_of(request)
    await shelf.run(shelf.keys.any)
    return {"status": "ready"}


@measured.get("/metrics", response_class=Response, **needs(Role.READ))
async def metrics(request: Request) -> Response:
    """Counters for Prometheus."""
    return Response(routes.shelf_of(request).metrics.text(), media_type="text/plain; version=0.0.4")


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return invalid([(one["loc"], str(one["msg"])) for one in error.errors()])


def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem(error.status_code, str(error.detail), headers=dict(error.headers or {}))


def _describe_key(app: FastAPI) -> None:
    """Say in the OpenAPI document how a key is given."""
    original = app.openapi

    def openapi() -> dict[str, Any]:
        document = original()
        schemes = document.setdefault("components", {}).setdefault("securitySchemes", {})
        schemes["key"] = {
            "type": "http",
            "scheme": "bearer",
            "description": "A key of `belman key add`.",
        }
        return document

    app.openapi = openapi  # type: ignore[method-assign]
