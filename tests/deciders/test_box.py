"""A box takes points that are in it, and nothing else."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import belman
from belman.deciders.box.contexts import Contexts
from belman.errors import SettingError

NUMBERS = st.floats(-1e6, 1e6)


def test_contexts_are_kept_as_numbers_and_words():
    contexts = Contexts(["age", "member", "country", "device"])
    given = {"age": np.int64(41), "member": True, "country": np.str_("fr"), "device": None}
    kept = contexts.check(given)
    assert kept == {"age": 41.0, "member": "True", "country": "fr", "device": None}
    assert [type(one) for one in kept.values()] == [float, str, str, type(None)]
    assert contexts.check({"age": math.nan, "member": np.False_})["member"] == "False"
    contexts.meet(kept)
    with pytest.raises(SettingError, match="age is a number here"):
        contexts.check({"age": "old"})


@given(NUMBERS, st.floats(1e-6, 1e6), st.floats(0, 1))
def test_a_position_is_a_point_and_back(low, width, at):
    box = belman.Box(size=(low, low + width))
    point = box.point([at])
    ends = box.sides["size"]
    assert ends[0] <= point["size"] <= ends[1]
    rounding = 4e-16 * (abs(ends[0]) + abs(ends[1])) / (ends[1] - ends[0])
    assert math.isclose(box.position(point)[0], at, abs_tol=rounding + 1e-15)


def test_boxes_are_what_their_sides_are():
    assert belman.Box(a=(0, 1)) == belman.Box(a=(0.0, 1.0)) != belman.Box(a=(0, 2))
    assert len({belman.Box(a=(0, 1)), belman.Box(a=(0, 1))}) == 1
    assert repr(belman.Box(a=(0, 1), b=(2, 3))) == "Box(a=(0, 1), b=(2, 3))"


@pytest.mark.parametrize(
    ("sides", "words"),
    [
        ({}, "one to 10 sides"),
        (dict.fromkeys("abcdefghijk", (0, 1)), "one to 10 sides"),
        ({"reward": (0, 1)}, "tables have a column of that name"),
        ({"a": (1, 1)}, "low below high"),
        ({"a": (2, 1)}, "low below high"),
        ({"a": (0, math.inf)}, "finite"),
        ({"a": (-1.7e308, 1.7e308)}, "finite"),
        ({"a": (math.nan, 1)}, "finite"),
        ({"a": 3}, "give .low, high."),
        ({"a": ("low", "high")}, "give .low, high."),
        ({"a": (1, 2, 3)}, "give .low, high."),
    ],
)
def test_what_is_no_box_is_refused(sides, words):
    with pytest.raises(SettingError, match=words):
        belman.Box(**sides)


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ({"price": 4.9}, "outside: it goes from 5 to 20"),
        ({"price": math.nan}, "outside"),
        ({"price": True}, "outside"),
        ({"price": "12"}, "outside"),
        ({}, "'price' is missing"),
        ({"price": 6, "prize": 7}, "did you mean 'price'"),
        (12, "give a number for each side"),
    ],
)
def test_what_is_no_point_is_refused(point, words):
    with pytest.raises(SettingError, match=words):
        belman.Box(price=(5, 20)).position(point)
