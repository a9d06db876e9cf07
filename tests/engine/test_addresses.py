"""Code called by address: the same numbers as a plain call, on arrays of any shape, compiled once
and kept on disk.
"""

from __future__ import annotations

import gc
from typing import NamedTuple

import numpy as np
import pytest

from belman.engine import Address, Bundle, bind, call_bound, kernel
from belman.engine import entry as enter
from tests.engine.test_kernels import finish, start

SUM, PUT, SHAPE = 0, 1, 2


class Pair(NamedTuple):
    flat: np.ndarray
    deep: np.ndarray


@kernel
def template(rows, pair, words, what, number, amount):
    """Reads and writes arrays of one to three dimensions."""
    if what == SUM:
        total = amount
        for i in range(rows.shape[0]):
            for j in range(rows.shape[1]):
                total += rows[i, j] * (10 * i + j)
        for value in pair.flat:
            total += value
        return int(total)
    if what == PUT:
        pair.deep[1, 2, number] = amount
        words[number] += np.uint64(1)
        return 0
    return rows.shape[0] * 10_000 + rows.shape[1] * 1_000 + pair.flat.size * 100 + pair.deep.size


@kernel
def loop(hand, calls):
    total = 0
    for i in range(calls):
        total += call_bound(hand, SUM, i, 0.25)
    return total


@kernel
def once(hand, what, number, amount):
    return call_bound(hand, what, number, amount)


def arrays(rows=2, columns=3):
    table = np.arange(1.0, 1.0 + rows * columns).reshape(rows, columns)
    return {
        "rows": table,
        "pair": Pair(np.array([0.5, 1.0]), np.zeros((2, 3, 4))),
        "words": np.zeros(4, np.uint64),
    }


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 2)])
def test_the_callee_finds_and_changes_its_arrays(shape):
    held = arrays(*shape)
    hand, call = bind(template, {}, held), enter(once, {}, {"hand": Address})
    expected = int(
        0.25
        + sum(held["rows"][i, j] * (10 * i + j) for i in range(shape[0]) for j in range(shape[1]))
        + 1.5
    )
    assert call(*hand, SUM, 0, 0.25) == expected
    assert call(*hand, SHAPE, 0, 0.0) == shape[0] * 10_000 + shape[1] * 1_000 + 2 * 100 + 24
    call(*hand, PUT, 3, 7.5)
    assert held["pair"].deep[1, 2, 3] == 7.5 == held["pair"].deep.sum()
    assert held["words"].tolist() == [0, 0, 0, 1]


def test_a_hand_keeps_its_arrays():
    """Nobody else holds them, and others come to lie where they would have been."""
    hand = bind(template, {}, arrays())
    gc.collect()
    others = [np.full((2, 3), 9e9) for _ in range(100)]
    assert enter(loop, {}, {"hand": Address})(*hand, 3) == 3 * 176
    assert len(others) == 100


def test_what_is_not_contiguous_is_refused():
    held = arrays()
    with pytest.raises(ValueError, match="contiguous"):
        bind(template, {}, {**held, "rows": held["rows"].T})


def test_code_with_no_importable_home_lives_on():
    """Made in a function, it is compiled in place; the code must outlive all but the hand."""

    class Made(Bundle):
        def __init__(self, times):
            self.times = times

    @kernel
    def times(x):
        return 3.0 * x

    @kernel
    def act(made, values, what, number, amount):
        return int(made.times(values[number]))

    hands = [
        bind(act, {"made": (Made(times), __name__)}, {"values": np.arange(5.0)}) for _ in range(2)
    ]
    gc.collect()
    assert [enter(once, {}, {"hand": Address})(*hand, 0, 4, 0.0) for hand in hands] == [12, 12]


def test_loops_are_compiled_for_a_family_and_policies_wherever_they_play():
    """Two policies at arms, at a queue and in exploration: three loops, two calls that choose, two
    that advise.
    """
    script = """
        import belman
        from belman.engine import addresses as bound, entries as entry
        players, arms = [belman.UCB1(), belman.Thompson()], [0.5, 0.6]
        belman.simulate(players, belman.problems.bernoulli(arms), 10, 2, progress=False)
        belman.simulate(players, belman.problems.queue(arms, 0.2), 10, 2, progress=False)
        belman.explore(players, belman.problems.bernoulli(arms), 2, budget=10, progress=False)
        loops = [key[0].__name__ for key in entry._entries]
        print(*sorted(name for name in loops if name.endswith("_runs")))
        print(*sorted(key[0].__name__ for key in bound._bound))
        print(all(call.stats.cache_hits for call, _ in bound._bound.values()))
    """
    finish(start(script))
    loops, calls, found = finish(start(script))
    assert loops == "explore_runs play_runs serve_runs"
    assert calls == "call_advice call_advice call_choose call_choose"
    assert found == "True"
