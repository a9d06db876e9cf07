"""Where Python enters compiled code, and what compiled code calls by address.

An *entry* is a template such as `decide(policy, family, ledger, …, turn)` closed over its
bundles. It *holds* arrays, records of them, and numbers, given by keyword. They lie in a *frame*,
an array of 64-bit words with the address and the shape of each, so that a call hands over one
address and what changes from call to call: numbers, typed by the annotations of the template.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from belman.engine import tiers
from belman.engine.cache import Generated
from belman.engine.kernels import Bundle

#: When an entry is compiled: before its first call, or in the background of interpreted calls.
FIRST, LATER = "first", "later"

_NUMBERS = {"int": "int64", "float": "float64", "bool": "boolean"}
_lock = threading.RLock()


class Address(NamedTuple):
    """What compiled code calls by address: where its code is, and its frame."""

    code: Any
    frame: Any


class CallAddress:
    """Call an `Address` from a kernel, with two whole numbers and a real one."""

    def __call__(self, address: Address, first: int, second: int, amount: float) -> int:
        return int(address.code(first, second, amount))


call_address = CallAddress()


class Entry:
    """A template closed over its bundles."""

    def __init__(self, template: Any, bundles: Mapping[str, Bundle]) -> None:
        self.template, self.bundles = template, dict(bundles)
        function = inspect.unwrap(template)
        self.parameters = list(inspect.signature(function).parameters)
        self.types = {name: _NUMBERS[kind] for name, kind in _annotations(function).items()}

    def hold(self, when: str = FIRST, /, **held: Any) -> Call:
        """A call that holds these arrays, records and numbers, and takes the other parameters."""
        unknown = held.keys() - self.parameters
        if unknown:
            raise TypeError(f"{self.template.__name__} takes no {', '.join(sorted(unknown))}")
        return Call(self, when, [self._in_order(held)])

    def hold_each(self, when: str, sets: Sequence[Mapping[str, Any]]) -> Call:
        """A call with each of some sets of the same kinds of arrays, one after another, that enters
        compiled code once; it returns nothing.
        """
        return Call(self, when, [self._in_order(held) for held in sets], each=True)

    def _in_order(self, held: Mapping[str, Any]) -> dict[str, Any]:
        return {name: held[name] for name in self.parameters if name in held}

    def __call__(self, when: str = FIRST, /, **held: Any) -> Any:
        """Call the template once, with all of its parameters."""
        return self.hold(when, **held)()


@functools.lru_cache(maxsize=4096)
def _entry(template: Any, bundles: tuple[tuple[str, Bundle], ...]) -> Entry:
    return Entry(template, dict(bundles))


def entry(template: Any, **bundles: Bundle) -> Entry:
    """The entry of a template with these bundles.

    >>> from belman.families import bernoulli
    >>> from belman.engine import kernel
    >>> @kernel
    ... def expected(family, constants, belief):
    ...     return family.expected_reward(constants, belief)
    >>> call = entry(expected, family=bernoulli.KERNELS)
    >>> float(call(LATER, constants=np.zeros(1), belief=np.array([1.0, 3.0])))
    0.25
    """
    return _entry(template, tuple(bundles.items()))


def _annotations(function: Any) -> dict[str, str]:
    return {
        name: kind if isinstance(kind, str) else kind.__name__
        for name, kind in inspect.get_annotations(function).items()
        if name != "return"
    }


class Call:
    """An entry with what it holds. It keeps its arrays; keep it while compiled code has its
    address.
    """

    def __init__(
        self, entry: Entry, when: str, sets: Sequence[Mapping[str, Any]], each: bool = False
    ) -> None:
        self._entry, self._sets, self._each = entry, sets, each
        self._frames: list[NDArray[np.int64]] = []
        self._later = when == LATER and tiers.setting() == "background"
        self._free = [
            name for name in entry.parameters if name not in sets[0] and name not in entry.bundles
        ]
        self._run: Callable[..., Any] = self._interpret if self._later else self._first

    def __call__(self, *numbers: Any) -> Any:
        return self._run(*numbers)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a call holds addresses of this process: let each copy make its own")

    def compile(self) -> None:
        """Compile now what has not been compiled yet."""
        if tiers.setting() != "never":
            self._run = functools.partial(self._code.function(), self._laid_out())

    @property
    def address(self) -> Address:
        """For `call_address`, with two whole numbers and a real one."""
        if tiers.setting() == "never":
            return Address(self._interpreted, 0)
        code = _code(self._entry, self._kinds(), tuple(self._free), "called")
        return Address(code.function().address, self._laid_out())

    def _first(self, *numbers: Any) -> Any:
        if tiers.setting() == "never":
            self._run = self._interpreted
        else:
            self.compile()
        return self._run(*numbers)

    def _interpreted(self, *numbers: Any) -> Any:
        """Interpreted code works on NumPy's numbers, which warn where 64-bit counters wrap and
        where logarithms reach zero.
        """
        free = dict(zip(self._free, numbers, strict=True))
        with np.errstate(all="ignore"):
            for held in self._sets:
                result = self._entry.template(**self._entry.bundles, **held, **free)
        return None if self._each else result

    def _interpret(self, *numbers: Any) -> Any:
        """Interpret while the compiled code is not there."""
        if tiers.is_warm():
            if self._code.loaded is not None:
                self.compile()
                return self._run(*numbers)
            tiers.want(self._code)
        start = time.thread_time()
        result = self._interpreted(*numbers)
        tiers.count(time.thread_time() - start)
        return result

    @functools.cached_property
    def _code(self) -> Code:
        how = "each" if self._each else "entered"
        return _code(self._entry, self._kinds(), tuple(self._free), how)

    def _kinds(self) -> Held:
        first, *others = (
            tuple(
                (name, _structure(value), tuple(map(_kind, leaves(value))))
                for name, value in held.items()
            )
            for held in self._sets
        )
        if any(other != first for other in others):
            raise ValueError("sets of arrays for one call must be of the same kinds")
        return first

    def _laid_out(self) -> int:
        """The address of the frame, or of how many there are and the address of each."""
        if not self._frames:
            self._frames = [_frame(held) for held in self._sets]
            if self._each:
                each = [frame.ctypes.data for frame in self._frames]
                self._frames.append(np.array([len(each), *each], dtype=np.int64))
        return self._frames[-1].ctypes.data


def _frame(held: Mapping[str, Any]) -> NDArray[np.int64]:
    """The words of arrays, records and numbers."""
    words: list[int] = []
    for leaf in leaves(tuple(held.values())):
        if isinstance(leaf, np.ndarray):
            words += (leaf.ctypes.data, *leaf.shape)
        elif isinstance(leaf, float):
            words.append(int(np.float64(leaf).view(np.int64)))
        else:
            words.append(int(leaf))
    return np.array(words, dtype=np.int64)


def leaves(value: Any) -> Iterator[Any]:
    """The arrays and numbers in a record, records inside it included, in order.

    >>> list(leaves((1, (2.0, (True, 3)))))
    [1, 2.0, True, 3]
    """
    if isinstance(value, tuple):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def named_leaves(record: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The arrays and numbers of a NamedTuple by name, those of records inside it by both names.

    >>> from belman.policies import Phases
    >>> [name for name, _ in named_leaves(Phases().memory(2, 2))]
    ['first_nothing', 'then_nothing', 'switched', 'doubt']
    """
    for name, part in zip(record._fields, record, strict=True):
        if isinstance(part, tuple):
            yield from named_leaves(part, f"{prefix}{name}_")
        else:
            yield f"{prefix}{name}", part


