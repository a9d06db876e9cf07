"""Saving and loading: exact, atomic, versioned, and suspicious of what it reads."""

from __future__ import annotations

import enum
import importlib
import json
import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from belman import Agent, BelMan, Thompson
from belman.deciders import state_file
from belman.errors import StateError
from belman.exposure import (
    Constant,
    Evidence,
    FadingEvidence,
    Infinite,
    Paper,
    SquareRoot,
    two_phase,
)
from belman.families import Bernoulli, Exponential, Family, Gaussian
from tests import own
from tests.members import BY_QUADRATURE, CLOSED, INTEGRATED, interpreted, member, random_rewards

POLICIES = {
    "evidence": BelMan(),
    "paper": BelMan.paper(),
    "joint": BelMan.paper("joint"),
    "natural": BelMan.paper("natural"),
    "natural evidence": BelMan(FadingEvidence(), "natural"),
    "constant": BelMan(Constant(0.05)),
    "infinite": BelMan(Infinite()),
    "square root": BelMan(SquareRoot(c=3.0)),
    "two phases": BelMan(two_phase(100)),
    "two phases of the paper": BelMan(two_phase(60, Paper(C=2.0)), "joint"),
    "thompson": Thompson(),
}


def live(agent: Agent, rewards: list[float]) -> list[object]:
    """One choice a reward: single asks, subsets, batches, late and unasked tells."""
    choices, late = [], []
    for turn, reward in enumerate(rewards):
        if turn % 7 == 3:
            choices.append(agent.ask(among=agent.arms[turn % 2 :: 2]))
        elif turn % 11 == 5:
            choices += agent.ask(3)
            late += choices[-2:]
        else:
            choices.append(agent.ask())
        agent.tell(choices[-1], reward)
        if turn % 5 == 4 and late:
            agent.tell(late.pop(0), reward)
        if turn % 13 == 0:
            agent.tell(agent.arms[turn % len(agent.arms)], reward)
    return choices


def check_exact(make, path: Path, turns: int = 500, before: int = 60, **given) -> None:
    """An agent saved in the middle of things goes on as if it had never stopped."""
    agent = make()
    base = agent.family.of if hasattr(agent.family, "of") else agent.family
    rewards = random_rewards(base, np.random.default_rng(1), before + turns)
    live(agent, rewards[:before])
    agent.ask()  # with an ask outstanding and arms stale
    agent.save(path)
    loaded = Agent.load(path, **given)
    assert loaded.to_json() == agent.to_json()
    assert repr(loaded) == repr(agent)
    assert live(loaded, rewards[before:]) == live(agent, rewards[before:])
    assert loaded.to_json() == agent.to_json()


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_goes_on_as_if_it_had_never_stopped(name, tmp_path):
    check_exact(
        lambda: Agent(["a", "b", "c", "d"], policy=POLICIES[name], seed=5), tmp_path / "state.json"
    )


@pytest.mark.parametrize("name", [*CLOSED, *INTEGRATED])
def test_every_family_goes_on_as_if_it_had_never_stopped(name, tmp_path):
    check_exact(lambda: Agent(["a", "b", "c", "d"], member(name), seed=5), tmp_path / "state.json")


def test_families_by_quadrature_go_on_as_if_they_had_never_stopped(tmp_path):
    script = f"""
import pathlib
from belman import Agent
from tests.agent.test_state_file import check_exact
from tests.members import member
for name in {BY_QUADRATURE!r}:
    path = pathlib.Path({str(tmp_path)!r}, name)
    check_exact(lambda: Agent(["a", "b"], member(name), seed=5), path, turns=4, before=3)
print("true")
"""
    assert interpreted(script) is True


def test_every_other_policy_goes_on_as_if_it_had_never_stopped(tmp_path):
    """Interpreted, so that policies present and future cost no compilation; what a policy demands
    is set to 20.
    """
    script = f"""
import pathlib
from dataclasses import MISSING, fields
from belman import Agent
from belman.policies import POLICIES
from tests.agent.test_state_file import check_exact
for name, kind in POLICIES.items():
    if not kind.sees_truth:
        demanded = [f.name for f in fields(kind) if f.default is f.default_factory is MISSING]
        # its table is long in the making, interpreted
        quick = {{"discount": 0.5}} if name == "gittins" else {{}}
        policy = kind(**dict.fromkeys(demanded, 20), **quick)
        path = pathlib.Path({str(tmp_path)!r}, name)
        check_exact(lambda: Agent(range(4), policy=policy, seed=5), path, turns=30, before=20)
print("true")
"""
    assert interpreted(script) is True


