"""What the user chose of contexts when a study was created, as its first event keeps it."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from belman import spec
from belman.agent import state_file
from belman.agent.contextual.agent import ContextualAgent
from belman.errors import BelmanError, PolicyError, SettingError, StudyError
from belman.models import Linear, Logistic, Model
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.segments.segment_beliefs import check_names
from belman.studies.contexts.context import Contexts
from belman.studies.contexts.features import FeatureContexts
from belman.studies.contexts.segments import SegmentContexts

if TYPE_CHECKING:
    from belman.studies.rules.settings import Settings

#: The one arm of a study whose arms are candidates that come with every ask.
CANDIDATE = "candidate"
#: The settings that make a study one with contexts.
NAMES = ("segments", "context", "features", "model", "pooling", "interactions", "scale")
_DEPENDS = "which arm is best depends on the context there"
_MODEL = "the model says what rewards are, and scale= how large coefficients may be"
_FADES = "beliefs fade by their model there: model=belman.models.Linear(keep=0.999)"
_WHY = {"stop_when": _DEPENDS, "then": _DEPENDS}
_WHY |= dict.fromkeys(("discount", "drift", "last"), _FADES)
_WHY |= {"early": "tickets count when their windows close there"}
_WHY |= dict.fromkeys(("prior", "priors", "range"), _MODEL)


@dataclass(frozen=True)
class ContextSettings:
    """Names of segments; or all that makes a contextual agent but its arms, as text."""

    segments: tuple[str, ...] = ()
    agent: str = ""

    def begin(self, settings: Settings) -> Contexts:
        """What a study with these settings knows of contexts at first."""
        if self.segments:
            return SegmentContexts(self.segments, settings.agent())
        plain = json.loads(self.agent)
        rows, arms = plain.pop("rows"), settings.arms
        if rows is None:
            arms = ()
        else:
            plain["features"] = dict(zip(arms, rows, strict=True)) if plain["features"] else None
        try:
            plain["model"] = spec.build(plain["model"], Model, trust="imported")
            plain["policy"] = spec.build(plain["policy"], DependentPolicy, trust="imported")
        except BelmanError as error:
            raise StudyError(f"this study cannot be opened here: {error}") from None
        made = ContextualAgent(arms, **plain, minimise=settings.minimise, seed=0)
        return FeatureContexts(made)

    def under(self, policy: DependentPolicy) -> ContextSettings:
        """The same where another policy decides."""
        return ContextSettings(
            agent=_text({**json.loads(self.agent), "policy": spec.describe(policy)})
        )

    @property
    def model(self) -> Model | None:
        """The model of rewards along features, if there are such."""
        if not self.agent:
            return None
        return spec.build(json.loads(self.agent)["model"], Model, trust="imported")

    @property
    def has_candidates(self) -> bool:
        """Whether arms come with every ask."""
        return bool(self.agent) and json.loads(self.agent)["rows"] is None

    def to_plain(self) -> dict[str, Any]:
        """For the log."""
        if self.segments:
            return {"segments": list(self.segments)}
        return {"agent": json.loads(self.agent)}

    @classmethod
    def from_plain(cls, content: Any) -> ContextSettings | None:
        """From the log."""
        if content is None:
            return None
        if "segments" in content:
            return cls(check_names(content["segments"]))
        return cls(agent=_text(content["agent"]))


def check_contexts(
    arms: Iterable[Hashable] | None, policy: Any, minimise: bool, given: dict[str, Any]
) -> ContextSettings | None:
    """What `open_study` was given of contexts; None where that is nothing."""
    chosen = {name: value for name, value in given.items() if value is not None}
    if not chosen:
        return None
    segments = chosen.pop("segments", None)
    if segments is not None:
        if chosen:
            remedy = "segments are beliefs apart, features one belief: choose either"
            raise SettingError(f"segments={segments!r} beside {sorted(chosen)[0]}: {remedy}")
        if isinstance(policy, Policy) and policy.learns:
            words = "it keeps more than beliefs, which segments share"
            raise PolicyError(f"policy {policy.name!r} cannot serve segments: {words}")
        return ContextSettings(check_names(segments))
    if arms is None and isinstance(given["features"], (str, bytes, dict)):
        remedy = "without arms, features are the names of what candidates come with: ['price']"
        raise SettingError(f"features={given['features']!r}: {remedy}")
    trial = ContextualAgent(
        () if arms is None else arms, policy=policy, minimise=minimise, seed=0, **chosen
    )
    return ContextSettings(agent=_text(trial.definition()))


def ledger_family(contexts: ContextSettings | None, in_range: bool) -> str:
    """The family by which the ledger counts: that of a model's rewards, or of those in a range."""
    model = None if contexts is None else contexts.model
    if model is None:
        return "bounded" if in_range else "bernoulli"
    if isinstance(model, Linear):
        return "gaussian-unknown"
    return "bernoulli" if isinstance(model, Logistic) else "poisson"


def check_beside(contexts: ContextSettings | None, given: dict[str, Any]) -> None:
    """Refuse what has no meaning in a study with contexts."""
    for name, value in given.items():
        if contexts is not None and value is not None and value is not False:
            raise SettingError(f"{name}={value!r} is not for studies with contexts: {_WHY[name]}")


def _text(plain: Any) -> str:
    return json.dumps(state_file.plain(plain), ensure_ascii=False, sort_keys=True)
