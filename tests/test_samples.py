"""What the release before wrote still opens, and goes on as that release would have."""

from __future__ import annotations

import json
from pathlib import Path

from belman import Dispatcher
from tests.members import interpreted

SAMPLES = Path(__file__).parent / "samples"


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
