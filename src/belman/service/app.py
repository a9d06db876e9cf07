"""The service as an ASGI application, and its server: on loopback by default, dropping nobody."""

from __future__ import annotations

import inspect
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

from belman.errors import BelmanError, ServiceError, SettingError, UnknownStudyError, needing
from belman.version import __version__

with needing("a service", "service", "prometheus_client", "fastapi", "uvicorn", "httptools"):
    import httptools  # noqa: F401
    import prometheus_client  # noqa: F401
    import uvicorn
    from fastapi import APIRouter, FastAPI
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response

from belman.service import edge_routes, rank_routes, routes
from belman.service.access import LONGEST_KEY, LOOPBACK, AccessControl, requires, role_router
from belman.service.fast_path import FastPath
from belman.service.guard import guarded
from belman.service.keys import Keys, Role
from belman.service.limits import Limits
from belman.service.metrics import Metrics
from belman.service.problems import MEDIA_TYPE as PROBLEM
from belman.service.problems import invalid, problem, problem_of
from belman.service.readiness import Readiness
from belman.service.registry import Registry
from belman.studies import Storage

GRACE_SECONDS = 10
_HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "If-None-Match")
_OF_FLAGS = ("X-API-Key", "Cache-Control", "Last-Event-ID")  # headers of their clients
SWITCH_SECONDS = 2e-4  # for so long a thread that reads may keep one that decides from running

health = APIRouter(tags=["health"])
measured = role_router(tags=["health"])

#: Newer FastAPI looks before every request whether somebody has set up telemetry, which takes a
#: tenth of an ask. What there is to measure is in `/metrics`.
_NO_TELEMETRY: dict[str, Any] = (
    {"telemetry": {"tracing": False, "metrics": False, "logs": False}}
    if "telemetry" in inspect.signature(FastAPI).parameters
    else {}
)


def create_app(
    storage: Storage,
    *,
    require_keys: bool = False,
    limits: Limits | None = None,
    clock: Callable[[], float] = time.monotonic,
    routers: Iterable[APIRouter] = (),
    background: Iterable[Callable[[Registry], Coroutine[Any, Any, None]]] = (),
    middleware: Iterable[Any] = (),
    around: Iterable[Any] = (),
    warm: bool = False,
) -> FastAPI:
    """The service of a storage; `require_keys` asks for keys even where there is none yet, and
    `warm` says that it is not ready before what an ask needs is loaded.

    `routers` are served beside the studies', `middleware` (made of an app and a `registry`) answers
    before them, and what is `around` stands outside of the access control, for protocols that give
    keys and say what is wrong in their own way. The coroutines that `background` makes run as long
    as the service does. All state lives in the storage, so that any number of such services may
    stand on one. The `clock` says how old is what is known of a key.
    """
    registry = Registry(storage, Metrics(), require_keys, limits, clock)
    readiness = Readiness(registry, clock, is_warm=not warm)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        for make in background:
            registry.start_task(make(registry))
        if warm:
            registry.start_task(readiness.warm())
        yield
        await registry.close()

    app = FastAPI(
        title="belman",
        version=__version__,
        description="Durable Bayesian bandits: "
        "ask which arm to try, tell its reward, watch what is learnt.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        swagger_ui_oauth2_redirect_url=None,
        generate_unique_id_function=lambda route: route.name,  # of generated clients
        **_NO_TELEMETRY,
    )
    app.state.registry, app.state.readiness = registry, readiness
    app.add_exception_handler(BelmanError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _failed)
    for router in (
        routes.router,
        edge_routes.router,
        rank_routes.router,
        health,
        measured,
        *routers,
    ):
        app.include_router(router)
    app.add_middleware(FastPath, registry=registry)
    for one in middleware:
        app.add_middleware(one, registry=registry)
    app.add_middleware(AccessControl, registry=registry)
    for one in around:
        app.add_middleware(one)
    if origins := registry.limits.origins:  # around the rest, since a browser asks first, keyless
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=[*_HEADERS, *_OF_FLAGS],
            expose_headers=["ETag", "Retry-After", "x-sse-support"],
        )
    _describe(app)
    return app


@health.get("/healthz")
async def healthz() -> dict[str, str]:
    """Whether the service runs."""
    return {"status": "ok"}


