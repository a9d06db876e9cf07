"""A batch is chosen by few calls of compiled code, as if each ask were decided by one."""

from __future__ import annotations

import numpy as np
import pytest

from belman import policies
from belman.deciders.independent import kernels
from belman.deciders.independent.independent import IndependentDecider
from belman.engine.tiers import interpreted

ARMS = [f"arm {i}" for i in range(7)]
NAMES = ["Greedy", "BelMan", "EpsilonGreedy", "KLUCB", "Thompson", "TopTwoThompson", "UCB1"]


def _played(name, monkeypatch, at_once):
    """What batches of all sizes choose, some among few arms, while rewards come in between."""
    luck, result = np.random.default_rng(1), []
    with interpreted(), monkeypatch.context() as patch:
        decider = IndependentDecider(ARMS, policy=getattr(policies, name)())
        patch.setattr(kernels, "AT_ONCE", at_once)
        for n in (1, 3, 9, 2, 30, 5):
            among = ARMS[:5] if n == 9 else None
            choices = decider.integrated(decider.choose(decider.check(), n, among))
            result += [(one.arm, float(one.probability), one.turn, one.draw) for one in choices]
            for one in choices:
                if luck.random() < 0.7:
                    decider.record(one, float(luck.random() < 0.4))
    return result


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_decided_as_one_ask_after_another(name, monkeypatch):
    one_by_one = _played(name, monkeypatch, 1)
    assert len(one_by_one) == 50
    for at_once in (4, kernels.AT_ONCE):
        assert _played(name, monkeypatch, at_once) == one_by_one


def test_the_first_batch_tries_every_arm_once():
    with interpreted():
        decider = IndependentDecider(ARMS)
        first = [one.arm for one in decider.choose(decider.check(), 10)]
    assert sorted(first[:7]) == ARMS
