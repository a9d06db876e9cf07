"""A policy may be given by its name, wherever one is."""

from __future__ import annotations

from contextlib import closing

import pytest

import belman
from belman.errors import PolicyError
from belman.policies.dependent import LinUCB
from belman.studies import Storage


def test_an_agent_of_a_name_is_that_of_the_policy():
    result = belman.Agent(["a", "b"], policy="thompson")
    assert result.policy == belman.Thompson()
    result.policy = "belman-paper"
    assert result.policy == belman.BelMan.paper()
    assert belman.Agent(["a", "b"], policy="q-ths").policy.name == "forced"
    assert belman.Agent(["a", "b"], segments=["x"], policy="thompson").policy == belman.Thompson()
    assert belman.Agent(["a", "b"], context=["x"], policy="lin-ucb").policy == LinUCB()
    assert repr(belman.Dispatcher(["s"], policy="greedy")) == repr(
        belman.Dispatcher(["s"], policy=belman.policies.Greedy())
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"policy": "tompson"}, "did you mean 'thompson'"),
        ({"policy": "bernoulli"}, "policy"),
        ({"policy": "lin-ucb"}, "it is for arms with features"),
        ({"policy": "thompson", "context": ["x"]}, "not a policy for arms with features"),
    ],
)
def test_a_name_of_no_policy_that_fits_is_refused(settings, words):
    with pytest.raises(PolicyError, match=words):
        belman.Agent(["a", "b"], **settings)


def test_a_study_is_created_opened_and_changed_by_names(tmp_path):
    with closing(Storage(f"sqlite:///{tmp_path}/studies.db")) as storage:
        study = belman.open_study("page", ["a", "b"], policy="thompson", storage=storage)
        assert study.policy == belman.Thompson()
        belman.open_study("page", policy="thompson", storage=storage)
        with pytest.raises(belman.errors.SettingError, match="was created with policy"):
            belman.open_study("page", policy="ucb1", storage=storage)
        even = belman.open_study("even", ["a", "b"], policy="random", storage=storage, seed=1)
        for _ in range(300):
            even.tell(even.ask(), 1)
        assert even.replay("random", seed=3) == even.replay(belman.policies.Random(), seed=3)
        study.set_policy("belman")
        assert belman.open_study("page", storage=storage).policy == belman.BelMan()
        along = belman.open_study("along", ["a"], policy="lin-ucb", context=["x"], storage=storage)
        assert along.settings.policy == LinUCB()
