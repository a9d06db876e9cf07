"""The routes of deciding elsewhere: published weights go out, outcomes come back in bulk."""

from __future__ import annotations

import base64
import hashlib
import math
from functools import partial
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from belman.assignment import Weights, sign
from belman.service import edge_models as models
from belman.service.access import charge, idempotency_key, requires, role_router
from belman.service.keys import Role
from belman.service.registry import Registry
from belman.service.routes import Decider, json_response, registry_of
from belman.studies import Study
from belman.studies.traffic.publishing import LONGEST_SEGMENT

router = role_router(prefix="/api/studies", tags=["weights"])

#: Seconds for which a cache may keep weights that nothing renews, and may use them after a failure.
LONGEST, AFTER_FAILURE = 60, 86_400
#: Rows that count as one request.
ROWS = 100


@router.post("/{name}/publish", response_model=models.WeightsOut, **requires(Role.ADMIN, 409))
async def publish(request: Request, study: Decider, body: models.PublishBody) -> Response:
    """Publish weights, as a document by which units are assigned anywhere."""
    plan = body.model_dump()
    key = idempotency_key(request.scope)
    made = await registry_of(request).change(partial(study.publish, **plan, key=key))
    return json_response(made.described())


@router.post("/{name}/declare", response_model=models.WeightsOut, **requires(Role.ADMIN, 409))
async def declare(request: Request, study: Decider, body: models.DeclareBody) -> Response:
    """Declare weights by which another system assigned units; the answer has the version that
    outcomes of these units name.
    """
    key = idempotency_key(request.scope)
    weights = Weights.from_described(body.weights)
    made = await registry_of(request).change(partial(study.declare, weights, body.reason, key=key))
    return json_response(made.described())


@router.get("/{name}/weights", response_model=models.WeightsOut, **requires(Role.READ, 409))
async def weights(
    request: Request,
    study: Decider,
    segment: Annotated[
        str | None, Query(max_length=LONGEST_SEGMENT, description="A part of the units.")
    ] = None,
    signed: Annotated[bool, Query(description="As a signed document.")] = False,
) -> Response:
    """Return the weights that are in force; the next version is made if it is due."""
    registry = registry_of(request)
    text, fresh = await registry.change(_document, study, segment, signed)
    tag = f'"{hashlib.blake2b(text, digest_size=12).hexdigest()}"'
    control = f"public, max-age={fresh}, stale-if-error={AFTER_FAILURE}"
    headers = {"ETag": tag, "Cache-Control": control}
    given = request.headers.get("if-none-match", "")
    if tag in (one.strip().removeprefix("W/") for one in given.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(text, headers=headers, media_type="application/json")


def _document(study: Study, segment: str | None, signed: bool) -> tuple[bytes, int]:
    """A document, and for how many seconds it is fresh."""
    result = study.weights(segment)
    text = sign(result, study.signing_key) if signed else result.to_json()
    return text.encode(), max(1, math.ceil(min(study.fresh_for(segment), LONGEST)))


@router.get("/{name}/weights/key", response_model=models.SigningKeyOut, **requires(Role.READ, 409))
async def weights_key(request: Request, study: Decider) -> Response:
    """Return the public key of a study's signed weights, and all keys to trust."""
    result = await registry_of(request).change(lambda: study.public_keys)
    trusted = {name: base64.b64encode(public).decode() for name, public in result.items()}
    own = next(iter(trusted))
    return json_response({"id": own, "public": trusted[own], "trusted": trusted})


@router.post("/{name}/observations", response_model=models.ObservedOut, **requires(Role.PLAY, 409))
async def observe(request: Request, study: Decider, body: models.ObservationsBody) -> Response:
    """Learn many outcomes, all or none; the same batch under the same key counts once."""
    return await _answer_observe(registry_of(request), request.scope, study, body, body.batch())


async def answer_observe(registry: Registry, scope: Scope, name: str, text: bytes) -> Response:
    """The answer to outcomes in bulk, whose text is read where it keeps no ask waiting."""
    body, batch = await registry.parse(models.ObservationsBody.read, text)
    return await _answer_observe(registry, scope, await registry.deciding_study(name), body, batch)


async def _answer_observe(
    registry: Registry,
    scope: Scope,
    study: Study,
    body: models.ObservationsBody,
    batch: dict[str, list[Any]],
) -> Response:
    key = idempotency_key(scope, body.key)
    charge(scope, len(batch["arm"]) // ROWS)
    count = await registry.change(partial(study.observe, batch, body.reason, key=key))
    registry.metrics.rewards.inc(len(batch["arm"]))
    return json_response({"observed": count})


@router.post(
    "/{name}/observations/correct",
    response_model=models.RowsCorrectedOut,
    **requires(Role.PLAY, 409),
)
async def correct_rows(
    request: Request, study: Decider, body: models.RowCorrectionsBody
) -> Response:
    """Correct rows of outcomes, all or none; the same key corrects once."""
    key = idempotency_key(request.scope, body.key)
    charge(request.scope, len(body.rows) - 1)
    change = partial(study.correct_rows, body.given(), body.reason, key=key)
    return json_response({"corrected": await registry_of(request).change(change)})
