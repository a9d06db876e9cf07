"""Slots of wide contexts: numbers as ever, and any number of levels and words.

A word is a level of a category, or one of a bag: the name "words[]" declares a mapping {word:
number} or a list of words, of which a context has some and never meets most. A word gets a slot
with the first reward of an arm in whose context it is set; until then only the prior is known of
it. Beyond a million words, new ones of a name share a slot, "others". Numbers of a bag count as
they are: they are not standardised, and a word that is not there is 0 and no missing value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from belman.assignment.contexts import CATEGORY, LONGEST, MISSING, OTHERS
from belman.deciders.featured.arrays import BAG
from belman.deciders.featured.slots import Pooled, Rescaled, Room, Slots
from belman.deciders.validate import is_text
from belman.errors import SettingError, StateError, shown

#: Words that have slots, of all names together.
MOST_WORDS = 1 << 20
#: Slots of words and levels are numbered from 1, those of numbers from here on.
NUMBERS = 1 << 21
#: The slots of others, by the place of a name, and of words that were never learnt of.
_OTHERS = MOST_WORDS + 1
_PASSING = _OTHERS + 4_096
#: Words of one bag, and how much one counts.
MOST_SET, MOST_COUNT = 2_000, 1e6

#: What has a slot: a name and a level (None for a missing value), or a word of a bag.
Word = tuple[str, str | None] | str


@dataclass
class WideSlots(Slots):
    """The slots of some named values; any number of them are words."""

    #: The words with a slot, in the order of their first reward; the first has slot 1.
    words: list[list[str | None]] = field(default_factory=list)
    wide = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._bags = self.arrays.bags
        self._alone = {name: position for position, name in enumerate(self.names)}
        self._of_bag = {
            name: len(self.names) + position for position, name in enumerate(self._bags)
        }
        self._slots: dict[Word, int] = {}
        self._positions = [0]  # of the names of words, by slot
        kept, self.words = self.words, []
        for word in kept:
            self._take_word(word)
        if self.levels or self.waiting:
            raise StateError(f"{self.what} holds levels where it has words")

    def _take_word(self, kept: list[str | None]) -> None:
        """Have a word of a state."""
        name, *level = kept
        fits = isinstance(name, str) and len(level) < 2
        if fits and level:
            fits = name in self._alone and (level[0] is None or is_text(level[0]))
        elif fits:
            fits = self._bag_of(name) is not None
        word: Any = (name, level[0]) if level else name
        if not fits or word in self._slots:
            raise StateError(f"{self.what} holds a word of no name, or one twice: {kept}")
        self._give_slot(word)

    def _bag_of(self, key: Any) -> str | None:
        """The bag that a key such as "words[red]" is of."""
        name, result, rest = str(key).partition("[")
        while result and not (name in self._of_bag and rest.endswith("]")):
            more, result, rest = rest.partition("[")
            name = f"{name}[{more}"
        return name if result else None

    @property
    def wide_names(self) -> list[str]:
        """All names, those of bags last: a word's place among them says which pairs count."""
        return [*self.names, *self._bags]

    def position(self, name: str) -> int:
        """Return the place of a name among all."""
        return self._of_bag[name.removesuffix(BAG)] if name.endswith(BAG) else self._alone[name]

    def check(self, given: Any) -> dict[str, Any]:
        """Named values as they are kept: those of bags as "words[red]", in order."""
        if not self._bags or not isinstance(given, Mapping):
            return super().check(given)
        rest, bags = dict[str, Any](), dict[str, float]()
        for name, value in given.items():
            if name in self._alone or name in self.arrays.by_name:
                rest[name] = value
            elif name.removesuffix(BAG) in self._of_bag:
                bags |= _spelled(name.removesuffix(BAG), value)
            elif (bag := self._bag_of(name)) is not None:
                bags |= _spelled(bag, {name[len(bag) + 1 : -1]: value})
            else:
                rest[name] = value
        result = super().check(rest)
        for key in sorted(bags):
            result[key] = bags[key]
        return result

    def whole(self, values: Mapping[str, Any]) -> dict[str, Any]:
        bags: dict[str, Any] = {name: {} for name in self._bags}
        plain = {name: value for name, value in values.items() if name in self._alone}
        for key in values.keys() - plain.keys():
            bag = self._bag_of(key) or ""
            bags[bag][key[len(bag) + 1 : -1]] = values[key]
        return plain | bags

    def news(self, values: Mapping[str, Any]) -> bool:
        """Whether there is a number that was never seen; words need no slot."""
        return any(
            type(value) is float and name not in self._numbers and name in self._alone
            for name, value in values.items()
        )

    def meet(
        self, values: Mapping[str, Any], room: Callable[[], Room], count: bool = True
    ) -> list[Rescaled | Pooled]:
        """Give slots to numbers that are new, and `count` them; their scales that changed."""
        numbers = {}
        for name, value in values.items():
            if name in self._alone:
                if type(value) is float:
                    numbers[name] = value
                elif value is not None:
                    self.kinds.setdefault(name, CATEGORY)
        return super().meet(numbers, room, count) if numbers else []

    def fill(self, values: Mapping[str, Any], out: Any) -> None:
        """The numbers of values that were met."""
        numbers = self._numbers
        known = {one: values[one] for one in numbers if type(values.get(one)) is float}
        super().fill(known, out)

    def _give_slot(self, word: Word) -> int:
        self._positions.append(self._position_of(word))
        self.words.append([word] if isinstance(word, str) else [*word])
        self._slots[word] = len(self.words)
        return len(self.words)

    def _position_of(self, word: Word) -> int:
        """The place of the name of a word."""
        if isinstance(word, str):
            return self._of_bag[self._bag_of(word) or ""]
        return self._alone[word[0]]

    def forget(self, words: int) -> None:
        """Keep the first `words` words, and forget the others."""
        while len(self.words) > words:
            kept = self.words.pop()
            self._positions.pop()
            del self._slots[kept[0] if len(kept) == 1 else tuple(kept)]  # type: ignore[arg-type]

    def set_words(
        self, values: Mapping[str, Any], passing: dict[Word, int], learning: bool = False
    ) -> Iterator[tuple[int, int, float]]:
        """Yield the slot, the place of the name, and the number of every word that is set.

        Words without a slot get one if a reward is to be learnt, and else a passing one, the same
        within one decision.
        """
        plain, slots, positions = self._alone, self._slots, self._positions
        is_full = len(slots) >= MOST_WORDS
        for name, value in values.items():
            word: Word
            if name not in plain:
                word, amount = name, value
            elif type(value) is float:
                continue
            else:
                word, amount = (name, value), 1.0
            slot = slots.get(word)
            if slot is not None:
                yield slot, positions[slot], amount
                continue
            position = self._position_of(word)
            if is_full:
                slot = _OTHERS + position
            elif learning:
                slot = self._give_slot(word)
                is_full = len(slots) >= MOST_WORDS
            else:
                slot = passing.setdefault(word, _PASSING + len(passing))
            yield slot, position, amount

    def set_numbers(
        self, values: Mapping[str, Any], filled: Any
    ) -> Iterator[tuple[int, int, float]]:
        """Yield the slot, the place of the name, and the number of every number that is set."""
        for name, position in self._numbers.items():
            if name in self._alone and type(values.get(name)) is float:
                yield NUMBERS + position, self._alone[name], float(filled[position])

    def knows(self, slot: int) -> bool:
        """Return whether a word, the others of a name, or a number has this slot."""
        if slot >= NUMBERS:
            return slot - NUMBERS in self._numbers.values()
        return slot <= len(self.words) or 0 <= slot - _OTHERS < len(self.wide_names)

    def word_label(self, slot: int, passing: Mapping[int, Word]) -> str:
        """A word as a person reads it; `passing` are those without a slot."""
        if _OTHERS <= slot < _PASSING:
            return f"{self.wide_names[slot - _OTHERS]}={OTHERS}"
        if slot > len(self.words):
            word = passing.get(slot, "a new word")
            parts: list[str | None] = [word] if isinstance(word, str) else [*word]
        else:
            parts = self.words[slot - 1]
        name, *level = parts
        if not level:
            return str(name)
        return f"{name}={MISSING if level[0] is None else level[0]}"


