"""Bets on the arm that an outcome came from: evidence that holds at every look, under any policy.

Let π be the chance, known when a decision is made, that it goes to arm a rather than to arm b,
given that it goes to one of the two. Where both are alike, whatever came of it came from a with the
chance π: a gambler who bets on that at fair odds gains nothing on average, so the capital ever
reaches 1/δ with a chance of at most δ (Ville). The policy may do what it likes as long as its
chances are known, and the rates may change from one decision to the next.

`ArmBets` keeps, for every pair of arms, sums over outcomes and nothing else: an outcome is taken
back by adding it −1 times. `bet_intervals` reads them.

- `wins` (rates): ln of the capital of all who bet that a success comes from a with the chance
  πr/(πr + 1 − π), by ln r. The base rate cancels.
- `capitals`: ln of the capital of all who put the share κ on g(1{arm = a} − π)(u − m), by κ, with u
  the reward on a scale from 0 to 1, m a guess of its mean made beforehand and g what keeps the
  stake within bounds.
- `sums`: moments of rewards, weighted so that they tell of means whatever was played.
- `levels` (rates and ranges): of one arm, ln of the capital of all who put the share κ on 2u − 1,
  and in the last column how many outcomes it has; no chances are needed for these.

Guesses are made anew when there are half as many outcomes again. All are kept, each with the number
of the first decision that it is for, so that an outcome is scored by what was known when its
decision was made, and taken back with the same score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.codec import Array, Whole
from belman.errors import SettingError, StateError
from belman.measures.betting_grid import ANY_ORDER, COINS, POINTS, Grid

Floats = NDArray[np.float64]
#: Logarithms of capitals: a row for every pair of arms.
Curves = Annotated[Floats, Array((None, POINTS))]
Chances = Mapping[int, float] | Sequence[float] | Floats

#: ln r, and the share κ of the capital that is bet: on lifts, on what may vary little, on rates.
RATIOS, STAKES = Grid(5.0), Grid(0.95)
ANY_STAKES, COIN_STAKES = Grid(0.95, ANY_ORDER), Grid(0.95, COINS)
KINDS = ("rate", "range", "amount")
#: Columns of `sums`: moments of arm a (weighted by 1 − π) and of arm b (by π) with the guess m, and
#: powers of π(1 − π), plain and as staked.
A_Y, A_M, B_Y, B_M, A_YY, A_YM, A_MM, B_DD, H, GH, GH2, GH3, PLAYS = range(13)
FIRST = 8  # outcomes before the first guess is replaced
GROWTH = 1.5
#: Arms whose bets may be kept in a file: memory is held for each pair.
MOST_KEPT = 100
_CHUNK = 2048


@dataclass
class ArmBets:
    """Bets on pairs of arms, which are known by their positions from 0: every arm against
    `control`, or all pairs without.

    Everything from `outcomes` on is what outcomes have left so far. It is empty at first, and is
    given only where bets are read back from a file.

    Parameters
    ----------
    arms
        How many arms there are; at most 100 where bets are kept in a file.
    control
        The position of control; None compares all pairs of arms.
    kind
        "rate" for rewards of 0 or 1, "range" for rewards from `low` to `high`, "amount" for any
        finite number.
    low
        The least reward of the kind "range"; 0 for rates.
    high
        The largest reward of the kind "range"; 1 for rates.
    outcomes
        How many outcomes were counted, less those that were taken back.
    moments
        Sums over all outcomes of the scaled reward, of its distance from the guessed mean and of
        the square of that; over those of the last guess, how many there are and their scores.
    guesses
        A row for each guess: the first decision that it is for, the guessed mean, the scale of
        scores, and their mean.
    latest
        The largest number of a decision whose outcome was counted.
    wins
        ln of the capital of bets on which arm of a pair a success comes from; a row for each pair,
        for rates only.
    capitals
        ln of the capital of bets on rewards above or below the guessed mean; a row for each pair.
    sums
        Moments of the rewards, weighted so that they tell of means; a row for each pair.
    levels
        ln of the capital of bets on the level of one arm, and how many outcomes it has; a row for
        each arm, not for amounts.

    Raises
    ------
    SettingError
        If the kind is not known, the ends are no range, or control is not one of the arms.
    StateError
        If what is read back does not fit the number of arms.

    >>> from belman.measures.bet_intervals import lift, log_evidence
    >>> bets = ArmBets(2, control=0)
    >>> bets.add_counts([0.5, 0.5], successes=[300, 420], failures=[9_700, 9_580])
    >>> round(log_evidence(bets, 1), 1), [round(end, 2) for end in lift(bets, 1, 0.95)]
    (7.4, [0.4, 0.06, 0.86])
    """

    arms: Annotated[int, Whole(1, MOST_KEPT)]
    control: int | None = 0
    kind: str = "rate"
    low: float = 0.0
    high: float = 1.0
    outcomes: float = 0.0
    #: Sums over all outcomes: u, its distance from the guessed mean and the square of that; and of
    #: those that the last guess is for: how many, and their scores.
    moments: Annotated[Floats, Array((5,))] = field(default_factory=lambda: np.zeros(5))
    #: Guesses: the first decision that each is for, the mean m, the scale of scores, their mean.
    guesses: Annotated[Floats, Array((None, 4))] = field(default_factory=lambda: np.empty((0, 4)))
    latest: float = 0.0  # the largest number of a decision whose outcome was counted
    wins: Curves = field(default_factory=lambda: np.zeros((0, POINTS)))
    capitals: Curves = field(default_factory=lambda: np.zeros((0, POINTS)))
    sums: Annotated[Floats, Array((None, 13))] = field(default_factory=lambda: np.zeros((0, 13)))
    levels: Annotated[Floats, Array((None, POINTS + 1))] = field(
        default_factory=lambda: np.zeros((0, POINTS + 1))
    )

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SettingError(f"kind={self.kind!r} is not known: give one of {', '.join(KINDS)}")
        if not -math.inf < self.low < self.high < math.inf:
            allowed = "give a low end below a high one, both finite"
            raise SettingError(
                f"rewards from {self.low!r} to {self.high!r} are no range: {allowed}"
            )
        if self.kind == "rate" and (self.low, self.high) != (0.0, 1.0):
            raise SettingError("rates are of rewards 0 and 1: give kind='range' for other ends")
        if self.control is not None and not 0 <= self.control < self.arms:
            raise SettingError(f"control={self.control!r} is not the place of one of {self.arms}")
        rows = self._rows
        if [len(getattr(self, name)) for name in rows] not in ([0] * 4, [*rows.values()]):
            raise StateError(f"its sums are not those of {self.arms} arms")
        if not len(self.guesses):
            self.guesses = np.array([[-1.0, 0.5 if self.kind == "range" else 0.0, 1.0, 0.0]])
        self._grow()

    # Pairs

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs (a, b), a row each; with a control b is the control."""
        if self.control is None:
            return [(a, b) for a in range(self.arms) for b in range(a)]
        return [(a, self.control) for a in range(self.arms) if a != self.control]

    def row(self, arm: int, base: int | None = None) -> tuple[int, bool]:
        """Find the row of a pair of arms.

        Parameters
        ----------
        arm
            The position of an arm.
        base
            The position of the arm it is compared with; by default control.

        Returns
        -------
        tuple
            The row, and True where the pair is there the other way round.

        Raises
        ------
        SettingError
            If the two are not compared.
        """
        other = self.control if base is None else base
        for row, pair in enumerate(self.pairs):
            if set(pair) == {arm, other} and arm != other:
                return row, pair[0] != arm
        raise SettingError(f"arms {arm!r} and {other!r} are not compared: {self.pairs} are")

    @property
    def comparisons(self) -> int:
        """Pairs among which an error may happen: all with control, or all with one arm."""
        return max(self.arms - 1, 1)

    def join(self) -> int:
        """Take in a new arm; outcomes so far say nothing of it.

        Returns
        -------
        int
            Its position, the last.
        """
        self.arms += 1
        self._grow()
        return self.arms - 1

    @property
    def _rows(self) -> dict[str, int]:
        """How many rows the sums have."""
        pairs = len(self.pairs)
        return {"wins": pairs, "capitals": pairs, "sums": pairs, "levels": self.arms}

    def _grow(self) -> None:
        for name, rows in self._rows.items():
            before = getattr(self, name)
            more = np.zeros((rows - len(before), before.shape[1]))
            setattr(self, name, np.concatenate([before, more]))

    # Outcomes

    def add(
        self,
        arm: int,
        chances: Chances,
        reward: float,
        times: float = 1.0,
        number: float | None = None,
    ) -> None:
        """Count one outcome of an arm, or take it back.

        Parameters
        ----------
        arm
            The position of the arm.
        chances
            The chance of each arm at the decision: one for each, or by position for some, the
            others having none.
        reward
            The reward, as the user counts it.
        times
            How often it counts; −1 takes an outcome back.
        number
            The number of the decision: from 0 up in their order, gaps being allowed. By default it
            is the decision after the latest.

        Raises
        ------
        SettingError
            If the kind of the bets does not allow the reward.
        """
        value = self._checked(np.array([reward]))[0]
        guess = self._guess_for(number)
        self._count(arm, self._chances(chances), float(value), times, guess)
        self._advance()

    def add_many(
        self,
        arms: ArrayLike,
        chances: ArrayLike,
        rewards: ArrayLike,
        times: float = 1.0,
        number: float | None = None,
    ) -> None:
        """Count outcomes in the order of their decisions.

        Parameters
        ----------
        arms
            The position of the arm of each outcome.
        chances
            The chance of each arm: a row for each outcome, or one row for all.
        rewards
            The rewards.
        times
            How often each counts; −1 takes them back.
        number
            The number of the decision, where all were decided together; by default each has one of
            its own, after the latest.

        Raises
        ------
        SettingError
            If the kind of the bets does not allow a reward.
        """
        positions = np.asarray(arms, dtype=np.int64)
        values = self._checked(np.asarray(rewards, dtype=np.float64))
        table = np.asarray(chances, dtype=np.float64)
        if table.ndim == 1:
            table = np.broadcast_to(table, (positions.size, table.size))
        begun = 0
        while begun < positions.size:
            room = _CHUNK if number is not None else min(max(int(self._until()), 1), _CHUNK)
            part = slice(begun, min(begun + room, positions.size))
            guess = self._guess_for(number, part.stop - begun)
            self._count_many(positions[part], table[part], values[part], times, guess)
            if number is None:
                self._advance()
            begun = part.stop
        self._advance()

    def add_counts(
        self,
        chances: Chances,
        successes: ArrayLike,
        failures: ArrayLike,
        number: float | None = None,
    ) -> None:
        """Count many outcomes of 0 and 1 that were decided with the same chances.

        The first guess of the rate is that of all outcomes in the table: given what came of all
        units, the arms of a fixed split are independent of one another.

        Parameters
        ----------
        chances
            The chance of each arm, as for `add`.
        successes
            How many outcomes of each arm were 1.
        failures
            How many outcomes of each arm were 0.
        number
            The number of the decision, as for `add`; by default the one after the latest.

        Raises
        ------
        SettingError
            If the bets are not of the kind "rate".
        """
        won, lost = (np.asarray(counts, dtype=np.float64) for counts in (successes, failures))
        if self.kind != "rate":
            raise SettingError(f"counts are for rates, and these bets are of kind {self.kind!r}")
        if self.outcomes == 0.0 and (won + lost).sum() > 0.0:
            self.guesses[0, 1] = won.sum() / (won + lost).sum()
        shares, guess = self._chances(chances), self._guess_for(number)
        for arm in range(self.arms):
            self._count(arm, shares, 1.0, float(won[arm]), guess)
            self._count(arm, shares, 0.0, float(lost[arm]), guess)
        self._advance()

    def _checked(self, rewards: Floats) -> Floats:
        """Return rewards on the scale of the bets, from 0 to 1 but for amounts."""
        good = np.isfinite(rewards)
        if self.kind != "amount":
            good &= (rewards >= self.low) & (rewards <= self.high)
        if self.kind == "rate":
            good &= (rewards == 0.0) | (rewards == 1.0)
        if not good.all():
            allowed = {
                "rate": "rates are of rewards 0 and 1",
                "range": f"these lie from {self.low:g} to {self.high:g}",
                "amount": "amounts are finite",
            }[self.kind]
            raise SettingError(f"reward {rewards[~good][0]!r} cannot be bet on: {allowed}")
        if self.kind == "amount":
            return rewards
        return (rewards - self.low) / (self.high - self.low)

    def _chances(self, chances: Chances) -> Floats:
        result = np.zeros(self.arms)
        if isinstance(chances, Mapping):
            for position, chance in chances.items():
                result[position] = chance
        else:
            result[: len(chances)] = chances
        return result

    def _count(self, arm: int, chances: Floats, u: float, times: float, guess: int) -> None:
        """Count one outcome `times` times."""
        _, mean, scale, centre = (float(part) for part in self.guesses[guess])
        score, g = self._score(u, mean, scale, centre)
        gap = abs(u - mean)
        self._note(np.array([u, gap, gap * gap, 1.0, score + centre]) * times, guess)
        if self.kind != "amount":
            self.levels[arm, :-1] += times * np.log1p((2.0 * u - 1.0) * STAKES.points)
            self.levels[arm, -1] += times
        for row, (a, b) in enumerate(self.pairs):
            if arm not in (a, b):
                continue
            both = chances[a] + chances[b]
            share = float(chances[a] / both) if both > 0.0 else 0.0
            if not 0.0 < share < 1.0:
                continue
            mine = arm == a
            side = 1.0 - share if mine else -share
            if self.kind == "rate" and u == 1.0:
                rise = RATIOS.points if mine else 0.0
                self.wins[row] += times * (rise - np.log1p(share * _GAINS))
            self.capitals[row] += times * np.log1p((g * side * score) * STAKES.points)
            self.sums[row] += times * _moments(mine, share, u, mean, g)

    def _count_many(
        self, arms: NDArray[np.int64], chances: Floats, u: Floats, times: float, guess: int
    ) -> None:
        """Count outcomes that one guess is for."""
        _, mean, scale, centre = (float(part) for part in self.guesses[guess])
        score, g = self._score(u, mean, scale, centre)
        gap = np.abs(u - mean)
        noted = [u.sum(), gap.sum(), gap @ gap, u.size, (score + centre).sum()]
        self._note(np.array(noted) * times, guess)
        for arm in np.unique(arms) if self.kind != "amount" else ():
            own = np.multiply.outer(2.0 * u[arms == arm] - 1.0, STAKES.points)
            self.levels[arm, :-1] += times * np.log1p(own).sum(axis=0)
            self.levels[arm, -1] += times * len(own)
        for row, (a, b) in enumerate(self.pairs):
            both = chances[:, a] + chances[:, b]
            share = np.divide(chances[:, a], both, out=np.zeros(u.size), where=both > 0.0)
            here = ((arms == a) | (arms == b)) & (share > 0.0) & (share < 1.0)
            if not here.any():
                continue
            mine, pi, y = arms[here] == a, share[here], u[here]
            side = np.where(mine, 1.0 - pi, -pi)
            if self.kind == "rate":
                won = y == 1.0
                self.wins[row] += times * mine[won].sum() * RATIOS.points
                odds = np.log1p(np.multiply.outer(pi[won], _GAINS)).sum(axis=0)
                self.wins[row] -= times * odds
            stakes = np.multiply.outer(g * side * score[here], STAKES.points)
            self.capitals[row] += times * np.log1p(stakes).sum(axis=0)
            self.sums[row] += times * _moments(mine, pi, y, mean, g).sum(axis=-1)

    def _note(self, moments: Floats, guess: int) -> None:
        """Count what the next guesses are made of."""
        self.outcomes += float(moments[3])
        self.moments[:3] += moments[:3]
        if guess == len(self.guesses) - 1:
            self.moments[3:] += moments[3:]

    def _score(self, u: Any, mean: float, scale: float, centre: float) -> tuple[Any, float]:
        """Return the score of a reward less its guessed mean, and what keeps stakes below 1.

        An amount is scored by z/(|z| + scale), which is bounded and grows with it.
        """
        if self.kind == "amount":
            return u / (abs(u) + scale) - centre, 1.0 / (1.0 + abs(centre))
        return u - mean, 1.0 / max(mean, 1.0 - mean)

    # Guesses

    def _guess_for(self, number: float | None, count: int = 1) -> int:
        """Return the position of the guess by which a decision is scored, or `count` after the
        latest.
        """
        if number is None:
            self.latest += count
            return len(self.guesses) - 1
        self.latest = max(self.latest, float(number))
        return int(np.searchsorted(self.guesses[:, 0], number, side="right")) - 1

    def _until(self) -> float:
        """How many outcomes more bring a new guess."""
        return math.ceil(FIRST * GROWTH ** (len(self.guesses) - 1)) - self.outcomes

    def _advance(self) -> None:
        """Make a new guess where there are half as many outcomes again, for what comes next."""
        if self._until() > 0.0:
            return
        mean, scale = (float(part) / self.outcomes for part in self.moments[:2])
        centre = float(self.moments[4] / self.moments[3]) if self.moments[3] > 0.0 else 0.0
        if self.kind != "amount":
            mean = min(max(mean, 0.0), 1.0)
        centre = min(max(centre, -1.0), 1.0)
        guess = [self.latest + 1.0, mean, scale if scale > 0.0 else 1.0, centre]
        while self._until() <= 0.0:
            self.guesses = np.concatenate([self.guesses, [guess]])
        self.moments[3:] = 0.0


_GAINS = np.expm1(RATIOS.points)


def _moments(mine: Any, share: Any, u: Any, mean: float, g: float) -> Floats:
    """Return what an outcome, or each of several, adds to `sums`."""
    one, other = mine * (1.0 - share), (1.0 - mine) * share
    h = share * (1.0 - share)
    gap = u - mean
    return np.array(
        [
            one * u,
            one * mean,
            other * u,
            other * mean,
            one * one * u * u,
            one * one * u * mean,
            one * one * mean * mean,
            other * other * gap * gap,
            h,
            g * h,
            (g * h) ** 2,
            (g * h) ** 3,
            h * 0.0 + 1.0,
        ]
    )
