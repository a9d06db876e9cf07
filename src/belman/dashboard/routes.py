"""The routes of the page: its files, the streams that move it, and the demo."""

from __future__ import annotations

from pathlib import Path as File
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from belman.dashboard import demo
from belman.dashboard.feed import Feed
from belman.dashboard.feeds import Feeds, LiveResponse
from belman.dashboard.view import Wanted
from belman.errors import StorageError, StudyError
from belman.service.access import caller_of, requires, role_router
from belman.service.keys import Role
from belman.service.problems import problem
from belman.service.routes import (
    Archived,
    PartOfName,
    StudyName,
    encoded_response,
    json_response,
    registry_of,
)
from belman.service.views import status

router = APIRouter(tags=["page"])
_api = role_router(prefix="/api", tags=["page"])

_STATIC = File(__file__).parent / "static"
_KINDS = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_FILES = {file.name: file.read_bytes() for file in _STATIC.iterdir() if file.suffix[1:] in _KINDS}


@router.get("/", include_in_schema=False)
async def page() -> Response:
    """The page."""
    return _file("index.html")


@router.get("/assets/{file}", include_in_schema=False)
async def asset(file: str) -> Response:
    """A file of the page."""
    return _file(file) if file in _FILES else problem(404, "there is no such file")


def _file(name: str) -> Response:
    kind = _KINDS[File(name).suffix[1:]]
    return Response(_FILES[name], headers={"Cache-Control": "no-cache"}, media_type=kind)


@_api.get("/whoami", **requires(Role.READ))
async def whoami(request: Request) -> Response:
    """Return the role of the caller, and whether the service asks for keys."""
    caller = caller_of(request.scope)
    assert caller is not None  # the access control has let it in
    closed = await registry_of(request).requires_key()
    return json_response({"role": caller.role.word, "closed": closed})


@_api.get("/overview", **requires(Role.READ))
async def overview(
    request: Request,
    query: PartOfName = "",
    limit: Annotated[int, Query(ge=1, le=100, description="How many at most.")] = 30,
    archived: Archived = False,
) -> Response:
    """The studies and their counts for the first page; those of unknown classes are left out.

    One that cannot be opened or counted has its name and a `problem`, and breaks no list.
    """
    registry = registry_of(request)
    names = await registry.names(query, archived)
    result = []
    for name in names[:limit]:
        try:
            result.append(await registry.read(status, await registry.study(name)))
        except StudyError:
            continue
        except StorageError:
            raise
        except Exception as error:  # a list is whole whatever is wrong with one of its studies
            result.append({"name": name, "problem": f"{type(error).__name__}: {error}"})
    return json_response({"studies": result, "total": len(names)})


async def _feed(request: Request, name: StudyName) -> Feed:
    return await _feeds(request).of(name)


def _feeds(request: Request) -> Feeds:
    feeds: Feeds = request.app.state.feeds
    return feeds


StudyFeed = Annotated[Feed, Depends(_feed)]
_IDS = Query(pattern=r"^(\d{1,6}(,\d{1,6}){0,19})?$", description="More arms, by id, with commas.")
PinnedIds = Annotated[str, _IDS]
Details = Annotated[bool, Query(description="Beliefs, the manifold, why this arm now.")]


@_api.get("/studies/{name}/view", **requires(Role.READ))
async def view(
    request: Request, feed: StudyFeed, arms: PinnedIds = "", details: Details = False
) -> Response:
    """Return what the page shows of a study now."""
    wanted = _wanted(arms, details)
    shown = await registry_of(request).shared(
        feed.study, ("view", wanted, feed.judged), lambda: feed.views([wanted])[wanted]
    )
    return encoded_response(shown)


@_api.get("/studies/{name}/live", response_class=StreamingResponse, **requires(Role.READ))
async def live(
    request: Request, feed: StudyFeed, arms: PinnedIds = "", details: Details = False
) -> Response:
    """Stream what the page shows as server-sent events: a `view` whenever the study changes."""
    return LiveResponse(_feeds(request), feed, _wanted(arms, details))


@_api.get("/studies/{name}/arms", **requires(Role.READ))
async def search_arms(
    request: Request,
    feed: StudyFeed,
    query: PartOfName = "",
    limit: Annotated[int, Query(ge=1, le=200, description="How many at most.")] = 20,
) -> Response:
    """List arms by name, the most likely best first."""
    return json_response(await registry_of(request).read(feed.search, query, limit))


def _wanted(arms: str, details: bool) -> Wanted:
    return Wanted(tuple(sorted({int(one) for one in arms.split(",") if one})), details)


@_api.post("/demo", status_code=201, **requires(Role.ADMIN))
async def start_demo(request: Request) -> Response:
    """Let a simulated study play; one at a time."""
    registry, state = registry_of(request), request.app.state
    async with state.demo_lock:
        if state.demo is None or state.demo[1].done():
            name = (await registry.change(demo.new_study, registry.storage)).name
            state.demo = (name, registry.start_task(demo.play(registry, name)))
    return json_response({"name": state.demo[0]}, 201)


router.include_router(_api)
