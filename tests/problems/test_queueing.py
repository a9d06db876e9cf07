"""The doors of a queue: loads that nobody can bear, the start, and settings that make no queue."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import belman
from belman.errors import SettingError
from belman.problems.queueing import UnstableQueueWarning


def test_an_unstable_system_warns_and_the_result_says_so():
    with pytest.warns(UnstableQueueWarning, match=r"1\.2 times"):
        problem = belman.problems.queue([0.5, 0.3], 0.6)
    result = belman.simulate([belman.policies.Random()], problem, horizon=50, runs=2, seed=1)
    assert json.loads(result.attrs["problem"])["stable"] is False


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"services": [0.5, 1.2], "arrivals": 0.3}, "1.2"),
        ({"services": [0.5, -0.1], "arrivals": 0.3}, "-0.1"),
        ({"services": [0.5, np.nan], "arrivals": 0.3}, "nan"),
        ({"services": [0.5, 0.4], "arrivals": 1.5}, "1.5"),
        ({"services": [[0.5, 0.4], [0.3]], "arrivals": [0.1, 0.1]}, "rows of equal length"),
        ({"services": [[0.5, 0.4], [0.3, 0.2]], "arrivals": 0.1}, "a list of 2 rates"),
        ({"services": [0.5, 0.4], "arrivals": [0.1, 0.1]}, "one rate"),
        ({"services": [], "arrivals": 0.1}, "shape"),
        ({"services": [[[0.5]]], "arrivals": 0.1}, "shape"),
        ({"services": ["fast"], "arrivals": 0.1}, "fast"),
        ({"services": [0.5], "arrivals": "often"}, "often"),
        ({"services": [0.5], "arrivals": 0.1, "arrival_distribution": "poison"}, "poisson"),
        ({"services": [0.5], "arrivals": 0.1, "service_distribution": "gamma"}, "geometric"),
        ({"services": [0.5], "arrivals": 0.1, "weighting": "lengths"}, "did you mean 'length'"),
        ({"services": [0.5, 0.0], "arrivals": 0.1, "service_distribution": "geometric"}, "above 0"),
        (
            {
                "services": [0.5],
                "arrivals": 0.1,
                "service_distribution": "geometric",
                "serves_empty": True,
            },
            "no job to size",
        ),
    ],
)
def test_bad_input_is_refused(settings, words):
    with pytest.raises(SettingError, match=words):
        belman.problems.queue(**settings)


def test_the_start_is_computed_or_burnt_in():
    """Bernoulli arrivals and services: the stationary distribution solves its balance equations;
    otherwise the genie plays first.
    """
    problem = belman.problems.queue([0.5, 0.3], 0.35, arrival_distribution="bernoulli")
    turns, (ratio,) = problem.start
    up, down = 0.35 * 0.5, 0.5 * 0.65
    assert turns == 0
    assert ratio == pytest.approx(up / down)
    for other in (
        belman.problems.queue([0.5, 0.3], 0.35),
        belman.problems.queue(
            [0.5, 0.3], 0.35, arrival_distribution="bernoulli", service_distribution="geometric"
        ),
        belman.problems.queue(
            [[0.5, 0.3], [0.3, 0.5]],
            [0.35, 0.1],
            arrival_distribution="bernoulli",
            weighting="length",
        ),
    ):
        turns, ratios = other.start
        assert turns >= 200
        assert (ratios == 0).all()
    busy, calm = belman.problems.queue([0.5], 0.49), belman.problems.queue([0.5], 0.1)
    assert busy.start[0] > 100 * calm.start[0]


def test_what_matching_by_lengths_can_bear():
    """One server for two queues: both bear half of it; a fixed matching leaves one queue alone."""
    rates = [[0.8], [0.8]]
    fair = belman.problems.queue(rates, [0.39, 0.39], weighting="length")
    assert fair.load == pytest.approx([0.975, 0.975])
    with pytest.warns(UnstableQueueWarning):
        assert belman.problems.queue(rates, [0.41, 0.41], weighting="length").stable is False
    with pytest.warns(UnstableQueueWarning):
        assert np.isinf(belman.problems.queue(rates, [0.39, 0.39]).load).any()


@pytest.mark.parametrize("constants", ["bernoulli", "geometric", "exponential"])
def test_a_queue_travels_to_other_processes(constants):
    problem = belman.problems.queue(
        [[0.5, 0.3], [0.2, 0.4]], [0.2, 0.1], service_distribution=constants
    )
    there = pickle.loads(pickle.dumps(problem))
    assert there == problem
    assert hash(there) == hash(problem)
    assert there.family.kernels is problem.family.kernels
