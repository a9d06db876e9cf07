"""Hostile changes of plain data, and where two pieces of plain data differ."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

_HOSTILE: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 4, 5, 7, 50_000_000, 2**31, 2**53, 2**63 - 1, 2**63, 2**64 - 1, -(2**63),
    10**30, 0.5, -0.0, 1e-320, 1e-300, 1e-9, 1e9, 1e15, 1e16, 1e100, 1e200, 1.7e308, -1.7e308,
    "inf", "-inf", "nan", "", "0", "a", "1e999999999", "1/0", None, True, False,
    [], {}, [1, 50_000_000], [[1.0]], {"name": "belman"},
    {"name": "phases"}, {"tuple": []}, {"repr": "x"},
)  # fmt: skip


def mutated(content: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A copy with one to three hostile changes."""
    content = dict(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        names = [name for name in content if name not in ("format", "version")]
        if not names:
            break
        name = rng.choice(names)
        content[name] = _copy(content[name])
        _change(*_position(content, name, rng), rng)
    return content


def _position(holder: Any, key: Any, rng: random.Random) -> tuple[Any, Any]:
    """A place in plain data, here or further in."""
    while isinstance(holder[key], (dict, list)) and holder[key] and rng.random() < 0.9:
        holder = holder[key]
        key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    return holder, key


def _change(holder: Any, key: Any, rng: random.Random) -> None:
    old, kind = holder[key], rng.randrange(8)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, _copy(rng.choice(holder)))
    elif kind == 2 and isinstance(holder, list):
        del holder[key]
    elif kind == 3 and isinstance(old, (int, float)) and not isinstance(old, bool):
        holder[key] = rng.choice((-old, old + 1, old * 1e6, old / 3, old - 1, old * 1e-12))
    else:
        holder[key] = _copy(rng.choice(_HOSTILE))


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))  # which is faster than copy.deepcopy


def differences(said: Any, kept: Any, position: str = "") -> Iterator[str]:
    """Where what was kept is not what was said; 1 and 1.0 are the same, and 1 and true are not."""
    if isinstance(said, dict) and isinstance(kept, dict):
        for name in said.keys() | kept.keys():
            inner = f"{position}/{name}"
            if name in said and name in kept:
                yield from differences(said[name], kept[name], inner)
            else:
                yield f"{inner} was {'left out' if name in said else 'put in'}"
    elif isinstance(said, list) and isinstance(kept, list) and len(said) == len(kept):
        for number, (one, other) in enumerate(zip(said, kept, strict=True)):
            yield from differences(one, other, f"{position}/{number}")
    elif _value(said) != _value(kept) or isinstance(said, bool) != isinstance(kept, bool):
        yield f"{position} was {said!r} and is {kept!r}"


def _value(said: Any) -> Any:
    """A whole number as the float that it is kept as, which may be another far from 0."""
    return float(said) if type(said) is int and abs(said) < 2**1000 else said
