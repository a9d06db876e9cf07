"""The decider of a box: it chooses points, in contexts if there are such, and learns their rewards.

The rule is that of dependent arms (docs/guide/continuous.md): with ν = noise / variance of f, the
surprise x = ln(t / (ν + 1)), at least 0, and ℓ(x) = p + x²/(x + q), the leader's optimistic value
is U = mean + √(2ℓ(x)·variance), and the index of a point is ℓ(x) − (U − mean)²/(2·variance). The
leader's own index is 0. The point of the largest index is played (`search.py`), but for the first
points, which are spread evenly, and for asks 9, 16, 25, …, which go to the largest mean + 4
deviations, so that a hill is found too where the belief has little hope. Asks that are out count
as if they had brought what is expected.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from belman import chance, codec
from belman.codec import Array, Count
from belman.deciders import state_file, validate
from belman.deciders.box import points
from belman.deciders.box.box import TAKEN, Box
from belman.deciders.box.contexts import Contexts, Kind
from belman.deciders.box.points import Context, Points
from belman.deciders.box.processes import (
    Belief,
    Knowledge,
    Out,
    check_bank,
    first_bank,
    next_search,
    searched,
)
from belman.deciders.box.search import SPREAD, Seen, evenly, search
from belman.deciders.decider import Among, Asking, Choice, Decider, Plain
from belman.deciders.learnt import Anew, Sums
from belman.deciders.shares import NO_SHARES, Shares
from belman.errors import ArmError, RewardError, SettingError, StateError, shown
from belman.measures.report import Known
from belman.table import Table

Floats = NDArray[np.float64]
Point = dict[str, float]

#: The most asks of one batch, each one a decision; and of open asks that decisions count.
MOST_ASKED, MOST_OUT = 1_000, 128
_LARGEST_REWARD = 1e100
_P, _Q = 1.5, 12.0  # of ℓ
_HOPE = 4.0  # deviations
_EXPLAINED = 5  # points
_NOWHERE = Asking()


class Ask(NamedTuple):
    """A point that is out, and the context that it is out for."""

    point: Point
    context: dict[str, Any]


@dataclass(frozen=True)
class Kept:
    """All that a decider of a box keeps: its sides, names and kinds of the context, where points
    begin, what they brought, what is out, the bank, and when it is searched for again.
    """

    space: dict[str, tuple[float, float]]
    minimise: bool
    context: list[str]
    kinds: dict[str, Kind]
    shift: Annotated[Floats, Array((None,), 0.0, 1.0)]
    positions: Annotated[Floats, Array((None, None), 0.0, 1.0)]
    contexts: list[dict[str, Any]]
    counts: Annotated[Floats, Array((None,), 1.0, codec.MOST)]
    means: Annotated[Floats, Array((None,), -_LARGEST_REWARD, _LARGEST_REWARD)]
    squares: Annotated[Floats, Array((None,), 0.0, codec.MOST * _LARGEST_REWARD**2)]
    out: list[Ask]
    bank: list[list[int]]
    search_at: Count


class BoxDecider(Decider):
    """Choose points of a box to earn as much as possible.

    >>> decider = BoxDecider(Box(price=(5, 20)), context=["country"], shift=np.array([0.5]))
    >>> (choice,) = decider.choose(decider.check({"country": "FR"}))
    >>> decider.settle(choice, 3.0)
    >>> decider.rewards
    1
    """

    kind = "box"

    def __init__(
        self,
        space: Box,
        *,
        minimise: bool = False,
        context: Sequence[str] | None = None,
        kinds: Mapping[str, str] | None = None,
        shift: Floats,
    ) -> None:
        if not isinstance(space, Box):
            raise SettingError(f"space={space!r} is not a box: write belman.Box(price=(5, 20))")
        if not isinstance(minimise, bool):
            raise SettingError(f"minimise={minimise!r} is neither True nor False")
        self.space, self.minimise, self._shift = space, minimise, shift
        self._sign = -1.0 if minimise else 1.0
        self._contexts = Contexts(() if context is None else context, kinds)
        for name in self._contexts.names:
            if name in (*space.sides, *TAKEN):
                raise SettingError(
                    f"context={context!r}: {name!r} is a side, or a column of tables"
                )
        self._points = Points(len(space))
        self._out: list[Ask] = []
        self._bank = first_bank(len(space) + len(self._contexts.names))
        self._search_at = 1
        self._belief: Belief | None = None
        self._rng = chance.generator(0)
        #: A box has no arms that could be retired.
        self.retired: dict[Hashable, Any] = {}

    # What it is

    @property
    def arms(self) -> tuple[Hashable, ...]:
        return ()

    @property
    def rng(self) -> chance.Words:
        return self._rng

    @property
    def policy(self) -> None:
        """The rule of a box is its own."""

    def set_policy(self, policy: Any) -> None:
        self._refuse("policy")

    @property
    def turn(self) -> int:
        return self.rewards + 1

    @property
    def rewards(self) -> int:
        """How many rewards were told."""
        return self._points.rewards

    @property
    def context_names(self) -> list[str]:
        """What is told with an ask."""
        return list(self._contexts.names)

    @property
    def outstanding(self) -> dict[Hashable, int]:
        """Asks whose reward is not told yet, by the numbers of their points."""
        result: dict[Hashable, int] = {}
        for ask in self._out:
            numbers = tuple(ask.point.values())
            result[numbers] = result.get(numbers, 0) + 1
        return result

    @property
    def told(self) -> Table:
        """Every point that was told, with its context, its average reward, and how many it had."""
        result = self._points
        at = [self.space.point(position) for position in result.positions]
        columns: dict[str, list[Any]] = {
            name: [point[name] for point in at] for name in self.space.sides
        }
        for name in self._contexts.names:
            columns[name] = [context[name] for context in result.contexts]
        columns["reward"] = (self._sign * result.means).tolist()
        columns["rewards"] = result.counts.astype(int).tolist()
        return Table(columns)

    def inward(self, reward: Any) -> float:
        is_number = isinstance(reward, (int, float, np.number)) and not isinstance(reward, bool)
        if not is_number or not abs(reward) <= _LARGEST_REWARD:
            allowed = f"a number between -{_LARGEST_REWARD:g} and {_LARGEST_REWARD:g}"
            raise RewardError(f"reward {reward!r} is refused: it must be {allowed}")
        return self._sign * float(reward)

    def outward(self, value: float) -> float:
        return self._sign * value

    def _refuse(self, what: str) -> NoReturn:
        raise SettingError(f"a box has points and no arms: it takes no {what}")

    # Asking

    def check(self, context: Any = None, candidates: Any = None) -> Asking:
        if candidates is not None:
            self._refuse("candidates")
        if not self._contexts.names:
            if context is not None:
                self._refuse("context, where none was named: give context=[…] with its names")
            return Asking()
        return Asking(self._contexts.check(context))

    def check_room(self, asking: Asking, n: int = 1) -> None:
        if n > MOST_ASKED:
            remedy = f"one ask of a box gives at most {MOST_ASKED:,}: ask for fewer"
            raise SettingError(f"{n:,} points were asked for, and {remedy}")

    def choose(
        self, asking: Asking, n: int = 1, among: Among = None, shares: Shares = NO_SHARES
    ) -> list[Choice]:
        if among is not None or shares != NO_SHARES:
            self._refuse("shares of traffic or arms to choose among")
        result = []
        for _ in range(n):
            point = self._next(asking.context or {})
            result.append(Choice(point, self.turn, 1.0, context=asking.context))
            self.expect(result[-1])
        return result

    def _next(self, context: Context) -> Point:
        """Return the point to try, the next of those spread evenly while there are few."""
        asks = self.rewards + len(self._out)
        if asks < 2 * len(self.space) + 1:
            return self.space.point(evenly(1, self._shift, asks)[0])
        seen = self._search(context)
        if math.isqrt(asks) > math.isqrt(asks - 1):
            hoped = seen.mean + _HOPE * np.sqrt(seen.variance)
            return self.space.point(seen.positions[int(np.argmax(hoped))])
        return self.space.point(seen.positions[int(np.argmax(seen.indices))])

    def integrated(self, last: list[Choice]) -> list[Choice]:
        return last

    def weights(self, asking: Asking, n: int, shares: Shares = NO_SHARES) -> dict[Any, float]:
        self._refuse("weights")

    def rank(self, asking: Asking, among: Among = None) -> list[Any]:
        self._refuse("ranked list")

    def recall(self, arm: Any, context: Any = None, candidate: Any = None) -> Choice:
        if candidate is not None:
            self._refuse("candidates")
        self.space.position(arm)
        point = {name: float(arm[name]) for name in self.space.sides}
        return Choice(point, context=self.check(context).context)

    def expect(self, choice: Choice, n: int = 1) -> None:
        self.space.position(choice.arm)
        self._contexts.meet(choice.context or {})
        self._out += [Ask(choice.arm, choice.context or {})] * n

    # Learning

    def check_reward(self, choice: Choice, reward: Any) -> None:
        self.space.position(choice.arm)
        self.inward(reward)

    def settle(self, choice: Choice, reward: float | None) -> None:
        ask = Ask(choice.arm, choice.context or {})
        if reward is not None:
            self.check_reward(choice, reward)
        if ask not in self._out:
            raise ArmError(f"point {shown(choice.arm)} has no outstanding ask")
        self._out.remove(ask)
        if reward is not None:
            self._learn(ask, self.inward(reward))

    def _learn(self, ask: Ask, reward: float) -> None:
        result = self._points
        result.tell(self.space.position(ask.point), ask.context, reward)
        self._belief = None
        if len(result) > points.MOST:
            result.join(self._distances)
        if self.rewards >= self._search_at:
            self._bank = searched(Knowledge(result, self._contexts), self._bank)
            self._search_at = next_search(self.rewards)

    def _distances(self, result: Points) -> Floats:
        """Return squared distances as the member that weighed most when the bank was searched."""
        known = Knowledge(result, self._contexts)
        apart = known.apart(result.contexts, result.contexts)
        return known.squares(self._bank[0], result.positions, result.positions, apart)

    def taught(self, choice: Choice, sums: Sums) -> Plain:
        self._refuse("rewards in bulk")

    def corrected(
        self, choice: Choice, old: float | None, new: float | None, anew: Anew | None = None
    ) -> Plain | None:
        self._refuse("corrections")

    def take(self, patch: Mapping[str, Any]) -> None:
        self._refuse("corrections")

    def add(self, arm: Hashable, prior: Any = None) -> None:
        self._refuse("arms")

    def retire(self, arm: Hashable) -> None:
        self._refuse("arms")

    # Looking

    def known(self, asking: Asking | None = None) -> Known:
        self._refuse("report on arms: best() says what is known")

    def explain(self, asking: Asking) -> Table:
        """Return the points with the largest index, and the leader: that of the largest mean."""
        seen = self._search(asking.context or {})
        best = np.argsort(-seen.indices, kind="stable")[:_EXPLAINED].tolist()
        rows = [*best, *([] if seen.leader in best else [seen.leader])]
        at = [self.space.point(seen.positions[row]) for row in rows]
        columns: dict[str, list[Any]] = {
            name: [point[name] for point in at] for name in self.space.sides
        }
        columns["expected"] = (self._sign * seen.mean[rows]).tolist()
        columns["deviation"] = np.sqrt(seen.variance[rows]).tolist()
        columns["index"] = seen.indices[rows].tolist()
        title = f"turn {self.turn}: the point with the largest index is asked"
        return Table(columns, title)

    def beliefs(self, asking: Asking | None, level: float) -> Table:
        self._refuse("beliefs of arms: give points=[…]")

    def beliefs_at(
        self, at: Sequence[Mapping[str, float]], level: float, asking: Asking = _NOWHERE
    ) -> Table:
        """Return the expected reward at these points, with its credible interval."""
        given = validate.check_list(at, "points", "a list of them")
        positions = np.array([self.space.position(point) for point in given])
        columns = {name: [float(point[name]) for point in given] for name in self.space.sides}
        if not len(positions):
            return Table({**columns, "expected": [], "low": [], "high": []})
        moments = self._believed().moments(positions, asking.context or {})
        ends = [moments.quantile(0.5 * (1.0 - level)), moments.quantile(0.5 * (1.0 + level))]
        low, high = sorted((self._sign * end for end in ends), key=lambda end: float(end[0]))
        return Table(
            {
                **columns,
                "expected": (self._sign * moments.mean).tolist(),
                "low": low.tolist(),
                "high": high.tolist(),
            }
        )

    def best(self, level: float, asking: Asking = _NOWHERE) -> dict[str, float]:
        """Return the point of the highest expected reward, that reward, and its interval."""
        seen = self._search(asking.context or {})
        point = self.space.point(seen.positions[seen.leader])
        [row] = self.beliefs_at([point], level, asking)
        return row

    def _believed(self) -> Belief:
        """Return what is believed from all rewards; the same until the next is told."""
        if self._belief is None:
            self._belief = Belief(Knowledge(self._points, self._contexts), self._bank)
        return self._belief

    def _search(self, context: Context) -> Seen:
        """Search for the next point and the best one, with asks that are out taken in."""
        belief, asks = self._believed(), self.rewards + len(self._out)
        if self._out:
            belief = belief.with_out(self._newest())
        return search(
            lambda positions: belief.moments(positions, context),
            self._indices,
            self._points.positions,
            belief.lengths,
            self._shift,
            first=asks * SPREAD,
        )

    def _newest(self) -> Out:
        """Return the points that are out, the newest of them, each with how often it is."""
        counts: dict[tuple[Any, ...], int] = {}
        for point, context in self._out:
            key = (*point.values(), *context.values())
            counts[key] = counts.pop(key, 0) + 1
        kept = list(counts.items())[-MOST_OUT:]
        sides, names = len(self.space), self._contexts.names
        at = [dict(zip(self.space.sides, key[:sides], strict=True)) for key, _ in kept]
        return Out(
            np.array([self.space.position(point) for point in at]),
            [dict(zip(names, key[sides:], strict=True)) for key, _ in kept],
            np.array([float(count) for _, count in kept]),
        )

    def _indices(self, mean: Floats, variance: Floats, noise: float) -> Floats:
        variance = np.maximum(variance, 1e-300)
        clock = self.rewards + len(self._out) + 1.0
        surprise = np.log(clock / (noise / variance + 1.0)).clip(0.0)
        level = _P + surprise**2 / (surprise + _Q)
        leader = int(np.argmax(mean))
        top = mean[leader] + math.sqrt(2.0 * level[leader] * variance[leader])
        result: Floats = level - (top - mean) ** 2 / (2.0 * variance)
        return result

    # Keeping

    def copy(self) -> BoxDecider:
        return copy.deepcopy(self)

    def state(self, working: bool = False) -> Plain:
        result = self._points
        return codec.write(
            Kept(
                space=self.space.sides,
                minimise=self.minimise,
                context=self._contexts.names,
                kinds=self._contexts.kinds,
                shift=self._shift,
                positions=result.positions,
                contexts=result.contexts,
                counts=result.counts,
                means=result.means,
                squares=result.squares,
                out=self._out,
                bank=[list(member) for member in self._bank],
                search_at=self._search_at,
            )
        )

    @classmethod
    def restore(cls, state: Mapping[str, Any], source: str, **replaced: Any) -> BoxDecider:
        kept = codec.read(Kept, state, {})
        space, contexts = Box(**kept.space), Contexts(kept.context, kept.kinds)
        decider = cls(
            space,
            minimise=kept.minimise,
            context=kept.context,
            kinds=kept.kinds,
            shift=kept.shift,
        )
        result = Points(len(space))
        result.positions, result.contexts = kept.positions.reshape(-1, len(space)), kept.contexts
        result.counts, result.means, result.squares = kept.counts, kept.means, kept.squares
        sizes = {
            len(result.positions),
            len(result.contexts),
            len(result.means),
            len(result.squares),
        }
        fits = (
            sizes == {len(result)}
            and len(result) <= points.MOST
            and not (result.counts % 1.0).any()
        )
        if not fits or len(kept.shift) != len(space):
            raise StateError("its numbers are not those of an agent of this box")
        for ask in kept.out:
            space.position(ask.point)
        for context in [*result.contexts, *(ask.context for ask in kept.out)]:
            if contexts.check(context) != context:
                raise StateError(f"{str(context)[:40]!r} is no context of an agent of this box")
        decider._points, decider._out, decider._search_at = result, kept.out, kept.search_at
        decider._bank = check_bank(kept.bank, len(space) + len(kept.context))
        state_file.check_kept(state, decider.state())
        return decider
