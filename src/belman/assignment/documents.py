"""The weights document: all that is needed to assign units to arms, as small JSON.

A version of it stands until the next. It says which points of the circle belong to which arm
(`allotment.py`), so that the next version moves as few units as its weights require.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from .allotment import POINTS, Cut, counts_of, in_points, lay_out, move_as_few
from .assigners import BELMAN, OUTSIDE, Assigner, GrowthBook, assigner_in, points_of
from .contexts import Contexts
from .leaves import Leaves
from .refusals import BelmanError, WeightsError

FORMAT = "belman-weights/1"

#: The largest whole number that JavaScript reads as it was written.
SAFE = 2**53 - 1

_NAME = re.compile("[^\0\ud800-\udfff]+")

Arm = str | int | float | bool | None


class Assignment(NamedTuple):
    """The arm of a unit.

    Attributes
    ----------
    arm
        The name of the arm.
    chance
        The probability with which any unit gets this arm, in the same context.
    version
        The version of the weights.
    """

    arm: Arm
    chance: float
    version: int


def prefix_of(salt: str) -> bytes:
    """What stands before the name of a unit when it is hashed."""
    return salt.encode() + b"\0"


@dataclass(frozen=True)
class Weights:
    """The weights of a study's arms, for one segment of its units or for all.

    Parameters
    ----------
    study
        The name of the study.
    version
        A whole number that rises from version to version.
    salt
        Text that is hashed together with the name of a unit.
    arms
        The names of the arms.
    cuts
        (end, place of an arm) pairs: points below the first end belong to the first arm named, and
        so on up to 2³². Where an assigner has another number of points, ends go up to that, and
        points at the place −1 have no arm.
    floors
        The least weight of each arm that was asked for.
    segment
        The segment of units; None for all.
    decisions
        For how many decisions the weights were made.
    published
        When, in seconds since 1970.
    valid_until
        Until when they may be used.
    contexts
        What assigns a unit by its context; cuts and weights are then for units without a context.
        Where GrowthBook assigns, the leaves of a tree.
    assigner
        Whose hash assigns units, where that is not belman's. `weights`, the shares of points, are
        then of the points that have an arm.

    >>> first = Weights.of("checkout", {"blue": 0.9, "green": 0.1}, salt="s1")
    >>> second = first.following({"blue": 0.5, "green": 0.5})
    >>> second.version, second.weights, second.cuts
    (2, (0.5, 0.5), ((2147483648, 0), (4294967296, 1)))
    """

    study: str
    version: int
    salt: str
    arms: tuple[Arm, ...]
    cuts: tuple[Cut, ...]
    floors: tuple[float, ...]
    segment: str | None = None
    decisions: int | None = None
    published: float | None = None
    valid_until: float | None = None
    contexts: Contexts | Leaves | None = None
    assigner: Assigner | None = None
    weights: tuple[float, ...] = field(init=False)
    prefix: bytes = field(init=False, repr=False, compare=False)
    ends: list[int] = field(init=False, repr=False, compare=False)
    answers: list[Assignment | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check(self)
        counts = counts_of(self.cuts, len(self.arms))
        points = POINTS if self.assigner is None else sum(counts)
        chances = tuple(count / points for count in counts)
        object.__setattr__(self, "weights", chances)
        object.__setattr__(self, "prefix", prefix_of(self.salt))
        object.__setattr__(self, "ends", [end for end, _ in self.cuts])
        answers = [Assignment(arm, chances[a], self.version) for a, arm in enumerate(self.arms)]
        own = [None if arm == OUTSIDE else answers[arm] for _, arm in self.cuts]
        object.__setattr__(self, "answers", own)

    @classmethod
    def of(
        cls,
        study: str,
        weights: Mapping[Arm, float],
        *,
        salt: str,
        version: int = 1,
        floors: Mapping[Arm, float] | None = None,
        segment: str | None = None,
        decisions: int | None = None,
        published: float | None = None,
        valid_until: float | None = None,
        contexts: Contexts | Leaves | None = None,
        assigner: Assigner | None = None,
    ) -> Weights:
        """Make the first weights of a study, with one stretch of points for each arm.

        Parameters
        ----------
        study
            The name of the study.
        weights
            Weights by arm, which add up to 1.
        salt
            Text that is hashed together with the name of a unit.
        version
            The version.
        floors
            The least weights by arm that were asked for.
        segment
            The segment of units; None for all.
        decisions
            For how many decisions the weights were made.
        published
            When, in seconds since 1970.
        valid_until
            Until when they may be used.
        contexts
            What assigns a unit by its context.
        assigner
            Whose hash assigns units, where that is not belman's.

        Returns
        -------
        Weights
            The document.

        Raises
        ------
        WeightsError
            If the weights do not add up to 1, or a setting is invalid.
        """
        points = points_of(assigner)
        cuts = tuple(lay_out(in_points(_checked(weights), points)))
        parts = (tuple(weights), cuts, _floors(weights, floors))
        times = (decisions, published, valid_until)
        return cls(study, version, salt, *parts, segment, *times, contexts, assigner)

    def following(
        self,
        weights: Mapping[Arm, float],
        *,
        floors: Mapping[Arm, float] | None = None,
        decisions: int | None = None,
        published: float | None = None,
        valid_until: float | None = None,
    ) -> Weights:
        """Make the next version: ½ Σ|Δw| of the units change their arm, the least possible. Arms
        may be added and left out. Where GrowthBook assigns, each arm has one range, and more units
        may change their arm.

        Parameters
        ----------
        weights
            Weights by arm, which add up to 1.
        floors
            The least weights by arm that were asked for.
        decisions
            For how many decisions the weights were made.
        published
            When, in seconds since 1970.
        valid_until
            Until when they may be used.

        Returns
        -------
        Weights
            The document.
        """
        arms, points = tuple(weights), self.cuts[-1][0]
        gone = [arm for arm in self.arms if arm not in weights]
        positions = {arm: position for position, arm in enumerate([*arms, *gone])}
        cuts = [(end, positions[self.arms[position]]) for end, position in self.cuts]
        counts = in_points(_checked(weights), points) + [0] * len(gone)
        of = (self.study, self.version + 1, self.salt)
        in_order = isinstance(self.assigner, GrowthBook)
        moved = tuple(lay_out(counts) if in_order else move_as_few(cuts, counts))
        own, times = _floors(weights, floors), (decisions, published, valid_until)
        return Weights(*of, arms, moved, own, self.segment, *times, None, self.assigner)

    def chances(self, context: object = None) -> tuple[float, ...]:
        """Return the probability of every arm in a context, or for a unit without one.

        Parameters
        ----------
        context
            Values by name.

        Returns
        -------
        tuple
            Probabilities, in the order of the arms.

        >>> Weights.of("checkout", {"blue": 0.75, "green": 0.25}, salt="s1").chances()
        (0.75, 0.25)
        """
        if self.contexts is None or context is None:
            return self.weights
        points = points_of(self.assigner)
        return tuple(count / points for count in self.contexts.counts(context, self.floors))

    @property
    def by(self) -> str:
        """Return the name of the assigner: "belman", or another."""
        return BELMAN if self.assigner is None else self.assigner.by

    def answer(self, position: int, context: object = None) -> Assignment:
        """Return the assignment of a unit that falls on a point.

        Parameters
        ----------
        position
            The point.
        context
            Values by name.

        Returns
        -------
        Assignment
            The arm, its probability, and the version.

        Raises
        ------
        WeightsError
            If units at this point take no part.
        """
        if self.contexts is None or context is None:
            result = self.answers[bisect_right(self.ends, position)] if position >= 0 else None
            if result is None:
                raise WeightsError(f"this unit takes no part in version {self.version}")
            return result
        if position < 0:
            raise WeightsError(f"this unit takes no part in version {self.version}")
        end, points = 0, points_of(self.assigner)
        for arm, count in enumerate(self.contexts.counts(context, self.floors)):
            end += count
            if position < end:
                return Assignment(self.arms[arm], count / points, self.version)
        raise AssertionError("all points belong to an arm")

    def described(self) -> dict[str, Any]:
        """Return the document as plain data.

        Returns
        -------
        dict
            What `from_described` reads.
        """
        result = {part.name: getattr(self, part.name) for part in fields(self) if part.compare}
        lists = ("arms", "cuts", "floors", "weights")
        contexts, assigner = result.pop("contexts"), result.pop("assigner")
        result |= {name: list(result[name]) for name in lists}
        own = {} if contexts is None else {"contexts": contexts.described()}
        own |= {} if assigner is None else {"assigner": assigner.described()}
        return {"format": FORMAT, **result, **own}

    def to_json(self) -> str:
        """Return the document as JSON.

        Returns
        -------
        str
            What `from_json` reads.
        """
        return json.dumps(self.described(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Weights:
        """Read the weights of a document. Its origin is not checked: `verify` does that.

        Parameters
        ----------
        text
            JSON.

        Returns
        -------
        Weights
            The document.

        Raises
        ------
        WeightsError
            If the text is no weights document.
        """
        try:
            return cls.from_described(json.loads(text))
        except BelmanError:
            raise
        except (ValueError, RecursionError) as error:
            raise WeightsError(f"this is not a weights document: {error}") from None

    @classmethod
    def from_described(cls, result: Any) -> Weights:
        """Read the weights of a document as plain data.

        Parameters
        ----------
        result
            What `described` returned.

        Returns
        -------
        Weights
            The document.

        Raises
        ------
        WeightsError
            If the data are no weights document.
        """
        if not isinstance(result, dict) or result.get("format") != FORMAT:
            given = result.get("format") if isinstance(result, dict) else result
            raise WeightsError(f"format={given!r} is not a weights document: this reads {FORMAT!r}")
        known = {part.name for part in fields(cls) if part.init}
        given = {name: value for name, value in result.items() if name in known}
        for name in ("arms", "cuts", "floors"):
            if not isinstance(given.get(name), list):
                raise WeightsError(f"{name}={given.get(name)!r} is not a list")
        try:
            given["cuts"] = tuple((end, arm) for end, arm in given["cuts"])
        except (TypeError, ValueError):
            raise WeightsError(
                f"cuts={given['cuts']!r} are not pairs of an end and an arm"
            ) from None
        given["arms"], given["floors"] = tuple(given["arms"]), tuple(given["floors"])
        if given.get("contexts") is not None:
            is_tree = isinstance(given["contexts"], dict) and "leaves" in given["contexts"]
            given["contexts"] = (Leaves if is_tree else Contexts).from_described(given["contexts"])
        if given.get("assigner") is not None:
            given["assigner"] = assigner_in(given["assigner"])
        try:
            made = cls(**given)
        except TypeError as error:
            raise WeightsError(f"this weights document lacks something: {error}") from None
        if result.get("weights") != list(made.weights):
            raise WeightsError("the weights of this document are not those of its cuts")
        return made


def schema() -> dict[str, Any]:
    """Return the JSON Schema of weights documents, and of signed ones.

    Returns
    -------
    dict
        The schema as plain data.

    >>> sorted(schema()["$defs"])
    ['assigner', 'contexts', 'envelope', 'leaves', 'weights']
    """
    text = Path(__file__).with_name("weights.schema.json").read_text("utf-8")
    result: dict[str, Any] = json.loads(text)
    return result


def _is_number(value: object) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) <= 1e300  # type: ignore[arg-type]


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= SAFE


def _checked(weights: Mapping[Arm, float]) -> list[float]:
    """Weights that are none below 0 and add up to 1."""
    if not isinstance(weights, Mapping) or not weights:
        raise WeightsError(f"weights={weights!r} are not valid: give {{arm: weight}}")
    for arm, weight in weights.items():
        if not _is_number(weight) or not 0.0 <= weight <= 1.0:
            raise WeightsError(f"weights[{arm!r}]={weight!r} is not valid: it must lie from 0 to 1")
    total = math.fsum(weights.values())
    if abs(total - 1.0) > 1e-9:
        raise WeightsError(f"the weights add up to {total!r}: they must add up to 1")
    return [weight / total for weight in weights.values()]


def _floors(weights: Mapping[Arm, float], floors: Mapping[Arm, float] | None) -> tuple[float, ...]:
    return tuple((floors or {}).get(arm, 0.0) for arm in weights)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _are_arms(arms: Sequence[Arm]) -> bool:
    return bool(arms) and all(map(is_arm, arms)) and len(set(arms)) == len(arms)


def is_arm(arm: object) -> bool:
    """Whether a document can name this arm: every language reads it as it was written."""
    if isinstance(arm, int):
        return abs(arm) <= SAFE
    return arm is None or isinstance(arm, str) or (isinstance(arm, float) and math.isfinite(arm))


def _check(made: Weights) -> None:
    """Refuse a document that assigns nothing, or not what it says."""
    text = "give text, without a NUL or half of a surrogate pair"
    whole, time = "a whole number from 1 up", "is not a time: give seconds since 1970"
    is_segment = made.segment is None or isinstance(made.segment, str)
    is_count = made.decisions is None or _is_whole(made.decisions, 1)
    times = [one is None or _is_number(one) for one in (made.published, made.valid_until)]
    floors = len(made.floors) == len(made.arms) and all(map(_is_number, made.floors))
    for name, holds, words in (
        ("study", _is_name(made.study), f"is not a study: {text}"),
        ("salt", _is_name(made.salt), f"is not a salt: {text}"),
        ("segment", is_segment, "is not valid: give text, or None for all units"),
        ("version", _is_whole(made.version, 1), f"is not valid: give {whole}"),
        ("decisions", is_count, f"is not valid: give {whole}"),
        ("published", times[0], time),
        ("valid_until", times[1], time),
        ("arms", _are_arms(made.arms), "are not valid: give different names that JSON has"),
        ("floors", floors, "are not valid: give one number per arm"),
    ):
        if not holds:
            raise WeightsError(f"{name}={getattr(made, name)!r} {words}")
    assigner = made.assigner
    _check_cuts(made.cuts, len(made.arms), points_of(assigner), assigner)
    if isinstance(made.contexts, Leaves):
        if not isinstance(assigner, GrowthBook):
            raise WeightsError("leaves are for the clients of GrowthBook: name them as assigner")
        if not made.contexts.fits(len(made.arms), assigner.points):
            raise WeightsError(f"a leaf of this document is not one of {len(made.arms)} arms")
    elif made.contexts is not None:
        if assigner is not None:
            raise WeightsError(f"{assigner.by} cannot decide by the contexts of a document")
        _check_contexts(made.contexts, made.arms, made.floors)


def _check_cuts(cuts: Sequence[Cut], arms: int, points: int, assigner: Assigner | None) -> None:
    last, least = 0, 0 if assigner is None else OUTSIDE
    for end, arm in cuts:
        if not _is_whole(end, last + 1) or not _is_whole(arm, least) or arm >= arms:
            raise WeightsError(
                f"cut {(end, arm)!r} is not valid: ends rise, and arms are 0 to {arms - 1}"
            )
        last = end
    if last != points:
        raise WeightsError(f"the cuts end at {last}: they must end at {points}")
    if all(arm == OUTSIDE for _, arm in cuts):
        raise WeightsError("no point of this document belongs to an arm")


def _check_contexts(contexts: Contexts, arms: Sequence[Arm], floors: Sequence[float]) -> None:
    size, settled = len(arms), contexts.settled
    positions = [position for position in (settled, contexts.control) if position is not None]
    free = size - (settled is not None)
    if contexts.arms != size or any(position >= size for position in positions) or not free:
        raise WeightsError(f"the contexts of this document are not those of {size} arms")
    if min(floors) < 0.0 or sum(math.floor(floor * POINTS) for floor in floors) > POINTS:
        raise WeightsError(f"floors={floors!r} are not valid: they are more than all units")
