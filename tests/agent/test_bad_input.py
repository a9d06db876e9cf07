"""Every bad call raises its own error, with words that help, and leaves the agent as it was."""

from __future__ import annotations

import math

import numpy as np
import pytest

from belman import Agent, BelMan, Thompson
from belman.errors import (
    ArmError,
    BelmanError,
    ExposureError,
    FamilyError,
    PolicyError,
    PriorError,
    RewardError,
    SettingError,
    shown,
)
from belman.exposure import FadingEvidence
from belman.families import Bernoulli, BoundedExponential, Gaussian
from belman.policies import LUCB, Oracle, SuccessiveAcceptsRejects
from belman.policies.dependent import LinTS

ARMS = ["blue", "green", "red"]


@pytest.fixture(scope="module")
def agent():
    """In the middle of things: rewards told, asks outstanding, one arm stale."""
    made = Agent(ARMS, range=(0.0, 10.0), discount=0.99, seed=3)
    for reward in (10.0, 0.0, 5.0, 10.0):
        made.tell(made.ask(), reward)
    made.ask(2)
    made.tell("red", 1.0)
    return made


# name: (call, error, message)
CALLS = {
    "unknown arm": (
        lambda agent: agent.tell("gren", 1.0),
        ArmError,
        r"^unknown arm 'gren': this agent plays 'blue', 'green', 'red' \(did you mean 'green'\?\)$",
    ),
    "arm like no other": (
        lambda agent: agent.tell("zzz", 1.0),
        ArmError,
        r"^unknown arm 'zzz': this agent plays 'blue', .*'red'$",
    ),
    "arm of another kind": (
        lambda agent: agent.tell(1, 1.0),
        ArmError,
        r"unknown arm 1: this agent plays",
    ),
    "unhashable arm": (
        lambda agent: agent.tell(["blue"], 1.0),
        ArmError,
        r"unknown arm \['blue'\]: this agent plays",
    ),
    "reward too large": (
        lambda agent: agent.tell("blue", 10.5),
        RewardError,
        r"^reward 10.5 is not allowed: this agent's range is from 0 to 10$",
    ),
    "reward too small": (
        lambda agent: agent.tell("blue", -1e-9),
        RewardError,
        r"reward -1e-09 is not allowed",
    ),
    "NaN": (
        lambda agent: agent.tell("blue", math.nan),
        RewardError,
        r"reward nan is not allowed: .*from 0 to 10",
    ),
    "infinity": (
        lambda agent: agent.tell("blue", math.inf),
        RewardError,
        r"reward inf is not allowed",
    ),
    "minus infinity": (
        lambda agent: agent.tell("blue", -np.inf),
        RewardError,
        r"reward -inf is not allowed",
    ),
    "string": (lambda agent: agent.tell("blue", "1"), RewardError, r"reward '1' is not allowed"),
    "bytes": (lambda agent: agent.tell("blue", b"1"), RewardError, r"reward b'1' is not allowed"),
    "None": (lambda agent: agent.tell("blue", None), RewardError, r"reward None is not allowed"),
    "complex": (lambda agent: agent.tell("blue", 1j), RewardError, r"reward 1j is not allowed"),
    "list": (
        lambda agent: agent.tell("blue", [1.0]),
        RewardError,
        r"reward \[1.0\] is not allowed",
    ),
    "huge int": (
        lambda agent: agent.tell("blue", 10**400),
        RewardError,
        r"reward 1000.* is not allowed",
    ),
    "ask for none": (
        lambda agent: agent.ask(0),
        SettingError,
        r"^ask\(0\) is not valid: n must be a whole number from 1 up$",
    ),
    "ask for fewer": (lambda agent: agent.ask(-3), SettingError, r"ask\(-3\) is not valid"),
    "ask for halves": (lambda agent: agent.ask(1.5), SettingError, r"ask\(1.5\) is not valid"),
    "ask for a truth": (
        lambda agent: agent.ask(True),
        SettingError,
        r"ask\(True\) is not valid",
    ),
    "ask for a context": (
        lambda agent: agent.ask({"country": "FR"}),
        SettingError,
        r"ask\(\{'country': 'FR'\}\) is not valid: .*ask\(context=…\)",
    ),
    "ask in a context": (
        lambda agent: agent.ask(context={"country": "FR"}),
        SettingError,
        r"context=… was given where decisions take none: .* segments=… make one that does",
    ),
    "ask for candidates": (
        lambda agent: agent.ask(candidates=[{"price": 1}]),
        SettingError,
        r"candidates=… was given where decisions take none",
    ),
    "cancel fewer than none": (
        lambda agent: agent.cancel("blue", -1),
        SettingError,
        r"cancel\(asks=-1\) is not valid",
    ),
    "ask for a name": (
        lambda agent: agent.ask("blue"),
        SettingError,
        r"ask\('blue'\) is not valid",
    ),
    "among none": (
        lambda agent: agent.ask(among=[]),
        ArmError,
        r"^among is empty: name at least one arm that is available$",
    ),
    "among unknown": (
        lambda agent: agent.ask(among=["red", "blu"]),
        ArmError,
        r"unknown arm 'blu'.*\(did you mean 'blue'\?\)",
    ),
    "among a name": (
        lambda agent: agent.ask(among="red"),
        ArmError,
        r"among='red' is one name, not a list of names: write \['red'\]",
    ),
    "among a number": (
        lambda agent: agent.ask(among=3),
        ArmError,
        r"among=3 is not a list of names",
    ),
    "batch among unknown": (
        lambda agent: agent.ask(2, among=["pink"]),
        ArmError,
        r"unknown arm 'pink'",
    ),
    "bad batch among good": (lambda agent: agent.ask(0, among=["red"]), SettingError, r"ask\(0\)"),
    "add an arm twice": (
        lambda agent: agent.add_arm("red"),
        ArmError,
        r"^arm 'red' is there already: every arm needs a name of its own$",
    ),
    "add an unhashable arm": (
        lambda agent: agent.add_arm({}),
        ArmError,
        r"arm \{\} cannot be a name: it is not hashable",
    ),
    "add with an improper prior": (
        lambda agent: agent.add_arm("pink", prior=(0.0, 1.0)),
        PriorError,
        r"prior \(0.0, 1.0\) is not proper: bounded needs \(soft, alpha, beta\), alpha and",
    ),
    "add with a prior that says next to nothing": (
        lambda agent: agent.add_arm("pink", prior=(1.0, 1e-13)),
        PriorError,
        r"says too little: beta is 1e-13, and that of a bounded prior must be at least 1e-12$",
    ),
    "add with a long prior": (
        lambda agent: agent.add_arm("pink", prior=(1, 1, 1, 1)),
        PriorError,
        r"has 4 numbers: bounded needs",
    ),
    "remove an unknown arm": (
        lambda agent: agent.retire_arm("rot"),
        ArmError,
        r"unknown arm 'rot'",
    ),
    "cancel an unknown arm": (lambda agent: agent.cancel("rot"), ArmError, r"unknown arm 'rot'"),
    "belief of an unknown arm": (
        lambda agent: agent.belief("bleu"),
        ArmError,
        r"unknown arm 'bleu'.*\(did you mean 'blue'\?\)",
    ),
    "level 0": (
        lambda agent: agent.beliefs(level=0.0),
        SettingError,
        r"level=0.0 is not valid: .*strictly between 0 and 1",
    ),
    "level 1": (lambda agent: agent.beliefs(level=1), SettingError, r"level=1 is not valid"),
    "level in percent": (
        lambda agent: agent.beliefs(level=95),
        SettingError,
        r"level=95 is not valid",
    ),
    "no level": (
        lambda agent: agent.beliefs(level="high"),
        SettingError,
        r"level='high' is not valid",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_bad_call_changes_nothing(name, agent):
    call, error, message = CALLS[name]
    before, last = agent.to_json(), agent.last
    with pytest.raises(error, match=message) as caught:
        call(agent)
    assert type(caught.value) is error
    assert isinstance(caught.value, BelmanError)
    assert isinstance(caught.value, ValueError)
    assert agent.to_json() == before
    assert agent.last == last


def test_an_agent_after_bad_calls_goes_on_like_one_without():
    seen, unseen = Agent(ARMS, range=(0.0, 10.0), seed=4), Agent(ARMS, range=(0.0, 10.0), seed=4)
    for turn in range(60):
        for call, error, _ in CALLS.values():
            with pytest.raises(error):
                call(seen)
        arm = seen.ask()
        assert arm == unseen.ask()
        seen.tell(arm, float(turn % 3))
        unseen.tell(arm, float(turn % 3))


def test_cancelling_what_was_not_asked():
    idle = Agent(ARMS, seed=3)
    before = idle.to_json()
    with pytest.raises(ArmError, match="arm 'red' has no outstanding ask to cancel"):
        idle.cancel("red")
    assert idle.to_json() == before


@pytest.mark.parametrize("policy", [LUCB(m=2), SuccessiveAcceptsRejects(budget=100, m=3)])
def test_arms_that_the_policy_needs_stay_and_the_agent_comes_back(policy):
    agent = Agent(["red", "blue", "green"], policy=policy, seed=3)
    before = agent.to_json()
    with pytest.raises(PolicyError, match=r"asked for the \d best of 2 arms"):
        agent.retire_arm("red")
    assert agent.to_json() == before
    assert Agent.from_json(before).to_json() == before


def test_the_last_arm_stays():
    alone = Agent(["red"], seed=3)
    before = alone.to_json()
    with pytest.raises(
        ArmError, match="arm 'red' is the last one: an agent needs at least one arm"
    ):
        alone.retire_arm("red")
    assert alone.to_json() == before


REWARDS = {
    "bernoulli": ([-0.1, 1.1, 2], "bernoulli rewards are numbers from 0 to 1"),
    "exponential": ([-1e-9], "exponential rewards are numbers from 0 up"),
    "poisson": ([-1, 0.5], "poisson rewards are whole numbers from 0 up"),
    "gaussian": ([], "gaussian rewards are finite numbers"),
    "gaussian-unknown": ([], "gaussian-unknown rewards are finite numbers"),
    "gamma": ([-0.5], "gamma rewards are numbers from 0 up"),
    "geometric": ([0, 1.5, -2], "geometric rewards are whole numbers from 1 up"),
    "bounded-exponential": (
        [-0.5, 1.01],
        "bounded-exponential rewards are numbers from 0 to the bound 1",
    ),
    "chi-squared": ([0, -1], "chi-squared rewards are positive numbers"),
    "beta": ([0, 1, 2], "beta rewards are numbers strictly between 0 and 1"),
}


@pytest.mark.parametrize("family", REWARDS)
@pytest.mark.parametrize("minimise", [False, True])
def test_rewards_outside_the_support_of_every_family(family, minimise):
    outside, message = REWARDS[family]
    chosen = Agent(ARMS, family, minimise=minimise, seed=3)
    before = chosen.to_json()
    for reward in [*outside, math.nan, math.inf, -math.inf, "1", None, 10**400, object()]:
        with pytest.raises(RewardError, match=message) as caught:
            chosen.tell("red", reward)
        assert shown(reward) in str(caught.value)
    assert chosen.to_json() == before


# Agents that cannot be made

MAKES = {
    "no arms": (
        lambda: Agent([]),
        ArmError,
        r"^an agent needs at least one arm: the list of arms is empty$",
    ),
    "one name": (
        lambda: Agent("blue"),
        ArmError,
        r"arms='blue' is one name, not a list of names: write \['blue'\]",
    ),
    "a number": (lambda: Agent(5), ArmError, r"arms=5 is not a list of names"),
    "nothing": (lambda: Agent(None), ArmError, r"an agent needs arms: give a list of names"),
    "a policy for features": (
        lambda: Agent(["a", "b"], policy=LinTS()),
        PolicyError,
        r"not a policy for arms that are apart: .*give context=… or features=… too",
    ),
    "duplicate": (
        lambda: Agent(["a", "b", "a"]),
        ArmError,
        r"arm 'a' is there already: every arm needs a name of its own",
    ),
    "equal names": (lambda: Agent([1, True]), ArmError, r"arm True is there already"),
    "unhashable": (
        lambda: Agent(["a", ["b"]]),
        ArmError,
        r"arm \['b'\] cannot be a name: it is not hashable \(a string, a number or a",
    ),
    "unknown family": (
        lambda: Agent(ARMS, "bernouli"),
        FamilyError,
        r"unknown family 'bernouli': there are 'bernoulli', .* \(did you mean 'bernoulli'\?\)",
    ),
    "class of a family": (
        lambda: Agent(ARMS, Bernoulli),
        FamilyError,
        r"unknown family <class .*Bernoulli'>: there are",
    ),
    "list as family": (
        lambda: Agent(ARMS, ["bernoulli"]),
        FamilyError,
        r"unknown family \['bernoulli'\]: there are",
    ),
    "no family": (lambda: Agent(ARMS, 3), FamilyError, r"unknown family 3: there are"),
    "class of a policy": (
        lambda: Agent(ARMS, policy=BelMan),
        PolicyError,
        r"policy=<class .*BelMan'> is not a policy: give one of belman.pol",
    ),
    "name of no policy": (
        lambda: Agent(ARMS, policy="tomson"),
        PolicyError,
        r"unknown policy 'tomson': .*did you mean 'thompson'",
    ),
    "oracle": (
        lambda: Agent(ARMS, policy=Oracle()),
        PolicyError,
        r"policy 'oracle' knows the true means: it plays in simulations only",
    ),
    "joint for Gaussians": (
        lambda: Agent(ARMS, "gaussian", BelMan.paper("joint")),
        PolicyError,
        r"reading 'joint' does not exist for gaussian rewards: "
        r".*never exploit \(use 'barycentre' or 'natural'\)",
    ),
    "joint for costs": (
        lambda: Agent(ARMS, minimise=True, policy=BelMan.paper("joint")),
        PolicyError,
        r"reading 'joint' does not exist",
    ),
    "unknown reading": (
        lambda: BelMan(reading="barycenter"),
        PolicyError,
        r"unknown reading 'barycenter': there are 'barycentre', 'natural', 'joint' "
        r"\(did you mean 'barycentre'\?\)",
    ),
    "a reading where there is no barycentre": (
        lambda: BelMan(reading="natural"),
        PolicyError,
        r"reading='natural' does nothing here: Evidence pools beliefs, and keeps no barycentre .* "
        r"\(leave it out, or give one exposure for all arms\)",
    ),
    "the joint reading of an exposure per arm": (
        lambda: BelMan(FadingEvidence(), "joint"),
        PolicyError,
        r"reading='joint' does nothing here: where every arm has .* it is the barycentre",
    ),
    "exposure by name": (
        lambda: BelMan("paper"),
        ExposureError,
        r"exposure 'paper' is neither one of belman.exposure",
    ),
    "improper prior": (
        lambda: Agent(ARMS, prior=(0, 1)),
        PriorError,
        r"prior \(0, 1\) is not proper: bernoulli needs \(alpha, beta\), all pos",
    ),
    "negative prior": (
        lambda: Agent(ARMS, prior=(-1, 1)),
        PriorError,
        r"prior \(-1, 1\) is not proper",
    ),
    "prior that says next to nothing": (
        lambda: Agent(ARMS, prior=(1e-13, 1)),
        PriorError,
        r"^prior \(1e-13, 1\) says too little: alpha is 1e-13, .* must be at least 1e-12$",
    ),
    "prior of one arm that says next to nothing": (
        lambda: Agent(ARMS, priors={ARMS[0]: (1, 5e-324)}),
        PriorError,
        r"^prior \(1, 5e-324\) says too little: beta is 4.94066e-324, .* must be at least 1e-12$",
    ),
    "infinite prior": (
        lambda: Agent(ARMS, prior=(1, math.inf)),
        PriorError,
        r"prior \(1, inf\) is not proper",
    ),
    "NaN prior": (
        lambda: Agent(ARMS, prior=(math.nan, 1)),
        PriorError,
        r"prior \(nan, 1\) is not proper",
    ),
    "huge prior": (
        lambda: Agent(ARMS, prior=(10**400, 1)),
        PriorError,
        r"is not a list of numbers",
    ),
    "short prior": (
        lambda: Agent(ARMS, prior=(1,)),
        PriorError,
        r"prior \(1,\) has 1 numbers: bernoulli needs \(alpha, beta\)",
    ),
    "long prior": (
        lambda: Agent(ARMS, "gaussian", prior=(1, 2, 3)),
        PriorError,
        r"has 3 numbers: gaussian needs \(mean, precision\), the prec",
    ),
    "words as a prior": (
        lambda: Agent(ARMS, prior="flat"),
        PriorError,
        r"prior 'flat' is not a list of numbers: bernoulli needs",
    ),
    "prior of an arm": (
        lambda: Agent(ARMS, priors={"red": (1, 0)}),
        PriorError,
        r"prior \(1, 0\) is not proper",
    ),
    "prior of no arm": (
        lambda: Agent(ARMS, priors={"rod": (1, 1)}),
        ArmError,
        r"unknown arm 'rod'.*\(did you mean 'red'\?\)",
    ),
    "priors in a list": (
        lambda: Agent(ARMS, priors=[(1, 1)]),
        PriorError,
        r"priors=\[\(1, 1\)\] is not a mapping: give \{arm: prior, …\}",
    ),
    "a number as priors": (lambda: Agent(ARMS, priors=5), PriorError, r"priors=5 is not a mapping"),
    "no discount": (
        lambda: Agent(ARMS, discount=0.0),
        SettingError,
        r"discount=0.0 is not valid: it must be above 0 and at most 1",
    ),
    "discount above 1": (
        lambda: Agent(ARMS, discount=1.001),
        SettingError,
        r"discount=1.001 is not valid",
    ),
    "NaN discount": (
        lambda: Agent(ARMS, discount=math.nan),
        SettingError,
        r"discount=nan is not valid",
    ),
    "discount of words": (
        lambda: Agent(ARMS, discount="slow"),
        SettingError,
        r"discount='slow' is not valid",
    ),
    "negative seed": (
        lambda: Agent(ARMS, seed=-1),
        SettingError,
        r"seed=-1 is not valid: it must be a whole number from 0 up, or None",
    ),
    "seed of halves": (lambda: Agent(ARMS, seed=0.5), SettingError, r"seed=0.5 is not valid"),
    "seed of words": (
        lambda: Agent(ARMS, seed="lucky"),
        SettingError,
        r"seed='lucky' is not valid",
    ),
    "seed of truth": (lambda: Agent(ARMS, seed=True), SettingError, r"seed=True is not valid"),
    "empty range": (
        lambda: Agent(ARMS, range=(1, 1)),
        SettingError,
        r"range=\(1, 1\) is not an interval: give \(low, high\) with low below high",
    ),
    "range turned round": (
        lambda: Agent(ARMS, range=(5, 1)),
        SettingError,
        r"range=\(5, 1\) is not an interval",
    ),
    "infinite range": (
        lambda: Agent(ARMS, range=(0, math.inf)),
        SettingError,
        r"range=\(0, inf\) is not an interval",
    ),
    "NaN range": (
        lambda: Agent(ARMS, range=(math.nan, 1)),
        SettingError,
        r"range=\(nan, 1\) is not an interval",
    ),
    "half a range": (
        lambda: Agent(ARMS, range=(1,)),
        SettingError,
        r"range=\(1,\) is not an interval",
    ),
    "one number as range": (
        lambda: Agent(ARMS, range=10),
        SettingError,
        r"range=10 is not an interval",
    ),
    "huge range": (lambda: Agent(ARMS, range=(0, 10**400)), SettingError, r"is not an interval"),
    "range of unbounded rewards": (
        lambda: Agent(ARMS, "poisson", range=(0, 5)),
        SettingError,
        r"range=\(0, 5\) is for rewards in \[0, 1\] on another scale: "
        r"poisson rewards have their own",
    ),
    "no variance": (
        lambda: Gaussian(sigma=0.0),
        FamilyError,
        r"sigma=0.0 is not valid for the gaussian distribution: it must be a positive number",
    ),
    "no bound": (
        lambda: BoundedExponential(bound=math.inf),
        FamilyError,
        r"bound=inf is not valid for the bounded-exponential distribution",
    ),
}


@pytest.mark.parametrize("name", MAKES)
def test_an_agent_that_cannot_be_made(name):
    make, error, message = MAKES[name]
    with pytest.raises(error, match=message) as caught:
        make()
    assert type(caught.value) is error


def test_long_lists_of_arms_are_cut_in_messages():
    with pytest.raises(
        ArmError, match=r"unknown arm 99: this agent plays 0, 1, .*, 11, … \(50 in all\)"
    ) as caught:
        Agent(range(50), seed=1).tell(99, 1)
    assert len(str(caught.value)) < 200


def test_priors_of_costs_are_explained_in_the_familys_words():
    costs = Agent(ARMS, "gaussian", minimise=True, seed=1)
    with pytest.raises(PriorError, match="the precision positive"):
        costs.add_arm("pink", prior=(0.0, -1.0))


def test_a_bad_schedule_is_refused_when_its_turn_comes():
    policy = BelMan(lambda t: 1.0 if t < 4 else 0.0)
    chosen = Agent(ARMS, policy=policy, seed=1)
    for _ in range(3):
        chosen.tell(chosen.ask(), 1.0)
    before = chosen.to_json()
    for ask in (chosen.ask, lambda: chosen.ask(2), chosen.explain):
        with pytest.raises(
            ExposureError, match=r"τ\(4\)=0.0 is not valid for an exposure: it must be positive"
        ):
            ask()
        assert chosen.to_json() == before


def test_thompson_is_unchanged_by_bad_calls_too():
    chosen = Agent(ARMS, policy=Thompson(), seed=1)
    chosen.ask()
    before = chosen.to_json()
    for call, error, _ in CALLS.values():
        if error is not RewardError:
            with pytest.raises(error):
                call(chosen)
    assert chosen.to_json() == before


def test_weights_that_are_surer_than_what_is_known_come_with_a_warning():
    agent = Agent(ARMS, seed=1)
    agent.tell("blue", 1.0)
    assert agent.weights(10)["blue"] == 0.5
    with pytest.warns(UserWarning, match="'blue' gets 98% of 5,000 .* a probability of 50%.*floor"):
        agent.weights(5_000)
    known = Agent(ARMS, start={"blue": (1000, 900), "green": (1000, 500), "red": (100, 1)}, seed=1)
    assert known.weights(5_000)["blue"] > 0.9
