"""The distribution of delays beside a slow twin that remembers every ticket."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belman import codec
from belman.delays import DelayDistribution
from belman.delays.counts import CELLS, PRIOR
from belman.errors import SettingError, StateError

WINDOW = 256.0  # a cell is a second


class Twin:
    """Every ticket in a list: (arm, asked, told or None)."""

    def __init__(self):
        self.tickets, self.now = [], -math.inf

    def cell_ages(self):
        """(arm, age in cells, cell of the delay or None) of every open ticket."""
        for arm, asked, told in self.tickets:
            age = min(math.floor(self.now) - math.floor(asked), CELLS)
            yield arm, age, None if told is None else min(int(told - asked), CELLS - 1)

    def cdf(self, complete):
        """The product limit, cell by cell, from the tickets themselves."""
        told = [(age, delay) for _, age, delay in self.cell_ages() if delay is not None]
        told += [(CELLS, delay) for delay in complete]
        result = [1.0]
        for s in reversed(range(1, CELLS)):
            events = sum(delay == s for _, delay in told)
            risk = sum(
                (delay <= s) * (1.0 if age > s else 0.5 if age == s else 0.0) for age, delay in told
            )
            below, above = math.sqrt(s / CELLS), math.sqrt((s + 1) / CELLS)
            hazard = (events + PRIOR * (above - below)) / (max(risk, events) + PRIOR * above)
            result.append(result[-1] * (1.0 - hazard))
        return np.array([0.0, *result[::-1]])


@st.composite
def histories(draw):
    """Steps of time, in which tickets go out, are told, or close."""
    return draw(
        st.lists(
            st.tuples(
                st.floats(0.0, 90.0),
                st.sampled_from("aaatc"),
                st.integers(0, 2),
                st.integers(0, 99),
            ),
            min_size=1,
            max_size=60,
        )
    )


@settings(max_examples=30, deadline=None)
@given(histories())
def test_counts_are_those_of_a_twin_that_remembers_every_ticket(history):
    distribution, twin, complete = DelayDistribution(WINDOW, 3), Twin(), []
    now = 1000.0
    for step, kind, arm, pick in history:
        now += step
        twin.now = now
        distribution._calls.advance(distribution.cell(now))
        silent = [i for i, ticket in enumerate(twin.tickets) if ticket[2] is None]
        if kind == "a" or not twin.tickets:
            distribution.asked(arm, now)
            twin.tickets.append((arm, now, None))
        elif kind == "t" and silent:
            which = silent[pick % len(silent)]
            who, asked, _ = twin.tickets[which]
            if now - asked <= WINDOW:
                distribution.told(who, asked, now)
                twin.tickets[which] = (who, asked, now)
        elif kind == "c":
            who, asked, told = twin.tickets.pop(pick % len(twin.tickets))
            distribution.closed(who, asked, told)
            if told is not None:
                complete.append(min(int(told - asked), CELLS - 1))
    counts = distribution.counted
    open_tickets = list(twin.cell_ages())
    for a in range(3):
        ages = np.bincount(
            [age for who, age, delay in open_tickets if who == a and delay is None],
            minlength=CELLS + 1,
        )
        slots = [*((int(counts.head[0]) - d) % CELLS for d in range(CELLS)), CELLS]
        assert counts.silent[a, slots].tolist() == ages.tolist()
    assert distribution.cdf(now) == pytest.approx(twin.cdf(complete), abs=1e-12)
    again = codec.read(DelayDistribution, json.loads(json.dumps(codec.write(distribution))), {})
    assert codec.write(again) == codec.write(distribution)
    beliefs = np.full((3, 2), 2.0)
    assert (again.counts(now, beliefs) == distribution.counts(now, beliefs)).all()


def test_truncated_delays_estimate_the_distribution_they_were_cut_from():
    """Asks over half a window more than one: what is open is cut at its age, and F is found.

    20,000 delays: the error of a Kaplan-Meier curve is below 4/√n with chance 0.9999.
    """
    rng = np.random.default_rng(3)
    distribution = DelayDistribution(WINDOW, 1)
    asked = np.sort(rng.uniform(0.0, 1.5 * WINDOW, 20_000))
    delays = rng.exponential(64.0, 60_000)
    delays = delays[delays < WINDOW][: asked.size]
    now = 1.5 * WINDOW
    for when, delay in zip(asked, delays, strict=True):
        distribution.asked(0, when)
        if when + delay <= now:
            distribution.told(0, when, when + delay)
    truth = -np.expm1(-np.arange(CELLS + 1) / 64.0) / -math.expm1(-4.0)
    assert np.abs(distribution.cdf(now) - truth).max() < 4.0 / math.sqrt(20_000) + 0.5 / CELLS
    seen = delays[asked + delays <= now]
    naive = np.searchsorted(np.sort(seen), np.arange(CELLS + 1)) / seen.size
    assert np.abs(naive - truth).max() > 0.05  # what was seen is too short


def test_what_is_taken_back_leaves_no_trace():
    distribution = DelayDistribution(60.0, 2)
    distribution.asked(1, 3.0)
    before = codec.write(distribution)
    distribution.told(1, 3.0, 9.0)
    distribution.untold(1, 3.0, 9.0)
    assert codec.write(distribution) == before


def test_an_arm_more():
    distribution = DelayDistribution(60.0, 1)
    distribution.asked(0, 0.0)
    distribution.add_arm()
    distribution.asked(1, 1.0)
    assert distribution.counted.silent.sum(axis=1).tolist() == [1, 1]


@pytest.mark.parametrize("window", [0.0, -1.0, math.inf, math.nan, "1"])
def test_windows_that_are_none(window):
    with pytest.raises(
        SettingError,
        match="is not valid for a distribution of delays: it must be a positive number",
    ):
        DelayDistribution(window, 2)


def test_a_copy_goes_its_own_way():
    distribution = DelayDistribution(60.0, 2)
    distribution.asked(1, 3.0)
    other = codec.copied(distribution)
    before = codec.write(distribution)
    other.asked(0, 4.0)
    other.add_arm()
    assert codec.write(distribution) == before
    distribution.asked(1, 3.0)
    assert other.counted.silent.sum(axis=1).tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("silent", [["runs", [0, 257]]] * 3, "not those of 2 arms"),
        ("silent", [["runs", [0, 2]]] * 2, "2 values, and 257 are needed"),
        ("silent", [["runs", [0, 257]], [0]], "1 values, and 257 are needed"),
        ("silent", [["runs", [-1, 257]]] * 2, "stands where a number from 0"),
        ("silent", [["runs", [0.5, 257]]] * 2, "'0.5' stands where a number belongs"),
        ("silent", [["runs", [0, 2**60]]] * 2, "are too long"),
        ("successes", ["runs", [0, 10**9]], "are too long"),
        ("successes", [0], "not those of 2 arms"),
        ("delays", ["runs", [2**61, 256]], "stands where a number from 0"),
        ("head", [2**61], "stands where a number from"),
        ("told", None, "'None' stands where a column belongs"),
    ],
)
def test_counts_that_kernels_would_follow_out_of_bounds_are_refused(name, content, words):
    plain = codec.write(DelayDistribution(60.0, arms=2))
    assert plain["counted"].keys() >= {name}
    with pytest.raises(StateError, match=words):
        codec.read(DelayDistribution, plain | {"counted": plain["counted"] | {name: content}}, {})


def test_a_distribution_without_its_counts_is_refused():
    plain = codec.write(DelayDistribution(60.0, 1))
    del plain["counted"]["silent"]
    with pytest.raises(StateError, match="missing, or too many: silent"):
        codec.read(DelayDistribution, plain, {})


def test_a_distribution_knows_the_tickets_that_it_counts():
    distribution = DelayDistribution(60.0, arms=2)
    tickets = [(0, 1.0, None), (1, 2.0, 9.0), (1, 3.0, None)]
    for arm, asked, _ in tickets:
        distribution.asked(arm, asked)
    distribution.told(1, 2.0, 9.0)
    assert distribution.is_of(tickets)
    distribution.asked(0, 55.0)  # by which time the first are in other cells of the ring
    distribution.asked(0, 64.0)
    tickets += [(0, 55.0, None), (0, 64.0, None)]
    assert distribution.is_of(tickets)
    assert not distribution.is_of(tickets[1:])
    assert not distribution.is_of([(1, 1.0, None), *tickets[1:]])
    assert not distribution.is_of([(0, 1.0, 2.0), *tickets[1:]])
    distribution.closed(0, 1.0)
    distribution.closed(1, 2.0, 9.0)
    assert distribution.is_of(tickets[2:])
