"""The routes of studies: create and list, ask and tell, look, change."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Query
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from belman.errors import BelmanError
from belman.service import models
from belman.service.guard import guarded_router, needs
from belman.service.keys import Role
from belman.service.kinds import kind_of, status_of
from belman.service.looks import creation, exported, history, plain, status, turn
from belman.service.problems import problem_of
from belman.service.shelf import Shelf
from belman.studies import Ask, Study, Tell
from belman.table import Table

router = guarded_router(prefix="/api/studies", tags=["studies"])


def shelf_of(request: Request) -> Shelf:
    """The studies that this service has open."""
    shelf: Shelf = request.app.state.shelf
    return shelf


async def _study(request: Request, name: Named) -> Study:
    return await shelf_of(request).study(name)


Named = Annotated[str, Path(max_length=200, examples=["checkout-button"])]
Here = Annotated[Study, Depends(_study)]


def answer(content: Any, code: int = 200) -> Response:
    """JSON, in which numbers that JSON lacks are words."""
    return Response(
        json.dumps(plain(content), allow_nan=False).encode(), code, media_type="application/json"
    )


# Studies


@router.get("", response_model=models.StudiesOut, **needs(Role.READ))
async def list_studies(
    request: Request,
    query: Annotated[str, Query(max_length=200, description="Part of a name.")] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> Response:
    """The names of the studies, in order."""
    shelf = shelf_of(request)
    names = [
        name for name in await shelf.run(shelf.storage.names) if query.casefold() in name.casefold()
    ]
    return answer({"studies": names[:limit], "total": len(names)})


@router.post("", response_model=models.StatusOut, status_code=201, **needs(Role.ADMIN, 409))
async def create_study(request: Request, new: models.NewStudy) -> Response:
    """Create a study; one that is there already with these settings is as good."""
    shelf = shelf_of(request)
    study = await shelf.run(creation, new, shelf.storage)
    return answer(await shelf.run(status, study), 201)


@router.get("/{name}", response_model=models.StatusOut, **needs(Role.READ))
async def study_status(request: Request, study: Here) -> Response:
    """Counts of all kinds, from one moment."""
    return answer(await shelf_of(request).run(status, study))


# Asking and telling


@router.post("/{name}/ask", response_model=models.TicketsOut, **needs(Role.PLAY, 409))
async def ask(request: Request, name: Named, body: models.AskBody) -> Response:
    """Tickets for the arms to try now; a key of your own makes it safe to send again."""
    return await asked(shelf_of(request), name, body)


async def asked(shelf: Shelf, name: str, body: models.AskBody) -> Response:
    """The answer to an ask."""
    tickets = await (await shelf.gathering(name)).put(Ask(body.tickets, body.key))
    assert isinstance(tickets, list)
    shelf.metrics.tickets.inc(len(tickets))
    return answer({"tickets": [ticket._asdict() for ticket in tickets]})


@router.post("/{name}/tell", response_model=models.ToldOut, **needs(Role.PLAY, 409))
async def tell(request: Request, name: Named, body: models.TellBody) -> Response:
    """Learn the reward of a ticket; the same once more changes nothing."""
    return await told(shelf_of(request), name, body)


async def told(shelf: Shelf, name: str, body: models.TellBody) -> Response:
    """The answer to a tell."""
    news = await (await shelf.gathering(name)).put(Tell(body.ticket, body.reward))
    shelf.metrics.rewards.inc(bool(news))
    return answer({"news": news})


@router.post("/{name}/tells", response_model=models.TellsOut, **needs(Role.PLAY))
async def tells(request: Request, name: Named, body: models.TellsBody) -> Response:
    """Learn the rewards of many tickets; each has an answer of its own: `news`, or a `problem`."""
    shelf = shelf_of(request)
    door = await shelf.gathering(name)
    waiting = [door.put(Tell(one.ticket, one.reward)) for one in body.tells]
    found = await asyncio.gather(*waiting, return_exceptions=True)
    for error in found:
        if isinstance(error, BaseException) and not (
            isinstance(error, BelmanError) and status_of(error) < 500
        ):
            raise error
    shelf.metrics.rewards.inc(sum(one is True for one in found))
    return answer({"answers": [_one(one) for one in found]})


def _one(found: Any) -> dict[str, Any]:
    if isinstance(found, BelmanError):
        return {
            "problem": {
                "type": kind_of(type(found)),
                "status": status_of(found),
                "detail": str(found),
            }
        }
    return {"news": found}


# Looking


@router.get("/{name}/beliefs", response_model=models.TableOut, **needs(Role.READ))
async def beliefs(
    request: Request, study: Here, level: Annotated[float, Query(gt=0.0, lt=1.0)] = 0.95
) -> Response:
    """Per arm: rewards told, expected reward, credible interval and probability of being best."""
    return _table(await shelf_of(request).run(study.beliefs, level))


@router.get("/{name}/explain", response_model=models.TableOut, **needs(Role.READ))
async def explain(request: Request, study: Here) -> Response:
    """Why this arm now: what the policy sees of each arm, the largest index first."""
    return _table(await shelf_of(request).run(study.explain))


@router.get("/{name}/history", **needs(Role.READ))
async def study_history(
    request: Request,
    study: Here,
    after: Annotated[
        int, Query(ge=0, lt=2**63, description="The number of the last event that you know.")
    ] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
) -> Response:
    """The log: events in order, from the one that follows number `after`."""
    return answer({"events": await shelf_of(request).run(history, study, after, limit)})


@router.get("/{name}/export", response_class=FileResponse, **needs(Role.READ, 501))
async def export(
    request: Request,
    study: Here,
    format: Annotated[Literal["csv", "parquet"], Query(description="What to write.")] = "csv",
) -> Response:
    """The whole log as a file."""
    path = await shelf_of(request).run(exported, study, format)
    return FileResponse(path, filename=f"study.{format}", background=BackgroundTask(path.unlink))


def _table(table: Table) -> Response:
    return answer({"title": table.title, "columns": table.columns})


# Changing


@router.post("/{name}/pause", response_model=models.StatusOut, **needs(Role.ADMIN, 409))
async def pause(request: Request, study: Here, body: models.ReasonBody) -> Response:
    """Decide nothing until resumed; tells are welcome all the same."""
    return await _changed(request, study, study.pause, body.reason)


@router.post("/{name}/resume", response_model=models.StatusOut, **needs(Role.ADMIN, 409))
async def resume(request: Request, study: Here, body: models.ReasonBody) -> Response:
    """Decide again."""
    return await _changed(request, study, study.resume, body.reason)


@router.post("/{name}/arms", response_model=models.StatusOut, **needs(Role.ADMIN, 409))
async def add_arm(request: Request, study: Here, body: models.NewArmBody) -> Response:
    """Take in a new arm, or one that was retired, with what was learnt of it."""
    return await _changed(
        request, study, study.add_arm, models.arm_in(body.arm), body.prior, body.reason
    )


@router.post("/{name}/arms/retire", response_model=models.StatusOut, **needs(Role.ADMIN, 409))
async def retire_arm(request: Request, study: Here, body: models.ArmBody) -> Response:
    """Play an arm no more; rewards of tickets that are out still count for it."""
    return await _changed(request, study, study.retire_arm, models.arm_in(body.arm), body.reason)


@router.put("/{name}/exposure", response_model=models.StatusOut, **needs(Role.ADMIN, 409))
async def set_exposure(request: Request, study: Here, body: models.ExposureBody) -> Response:
    """Explore more or less from here on."""
    return await _changed(request, study, turn, study, body.chosen(), body.reason)


async def _changed(request: Request, study: Study, change: Any, *arguments: Any) -> Response:
    shelf = shelf_of(request)
    await shelf.run(change, *arguments)
    return answer(await shelf.run(status, study))


def refused(request: Request, error: Exception) -> Response:
    """The answer to what a study refuses."""
    assert isinstance(error, BelmanError)
    return problem_of(error)
