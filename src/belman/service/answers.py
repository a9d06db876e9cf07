"""What comes out, as the OpenAPI document describes it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class TicketOut(BaseModel):
    """One decision: hand in its id with the reward."""

    id: str
    arm: Any
    probability: float
    uniform: bool
    time: float
    context: dict[str, Any] | None = None
    candidate: dict[str, Any] | None = None
    ranking: list[Any] | None = None
    chances: list[float] | None = None


class TicketsOut(BaseModel):
    """The tickets of an ask."""

    tickets: list[TicketOut]


class ToldOut(BaseModel):
    """Whether the reward was news."""

    news: bool


class TellsOut(BaseModel):
    """For each tell whether it was news, or the problem with it."""

    answers: list[dict[str, Any]]


class CorrectedOut(BaseModel):
    """Whether the correction changed anything."""

    changed: bool


class DeletedOut(BaseModel):
    """How many events the log had."""

    deleted: int


class StatusOut(BaseModel):
    """Counts of all kinds, from one moment."""

    model_config = ConfigDict(extra="allow")

    name: str
    family: str
    policy: str
    arms: int
    paused: bool
    events: int


class StudiesOut(BaseModel):
    """The names of the studies that a page of the list holds, and how many there are."""

    studies: list[str]
    total: int


class TableOut(BaseModel):
    """Named columns."""

    title: str
    columns: dict[str, list[Any]]


class ContextsOut(BaseModel):
    """Named columns: of coefficients along features, or of segments."""

    coefficients: dict[str, list[Any]] | None = None
    segments: dict[str, list[Any]] | None = None


class ReportOut(BaseModel):
    """A verdict: the state in a word, a sentence, and what it rests on."""

    model_config = ConfigDict(extra="allow")

    name: str
    state: str
    sentence: str
    decided: bool
    control: Any
    arms: list[dict[str, Any]]
    findings: list[dict[str, Any]]


class Problem(BaseModel):
    """What is wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