@health.get("/readyz", response_model=None, responses={503: {"description": "Not ready."}})
async def readyz(request: Request) -> dict[str, str] | Response:
    """Whether the service can do its work: 503 while the storage takes nothing (a full disk), until
    what an ask needs is loaded, and while the log of a study is not the one that it knows.
    """
    readiness: Readiness = request.app.state.readiness
    if not readiness.is_warm:
        return problem(503, "this service is not warm yet", headers={"Retry-After": "1"})
    if not await readiness.is_ready():
        words = "the storage of this service cannot be written at the moment"
        return problem(503, words, headers={"Retry-After": "1"})
    if studies := request.app.state.registry.storage.out_of_step:
        words = f"{len(studies)} of the studies had their log restored or edited under this service"
        return problem(503, f"{words}: restart it, or reopen them", headers={"Retry-After": "1"})
    return {"status": "ready"}


@measured.get("/metrics", response_class=Response, **requires(Role.READ))
async def prometheus(request: Request) -> Response:
    """Counters for Prometheus."""
    counters = routes.registry_of(request).metrics.text()
    return Response(counters, media_type="text/plain; version=0.0.4")


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, BelmanError)
    if isinstance(error, UnknownStudyError):
        request.app.state.registry.forget(request.path_params.get("name", ""))
    return problem_of(error)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return invalid([(one["loc"], str(one["msg"])) for one in error.errors()])


def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return problem(error.status_code, str(error.detail), headers=dict(error.headers or {}))


#: How a change says which request it is, in the OpenAPI document.
_IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A key of this request: sent again with the same one, it is answered alike and "
    "done once. Percent-encoded where it is not plain letters and digits.",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY},
}


def _describe(app: FastAPI) -> None:
    """Say in the OpenAPI document how keys are given, and as what problems come."""
    original = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        document = original()
        schemes = document.setdefault("components", {}).setdefault("securitySchemes", {})
        how = "A key of `belman key add`."
        schemes["key"] = {"type": "http", "scheme": "bearer", "description": how}
        for methods in document["paths"].values():
            for method, operation in methods.items():
                if method != "get":
                    operation.setdefault("parameters", []).append(_IDEMPOTENCY_KEY)
                for response in operation["responses"].values():
                    content = response.get("content", {})
                    if PROBLEM in content:  # FastAPI gives its schema to JSON
                        content[PROBLEM] = content.pop("application/json")
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def needs_keys(host: str, storage: Storage) -> bool:
    """Whether requests to this host need keys; SettingError where they do and there is none."""
    if host in LOOPBACK:
        return False
    if not any(key.revoked is None for key in Keys(storage).all()):
        raise SettingError(
            f"host={host!r} can be reached from elsewhere, and there is no key that guards it: "
            f"make one first, belman key add NAME --role admin --storage {storage}"
        )
    return True


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes one that is free."""
    listening = None
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        if listening is not None:
            listening.close()
        raise ServiceError(f"cannot listen on {host} port {port}: {error}") from None
    return listening


Ready = Callable[[], None] | None


def server_settings(app: Any, *, quiet: bool = True) -> uvicorn.Config:
    """How a service is served: behind a guard, and believing only the proxies that it was told."""
    limits: Limits = app.state.registry.limits
    return uvicorn.Config(
        app,
        log_config=None,  # `logs` sets it up
        log_level="warning" if quiet else "info",
        access_log=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=limits.idle_seconds,  # type: ignore[arg-type]
        server_header=False,
        http=guarded(limits),
        ws="none",
        proxy_headers=bool(limits.proxies),
        forwarded_allow_ips=list(limits.proxies),
    )


def serve(app: Any, listening: socket.socket, *, quiet: bool = False, ready: Ready = None) -> None:
    """Answer until SIGINT or SIGTERM; then finish what is under way, and stop."""
    sys.setswitchinterval(SWITCH_SECONDS)
    config = server_settings(app, quiet=quiet)
    _Server(config, app.state.registry, ready).run([listening])


class _Server(uvicorn.Server):
    """A server that tells the pages which watch it that it stops, and somebody that it began."""

    def __init__(self, config: uvicorn.Config, registry: Registry, ready: Ready) -> None:
        super().__init__(config)
        self._registry, self._ready = registry, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._ready is not None and self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop once what is under way is done, at a second SIGINT at once; the exit is clean."""
        self._registry.stopping.set()
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
