"""An agent of a box: it finds the top, goes on from its file, and refuses what it cannot use."""

import json

import numpy as np
import pytest

import belman
from belman.deciders import state_file
from belman.deciders.box import box_decider
from belman.errors import RewardError, SettingError, StateError

PRICES = belman.Box(price=(5, 20))


def hill(point):
    return 10.0 - (point["price"] - 12.0) ** 2 / 10.0


def play(agent, turns, reward=hill):
    points = []
    for _ in range(turns):
        points.append(agent.ask())
        agent.tell(points[-1], reward(points[-1]))
    return points


def test_it_comes_to_the_top_and_stays_there():
    points = play(belman.Agent(space=PRICES, seed=3), 40)
    assert all(abs(point["price"] - 12.0) < 0.5 for point in points[-10:])


def test_costs_are_rewards_mirrored():
    one, other = (
        belman.Agent(space=PRICES, seed=3),
        belman.Agent(space=PRICES, minimise=True, seed=3),
    )
    assert play(one, 15) == play(other, 15, lambda point: -hill(point))
    assert one.told["reward"] == [-cost for cost in other.told["reward"]]
    best, least = one.best(), other.best()
    assert best["price"] == least["price"]
    assert (best["low"], best["high"]) == (-least["high"], -least["low"])


def test_two_sides_and_a_point_of_ones_own():
    agent = belman.Agent(space=belman.Box(x=(0, 1), y=(-1, 1)), seed=1)
    agent.tell({"x": 0.5, "y": 0}, -0.29)
    play(agent, 40, lambda point: -((point["x"] - 0.3) ** 2) - (point["y"] - 0.5) ** 2)
    best = agent.best()
    assert abs(best["x"] - 0.3) < 0.1
    assert abs(best["y"] - 0.5) < 0.2


def test_an_ask_is_answered_alike_until_a_reward_is_told():
    agent = belman.Agent(space=PRICES, seed=3)
    point = agent.ask()
    assert agent.ask() == point
    agent.tell(point, 1.0)
    assert agent.ask() != point


def test_it_goes_on_from_its_file_to_the_last_bit(tmp_path):
    agent = belman.Agent(space=PRICES, minimise=True, seed=3)
    play(agent, 12)
    agent.save(tmp_path / "box.json")
    again = belman.Agent.load(tmp_path / "box.json")
    assert play(again, 6) == play(agent, 6)
    assert again.best() == agent.best()


@pytest.mark.parametrize(
    "change",
    [
        {"places": [[2.0], [0.5]]},
        {"places": [[0.5]]},
        {"places": [["nan"], [0.5]]},
        {"rewards": [1.0, "inf"]},
        {"rewards": [[1.0], [2.0]]},
        {"rewards": "all"},
        {"shift": [0.5, 0.5]},
        {"shift": [-1.0]},
        {"minimise": 1},
        {"space": {"price": [5]}},
        {"space": []},
        {"space": None},
    ],
)
def test_a_file_of_a_stranger_is_refused(tmp_path, change):
    agent = belman.Agent(space=PRICES, seed=3)
    play(agent, 2)
    agent.save(tmp_path / "box.json")
    content = json.loads((tmp_path / "box.json").read_text())
    content["state"] |= change
    del content["checksum"]
    (tmp_path / "box.json").write_text(state_file.write(content))
    with pytest.raises(StateError):
        belman.Agent.load(tmp_path / "box.json")


@pytest.mark.parametrize("reward", [np.nan, np.inf, 1e101, True, "5", None, [1.0]])
def test_a_reward_that_is_none_is_refused_and_changes_nothing(reward):
    agent = belman.Agent(space=PRICES, seed=3)
    play(agent, 2)
    before = agent.best()
    with pytest.raises(RewardError):
        agent.tell({"price": 12}, reward)
    assert agent.best() == before


@pytest.mark.parametrize(
    "rewards", [[0.0], [5.0], [1e100, -1e100], [1e-100, 2e-100], [0.0, 1e-300]]
)
def test_rewards_of_any_size_leave_numbers(rewards):
    agent = belman.Agent(space=PRICES, seed=3)
    for turn in range(30):
        agent.tell({"price": 12.0} if turn % 2 else agent.ask(), rewards[turn % len(rewards)])
    best = agent.best()
    assert all(np.isfinite(list(best.values())))
    assert best["low"] <= best["expected"] <= best["high"]


def test_it_is_full_at_some_point(monkeypatch):
    monkeypatch.setattr(box_decider, "MOST_REWARDS", 2)
    agent = belman.Agent(space=PRICES, seed=3)
    play(agent, 2)
    with pytest.raises(RewardError, match="at most 2 rewards"):
        agent.tell(agent.ask(), 1.0)


def test_settings_that_are_none_are_refused():
    with pytest.raises(SettingError, match="not a box"):
        belman.Agent(space={"price": (5, 20)})
    with pytest.raises(SettingError, match="neither True nor False"):
        belman.Agent(space=PRICES, minimise="yes")
    with pytest.raises(SettingError, match="is not valid"):
        belman.Agent(space=PRICES).beliefs(points=[{"price": 6}], level=1)
    assert len(belman.Agent(space=PRICES).beliefs(points=[])) == 0


@pytest.mark.parametrize("sides", [{"x": (0, 1)}, {"x": (0, 1), "y": (0, 1)}])
def test_a_picture_shows_what_is_believed(sides):
    agent = belman.Agent(space=belman.Box(**sides), seed=1)
    play(agent, 5, lambda point: point["x"])
    data = belman.plots.landscape(agent, 11)
    assert data.expected.shape == (11,) * len(sides)
    corner = {name: high for name, (_, high) in sides.items()}
    assert data.expected[(-1,) * len(sides)] == pytest.approx(
        agent.beliefs(points=[corner])["expected"][0], rel=1e-9
    )
    ax = belman.plots.draw_space(data)
    assert ax.get_xlabel() == "x"


def test_three_sides_have_no_picture():
    box = belman.Box(x=(0, 1), y=(0, 1), z=(0, 1))
    with pytest.raises(SettingError, match="one or two sides"):
        belman.plots.space(belman.Agent(space=box))