def test_settings_survive(tmp_path):
    def make():
        return Agent(
            ["a", "b", "c"],
            priors={"b": (0.1 + 0.2, 1e-3)},
            prior=(1.0 / 3.0, 2.0),
            range=(-1.0, 7.0),
            minimise=True,
            discount=0.97,
            seed=5,
        )

    check_exact(make, tmp_path / "state.json")
    agent = make()
    agent.add_arm("d", prior=(5.0, 6.0))
    agent.retire_arm("a")
    agent.tell("d", 3.3)
    agent.save(tmp_path / "state.json")
    loaded = Agent.load(tmp_path / "state.json")
    loaded.add_arm("e")
    assert loaded.belief("e") == (0.0, 1.0 / 3.0, 2.0)
    with pytest.raises(ValueError, match="range is from -1 to 7"):
        loaded.tell("b", 8.0)


def test_every_bit_of_a_float_survives(tmp_path):
    agent = Agent(["a", "b"], Gaussian(sigma=0.1 + 0.2), prior=(1e-17, 1e-10 / 3.0), seed=5)
    for x in (0.1, 1e-300, -1e14, math.pi):
        agent.tell("a", x)
    loaded = Agent.from_json(agent.to_json())
    assert loaded.belief("a") == agent.belief("a")
    assert loaded.family == agent.family


