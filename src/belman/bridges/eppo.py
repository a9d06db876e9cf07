"""Eppo: a study with contexts as a bandit of Eppo's clients, and what they logged as outcomes.

Their bandit scores actions by a line along attributes, and plays FALCON's rule: of K actions the
one with the largest score gets what the others leave, and another one 1/(K + γ · gap), or the floor
where that is more. A unit's lot is drawn by MD5. What a study believes goes there as its mean.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from belman.agent import Agent
from belman.assignment import Eppo
from belman.assignment.contexts import CONSTANT, LEVEL, MISSING, NUMBER, OTHERS
from belman.deciders import FeaturedDecider
from belman.deciders.featured.at_edge import folded
from belman.deciders.featured.columns import PLAIN, lay_out
from belman.deciders.featured.forms import Form
from belman.deciders.shares import NO_SHARES, Shares
from belman.errors import SettingError, StudyError, shown
from belman.models import Linear
from belman.policies.dependent.being_best import chance_of_best
from belman.studies import Study
from belman.validate import is_between

_SHARDS = Eppo()
_HERE = {"name": "belman"}
_LEAST = 1e-6  # of the chance that a leader is not the best, by which γ is chosen
_TRUTHS = {"True": "true", "False": "false"}  # as belman writes them, and as their clients do
_NUMERIC, _WORDS = "subjectNumericCoefficients", "subjectCategoricalCoefficients"
_OF_ARM = "actionNumericCoefficients", "actionCategoricalCoefficients"

Json = dict[str, Any]
#: Keys of actions, or their attributes by key.
Arms = Iterable[str] | Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Bandit:
    """A bandit of Eppo: its key, which is that of its flag too, the data of its model, and the
    names of the context.

    >>> import belman
    >>> agent = belman.Agent(["blue", "red"], context=["age"], model="linear", seed=7)
    >>> for age, reward in ((20, 1.0), (30, 2.0), (40, 3.0)):
    ...     agent.tell("blue", reward, {"age": age})
    >>> banner = bandit(agent, "banner", gamma=10.0)
    >>> {arm: round(chance, 3) for arm, chance in banner.chances({"age": 50}).items()}
    {'blue': 0.955, 'red': 0.045}
    >>> banner.choose("user-1", {"age": 50}).arm
    'blue'
    """

    key: str
    data: Json
    names: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """The version of the model: a digest of its data."""
        text = json.dumps(self.data, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def arms(self) -> list[str]:
        """The actions that have coefficients."""
        return list(self.data["coefficients"])

    def models(self) -> Json:
        """Return the answer of `/flag-config/v1/bandits`."""
        now = _time()
        model = {"banditKey": self.key, "modelName": "falcon", "modelVersion": self.version}
        own = {**model, "updatedAt": now, "modelData": self.data}
        return {"updatedAt": now, "environment": _HERE, "bandits": {self.key: own}}

    def flags(self) -> Json:
        """Return the answer of `/flag-config/v1/config`: a flag that is this bandit for everybody,
        or part of one of your own.
        """
        variation = {"key": self.key, "value": self.key}
        where = {
            "key": self.key,
            "flagKey": self.key,
            "variationKey": self.key,
            "variationValue": self.key,
        }
        splits = [{"variationKey": self.key, "shards": []}]
        allocation = {"key": "bandit", "rules": [], "splits": splits, "doLog": True}
        flag = {
            "key": self.key,
            "enabled": True,
            "variationType": "STRING",
            "variations": {self.key: variation},
            "allocations": [allocation],
            "totalShards": _SHARDS.shards,
        }
        variations = [{**where, "allocationKey": "bandit"}]
        reference = {"modelVersion": self.version, "flagVariations": variations}
        return {
            "createdAt": _time(),
            "format": "SERVER",
            "environment": _HERE,
            "flags": {self.key: flag},
            "bandits": {self.key: [where]},
            "banditReferences": {self.key: reference},
        }

    def context_of(self, attributes: Mapping[str, Any]) -> Json:
        """Return the context that attributes of a subject are: those that the study knows."""
        truths = {
            (one["attributeKey"], word): truth
            for own in self.data["coefficients"].values()
            for one in own[_WORDS]
            for truth, word in _TRUTHS.items()
            if truth in one["valueCoefficients"]
        }
        known = {name: attributes[name] for name in self.names if name in attributes}
        return {name: truths.get((name, value), value) for name, value in known.items()}

    # What their clients do

    def scores(self, context: Mapping[str, Any], arms: Arms | None = None) -> Json:
        """Return the score of every arm in a context, or of these, which may have attributes."""
        result = dict[str, Any]()
        of_arms = arms if isinstance(arms, Mapping) else {}
        for arm in self.arms if arms is None else arms:
            own = self.data["coefficients"].get(arm)
            result[arm] = (
                self.data["defaultActionScore"]
                if own is None
                else own["intercept"]
                + _score(own, (_NUMERIC, _WORDS), context)
                + _score(own, _OF_ARM, of_arms.get(arm) or {})
            )
        return result

    def chances(self, context: Mapping[str, Any], arms: Arms | None = None) -> Json:
        """Return the chance with which their clients choose every arm in a context."""
        scores = self.scores(context, arms)
        top = min(scores, key=lambda arm: (-scores[arm], arm))
        least = self.data["actionProbabilityFloor"] / len(scores)
        result = {
            arm: max(1.0 / (len(scores) + self.data["gamma"] * (scores[top] - score)), least)
            for arm, score in scores.items()
            if arm != top
        }
        rest = 1.0
        for chance in result.values():
            rest -= chance
        return {arm: max(rest, 0.0) if arm == top else result[arm] for arm in scores}

    def choose(
        self,
        unit: str,
        context: Mapping[str, Any],
        arms: Arms | None = None,
        flag: str | None = None,
    ) -> Chosen:
        """Return the arm that their clients choose for a unit, and its chance.

        Parameters
        ----------
        unit, context
            The subject and its attributes.
        arms
            The actions, or their attributes by action; all with coefficients if not given.
        flag
            The key of the flag, if it is another than that of the bandit.
        """
        chances = self.chances(context, arms)
        seed = self.key if flag is None else flag

        def position(arm: str) -> tuple[int, str]:
            return _SHARDS.shard(seed, f"{unit}-{arm}"), arm

        left = _SHARDS.shard(seed, unit) / _SHARDS.shards
        order, end = sorted(chances, key=position), 0.0
        for arm in order:
            end += chances[arm]
            if end > left:
                return Chosen(arm, chances[arm])
        return Chosen(order[-1], chances[order[-1]])


@dataclass(frozen=True)
class Chosen:
    """An arm, and the chance with which it was chosen."""

    arm: str
    chance: float


def bandit(source: Study | Agent, key: str | None = None, *, gamma: float | None = None) -> Bandit:
    """Return a study with contexts (or an agent) as a bandit of Eppo.

    Parameters
    ----------
    source
        What is believed: of linear rewards, or of rewards from 0 to 1 where every arm answers
        contexts in its own way, since scores there are a line.
    key
        The key of the bandit and its flag; the name of the study if it is not given.
    gamma
        How little is explored. If it is not given, the arm that leads in an average context gets
        there the chance that it is the best, as far as is known.
    """
    if isinstance(source, Study):
        result = source._replica.look(_of_state)
        return _made(*result, source.name if key is None else key, gamma)
    if key is None:
        raise SettingError("bandit(agent) needs the key of the bandit: bandit(agent, 'banner')")
    return _made(source._decider, NO_SHARES, key, gamma)


def _of_state(state: Any) -> tuple[Any, Shares]:
    if state.shipped is not None:
        raise StudyError("this study plays one arm alone, which was shipped: no bandit is needed")
    return state.ready().copy(), state.settings.shares


def _made(decider: Any, shares: Shares, key: Any, gamma: float | None) -> Bandit:
    if not isinstance(key, str) or not key:
        raise SettingError(f"key={key!r} is not the key of a bandit: give text")
    if gamma is not None and not is_between(gamma, 0.0, 1e15):
        raise SettingError(f"gamma={gamma!r} is not valid: give a number from 0 to 1e15")
    form = _form(decider)
    floor = _floor(shares, len(decider.arms))
    positions = [decider._positions[arm] for arm in decider.arms]
    theta = form.belief.share @ form.belief.mean
    slots = folded(decider, form.columns.columns, theta[None, :], positions)[0]
    rows = _at_average(decider, form, positions)
    coefficients = {
        arm: _described(arm, decider.knowledge.context, own)
        for arm, own in zip(decider.arms, slots, strict=True)
    }
    chosen = _gamma(form, rows[:-1]) if gamma is None else float(gamma)
    return Bandit(
        key,
        {
            "gamma": chosen,
            "defaultActionScore": float(rows[-1] @ theta),
            "actionProbabilityFloor": floor,
            "coefficients": coefficients,
        },
        tuple(decider.context_names),
    )


def _form(decider: Any) -> Form:
    """Return the form of a belief whose rewards are a line along numbers as they are."""
    if not isinstance(decider, FeaturedDecider) or not decider.arms:
        words = "only what decides by context among named arms can be one"
        raise StudyError(f"this is no bandit of Eppo: {words}")
    if decider.model.is_wide:
        words = 'with covariance="diagonal" words have no end, so take covariance="full"'
        raise StudyError(f"a belief about wide contexts is no bandit of Eppo: {words}")
    if arrays := decider.knowledge.context.arrays.by_name:
        raise StudyError(f"arrays ({', '.join(arrays)}) are no attributes: give numbers names")
    if wrong := [arm for arm in decider.arms if not isinstance(arm, str) or not arm]:
        raise StudyError(f"arm {wrong[0]!r} is no key of an action: arms have to be text")
    forms = [
        form
        for form in decider.knowledge.forms
        if isinstance(form.model, Linear) and form.columns.shape == PLAIN
    ]
    if not forms:
        words = "a score there is a line, so take model='linear'"
        raise StudyError(f"{decider.model.name} rewards are no line along attributes: {words}")
    return max(forms, key=lambda form: form.standing)


def _floor(shares: Shares, arms: int) -> float:
    """Return the floor of their model, which all actions share."""
    if shares.control_share is not None or isinstance(shares.floor, tuple) or shares.most < 1.0:
        words = "every action has the same floor there, and control no share of its own"
        raise StudyError(f"shares of single arms cannot be told to Eppo's clients: {words}")
    return min(arms * shares.floor, 1.0) if shares.floor else shares.uniform


def _at_average(decider: Any, form: Form, positions: Sequence[int]) -> Any:
    """Return the columns of every arm in the average context, in which words have the shares with
    which they came; of an arm that nothing is known of last.
    """
    learnt = decider.knowledge
    x, own = np.zeros(len(learnt.context)), np.zeros(len(learnt.features))
    x[0] = 1.0
    for position, slot in enumerate(learnt.context.slots):
        if slot.kind == LEVEL:
            counts = learnt.context.levels[slot.name]
            x[position] = counts[slot.level] / max(sum(counts.values()), 1)
    layout = form.layout(learnt.context, learnt.features, learnt.arms)
    rows = np.zeros((len(positions) + 1, len(form.columns)))
    for row, position in zip(rows, positions, strict=False):
        own[:] = 0.0
        if decider._rows:
            learnt.features.fill(decider._rows[position], own)
        lay_out(x, own, layout, position, row)
    lay_out(x, np.zeros(len(learnt.features)), layout, -1, rows[-1])
    return rows


def _gamma(form: Form, rows: Any) -> float:
    """Return the γ by which the leader gets the chance that it is the best."""
    scores = rows @ (form.belief.share @ form.belief.mean)
    gaps, leader = scores.max() - scores, int(scores.argmax())
    chance = chance_of_best(form.model, form.belief, rows, leader, 1.0) if len(rows) > 1 else 1.0
    if math.isnan(chance):
        raise StudyError(
            f"γ is worked out for up to 50 arms, and there are {len(rows)}: give gamma="
        )
    others = np.delete(gaps, leader)
    wanted = max(1.0 - chance, _LEAST)

    def left(gamma: float) -> float:
        return float((1.0 / (len(rows) + gamma * others)).sum())

    if left(0.0) <= wanted or not (others > 0.0).any():
        return 0.0
    high = 1.0
    while left(high) > wanted and high < 1e15:
        high *= 2.0
    low = 0.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if left(middle) > wanted else (low, middle)
    return high


def _described(arm: str, slots: Any, own: Any) -> Json:
    """Return the coefficients of an arm, in units of the attributes."""
    at = {(slot.kind, slot.name, slot.level): float(own[i]) for i, slot in enumerate(slots.slots)}
    intercept, numeric, words = at.get((CONSTANT, "", ""), float(own[0])), [], []
    for name, kind in slots.kinds.items():
        lacking = at.get((MISSING, name, ""))
        if kind == NUMBER:
            moments = slots.moments[name]
            each = at[NUMBER, name, ""] / moments.spread if moments.spread > 0.0 else 0.0
            intercept -= each * moments.centre
            missing = (lacking or 0.0) + each * moments.centre
            entry = {"coefficient": each, "missingValueCoefficient": missing}
            numeric.append({"attributeKey": name, **entry})
        else:
            if lacking is None:
                lacking = at.get((OTHERS, name, ""), 0.0)
            levels = {level: at[LEVEL, name, level] for level in slots.levels.get(name, {})}
            for truth, written in _TRUTHS.items():
                if truth in levels:
                    levels.setdefault(written, levels[truth])
            entry = {"valueCoefficients": levels, "missingValueCoefficient": lacking}
            words.append({"attributeKey": name, **entry})
    return {
        "actionKey": arm,
        "intercept": intercept,
        _NUMERIC: numeric,
        _WORDS: words,
        "actionNumericCoefficients": [],
        "actionCategoricalCoefficients": [],
    }


def _score(own: Json, names: tuple[str, str], attributes: Mapping[str, Any]) -> float:
    """Return what their clients make of the attributes of a subject, or of an action."""
    numeric = words = 0.0
    for one in own[names[0]]:
        value = attributes.get(one["attributeKey"])
        is_truth = isinstance(value, bool)
        if isinstance(value, (int, float)) and not is_truth and math.isfinite(value):
            numeric += value * one["coefficient"]
        else:
            numeric += one["missingValueCoefficient"]
    for one in own[names[1]]:
        value = attributes.get(one["attributeKey"])
        word = _TRUTHS.get(str(value)) if isinstance(value, bool) else value
        known = one["valueCoefficients"].get(word) if isinstance(word, str) else None
        words += one["missingValueCoefficient"] if known is None else known
    return numeric + words


def _time() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def row(
    event: Mapping[str, Any],
    reward: float,
    bandits: Iterable[Bandit],
    arms: Arms | None = None,
) -> Json:
    """Return the outcome of what a client of Eppo logged, for `Study.observe`, with the chances of
    all arms; SettingError where the log does not say what the model would have done.

    Parameters
    ----------
    event
        What `log_bandit_action` (`logBanditAction`) was given.
    reward
        What came of it.
    bandits
        The bandits that were served, of which one has the version that the event names.
    arms
        The actions that were given, or their attributes by action, if these were not all arms of
        the bandit.
    """
    try:
        version, unit, arm = (str(event[name]) for name in ("modelVersion", "subject", "action"))
        flag = str(event.get("flagKey", event.get("featureFlag")))
        given = float(event["actionProbability"])
        numbers, words = event["subjectNumericAttributes"], event["subjectCategoricalAttributes"]
        context = {**(numbers or {}), **(words or {})}
        time = datetime.fromisoformat(str(event["timestamp"]).replace("Z", "+00:00")).timestamp()
    except (KeyError, TypeError, ValueError) as error:
        raise SettingError(f"this is no event of a bandit of Eppo: {error!r}") from None
    own = next((one for one in bandits if one.version == version), None)
    if own is None:
        raise SettingError(f"no bandit of version {shown(version)} was given: keep all that served")
    chances = own.chances(context, arms)
    chosen = own.choose(unit, context, arms, flag)
    if chosen.arm != arm or not abs(chosen.chance - given) <= 1e-9:
        said = f"{shown(arm)} with a chance of {given:.4g}"
        words = f"its model gives {shown(chosen.arm)} with {chosen.chance:.4g}"
        raise SettingError(f"unit {shown(unit)} is said to have got {said}, and {words}")
    result = {"unit": unit, "version": None, "arm": arm, "reward": reward, "time": time}
    return {**result, "context": own.context_of(context), "chances": chances}
