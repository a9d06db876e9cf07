"""Deciding by context for clients that know conditions and no draws: a small tree, whose leaves
have tests and the points of every arm.

A context belongs to the first leaf whose tests it all passes; the last leaf has none and is for all
others. A value that is missing is not below any number, and is no word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .contexts import CATEGORY, NUMBER, values_in
from .refusals import WeightsError, shown

BELOW, NOT_BELOW, IS, IS_NOT = "below", "not below", "is", "is not"
_TESTS = {BELOW: NUMBER, NOT_BELOW: NUMBER, IS: CATEGORY, IS_NOT: CATEGORY}
#: Leaves of a document, at most, and tests of a leaf.
MOST_LEAVES, MOST_TESTS = 64, 16

Asked = tuple[str, str, float | str]


@dataclass(frozen=True)
class Leaf:
    """Contexts that pass all tests, (name, test, value) each, and how many points every arm has."""

    where: tuple[Asked, ...]
    points: tuple[int, ...]

    def takes(self, values: Mapping[str, float | str]) -> bool:
        """Whether a context without missing values belongs here.

        >>> Leaf((("age", "not below", 30.0), ("country", "is not", "fr")), ()).takes({"age": 31.0})
        True
        """
        return all(_passes(values.get(name), test, of) for name, test, of in self.where)


def _passes(value: float | str | None, test: str, of: Any) -> bool:
    if test in (BELOW, NOT_BELOW):
        return (isinstance(value, (int, float)) and value < of) is (test == BELOW)
    return (value == of) is (test == IS)


@dataclass(frozen=True)
class Leaves:
    """The leaves of a tree, in the order in which they are asked; `names` are those that a context
    may have, with the kind of their values ("number", "category", None if no value was seen).
    """

    names: Mapping[str, str | None]
    leaves: tuple[Leaf, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.names, Mapping) or not all(
            isinstance(name, str) and kind in (NUMBER, CATEGORY, None)
            for name, kind in self.names.items()
        ):
            raise WeightsError("names of the leaves of this document are not valid")
        if not 0 < len(self.leaves) <= MOST_LEAVES or self.leaves[-1].where:
            words = f"give 1 to {MOST_LEAVES}, the last of which has no tests"
            raise WeightsError(f"the leaves of this document are not valid: {words}")
        for leaf in self.leaves:
            if len(leaf.where) > MOST_TESTS or not all(map(self._is_test, leaf.where)):
                raise WeightsError(f"leaf {shown(leaf.where)} of this document is not valid")

    def _is_test(self, test: Any) -> bool:
        name, kind, value = test if isinstance(test, tuple) and len(test) == 3 else ("", "", None)
        if name not in self.names or kind not in _TESTS:
            return False
        if _TESTS[kind] == CATEGORY:
            return isinstance(value, str)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and abs(value) <= 1e300  # type: ignore[arg-type]

    def position(self, context: object) -> int:
        """Return the place of the leaf that a context belongs to."""
        values = values_in(self.names, context)
        return next(at for at, leaf in enumerate(self.leaves) if leaf.takes(values))

    def counts(self, context: object, floors: Sequence[float]) -> Sequence[int]:
        """Return the points of every arm in a context; floors are in them already."""
        return self.leaves[self.position(context)].points

    def fits(self, arms: int, points: int) -> bool:
        """Whether every leaf gives all of these points to this number of arms."""
        return all(
            len(leaf.points) == arms
            and all(type(one) is int and one >= 0 for one in leaf.points)
            and sum(leaf.points) == points
            for leaf in self.leaves
        )

    def described(self) -> dict[str, Any]:
        """Return the part as plain data."""
        leaves = [
            {"where": [list(test) for test in leaf.where], "points": list(leaf.points)}
            for leaf in self.leaves
        ]
        return {"names": dict(self.names), "leaves": leaves}

    @classmethod
    def from_described(cls, result: Mapping[str, Any]) -> Leaves:
        """Read plain data."""
        try:
            leaves = tuple(
                Leaf(tuple(map(_test, one["where"])), tuple(one["points"]))
                for one in result["leaves"]
            )
            return cls(result["names"], leaves)
        except (TypeError, ValueError, KeyError, AttributeError):
            raise WeightsError("the leaves of this document are not valid") from None


def _test(given: Any) -> Asked:
    name, test, value = given
    return name, test, value
