"""`StudySettings`: every setting of a study, with the sentence that documents it.

The signature of `open_study`, the HTTP model, the options of `belman study create` and the
reference are made from these fields, or held to them by `tests/studies/test_settings.py`.
"""

# ruff: noqa: RUF009 (a sentence makes no default that could be shared)
from __future__ import annotations

import copy
import json
from collections.abc import Hashable, Mapping
from dataclasses import InitVar, dataclass, field, fields
from functools import cached_property
from typing import Any

from belman import chance
from belman.agent.making import ALONG_FEATURES
from belman.deciders import (
    Decider,
    FeaturedDecider,
    IndependentDecider,
    SegmentedDecider,
    Shares,
)
from belman.errors import SettingError, StateError
from belman.families import Family
from belman.measures.stop_rules import MOST_SHARE, StopRule
from belman.models import Model
from belman.policies import Forgetting, Policy
from belman.policies.dependent import DependentPolicy
from belman.studies.rules.budgets import Budget
from belman.studies.rules.guards import Limit
from belman.studies.rules.utility import Utility
from belman.studies.rules.window_rule import FORGET, Silence
from belman.studies.settings import plain_data
from belman.studies.settings.checks import checked


def _setting(sentence: str) -> Any:
    """Make a field that is None where it is not given."""
    return field(default=None, metadata={"doc": sentence})


