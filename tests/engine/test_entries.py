"""Entries: what they hold, how they are typed, and what is called by address."""

from __future__ import annotations

import copy
import gc
import pickle
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from belman.engine import FIRST, LATER, Bundle, entry, kernel, leaves, with_leaves
from belman.families import bernoulli
from tests.engine.loops import PUT, SHAPE, SUM, Nest, Pair, act, add, loop, mixed, once, turns
from tests.engine.processes import finish, start


def arrays(rows=2, columns=3):
    table = np.arange(1.0, 1.0 + rows * columns).reshape(rows, columns)
    return {
        "rows": table,
        "pair": Pair(np.array([0.5, 1.0]), np.zeros((2, 3, 4))),
        "words": np.zeros(4, np.uint64),
    }


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 2)])
def test_what_is_called_by_address_finds_and_changes_its_arrays(shape):
    held = arrays(*shape)
    callee = entry(act).hold(**held)
    call = entry(once).hold(callee=callee.address)
    cells = [(i, j) for i in range(shape[0]) for j in range(shape[1])]
    expected = int(0.25 + sum(held["rows"][i, j] * (10 * i + j) for i, j in cells) + 1.5)
    assert call(SUM, 0, 0.25) == expected
    assert call(SHAPE, 0, 0.0) == shape[0] * 10_000 + shape[1] * 1_000 + 2 * 100 + 24
    call(PUT, 3, 7.5)
    assert held["pair"].deep[1, 2, 3] == 7.5 == held["pair"].deep.sum()
    assert held["words"].tolist() == [0, 0, 0, 1]


def test_a_call_keeps_its_arrays():
    """Nobody else holds them, and others come to lie where they would have been."""
    callee = entry(act).hold(**arrays())
    address = callee.address
    gc.collect()
    others = [np.full((2, 3), 9e9) for _ in range(100)]
    assert entry(loop)(callee=address, calls=3) == 3 * 176
    assert len(others) == 100


def test_what_is_not_contiguous_is_refused():
    held = arrays()
    with pytest.raises(ValueError, match="contiguous"):
        _ = entry(act).hold(**{**held, "rows": held["rows"].T}).address


@pytest.mark.parametrize("when", [FIRST, LATER])
@pytest.mark.parametrize("inverted", [False, True])
def test_numbers_of_every_type_held_and_free(when, inverted):
    """Records inside records, and numbers in them; interpreted and compiled."""
    nest = Nest(Pair(np.array([1.0, 2.0, 4.0]), np.full((1, 1), 0.125)), 3.0, inverted)
    call = entry(mixed).hold(when, nest=nest, mask=np.array([True, False, True]))
    total = 3.0 * (2.0 if inverted else 5.0)
    assert call(7, 0.5, True) == total + 0.125 + 7 + 0.5
    assert call(7, 0.5, False) == -total


def test_calls_of_the_same_kinds_share_their_code():
    first, second = (entry(act).hold(**arrays(rows)) for rows in (2, 5))
    assert first.address.code == second.address.code
    assert first.address.frame != second.address.frame


@pytest.mark.parametrize("when", [FIRST, LATER])
def test_one_call_goes_through_sets_of_arrays(when):
    """Of any shapes, each with its own number; interpreted and compiled."""
    sets = [{"row": np.zeros(size), "times": float(size)} for size in (2, 5, 1)]
    call = entry(add).hold_each(when, sets)
    call(1.5)
    call.compile()
    call(0.5)
    assert [held["row"].tolist() for held in sets] == [[4.0] * 2, [10.0] * 5, [2.0]]


def test_sets_of_other_kinds_are_refused():
    call = entry(add).hold_each(
        FIRST, [{"row": np.zeros(2), "times": kind(1)} for kind in (float, int)]
    )
    with pytest.raises(ValueError, match="same kinds"):
        call(1.5)


def test_a_call_is_not_copied():
    """A copy of its arrays would not be where it looks for them."""
    call = entry(act).hold(**arrays())
    for how in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="let each copy make its own"):
            how(call)