def _spelled(bag: str, value: Any) -> dict[str, float]:
    """Return the numbers of a bag by the keys that are kept; words without one count 1 each."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        items: list[tuple[Any, Any]] = list(value.items())
    elif isinstance(value, (list, tuple, set, frozenset)):
        items = [(word, 1.0) for word in value]
    else:
        allowed = "a list of words, or {word: number}"
        raise SettingError(f"{bag}={shown(value)} is not allowed: it must be {allowed}")
    result: dict[str, float] = {}
    for word, number in items:
        if isinstance(number, np.generic):
            number = number.item()
        is_number = isinstance(number, (int, float)) and abs(number) <= MOST_COUNT
        is_word = isinstance(word, str) and 0 < len(word) <= LONGEST and is_text(word)
        if number is not None and not (is_number and is_word):
            allowed = f"words of up to {LONGEST} characters with numbers up to {MOST_COUNT:g}"
            raise SettingError(
                f"{bag}[{shown(word)}]={shown(number)} is not allowed: give {allowed}"
            )
        if number:
            key = f"{bag}[{word}]"
            result[key] = result.get(key, 0.0) + float(number)
    if len(result) > MOST_SET:
        allowed = f"at most {MOST_SET:,} in one context"
        raise SettingError(f"{bag} has {len(result):,} words: {allowed}")
    return result