def with_leaves(record: Any, others: Iterator[Any]) -> Any:
    """A record like this one, made of other arrays and numbers.

    >>> with_leaves((1, (2.0, 3)), iter("abc"))
    ('a', ('b', 'c'))
    """
    if not isinstance(record, tuple):
        return next(others)
    parts = [with_leaves(part, others) for part in record]
    return type(record)(*parts) if hasattr(record, "_fields") else tuple(parts)


class Kind(NamedTuple):
    """What lies at a place of a frame: an array of some type and dimensions, or a number."""

    type: str
    dimensions: int | None

    @property
    def words(self) -> int:
        """How many it takes: the address and the shape of an array, or the number."""
        return 1 + (self.dimensions or 0)

    def read(self, position: int) -> str:
        """The expression that reads it in compiled code."""
        if self.dimensions is None:
            view = {"float64": "reals[{}]", "int64": "words[{}]", "bool": "words[{}] != 0"}
            return view[self.type].format(position)
        shape = "".join(f"words[{position + 1 + i}], " for i in range(self.dimensions))
        dtype = "bool_" if self.type == "bool" else self.type
        return f"carray(pointer(words[{position}]), ({shape}), {dtype})"


#: What a call holds: the name of each parameter, its records, and the kinds of its leaves.
Held = tuple[tuple[str, Any, tuple[Kind, ...]], ...]


