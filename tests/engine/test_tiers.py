"""Two tiers: an agent answers at once, interpreted, and plays on compiled as if nothing were."""

from __future__ import annotations

import os

import pytest

from belman import Agent
from belman.engine import tiers
from belman.errors import SettingError
from tests.engine.processes import finish, start

#: An agent with late rewards, and its choices up to a moment at which compiled code has taken over.
LIFE = """
    import itertools, random, sys, threading
    from belman import Agent
    from belman.engine import tiers

    def turns(agent, luck):
        for turn in itertools.count():
            arm = agent.ask()
            if turn % 7:
                agent.tell(arm, luck.random() < 0.1 + 0.02 * arm)
            yield arm

    agent = Agent(range(20), seed=5)
    life = turns(agent, random.Random(6))
    choices = [next(life)]
    print("numba" in sys.modules)
"""
#: Played until compiled code chooses, and a little longer.
TAKEN_OVER = """
    while agent._decider._calls.decide._run == agent._decider._calls.decide._interpret:
        choices.append(next(life))
    interpreted = len(choices)
    choices += itertools.islice(life, 500)
    print(len(choices))
    print(*choices)
    print(*agent._decider.rng, *agent._decider._truth.beliefs.ravel())
"""


def test_choices_are_those_of_a_compiled_agent(tmp_path):
    """From an empty cache, and again from a full one, which compiles nothing."""
    environment = {"BELMAN_CACHE": str(tmp_path), "BELMAN_COMPILE": "background"}
    made = []
    for _ in range(2):
        imported, count, *life = finish(start(LIFE + TAKEN_OVER, **environment))
        assert imported == "False"  # the first ask waited for no compiler
        made.append(sorted(path.name for path in tmp_path.rglob("*.nbc")))
        script = (
            LIFE
            + f"""
    choices += itertools.islice(life, {count} - 1)
    print(*choices)
    print(*agent._decider.rng, *agent._decider._truth.beliefs.ravel())
"""
        )
        compiled = finish(start(script, **{**environment, "BELMAN_COMPILE": "first"}))
        assert compiled == ["True", *life]
    assert any("entry" in name for name in made[0])


def test_single_calls_use_what_is_loaded(tmp_path):
    """A call that is made once is compiled too, when others of its kind have been."""
    environment = {"BELMAN_CACHE": str(tmp_path), "BELMAN_COMPILE": "background"}
    script = (
        LIFE
        + """
    from belman.engine import entries
    tiers._background.spent = 2.0
    agent.beliefs()
    while (thread := tiers._background.thread) is not None:
        thread.join()
    def fail(*numbers):
        raise AssertionError("interpreted")
    entries.Call._interpreted = fail
    print(len(agent.beliefs()["arm"]))
"""
    )
    assert finish(start(script, **environment)) == ["False", "20"]


def test_nothing_is_compiled_for_a_process_that_ends_soon(tmp_path):
    environment = {"BELMAN_CACHE": str(tmp_path), "BELMAN_COMPILE": "background"}
    script = (
        LIFE
        + """
    choices += itertools.islice(life, 50)
    print(tiers._background.spent < 1.0)
"""
    )
    assert finish(start(script, **environment)) == ["False", "True"]
    assert not list(tmp_path.rglob("*.nbc"))


def test_a_process_that_ends_while_code_is_compiled_leaves_nothing_behind(tmp_path):
    environment = {"BELMAN_CACHE": str(tmp_path), "BELMAN_COMPILE": "background"}
    script = (
        LIFE
        + """
    while tiers._background.child is None:
        choices.append(next(life))
    print(tiers._background.child.pid)
"""
    )
    _, child = finish(start(script, **environment))
    with pytest.raises(ProcessLookupError):
        os.kill(int(child), 0)


def test_a_fork_compiles_for_itself(tmp_path):
    """The thread of the parent is not there in the child."""
    environment = {"BELMAN_CACHE": str(tmp_path), "BELMAN_COMPILE": "background"}
    script = (
        LIFE
        + """
    import os, warnings
    while not tiers._background.asked:
        choices.append(next(life))
    warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside a thread, as meant here
    if os.fork() == 0:
        assert tiers._background.thread is None
        while agent._decider._calls.decide._run == agent._decider._calls.decide._interpret:
            next(life)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    )
    assert finish(start(script, **environment)) == ["False", "0"]


def test_the_setting(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    monkeypatch.setenv("BELMAN_COMPILE", "sometimes")
    with pytest.raises(SettingError, match="'background', 'first', 'never'"):
        Agent(range(2)).ask()
    monkeypatch.setenv("BELMAN_COMPILE", "first")
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert tiers.setting() == "never"


def test_never_compiles_never(tmp_path):
    environment = {"BELMAN_CACHE": str(tmp_path), "BELMAN_COMPILE": "never"}
    script = (
        LIFE
        + """
    choices += itertools.islice(life, 20)
    tiers._background.spent = 100.0
    choices += itertools.islice(life, 20)
    print("numba" in sys.modules)
"""
    )
    assert finish(start(script, **environment)) == ["False", "False"]
