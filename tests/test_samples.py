"""What the release before wrote still opens, and goes on as that release would have."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from belman import BelMan, Dispatcher
from belman.exposure import Evidence
from belman.studies.rules.settings import Settings
from tests.members import interpreted

SAMPLES = Path(__file__).parent / "samples"
SETTINGS = json.loads((SAMPLES / "settings.json").read_text())
INFINITE = BelMan(Evidence(pool=math.inf, reach=math.inf))


def test_agents_go_on_as_the_release_before_would_have():
    """Interpreted, so that a dozen pairs of a family and a policy cost no compilation."""
    script = f"""
import json, pathlib
from belman import Agent, BelMan
folder = pathlib.Path({str(SAMPLES)!r})
found = {{}}
for name, told in json.loads((folder / "choices.json").read_text()).items():
    given = {{"policy": BelMan(lambda t: 3.0 / t)}} if name == "a-function" else {{}}
    agent = Agent.load(folder / "agents" / f"{{name}}.json", **given)
    found[name] = []
    for reward in told["rewards"]:
        arm = agent.ask()
        found[name].append(agent.arms.index(arm))
        agent.tell(arm, reward)
print(json.dumps(found))
"""
    told = json.loads((SAMPLES / "choices.json").read_text())
    assert interpreted(script) == {name: one["choices"] for name, one in told.items()}


def test_a_dispatcher_goes_on_as_the_release_before_would_have():
    told = json.loads((SAMPLES / "dispatcher-choices.json").read_text())
    dispatcher, found = Dispatcher.load(SAMPLES / "dispatcher.json"), []
    for time in told["times"]:
        found.append(dispatcher.assign("y"))
        dispatcher.completed(found[-1], time=time)
    assert found == told["choices"]


@pytest.mark.parametrize("name", SETTINGS["created"])
def test_settings_of_a_study_come_back_as_they_were_written(name):
    text = SETTINGS["created"][name]
    assert json.loads(Settings.from_json(text).to_json()) == json.loads(text)


def test_a_study_that_the_release_before_could_not_open():
    assert Settings.from_json(SETTINGS["created"]["infinite-pool"]).policy == INFINITE
