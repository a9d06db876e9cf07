"""The routes of studies: create and list, ask and tell, look, change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Query
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import Scope

from belman.errors import BelmanError, problem_type
from belman.service import answers, logs, models, views
from belman.service.access import charge, idempotency_key, requires, role_router
from belman.service.context_models import looked_at
from belman.service.keys import Role
from belman.service.new_study import NewStudy
from belman.service.problems import status_of
from belman.service.registry import Registry
from belman.service.under_way import ExportResponse
from belman.studies import Study, archive, restore

router = role_router(prefix="/api/studies", tags=["studies"])


def registry_of(request: Request) -> Registry:
    """The studies that this service has open."""
    registry: Registry = request.app.state.registry
    return registry


async def _study(request: Request, name: StudyName) -> Study:
    return await registry_of(request).study(name)


async def _decider(request: Request, name: StudyName) -> Study:
    return await registry_of(request).deciding_study(name)


StudyName = Annotated[
    str, Path(max_length=200, description="The study.", examples=["checkout-button"])
]
TicketId = Annotated[
    str, Path(max_length=200, description="The id that an ask gave.", examples=["17-hn9691"])
]
OpenStudy = Annotated[Study, Depends(_study)]
Decider = Annotated[Study, Depends(_decider)]
Level = Annotated[float, Query(gt=0.0, lt=1.0, description="The level of intervals.")]
InContext = Annotated[
    str | None, Query(max_length=4_000, description="A context of the study, as JSON.")
]
OfCandidates = Annotated[
    str | None,
    Query(max_length=16_000, description="Candidates of a study without fixed arms, as JSON."),
]
PartOfName = Annotated[str, Query(max_length=200, description="Part of a name.")]
Archived = Annotated[bool, Query(description="Whether to list archived studies instead.")]
Limit = Annotated[int, Query(ge=1, le=10_000, description="How many at most.")]
LastKnown = Annotated[int, Query(ge=0, lt=2**63, description="The last event that you know.")]
Format = Annotated[Literal["csv", "parquet"], Query(description="What to write.")]


def json_response(content: Any, code: int = 200) -> Response:
    """JSON, in which numbers that JSON lacks are words."""
    return encoded_response(views.encoded(content), code)


def encoded_response(text: bytes, code: int = 200) -> Response:
    """JSON that was encoded already: in a thread, where there is much of it."""
    return Response(text, code, media_type="application/json")


# Studies


@router.get("", response_model=answers.StudiesOut, **requires(Role.READ))
async def list_studies(
    request: Request,
    query: PartOfName = "",
    limit: Annotated[int, Query(ge=1, le=1_000, description="How many at most.")] = 100,
    archived: Archived = False,
) -> Response:
    """List the names of the studies, in order."""
    names = await registry_of(request).names(query, archived)
    return json_response({"studies": names[:limit], "total": len(names)})


@router.post("", response_model=answers.StatusOut, status_code=201, **requires(Role.ADMIN, 409))
async def create_study(request: Request, new: NewStudy) -> Response:
    """Create a study; returns the existing one if its settings are the same, else 409."""
    registry = registry_of(request)
    study = await registry.change(views.create, new, registry.storage)
    return json_response(await registry.read(views.status, study), 201)


@router.get("/{name}", response_model=answers.StatusOut, **requires(Role.READ))
async def study_status(request: Request, study: OpenStudy) -> Response:
    """Return counts of all kinds, from one moment."""
    return json_response(await registry_of(request).read(views.status, study))


# Asking and telling


@router.post("/{name}/ask", response_model=answers.TicketsOut, **requires(Role.PLAY, 409))
async def ask(request: Request, name: StudyName, body: models.AskBody) -> Response:
    """Ask for arms to try now; with an idempotency key the request may be sent again."""
    return await answer_ask(registry_of(request), request.scope, name, body)


async def answer_ask(registry: Registry, scope: Scope, name: str, body: models.AskBody) -> Response:
    """The answer to an ask."""
    key = idempotency_key(scope, body.key)
    charge(scope, body.tickets - 1)
    tickets = await (await registry.group_commit(name)).submit(body.request(key))
    assert isinstance(tickets, list)
    registry.metrics.tickets.inc(len(tickets))
    return encoded_response(views.tickets(tickets))


@router.post("/{name}/tell", response_model=answers.ToldOut, **requires(Role.PLAY, 409))
async def tell(request: Request, name: StudyName, body: models.TellBody) -> Response:
    """Learn the reward of a ticket; the same reward again changes nothing.

    Under a window a ticket may be told again until it closes: the last reward counts, or their sum,
    and then a request that may be sent again needs an idempotency key.
    """
    return await answer_tell(registry_of(request), request.scope, name, body)


async def answer_tell(
    registry: Registry, scope: Scope, name: str, body: models.TellBody
) -> Response:
    """The answer to a tell."""
    told = body.request(idempotency_key(scope, body.key))
    news = await (await registry.group_commit(name)).submit(told)
    registry.metrics.rewards.inc(bool(news))
    return encoded_response(b'{"news": true}' if news else b'{"news": false}')


@router.post("/{name}/tells", response_model=answers.TellsOut, **requires(Role.PLAY))
async def tells(request: Request, name: StudyName, body: models.TellsBody) -> Response:
    """Learn the rewards of many tickets; each has its own answer: `news`, or a `problem`."""
    registry = registry_of(request)
    commit = await registry.group_commit(name)
    key = idempotency_key(request.scope)
    charge(request.scope, len(body.tells) - 1)
    keys = [
        idempotency_key(request.scope, one.key) if key is None else f"{key}/{i}"
        for i, one in enumerate(body.tells)
    ]
    told = [one.request(own) for one, own in zip(body.tells, keys, strict=True)]
    waiting = [commit.submit(one) for one in told]
    result = await asyncio.gather(*waiting, return_exceptions=True)
    for error in result:
        ours = isinstance(error, BelmanError) and status_of(error) < 500
        if isinstance(error, BaseException) and not ours:
            raise error
    registry.metrics.rewards.inc(sum(one is True for one in result))
    if refusals := [one for one in result if isinstance(one, BelmanError)]:
        registry.metrics.refused.inc(len(refusals))
        logs.refused(request.scope["path"], str(refusals[0]), 422)
    return json_response({"answers": [_outcome(one) for one in result]})


@router.post(
    "/{name}/tickets/{ticket}/correct",
    response_model=answers.CorrectedOut,
    **requires(Role.PLAY, 409),
)
async def correct(
    request: Request, study: Decider, ticket: TicketId, body: models.CorrectBody
) -> Response:
    """Change the reward of a ticket that has counted, for refunds; `null` removes it."""
    key = idempotency_key(request.scope, body.key)
    change = partial(study.correct, ticket, body.reward, body.reason, metrics=body.metrics, key=key)
    return json_response({"changed": await registry_of(request).correct(change)})


@router.post(
    "/{name}/tickets/return", response_model=models.ReturnedOut, **requires(Role.PLAY, 409)
)
async def give_back(request: Request, study: Decider, body: models.ReturnBody) -> Response:
    """Give back tickets that were not used; the same request has the same answer."""
    charge(request.scope, len(body.tickets) - 1)
    count = await registry_of(request).change(study.give_back, body.tickets)
    return json_response({"returned": count})


def _outcome(result: Any) -> dict[str, Any]:
    if isinstance(result, BelmanError):
        kind, status = problem_type(type(result)), status_of(result)
        return {"problem": {"type": kind, "status": status, "detail": str(result)}}
    return {"news": result}


# Views


async def _shared(
    request: Request, study: Study, what: Hashable, work: Callable[..., bytes], *arguments: Any
) -> Response:
    """Answer with a heavy read, shared with all callers who want the same now."""
    read = partial(work, *arguments)
    return encoded_response(await registry_of(request).shared(study, what, read))


@router.get("/{name}/beliefs", response_model=answers.TableOut, **requires(Role.READ, 409))
async def beliefs(
    request: Request,
    study: OpenStudy,
    level: Level = 0.95,
    context: InContext = None,
    candidates: OfCandidates = None,
) -> Response:
    """Return for each arm rewards told, expected reward, credible interval and P(best)."""
    look = partial(study.beliefs, level, **looked_at(context, candidates))
    what = ("beliefs", level, context, candidates)
    return await _shared(request, study, what, views.table, look)


@router.get("/{name}/contexts", response_model=answers.ContextsOut, **requires(Role.READ))
async def contexts(request: Request, study: OpenStudy) -> Response:
    """Return coefficients of features, or the best arm of every segment."""
    return await _shared(request, study, "contexts", views.contexts, study)


@router.get("/{name}/report", response_model=answers.ReportOut, **requires(Role.READ))
async def report(
    request: Request,
    study: OpenStudy,
    level: Level = 0.95,
    control: Annotated[
        str | None, Query(max_length=200, description="An arm other than the study's control.")
    ] = None,
    by: Annotated[
        str | None, Query(max_length=40, description="An attribute of tickets, for segments.")
    ] = None,
) -> Response:
    """Return the verdict: lift and intervals, whether to stop, tests of the data, and traffic."""
    what = (level, control, by)
    return await _shared(request, study, ("report", *what), views.report, study, *what)


@router.get("/{name}/metrics", response_model=answers.TableOut, **requires(Role.READ))
async def metrics(request: Request, study: OpenStudy, level: Level = 0.95) -> Response:
    """Return for each arm and metric the number of tickets, the mean and Student's interval."""
    return await _shared(request, study, ("metrics", level), views.table, study.metrics, level)


