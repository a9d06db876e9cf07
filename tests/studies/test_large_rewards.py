"""No reward that a study accepts breaks it: beliefs can be shown, saved and learnt from."""

from __future__ import annotations

import contextlib
import itertools

import numpy as np
import pytest

from belman import Agent
from belman.agent.agent import agent_of
from belman.dashboard.view import Snapshot, Wanted
from belman.errors import PriorError, RewardError
from belman.families import FAMILIES
from belman.studies import Storage, StudySettings, open_study
from belman.studies.state import State
from belman.studies.views.study_report import report_of
from tests.members import CLOSED

SIZES = [10.0**power for power in (14, 15, 17, 99, 101, 155, 308)]


@pytest.fixture
def storage(tmp_path):
    with contextlib.closing(
        Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    ) as result:
        yield result


@pytest.mark.parametrize("family", CLOSED)
def test_what_is_accepted_can_be_shown(family):
    """One reward of any size, and the largest that is accepted over and over."""
    for sign, size in itertools.product((1, -1), SIZES):
        state = State.begin(StudySettings(["a", "b"], family=family, seed=1))
        agent = agent_of(state.decider)
        with contextlib.suppress(RewardError):
            for _ in range(30):
                agent.tell("a", sign * size)
        if agent.turn > 1:
            Snapshot("shown", state, 0.0).view(Wanted(details=True))
            assert Agent.from_json(agent.to_json()).belief("a") == agent.belief("a")
            agent.tell("b", 1.0)
            agent.ask()


@pytest.mark.parametrize("family", CLOSED)
def test_a_prior_that_is_accepted_can_be_shown(family):
    """One that says nearly nothing, or nearly all, of each of its coordinates."""
    base = np.array(FAMILIES[family]().prior)
    for position, power in itertools.product(range(len(base)), (-12, -6, 6)):
        prior = base.copy()
        prior[position] = (prior[position] or 1.0) * 10.0**power
        try:
            state = State.begin(StudySettings(["a", "b"], family=family, prior=prior, seed=1))
        except PriorError:
            continue
        for told in (False, True):
            with contextlib.suppress(RewardError):
                if told:
                    state.decider.tell("a", 0.5)
            Snapshot("shown", state, 0.0).view(Wanted(details=True))
            assert report_of(state, "shown", 0.0).to_dict()


@pytest.mark.parametrize("family", ["gaussian", "poisson", "geometric"])
def test_a_study_refuses_what_leaves_the_reach_of_its_beliefs(storage, family):
    study = open_study(family, ["a", "b"], family, storage=storage, seed=1)
    ticket = study.ask()
    before = study.number
    with pytest.raises(RewardError, match=r"keeps its precision up to 1e\+15"):
        study.tell(ticket, 1e17)
    with pytest.raises(RewardError, match=r"row 3: .* keeps its precision up to 1e\+15"):
        study.record([("a", 1.0), ("b", 1.0), ("a", 1e17)])
    assert (study.number, study.outstanding) == (before, 1)
    assert study.tell(ticket, 1.0)
    study.check()


def test_steps_that_reach_the_limit_are_refused_at_the_last(storage):
    study = open_study("steps", ["a", "b"], "poisson", storage=storage, seed=1)
    with pytest.raises(RewardError, match="row 11"):
        study.record([("a", 0.96e14)] * 11)
    assert study.number == 1
    assert study.record([("a", 0.96e14)] * 10) == 10
    study.retire_arm("a")
    with pytest.raises(RewardError, match="alpha would be 1"):
        study.record([("a", 0.96e14)])
    study.check()


def test_silence_that_cannot_be_learnt_any_more_is_forgotten(storage):
    """Time cannot be refused: the second and third window close, and the study goes on."""
    now = [0.0]
    study = open_study(
        "late", ["a"], "poisson", storage=storage, window=1.0, silence=6e14, clock=lambda: now[0]
    )
    for turn in range(3):
        now[0] = 10.0 * turn
        study.ask()
    now[0] = 100.0
    assert (study.outstanding, study.agent().belief("a")) == (0, (6e14 + 1.0, 2.0))
    study.check()
