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
from dataclasses import dataclass, replace
from typing import Annotated, Any

from belman import chance, codec
from belman.codec import Arm, Whole
from belman.deciders import validate
from belman.deciders.decider import Among, Asking, Choice, Floats, Plain
from belman.deciders.independent.independent import PLAIN, IndependentDecider
from belman.deciders.independent.saving import patch, patched, sorted_by_name
from belman.deciders.learnt import MOST_PENDING, Anew, Learnt, Sums, after_many, swapped
from belman.deciders.segmented.pooling import STRENGTHS
from belman.deciders.segmented.segment_beliefs import KeptBeliefs, Segment, SegmentBeliefs
from belman.deciders.shares import NO_SHARES, Shares
from belman.deciders.totals import InContexts, restored
from belman.errors import PolicyError, RewardError, SettingError, StateError
from belman.escaping import for_terminal
from belman.measures.report import Known
from belman.policies import Policy
from belman.table import Table

#: Asks of an arm that are out in a segment beyond which more change no decision.
MOST_WAITING = 100
_BORROWS = "rewards of other segments count here too, and those may have another mean"
#: Texts that stand in a label as they are: they begin with a letter, and end no other part of it.
_PLAIN = re.compile(r"[^\W\d_][^,=\"]*(?<!\s)")


@dataclass(frozen=True)
class Kept:
    """All that a decider by segment keeps: the state of its totals, all arms in the order in which
    they came, what segments believe, and the asks that are out by segment and arm.
    """

    names: list[str]
    totals: Any
    order: list[Arm]
    beliefs: KeptBeliefs
    out: list[tuple[tuple[Arm, ...], Arm, Annotated[int, Whole(1, MOST_PENDING)]]]


