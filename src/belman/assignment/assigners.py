"""Who assigns the units of a weights document, where it is not belman's own hash: the hashes of
GrowthBook and of Eppo, or somebody whose lots cannot be drawn again.

Each says on which point of a circle a unit falls, and the `cuts` of the document which arm that
point belongs to. A GrowthBook bucket and an Eppo shard is a point; a unit that takes no part (by a
namespace, a filter, a traffic allocation) falls `OUTSIDE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import md5
from itertools import pairwise
from typing import Any, ClassVar

from .allotment import POINTS, Cut
from .refusals import WeightsError, shown

#: The point of a unit that takes no part, and the place of the arm that points without an arm have.
OUTSIDE = -1
#: Shards of an Eppo flag, at most.
MOST_SHARDS = 1_000_000
_BUCKETS = {1: 1_000, 2: 10_000}

Range = tuple[float, float]


def fnv1a(text: str, after: int = 0x811C9DC5) -> int:
    """Hash text by FNV-1a (32 bits) over its UTF-16 code units, as JavaScript sees them; `after`
    is the hash of the text before it.

    >>> fnv1a("a"), fnv1a("bc", fnv1a("a")) == fnv1a("abc")
    (3826002220, True)
    """
    hashed = after
    for unit in memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H"):
        hashed = (hashed ^ unit) * 0x01000193 & 0xFFFFFFFF
    return hashed


_of_seed = lru_cache(4_096)(fnv1a)  # a seed is hashed once for all of its units


def bucket(seed: str, name: str, version: int) -> int:
    """Return the bucket of a unit: one of 1,000 in version 1 of GrowthBook's hash, and of 10,000 in
    version 2.

    >>> bucket("checkout", "user-1", 1), bucket("checkout", "user-1", 2)
    (944, 7893)
    """
    if version == 1:
        return fnv1a(name + seed) % 1_000
    return fnv1a(str(fnv1a(name, _of_seed(seed)))) % 10_000


@dataclass(frozen=True)
class Filter:
    """A condition of GrowthBook for taking part: the unit's bucket by another seed lies in one of
    the ranges. A namespace is one, by version 1 of the hash.
    """

    seed: str
    hash_version: int
    ranges: tuple[Range, ...]

    def __post_init__(self) -> None:
        _check_version(self.hash_version)
        object.__setattr__(self, "seed", _text(self.seed, "seed"))
        object.__setattr__(self, "ranges", _ranges(self.ranges))

    @classmethod
    def of_namespace(cls, name: str, start: float, end: float) -> Filter:
        """Make the filter that a namespace is."""
        return cls(f"__{name}", 1, ((start, end),))

    def takes(self, name: str) -> bool:
        """Whether a unit takes part."""
        n = bucket(self.seed, name, self.hash_version) / _BUCKETS[self.hash_version]
        return any(start <= n < end for start, end in self.ranges)


@dataclass(frozen=True)
class GrowthBook:
    """GrowthBook's hash of the document's salt (the seed of an experiment) and the unit.

    Parameters
    ----------
    hash_version
        The version of its hash: 1 has 1,000 buckets, 2 has 10,000.
    filters
        Conditions for taking part, such as namespaces; a unit must meet all of them.
    """

    by: ClassVar[str] = "growthbook"
    hash_version: int = 2
    filters: tuple[Filter, ...] = ()

    def __post_init__(self) -> None:
        _check_version(self.hash_version)
        if type(self.filters) is not tuple or not all(type(one) is Filter for one in self.filters):
            raise WeightsError(f"filters={shown(self.filters)} are not valid: give Filters")

    @property
    def points(self) -> int:
        """How many buckets there are."""
        return _BUCKETS[self.hash_version]

    def point(self, salt: str, name: str) -> int:
        """Return the bucket of a unit.

        Parameters
        ----------
        salt
            The seed of the experiment.
        name
            The name of the unit.

        Returns
        -------
        int
            The bucket, or −1 (OUTSIDE) where a filter leaves the unit out.
        """
        if not all(one.takes(name) for one in self.filters):
            return OUTSIDE
        return bucket(salt, name, self.hash_version)

    def described(self) -> dict[str, Any]:
        """Return it as plain data, for a weights document.

        Returns
        -------
        dict
            What `from_described` reads.
        """
        filters = [
            {
                "seed": one.seed,
                "hash_version": one.hash_version,
                "ranges": list(map(list, one.ranges)),
            }
            for one in self.filters
        ]
        return {"by": self.by, "hash_version": self.hash_version, "filters": filters}

    @classmethod
    def from_described(cls, result: Mapping[str, Any]) -> GrowthBook:
        """Read plain data of a weights document.

        Parameters
        ----------
        result
            What `described` gave.

        Returns
        -------
        GrowthBook
            The assigner.
        """
        filters = (
            Filter(one["seed"], one["hash_version"], one["ranges"])
            for one in _listed(result, "filters")
        )
        return cls(result.get("hash_version", 2), tuple(filters))


@dataclass(frozen=True)
class Eppo:
    """Eppo's hash (MD5) of the document's salt and the unit, into a number of shards.

    Parameters
    ----------
    shards
        How many shards there are, from 1 to 1,000,000.
    traffic
        Pairs of a salt and ranges of shards: a unit takes part if its shard by each salt lies in
        one of the ranges beside it.
    """

    by: ClassVar[str] = "eppo"
    shards: int = 10_000
    traffic: tuple[tuple[str, tuple[Range, ...]], ...] = ()

    def __post_init__(self) -> None:
        if type(self.shards) is not int or not 1 <= self.shards <= MOST_SHARDS:
            allowed = f"give a whole number from 1 to {MOST_SHARDS:,}"
            raise WeightsError(f"shards={shown(self.shards)} is not valid: {allowed}")
        try:
            pairs = [(salt, ranges) for salt, ranges in self.traffic]
        except (TypeError, ValueError):
            given = f"traffic={shown(self.traffic)}"
            raise WeightsError(f"{given} is not valid: give pairs of a salt and ranges") from None
        traffic = tuple((_text(salt, "salt"), _ranges(ranges)) for salt, ranges in pairs)
        object.__setattr__(self, "traffic", traffic)

    @property
    def points(self) -> int:
        """How many shards there are."""
        return self.shards

    def shard(self, salt: str, name: str) -> int:
        """Return the shard of a unit by a salt.

        Parameters
        ----------
        salt
            Text that is hashed together with the name.
        name
            The name of the unit.

        Returns
        -------
        int
            The shard, from 0.

        >>> Eppo().shard("checkout", "user-1")
        362
        """
        digest = md5(f"{salt}-{name}".encode(), usedforsecurity=False).digest()
        return int.from_bytes(digest[:4], "big") % self.shards

    def point(self, salt: str, name: str) -> int:
        """Return the shard of a unit by the document's salt.

        Parameters
        ----------
        salt
            Text that is hashed together with the name.
        name
            The name of the unit.

        Returns
        -------
        int
            The shard, or −1 (OUTSIDE) where `traffic` leaves the unit out.
        """
        for other, ranges in self.traffic:
            shard = self.shard(other, name)
            if not any(start <= shard < end for start, end in ranges):
                return OUTSIDE
        return self.shard(salt, name)

    def described(self) -> dict[str, Any]:
        """Return it as plain data, for a weights document.

        Returns
        -------
        dict
            What `from_described` reads.
        """
        traffic = [
            {"salt": salt, "ranges": list(map(list, ranges))} for salt, ranges in self.traffic
        ]
        return {"by": self.by, "shards": self.shards, "traffic": traffic}

    @classmethod
    def from_described(cls, result: Mapping[str, Any]) -> Eppo:
        """Read plain data of a weights document.

        Parameters
        ----------
        result
            What `described` gave.

        Returns
        -------
        Eppo
            The assigner.
        """
        traffic = ((one["salt"], one["ranges"]) for one in _listed(result, "traffic"))
        return cls(result.get("shards", 10_000), tuple(traffic))


@dataclass(frozen=True)
class Elsewhere:
    """Somebody else drew lots with the weights of the document, and nobody can draw them again."""

    by: ClassVar[str] = "elsewhere"

    @property
    def points(self) -> int:
        """How many points there are."""
        return POINTS

    def point(self, salt: str, name: str) -> int:
        """Refuse: which arm a unit got is only known where it got it.

        Parameters
        ----------
        salt
            Is ignored.
        name
            The name of the unit, for the message.

        Returns
        -------
        int
            Never: it always raises.

        Raises
        ------
        WeightsError
            Always.
        """
        raise WeightsError(
            f"unit {name!r} was randomised elsewhere, by lots that cannot be drawn again"
        )

    def described(self) -> dict[str, Any]:
        """Return it as plain data, for a weights document.

        Returns
        -------
        dict
            What `from_described` reads.
        """
        return {"by": self.by}

    @classmethod
    def from_described(cls, result: Mapping[str, Any]) -> Elsewhere:
        """Read plain data of a weights document.

        Parameters
        ----------
        result
            What `described` gave; there is nothing to read in it.

        Returns
        -------
        Elsewhere
            The assigner.
        """
        return cls()


Assigner = GrowthBook | Eppo | Elsewhere
#: The name of belman's own hash, and all names of assigners.
BELMAN = "belman"
NAMED: dict[str, type[Assigner]] = {one.by: one for one in (GrowthBook, Eppo, Elsewhere)}
BY = (BELMAN, *NAMED)


def points_of(assigner: Assigner | None) -> int:
    """Return how many points, buckets or shards units are hashed to; None is belman's own hash."""
    if assigner is None:
        return POINTS
    if type(assigner) not in NAMED.values():
        words = "give GrowthBook(…), Eppo(…), Elsewhere(), or None for belman's own hash"
        raise WeightsError(f"assigner={shown(assigner)} is not known: {words}")
    return assigner.points


