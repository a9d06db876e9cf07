"""The decider of independent arms: a belief an arm, a policy, and the asks that are outstanding."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.deciders import validate
from belman.deciders.choosing import Dice, choose_with_shares
from belman.deciders.decider import Among, Asking, Choice, Decider, Draw, Plain
from belman.deciders.independent import kernels, saving, settings, views
from belman.deciders.independent.kernels import Calls
from belman.deciders.independent.weights import shares_of
from belman.deciders.learnt import Anew, Learnt, Sums, after_many, swapped
from belman.deciders.shares import NO_SHARES, Shares
from belman.engine import LATER, entry, leaves
from belman.errors import ArmError, RewardError, SettingError
from belman.measures.report import Known
from belman.policies import Ledger, Policy
from belman.policies.dealing import imagine_asks
from belman.policies.policy import Change
from belman.policies.wrappers.wrapper import own_memory
from belman.table import Table

Floats = NDArray[np.float64]

_TABULATED = 256  # turns whose values are tabulated at a time
_NONE_CLOSED = np.zeros(0, dtype=np.bool_)
#: A request without a context.
PLAIN = Asking()


class IndependentDecider(Decider):
    """Arms of one family, each believed for itself.

    Parameters
    ----------
    arms
        The names of the arms; then perhaps a family (Bernoulli by default, or bounded where a range
        is given) and a policy (BelMan by default), as positional arguments.
    given
        Other settings by name, those of `belman.Agent`: prior, priors, range, clip, minimise,
        discount, drift and last.

    >>> decider = IndependentDecider(["blue", "red"])
    >>> decider.record(decider.recall("red"), 1)
    >>> decider.learnt("red").belief
    (2.0, 1.0)
    """

    kind = "independent"

    def __init__(self, *arms: Any, **given: Any) -> None:
        """Take what `settings.checked` takes: arms, a family, a policy, and more by name."""
        result = settings.checked(*arms, **given)
        self._rows, self._arms = result.rows, list(result.rows)
        self.scale, self.family, self.discount = result.scale, result.family, result.discount
        self.clipped, self._time = 0, 0.0
        self._rng = chance.generator(0)
        self._dice = Dice(self._rng)
        first = self.scale.base.prior
        self._priors = np.array([result.priors.get(arm, first) for arm in self._arms])
        self._told, self._all_tried = 0, False
        self._tells = np.zeros(len(self._arms), dtype=np.int64)
        self._pending = np.zeros(len(self._arms), dtype=np.int64)
        self._provisional = np.zeros((len(self._arms), 3))
        self._turn_values: dict[int, float] = {}
        # of the last choices: what their chances are to be integrated from
        self._drawn: dict[int, tuple[int, Ledger, Policy, NDArray[np.bool_]]] = {}
        self._truth = Ledger.blank(self._priors.copy())
        self.retired: dict[Hashable, Learnt] = {}
        self._policy = result.policy
        self._lay_out_arrays()

    # What it is

    @property
    def arms(self) -> tuple[Hashable, ...]:
        return tuple(self._arms)

    @property
    def rng(self) -> chance.Words:
        return self._rng

    @property
    def policy(self) -> Policy:
        return self._policy

    def set_policy(self, policy: Any) -> None:
        self._policy = validate.check_policy(policy, self.family, len(self._arms))
        self._lay_out_arrays()

    @property
    def turn(self) -> int:
        return self._told + 1

    @property
    def time(self) -> float:
        """The seconds since some beginning, for policies that go by the clock."""
        return self._time

    @time.setter
    def time(self, seconds: float) -> None:
        self._time = max(seconds, self._time)
        if self._policy.by_clock:
            self._policy.set_time(self._memory, self._time)

    def inward(self, reward: Any) -> float:
        return self.scale.inward(reward)

    def outward(self, value: float) -> float:
        return self.scale.outward(value)

    # Asking

    def check(self, context: Any = None, candidates: Any = None) -> Asking:
        if context is None and candidates is None:
            return PLAIN
        what = "context" if candidates is None else "candidates"
        how = "context=[…], features=… or segments=… make one that does"
        raise SettingError(f"{what}=… was given where decisions take none: {how}")

    def choose(
        self, asking: Asking, n: int = 1, among: Among = None, shares: Shares = NO_SHARES
    ) -> list[Choice]:
        if self._drawn:
            self._drawn.clear()
        batch, result = n > 1, list[Choice]()
        if shares is not NO_SHARES and (shares.floored or shares.uniform):
            return self._choose_beside(n, among, shares, batch)
        closed = _NONE_CLOSED if among is None else self._closed(among)
        draw = Draw.RANDOM if self._draws and self.leaves_all_a_chance else Draw.POLICY
        alike: dict[tuple[int, float], Choice] = {}  # shared, since they are many
        while len(result) < n:
            for key in self._decide(closed, batch, len(result), n - len(result)):
                if key not in alike:
                    alike[key] = Choice(self._arms[key[0]], self.turn, key[1], draw)
                result.append(alike[key])
        return result

    def _choose_beside(self, n: int, among: Among, shares: Shares, batch: bool) -> list[Choice]:
        """Choose beside shares of traffic; a wish is outstanding until its turn is given away."""
        wished: list[Hashable] = []
        count = 0

        def wish(among: Among) -> Choice:
            closed = _NONE_CLOSED if among is None else self._closed(among)
            draw = Draw.RANDOM if self.leaves_all_a_chance else Draw.POLICY
            ((row, likely),) = self._decide(closed, batch, count)
            wished.append(self._arms[row])
            return Choice(self._arms[row], self.turn, likely, draw)

        def imagine(choice: Choice) -> None:
            nonlocal count
            count += 1
            arm = wished.pop() if wished else None
            if arm != choice.arm or arm is None:
                if arm is not None:
                    self.cancel(arm)
                self.expect(choice)
            if choice.probability == choice.probability:
                self._drawn.pop(count - 1, None)

        return choose_with_shares(
            self._arms,
            n,
            wish,
            imagine,
            lambda arm: Choice(arm, self.turn),
            among=among,
            shares=shares,
            candidates=False,
            dice=self._dice,
        )

    def choose_one(self) -> tuple[Hashable, int, float, Draw]:
        """Choose one arm of all, outstanding from now on: `choose` for a caller in a hurry.

        Returns
        -------
        tuple
            The arm, the turn, its probability (NaN until it is `integrated`) and how it was drawn.
        """
        if self._drawn:
            self._drawn.clear()
        draw = Draw.RANDOM if self._draws and self.leaves_all_a_chance else Draw.POLICY
        if self._waiting and (not self._all_tried or self._own is not None):
            ((row, likely),) = self._decide(_NONE_CLOSED, False, 0)
            return self._arms[row], self.turn, likely, draw
        turn = self._told + 1
        row, likely, _ = self._calls.decide(False, turn, self.turn_value(turn), False, 1)
        if likely != likely:
            self._keep_draw(0, row, _NONE_CLOSED)
        self._waiting += 1
        return self._arms[row], turn, likely, draw

    def _decide(
        self, closed: NDArray[np.bool_], batch: bool, number: int, most: int = 1
    ) -> list[tuple[int, float]]:
        """Return the rows that the policy chooses, outstanding from now on, and their chances: at
        least one, and at most so many.
        """
        apart = False
        if (batch or self._waiting) and not self._all_tried:
            tried = self._tells + self._pending > 0
            self._all_tried = bool(tried.all())
            tried = tried | closed if closed.size else tried
            left = tried.size - int(np.count_nonzero(tried))
            if left:
                closed, apart, most = tried, True, min(most, left)
        turn = self._told + 1
        limited = closed.size > 0
        if limited:
            self._shut[:] = closed
        imagined = self._own is not None and self._waiting
        most = 1 if self._own is not None else min(most, kernels.AT_ONCE)
        with self._imagined() if imagined else nullcontext():
            row, likely, count = self._calls.decide(
                limited, turn, self.turn_value(turn), apart, most
            )
        result = [(row, likely)]
        if count > 1:
            arms, chances = self._calls.arms[:count], self._calls.chances[:count]
            result = list(zip(arms.tolist(), chances.tolist(), strict=True))
        if likely != likely:
            self._keep_draw(number + count - 1, row, self._shut.copy() if apart else closed)
        self._waiting += count
        return result

    @contextmanager
    def _imagined(self) -> Iterator[None]:
        """Let a policy that keeps a ledger of its own see outstanding asks in it, for a while."""
        rows, own = np.flatnonzero(self._pending), self._own
        assert own is not None
        before = [column[rows].copy() for column in own.own]
        held = {"constants": self.family.constants, "ledger": own.own, "before": 0.0}
        imagine = entry(imagine_asks, family=self.family.kernels)
        for row in rows.tolist():
            left = float(self._pending[row] - self._provisional[row, :2].sum())
            scratch = np.zeros((2, self.family.dimension))
            imagine(LATER, **held, arm=row, count=left, scratch=scratch)
            own.fresh[row] = 0.0
            self._calls.mark_stale(row)
        yield
        for column, kept in zip(own.own, before, strict=True):
            column[rows] = kept
        own.fresh[rows] = 0.0
        for row in rows.tolist():
            self._calls.mark_stale(row)

    def _keep_draw(self, number: int, row: int, closed: NDArray[np.bool_]) -> None:
        """Keep what the probability of a draw is to be integrated from."""
        working = Ledger(*(part.copy() for part in self._working))
        self._drawn[number] = (row, working, self._policy.acting(self._memory), closed)

    def turn_value(self, turn: int) -> float:
        """Return what the policy uses that changes with the turn alone, such as an exposure.

        Parameters
        ----------
        turn
            The turn, from 1.

        Returns
        -------
        float
            The value of that turn, one of `Policy.turn_values`.
        """
        result = self._turn_values.get(turn)
        if result is not None:
            return result
        turns = np.arange(turn, turn + _TABULATED, dtype=np.float64)
        try:
            turn_values = self._policy.turn_values(turns, len(self._arms))
        except Exception:  # a schedule of the user's may not reach so far ahead
            turn_values = self._policy.turn_values(turns[:1], len(self._arms))
        self._turn_values = dict(enumerate(turn_values.tolist(), start=turn))
        return self._turn_values[turn]

    def integrated(self, last: list[Choice]) -> list[Choice]:
        result = list(last) if self._drawn else last
        for i, (row, ledger, policy, closed) in self._drawn.items():
            open_arms = np.flatnonzero(~closed) if closed.size else np.arange(len(ledger.plays))
            likely = views.chances(policy, self.family, ledger, open_arms, last[i].turn)
            known = float(likely[np.flatnonzero(open_arms == row)[0]])
            result[i] = last[i]._replace(probability=known)
        return result

    @property
    def leaves_all_a_chance(self) -> bool:
        """Whether the next ask may choose any arm, so that a log tells of other policies."""
        return self._draws and bool((self._tells + self._pending).all())

    def weights(self, asking: Asking, n: int, shares: Shares = NO_SHARES) -> dict[Any, float]:
        decider = self
        if len(shares.free(self._arms)) < len(self._arms):
            decider = self.copy()
            decider.retire(shares.control)
        wished = dict(zip(decider.arms, shares_of(decider, n).tolist(), strict=True))
        return shares.beside({arm: wished.get(arm, 0.0) for arm in self._arms})

    def chances_of_next(self, asking: Asking, n: int, shares: Shares) -> dict[Any, float]:
        """Return weights of a quarter as many decisions as were rewarded so far: exploring that is
        due is then done soon, and few arms have no chance at all.
        """
        return self.weights(asking, max(n, self.turn // 4), shares)

    def believed_now(self, asking: Asking) -> Floats:
        return self.seen().beliefs

    def rank(self, asking: Asking, among: Among = None) -> list[Any]:
        self._drawn.clear()  # a rank has no probability, and those of choices before are not its
        order = views.explanation(self)["arm"]
        return [arm for arm in order if among is None or arm in among]

    @property
    def outstanding(self) -> dict[Hashable, int]:
        """The asks without a reward so far, per arm in play."""
        counts = zip(self._arms, self._pending.tolist(), strict=True)
        return {arm: count for arm, count in counts if count}

    def expect(self, choice: Choice, n: int = 1) -> None:
        arm = choice.arm
        if self.retired and validate.is_among(arm, self.retired):
            learnt = self.retired[arm]
            self.retired[arm] = learnt._replace(pending=learnt.pending + n)
            return
        row = self._row(arm)
        self._pending[row] += n
        self._waiting += n
        self._calls.mark_stale(row)

    # Learning

    def check_reward(self, choice: Choice, reward: Any, value: float | None = None) -> None:
        """Raise RewardError where a reward, with this `value` on the scale of the family, could not
        be learnt.
        """
        value = self.scale.inward(reward) if value is None else value
        if self.retired and validate.is_among(choice.arm, self.retired):
            self.family.update(self.retired[choice.arm].belief, value)
        elif not self._calls.reaches(self._row(choice.arm), value):
            raise self._beyond(choice.arm, reward)

    def _beyond(self, arm: Hashable, reward: Any) -> RewardError:
        why = self.family.beyond_reach(self._calls.after)
        return RewardError(f"reward {reward!r} is too large for arm {arm!r}: {why}")

    def settle(self, choice: Choice, reward: float | None) -> None:
        if reward is None:
            self.cancel(choice.arm)
        else:
            self.tell(choice.arm, reward)

    def tell(self, arm: Hashable, reward: Any, value: float | None = None) -> None:
        """Learn a reward of an arm, of its oldest outstanding ask if there is one. A retired arm
        must have an outstanding ask.

        Parameters
        ----------
        arm
            The name of the arm.
        reward
            The reward, as the user counts it.
        value
            The reward on the scale of the family, where the caller knows it.

        Raises
        ------
        ArmError
            If the arm is unknown, or retired without an outstanding ask.
        RewardError
            If the reward cannot be learnt; then nothing is changed.
        """
        is_retired = bool(self.retired) and self._has_retired(arm)
        row = -1 if is_retired else self._row(arm)
        value = self.scale.inward(reward) if value is None else value
        if is_retired:
            self._learn_retired(arm, value)
        else:
            was_pending = bool(self._pending[row])
            if not self._calls.learn(row, value):
                raise self._beyond(arm, reward)
            if self._calls.hear is not None:
                self._calls.hear(row, value)
            self._waiting -= was_pending
            self._tells[row] += 1
        if self.discount < 1.0:
            self._fade_retired(arm)
        if self.scale.clip:
            self.clipped += self.scale.nearest(reward) != reward
        self._told += 1

    def _learn_retired(self, arm: Hashable, value: float) -> None:
        faded = self.retired[arm].faded(self.family, self.discount)
        self.retired[arm] = faded.told(self.family, value)
        if self.discount < 1.0:
            held = {
                "constants": self.family.constants,
                "truth": self._truth,
                "priors": self._priors,
            }
            rest = {"stale": self._stale, "discount": self.discount}
            entry(kernels.fade, family=self.family.kernels)(LATER, **held, **rest)

    def _fade_retired(self, apart: Hashable) -> None:
        for arm, learnt in self.retired.items():
            if arm != apart:
                self.retired[arm] = learnt.faded(self.family, self.discount)

    def _has_retired(self, arm: Any) -> bool:
        """Return whether an arm is retired; ArmError where it then has no outstanding ask."""
        learnt = self.retired[arm] if validate.is_among(arm, self.retired) else None
        if learnt is not None and not learnt.pending:
            back = f"add_arm({arm!r}) brings it back"
            raise ArmError(f"arm {arm!r} is retired, and has no outstanding ask: {back}")
        return learnt is not None

    def cancel(self, arm: Hashable, asks: int = 1) -> None:
        """Forget outstanding asks of an arm whose rewards will never come.

        Parameters
        ----------
        arm
            The name of the arm.
        asks
            How many of its asks.

        Raises
        ------
        ArmError
            If the arm is unknown, or has fewer outstanding asks.
        """
        learnt = self.retired[arm] if self.retired and self._has_retired(arm) else None
        row = self._row(arm) if learnt is None else -1
        if (self._pending[row] if learnt is None else learnt.pending) < asks:
            raise ArmError(f"arm {arm!r} has no outstanding ask to cancel")
        if learnt is not None:
            self.retired[arm] = learnt._replace(pending=learnt.pending - asks)
            return
        self._pending[row] -= asks
        self._waiting -= asks
        self._all_tried = False
        self._calls.mark_stale(row)

    def taught(self, choice: Choice, sums: Sums) -> Plain:
        before = self.learnt(choice.arm)
        learnt = after_many(self.family, before, sums, choice.arm)
        return saving.patch(choice.arm, learnt, sums.n)

    def corrected(
        self, choice: Choice, old: float | None, new: float | None, anew: Anew | None = None
    ) -> Plain | None:
        if anew is not None:
            return saving.patch(choice.arm, anew.whole)
        if self.discount < 1.0:
            return None
        taken, put = (None if x is None else self.scale.inward(x) for x in (old, new))
        result = swapped(self.family, self.learnt(choice.arm), taken, put)
        return None if result is None else saving.patch(choice.arm, result)

    def take(self, patch: Mapping[str, Any]) -> None:
        for arm, learnt, n in saving.patched(patch, self.learnt):
            if arm in self.retired:
                self._told += learnt.tells - self.retired[arm].tells
                self.retired[arm] = learnt
                continue
            heard = self._policy.learns
            if n:
                before = self.learnt(arm)
                total, squares = learnt.sum - before.sum, learnt.squares - before.squares
                row = self._row(arm)
                self._policy.learn_many(self.family, self._memory, row, n, total, squares)
                heard = True
            self.relearn(arm, learnt, heard=heard)

    def relearn(self, arm: Hashable, learnt: Learnt, *, heard: bool = False) -> None:
        """Replace all that was learnt of an arm in play; its outstanding asks stay.

        Parameters
        ----------
        arm
            The name of the arm.
        learnt
            What is to be believed of it.
        heard
            Whether a policy that keeps more than beliefs has heard of these rewards already; else
            it takes the arm as it is believed now.
        """
        row, learnt = self._row(arm), validate.check_learnt(learnt, self.family)
        self._told += learnt.tells - int(self._tells[row])
        self._tells[row] = learnt.tells
        self._truth.beliefs[row] = learnt.belief
        self._truth.plays[row] = learnt.plays
        self._truth.sums[row], self._truth.squares[row] = learnt.sum, learnt.squares
        self._provisional[row] = 0.0  # it was counted beside the belief that was
        self._all_tried = False
        self._calls.mark_stale(row)
        if not heard:
            self._policy.forget(self._memory, row)
            self._calls.settle_heard()

    def learnt(self, arm: Hashable) -> Learnt:
        """Return all that was learnt of an arm.

        Parameters
        ----------
        arm
            The name of the arm, in play or retired.

        Returns
        -------
        Learnt
            The belief, sums of rewards, and counts.

        Raises
        ------
        ArmError
            If the arm is unknown.
        """
        if self.retired and validate.is_among(arm, self.retired):
            return self.retired[arm]
        row = self._row(arm)
        return Learnt(
            prior=tuple(self._priors[row].tolist()),
            belief=tuple(self._truth.beliefs[row].tolist()),
            plays=float(self._truth.plays[row]),
            sum=float(self._truth.sums[row]),
            squares=float(self._truth.squares[row]),
            tells=int(self._tells[row]),
            pending=int(self._pending[row]),
        )

    def start_with(self, known: settings.Known) -> None:
        """Begin with what is known of some arms before the first turn.

        Parameters
        ----------
        known
            What was learnt of each of them, by its name.
        """
        for arm, learnt in known.items():
            self._priors[self._row(arm)] = learnt.prior
            self.relearn(arm, learnt)
        self._lay_out_arrays()

    # Provisional counts, of asks of which something is known before their reward is

    @property
    def settled(self) -> Floats:
        """The beliefs about all arms in play (K × d), from the rewards told alone."""
        return self._truth.beliefs.copy()

    @property
    def provisional(self) -> Floats:
        """Successes, failures and their doubt (K × 3) that count, and are not learnt."""
        return self._provisional.copy()

    def count_provisionally(self, rows: Floats) -> None:
        """Set what counts before rewards are told, where these are 0 and 1.

        Decisions, beliefs and advice count it, and imagine only the rest of outstanding asks.
        Nothing of it is learnt.

        Parameters
        ----------
        rows
            For each arm in play its successes, its failures, and the relative variance that is
            common to all arms (K × 3).
        """
        self._calls.rows[:] = rows
        self._calls.set_provisional()

    def seen(self) -> Ledger:
        """Return what the policy sees of the arms: what was told, and what counts provisionally.

        Returns
        -------
        Ledger
            Beliefs, counts and sums of the arms in play.
        """
        believed = self._policy.believed(self.family, self._truth, self._memory)
        truth = self._truth._replace(beliefs=believed)
        if not self._provisional.any():
            return truth
        seen = Ledger(*(column.copy() for column in truth))
        held = {"truth": truth, "provisional": self._provisional, "working": seen}
        entry(kernels.count_all_provisional)(LATER, **held)
        return seen

    # Arms

    def add(self, arm: Hashable, prior: Any = None) -> None:
        validate.check_new(arm, self._rows)
        learnt = self.retired.get(arm)
        if learnt is None or prior is not None:
            given = self.family.prior if prior is None else prior
            learnt = Learnt.nothing(self.family.check_prior(given))
        self._policy.check(self.family, len(self._arms) + 1)
        self.retired.pop(arm, None)
        self._arms.append(arm)
        self._priors = np.vstack([self._priors, learnt.prior])
        self._tells = np.append(self._tells, learnt.tells)
        self._pending = np.append(self._pending, learnt.pending)
        self._provisional = np.vstack([self._provisional, np.zeros(3)])
        sums = zip(self._truth[1:], (learnt.plays, learnt.sum, learnt.squares), strict=True)
        self._truth = Ledger(
            np.vstack([self._truth.beliefs, learnt.belief]),
            *(np.append(column, value) for column, value in sums),
        )
        self._lay_out_arrays([*range(len(self._arms) - 1), -1])

    def retire(self, arm: Hashable) -> None:
        row = self._row(arm)
        if len(self._arms) == 1:
            raise ArmError(f"arm {arm!r} is the last one: an agent needs at least one arm")
        self._policy.check(self.family, len(self._arms) - 1)
        self.retired[arm] = self.learnt(arm)
        del self._arms[row]
        self._priors = np.delete(self._priors, row, axis=0)
        self._tells, self._pending = np.delete(self._tells, row), np.delete(self._pending, row)
        self._truth = Ledger(*(np.delete(column, row, axis=0) for column in self._truth))
        self._provisional = np.delete(self._provisional, row, axis=0)
        self._lay_out_arrays([old for old in range(len(self._arms) + 1) if old != row])

    def load(self, learnt: Sequence[Learnt], pending: Sequence[int]) -> None:
        """Replace all that is believed of the arms in play, and forget how the policy worked.

        Parameters
        ----------
        learnt
            What is to be believed of each arm, in their order.
        pending
            How many asks of each arm are outstanding, in the same order.
        """
        self._truth.beliefs[:] = [one.belief for one in learnt]
        for column, name in zip(self._truth[1:], ("plays", "sum", "squares"), strict=True):
            column[:] = [getattr(one, name) for one in learnt]
        self._tells[:] = [one.tells for one in learnt]
        self._told = int(self._tells.sum())
        self._pending[:] = pending
        self._waiting, self._all_tried = int(self._pending.sum()), False
        self.lay_out()

    # Looking

    def known(self, asking: Asking | None = None) -> Known:
        return views.known(self)

    def beliefs(self, asking: Asking | None = None, level: float = 0.95) -> Table:
        return views.beliefs(self, level)

    def explain(self, asking: Asking = PLAIN) -> Table:
        return views.explanation(self)

    def pseudobelief(self) -> tuple[float, ...]:
        """Return the belief that the policy compares all arms with, from the rewards told alone.

        Returns
        -------
        tuple of float
            Its coordinates.
        """
        kept = self._truth, self._memory, self.turn_value(self.turn)
        return tuple(map(float, self._policy.pseudobelief(self.family, *kept)))

    def changes(self) -> list[tuple[Hashable | None, Change]]:
        """Return the changes of the world that the policy noticed.

        Returns
        -------
        list of tuples
            The name of the arm (None for one that is not in play any more) and the change, for each
            of the last 64, oldest first.
        """
        return views.changes(self)

    # Keeping

    def copy(self) -> IndependentDecider:
        return copy.deepcopy(self)

    def state(self, working: bool = False) -> Plain:
        return saving.to_plain(self, working)

    @classmethod
    def restore(cls, state: Mapping[str, Any], source: str, **replaced: Any) -> IndependentDecider:
        return saving.from_plain(cls, state, source, **replaced)

    # The arrays that kernels need

    def _lay_out_arrays(self, rows: Sequence[int] | None = None) -> None:
        """Lay out arrays anew for the arms in play, and renew what the policy derives from the
        ledger; what it heard of arms stays with them, if their old `rows` are given.
        """
        self._rows = {arm: row for row, arm in enumerate(self._arms)}
        self._working = Ledger(*(column.copy() for column in self._truth))
        fresh = self._policy.memory(len(self._arms), self.family.dimension)
        if rows is not None:
            fresh = self._policy.resettled(self._memory, fresh, rows)
        self._memory: Any = fresh
        self._stale = np.arange(-1, len(self._arms), dtype=np.int64)
        self._stale[0] = len(self._arms)
        self._turn_values = {}
        self._waiting = int(self._pending.sum())
        self._all_tried = False
        self._shut = np.zeros(len(self._arms), dtype=np.bool_)
        self._index = np.zeros(len(self._arms))
        self._calls, self._own = Calls(self), own_memory(self._policy, self._memory)
        self._draws = self._policy.leaves_all_a_chance
        self._learns, self._by_clock = self._policy.learns, self._policy.by_clock
        self._blank = self._policy.memory(len(self._arms), self.family.dimension)
        if self._policy.by_clock:
            self._policy.set_time(self._memory, self._time)
        self._calls.settle_heard()

    def lay_out(self) -> None:
        """Forget how the policy worked, and nothing that it learnt: equal deciders decide alike
        then, whatever they were asked before.
        """
        fresh = self._blank
        if self._learns:
            fresh = self._policy.memory(len(self._arms), self.family.dimension)
            fresh = self._policy.resettled(self._memory, fresh, range(len(self._arms)))
        for part, new in zip(leaves(self._memory), leaves(fresh), strict=True):
            part[...] = new
        for part, told in zip(self._working, self._truth, strict=True):
            part[...] = told
        self._stale[:] = np.arange(-1, len(self._arms))
        self._stale[0] = len(self._arms)
        self._all_tried = False
        if self._by_clock:
            self._policy.set_time(self._memory, self._time)
        if self._calls.hear is not None:
            self._calls.settle_heard()

    def __getstate__(self) -> dict[str, Any]:
        """All but the calls, which hold arrays by their addresses: a copy has its own."""
        apart = ("_calls", "_dice")
        return {name: part for name, part in vars(self).items() if name not in apart}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._calls, self._dice = Calls(self), Dice(self._rng)
        self._own = own_memory(self._policy, self._memory)

    # Rows of arms

    def _row(self, arm: Hashable) -> int:
        try:
            return self._rows[arm]
        except (KeyError, TypeError):
            raise validate.unknown_arm(arm, self._arms) from None

    def _closed(self, among: Iterable[Hashable]) -> NDArray[np.bool_]:
        closed = np.ones(len(self._arms), dtype=np.bool_)
        for arm in validate.check_names(among, "among"):
            closed[self._row(arm)] = False
        if closed.all():
            raise ArmError("among is empty: name at least one arm that is available")
        return closed
