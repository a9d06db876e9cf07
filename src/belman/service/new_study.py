"""A study that a request creates: the settings of `StudySettings`, as JSON has them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictStr, create_model

from belman import spec
from belman.agent.making import ALONG_FEATURES
from belman.errors import SettingError
from belman.families import Family
from belman.measures.stop_rules import StopRule
from belman.models import Model
from belman.policies import Drift, Policy
from belman.policies.dependent import DependentPolicy
from belman.service.context_models import MOST_NAMES, Values, Word, Words
from belman.service.models import (
    Arm,
    Coordinates,
    Described,
    Name,
    Number,
    _example,
    _Model,
    arm_in,
)
from belman.studies import StudySettings

MOST_ARMS = 10_000

Share = Annotated[float, Field(strict=True, gt=0.0, lt=1.0)]
#: What JSON holds where a setting is given.
KINDS: dict[str, Any] = {
    "arms": Annotated[list[Arm], Field(min_length=1, max_length=MOST_ARMS)],
    "prior": Coordinates,
    "priors": Annotated[dict[Name, Coordinates], Field(max_length=MOST_ARMS)],
    "range": Annotated[list[Number], Field(min_length=2, max_length=2)],
    "last": Annotated[int, Field(strict=True, ge=1)],
    "seed": Annotated[int, Field(strict=True, ge=0, lt=2**63)],
    "silence": Literal["forget"] | Number,
    "reward": Annotated[StrictStr, Field(max_length=300)],
    "control": Arm,
    "goal": Literal["earn", "decide", "both"],
    "then": Literal["say", "ship"],
    "floor": Share | dict[Name, Share],
    "control_share": Share,
    "guard": dict[Name, Annotated[StrictStr, Field(max_length=100)]],
    "budget": dict[Name, Annotated[StrictStr, Field(max_length=100)] | Number],
    "features": Words | dict[Word, Values],
    "pooling": Word,
    "interactions": Annotated[list[Words], Field(max_length=MOST_NAMES)]
    | Annotated[StrictStr, Field(max_length=MOST_NAMES * MOST_NAMES)],
    **dict.fromkeys(("family", "policy", "drift", "stop_when", "model"), Described),
    **dict.fromkeys(("clip", "minimise", "accumulate", "early"), StrictBool),
    **dict.fromkeys(("discount", "uniform_share", "window", "scale", "negligible"), Number),
    **dict.fromkeys(("segments", "context"), Words),
}
#: The settings that are objects, given by name, or name and settings.
_PARTS = {"family": Family, "drift": Drift, "stop_when": StopRule, "model": Model}
_NAME = Annotated[Name, Field(description="The name of the study.")]
_FIELDS: dict[str, Any] = {"name": (_NAME, ...)} | {
    name: (Annotated[KINDS[name] | None, Field(description=sentence)], None)
    for name, sentence in StudySettings.sentences().items()
}
_Settings: Any = create_model("_Settings", __base__=_Model, **_FIELDS)


class NewStudy(_Settings):  # type: ignore[misc]
    """Settings of a study, as of `belman.open_study`; objects by name, or name and settings."""

    model_config = _example(name="button", arms=["blue", "green", "red"], uniform_share=0.05)

    def settings(self) -> dict[str, Any]:
        """The same as `open_study` takes them."""
        given = self.model_dump(exclude={"name"}, exclude_none=True)
        if "arms" not in given and not isinstance(given.get("features"), list):
            raise SettingError("give arms, or names of features for candidates")
        along = given.keys() & {*ALONG_FEATURES}
        kinds = _PARTS | {"policy": DependentPolicy if along else Policy}
        for name in given.keys() & kinds.keys():
            # a model by its name alone, and drift that is automatic, go as they are
            if isinstance(given[name], dict) or name not in ("model", "drift"):
                given[name] = spec.build(given[name], kinds[name])
        if "control" in given:
            given["control"] = arm_in(given["control"])
        if "arms" in given:
            given["arms"] = list(map(arm_in, given["arms"]))
        return given
