"""The agent beside its naive twin, turn by turn."""

from __future__ import annotations

import numpy as np
import pytest

from belman import Agent, BelMan
from belman.exposure import FadingEvidence
from tests import naive_belman
from tests.naive_belman import HORIZON, NaiveBelMan, kl_by_quadrature

FAMILIES = {
    "bernoulli": naive_belman.Bernoulli,
    "exponential": naive_belman.Exponential,
    "gaussian": naive_belman.Gaussian,
}
POLICIES = {
    "paper": BelMan.paper(),
    "natural": BelMan.paper("natural"),
    "fading": BelMan(FadingEvidence()),
    "evidence": BelMan(),
    "until": BelMan.until(HORIZON),
}
SAME = 1e-9


def stream(name, rng, arm, chances=(0.3, 0.55, 0.5, 0.6)):
    if name == "bernoulli":
        return float(rng.random() < chances[arm])
    if name == "exponential":
        return rng.exponential((1.0, 1.6, 2.0, 1.9)[arm])
    return rng.normal((0.0, 0.4, 0.5, -0.2)[arm])


@pytest.mark.parametrize("kind", POLICIES)
@pytest.mark.parametrize("name", FAMILIES)
def test_the_same_choice_turn_by_turn(name, kind):
    play_beside_the_twin(name, kind)


@pytest.mark.parametrize(
    "chances",
    [(0.1, 0.25, 0.2, 0.3), (0.7, 0.95, 0.9, 0.85)],
    ids=["worse than the prior", "better"],
)
def test_the_same_choice_where_the_prior_is_off(chances):
    play_beside_the_twin("bernoulli", "evidence", chances)


def play_beside_the_twin(name, kind, *chances):
    """The chosen arm has the twin's largest index (ties to 1e-9), for 300 turns."""
    agent = Agent(range(4), name, POLICIES[kind], seed=21)
    twin = NaiveBelMan(FAMILIES[name], 4, kind)
    rng = np.random.default_rng(22)
    decided = 0
    for turn in range(300):
        index = twin.indices()
        best = max(index)
        arm = agent.ask()
        assert index[arm] == best or index[arm] >= best - SAME, (turn, arm, index)
        ties = sum(value == best or value >= best - SAME for value in index)
        assert agent.last[0].probability == pytest.approx(1.0 / ties) or ties > 1
        decided += ties == 1
        # now and then another arm is told of, so that all of them keep learning
        told = arm if turn % 5 else int(rng.integers(4))
        reward = stream(name, rng, told, *chances)
        if told != arm:
            agent.cancel(arm)
        agent.tell(told, reward)
        twin.tell(told, reward)
    assert decided > 200  # not all ties
    for arm, belief in enumerate(twin.beliefs()):
        assert agent.belief(arm) == pytest.approx(belief, rel=1e-9)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_twin_itself(name):
    """Its KL is that of quadrature, and its barycentre has a smaller sum of them than its
    neighbours.
    """
    family = FAMILIES[name]
    arms = [(1.5, 2.0), (4.0, 1.2), (3.0, 7.0)]
    for belief in arms:
        for other in arms:
            assert family.kl(belief, other) == pytest.approx(
                kl_by_quadrature(family, belief, other), abs=1e-8
            )
    centre = np.array(
        family.barycentre(np.mean([family.mean_parameters(arm) for arm in arms], axis=0))
    )
    least = sum(family.kl(arm, centre) for arm in arms)
    for step in ((1e-2, 0.0), (-1e-2, 0.0), (0.0, 1e-2), (0.0, -1e-2)):
        assert sum(family.kl(arm, centre + step) for arm in arms) > least
