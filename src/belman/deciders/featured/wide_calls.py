"""The arrays of a contextual agent with a factorised belief, and the calls of kernels on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from belman import chance
from belman.deciders.featured import wide_columns
from belman.deciders.featured.slots import Floats
from belman.deciders.featured.wide import WideForm, WideKnowledge
from belman.deciders.featured.wide_columns import Joint, Told
from belman.deciders.featured.words import Word
from belman.engine import LATER, Call, entry
from belman.models import Belief, Sight, arrow
from belman.models.diagonal import MEAN, Entries, Places, Table
from belman.policies.dependent import DependentPolicy
from belman.policies.dependent.policy import VALUES

Rows = Sequence[Mapping[str, Any]]
Passing = dict[Word, int]
#: Words of a context, and of features, that there is room for at first.
_FIRST = 16
#: Arms up to which covariances are worked out whatever the policy, to be looked at.
_FEW = 20


def _power(least: int) -> int:
    """The least power of two that is no smaller."""
    return 1 << max(least - 1, 1).bit_length()


def _fill(told: Told, row: int, words: Iterable[Any], numbers: Iterable[Any]) -> bool:
    """Fill in what is set in a row, words before numbers; whether there was room."""
    count, most = 0, told.slot.shape[1]
    slots, names, values = told.slot[row], told.name[row], told.value[row]
    for slot, name, value in words:
        if count < most:
            slots[count], names[count], values[count] = slot, name, value
        count += 1
    told.counts[row, 0] = count
    for slot, name, value in numbers:
        if count < most:
            slots[count], names[count], values[count] = slot, name, value
        count += 1
    told.counts[row, 1] = count
    return count <= most


class WideFormCalls:
    """Deciding and learning in one form of the belief."""

    def __init__(self, calls: WideCalls, form: WideForm) -> None:
        self.calls, self.form, self.learnt = calls, form, calls.learnt
        learnt = calls.learnt
        self.layout = form.layout(learnt.context, learnt.features, learnt.arms)
        self.held = self.held_for(calls.arms, range(learnt.arms))
        self.seen = _seen(self.held)
        self.decide = self.deciding(self.held)
        self.entries = Entries.of(1, calls.width(calls.one))
        bundle = form.model.kernels
        one = {
            "constants": form.model.constants,
            "belief": form.belief,
            "table": form.table,
            "x": calls.x,
            "own": calls.own,
            "layout": self.layout,
            "row": np.zeros(len(form.columns)),
            "context": calls.context,
            "features": calls.one,
            "crossed": calls.crossed,
            "shape": calls.shape,
            "entries": self.entries,
        }
        self.take_in: Call = entry(wide_columns.take_in, model=bundle).hold(LATER, **one)
        self.replace: Call = entry(wide_columns.replace, model=bundle).hold(LATER, **one)
        self.foresee: Call = entry(wide_columns.foresee, model=bundle).hold(LATER, **one)

    def held_for(
        self, arms: tuple[Floats, Told], positions: Sequence[int], jointly: bool = False
    ) -> dict[str, Any]:
        """What a decision among these arms holds, whose features are filled in."""
        (u, features), calls, form, count = arms, self.calls, self.form, len(positions)
        bank, size = form.belief.mean.shape
        jointly = jointly or count <= _FEW or calls.policy.sees == VALUES
        shares = jointly and (calls.learnt.columns.of_all or features.counts.any())
        most = calls.width(features)
        local = Belief(
            mean=np.zeros((bank, count)),
            root=np.zeros((bank, count, count)),
            begin=arrow.whole(count),
            noise=form.belief.noise,
            fit=form.belief.fit,
            share=form.belief.share,
            prior=np.zeros((bank, count)),
            age=np.zeros(count),
            clock=form.belief.clock,
            scratch=np.zeros((5, max(count, 4))),
        )
        united = _power(count * most) if shares else 1
        joint = Joint(
            table=Table.of(np.zeros(1), united),
            row=np.zeros((count, most if shares else 1), dtype=np.int64),
            column=np.zeros(united),
            projected=np.zeros((count, max(size, 1))),
            deviation=np.zeros((bank, count)),
        )
        return {
            "constants": form.model.constants,
            "params": calls.policy.params,
            "belief": form.belief,
            "table": form.table,
            "x": calls.x,
            "u": u,
            "layout": self.layout,
            "positions": np.array(positions, dtype=np.int64),
            "dense": np.zeros((count, size)),
            "context": calls.context,
            "features": features,
            "crossed": calls.crossed,
            "shape": np.array([*calls.shape[:2], jointly, shares], dtype=np.int64),
            "entries": Entries.of(count, most),
            "joint": joint,
            "local": local,
            "unit": np.eye(count),
            "sight": Sight.of(count),
            "memory": calls.policy.memory(count, count),
            "rng": calls.rng,
            "index": np.zeros(count),
        }

    def deciding(self, held: dict[str, Any]) -> Call:
        """The call of a decision that holds this."""
        bundles = {"policy": self.calls.policy.kernels, "model": self.form.model.kernels}
        return entry(wide_columns.choose, **bundles).hold(LATER, **held)


class WideCalls:
    """Deciding and learning with the dense columns and the tables that there are now."""

    def __init__(
        self, learnt: WideKnowledge, policy: DependentPolicy, rows: Rows, rng: chance.Words
    ) -> None:
        self.learnt, self.policy, self.rng, self.rows = learnt, policy, rng, rows
        self.x = np.zeros(len(learnt.context))
        self.own = np.zeros(len(learnt.features))
        self.crossed: Places = learnt.crossed
        columns = learnt.columns
        self.shape = np.array([columns.of_all, columns.of_each, 0, 0], dtype=np.int64)
        self.context, self.one = Told.of(1, _FIRST), Told.of(1, _FIRST)
        self._make()

    def _make(self) -> None:
        """Make the calls of all forms, with the room that there is."""
        self._filled: Mapping[str, Any] | None = None  # the context that is filled in
        self._words = 0  # and how many words had a slot then
        self._passing: Passing = {}
        self.arms = self._told(self.rows, {}, learning=True)
        self._forms = [WideFormCalls(self, form) for form in self.learnt.forms]

    @property
    def _form(self) -> WideFormCalls:
        return self._forms[self.learnt.leading]

    def width(self, features: Told) -> int:
        """How many coefficients may be set of an arm."""
        context, own = self.context.slot.shape[1], features.slot.shape[1]
        pairs = context * own if self.crossed.any() else 0
        return int(context * self.shape[:2].sum() + own + pairs)

    def _told(self, rows: Rows, passing: Passing, learning: bool = False) -> tuple[Floats, Told]:
        """Return the features of arms, dense and wide; a row at least. Those of arms have slots
        from the start.
        """
        slots, arms = self.learnt.features, max(len(rows), self.learnt.arms if not rows else 0, 1)
        u = np.zeros((arms, len(slots)))
        told = Told.of(arms, 1)
        for at, row in enumerate(rows):
            slots.fill(row, u[at])
            words = list(slots.set_words(row, passing, learning))
            numbers = list(slots.set_numbers(row, u[at]))
            if len(words) + len(numbers) > told.slot.shape[1]:
                told = _with_room(told, len(words) + len(numbers))
            _fill(told, at, words, numbers)
        return u, told

    def changed(self) -> None:
        """Numbers may be measured on other scales than when a context was last filled in."""
        self._filled = None

    def fill(self, context: Mapping[str, Any], learning: bool = False) -> None:
        """Have what is set in a context, unless it is there."""
        slots = self.learnt.context
        is_there = self._filled is context and self._words == len(slots.words)
        if is_there and not (learning and self._passing):
            return
        self._passing = {}
        slots.fill(context, self.x)
        words = list(slots.set_words(context, self._passing, learning))
        numbers = list(slots.set_numbers(context, self.x)) if self.crossed.any() else []
        if not _fill(self.context, 0, words, numbers):
            self.context = Told.of(1, _power(len(words) + len(numbers)))
            self._make()
            _fill(self.context, 0, words, numbers)
        self._filled, self._words = context, len(slots.words)

    def choose(
        self, context: Mapping[str, Any], rows: Rows, positions: Sequence[int], turn: int
    ) -> tuple[int, int, dict[str, Any]]:
        """Which of these arms to play in a context, how many tie with it, and what was seen."""
        self.fill(context)
        form = self._form
        if positions and positions[0] >= 0 and list(positions) == list(range(self.learnt.arms)):
            return *form.decide(turn), form.seen
        held = form.held_for(self._at_hand(rows, positions), positions)
        return *form.deciding(held)(turn), _seen(held)

    def _at_hand(self, rows: Rows, positions: Sequence[int]) -> tuple[Floats, Told]:
        if rows:
            return self._told(rows, {})
        return np.zeros((len(positions), len(self.learnt.features))), Told.of(len(positions), 1)

    def survey(
        self, context: Mapping[str, Any], rows: Rows, positions: Sequence[int], turn: int
    ) -> dict[str, Any]:
        """Return all that a decision among these arms in a context sees."""
        self.fill(context)
        held = self._form.held_for(self._at_hand(rows, positions), positions, jointly=True)
        self._form.deciding(held)(turn)
        return _seen(held)

    def spelled(self, held: dict[str, Any], name: Any) -> tuple[Floats, Floats, Any]:
        """Return what is set of the arms of a decision, what coefficients are expected to be, and
        whose they are and what they are about.
        """
        form, dense, entries = self.learnt.form, held["dense"], held["entries"]
        keys, rows = dict[int, int](), dict[int, int]()
        for arm, count in enumerate(entries.counts.tolist()):
            for at in range(count):
                key = int(entries.key[arm, at])
                keys.setdefault(key, len(keys))
                rows[key] = int(entries.row[arm, at])
        wide = np.zeros((len(dense), len(keys)))
        for arm, count in enumerate(entries.counts.tolist()):
            for at in range(count):
                wide[arm, keys[int(entries.key[arm, at])]] += entries.value[arm, at]
        share = form.belief.share
        known = [share @ form.table.rows[row, MEAN] if row >= 0 else 0.0 for row in rows.values()]
        passing = {slot: word for word, slot in self._passing.items()}
        labels = [self.learnt.label(key, name, passing) for key in keys]
        mean = np.concatenate([share @ form.belief.mean, np.array(known)])
        return np.hstack([dense, wide]), mean, self.learnt.labels(name) + labels

    def learn(
        self, context: Mapping[str, Any], position: int, candidate: Any, reward: float
    ) -> None:
        """Learn the reward of the arm at a place, or of a candidate, in a context."""
        self._fill_both(context, position, candidate, learning=True)
        self._make_room()
        for form in self._forms:
            if form.form.moved is not None:
                for one in self._moved_with(form.form, position):
                    form.foresee(one)
                    form.form.note(form.entries.row[0, : form.entries.counts[0]])
            form.form.heard(float(form.take_in(position, reward)))
        self._renew([form.narrow() for form in self.learnt.forms])

    def _moved_with(self, form: WideForm, position: int) -> Sequence[int]:
        """Return the arms whose coefficients a reward of one moves: where beliefs fade, those that
        others have for themselves in this context fade too.
        """
        fades = form.model.keep < 1.0 and form.columns.of_each
        return range(self.learnt.arms) if fades else [position]

    def replace(
        self, context: Mapping[str, Any], position: int, candidate: Any, *told: float
    ) -> None:
        """Let a reward be another one, as far as it is kept after so many since; forms stand as
        they foretold it. What fades less, since its contexts are rare, is corrected less.
        """
        old, new, since = told
        self._fill_both(context, position, candidate, learning=True)
        self._make_room()
        for form in self._forms:
            form.replace(position, old, new, form.form.model.keep**since)

    def foresee(self, context: Mapping[str, Any], position: int, candidate: Any) -> float:
        """The expected reward of the arm at a place, or of a candidate, in a context."""
        self._fill_both(context, position, candidate)
        return float(self._form.foresee(position))

    def _make_room(self) -> None:
        """Have room for the coefficients that a reward tells of."""
        widths = [form.entries.key.shape[1] for form in self._forms]
        pairs = zip(self.learnt.forms, widths, strict=True)
        self._renew([form.make_room(width) for form, width in pairs])

    def _renew(self, changed: Sequence[bool]) -> None:
        """Make the calls of forms whose arrays are others now."""
        for at, is_other in enumerate(changed):
            if is_other:
                self._forms[at] = WideFormCalls(self, self.learnt.forms[at])

    def _fill_both(
        self, context: Mapping[str, Any], position: int, candidate: Any, learning: bool = False
    ) -> None:
        self.fill(context, learning)
        if candidate is None and not self.rows:
            return
        row = self.rows[position] if candidate is None else candidate
        slots = self.learnt.features
        slots.fill(row, self.own)
        words = list(slots.set_words(row, {}, learning))
        numbers = list(slots.set_numbers(row, self.own))
        if not _fill(self.one, 0, words, numbers):
            self.one = Told.of(1, _power(len(words) + len(numbers)))
            self._make()
            self.fill(context, learning)
            _fill(self.one, 0, words, numbers)


def _with_room(told: Told, most: int) -> Told:
    """Return the same with more room in every row."""
    wide, size = Told.of(len(told.counts), _power(most)), told.slot.shape[1]
    wide.counts[:] = told.counts
    for name in ("slot", "name", "value"):
        getattr(wide, name)[:, :size] = getattr(told, name)
    return wide


def _seen(held: dict[str, Any]) -> dict[str, Any]:
    """What a decision saw, as of any belief: its arms are the coefficients of a belief of its own.

    The local belief shares its noise and its shares with the whole one.
    """
    return held | {"belief": held["local"], "features": held["unit"]}