def _kind(leaf: Any) -> Kind:
    if isinstance(leaf, np.ndarray):
        if not leaf.flags.c_contiguous:
            raise ValueError("compiled code finds arrays by their shapes: they must be contiguous")
        return Kind(leaf.dtype.name, leaf.ndim)
    if isinstance(leaf, (bool, np.bool_)):
        return Kind("bool", None)
    return Kind("float64" if isinstance(leaf, float) else "int64", None)


def _structure(value: Any) -> Any:
    """The classes of a record and of those inside it; None for a leaf."""
    if isinstance(value, tuple):
        return (type(value), *map(_structure, value))
    return None


class Code:
    """The compiled code of an entry that holds things of certain kinds; made or loaded once."""

    def __init__(self, generated: Generated) -> None:
        self.generated = generated
        self.loaded: Any = None

    def function(self) -> Any:
        """The compiled function; made, or loaded from the disk, where that was not done yet."""
        if self.loaded is None:
            with _lock:
                self.loaded = self.loaded or self.generated.load().call
        return self.loaded


@functools.lru_cache(maxsize=4096)
def _code(entry: Entry, held: Held, free: tuple[str, ...], how: str) -> Code:
    given: dict[str, Any] = {"template": entry.template, **entry.bundles}
    arguments = {name: name for name in (*entry.bundles, *free)}
    body: list[str] = []
    position = 0
    for name, structure, kinds in held:
        first = position
        for kind in kinds:
            body.append(f"h{position} = {kind.read(position)}")
            position += kind.words
        positions = itertools.accumulate((kind.words for kind in kinds), initial=first)
        arguments[name] = _rebuilt(structure, (f"h{each}" for each in positions), given)
    views = [f"{view} = carray(pointer(frame), ({position},), {kind})" for view, kind in _VIEWS]
    call = f"template({', '.join(arguments[name] for name in entry.parameters)})"
    types = "".join(f"{kind}, " for kind in ("int64", *(entry.types.get(name) for name in free)))
    decorator = "called({kept})" if how == "called" else f"entered('({types})', {{kept}})"
    if how == "each":
        start = "frames"
        lines = ["count = carray(pointer(frames), (1,), int64)[0]"]
        lines.append("for frame in carray(pointer(frames), (1 + count,), int64)[1:]:")
        lines += [f"    {line}" for line in [*views, *body, call]]
    else:
        start, lines = "frame", [*views, *body, f"return {call}"]
    head = [f"@{decorator}", f"def call({', '.join((start, *free))}):"]
    text = "\n".join([*head, *(f"    {line}" for line in lines)])
    return Code(Generated(text, given))


_VIEWS = (("words", "int64"), ("reals", "float64"))


def _rebuilt(structure: Any, names: Iterator[str], given: dict[str, Any]) -> str:
    """The expression that makes a record of its leaves, or the one leaf."""
    if structure is None:
        return next(names)
    record, *parts = structure
    known = f"R_{record.__name__}_{len(given)}"
    given[known] = record
    return f"{known}({', '.join(_rebuilt(part, names, given) for part in parts)})"
