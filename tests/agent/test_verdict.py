"""An agent's control, report and stopping rule; and what its state file keeps of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import belman
from belman.deciders.independent.views import units
from belman.deciders.scale import scale
from belman.errors import ArmError, SettingError
from belman.measures import Separated, lift
from belman.measures.lift import Units
from belman.measures.martingales import no_mixture

START = {"blue": (10_000, 300), "green": (10_000, 381)}


def test_a_report_is_what_the_beliefs_say():
    agent = belman.Agent(["blue", "green"], control="blue", start=START, seed=7)
    result = agent.report(level=0.9)
    wanted = lift(agent.family, agent.belief("green"), agent.belief("blue"), 0.9)
    assert result["green"].lift == wanted
    assert result["blue"].lift is None
    table = agent.beliefs(level=0.9)
    assert result["green"].credible == (table.row("green")["low"], table.row("green")["high"])
    assert result["green"].chance_best == pytest.approx(table.row("green")["P(best)"], abs=1e-6)
    assert agent.verdict().decided
    assert agent.verdict().arm == "green"


def test_costs_on_a_scale():
    agent = belman.Agent(["a", "b"], range=(10.0, 20.0), minimise=True, control="a", seed=1)
    for arm, cost in (("a", 16.0), ("b", 12.0)):
        for _ in range(200):
            agent.tell(arm, cost)
    result = agent.report()
    assert result["b"].average == pytest.approx(12.0)
    assert result["b"].lift.absolute.middle == pytest.approx(-4.0, abs=0.1)
    assert result["b"].lift.relative.middle == pytest.approx(-0.25, abs=0.01)
    assert result["b"].anytime[0] < 12.0 < result["b"].anytime[1]
    assert result.sentence.startswith("b costs 25 % less than a")
    assert result["b"].lift.beats > 0.999
    assert result.leader.arm == "b"


def test_forgetting_has_no_sequences():
    agent = belman.Agent(["a", "b"], discount=0.99, stop_when=belman.measures.Separated(), seed=1)
    agent.tell("a", 1)
    assert agent.report()["a"].anytime is None
    assert "forgets" in agent.verdict().sentence


def test_control_and_rule_are_kept():
    agent = belman.Agent(
        ["a", ("b", 2)], control=("b", 2), stop_when=belman.measures.LossBelow(0.01), seed=1
    )  # fmt: skip
    again = belman.Agent.from_json(agent.to_json())
    assert (again.control, again.stop_when) == (("b", 2), belman.measures.LossBelow(0.01))
    other = belman.Agent.from_json(agent.to_json(), arms=["c", "d"])
    assert other.control == "d"
    plain = json.loads(belman.Agent(["a"], seed=1).to_json())
    assert plain["control"] is None
    assert plain["stop_when"] is None


def test_control_stays_among_the_arms():
    agent = belman.Agent(["a", "b", "c"], control="a", seed=1)
    with pytest.raises(ArmError, match="is the control"):
        agent.retire_arm("a")
    agent.control = "b"
    agent.retire_arm("a")
    with pytest.raises(ArmError, match="unknown arm 'a'"):
        agent.control = "a"
    assert agent.control == "b"


def test_what_is_refused():
    with pytest.raises(ArmError, match="did you mean 'blue'"):
        belman.Agent(["blue", "red"], control="blu")
    with pytest.raises(SettingError, match="not a stopping rule"):
        belman.Agent(["a"], stop_when=0.95)
    with pytest.raises(SettingError, match="is not valid"):
        belman.Agent(["a", "b"]).report(level=2)


FAMILIES = ["bernoulli", "poisson", "geometric", "gamma", "gaussian", "gaussian-unknown"]


@pytest.mark.parametrize("family", [*FAMILIES, "exponential", "bounded-exponential"])
@pytest.mark.parametrize("minimise", [False, True])
def test_every_family_reports_from_the_first_reward(family, minimise):
    agent = belman.Agent(["a", "b"], family, minimise=minimise, control="a", seed=1)
    agent.tell("a", 1.0)
    result = agent.report()
    assert json.loads(result.to_json())["sentence"] == result.sentence
    sums = np.array([arm.chance_best for arm in result.arms])
    assert sums.sum() == pytest.approx(1.0)
    for arm in result.arms:
        assert arm.anytime[0] <= arm.anytime[1]
        assert arm.expected_loss >= 0.0


@pytest.mark.parametrize("minimise", [False, True])
def test_grids_of_atoms_report_as_coins_do(minimise):
    options = {"minimise": minimise, "control": "a", "seed": 1}
    atoms = belman.Agent(["a", "b"], belman.families.Bounded(atoms=65), **options)
    coins = belman.Agent(["a", "b"], "bernoulli", **options)
    for arm, reward in zip("abababbb", (0, 1, 1, 1, 0, 1, 1, 0), strict=True):
        atoms.tell(arm, reward)
        coins.tell(arm, reward)
    for mine, other in zip(atoms.report().arms, coins.report().arms, strict=True):
        assert mine.anytime == pytest.approx(other.anytime, abs=0.01)


@pytest.mark.parametrize("family", ["log-normal", "positive"])
def test_families_of_several_parameters_report_without_sequences(family):
    """Their mean alone says nothing of the rewards: there is no martingale in it."""
    agent = belman.Agent(["a", "b"], family, control="a", seed=1)
    agent.tell("a", 1.0)
    result = agent.report()
    assert [arm.anytime for arm in result.arms] == [None, None]
    assert result.arms[1].lift is not None
    assert "several parameters" in result.notes[-1]
    assert not Separated().decided(result).decided
    assert no_mixture(belman.families.Money())  # whose reports take long, interpreted


def test_units_are_those_of_the_scale():
    assert units(scale(belman.families.Bernoulli(), (10.0, 20.0), True)) == Units(10.0, -10.0)
