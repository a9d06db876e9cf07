"""The decider of independent arms: a belief an arm, a policy, and the asks that are outstanding."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman import chance
from belman.deciders import state_file, validate
from belman.deciders.choosing import Dice, choose_with_shares
from belman.deciders.decider import Asking, Choice, Decider, Draw, Plain, Sums
from belman.deciders.independent import changing, kernels, saving, views, warm_start
from belman.deciders.independent.calls import Calls
from belman.deciders.independent.corrections import swapped
from belman.deciders.independent.weights import weights_of
from belman.deciders.learnt import Learnt, after_many
from belman.deciders.scale import scale
from belman.deciders.shares import NO_SHARES, Shares
from belman.engine import LATER, entry, leaves
from belman.errors import ArmError, RewardError, SettingError
from belman.families import Family, family_named
from belman.families.mirror import Mirror
from belman.measures.best import best_probabilities
from belman.measures.report import Known
from belman.policies import BelMan, Drift, Ledger, Policy
from belman.policies.policy import Change
from belman.table import Table

Floats = NDArray[np.float64]

_TABULATED = 256  # turns whose values are tabulated at a time
_NONE_CLOSED = np.zeros(0, dtype=np.bool_)
#: A request without a context.
PLAIN = Asking()


class IndependentDecider(Decider):
    """Arms of one family, each believed for itself.

    >>> decider = IndependentDecider(["blue", "red"])
    >>> decider.record(decider.recall("red"), 1)
    >>> decider.learnt("red").belief
    (2.0, 1.0)
    """

    kind = "independent"

    def __init__(
        self,
        arms: Iterable[Hashable],
        family: str | Family | None = None,
        policy: Policy | None = None,
        *,
        prior: ArrayLike | None = None,
        priors: Mapping[Hashable, ArrayLike] | None = None,
        range: tuple[float, float] | None = None,
        clip: bool = False,
        minimise: bool = False,
        discount: float | None = None,
        drift: str | Drift | None = None,
        last: int | None = None,
    ) -> None:
        self._arms: list[Hashable] = []
        self._rows: dict[Hashable, int] = {}
        for arm in validate.check_names(arms, "arms"):
            validate.check_new(arm, self._rows)
            self._rows[arm] = len(self._arms)
            self._arms.append(arm)
        if not self._arms:
            raise ArmError("an agent needs at least one arm: the list of arms is empty")
        if family is None:
            family = "bernoulli" if range is None else "bounded"
        base = family_named(family)
        if prior is not None:
            base = replace(base, prior=base.check_prior(prior))
        self.scale = scale(base, range, minimise, clip)
        self.clipped, self._time = 0, 0.0
        self.family: Family = Mirror(base) if self.scale.minimise else base
        self.discount = 1.0 if discount is None else validate.check_discount(discount)
        policy = changing.check_drift(drift, policy, self.discount)
        policy = changing.check_last(last, policy, self.discount)
        self._rng = chance.generator(0)
        self._dice = Dice(self._rng)
        own = validate.check_priors(priors)
        for arm in own:
            self._row(arm)
        self._priors = np.array([base.check_prior(own.get(arm, base.prior)) for arm in self._arms])
        self._told, self._all_tried = 0, False
        self._tells = np.zeros(len(self._arms), dtype=np.int64)
        self._pending = np.zeros(len(self._arms), dtype=np.int64)
        self._provisional = np.zeros((len(self._arms), 3))
        self._turn_values: dict[int, float] = {}
        # of the last choices: what their chances are to be integrated from
        self._drawn: dict[int, tuple[int, Ledger, Policy, NDArray[np.bool_]]] = {}
        self._truth = Ledger.blank(self._priors.copy())
        self.retired: dict[Hashable, Learnt] = {}
        self.set_policy(BelMan() if policy is None else policy)

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
        self,
        asking: Asking,
        n: int = 1,
        *,
        among: Sequence[Any] | None = None,
        shares: Shares = NO_SHARES,
        rng: chance.Words,
        integrate: bool = True,
    ) -> list[Choice]:
        if rng is not self._rng:
            self._rng[:] = rng
        if self._drawn:
            self._drawn.clear()
        batch = n > 1
        if shares is NO_SHARES or not (shares.floored or shares.uniform):
            closed = _NONE_CLOSED if among is None else self._closed(among)
            draw = Draw.RANDOM if self._draws and self.leaves_all_a_chance else Draw.POLICY
            found = [self._decide(closed, batch, i, draw) for i in range(n)]
        else:
            found = self._choose_beside(n, among, shares, batch)
        if rng is not self._rng:
            rng[:] = self._rng
        if integrate and self._drawn:
            return [
                found[i]._replace(probability=known) for i, known in enumerate(self.chances(found))
            ]
        return found

    def _choose_beside(
        self, n: int, among: Sequence[Any] | None, shares: Shares, batch: bool
    ) -> list[Choice]:
        """Choose beside shares of traffic; a wish is outstanding until its turn is given away."""
        wished: list[Hashable] = []
        count = 0

        def wish(among: Sequence[Any] | None) -> Choice:
            closed = _NONE_CLOSED if among is None else self._closed(among)
            draw = Draw.RANDOM if self.leaves_all_a_chance else Draw.POLICY
            found = self._decide(closed, batch, count, draw)
            wished.append(found.arm)
            return found

        def imagine(choice: Choice) -> None:
            nonlocal count
            count += 1
            arm = wished.pop() if wished else None
            if arm != choice.arm or arm is None:
                if arm is not None:
                    self._give_up(arm)
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

    def choose_one(self) -> tuple[Hashable, int, float]:
        """Choose one arm of all, outstanding from now on: its name, the turn, and its probability
        (NaN where it is to be integrated). This is `choose` for a caller in a hurry.
        """
        if self._drawn:
            self._drawn.clear()
        if self._waiting and not self._all_tried:
            choice = self._decide(_NONE_CLOSED, False, 0, Draw.POLICY)
            return choice.arm, choice.turn, choice.probability
        turn = self._told + 1
        row, likely = self._calls.decide(False, turn, self.turn_value(turn))
        if likely != likely:
            self._keep_draw(0, row, _NONE_CLOSED)
        self._waiting += 1
        return self._arms[row], turn, likely

    def _decide(self, closed: NDArray[np.bool_], batch: bool, number: int, draw: Draw) -> Choice:
        """Return the choice of the policy, outstanding from now on."""
        if (batch or self._waiting) and not self._all_tried:
            tried = self._tells + self._pending > 0
            self._all_tried = bool(tried.all())
            tried = tried | closed if closed.size else tried
            closed = closed if tried.all() else tried
        turn = self._told + 1
        limited = closed.size > 0
        if limited:
            self._shut[:] = closed
        row, likely = self._calls.decide(limited, turn, self.turn_value(turn))
        if likely != likely:
            self._keep_draw(number, row, closed)
        self._waiting += 1
        return Choice(self._arms[row], turn, likely, draw)

    def _keep_draw(self, number: int, row: int, closed: NDArray[np.bool_]) -> None:
        """Keep what the probability of a draw is to be integrated from."""
        working = Ledger(*(part.copy() for part in self._working))
        self._drawn[number] = (row, working, self._policy.acting(self._memory), closed)

    def turn_value(self, turn: int) -> float:
        """Return what changes with the turn alone."""
        found = self._turn_values.get(turn)
        if found is not None:
            return found
        turns = np.arange(turn, turn + _TABULATED, dtype=np.float64)
        try:
            turn_values = self._policy.turn_values(turns, len(self._arms))
        except Exception:  # a schedule of the user's may not reach so far ahead
            turn_values = self._policy.turn_values(turns[:1], len(self._arms))
        self._turn_values = dict(enumerate(turn_values.tolist(), start=turn))
        return self._turn_values[turn]

    def chances(self, last: Sequence[Choice]) -> list[float]:
        """Return the chances of the last choices, those of draws from beliefs integrated."""
        found = [choice.probability for choice in last]
        for i, (row, ledger, policy, closed) in self._drawn.items():
            open_arms = np.flatnonzero(~closed) if closed.size else np.arange(len(ledger.plays))
            likely = policy.own_chances(self.family, ledger, open_arms)
            if likely is None:
                likely = policy.chances(best_probabilities(self.family, ledger.beliefs[open_arms]))
            found[i] = float(likely[np.flatnonzero(open_arms == row)[0]])
        return found

    @property
    def leaves_all_a_chance(self) -> bool:
        """Whether the next ask may choose any arm, so that a log tells of other policies."""
        return self._draws and bool((self._tells + self._pending).all())

    def weights(self, asking: Asking, n: int, shares: Shares = NO_SHARES) -> dict[Any, float]:
        own = shares.of(self._arms)
        if not own and shares.uniform > 0.0:
            own = dict.fromkeys(self._arms, shares.uniform / len(self._arms))
        if shares.control_share is None or shares.control not in own:
            return weights_of(self, n, own)
        others = self.copy()
        others.retire(shares.control)
        rest = max(1.0 - sum(own.values()), 0.0)
        found = weights_of(others, n, {})
        return {arm: own.get(arm, 0.0) + rest * found.get(arm, 0.0) for arm in self._arms}

    def rank(self, asking: Asking, among: Sequence[Any] | None = None) -> list[Any]:
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
        if validate.is_among(arm, self.retired):
            learnt = self.retired[arm]
            self.retired[arm] = learnt._replace(pending=learnt.pending + n)
            return
        row = self._row(arm)
        self._pending[row] += n
        self._waiting += n
        self._calls.mark_stale(row)

    # Learning

    def check_reward(self, choice: Choice, reward: Any) -> None:
        self.family.update(self.learnt(choice.arm).belief, self.scale.inward(reward))

    def settle(self, choice: Choice, reward: float | None) -> None:
        if reward is None:
            self._give_up(choice.arm)
        elif choice.arm in self.retired:
            self._tell_retired(choice.arm, reward)
        else:
            self.tell(choice.arm, reward)

    def _tell_retired(self, arm: Hashable, reward: Any) -> None:
        self.retired[arm] = self.retired[arm].told(self.family, self.scale.inward(reward))
        self._told += 1
        self._count_clipped(reward)

    def tell(self, arm: Hashable, reward: Any) -> None:
        """Learn a reward of an arm in play, of the oldest outstanding ask if there is one, or of a
        retired arm that has one.
        """
        if self.retired and self._has_retired(arm):
            self._tell_retired(arm, reward)
            return
        row = self._row(arm)
        value = self.scale.inward(reward)
        was_pending = bool(self._pending[row])
        if not self._calls.learn(row, value):
            why = self.family.beyond_reach(self._calls.after)
            raise RewardError(f"reward {reward!r} is too large for arm {arm!r}: {why}")
        if self._calls.hear is not None:
            self._calls.hear(row, value)
        if self.scale.clip:
            self._count_clipped(reward)
        self._waiting -= was_pending
        self._told += 1
        self._tells[row] += 1

    def _count_clipped(self, reward: float) -> None:
        self.clipped += self.scale.clip and self.scale.nearest(reward) != reward

    def _give_up(self, arm: Hashable) -> None:
        if arm in self.retired:
            learnt = self.retired[arm]
            self.retired[arm] = learnt._replace(pending=learnt.pending - 1)
        else:
            self.cancel(arm)

    def _has_retired(self, arm: Any) -> bool:
        """Return whether an arm is retired; ArmError where it then has no outstanding ask."""
        learnt = self.retired[arm] if validate.is_among(arm, self.retired) else None
        if learnt is not None and not learnt.pending:
            back = f"add_arm({arm!r}) brings it back"
            raise ArmError(f"arm {arm!r} is retired, and has no outstanding ask: {back}")
        return learnt is not None

    def cancel(self, arm: Hashable, asks: int = 1) -> None:
        """Forget outstanding asks of an arm whose rewards will never come."""
        if self.retired and self._has_retired(arm):
            learnt = self.retired[arm]
            if learnt.pending < asks:
                raise ArmError(f"arm {arm!r} has no outstanding ask to cancel")
            self.retired[arm] = learnt._replace(pending=learnt.pending - asks)
            return
        row = self._row(arm)
        if self._pending[row] < asks:
            raise ArmError(f"arm {arm!r} has no outstanding ask to cancel")
        self._pending[row] -= asks
        self._waiting -= asks
        self._all_tried = False
        self._calls.mark_stale(row)

    def taught(self, choice: Choice, sums: Sums) -> Plain:
        before = self.learnt(choice.arm)
        learnt = after_many(self.family, before, sums, choice.arm)
        return saving.patch(choice.arm, learnt, sums.n)

    def corrected(self, choice: Choice, old: float | None, new: float | None) -> Plain | None:
        if self.discount < 1.0:
            return None
        taken, put = (None if x is None else self.scale.inward(x) for x in (old, new))
        found = swapped(self.family, self.learnt(choice.arm), taken, put)
        return None if found is None else saving.patch(choice.arm, found)

    def patch_to(self, other: Decider) -> Plain:
        assert isinstance(other, IndependentDecider)
        rows = []
        for arm in (*self._arms, *self.retired):
            mine, theirs = self.learnt(arm), other.learnt(arm)
            if mine != theirs._replace(pending=mine.pending):
                rows += saving.patch(arm, theirs)["arms"]
        return {"arms": rows}

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
        """Believe this of an arm in play in place of all that was learnt; open asks stay. Policies
        that keep more than beliefs take the arm as it is believed, unless they `heard` of it.
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
        """Return all that was learnt of an arm, in play or retired."""
        if validate.is_among(arm, self.retired):
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

    def start_with(self, known: warm_start.Known) -> None:
        """Begin with what is known of some arms before the first turn."""
        rows = [self._rows[arm] for arm in known.arms]
        self._told += int(known.tells.sum())
        self._tells[rows], self._priors[rows] = known.tells, known.priors
        for column, given in zip(self._truth, known.ledger, strict=True):
            column[rows] = given
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
        """Set what counts provisionally of all arms in play (K × 3): successes, failures, and the
        relative variance that is common to all arms; rewards are 0 and 1.

        Decisions, beliefs and advice count them, and imagine only the rest of outstanding asks.
        """
        self._calls.rows[:] = rows
        self._calls.set_provisional()

    def seen(self) -> Ledger:
        """Return the ledger with what was told and what counts provisionally."""
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
        self.retired[arm] = self.learnt(arm)
        del self._arms[row]
        self._priors = np.delete(self._priors, row, axis=0)
        self._tells, self._pending = np.delete(self._tells, row), np.delete(self._pending, row)
        self._truth = Ledger(*(np.delete(column, row, axis=0) for column in self._truth))
        self._provisional = np.delete(self._provisional, row, axis=0)
        self._lay_out_arrays([old for old in range(len(self._arms) + 1) if old != row])

    def load(self, learnt: Sequence[Learnt], pending: Sequence[int]) -> None:
        """Believe this of all arms in play, with these asks outstanding, and nothing else."""
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

    def changes(self) -> list[tuple[Hashable | None, Change]]:
        """Return the changes of the world that the policy noticed, each with the name of its arm
        (None for an arm that is not in play any more), the last 64, oldest first.
        """
        return changing.changes_of(self._policy, self._memory, self._arms, self.scale.outward)

    # Keeping

    def copy(self) -> IndependentDecider:
        return copy.deepcopy(self)

    def state(self, working: bool = False) -> Plain:
        return state_file.plain(saving.to_plain(self, working))

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
        self._calls = Calls(self)
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
        self._calls.settle_heard()

    def __getstate__(self) -> dict[str, Any]:
        """All but the calls, which hold arrays by their addresses: a copy has its own."""
        apart = ("_calls", "_dice")
        return {name: part for name, part in vars(self).items() if name not in apart}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._calls, self._dice = Calls(self), Dice(self._rng)

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
