"""Which points belong to which arm: an allotment of the circle of 2³² points, changed as little as
new weights allow.

An allotment is a list of *cuts* (end, arm): the points from the last end up to this one belong to
that arm. When weights change, arms that lose give up just what they lose and arms that gain take
it, so that the share of points that change hands is ½ Σ|Δw|, the least possible. No rule that looks
at the weights alone can do that: with many arms it moves up to 2d/(1 + d) for a distance d, twice
as much for small changes, and weighted rendezvous hashing does; what came before has to be known,
and the cuts say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .refusals import WeightsError

#: How many points there are.
POINTS = 2**32

Cut = tuple[int, int]


def in_points(weights: Sequence[float], points: int = POINTS) -> list[int]:
    """Weights that add up to 1 as whole numbers of points that add up to all. Where points are few,
    an arm with a weight has one at least.

    >>> in_points([0.5, 0.25, 0.25])
    [2147483648, 1073741824, 1073741824]
    >>> in_points([0.99999, 0.00001], 10_000)
    [9999, 1]
    """
    exact = [weight * points for weight in weights]
    least = int(points < POINTS)
    if sum(number > 0.0 for number in exact) > points:
        raise WeightsError(
            f"{points:,} points are too few for {len(exact):,} arms: give more shards"
        )
    counts = [max(int(number), least if number > 0.0 else 0) for number in exact]
    while (over := sum(counts) - points) > 0:
        most = max(range(len(counts)), key=counts.__getitem__)
        counts[most] -= min(over, counts[most] - 1)
    rest = points - sum(counts)
    nearest = sorted(range(len(counts)), key=lambda arm: counts[arm] - exact[arm])
    for position in range(abs(rest)):
        counts[nearest[position % len(counts)]] += 1 if rest > 0 else -1
    return counts


def counts_of(cuts: Sequence[Cut], arms: int) -> list[int]:
    """How many points each arm has; those of no arm (a place below 0) count for none."""
    counts, start = [0] * arms, 0
    for end, arm in cuts:
        if arm >= 0:
            counts[arm] += end - start
        start = end
    return counts


def lay_out(counts: Sequence[int]) -> list[Cut]:
    """The first allotment: one stretch an arm.

    >>> lay_out(in_points([0.5, 0.0, 0.5]))
    [(2147483648, 0), (4294967296, 2)]
    """
    cuts, end = [], 0
    for arm, count in enumerate(counts):
        end += count
        if count:
            cuts.append((end, arm))
    return cuts


class _Stretch:
    """A stretch of points, as long as cuts are being changed."""

    __slots__ = ("arm", "size")

    def __init__(self, size: int, arm: int) -> None:
        self.size, self.arm = size, arm


_FREE = -1


def _merged(stretches: Sequence[_Stretch]) -> list[_Stretch]:
    result: list[_Stretch] = []
    for one in stretches:
        if result and result[-1].arm == one.arm:
            result[-1].size += one.size
        elif one.size:
            result.append(_Stretch(one.size, one.arm))
    return result


def _give_up(stretches: list[_Stretch], losses: list[int], gains: list[int]) -> list[_Stretch]:
    """Free what each arm loses: its smallest stretches first, and of the last one the end that
    lies beside an arm that gains.
    """
    for position in sorted(range(len(stretches)), key=lambda position: stretches[position].size):
        one = stretches[position]
        if one.arm >= 0 and losses[one.arm] >= one.size:
            losses[one.arm] -= one.size
            one.arm = _FREE
    result: list[_Stretch] = []
    for position, one in enumerate(stretches):
        lost = losses[one.arm] if one.arm >= 0 else 0
        if not lost or one.size < lost:
            result.append(one)
            continue
        losses[one.arm] = 0
        kept, free = _Stretch(one.size - lost, one.arm), _Stretch(lost, _FREE)
        before = stretches[position - 1].arm if position else one.arm
        at_start = before == _FREE or (before >= 0 and gains[before] > 0)
        result += (free, kept) if at_start else (kept, free)
    return _merged(result)


def _take(stretches: list[_Stretch], gains: list[int]) -> list[_Stretch]:
    """Hand out what is free: to an arm beside it that gains, else to the one that gains most."""
    result: list[_Stretch] = []
    for position, one in enumerate(stretches):
        if one.arm != _FREE:
            result.append(one)
            continue
        after = stretches[position + 1].arm if position + 1 < len(stretches) else _FREE
        left, last = one.size, _Stretch(0, after)
        if result and (took := min(gains[result[-1].arm], left)):
            gains[result[-1].arm] -= took
            left -= took
            result.append(_Stretch(took, result[-1].arm))
        if after >= 0 and (took := min(gains[after], left)):
            gains[after] -= took
            left -= took
            last.size = took
        while left:
            arm = max(range(len(gains)), key=gains.__getitem__)
            took = min(gains[arm], left)
            gains[arm] -= took
            left -= took
            result.append(_Stretch(took, arm))
        result.append(last)
    return _merged(result)


def move_as_few(cuts: Sequence[Cut], counts: Sequence[int]) -> list[Cut]:
    """The allotment with these counts in which the fewest points belong to another arm.

    >>> cuts = lay_out(in_points([0.5, 0.25, 0.25]))
    >>> move_as_few(cuts, in_points([0.25, 0.5, 0.25]))
    [(1073741824, 0), (3221225472, 1), (4294967296, 2)]
    """
    points = cuts[-1][0]
    if sum(counts) != points or min(counts) < 0:
        raise WeightsError(f"counts={list(counts)!r} do not add up to {points} points")
    ends = [0, *(end for end, _ in cuts)]
    stretches = [
        _Stretch(end - start, arm)
        for (start, end), (_, arm) in zip(pairwise(ends), cuts, strict=True)
    ]
    before = counts_of(cuts, len(counts))
    losses = [max(old - new, 0) for old, new in zip(before, counts, strict=True)]
    gains = [max(new - old, 0) for old, new in zip(before, counts, strict=True)]
    stretches = _take(_give_up(stretches, losses, gains), gains)
    result, end = [], 0
    for one in stretches:
        end += one.size
        result.append((end, one.arm))
    return result
