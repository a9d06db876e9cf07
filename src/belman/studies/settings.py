"""What the user chose when a study was created, as its first event keeps it."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from belman import chance, spec
from belman.agent import Agent, doors, state_file
from belman.errors import ArmError, BelmanError, FamilyError, PolicyError, SettingError, StudyError
from belman.families import Family, family_named
from belman.policies import BelMan, Policy


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
    expire_after: float | None
    expired_reward: float | None

    def agent(self) -> Agent:
        """The agent with which the study begins."""
        own = {self.arms[place]: prior for place, prior in self.priors}
        rest: dict[str, Any] = {"minimise": self.minimise, "discount": self.discount, "seed": 0}
        return Agent(self.arms, self.family, self.policy, priors=own, range=self.range, **rest)

    def words(self) -> chance.Words:
        """The generator from which the generator of every decision is forked."""
        return chance.generator(self.seed)

    def to_json(self) -> str:
        """The settings as text."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
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
        content |= {
            "arms": tuple(state_file.decode_arm(arm, "the study") for arm in content["arms"]),
            "family": given_back(content["family"], Family),
            "policy": given_back(content["policy"], Policy),
            "priors": tuple((place, tuple(prior)) for place, prior in content["priors"]),
            "range": tuple(content["range"]) if content["range"] else None,
        }
        return cls(**content)


def settings(
    arms: Iterable[Hashable],
    family: str | Family | None = None,
    policy: Policy | None = None,
    *,
    prior: ArrayLike | None = None,
    priors: Mapping[Hashable, ArrayLike] | None = None,
    range: tuple[float, float] | None = None,
    minimise: bool | None = None,
    discount: float | None = None,
    seed: int | None = None,
    uniform_share: float | None = None,
    expire_after: float | timedelta | None = None,
    expired_reward: float | None = None,
) -> Settings:
    """Settings of a new study, each checked; None takes the default."""
    base = family_named("bernoulli" if family is None else family)
    if prior is not None:
        base = replace(base, prior=base.check_belief(prior))
    kept(base)
    names = tuple(check_arm(arm) for arm in doors.check_names(arms, "arms"))
    own = doors.check_priors(priors)
    who = check_policy(BelMan() if policy is None else policy)
    fades = 1.0 if discount is None else discount
    scale: dict[str, Any] = {"range": range, "minimise": bool(minimise)}
    agent = Agent(names, base, who, priors=own, discount=fades, seed=seed, **scale)
    after = check_expiry(expire_after)
    if expired_reward is not None:
        if after is None:
            remedy = "counts for tickets that expire: give expire_after=… too"
            raise SettingError(f"expired_reward={expired_reward!r} {remedy}")
        agent.scale.inward(expired_reward)
    drawn = np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1 if seed is None else seed
    return Settings(
        names,
        base,
        who,
        tuple((names.index(arm), base.check_belief(own[arm])) for arm in own),
        agent.scale.range,
        agent.scale.minimise,
        float(fades),
        int(drawn),
        check_share(uniform_share),
        after,
        None if expired_reward is None else float(expired_reward) + 0.0,
    )


def check_arm(arm: Hashable) -> Hashable:
    """A name that a log can keep and give back."""
    doors.check_new(arm, ())
    encoded = state_file.encode_arm(arm)
    if _lost(encoded):
        allowed = "a study's arms are named by strings, numbers or tuples of them"
        raise ArmError(f"arm {arm!r} cannot be kept in a log: {allowed}")
    return state_file.decode_arm(encoded, "the study")


def is_encodable(text: str) -> bool:
    """Whether a text can be written in any encoding: it holds no half of a surrogate pair."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _lost(encoded: Any) -> bool:
    """Whether a name would not come back: JSON lacks its kind, or no encoding has the string."""
    if isinstance(encoded, str):
        return not is_encodable(encoded)
    return isinstance(encoded, dict) and ("repr" in encoded or any(map(_lost, encoded["tuple"])))


def check_policy(policy: Policy) -> Policy:
    """A policy that a log can keep and give back."""
    if not isinstance(policy, Policy):
        remedy = "give one of belman.policies, such as belman.BelMan()"
        raise PolicyError(f"policy={policy!r} is no policy: {remedy}")
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
        raise SettingError(f"uniform_share={share!r} is no share of traffic: {allowed}")
    return float(share)


def check_expiry(after: float | timedelta | None) -> float | None:
    """Seconds after which a ticket expires."""
    if after is None:
        return None
    seconds = after.total_seconds() if isinstance(after, timedelta) else after
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not is_number or not 0.0 < seconds < math.inf:
        allowed = "give seconds above 0, a timedelta, or None for never"
        raise SettingError(f"expire_after={after!r} is no time: {allowed}")
    return float(seconds)
