"""What goes in and comes out where units are assigned elsewhere, by published weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError
from pydantic_core import from_json

from belman.errors import SettingError
from belman.service.context_models import Values
from belman.service.models import (
    MOST_TICKETS,
    Arm,
    Attributes,
    Key,
    Name,
    Number,
    Reason,
    ReasonBody,
    _example,
    _Model,
    arm_in,
)
from belman.studies.traffic.publishing import LONGEST_SEGMENT

MOST_ROWS = 10_000
_AT_ONCE = 250  # rows that are read at a time

Seconds = Annotated[float, Field(strict=True, gt=0.0, le=1e9)]
Segment = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_SEGMENT)]
Version = Annotated[int, Field(strict=True, ge=1, lt=2**63)]
Chances = Annotated[
    Annotated[dict[Name, Number], Field(max_length=1_000)] | Number | None,
    Field(
        description="Of a row without a version: the chances of all arms by name, if these were "
        "logged; of two arms that of its own will do."
    ),
]
Unit = Annotated[StrictStr, Field(max_length=1_000)] | Annotated[StrictInt, Field(lt=2**63)]


class PublishBody(ReasonBody):
    """The number of decisions, and seconds between versions and until weights expire."""

    model_config = _example(decisions=1_000, every=60, reason="for the edge")

    decisions: Annotated[
        StrictInt, Field(ge=1, le=2**53 - 1, description="The number of decisions to come.")
    ]
    every: Annotated[
        Seconds | None, Field(description="Seconds until the next version is due.")
    ] = None
    valid_for: Annotated[
        Seconds | None, Field(description="Seconds for which weights may be used; null: no end.")
    ] = 86_400.0
    segment: Annotated[
        Segment | Values | None,
        Field(description="A part of the units; where the study learns by segment, its context."),
    ] = None
    by: Annotated[
        Literal["belman", "growthbook", "eppo"],
        Field(description="Whose hash assigns units by these weights."),
    ] = "belman"


class DeclareBody(ReasonBody):
    """A weights document by which somebody else assigned units, with its `assigner`."""

    model_config = _example(
        weights={
            "format": "belman-weights/1", "study": "checkout", "version": 1, "salt": "checkout",
            "arms": ["blue", "green"], "weights": [0.5, 0.5], "floors": [0, 0],
            "cuts": [[5000, 0], [10000, 1]], "segment": None, "valid_until": None,
            "assigner": {"by": "growthbook", "hash_version": 2, "filters": []},
        },
        reason="an experiment of last year",
    )  # fmt: skip

    weights: Annotated[
        dict[str, Any], Field(max_length=50, description="The document, as its JSON Schema says.")
    ]


class WeightsOut(BaseModel):
    """A weights document, plain or signed; its JSON Schema comes with `belman.assignment`."""

    model_config = ConfigDict(extra="allow")


class SigningKeyOut(BaseModel):
    """The public key of a study's weights, 32 bytes in base64, and its id in documents; and all
    keys to trust by their ids, while keys are changed.
    """

    id: str
    public: str
    trusted: dict[str, str]


class RowIn(_Model):
    """The outcome of a unit: the version and arm that it was assigned, seconds since 1970, and the
    context of the decision.
    """

    unit: Unit | None = None
    version: Version | None
    arm: Arm
    reward: Number
    time: Number | None = None
    attributes: Attributes = None
    context: Values | None = None
    chances: Chances = None


class SumsIn(_Model):
    """Outcomes of all units of a version and arm: their number, and sums of rewards and squares."""

    version: Version | None
    segment: Segment | None = None
    arm: Arm
    n: Annotated[StrictInt, Field(ge=1, le=2**53)]
    sum: Number
    squares: Number


class ObservationsBody(_Model):
    """Rows or sums, which count once under the idempotency key."""

    model_config = _example(
        rows=[{"unit": "user-1", "version": 2, "arm": "blue", "reward": 1}], key="batch-4711"
    )

    rows: Annotated[
        Annotated[list[RowIn], Field(max_length=MOST_ROWS)] | None,
        Field(
            description="Unit, version, arm and reward of each outcome, perhaps its time (seconds "
            "since 1970), attributes, context and chances."
        ),
    ] = None
    sums: Annotated[
        Annotated[list[SumsIn], Field(max_length=MOST_ROWS)] | None,
        Field(description="Instead of rows: n, sum and squares by version and arm."),
    ] = None
    key: Key = None
    reason: Reason = ""

    @classmethod
    def read(cls, text: bytes) -> tuple[ObservationsBody, dict[str, list[Any]]]:
        """The body and its columns, of JSON, some rows at a time: all at once would hold Python's
        lock, and with it every ask, for as long as all of them take.
        """
        try:
            content = from_json(text)
        except ValueError:
            return (body := cls.model_validate_json(text)), body.batch()
        many = {} if type(content) is not dict else content
        many = {name: many.get(name) for name in ("rows", "sums")}
        longest = max(len(rows) if type(rows) is list else 0 for rows in many.values())
        if longest <= _AT_ONCE or longest > MOST_ROWS:
            return (body := cls.model_validate(content)), body.batch()
        try:
            body = cls.model_validate(content | _part(many, 0))
            columns = body.batch()
            for start in range(_AT_ONCE, longest, _AT_ONCE):
                for name, more in cls.model_validate(_part(many, start)).batch().items():
                    columns[name] += more
        except ValidationError:
            cls.model_validate(content)  # says in which row
            raise
        return body, columns

    def batch(self) -> dict[str, list[Any]]:
        """Columns as a study takes them."""
        if (self.rows is None) == (self.sums is None):
            raise SettingError("give either rows or sums")
        given: list[Any] = self.sums if self.rows is None else self.rows  # type: ignore[assignment]
        kind = SumsIn if self.rows is None else RowIn
        columns = {name: [getattr(row, name) for row in given] for name in kind.model_fields}
        return columns | {"arm": [arm_in(arm) for arm in columns["arm"]]}


def _part(many: Mapping[str, Any], start: int) -> dict[str, Any]:
    """Some of the rows of each list."""
    end = start + _AT_ONCE
    return {name: one[start:end] if type(one) is list else one for name, one in many.items()}


class RowCorrectionIn(_Model):
    """The reward that a row counted as, and the right one; null removes the row."""

    unit: Unit | None = None
    version: Version | None
    arm: Arm
    was: Number
    reward: Number | None
    attributes: Attributes = None
    chances: Chances = None


class RowCorrectionsBody(_Model):
    """Rows of outcomes with wrong rewards, and the reason for their correction."""

    model_config = _example(
        rows=[{"unit": "user-1", "version": 2, "arm": "blue", "was": 1, "reward": 0}],
        reason="refund",
        key="refunds-4711",
    )

    rows: Annotated[list[RowCorrectionIn], Field(max_length=MOST_TICKETS)]
    reason: Annotated[Reason, Field(min_length=1)]
    key: Key = None

    def given(self) -> list[dict[str, Any]]:
        """Rows as a study takes them."""
        return [{**row.model_dump(), "arm": arm_in(row.arm)} for row in self.rows]


class RowsCorrectedOut(BaseModel):
    """How many rows were corrected."""

    corrected: int


class ObservedOut(BaseModel):
    """How many outcomes the batch held; all of them count."""

    observed: int
