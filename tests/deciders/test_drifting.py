"""Contexts of a world that changes: what fades, what is spared, and what following costs."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import belman
from belman import Agent
from belman.deciders.featured.featured import FeaturedDecider
from belman.errors import SettingError
from belman.models import Linear


def _reward(seed, turns, changes, **settings):
    """The mean expected reward of the last half of the turns, where the world is `changed` at the
    first half's end, or not.
    """
    rng = np.random.default_rng(seed)
    effects = rng.normal(size=(3, 3))
    agent = Agent(["a", "b", "c"], context=["x", "y"], seed=seed, **settings)
    total = 0.0
    for turn in range(turns):
        now = effects if turn < turns // 2 or not changes else np.roll(effects, 1, axis=0)
        x, y = rng.normal(size=2)
        rates = 1.0 / (1.0 + np.exp(-2.0 * now @ [1.0, x, y]))
        context = {"x": x, "y": y}
        arm = agent.ask(context=context)
        rate = rates["abc".index(arm)]
        agent.tell(arm, float(rng.random() < rate), context=context)
        total += (rates.max() - rate) * (turn >= turns // 2)
    return 2.0 * total / turns


@functools.cache
def _kept():
    """The regret after the change of a belief that keeps all."""
    return sum(_reward(seed, 1_000, True) for seed in range(10))


@pytest.mark.compiled
@pytest.mark.parametrize("settings", [{"drift": "auto"}, {"discount": 0.98}])
def test_a_world_whose_coefficients_change_is_followed(settings):
    """10 worlds: the regret after the change is at most 0.7 of that of a belief that keeps all.
    In four other sets of 10 worlds it was 0.45 to 0.55 with drift and 0.37 to 0.45 with a discount;
    drawn anew from those 40 worlds, 10 of them exceed 0.7 once in 800 draws.
    """
    assert sum(_reward(seed, 1_000, True, **settings) for seed in range(10)) < 0.7 * _kept()


def _known(decider, arm, user):
    """How many deviations of the prior are left of a level's own coefficient."""
    form = decider.knowledge.forms[0]
    slot = decider.knowledge.context._levels["user", user]
    position = form.columns._positions["own", "ab".index(arm), slot]
    belief = form.belief
    return float(np.linalg.norm(belief.root[0, position]) / belief.prior[0, position])


def test_what_is_rarely_seen_is_spared_and_what_is_not_played_is_not():
    decider = FeaturedDecider(["a", "b"], context=["user"], model=Linear(noise=0.5), discount=0.95)
    for user in ("rare", "often"):
        for arm in "ab":
            for _ in range(20):
                decider.record(decider.recall(arm, {"user": user}), 1.0)
    before = {(arm, user): _known(decider, arm, user) for arm in "ab" for user in ("rare", "often")}
    for _ in range(300):
        decider.record(decider.recall("a", {"user": "often"}), 1.0)
    for arm in "ab":
        assert _known(decider, arm, "rare") < before[arm, "rare"] + 0.2
    asking = decider.check({"user": "often"})
    sight = decider._calls.survey(asking.context, *decider.at_hand(asking)[1:], 1)["sight"]
    assert sight.variance[0] < 0.1
    assert sight.variance[1] > 1.9  # two coefficients of its own, each with a prior of 0 ± 1


def test_a_study_with_drift_is_the_fold_of_its_log(tmp_path):
    url = f"sqlite:///{tmp_path}/studies.db"
    study = belman.open_study("s", ["a", "b"], context=["x"], drift="auto", seed=1, storage=url)
    assert study.settings.model.drift
    for turn in range(30):
        ticket = study.ask(context={"x": turn % 7})
        study.tell(ticket, float(turn % 3 == 0))
    again = belman.open_study("s", ["a", "b"], drift="auto", storage=url)
    assert again.ask(context={"x": 2}).arm == study.agent().ask(context={"x": 2})
    with pytest.raises(SettingError, match="was created with model="):
        belman.open_study("s", ["a", "b"], discount=0.5, storage=url)
