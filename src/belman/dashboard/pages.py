"""The routes of the page: its files, the streams that move it, and the demo."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path as File
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from belman.dashboard import demo
from belman.dashboard.feed import Feed, stream
from belman.errors import StudyError
from belman.service.guard import guarded_router, needs
from belman.service.keys import Role
from belman.service.looks import status
from belman.service.problems import problem
from belman.service.routes import Named, answer, shelf_of

router = APIRouter(tags=["page"])
_guarded = guarded_router(prefix="/api", tags=["page"])

_STATIC = File(__file__).parent / "static"
_KINDS = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
_FILES = {
    path.name: path.read_bytes() for path in sorted(_STATIC.iterdir()) if path.suffix in _KINDS
}


@router.get("/", include_in_schema=False)
async def page() -> Response:
    """The page."""
    return _file("index.html")


@router.get("/assets/{file}", include_in_schema=False)
async def asset(file: str) -> Response:
    """A file of the page."""
    return _file(file) if file in _FILES else problem(404, "there is no such file")


def _file(name: str) -> Response:
    return Response(
        _FILES[name], headers={"Cache-Control": "no-cache"}, media_type=_KINDS[File(name).suffix]
    )


@_guarded.get("/whoami", **needs(Role.READ))
async def whoami(request: Request) -> Response:
    """The role of the caller, and whether the service asks for keys."""
    role: Role = request.scope["belman.role"]
    return answer({"role": role.word, "closed": await shelf_of(request).is_closed()})


@_guarded.get("/overview", **needs(Role.READ))
async def overview(
    request: Request,
    query: Annotated[str, Query(max_length=200, description="Part of a name.")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 30,
) -> Response:
    """The studies and their counts, as the first page lists them; one of a class that is not
    imported here is left out.
    """
    shelf = shelf_of(request)
    names = [
        name for name in await shelf.run(shelf.storage.names) if query.casefold() in name.casefold()
    ]
    found = []
    for name in names[:limit]:
        with suppress(StudyError):
            found.append(await shelf.run(status, await shelf.study(name)))
    return answer({"studies": found, "total": len(names)})


async def _feed(request: Request, name: Named) -> Feed:
    study = await shelf_of(request).study(name)
    feeds: dict[str, Feed] = request.app.state.feeds
    if name not in feeds or feeds[name].study is not study:
        feeds[name] = Feed(study)
    return feeds[name]


Fed = Annotated[Feed, Depends(_feed)]
Pinned = Annotated[
    str,
    Query(
        pattern=r"^(\d{1,6}(,\d{1,6}){0,19})?$",
        description="Arms to show beside the top ones, by id, with commas.",
    ),
]


@_guarded.get("/studies/{name}/view", **needs(Role.READ))
async def view(request: Request, feed: Fed, arms: Pinned = "") -> Response:
    """What the page shows of a study now."""
    return answer(await shelf_of(request).run(feed.view, _ids(arms)))


@_guarded.get("/studies/{name}/live", response_class=StreamingResponse, **needs(Role.READ))
async def live(request: Request, feed: Fed, arms: Pinned = "") -> Response:
    """The same as a stream of server-sent events: a `view` whenever the study moved."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(
        stream(feed, shelf_of(request), _ids(arms)), headers=headers, media_type="text/event-stream"
    )


@_guarded.get("/studies/{name}/arms", **needs(Role.READ))
async def search_arms(
    request: Request,
    feed: Fed,
    query: Annotated[str, Query(max_length=200, description="Part of a name.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> Response:
    """Arms by name, the likeliest best first."""
    return answer(await shelf_of(request).run(feed.search, query, limit))


def _ids(arms: str) -> list[int]:
    return [int(one) for one in arms.split(",") if one]


@_guarded.post("/demo", status_code=201, **needs(Role.ADMIN))
async def start_demo(request: Request) -> Response:
    """Let a simulated study play; one at a time."""
    shelf, state = shelf_of(request), request.app.state
    async with state.demo_lock:
        if state.demo is None or state.demo[1].done():
            name = (await shelf.run(demo.new_study, shelf.storage)).name
            state.demo = (name, shelf.start(demo.play(shelf, name)))
    return answer({"name": state.demo[0]}, 201)


router.include_router(_guarded)
