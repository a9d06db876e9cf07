"""A race of candidates over test items: which prompt or model is best, in as few calls as it takes.

All candidates that are still in the race answer the same items, so that what makes an item hard is
the same for all of them, and only differences count. Against every pair and direction a gambler
bets on the differences, item by item (`measures/martingales.py`); a candidate is out when the bets
say that another one is better. Whoever stops by that, however often they look, is wrong as seldom
as was promised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.errors import ArmError, RewardError, SettingError, listing, shown
from belman.measures.martingales import BETS
from belman.measures.sequences import policy_value_sequence
from belman.table import Table
from belman.validate import is_between

Floats = NDArray[np.float64]
#: What a candidate's answer to an item is worth.
Score = Callable[[Any, Any], float]


@dataclass(frozen=True)
class Raced:
    """What is known when a race ends, or so far.

    Attributes
    ----------
    best
        The candidate that is best; None while that is not known, or where several are tied.
    tied
        The candidates that do not differ from `leader` by `epsilon` or more; empty while that is
        not known.
    leader
        The candidate with the largest mean score, of those that are left.
    left
        The candidates that may still be best.
    items
        How many items were answered.
    calls
        How many answers were scored.
    all_calls
        How many answers there are: all candidates on all items.
    delta
        The chance, at most, that the answer is wrong.
    epsilon
        A difference of mean scores so small that it does not matter.
    standing
        What `table` returns.
    """

    best: Hashable | None
    tied: tuple[Hashable, ...]
    leader: Hashable
    left: tuple[Hashable, ...]
    items: int
    calls: int
    all_calls: int
    delta: float
    epsilon: float
    standing: Table

    @property
    def decided(self) -> bool:
        """Whether the race has an answer."""
        return self.best is not None or bool(self.tied)

    @property
    def sentence(self) -> str:
        """The answer in words."""
        saved = f"{self.calls:,} of {self.all_calls:,} calls, {self.items:,} items"
        sure = f"wrong in at most {self.delta:.2g} of races"
        if self.best is not None:
            return f"{self.best} is best ({sure}; {saved})."
        if self.tied:
            names = ", ".join(map(str, self.tied))
            least = f"none differs from {self.leader} by {self.epsilon:g} or more"
            return f"No difference above {self.epsilon:g}: of {names} {least} ({sure}; {saved})."
        names = ", ".join(map(str, self.left))
        return f"Not known so far: {self.leader} leads, and any of {names} may be best ({saved})."

    def table(self) -> Table:
        """Tabulate how the candidates stand.

        Returns
        -------
        Table
            A row for each candidate: how many items it answered, its mean score, and over the items
            that both answered how far it is behind the leader, with an interval that holds at any
            look.
        """
        return self.standing

    def __repr__(self) -> str:
        return f"Raced({self.sentence!r})"


class Race:
    """Candidates that answer items until the best one is known: ask for the next item, tell scores.

    Parameters
    ----------
    candidates
        The names of two or more candidates.
    items
        How many items there are. They stand for all that candidates will meet: each comes from
        where later ones do, and in no order. They are taken in an order drawn from `seed`.
    delta
        The chance, at most, that the answer is wrong: that another candidate is better than the one
        that is named, that one is named though another is as good, or that candidates said to be
        tied differ from the leader by `epsilon` or more.
    epsilon
        A difference of mean scores so small that it does not matter; 0 names no ties.
    range
        The least and the largest score.
    seed
        The same seed takes the items in the same order.

    Raises
    ------
    ArmError
        If there are no two candidates of different names.
    SettingError
        If another setting is outside of what is allowed.

    >>> race = Race(["old", "new"], 1_000, epsilon=0.05)
    >>> while (item := race.next()) is not None:
    ...     race.tell({"old": float(item % 2), "new": 1.0})
    >>> race.result().best, race.result().items < 50
    ('new', True)
    """

    def __init__(
        self,
        candidates: Iterable[Hashable],
        items: int,
        *,
        delta: float = 0.05,
        epsilon: float = 0.0,
        range: tuple[float, float] = (0.0, 1.0),
        seed: int = 0,
    ) -> None:
        self.candidates = _checked_names(candidates)
        self.low, self.high = _checked_range(range)
        width = self.high - self.low
        if not is_between(delta, 0.0, 1.0) or delta in (0.0, 1.0):
            raise SettingError(f"delta={shown(delta)} is no chance strictly between 0 and 1")
        if not is_between(epsilon, 0.0, width) or epsilon == width:
            words = f"it must be from 0 to less than {width:g}, the width of the range"
            raise SettingError(f"epsilon={shown(epsilon)} is no difference of scores: {words}")
        if isinstance(items, bool) or not isinstance(items, int) or items < 1:
            raise SettingError(f"items={shown(items)} is no number of items, 1 or more")
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise SettingError(f"seed={shown(seed)} is not a whole number, 0 or more")
        count = len(self.candidates)
        self.delta, self.epsilon = float(delta), float(epsilon)
        self.order: list[int] = np.random.default_rng(seed).permutation(items).tolist()
        self._bar = math.log(2.0 * (count - 1) / self.delta) + math.log(BETS.size)
        self._in = np.ones(count, dtype=np.bool_)
        self.answered, self._calls = 0, 0
        #: ln of the capital of every gambler: that the row is better than the column, and that the
        #: row is not better than the column by epsilon.
        self._better = np.zeros((count, count, BETS.size))
        self._alike = np.zeros((count, count, BETS.size))
        self._scores: list[Floats] = []

    # Asking and telling

    @property
    def left(self) -> tuple[Hashable, ...]:
        """The candidates that may still be best, which answer the next item."""
        return tuple(name for name, stays in zip(self.candidates, self._in, strict=True) if stays)

    @property
    def decided(self) -> bool:
        """Whether the best candidate is known, or that there is none that matters."""
        return int(self._in.sum()) == 1 or bool(self._tied())

    def next(self) -> int | None:
        """Say which item to answer next.

        Returns
        -------
        int, or None
            The number of the item, from 0; None where the race has ended.
        """
        is_over = self.decided or self.answered >= len(self.order)
        return None if is_over else self.order[self.answered]

    def tell(self, scores: Mapping[Any, float]) -> None:
        """Learn what the answers to the next item are worth.

        Parameters
        ----------
        scores
            The score of each candidate that is left, by its name; others are ignored.

        Raises
        ------
        ArmError
            If one of them has no score.
        RewardError
            If a score lies outside of the range. Nothing is learnt then.
        SettingError
            If all items were answered.
        """
        if self.answered >= len(self.order):
            raise SettingError(f"all {len(self.order):,} items were answered")
        if missing := [name for name in self.left if name not in scores]:
            raise ArmError(f"candidate {missing[0]!r} has no score: all that are left answer")
        row = np.full(len(self.candidates), np.nan)
        for position, name in enumerate(self.candidates):
            if self._in[position]:
                row[position] = self._checked(name, scores[name])
        self.answered += 1
        self._calls += int(self._in.sum())
        self._scores.append(row)
        width = self.high - self.low
        least = self.epsilon / width
        ahead = np.nan_to_num((row[:, None] - row[None, :]) / width)[:, :, None]
        both = (self._in[:, None] & self._in[None, :])[:, :, None]
        self._better += np.log1p(BETS * ahead) * both
        # of differences from −1 to 1 whose mean is at least ε, 1 − d has at most the mean 1 − ε
        self._alike += np.log1p(BETS * ((1.0 - ahead) / (1.0 - least) - 1.0)) * both
        beaten = np.any(_log_sum(self._better) >= self._bar, axis=0)
        if not np.all(beaten[self._in]):  # of equals, which cannot all be worse than one another
            self._in &= ~beaten

    def _checked(self, name: Hashable, score: Any) -> float:
        is_number = isinstance(score, (bool, int, float, np.number, np.bool_))
        if not is_number or not self.low <= float(score) <= self.high:
            ends = f"scores are from {self.low:g} to {self.high:g}"
            raise RewardError(f"score {shown(score)} of candidate {name!r} is not allowed: {ends}")
        return float(score)

    # What is known

    def _leader(self) -> int:
        """Return the place of the one with the largest mean of those that are left."""
        positions = np.flatnonzero(self._in)
        if not self._scores:
            return int(positions[0])
        sums = np.nansum(np.array(self._scores)[:, positions], axis=0)
        return int(positions[int(np.argmax(sums))])

    def _tied(self) -> tuple[Hashable, ...]:
        """Return those that are left, if none differs from the leader by epsilon."""
        if self.epsilon == 0.0 or not self._scores or int(self._in.sum()) < 2:
            return ()
        leader, bar = self._leader(), self._bar + math.log(len(self.candidates))
        for capitals in (self._alike[:, leader], self._alike[leader]):
            alike: NDArray[np.bool_] = _log_sum(capitals) >= bar
            alike[leader] = True
            if not np.all(alike[self._in]):
                return ()
        return self.left

    def result(self) -> Raced:
        """Return what is known by now; it may be looked at as often as one likes.

        Returns
        -------
        Raced
            The best candidate, or those that are tied, or what is left open.
        """
        single, leader = int(self._in.sum()) == 1, self._leader()
        return Raced(
            best=self.candidates[leader] if single else None,
            tied=self._tied(),
            leader=self.candidates[leader],
            left=self.left,
            items=self.answered,
            calls=self._calls,
            all_calls=len(self.candidates) * len(self.order),
            delta=self.delta,
            epsilon=self.epsilon,
            standing=self._table(leader),
        )

    def _table(self, leader: int) -> Table:
        scores = np.array(self._scores).reshape(-1, len(self.candidates))
        columns: dict[str, list[Any]] = {
            name: [] for name in ("candidate", "items", "mean", "behind", "low", "high", "may be")
        }
        width, share = self.high - self.low, self.delta / (len(self.candidates) - 1)
        for position, name in enumerate(self.candidates):
            own = scores[:, position][~np.isnan(scores[:, position])]
            behind = (scores[:, leader] - scores[:, position])[: own.size]
            ends = (-width, width)
            if position != leader and own.size:
                shares = (behind + width) / (2.0 * width)
                result = policy_value_sequence(shares, np.ones(own.size), share)
                ends = (2.0 * width * result[0] - width, 2.0 * width * result[1] - width)
            elif position == leader:
                ends = (0.0, 0.0)
            mean = (float(own.mean()), float(behind.mean())) if own.size else (math.nan, math.nan)
            row = (name, own.size, *mean, *ends, "best" if self._in[position] else "not best")
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
        return Table(columns, "mean scores, and how far behind the leader on the same items")


def race(
    candidates: Iterable[Hashable] | Mapping[Any, Any],
    items: Sequence[Any],
    score: Score,
    *,
    delta: float = 0.05,
    epsilon: float = 0.0,
    range: tuple[float, float] = (0.0, 1.0),
    seed: int = 0,
    workers: int = 1,
) -> Raced:
    """Let candidates answer items until the best one is known, and return the answer.

    Parameters
    ----------
    candidates
        The candidates, or a mapping of their names to whatever they are.
    items
        What they answer, such as questions with their answers: a sample of what they will meet.
    score
        A function of a candidate and an item that says what the answer is worth. It is called once
        for each that is needed; what it raises ends the race.
    delta, epsilon, range, seed
        As of `Race`.
    workers
        How many calls run at once, in threads of their own.

    Returns
    -------
    Raced
        The best candidate, or those that are tied, or what is left open.

    >>> numbers = list(map(int, np.arange(500)))
    >>> result = race([2, 5, 9], numbers, lambda candidate, item: float(item % 10 < candidate))
    >>> result.best, result.calls < 500
    (9, True)
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise SettingError(f"workers={shown(workers)} is no number of threads, 1 or more")
    who = dict(candidates) if isinstance(candidates, Mapping) else {}
    pool = list(items)
    settings: dict[str, Any] = {"delta": delta, "epsilon": epsilon, "range": range, "seed": seed}
    result = Race(candidates, len(pool), **settings)
    with ThreadPoolExecutor(workers) as threads:
        while result.next() is not None:
            names, begun = result.left, result.answered
            ahead = max(workers // len(names), 1)
            numbers = result.order[begun : begun + ahead]
            calls = {
                (number, name): threads.submit(score, who.get(name, name), pool[number])
                for number in numbers
                for name in names
            }
            try:
                told = {key: call.result() for key, call in calls.items()}
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                raise
            for number in numbers:
                if result.next() is None:
                    break
                result.tell({name: told[number, name] for name in names})
    return result.result()


def _log_sum(capitals: Floats) -> Floats:
    """Return ln of the sums of capitals over all bets."""
    top = capitals.max(axis=-1)
    result: Floats = top + np.log(np.exp(capitals - top[..., None]).sum(axis=-1))
    return result


def _checked_names(candidates: Iterable[Hashable]) -> tuple[Hashable, ...]:
    if isinstance(candidates, (str, bytes)) or not isinstance(candidates, Iterable):
        raise ArmError(f"candidates={shown(candidates)} are no candidates: give their names")
    names = tuple(candidates)
    if strange := [name for name in names if not isinstance(name, Hashable)]:
        remedy = "give a mapping of names to candidates"
        raise ArmError(f"candidate {shown(strange[0])} can be no name: {remedy}")
    if len(set(names)) < len(names) or len(names) < 2:
        raise ArmError(f"there are {listing(names)}: a race has two or more, each of another name")
    return names


def _checked_range(given: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError, OverflowError):
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high < low + 1e100):
        raise SettingError(f"range={shown(given)} is no range: give (low, high), low below high")
    return low, high
