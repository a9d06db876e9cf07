"""Compiled and interpreted agents make the same choices: the same source, once through Numba and
once through Python.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from belman import Agent, BelMan, Thompson
from belman.exposure import FadingEvidence
from belman.policies import Drift
from tests.members import CLOSED, INTEGRATED, member, random_rewards
from tests.waiting import HANG

pytestmark = pytest.mark.compiled

LONG = 10_000
#: They differ from others here in one line of an update; tests/engine/test_bits.py has kernels.
ALIKE = ("gamma", "geometric", "poisson")
#: name: (family, policy, settings, turns)
LIVES = {
    "bernoulli": ("bernoulli", BelMan(), {}, LONG),
    **{
        f"{name} families": (name, BelMan(), {}, 250)
        for name in (*CLOSED, *INTEGRATED)
        if name not in ("bernoulli", *ALIKE)
    },
    "paper": ("bernoulli", BelMan.paper(), {}, 600),
    "joint": ("bernoulli", BelMan.paper("joint"), {}, 300),
    "natural": ("bernoulli", BelMan.paper("natural"), {}, 300),
    "natural evidence": ("bernoulli", BelMan(FadingEvidence(), "natural"), {}, 300),
    "until": ("bernoulli", BelMan.until(400), {}, 400),
    "thompson": ("bernoulli", Thompson(), {}, 600),
    "costs": ("exponential", BelMan(), {"minimise": True}, 200),
    "discount": ("bernoulli", BelMan(), {"discount": 0.98}, 300),
    "drift": ("bernoulli", Drift(), {}, 150),
}


def life(name: str) -> list[object]:
    """The choices of an agent whose rewards come from a fixed stream, and its last beliefs."""
    family, policy, settings, turns = LIVES[name]
    agent = Agent(range(5), member(family), policy, seed=17, **settings)
    rng = np.random.default_rng(18)
    streams = [random_rewards(member(family), rng, turns) for _ in agent.arms]
    if family == "bernoulli":
        streams = [
            (rng.random(turns) < chance).astype(float).tolist()
            for chance in (0.47, 0.49, 0.5, 0.5, 0.5)
        ]
    choices: list[object] = []
    for turn in range(turns):
        if turn % 50 == 20:
            choices += agent.ask(4)
        if turn % 50 == 45:  # late, and one of them never
            for arm, count in agent.outstanding.items():
                agent.tell(arm, streams[arm][turn])  # type: ignore[index]
                for _ in range(count - 1):
                    agent.cancel(arm)
        choices.append(agent.ask(among=[0, 2, 4]) if turn % 17 == 5 else agent.ask())
        agent.tell(choices[-1], streams[choices[-1]][turn])  # type: ignore[call-overload, index]
    return [*choices, *(agent.belief(arm) for arm in agent.arms)]


@pytest.fixture(scope="module")
def interpreter():
    """All lives, interpreted in a process of their own while this one compiles."""
    script = "import json; from belman.engine import tiers;"
    script += "from tests.agent.test_interpreted import LIVES, life;"
    script += "assert tiers.setting() == 'never';"
    script += "print(json.dumps({name: life(name) for name in LIVES}))"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "error", "-c", script]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    yield process
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def compiled(interpreter):
    return {name: json.loads(json.dumps(life(name))) for name in LIVES}


@pytest.fixture(scope="module")
def interpreted(interpreter, compiled):
    output, errors = interpreter.communicate(timeout=HANG)
    assert interpreter.returncode == 0, errors
    return json.loads(output)


@pytest.mark.parametrize("name", LIVES)
def test_compiled_and_interpreted_agents_make_the_same_choices(name, compiled, interpreted):
    turns = LIVES[name][-1]
    assert len(compiled[name]) == turns + 4 * (turns // 50) + 5
    assert len(set(compiled[name][:turns])) == 5  # a life in which something happens
    assert compiled[name] == interpreted[name]
