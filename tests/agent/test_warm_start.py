"""Starting with what is known: another agent, a saved one, or counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import belman
from belman import Agent, BelMan, Thompson, Uniform
from belman.errors import ArmError, BelmanError, PriorError, RewardError, SettingError, StateError
from belman.families import FAMILIES
from tests.members import interpreted


def taught(*arms: str) -> Agent:
    agent = Agent(arms, policy=Uniform(), seed=1)
    for i, arm in enumerate(arms):
        for k in range(5 + i):
            agent.tell(arm, float(k % (i + 2) == 0))
    return agent


def test_from_another_agent() -> None:
    """Beliefs, counts and turns of the arms that both play; a new arm has its prior."""
    old = taught("a", "b", "c")
    new = Agent(["c", "d", "a"], policy=Thompson(), start=old, seed=2)
    assert new.belief("a") == old.belief("a")
    assert new.belief("c") == old.belief("c")
    assert new.belief("d") == (1.0, 1.0)
    assert new.beliefs()["plays"] == [7, 0, 5]
    assert new.turn == 13
    assert old.turn == 19
    new.tell("a", 1)
    assert old.belief("a") != new.belief("a")


def test_from_a_saved_agent(tmp_path: Path) -> None:
    old = taught("a", "b")
    old.save(tmp_path / "old.json")
    from_file, from_agent = (
        Agent(["a", "b"], start=tmp_path / "old.json", seed=3),
        Agent(["a", "b"], start=old, seed=3),
    )
    assert from_file.to_json() == from_agent.to_json()
    with pytest.raises(StateError, match="cannot be read"):
        Agent(["a"], start=str(tmp_path / "nowhere.json"))


def test_a_start_goes_on_as_the_old_agent_would() -> None:
    """With the same policy and the same mind, nothing tells a warm start from the agent it came
    from.
    """
    old = Agent(["a", "b"], policy=BelMan(), seed=4)
    for k in range(30):
        old.tell(old.ask(), float(k % 3 == 0))
    new = Agent(["a", "b"], policy=BelMan(), start=old, seed=4)
    new._decider.rng[:] = old._decider.rng
    for k in range(50):
        arm = old.ask()
        assert new.ask() == arm
        old.tell(arm, float(k % 2))
        new.tell(arm, float(k % 2))


def test_from_counts_is_as_if_told() -> None:
    told = Agent(["a", "b"], policy=Uniform(), seed=1)
    for reward in (1, 0, 0, 0):
        told.tell("a", reward)
    told.tell("b", 0)
    counted = Agent(["a", "b"], policy=Uniform(), start={"a": (4, 1), "b": (1, 0)}, seed=1)
    assert counted.turn == told.turn == 6
    assert counted.beliefs().columns == told.beliefs().columns
    assert all(
        (one == two).all()
        for one, two in zip(counted._decider._truth, told._decider._truth, strict=True)
    )
    for _ in range(9):
        arm = told.ask()
        assert counted.ask() == arm
        told.tell(arm, 1)
        counted.tell(arm, 1)


COUNTS = """
import json
import numpy as np
from belman import Agent
from tests.members import CLOSED, member, random_rewards
gaps = {}
for name in CLOSED:
    family = member(name)
    if family.summed:
        for minimise in (False, True):
            draws = random_rewards(family, np.random.default_rng(3), 40)
            told = Agent(["a"], family, minimise=minimise, seed=1)
            rest = (40, sum(draws), sum(x * x for x in draws))
            for x in draws:
                told.tell("a", x)
            counted = Agent(["a"], family, minimise=minimise, start={"a": rest}, seed=1)
            gap = np.abs(np.array(counted.belief("a")) / np.array(told.belief("a")) - 1.0).max()
            pairs = zip(counted._decider._truth[1:], told._decider._truth[1:])
            gap = max(gap, *(float(abs(one[0] - two[0]) / abs(two[0])) for one, two in pairs))
            gaps[f"{name}, {minimise}"] = float(gap)
print(json.dumps(gaps))
"""


def test_counts_in_every_family_in_which_they_say_it_all() -> None:
    gaps = interpreted(COUNTS)
    assert len(gaps) >= 12
    assert max(gaps.values()) < 1e-12, gaps


def test_counts_on_another_scale() -> None:
    told = Agent(["a"], policy=Uniform(), range=(10, 30), seed=1)
    for reward in (12.0, 30.0, 25.0):
        told.tell("a", reward)
    counted = Agent(
        ["a"],
        policy=Uniform(),
        range=(10, 30),
        start={"a": (3, 67.0, 12.0**2 + 30.0**2 + 25.0**2)},
        seed=1,
    )
    assert counted.belief("a") == pytest.approx(told.belief("a"))
    assert np.concatenate(counted._decider._truth[1:]) == pytest.approx(
        np.concatenate(told._decider._truth[1:])
    )


BAD = [
    (
        {"a": (3, 4)},
        RewardError,
        "3 rewards cannot have the sum 4.0: bernoulli rewards are numbers from 0 to 1",
    ),
    ({"a": (2.5, 1)}, RewardError, "plays must be a whole number"),
    ({"a": (0, 0)}, RewardError, "plays must be a whole number"),
    ({"a": (3,)}, RewardError, "is not a count"),
    ({"a": (3, 1, 1, 1)}, RewardError, "is not a count"),
    ({"a": "many"}, RewardError, "is not a count"),
    ({"a": (3, float("nan"))}, RewardError, "sums finite"),
    ({"z": (3, 1)}, ArmError, "unknown arm 'z'"),
    (7, SettingError, "start=7 is not a start"),
]


@pytest.mark.parametrize(("start", "error", "message"), BAD)
def test_bad_starts(start: object, error: type[BelmanError], message: str) -> None:
    with pytest.raises(error, match=message):
        Agent(["a", "b"], start=start, seed=1)  # type: ignore[arg-type]


def test_starts_that_do_not_fit() -> None:
    with pytest.raises(
        PriorError, match="start has bernoulli rewards, and this agent poisson ones"
    ):
        Agent(["a"], "poisson", start=taught("a"), seed=1)
    with pytest.raises(ArmError, match="start knows none of these arms"):
        Agent(["x"], start=taught("a", "b"), seed=1)
    for family in (
        belman.families.GaussianUnknown(),
        belman.families.BoundedExponential(),
        FAMILIES["chi-squared"](),
    ):
        with pytest.raises(RewardError, match="tell them one by one"):
            family.update_many(family.prior, 3, 1.0)
