"""The codec: what is read was written, and what cannot be is refused before it is built."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import pytest

from belman import codec
from belman.codec import COLUMNS, Count
from belman.errors import StateError


class Pair(NamedTuple):
    one: Count
    other: str


Pairs = Annotated[dict[Count, Pair], COLUMNS]


def test_columns_are_written_in_runs_and_read():
    result = {number: Pair(7, "a") for number in range(1, 1_000)}
    content = codec.write(result, Pairs)
    assert content["one"] == ["runs", [7, 999]]
    assert codec.read(Pairs, content, {}) == result


@pytest.mark.parametrize("rows", [2**24 + 1, 2**40, 2**53, -1, True])
def test_columns_that_would_fill_the_memory_are_refused(rows):
    content = {"rows": rows, "key": ["runs", [1, rows]], "one": ["runs", [7, rows]]}
    with pytest.raises(StateError, match="whole number from 0 to 16777216"):
        codec.read(Pairs, {**content, "other": ["runs", ["a", rows]]}, {})


def test_a_key_that_is_there_twice():
    with pytest.raises(StateError, match="twice"):
        codec.read(dict[Count, str], [[1, "a"], [1, "b"]], {})
