"""Ranking and rewarding, in the shape of the personalisation service that was retired."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from belman.errors import SettingError
from belman.service import context_models as models
from belman.service.access import idempotency_key, requires, role_router
from belman.service.keys import Role
from belman.service.routes import Decider, StudyName, json_response, registry_of
from belman.studies import Ask, Study, Ticket

router = role_router(prefix="/api/studies", tags=["rank"])
EventId = Annotated[str, Path(max_length=200, description="The id of a ranking.")]


@router.post("/{name}/rank", response_model=models.RankOut, status_code=201,
             **requires(Role.PLAY, 409))  # fmt: skip
async def rank(request: Request, name: StudyName, body: models.RankBody) -> Response:
    """Rank actions, in a study whose arms are candidates; the first is the one to show."""
    registry, actions = registry_of(request), body.chosen_from()
    commit = await registry.group_commit(name)
    event = str(uuid.uuid4()) if body.eventId is None else body.eventId
    key = idempotency_key(request.scope, event)
    known = await registry.change(lambda: commit.study.feature_names)
    features = [_features(action, known) for action in actions]
    asked = Ask(1, key, None, body.context(), features, len(actions))
    tickets = await commit.submit(asked)
    assert isinstance(tickets, list)
    registry.metrics.tickets.inc()
    ranking = _ranking(tickets[0], actions)
    first = ranking[0]["id"]
    return json_response({"ranking": ranking, "eventId": event, "rewardActionId": first}, 201)


def _features(action: models.Action, known: list[str]) -> dict[str, object]:
    own = {"id": action.id} if "id" in known else {}
    return {**own, **models.merged(action.features)}


def _ranking(ticket: Ticket, actions: list[models.Action]) -> list[dict[str, object]]:
    """The actions in order, with the chances that they had of being the first."""
    order = ticket.ranking or [ticket.arm]
    chances: Sequence[float | None] = ticket.chances or [None] * len(order)
    named = [actions[int(str(position))].id for position in order]
    return [{"id": id, "probability": one} for id, one in zip(named, chances, strict=True)]


@router.post("/{name}/events/{event}/reward", status_code=204, response_class=Response,
             **requires(Role.PLAY, 409))  # fmt: skip
async def reward(
    request: Request, study: Decider, event: EventId, body: models.RewardBody
) -> Response:
    """Learn the reward of the first action of an event; the same reward again changes nothing."""
    registry, key = registry_of(request), idempotency_key(request.scope, event)
    await registry.change(_rewarded, study, key, body.value)
    registry.metrics.rewards.inc()
    return Response(status_code=204)


def _rewarded(study: Study, key: str | None, value: float) -> None:
    tickets = study.asked(key or "")
    if len(tickets) > 1:
        remedy = "tell the reward of each of them"
        raise SettingError(f"this event is no ranking, but {len(tickets)} tickets: {remedy}")
    study.tell(tickets[0], value, key=key)