@dataclass(frozen=True)
class StudySettings:
    """What the user chose when a study was created.

    Every argument may be None, which means that it is not given. Making one checks all of them and
    fills in the defaults, so that the fields hold what the study goes by: `StudySettings(["a"])`
    has a family, a policy and a seed. What it holds is valid as arguments again.

    Parameters
    ----------
    SETTINGS

    >>> settings = StudySettings(["a", "b"], window=3600)
    >>> settings.family.name, settings.silence, settings.early
    ('bernoulli', 0.0, True)
    """

    arms: tuple[Hashable, ...] = _setting(
        "The names of the arms; none where candidates come with every ask."
    )
    family: Family = _setting(
        "The family, a distribution of rewards; by default bernoulli, bounded where a range is "
        "given, or that of the model."
    )
    policy: Policy | DependentPolicy = _setting("The policy, or its name; belman by default.")
    prior: InitVar[Any] = _setting("The prior of every arm, in place of the family's.")
    priors: Mapping[Hashable, tuple[float, ...]] = _setting("The priors of single arms, by name.")
    range: tuple[float, float] | None = _setting("The least and the largest reward.")
    clip: bool = _setting("Whether to clip rewards to the range; by default others are refused.")
    minimise: bool = _setting("Whether rewards are costs: less is better.")
    discount: float = _setting("Below 1, old rewards count less: by this factor at every reward.")
    drift: InitVar[Any] = _setting(
        "Adapt to changes over time: auto, or belman-drift with settings."
    )
    last: InitVar[Any] = _setting("How many rewards count, the newest; all by default.")
    seed: int = _setting("The same seed makes the same decisions; by default one is drawn.")
    uniform_share: float = _setting(
        "A share of traffic assigned uniformly at random, for an honest replay."
    )
    window: float | None = _setting("Seconds to wait for rewards of a ticket; then it counts.")
    silence: Silence | None = _setting(
        "The reward of a ticket when none came within the window, 0 by default; forget: the ticket "
        "does not count."
    )
    accumulate: bool = _setting("Whether rewards of a ticket add up; by default the last counts.")
    early: bool = _setting(
        "Whether to learn before windows close; by default where rewards are 0 or 1 and silence "
        "is 0."
    )
    reward: Utility | None = _setting(
        "A formula for the reward from metrics: margin - 0.2*latency."
    )
    control: Hashable | None = _setting("The arm that the others are compared with.")
    goal: str = _setting(
        "What the study is for: earn (traffic as the policy wishes), decide (an even split), or "
        "both (the leader gets at most three times as much as control); both where there is a "
        "control, and earn in contexts and without."
    )
    stop_when: StopRule | None = _setting(
        "The stopping rule: separated (with a guarantee, the default beside a control), sure or "
        "loss-below (given the prior), with settings."
    )
    negligible: InitVar[Any] = _setting(
        "A lift so small that it does not matter, 0.01 for 1 % of control: the study also stops "
        "when no arm can differ by more."
    )
    then: str = _setting(
        "What to do when the stopping rule is met: say (only report it, the default), or ship (all "
        "traffic to the best arm)."
    )
    floor: float | Mapping[Hashable, float] | None = _setting(
        "The least traffic share of every arm, or of some by name."
    )
    control_share: float | None = _setting("The share of traffic that control always gets.")
    guard: Mapping[str, Limit] | None = _setting(
        "Guard-rails, limits on means of metrics, such as refund < 0.05."
    )
    budget: Budget | None = _setting(
        "So much of one metric, a cost, may be spent in a period, such as dollars: 25 a day; a "
        "price on it is learnt, and arms are drawn by what they are worth less what they cost."
    )
    segments: tuple[str, ...] | None = _setting(
        "Names of context values; each combination is a segment that learns."
    )
    context: tuple[str, ...] | None = _setting("Names of the context values that come with an ask.")
    features: tuple[str, ...] | Mapping[Hashable, Mapping[str, Any]] | None = _setting(
        "Features of every arm; or names alone, for candidates."
    )
    model: Model | None = _setting(
        "The model of rewards given features: linear, logistic (the default) or poisson."
    )
    pooling: str | None = _setting(
        "What arms share: shared, disjoint or hybrid; by default as their features allow."
    )
    interactions: tuple[tuple[str, str], ...] | None = _setting(
        "Pairs of a context name and a feature that count together, such as country:price; all by "
        "default."
    )
    scale: float | None = _setting("The prior's standard deviation of coefficients; 1 by default.")

    def __post_init__(self, prior: Any, drift: Any, last: Any, negligible: Any) -> None:
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        merged = {"prior": prior, "drift": drift, "last": last, "negligible": negligible}
        vars(self).update(checked(given, **merged))

    @classmethod
    def sentences(cls) -> dict[str, str]:
        """Return what every setting means, in the order of the arguments.

        Returns
        -------
        dict
            For each setting by its name one sentence.

        >>> StudySettings.sentences()["minimise"]
        'Whether rewards are costs: less is better.'
        """
        return {name: one.metadata["doc"] for name, one in cls.__dataclass_fields__.items()}

    # What it makes

    def decider(self) -> Decider:
        """Make what decides when the study begins.

        Returns
        -------
        Decider
            A `FeaturedDecider`, `SegmentedDecider` or `IndependentDecider`, with nothing learnt.
        """
        if self.has_features:
            along: dict[str, Any] = {name: getattr(self, name) for name in ALONG_FEATURES}
            arms = () if self.has_candidates else self.arms
            rest: dict[str, Any] = {"policy": self.policy, "family": self.family}
            return FeaturedDecider(arms, **along, **rest, minimise=self.minimise)
        policy: Any = self.policy
        result = IndependentDecider(
            self.arms,
            self.family,
            policy,
            priors=self.priors,
            range=self.range,
            clip=self.clip,
            minimise=self.minimise,
            discount=self.discount,
        )
        return result if self.segments is None else SegmentedDecider(self.segments, result)

    @property
    def kind(self) -> str:
        """The kind of what decides."""
        apart = IndependentDecider if self.segments is None else SegmentedDecider
        return FeaturedDecider.kind if self.has_features else apart.kind

    @property
    def shares(self) -> Shares:
        """The shares of traffic that no policy decides."""
        floor = tuple(self.floor.items()) if isinstance(self.floor, Mapping) else self.floor
        most = MOST_SHARE[self.goal]
        return Shares(floor, self.control, self.control_share, self.uniform_share, most)

    @property
    def draws_by_chances(self) -> bool:
        """Whether asks are drawn by chances that are known of all arms, so that each of them tells
        how arms compare with control.
        """
        if self.budget is not None:
            return True
        if self.goal == "earn" and self.has_features:
            return self.control is not None and (self.shares.floored or self.uniform_share > 0.0)
        return self.goal != "earn" or self.control is not None

    def words(self) -> chance.Words:
        """Make the generator from which the generator of every decision is forked.

        Returns
        -------
        Words
            The state of a generator that follows from `seed` alone.
        """
        return chance.generator(self.seed)

    # What it says

    @property
    def has_features(self) -> bool:
        """Whether one belief along features is shared by all arms."""
        return self.model is not None

    @property
    def has_contexts(self) -> bool:
        """Whether decisions depend on a context: by segments, or along features."""
        return self.segments is not None or self.has_features

    @property
    def has_candidates(self) -> bool:
        """Whether arms come with every ask."""
        return isinstance(self.features, tuple)

    @property
    def silent_reward(self) -> float | None:
        """What a ticket counts as that nobody told in time; None where it is forgotten."""
        return None if self.silence == FORGET else self.silence

    def under(self, policy: Policy | DependentPolicy) -> StudySettings:
        """Copy the settings for a replay by another policy, which no log has to keep.

        Parameters
        ----------
        policy
            The policy of the copy.

        Returns
        -------
        StudySettings
            The copy, without a uniform share or a budget, and with the goal to earn.
        """
        other = copy.copy(self)
        vars(other).pop("plain", None)
        vars(other).update(policy=policy, uniform_share=0.0, goal="earn", budget=None)
        return other

    # The same as plain data and as text

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The settings as JSON has them."""
        return plain_data.plain({one.name: getattr(self, one.name) for one in fields(self)})

    @classmethod
    def from_plain(cls, content: dict[str, Any]) -> StudySettings:
        """Read settings from plain data.

        Parameters
        ----------
        content
            What `plain` gave, as JSON has it.

        Returns
        -------
        StudySettings
            The settings.

        Raises
        ------
        StateError
            If the data are not exactly as they would be written.
        """
        result = cls(**plain_data.given(content))
        if _text(result.plain) != _text(content):
            raise StateError("the settings of a study are not as they would be written")
        return result

    def to_json(self) -> str:
        """Write the settings as text.

        Returns
        -------
        str
            A JSON object, as the first event of a log has it.
        """
        return json.dumps(self.plain, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> StudySettings:
        """Read settings from text.

        Parameters
        ----------
        text
            What `to_json` gave.

        Returns
        -------
        StudySettings
            The settings.

        Raises
        ------
        StateError
            If the data are not exactly as they would be written.
        """
        return cls.from_plain(json.loads(text))

    # A study that is there already

    def check_same(self, wanted: Mapping[str, Any], study: str) -> None:
        """Refuse settings that differ from these, with which a study was created.

        Parameters
        ----------
        wanted
            The settings that are given now, by name; those that are left out are not compared.
        study
            The name of the study, for the message.

        Raises
        ------
        SettingError
            If one of them differs.
        """
        asked = type(self)(**{**self._beside(wanted), **wanted})
        meant = {"prior": "family", "drift": "policy", "last": "policy"}
        meant["negligible"] = "stop_when"
        if self.has_features:
            meant |= {"drift": "model", "discount": "model"}
        for name in sorted(wanted, key=lambda name: name not in ("arms", "window")):
            before, now = (getattr(one, meant.get(name, name)) for one in (self, asked))
            if now != before:
                raise SettingError(
                    f"study {study!r} was created with {meant.get(name, name)}={before!r}, and now "
                    f"{now!r} was given: leave it out, or change the running study "
                    "(add_arm, retire_arm, set_exposure, set_policy)"
                )

    def _beside(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of this study that say what others mean, without those that follow from
        others.
        """
        names = {"arms", "family", "range", "minimise", "control", "stop_when", "goal"}
        if wanted.keys() & {"window", "silence", "accumulate", "early"}:
            names |= {"window", "silence", "accumulate"}
        if wanted.keys() & {"policy", "segments", "discount", "drift", *ALONG_FEATURES}:
            names |= {"segments", "features", "context", "model", "scale"}
        result = {name: getattr(self, name) for name in names}
        if "last" in wanted and isinstance(self.policy, Forgetting):
            result["policy"] = self.policy.policy
        return result


StudySettings.__doc__ = (StudySettings.__doc__ or "").replace(
    "SETTINGS",
    "\n    ".join(f"{name}\n        {words}" for name, words in StudySettings.sentences().items()),
)


def _text(content: Any) -> str:
    """Equal texts are equal values, and of the same kinds."""
    return json.dumps(content, sort_keys=True)