def test_a_name_that_the_template_lacks_is_refused():
    with pytest.raises(TypeError, match="act takes no row"):
        entry(act).hold(row=np.zeros(1))


def test_records_are_made_anew_of_other_leaves():
    nest = Nest(Pair(1, 2), 3.0, False)
    assert list(leaves(nest)) == [1, 2, 3.0, False]
    assert with_leaves(nest, iter("abcd")) == Nest(Pair("a", "b"), "c", "d")


@kernel
def _ask(family, constants, belief):
    return family.expected_reward(constants, belief)


def test_kernels_with_no_importable_home():
    """Made in a function, they are compiled in place, without the cache."""

    @kernel
    def constant(constants, belief):
        return 3.5

    mine = replace(bernoulli.KERNELS, expected_reward=constant)
    assert entry(_ask, family=mine)(constants=np.zeros(1), belief=np.array([1.0, 3.0])) == 3.5


def test_code_with_no_importable_home_lives_on():
    """Made in a function, it is compiled in place; the code must outlive all but the call."""

    @dataclass(frozen=True)
    class Made(Bundle):
        times: Any

    @kernel
    def times(x):
        return 3.0 * x

    @kernel
    def take(made, values, what, number, amount):
        return int(made.times(values[number]))

    callees = [entry(take, made=Made(times)).hold(values=np.arange(5.0)) for _ in range(2)]
    gc.collect()
    assert [entry(once).hold(callee=each.address)(0, 4, 0.0) for each in callees] == [12, 12]


@pytest.mark.parametrize("setting", ["first", "background", "never"])
def test_kernels_of_main(setting):
    script = """
        import numpy as np
        from dataclasses import replace
        from belman.engine import kernel
        from belman.families import Bernoulli, bernoulli

        @kernel
        def mean_quantile(distribution, belief, level, upper):
            return 10.0 * belief[0]

        class Mine(Bernoulli):
            kernels = replace(bernoulli.KERNELS, mean_quantile=mean_quantile)

        for family in (Mine(), Bernoulli()):
            print(family.mean_intervals(np.array([[1.0, 1.0]]), 0.25)[0].tolist())
    """
    assert finish(start(script, BELMAN_COMPILE=setting)) == ["[10.0]", "[0.25]"]


def test_loops_are_compiled_for_a_family_and_policies_wherever_they_play():
    """Two policies at arms, at a queue and in exploration: three loops, two that choose, two that
    advise; and a second process compiles none of them. They are kept where tests of the lab find
    them, which play the same.
    """
    script = """
        from belman.engine import cache
        load, loaded = cache.load, {}

        def noted(path):
            made = load(path)
            found = made.call.cache_hits if hasattr(made.call, "cache_hits") else made.call.stats[0]
            loaded[path] = bool(found)
            return made

        cache.load = noted
        import belman
        from belman import problems
        players, arms = [belman.policies.UCB1(), belman.Thompson()], [0.5, 0.6]
        belman.simulate(players, problems.bernoulli(arms), 10, 2, progress=False)
        belman.simulate(players, problems.queue(arms, 0.2), 10, 2, progress=False)
        belman.explore(players, problems.bernoulli(arms), 2, budget=10, progress=False)
        for path, kept in loaded.items():
            print(kept, path)
    """
    first, second = (
        {path: kept for kept, _, path in (line.partition(" ") for line in finish(start(script)))}
        for _ in range(2)
    )
    texts = "".join(Path(path).read_text() for path in first)
    names = ["play_runs", "serve_runs", "explore_runs", "call_choose", "call_advice"]
    assert [texts.count(f"'{name}')\n") for name in names] == [1, 1, 1, 2, 2]
    assert second == dict.fromkeys(first, "True")


def test_entries_leave_beliefs_alone():
    belief = np.array([1.0, 1.0])
    entry(turns, family=bernoulli.KERNELS)(constants=np.zeros(1), belief=belief.copy(), count=3)
    assert belief.tolist() == [1.0, 1.0]