@router.get("/{name}/spending", response_model=answers.TableOut, **requires(Role.READ))
async def spending(request: Request, study: OpenStudy) -> Response:
    """Return for each period of a budget the cost so far, the expected cost, asks and the price."""
    return await _shared(request, study, "spending", views.table, study.spending)


@router.get("/{name}/changes", response_model=answers.TableOut, **requires(Role.READ))
async def changes(request: Request, study: OpenStudy) -> Response:
    """Return the changes over time that the study noticed, where it follows them."""
    return await _shared(request, study, "changes", views.table, study.changes)


@router.get("/{name}/explain", response_model=answers.TableOut, **requires(Role.READ, 409))
async def explain(
    request: Request,
    study: OpenStudy,
    context: InContext = None,
    candidates: OfCandidates = None,
) -> Response:
    """Explain the next choice: what the policy sees of each arm, the largest index first."""
    look = partial(study.explain, **looked_at(context, candidates))
    return await _shared(request, study, ("explain", context, candidates), views.table, look)


@router.get("/{name}/history", **requires(Role.READ))
async def study_history(
    request: Request, study: OpenStudy, after: LastKnown = 0, limit: Limit = 1_000
) -> Response:
    """Return events of the log in order, from the first after number `after`."""
    return encoded_response(await registry_of(request).read(views.history, study, after, limit))


