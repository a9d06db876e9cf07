"""The decider by segment: a belief an arm and segment, and one policy that decides in each.

A segment decides by what it learnt and a share of what the others did (`pooling.py`). The share is
learnt: where segments are alike all rewards count in each, where they differ each speaks for
itself, and a small segment borrows more than a large one. The decider of independent arms inside is
given what a segment believes, chooses, and keeps nothing.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from belman import chance
from belman.deciders import checks, state_file, validate
from belman.deciders.decider import Asking, Choice, Decider, Plain, Sums
from belman.deciders.independent.independent import PLAIN, IndependentDecider
from belman.deciders.independent.saving import patch, patched, sorted_by_name
from belman.deciders.independent.views import units
from belman.deciders.learnt import Learnt, after_many, known_of
from belman.deciders.segmented.pooling import STRENGTHS
from belman.deciders.segmented.segment_beliefs import Segment, SegmentBeliefs
from belman.deciders.shares import NO_SHARES, Shares
from belman.errors import PolicyError, RewardError, SettingError, StateError
from belman.families import Family
from belman.measures.report import Known
from belman.policies import Policy
from belman.table import Table

#: Asks of an arm that are out in a segment beyond which more change no decision.
MOST_WAITING = 100
_BORROWS = "rewards of other segments count here too, and those may have another mean"
#: Texts that stand in a label as they are: they begin with a letter, and end no other part of it.
_PLAIN = re.compile(r"[^\W\d_][^,=\"]*(?<!\s)")


class SegmentedDecider(Decider):
    """Arms that are believed per segment, named by the values of a context.

    >>> decider = SegmentedDecider(("country",), IndependentDecider(["blue", "red"]))
    >>> decider.record(decider.recall("red", {"country": "fr"}), 1)
    >>> decider.beliefs(decider.check({"country": "fr"}), 0.95)["plays"]
    [0, 1]
    """

    kind = "segmented"

    def __init__(self, names: Sequence[str], inner: IndependentDecider) -> None:
        check_segmented_policy(inner.policy)
        self._inner = inner
        self._totals = {arm: inner.learnt(arm) for arm in inner.arms}
        self.segments = SegmentBeliefs(names, inner.family, dict(self._totals))
        self._out: dict[Segment, Counter[Hashable]] = {}  # asks that are out, by segment and arm
        self._told = sum(learnt.tells for learnt in self._totals.values())

    # What it is

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values that make a segment."""
        return self.segments.names

    @property
    def arms(self) -> tuple[Hashable, ...]:
        return self._inner.arms

    @property
    def retired(self) -> dict[Hashable, Learnt]:
        """What was learnt of the arms that are not in play any more, over all segments."""
        playing, waiting = set(self._inner.arms), self._waiting()
        return {
            arm: learnt._replace(pending=waiting[arm])
            for arm, learnt in self._totals.items()
            if arm not in playing
        }

    @property
    def rng(self) -> chance.Words:
        """The words of the generator that chooses."""
        return self._inner.rng

    @property
    def policy(self) -> Policy:
        return self._inner.policy

    def set_policy(self, policy: Any) -> None:
        if isinstance(policy, Policy):
            check_segmented_policy(policy)
        self._inner.set_policy(policy)

    @property
    def turn(self) -> int:
        return self._told + 1

    @property
    def family(self) -> Family:
        """What a reward is."""
        return self._inner.family

    @property
    def scale(self) -> Any:
        """How a reward of the user becomes one of the family."""
        return self._inner.scale

    @property
    def clipped(self) -> int:
        """How many rewards lay beyond the range and were taken for its end."""
        return self._inner.clipped

    @property
    def time(self) -> float:
        """The seconds since some beginning."""
        return self._inner.time

    @time.setter
    def time(self, seconds: float) -> None:
        self._inner.time = seconds

    def inward(self, reward: Any) -> float:
        return self._inner.inward(reward)

    def outward(self, value: float) -> float:
        return self._inner.outward(value)

    # Asking

    def check(self, context: Any = None, candidates: Any = None) -> Asking:
        if candidates is not None:
            remedy = "features=[names] without arms makes a decider of candidates"
            raise SettingError(f"candidates=… were given where segments have arms: {remedy}")
        return Asking(self.segments.named(self.segments.key({} if context is None else context)))

    def check_room(self, asking: Asking, n: int = 1) -> None:
        self.segments.check_room(self._key(asking))

    def _key(self, asked: Asking | Choice) -> Segment:
        return tuple((asked.context or {}).values())

    def meet(self, asking: Asking) -> None:
        """Keep a segment from now on."""
        self.segments.see(self._key(asking))

    def _enter(self, asking: Asking | Choice) -> IndependentDecider:
        """Return the decider inside, which believes what a segment does now."""
        key = self._key(asking)
        out, believed = self._out.get(key, Counter()), self.segments.believed(key)
        arms = self._inner.arms
        pending = [min(out[arm], MOST_WAITING) for arm in arms]
        self._inner.load([believed[arm] for arm in arms], pending)
        return self._inner

    def choose(
        self,
        asking: Asking,
        n: int = 1,
        *,
        among: Sequence[Any] | None = None,
        shares: Shares = NO_SHARES,
        rng: chance.Words,
        integrate: bool = True,
    ) -> list[Choice]:
        self.meet(asking)
        inner = self._enter(asking)
        chosen = inner.choose(PLAIN, n, among=among, shares=shares, rng=rng, integrate=integrate)
        found = [choice._replace(context=asking.context) for choice in chosen]
        self._out.setdefault(self._key(asking), Counter()).update(one.arm for one in chosen)
        return found

    def chances(self, last: Sequence[Choice]) -> list[float]:
        """Return the chances of the last choices, those of draws from beliefs integrated."""
        return self._inner.chances(last)

    def weights(self, asking: Asking, n: int, shares: Shares = NO_SHARES) -> dict[Any, float]:
        return self._enter(asking).weights(PLAIN, n, shares)

    def rank(self, asking: Asking, among: Sequence[Any] | None = None) -> list[Any]:
        return self._enter(asking).rank(PLAIN, among)

    @property
    def outstanding(self) -> dict[Hashable, int]:
        """The asks without a reward so far, per arm in play."""
        total = self._waiting()
        return {arm: total[arm] for arm in self._inner.arms if total[arm]}

    def _waiting(self) -> Counter[Hashable]:
        return sum(self._out.values(), Counter())

    def expect(self, choice: Choice, n: int = 1) -> None:
        self._known_arm(choice.arm)
        self._out.setdefault(self._key(choice), Counter())[choice.arm] += n

    def _known_arm(self, arm: Hashable) -> Hashable:
        if validate.is_among(arm, self._totals):
            return arm
        raise validate.unknown_arm(arm, self._inner.arms)

    # Learning

    def check_reward(self, choice: Choice, reward: Any) -> None:
        value = self.inward(reward)
        own = self.segments.of(self._key(choice))
        for learnt in (own[self._known_arm(choice.arm)], self._totals[choice.arm]):
            self.family.update(learnt.belief, value)

    def settle(self, choice: Choice, reward: float | None) -> None:
        key, arm = self._key(choice), choice.arm
        out = self._out.get(key, Counter())
        if not out[arm]:
            raise RewardError(f"arm {arm!r} has no outstanding ask in this segment")
        if reward is not None:
            value = self.inward(reward)
            total = self._totals[arm].told(self.family, value)
            self.family.update(self.segments.of(key)[arm].belief, value)  # refuses beforehand
            self.segments.learn(key, arm, value)
            self._totals[arm] = total
            self._told += 1
            self._inner._count_clipped(reward)
        out[arm] -= 1
        if not out[arm]:
            del out[arm]
        if not out:
            del self._out[key]

    def learnt(self, arm: Hashable) -> Learnt:
        """Return all that was learnt of an arm over all segments."""
        return self._totals[self._known_arm(arm)]._replace(pending=self._waiting()[arm])

    def taught(self, choice: Choice, sums: Sums) -> Plain:
        own = self.segments.of(self._key(choice))[self._known_arm(choice.arm)]
        after = after_many(self.family, own, sums, choice.arm)
        total = after_many(self.family, self._totals[choice.arm], sums, choice.arm)
        return self._patch(choice, after, total, sums.n)

    def corrected(self, choice: Choice, old: float | None, new: float | None) -> Plain | None:
        return None  # what segments borrow was learnt reward by reward

    def _patch(self, choice: Choice, own: Learnt, total: Learnt, n: int = 0) -> Plain:
        segment = [choice.context, patch(choice.arm, own, n)]
        return {"segments": [segment], "totals": patch(choice.arm, total, n)}

    def patch_to(self, other: Decider) -> Plain:
        assert isinstance(other, SegmentedDecider)
        totals = [row for arm in self._totals for row in patch(arm, other._totals[arm])["arms"]]
        return {"beliefs": other.segments.plain(), "totals": {"arms": totals}}

    def take(self, patch: Mapping[str, Any]) -> None:
        if "beliefs" in patch:
            self.segments.take(patch["beliefs"], "the log")
        for context, rows in patch.get("segments", ()):
            key = self.segments.key(context)
            self.segments.see(key)
            for arm, learnt, _ in patched(rows, self.segments.own[key].__getitem__):
                self.segments.keep(key, arm, learnt)
        for arm, learnt, _ in patched(patch["totals"], self._totals.__getitem__):
            self._told += learnt.tells - self._totals[arm].tells
            self._totals[arm] = learnt

    # Arms

    def add(self, arm: Hashable, prior: Any = None) -> None:
        validate.check_new(arm, self._inner.arms)
        is_known = arm in self._totals
        if is_known and prior is not None:
            back = f"arm {arm!r} was retired and comes back with what was learnt of it"
            raise SettingError(f"{back}: it takes no prior")
        self._inner.add(arm, prior)
        if not is_known:
            first = self._inner.learnt(arm)
            self._totals[arm] = first
            self.segments.add_arm(arm, first)

    def retire(self, arm: Hashable) -> None:
        self._inner.retire(arm)
        self._inner.retired[arm] = Learnt.nothing(self._totals[arm].prior)

    # Looking

    def known(self, asking: Asking | None = None) -> Known:
        if asking is not None:
            found = self._enter(asking).known()
            borrowed = any(self.segments.shares(self._key(asking)).values())
            return replace(found, faded=found.faded or (_BORROWS if borrowed else ""))
        return known_of(self.family, self._inner.arms, self._totals, units(self.scale))

    def beliefs(self, asking: Asking | None, level: float) -> Table:
        if asking is not None:
            return self._enter(asking).beliefs(level=level)
        self._inner.load([self._totals[arm] for arm in self.arms], [0] * len(self.arms))
        return self._inner.beliefs(level=level)

    def explain(self, asking: Asking) -> Table:
        return self._enter(asking).explain()

    def within(self, asking: Asking) -> IndependentDecider:
        """Return a decider of independent arms that believes what a segment does now."""
        return self._enter(asking).copy()

    def labelled(self, name: object) -> Asking | None:
        """Return the segment of a label, if it was seen."""
        for key in self.segments.own:
            context = self.segments.named(key)
            if label(context) == name:
                return Asking(context)
        return None

    def strengths(self) -> Table:
        """Return how many rewards of other segments count at most, and how far each is believed."""
        columns = {"strength": list(STRENGTHS), "weight": self.segments.pools.weights.tolist()}
        return Table(columns, "rewards of other segments that count in one")

    def table(self, most: int) -> Table:
        """Return the most likely best arm in play of every segment, the largest segments first."""
        sizes = {key: sum(one.tells for one in own.values())
                 for key, own in self.segments.own.items()}  # fmt: skip
        rows = []
        for key in sorted(sizes, key=lambda key: -sizes[key])[:most]:
            asking = Asking(self.segments.named(key))
            found = self.beliefs(asking, 0.95)
            best = max(range(len(found)), key=found["P(best)"].__getitem__)
            row = [found[name][best] for name in found.columns]
            shares = self.segments.shares(key)
            rows.append((label(asking.context or {}), str(row[0]), sizes[key], *row[2:],
                         shares[row[0]]))  # fmt: skip
        names = ("segment", "arm", "plays", "expected", "low", "high", "best", "borrowed")
        return Table({name: [row[i] for row in rows] for i, name in enumerate(names)})

    # Keeping

    def copy(self) -> SegmentedDecider:
        return copy.deepcopy(self)

    def state(self, working: bool = False) -> Plain:
        inner = self._inner
        inner.load([Learnt.nothing(self._totals[arm].prior) for arm in inner.arms],
                   [0] * len(inner.arms))  # fmt: skip
        found = {
            "names": list(self.names),
            "inner": inner.state(),
            "order": [state_file.encode_arm(arm) for arm in self._totals],
            "totals": [list(learnt) for learnt in self._totals.values()],
            "beliefs": self.segments.plain(),
            "out": [
                [self.segments.named(key), state_file.encode_arm(arm), count]
                for key, counts in sorted(self._out.items(), key=repr)
                for arm, count in sorted_by_name(counts)
            ],
        }
        return state_file.plain(found)

    @classmethod
    def restore(cls, state: Mapping[str, Any], source: str, **replaced: Any) -> SegmentedDecider:
        inner = IndependentDecider.restore(state["inner"], source, **replaced)
        decider = cls(state["names"], inner)
        order = [state_file.decode_arm(arm, source) for arm in state["order"]]
        rows = [checks.learnt(row, inner.family, f"arm {arm!r}")
                for arm, row in zip(order, state["totals"], strict=True)]  # fmt: skip
        decider._totals = dict(zip(order, rows, strict=True))
        if set(order) != {*inner.arms, *inner.retired} or len(decider._totals) < len(order):
            raise StateError(f"{source} has other arms in play than it knows")
        decider._told = sum(learnt.tells for learnt in rows)
        first = {arm: Learnt.nothing(learnt.prior) for arm, learnt in decider._totals.items()}
        decider.segments = SegmentBeliefs(state["names"], inner.family, first)
        decider.segments.take(state["beliefs"], source)
        for context, encoded, count in state["out"]:
            arm = decider._known_arm(state_file.decode_arm(encoded, source))
            key = decider.segments.key(context)
            if key not in decider.segments.own:
                raise StateError(f"{source} has asks of a segment that was never seen")
            counts = decider._out.setdefault(key, Counter())
            counts[arm] += checks.whole(count, "outstanding asks", 1, checks.MOST_PENDING)
        return decider


def check_segmented_policy(policy: Policy) -> None:
    """Refuse a policy that keeps more than beliefs, which segments share."""
    if policy.learns or policy.learns_from_asks:
        words = "it keeps more than beliefs, which segments share"
        raise PolicyError(f"policy {policy.name!r} cannot serve segments: {words}")


def label(context: Mapping[str, Any]) -> str:
    """Return a segment as a person reads it.

    >>> label({"country": "fr", "device": None})
    'country=fr, device=none'
    >>> label({"country": "1.0"}) == label({"country": 1.0})
    False
    """
    return ", ".join(f"{name}={_word(value)}" for name, value in context.items())


def _word(value: Any) -> str:
    """Return a value, in quotes where it is a text that would read as something else: no two
    segments have the same label.
    """
    if not isinstance(value, str):
        return "none" if value is None else str(value)
    is_plain = _PLAIN.fullmatch(value) and value != "none"
    return value if is_plain else json.dumps(value, ensure_ascii=False)
