"""A reward declared as an expression: its value, and all that it may not hold."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belman.errors import RewardError, SettingError
from belman.studies.rules.utility import Utility

METRICS = {"margin": 3.0, "latency": 0.5, "refund": 0.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("margin - 0.2*latency", 2.9),
        ("(margin - refund)/2 + -latency", 1.0),
        ("max(margin, 10*latency, 1) ** 2", 25.0),
        ("log(exp(margin)) + sqrt(4*latency*2) + abs(-latency) - min(1, margin)", 4.5),
        ("  margin ", 3.0),
    ],
)
def test_an_expression_has_the_value_that_it_says(text, value):
    assert math.isclose(Utility(text)(METRICS), value, rel_tol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "margin -",
        "margin; latency",
        "margin.real",
        "margin[0]",
        "__import__('os')",
        "open(margin)",
        "margin if latency else refund",
        "[margin for margin in latency]",
        "lambda: margin",
        "margin and latency",
        "margin < 3",
        "margin := 3",
        "'margin'",
        "True * margin",
        "3j * margin",
        "max(margin)",
        "max(*margin)",
        "abs(margin, latency)",
        "min(margin, key=latency)",
        "max",
        "(" * 150 + "margin" + ")" * 150,
        "margin + " * 40 + "margin",
        "margin\0",
        None,
        7,
    ],
)
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(SettingError, match="reward="):
        Utility(text)


def test_signs_may_nest_as_deep_as_the_length_allows():
    assert Utility("-" * 250 + "margin")(METRICS) == 3.0


@pytest.mark.parametrize(
    ("text", "metrics", "words"),
    [
        ("margin - latency", {"margin": 1.0, "latencyy": 2.0}, "did you mean 'latencyy'"),
        ("margin", {}, "no metrics were given"),
        ("1/refund", METRICS, "division by zero"),
        ("log(refund)", METRICS, "log"),
        ("(-margin) ** latency", METRICS, "reward"),
        ("exp(1000*margin)", METRICS, "reward"),
        ("1e308*margin*10", METRICS, "inf"),
    ],
)
def test_what_has_no_value_is_refused_with_its_reason(text, metrics, words):
    with pytest.raises(RewardError, match=words):
        Utility(text)(metrics)


def test_equal_expressions_are_equal_however_they_are_spaced():
    assert Utility("a+b*2") == Utility(" a + b * 2")
    assert hash(Utility("a+b*2")) == hash(Utility("a + b*2"))
    assert Utility("a+b") != Utility("b+a")


@given(st.text(alphabet="ab01.+-*/() ,maxlog_'[]{}:=", max_size=40))
def test_whatever_a_stranger_writes_is_read_or_refused(text):
    """Never another error, and never anything but a finite number."""
    try:
        utility = Utility(text)
    except SettingError:
        return
    with contextlib.suppress(RewardError):
        assert math.isfinite(utility(dict.fromkeys(utility.names, 2.0)))