@router.get("/{name}/export", response_class=FileResponse, **requires(Role.READ, 501))
async def export(request: Request, study: OpenStudy, format: Format = "csv") -> Response:
    """Return the whole log as a file."""
    registry = registry_of(request)
    async with registry.exports.one_more():
        path = await registry.read(views.export, study, format)
    return ExportResponse(path, f"study.{format}", registry.exports)


# Changes


@router.post("/{name}/pause", response_model=answers.StatusOut, **requires(Role.ADMIN, 409))
async def pause(request: Request, study: Decider, body: models.ReasonBody) -> Response:
    """Decide nothing until resumed; rewards are still accepted."""
    return await _changed(request, study, study.pause, body.reason)


@router.post("/{name}/resume", response_model=answers.StatusOut, **requires(Role.ADMIN, 409))
async def resume(request: Request, study: Decider, body: models.ReasonBody) -> Response:
    """Decide again."""
    return await _changed(request, study, study.resume, body.reason)


@router.post("/{name}/arms", response_model=answers.StatusOut, **requires(Role.ADMIN, 409))
async def add_arm(request: Request, study: Decider, body: models.NewArmBody) -> Response:
    """Add a new arm, or a retired one with what was learnt of it."""
    arm = models.arm_in(body.arm)
    return await _changed(request, study, study.add_arm, arm, body.prior, body.reason)


