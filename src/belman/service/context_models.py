"""What goes in and comes out where a study decides in contexts, or among candidates."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

from belman.errors import SettingError

MOST_CANDIDATES = 1_000
MOST_NAMES = 200
MOST_NUMBERS = 4_096  # of an array

_Text = Annotated[StrictStr, Field(max_length=200)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Word = Annotated[StrictStr, Field(min_length=1, max_length=200)]
Words = Annotated[list[Word], Field(min_length=1, max_length=MOST_NAMES)]
_Array = Annotated[list[Number], Field(min_length=1, max_length=MOST_NUMBERS)]
_Value = StrictBool | Number | _Text | _Array | None
Values = Annotated[dict[Word, _Value], Field(max_length=MOST_NAMES)]
Context = Annotated[
    Values | None, Field(description="The context of this decision, by the study's names.")
]
Candidates = Annotated[
    Annotated[list[Values], Field(min_length=1, max_length=MOST_CANDIDATES)] | None,
    Field(description="The candidates with their features, in a study without fixed arms."),
]
Top = Annotated[
    Annotated[int, Field(strict=True, ge=1, le=MOST_CANDIDATES)] | None,
    Field(description="How many to rank, the chosen one first."),
]


class Action(BaseModel):
    """One of the actions to rank: a name, and features in one or several objects."""

    id: Annotated[Word, Field(description="Its name.")]
    features: Annotated[
        list[Values],
        Field(max_length=MOST_NAMES, description="Its features, in one or several objects."),
    ] = []


class RankBody(BaseModel):
    """What to rank, in the shape of the personalisation service that was retired; an event id makes
    it safe to send again, and its reward is sent to the event.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "contextFeatures": [{"age": 31}],
                    "actions": [
                        {"id": "pasta", "features": [{"price": 9, "taste": "salty"}]},
                        {"id": "ice cream", "features": [{"price": 4, "taste": "sweet"}]},
                    ],
                    "eventId": "75269AD0-BFEE-4598-8196-C57383D38E10",
                }
            ]
        }
    )

    contextFeatures: Annotated[  # noqa: N815 (the shape of another service)
        list[Values],
        Field(
            max_length=MOST_NAMES,
            description="The context, in one or several objects.",
        ),
    ] = []
    actions: Annotated[
        list[Action],
        Field(min_length=1, max_length=MOST_CANDIDATES, description="The actions to choose from."),
    ]
    excludedActions: Annotated[  # noqa: N815
        list[Word],
        Field(max_length=MOST_CANDIDATES, description="Names of actions to leave out."),
    ] = []
    eventId: Annotated[  # noqa: N815
        Word | None, Field(description="An id of your own; the same id gives the same answer.")
    ] = None

    def context(self) -> dict[str, Any]:
        """All that is told of the moment."""
        return merged(self.contextFeatures)

    def chosen_from(self) -> list[Action]:
        """The actions that are not excluded, each of a name of its own."""
        excluded = set(self.excludedActions)
        result = [one for one in self.actions if one.id not in excluded]
        if not result or len({one.id for one in result}) < len(result):
            raise SettingError("give actions of different ids, not all of them excluded")
        return result


def merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One object of several."""
    return {name: value for part in parts for name, value in part.items()}


class Ranked(BaseModel):
    """An action in its place, with the chance that it had of being the first (null: not known)."""

    id: str
    probability: float | None


class RankOut(BaseModel):
    """The actions in order, and which of them the reward is for."""

    ranking: list[Ranked]
    eventId: str  # noqa: N815
    rewardActionId: str  # noqa: N815


class RewardBody(BaseModel):
    """The reward of an event."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"value": 1.0}]})

    value: Number


def looked_at(context: str | None, candidates: str | None) -> dict[str, Any]:
    """A context and candidates that are given in an address, as JSON.

    >>> looked_at('{"age": 31}', '[{"price": 5}, {"price": 8}]')
    {'context': {'age': 31}, 'candidates': [{'price': 5}, {'price': 8}]}
    """
    result: dict[str, Any] = {"context": None, "candidates": None}
    if context is not None:
        result["context"] = _of_kind(dict, "context", context, "a JSON object: {…}")
    if candidates is not None:
        result["candidates"] = _of_kind(list, "candidates", candidates, "a JSON list: [{…}, {…}]")
    return result


def _of_kind(kind: type, name: str, text: str, wanted: str) -> Any:
    try:
        result = json.loads(text)
    except (ValueError, RecursionError):
        result = None
    if not isinstance(result, kind):
        raise SettingError(f"{name}={text[:80]!r} is not {wanted}")
    return result