def assigner_in(result: Any) -> Assigner:
    """Read the assigner of a document."""
    by = result.get("by") if isinstance(result, Mapping) else result
    if not isinstance(by, str) or by not in NAMED:
        raise WeightsError(f"assigner={shown(result)} is not known: there are {', '.join(NAMED)}")
    try:
        return NAMED[by].from_described(result)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise WeightsError(f"the assigner of this document is not valid: {error!r}") from None


def _listed(result: Mapping[str, Any], name: str) -> list[Any]:
    """Return the items of a list, none where it is left out."""
    items = result.get(name, [])
    if not isinstance(items, list):
        raise WeightsError(f"{name}={shown(items)} is not a list")
    return items


def _check_version(version: object) -> None:
    if type(version) is not int or version not in _BUCKETS:
        raise WeightsError(f"hash_version={shown(version)} is not 1 or 2")


def _text(given: Any, name: str) -> str:
    """Check text that is hashed."""
    try:
        given.encode()
    except (AttributeError, UnicodeEncodeError):
        raise WeightsError(f"{name}={shown(given)} is not valid: give text") from None
    return str(given)


def _ranges(given: Iterable[Sequence[float]]) -> tuple[Range, ...]:
    """Check ranges of what is hashed, and give them as tuples."""
    try:
        result = tuple((start, end) for start, end in given)
        numbers = [one for pair in result for one in pair]
        holds = all(isinstance(one, (int, float)) for one in numbers)
        holds = holds and all(0 <= start <= end <= MOST_SHARDS for start, end in result)
    except (TypeError, ValueError):
        holds = False
    if not holds:
        words = f"give pairs of a start and an end, from 0 to {MOST_SHARDS:,}"
        raise WeightsError(f"ranges={shown(given)} are not valid: {words}")
    return result


def cuts_of_ranges(ranges: Sequence[Range], points: int) -> tuple[Cut, ...]:
    """Return the cuts of a circle on which the arm at a place has the points p with
    start ≤ p/points < end for its range; the first such arm, and none where there is none.

    >>> cuts_of_ranges([(0.0, 0.25), (0.5, 0.75)], 1_000)
    ((250, 0), (500, -1), (750, 1), (1000, -1))
    """
    owners = [
        next((i for i, (start, end) in enumerate(ranges) if start <= p / points < end), OUTSIDE)
        for p in range(points)
    ]
    changes = [at for at, (one, other) in enumerate(pairwise(owners), start=1) if one != other]
    return tuple((end, owners[end - 1]) for end in (*changes, points))