@router.post("/{name}/arms/retire", response_model=answers.StatusOut, **requires(Role.ADMIN, 409))
async def retire_arm(request: Request, study: Decider, body: models.ArmBody) -> Response:
    """Stop playing an arm; rewards of its outstanding tickets still count."""
    return await _changed(request, study, study.retire_arm, models.arm_in(body.arm), body.reason)


@router.post("/{name}/ship", response_model=answers.StatusOut, **requires(Role.ADMIN, 409))
async def ship(request: Request, study: Decider, body: models.ShipBody) -> Response:
    """Give all traffic to one arm; without one, to the arm that is most likely the best."""
    return await _changed(request, study, study.ship, models.arm_in(body.arm), body.reason)


@router.post("/{name}/unship", response_model=answers.StatusOut, **requires(Role.ADMIN, 409))
async def unship(request: Request, study: Decider, body: models.ReasonBody) -> Response:
    """Let the policy decide again."""
    return await _changed(request, study, study.unship, body.reason)


@router.put("/{name}/exposure", response_model=answers.StatusOut, **requires(Role.ADMIN, 409))
async def set_exposure(request: Request, study: Decider, body: models.ExposureBody) -> Response:
    """Explore more or less from now on."""
    return await _changed(request, study, views.set_exposure, study, body.chosen(), body.reason)


@router.post("/{name}/spend", response_model=answers.StatusOut, **requires(Role.PLAY, 409))
async def spend(request: Request, study: Decider, body: models.SpendBody) -> Response:
    """Count a cost that no ticket brought against the budget."""
    change = partial(study.spend, arm=models.arm_in(body.arm))
    return await _changed(request, study, change, body.amount, body.reason)


@router.put("/{name}/guard", response_model=answers.StatusOut, **requires(Role.ADMIN, 409))
async def set_guard(request: Request, study: Decider, body: models.GuardBody) -> Response:
    """Replace the limits on metrics."""
    return await _changed(request, study, study.set_guard, body.guard, body.reason)


# Keeping order


@router.post("/{name}/archive", response_model=answers.StatusOut, **requires(Role.ADMIN, 409))
async def archive_study(request: Request, study: Decider, body: models.ReasonBody) -> Response:
    """Pause a study and leave it out of lists; its log stays."""
    return await _changed(request, study, archive, study, body.reason)


@router.post("/{name}/restore", response_model=answers.StatusOut, **requires(Role.ADMIN, 409))
async def restore_study(request: Request, study: Decider, body: models.EmptyBody) -> Response:
    """List an archived study again; it stays paused until it is resumed."""
    registry = registry_of(request)
    await registry.change(restore, registry.storage, study.name)
    return json_response(await registry.change(views.status, study))


@router.post("/{name}/reopen", response_model=answers.StatusOut, **requires(Role.ADMIN, 409))
async def reopen_study(request: Request, name: StudyName, body: models.EmptyBody) -> Response:
    """Continue with the log of a restored backup; every service needs this request."""
    registry = registry_of(request)
    await registry.change(registry.reopen, name)
    study = await registry.deciding_study(name)
    return json_response(await registry.change(views.status, study))


@router.post("/{name}/delete", response_model=answers.DeletedOut, **requires(Role.ADMIN))
async def delete_study(request: Request, name: StudyName, body: models.DeleteBody) -> Response:
    """Delete a study with its whole log, for good; the body repeats its name.

    The same request with its idempotency key has the same answer for a week.
    """
    key = idempotency_key(request.scope)
    return json_response({"deleted": await registry_of(request).delete(name, body.confirm, key)})


async def _changed(request: Request, study: Study, change: Any, *arguments: Any) -> Response:
    registry, key = registry_of(request), idempotency_key(request.scope)
    await registry.change(partial(change, *arguments, key=key))
    return json_response(await registry.change(views.status, study))
