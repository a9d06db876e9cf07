"""What the user chose when a study was created, as its first event keeps it."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from belman import chance, spec
from belman.agent import Agent, checks, doors, state_file
from belman.agent.changing import check_drift, check_last
from belman.agent.reporting import check_rule
from belman.errors import (
    ArmError,
    BelmanError,
    FamilyError,
    PolicyError,
    SettingError,
    StateError,
    StudyError,
    listing,
    nearest,
)
from belman.families import Family, family_named
from belman.measures.stop_rules import StopRule
from belman.models import Model
from belman.policies import BelMan, Drift, Policy
from belman.policies.dependent import DependentPolicy
from belman.studies.contexts.settings import (
    CANDIDATE,
    ContextSettings,
    check_beside,
    check_contexts,
    ledger_family,
)
from belman.studies.rules import floors
from belman.studies.rules.floors import Floor, check_control_share, check_floor
from belman.studies.rules.guards import Guard, check_guard
from belman.studies.rules.metrics import check_utility
from belman.studies.rules.shipping import check_then
from belman.studies.rules.utility import Utility
from belman.studies.rules.window_rule import (
    check_early,
    check_flag,
    check_seconds,
    check_silence,
    why_not_early,
)
from belman.studies.rules.written import is_encodable

_OF_WINDOWS = ("window", "silence", "accumulate")
#: Settings that older logs do not have, left out where they are not chosen; and how some are kept.
_NEWER = ("reward", "control", "stop_when", "floor", "control_share", "guard", "clip", "contexts")
_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "reward": lambda utility: utility.text,
    "control": state_file.encode_arm,
    "stop_when": spec.describe,
    "floor": lambda floor: _pairs(floor) if isinstance(floor, tuple) else floor,
    "guard": lambda guard: {name: limit.text for name, limit in guard},
    "contexts": ContextSettings.to_plain,
}


@dataclass(frozen=True)
class Settings:
    """The arms, family, policy and rules of a study at its creation."""

    arms: tuple[Hashable, ...]
    family: Family
    policy: Policy
    priors: tuple[tuple[int, tuple[float, ...]], ...]
    range: tuple[float, float] | None
    minimise: bool
    discount: float
    seed: int
    uniform_share: float
    window: float | None = None
    silence: float | None = None
    accumulate: bool = False
    early: bool = False
    reward: Utility | None = None  # over the metrics of a ticket, where no reward is told
    control: Hashable | None = None  # the arm that the others are compared with
    stop_when: StopRule | None = None
    then: str = "say"  # or "ship", where the stopping rule has decided
    floor: Floor | None = None
    control_share: float | None = None
    guard: Guard | None = None
    clip: bool | None = None  # whether rewards beyond the range count as its ends
    contexts: ContextSettings | None = None

    def agent(self) -> Agent:
        """The agent with which the study begins."""
        own = {self.arms[place]: prior for place, prior in self.priors}
        scale: dict[str, Any] = {"range": self.range, "minimise": self.minimise}
        rest: dict[str, Any] = {"clip": bool(self.clip), "discount": self.discount, "seed": 0}
        return Agent(self.arms, self.family, self.policy, priors=own, **scale, **rest)

    def words(self) -> chance.Words:
        """The generator from which the generator of every decision is forked."""
        return chance.generator(self.seed)

    def to_json(self) -> str:
        """The settings as text."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.window is None:  # written as ever
            plain = {name: value for name, value in plain.items() if name not in _OF_WINDOWS}
        if not self.early:
            del plain["early"]
        if self.then == "say":
            del plain["then"]
        for name in _NEWER:  # what was not chosen is not written, as ever
            if plain[name] is None:
                del plain[name]
        plain |= {name: write(plain[name]) for name, write in _WRITTEN.items() if name in plain}
        plain |= {
            "arms": [state_file.encode_arm(arm) for arm in self.arms],
            "family": spec.describe(self.family),
            "policy": spec.describe(self.policy),
        }
        return json.dumps(state_file.plain(plain), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """The settings of a text that `to_json` gave."""
        content = json.loads(text)
        if not isinstance(content["arms"], list):
            raise StateError("the arms of a study are a list of names")
        content |= {
            "reward": check_utility(content.get("reward")),
            "control": _decoded(content.get("control")),
            "stop_when": _rule(content.get("stop_when")),
            "floor": _floor(content.get("floor")),
            "guard": check_guard(content.get("guard")),
            "contexts": ContextSettings.from_plain(content.get("contexts")),
            "arms": tuple(state_file.decode_arm(arm, "the study") for arm in content["arms"]),
            "family": given_back(content["family"], Family),
            "policy": given_back(content["policy"], Policy),
            "priors": tuple((place, tuple(prior)) for place, prior in content["priors"]),
            "range": checks.interval(content["range"]),
        }
        found = cls(**content)
        found.check()
        return found

    def check(self) -> None:
        """Refuse settings that `settings` would not have given; the agent checks its own."""
        if doors.check_seed(self.seed) is None:
            raise StateError("a study has a seed")
        if check_share(self.uniform_share) != self.uniform_share:
            raise StateError("a study has a uniform share, which may be 0")
        if check_then(self.then, self.stop_when) != self.then:
            raise StateError("a study says what follows its stopping rule")
        self._check_floors()
        check_seconds(self.window, "window")
        for name in ("minimise", "accumulate", "early"):
            check_flag(getattr(self, name), name)
        if self.clip is not None:
            check_flag(self.clip, "clip")
        if self.silence is not None:
            checks.numbers(self.silence, np.zeros(()), "silence")
        if not self.arms or any(map(_lost, map(state_file.encode_arm, self.arms))):
            raise StateError("a study has arms, each of a name that a log can keep")
        for place, _ in self.priors:
            checks.whole(place, "the arm of a prior", 0, len(self.arms) - 1)

    def _check_floors(self) -> None:
        given = dict(self.floor) if isinstance(self.floor, tuple) else self.floor
        if check_floor(given, self.arms) != self.floor:
            raise StateError("the floors of a study are not in the order of its arms")
        check_control_share(self.control_share, check_control(self.control, self.arms))
        floors.check_sum(floors.shares(self.arms, self.floor, self.control, self.control_share))


def settings(
    arms: Iterable[Hashable] | None,
    family: str | Family | None = None,
    policy: Policy | DependentPolicy | None = None,
    *,
    prior: ArrayLike | None = None,
    priors: Mapping[Hashable, ArrayLike] | None = None,
    range: tuple[float, float] | None = None,
    clip: bool | None = None,
    minimise: bool | None = None,
    discount: float | None = None,
    drift: str | Drift | None = None,
    last: int | None = None,
    seed: int | None = None,
    uniform_share: float | None = None,
    window: float | timedelta | None = None,
    silence: float | None = 0,
    accumulate: bool = False,
    early: bool | None = None,
    reward: str | Utility | None = None,
    control: Hashable | None = None,
    stop_when: StopRule | None = None,
    then: str | None = None,
    floor: float | Mapping[Hashable, float] | None = None,
    control_share: float | None = None,
    guard: Mapping[str, str] | None = None,
    segments: Sequence[str] | None = None,
    context: Iterable[str] | None = None,
    features: Any = None,
    model: str | Model | None = None,
    pooling: str | None = None,
    interactions: Iterable[Sequence[str]] | None = None,
    scale: float | None = None,
) -> Settings:
    """Settings of a new study, each checked; None takes the default."""
    told = {"segments": segments, "context": context, "features": features, "model": model}
    told |= {"pooling": pooling, "interactions": interactions, "scale": scale}
    contexts = check_contexts(arms, policy, bool(minimise), told)
    rules: dict[str, Any] = {"stop_when": stop_when, "then": then, "drift": drift, "last": last}
    rules["discount"] = None if discount == 1.0 else discount
    check_beside(contexts, {**rules, "early": early})
    if contexts is not None and contexts.agent:
        check_beside(contexts, {"prior": prior, "priors": priors, "range": range})
        policy = None
    if contexts is not None:
        arms, early = ([CANDIDATE] if arms is None else arms), False if window else None
    elif arms is None:
        raise ArmError("a study needs arms, or names of features for candidates")
    base = family_named(ledger_family(contexts, range is not None) if family is None else family)
    if prior is not None:
        base = replace(base, prior=base.check_prior(prior))
    kept(base)
    names = tuple(check_arm(arm) for arm in doors.check_names(arms, "arms"))
    own = doors.check_priors(priors)
    fades = 1.0 if discount is None else discount
    chosen = check_drift(drift, cast("Policy | None", policy), fades)
    chosen = check_last(last, chosen, fades)
    who = check_policy(BelMan() if chosen is None else chosen)
    counted_on: dict[str, Any] = {"range": range, "minimise": bool(minimise), "clip": bool(clip)}
    agent = Agent(names, base, who, priors=own, discount=fades, seed=seed, **counted_on)
    opened = check_seconds(window, "window")
    if opened is None and (silence not in (0, None) or accumulate):
        given = f"accumulate={accumulate!r}" if accumulate else f"silence={silence!r}"
        raise SettingError(f"{given} is for tickets with a window: give window=… too")
    counted = None if opened is None else check_silence(silence, agent.scale)
    if contexts is not None and contexts.model is not None and counted is not None:
        contexts.model.check_reward(counted)
    least = check_floor(floor, names)
    fixed = check_control_share(control_share, check_control(control, names))
    floors.check_sum(floors.shares(names, least, control, fixed))
    if uniform_share and (least is not None or fixed is not None):
        remedy = "floors of all arms are a uniform share too: leave out uniform_share"
        raise SettingError(f"uniform_share={uniform_share!r} beside floors: {remedy}")
    drawn = np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1 if seed is None else seed
    return Settings(
        names,
        base,
        who,
        tuple((names.index(arm), base.check_prior(own[arm])) for arm in own),
        agent.scale.range,
        agent.scale.minimise,
        float(fades),
        int(drawn),
        check_share(uniform_share),
        opened,
        counted,
        check_flag(accumulate, "accumulate"),
        check_early(early, why_not_early(agent.scale, opened, counted, accumulate)),
        check_utility(reward),
        check_control(control, names),
        check_rule(stop_when),
        check_then(then, stop_when),
        least,
        fixed,
        check_guard(guard),
        None if clip is None else check_flag(clip, "clip"),
        contexts,
    )


def check_arm(arm: Hashable) -> Hashable:
    """A name that a log can keep and give back."""
    doors.check_new(arm, ())
    encoded = state_file.encode_arm(arm)
    if _lost(encoded):
        allowed = "a study's arms are named by strings, numbers or tuples of them"
        raise ArmError(f"arm {arm!r} cannot be kept in a log: {allowed}")
    return state_file.decode_arm(encoded, "the study")


def check_control(control: Hashable | None, arms: Sequence[Hashable]) -> Hashable | None:
    """One of the arms, or None."""
    if control is None:
        return None
    if control not in arms:
        there = f"there are {listing(arms)}{nearest(control, arms)}"
        raise ArmError(f"control={control!r} is not one of the arms: {there}")
    return arms[arms.index(control)]


def _decoded(arm: Any) -> Hashable | None:
    return None if arm is None else state_file.decode_arm(arm, "the study")


def _pairs(floor: tuple[tuple[Hashable, float], ...]) -> list[list[Any]]:
    return [[state_file.encode_arm(arm), share] for arm, share in floor]


def _floor(content: Any) -> Floor | None:
    if not isinstance(content, list):
        return content
    return tuple((state_file.decode_arm(arm, "the study"), share) for arm, share in content)


def _rule(description: Any) -> StopRule | None:
    return None if description is None else given_back(description, StopRule)


def _lost(encoded: Any) -> bool:
    """Whether a name would not come back: JSON lacks its kind, or no encoding has the string."""
    if isinstance(encoded, str):
        return not is_encodable(encoded)
    return isinstance(encoded, dict) and ("repr" in encoded or any(map(_lost, encoded["tuple"])))


def check_policy(policy: Policy) -> Policy:
    """A policy that a log can keep and give back."""
    if not isinstance(policy, Policy):
        remedy = "give one of belman.policies, such as belman.BelMan()"
        raise PolicyError(f"policy={policy!r} is not a policy: {remedy}")
    if policy.learns_from_asks:
        why = "what it learns depends on its asks too, which a log of rewards does not say"
        raise PolicyError(f"policy {policy.name!r} has no place in a study: {why}")
    kept(policy)
    return policy


def kept(part: Family | Policy) -> dict[str, Any]:
    """The description of a part, from which a log gives it back to whoever opens the study."""
    try:
        description = spec.describe(part)
        spec.build(description, trust="imported")
    except BelmanError as error:
        is_policy = isinstance(part, Policy)
        what, raised = ("policy", PolicyError) if is_policy else ("family", FamilyError)
        raise raised(f"{what}={part!r} cannot be kept in a log: {error}") from None
    return description


def given_back(description: Any, kind: type) -> Any:
    """The part that a log describes; a user's own has to be imported already."""
    try:
        return spec.build(description, kind, trust="imported")
    except BelmanError as error:
        raise StudyError(f"this study cannot be opened here: {error}") from None


def check_share(share: float | None) -> float:
    """A share of traffic."""
    if share is None:
        return 0.0
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0.0 <= share <= 1.0:
        allowed = "it must be a number from 0 to 1"
        raise SettingError(f"uniform_share={share!r} is not a share of traffic: {allowed}")
    return float(share)