def test_an_agent_of_infinite_expectations_is_saved(tmp_path):
    agent = Agent(["a", "b"], Exponential(), seed=5)
    agent.ask()
    assert Agent.from_json(agent.to_json()).to_json() == agent.to_json()
    json.loads(agent.to_json(), parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


# Names and functions that JSON lacks


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


@pytest.mark.parametrize(
    "arms",
    [
        [("x", 1), ("x", 2), (("nested", None), 2.5)],
        [1, 2, 30],
        [0.5, True, None, 'text with ünïcode and "quotes"\n'],
        [Size.SMALL, Size.LARGE],
        list(np.arange(3)),
    ],
    ids=["tuples", "ints", "mixed", "int-enum", "numpy"],
)
def test_arms_that_json_can_hold(arms, tmp_path):
    check_exact(lambda: Agent(arms, seed=5), tmp_path / "state.json", turns=50)
    assert Agent.load(tmp_path / "state.json").arms == tuple(arms)


@pytest.mark.parametrize(
    "arms",
    [list(Colour), [math.inf, -math.inf], [frozenset({1}), b"x"]],
    ids=["enum", "infinite", "others"],
)
def test_arms_that_json_lacks_are_given_again(arms, tmp_path):
    path = tmp_path / "state.json"
    check_exact(lambda: Agent(arms, seed=5), path, turns=50, arms=arms)
    with pytest.raises(
        StateError,
        match=r"state\.json .* has arms of a kind that JSON lacks, .*load\(path, arms=\[…\]\)",
    ):
        Agent.load(path)
    with pytest.raises(StateError, match="has 2 arms, and 1 were given"):
        Agent.load(path, arms=arms[:1])


def test_an_exposure_that_is_a_function_is_given_again(tmp_path):
    path = tmp_path / "state.json"
    policy = BelMan(lambda t: 3.0 / t)
    agent = Agent(["a", "b", "c"], policy=policy, seed=5)
    rewards = random_rewards(Bernoulli(), np.random.default_rng(1), 560)
    live(agent, rewards[:60])
    agent.save(path)
    with pytest.raises(
        StateError, match=r"could not hold its policy: give it again, load\(path, policy=…\)"
    ):
        Agent.load(path)
    loaded = Agent.load(path, policy=policy)
    assert live(loaded, rewards[60:]) == live(agent, rewards[60:])
    assert [loaded.belief(arm) for arm in "abc"] == [agent.belief(arm) for arm in "abc"]


def test_an_infinite_setting_is_loaded_as_it_was_saved(tmp_path):
    policy = BelMan(Evidence(pool=math.inf, reach=math.inf))
    check_exact(lambda: Agent(["a", "b", "c"], policy=policy, seed=5), tmp_path / "state.json")


def test_parts_of_a_module_of_the_users_own_come_back(tmp_path):
    def make():
        return Agent(["a", "b", "c"], own.Coin(), BelMan(own.Steady()), seed=5)

    check_exact(make, tmp_path / "state.json", turns=50)
    assert isinstance(Agent.load(tmp_path / "state.json").family, own.Coin)


def test_a_module_that_is_not_imported_stays_so(tmp_path, monkeypatch):
    (tmp_path / "their_module.py").write_text(
        "from tests.own import Steady as Base\nclass Theirs(Base): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    theirs = importlib.import_module("their_module").Theirs(2.0)
    agent, path = Agent(["a", "b"], policy=BelMan(theirs), seed=5), tmp_path / "state.json"
    agent.save(path)
    del sys.modules["their_module"]
    refuse(path, r"import their_module first \(or give it again, load\(path, policy=…\)\)")
    assert "their_module" not in sys.modules
    assert Agent.load(path, policy=BelMan(theirs)).policy == BelMan(theirs)
    importlib.import_module("their_module")
    assert repr(Agent.load(path)) == repr(agent)
    del sys.modules["their_module"]


def test_a_function_is_not_taken_from_a_file(tmp_path):
    path = tmp_path / "state.json"
    Agent(["a", "b"], policy=BelMan(own.tau), seed=5).save(path)
    refuse(path, r"is a function or class of one's own.*give it again, load\(path, policy=…\)")
    assert Agent.load(path, policy=BelMan(own.tau)).policy == BelMan(own.tau)


def test_parts_that_have_no_description_are_given_again(tmp_path):
    path = tmp_path / "state.json"

    class Coin(Bernoulli):
        pass

    Agent(["a", "b"], Coin(), seed=5).save(path)
    with pytest.raises(
        StateError, match=r"could not hold its family: give it again, load\(path, family=…\)"
    ):
        Agent.load(path)
    assert isinstance(Agent.load(path, family=Coin()).family, Family)


def test_another_policy_may_take_over(tmp_path):
    agent = Agent(["a", "b", "c"], seed=5)
    live(agent, random_rewards(Bernoulli(), np.random.default_rng(1), 30))
    agent.save(tmp_path / "state.json")
    loaded = Agent.load(tmp_path / "state.json", policy=Thompson())
    assert loaded.policy == Thompson()
    assert [loaded.belief(arm) for arm in "abc"] == [agent.belief(arm) for arm in "abc"]
    assert loaded.outstanding == agent.outstanding
    assert loaded.turn == agent.turn


# Atomic


@pytest.mark.parametrize(
    "crash",
    [OSError("disk full"), KeyboardInterrupt(), MemoryError()],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("moment", ["write_bytes", "fsync", "replace"])
def test_a_crash_while_saving_leaves_the_old_file(crash, moment, tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    agent = Agent(["a", "b"], seed=5)
    agent.save(path)
    old = path.read_text()
    agent.tell("a", 1)

    def fail(*arguments):
        raise crash

    def tear(draft, data):
        with draft.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise crash

    with monkeypatch.context() as patch:
        if moment == "write_bytes":
            patch.setattr(Path, moment, tear)
        else:
            patch.setattr(os, moment, fail)
        with pytest.raises(StateError if isinstance(crash, OSError) else type(crash)):
            agent.save(path)
    assert path.read_text() == old
    assert os.listdir(tmp_path) == ["state.json"]
    assert Agent.load(path).turn == 1
    agent.save(path)
    assert Agent.load(path).turn == 2


def test_a_position_that_cannot_be_written_is_named(tmp_path):
    agent = Agent(["a", "b"], seed=5)
    with pytest.raises(StateError, match=r"missing/state\.json cannot be written: .*No such file"):
        agent.save(tmp_path / "missing" / "state.json")
    with pytest.raises(StateError, match="cannot be written"):
        agent.save(tmp_path)


# Suspicious


@pytest.fixture
def saved(tmp_path):
    agent = Agent(["a", "b"], seed=5)
    live(agent, [1.0, 0.0, 1.0])
    agent.save(tmp_path / "state.json")
    return tmp_path / "state.json"


def refuse(path, message):
    with pytest.raises(StateError, match=message) as caught:
        Agent.load(path)
    assert str(path) in str(caught.value)


def test_a_missing_file(tmp_path):
    refuse(tmp_path / "none.json", "cannot be read: .*No such file")
    refuse(tmp_path, "cannot be read")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is damaged: it is not JSON"),
        ("arms: blue, green", "is damaged: it is not JSON"),
        ("{'format': 'belman agent'}", "is damaged: it is not JSON"),
        ("[" * 100_000, "is damaged: it is not JSON"),
        ("1" * 5_000, "is damaged: it is not JSON"),
        ("[1, 2]", "is not the state of an agent: it lacks the format 'belman agent'"),
        ("null", "is not the state of an agent"),
        ('{"format": "belman study", "version": 1}', "is not the state of an agent"),
        ('{"format": "belman agent"}', "has version None"),
        ('{"format": "belman agent", "version": "1"}', "has version '1'"),
        (
            '{"format": "belman agent", "version": 1}',
            "is damaged or was edited: its checksum does not match",
        ),
    ],
)
def test_text_that_is_no_state(text, message, tmp_path):
    path = tmp_path / "state.json"
    path.write_text(text)
    refuse(path, message)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "state.json"
    path.write_bytes(b"\xff\xfe\x00{")
    refuse(path, "cannot be read")


def test_every_truncation_is_noticed(saved):
    text = saved.read_text()
    for length in range(0, len(text.rstrip()) - 1, 7):
        with pytest.raises(StateError):
            Agent.from_json(text[:length])


def test_every_edit_is_noticed(saved):
    content = json.loads(saved.read_text())
    assert Agent.load(saved).turn == content["state"]["told"] + 1
    for name in content:
        edited = {**content, name: "edited"}
        saved.write_text(json.dumps(edited))
        with pytest.raises(StateError):
            Agent.load(saved)
        saved.write_text(json.dumps({key: value for key, value in content.items() if key != name}))
        with pytest.raises(StateError):
            Agent.load(saved)
    content["state"]["truth"]["beliefs"][0][0] += 1e-12
    saved.write_text(json.dumps(content))
    refuse(saved, "is damaged or was edited: its checksum does not match its content")


def test_layout_is_not_content(saved):
    """A file that was reformatted, or whose keys were sorted, is still the same state."""
    content = json.loads(saved.read_text())
    expected = Agent.load(saved).to_json()
    saved.write_text(json.dumps(content, sort_keys=True, indent=4))
    assert Agent.load(saved).to_json() == expected


def test_a_newer_version_is_refused_with_a_remedy(saved):
    content = json.loads(saved.read_text())
    content["version"] = state_file.VERSION + 1
    saved.write_text(json.dumps(content))
    refuse(saved, r"has version 2: this belman reads up to 1 \(install a newer one\)")


@pytest.mark.parametrize(
    "missing",
    [
        "arms",
        "told",
        "tells",
        "pending",
        "priors",
        "truth",
        "memory",
        "discount",
        "stale",
        "range",
        "retired",
        "working",
        "clipped",
        "rng",
        "decider",
        "state",
        "control",
    ],
)
def test_a_state_with_a_valid_checksum_but_a_missing_part(missing, saved):
    content = json.loads(saved.read_text())
    for name in ("checksum", "format", "version"):
        del content[name]
    del (content if missing in content else content["state"])[missing]
    saved.write_text(state_file.write(content))
    refuse(saved, "does not hold a whole agent")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tells", [1, 2, 3]),
        ("rng", [1, 2]),
        ("decider", "unheard-of"),
        ("decider", "segmented"),
        ("decider", None),
        ("control", 7),
        ("retired", [["a", [1.0, 1.0], [1.0, 1.0], 0.0, 0.0, 0.0, 0, 0]]),
        ("retired", [["c", [1.0, 1.0], [-1.0, 1.0], 0.0, 0.0, 0.0, 0, 0]]),
        ("retired", [["c"]]),
        ("family", {"name": "unheard-of"}),
        ("policy", {"name": "belman", "reading": "tea leaves"}),
        ("truth", {"beliefs": [[1.0, 1.0]]}),
        ("discount", 7.0),
        ("arms", ["a", "a"]),
        ("arms", []),
        ("told", "many"),
    ],
)
def test_a_state_with_a_valid_checksum_but_a_misshapen_part(name, value, saved):
    content = json.loads(saved.read_text())
    for key in ("checksum", "format", "version"):
        del content[key]
    (content if name in content else content["state"])[name] = value
    saved.write_text(state_file.write(content))
    refuse(saved, "does not hold a whole agent|has arm 'a' twice")