class SegmentedDecider(InContexts):
    """Arms that are believed per segment, named by the values of a context.

    Parameters
    ----------
    names
        The names of the values that make a segment.
    totals
        A decider of the same arms that has learnt nothing: it counts them over all segments, and
        its family, policy and priors are used in each.

    Raises
    ------
    PolicyError
        If the policy keeps more than beliefs.

    >>> decider = SegmentedDecider(("country",), IndependentDecider(["blue", "red"]))
    >>> decider.record(decider.recall("red", {"country": "fr"}), 1)
    >>> decider.beliefs(decider.check({"country": "fr"}), 0.95)["plays"]
    [0, 1]
    """

    kind = "segmented"

    def __init__(self, names: Sequence[str], totals: IndependentDecider) -> None:
        check_segmented_policy(totals.policy)
        self.totals = totals
        first = {arm: totals.learnt(arm)._replace(pending=0) for arm in totals.arms}
        self.segments = SegmentBeliefs(names, totals.family, first)
        self._inner = totals.copy()  # believes what a segment does while it chooses there
        self._out: dict[Segment, Counter[Hashable]] = {}  # asks that are out, by segment and arm

    # What it is

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values that make a segment."""
        return self.segments.names

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
        for decider in (self.totals, self._inner):
            decider.set_policy(policy)

    @property
    def clipped(self) -> int:
        """How many rewards lay beyond the range and were taken for its end."""
        return self.totals.clipped

    @property
    def time(self) -> float:
        """The seconds since some beginning."""
        return self.totals.time

    @time.setter
    def time(self, seconds: float) -> None:
        self.totals.time = self._inner.time = seconds

    def inward(self, reward: Any) -> float:
        return self.totals.inward(reward)

    def outward(self, value: float) -> float:
        return self.totals.outward(value)

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
        self, asking: Asking, n: int = 1, among: Among = None, shares: Shares = NO_SHARES
    ) -> list[Choice]:
        self.meet(asking)
        chosen = self._enter(asking).choose(PLAIN, n, among, shares)
        result = [choice._replace(context=asking.context) for choice in chosen]
        for choice in result:
            self.expect(choice)
        return result

    def integrated(self, last: list[Choice]) -> list[Choice]:
        return self._inner.integrated(last)

    def weights(self, asking: Asking, n: int, shares: Shares = NO_SHARES) -> dict[Any, float]:
        return self._enter(asking).weights(PLAIN, n, shares)

    def chances_of_next(self, asking: Asking, n: int, shares: Shares) -> dict[Any, float]:
        return self._enter(asking).chances_of_next(PLAIN, n, shares)

    def believed_now(self, asking: Asking) -> Floats:
        return self._enter(asking).believed_now(PLAIN)

    def rank(self, asking: Asking, among: Among = None) -> list[Any]:
        return self._enter(asking).rank(PLAIN, among)

    def expect(self, choice: Choice, n: int = 1) -> None:
        self.totals.expect(choice, n)
        self._out.setdefault(self._key(choice), Counter())[choice.arm] += n

    # Learning

    def check_reward(self, choice: Choice, reward: Any) -> None:
        self.totals.check_reward(choice, reward)
        own = self.segments.of(self._key(choice))[choice.arm]
        self.family.update(own.belief, self.inward(reward))

    def settle(self, choice: Choice, reward: float | None) -> None:
        key, arm = self._key(choice), choice.arm
        out = self._out.get(key, Counter())
        if not out[arm]:
            raise RewardError(f"arm {arm!r} has no outstanding ask in this segment")
        if reward is not None:
            value = self.inward(reward)
            self.family.update(self.segments.of(key)[arm].belief, value)  # refuses beforehand
        self.totals.settle(choice, reward)
        if reward is not None:
            self.segments.learn(key, arm, value)
        out[arm] -= 1
        if not out[arm]:
            del out[arm]
        if not out:
            del self._out[key]

    def taught(self, choice: Choice, sums: Sums) -> Plain:
        totals = self.totals.taught(choice, sums)
        own = self.segments.of(self._key(choice))[choice.arm]
        after = after_many(self.family, own, sums, choice.arm)
        segment = [choice.context, patch(choice.arm, after, sums.n)]
        return {"segments": [segment], "totals": totals}

    def corrected(
        self, choice: Choice, old: float | None, new: float | None, anew: Anew | None = None
    ) -> Plain | None:
        """Return the patch of an arm in its segment and over all; how much segments borrow from
        each other stays as it was learnt, reward by reward.
        """
        totals = self.totals.corrected(choice, old, new, anew)
        if anew is not None:
            own: Learnt | None = anew.own
        else:
            taken, put = (None if x is None else self.inward(x) for x in (old, new))
            known = self.segments.of(self._key(choice))[choice.arm]
            own = swapped(self.family, known, taken, put)
        if totals is None or own is None:
            return None
        return {"segments": [[choice.context, patch(choice.arm, own)]], "totals": totals}

    def take(self, patch: Mapping[str, Any]) -> None:
        for context, rows in patch.get("segments", ()):
            key = self.segments.key(context)
            self.segments.see(key)
            for arm, learnt, _ in patched(rows, self.segments.own[key].__getitem__):
                self.segments.keep(key, arm, learnt)
        self.totals.take(patch["totals"])

    # Arms

    def add(self, arm: Hashable, prior: Any = None) -> None:
        is_known = validate.is_among(arm, self.totals.retired)
        if is_known and prior is not None:
            back = f"arm {arm!r} was retired and comes back with what was learnt of it"
            raise SettingError(f"{back}: it takes no prior")
        self.totals.add(arm, prior)
        self._inner.add(arm, prior)
        if not is_known:
            self.segments.add_arm(arm, self.totals.learnt(arm))

    def retire(self, arm: Hashable) -> None:
        self.totals.retire(arm)
        self._inner.retire(arm)

    # Looking

    def known(self, asking: Asking | None = None) -> Known:
        if asking is not None:
            result = self._enter(asking).known()
            borrowed = any(self.segments.shares(self._key(asking)).values())
            return replace(result, faded=result.faded or (_BORROWS if borrowed else ""))
        return self.totals.known()

    def beliefs(self, asking: Asking | None, level: float) -> Table:
        return (self.totals if asking is None else self._enter(asking)).beliefs(level=level)

    def explain(self, asking: Asking) -> Table:
        return self._enter(asking).explain()

    def within(self, asking: Asking) -> IndependentDecider:
        """Copy out one segment.

        Parameters
        ----------
        asking
            The request, whose context names the segment.

        Returns
        -------
        IndependentDecider
            A decider of independent arms that believes what the segment does now.
        """
        return self._enter(asking).copy()

    def labelled(self, name: object) -> Asking | None:
        """Find a segment by its label.

        Parameters
        ----------
        name
            The label, such as "country=fr, device=phone".

        Returns
        -------
        Asking, or None
            The request of that segment; None where none with this label was seen.
        """
        for key in self.segments.own:
            context = self.segments.named(key)
            if label(context) == name:
                return Asking(context)
        return None

    def strengths(self) -> Table:
        """Tabulate how much segments borrow from each other.

        Returns
        -------
        Table
            How many rewards of other segments count at most, and the weight of each such number.
        """
        columns = {"strength": list(STRENGTHS), "weight": self.segments.pools.weights.tolist()}
        return Table(columns, "rewards of other segments that count in one")

    def table(self, most: int) -> Table:
        """Tabulate the arm in play that is most likely the best in each segment.

        Parameters
        ----------
        most
            How many segments, the largest first.

        Returns
        -------
        Table
            A row for each segment: the arm, what is believed of it, and how much is borrowed.
        """
        sizes = {key: sum(one.tells for one in own.values())
                 for key, own in self.segments.own.items()}  # fmt: skip
        rows = []
        for key in sorted(sizes, key=lambda key: -sizes[key])[:most]:
            asking = Asking(self.segments.named(key))
            result = self.beliefs(asking, 0.95)
            best = max(range(len(result)), key=result["P(best)"].__getitem__)
            row = [result[name][best] for name in result.columns]
            shares = self.segments.shares(key)
            rows.append((label(asking.context or {}), str(row[0]), sizes[key], *row[2:],
                         shares[row[0]]))  # fmt: skip
        names = ("segment", "arm", "plays", "expected", "low", "high", "best", "borrowed")
        return Table({name: [row[i] for row in rows] for i, name in enumerate(names)})

    # Keeping

    def copy(self) -> SegmentedDecider:
        return copy.deepcopy(self)

    def state(self, working: bool = False) -> Plain:
        out = [
            (key, arm, count)
            for key, counts in sorted(self._out.items(), key=repr)
            for arm, count in sorted_by_name(counts)
        ]
        order, beliefs = self.segments.arms, self.segments.kept()
        return codec.write(Kept(list(self.names), self.totals.state(), order, beliefs, out))

    @classmethod
    def restore(cls, state: Mapping[str, Any], source: str, **replaced: Any) -> SegmentedDecider:
        kept = codec.read(Kept, state, {})
        totals = restored(kept.totals, source, **replaced)
        decider = cls(kept.names, totals)
        if len({*kept.order}) < len(kept.order) or {*kept.order} != {*totals.arms, *totals.retired}:
            raise StateError(f"{source} has other arms in play than it knows")
        first = {arm: Learnt.nothing(totals.learnt(arm).prior) for arm in kept.order}
        decider.segments = SegmentBeliefs(kept.names, totals.family, first)
        decider.segments.take(kept.beliefs)
        for key, arm, count in kept.out:
            totals.learnt(arm)  # refuses strangers
            if key not in decider.segments.own:
                raise StateError(f"{source} has asks of a segment that was never seen")
            decider._out.setdefault(key, Counter())[arm] += count
        waiting: Counter[Hashable] = sum(decider._out.values(), Counter())
        if any(totals.learnt(arm).pending != waiting[arm] for arm in kept.order):
            raise StateError(f"{source} waits for other rewards than those of its segments")
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
    if is_plain and value.isprintable():
        return value
    return for_terminal(json.dumps(value, ensure_ascii=False))
