"""The files of docs/reference/extending.md do what the page says, exactly as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import belman
from tests.waiting import HANG

SOURCES = str(Path(belman.__file__).parents[1])
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "extending.md"
FILES = dict(
    re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
)


def run(folder: Path, *command: str) -> str:
    """What Python prints that runs in a folder with the files of the page, uncompiled."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "BELMAN_COMPILE": "never", "PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


#: A family by quadrature, whose kernels Python runs for most of a minute here.
SLOW = {"wind.py": pytest.mark.slow}


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(name, ())) for name in FILES])
def test_a_file_keeps_its_contract(name, tmp_path):
    assert len(FILES) == 5
    assert "check_" in FILES[name].splitlines()[-1] or "print(" in FILES[name].splitlines()[-1]
    run(tmp_path, name)


def test_an_index_rule_takes_25_lines():
    rule = FILES["cautious.py"].partition("if __name__")[0]
    assert len([line for line in rule.splitlines() if line.strip()]) <= 25


def test_what_is_registered_goes_by_its_name(tmp_path):
    """In agents, the lab, state files, descriptions and lists of all there are."""
    script = """
import belman, wind, cautious, softmax, warm_up
from belman import spec
from belman.exposure import EXPOSURES
from belman.families import FAMILIES
from belman.policies import POLICIES
assert FAMILIES["wind"] is wind.Wind and EXPOSURES["warm-up"] is warm_up.WarmUp
policy = spec.build({"name": "cautious", "width": 0.3})
assert policy == cautious.Cautious(0.3) and POLICIES["cautious"] is cautious.Cautious
assert spec.describe(softmax.Softmax()) == {"name": "softmax", "temperature": 0.1}
agent = belman.Agent(["a", "b"], "wind", policy, seed=1)
agent.tell(agent.ask(), 3.0)
again = belman.Agent.from_json(agent.to_json())
assert (again.family, again.policy) == (wind.Wind(), policy)
try:
    cautious.Cautious(-1.0)
except belman.BelmanError as error:
    print(error)
"""
    said = run(tmp_path, "-c", script)
    assert said == "width=-1.0 is not valid for cautious: it must be a positive number\n"


def test_the_command_line_plays_a_file(tmp_path):
    command = "run --policies cautious.py:Cautious:width=0.3,greedy --means 0.2,0.8 --horizon 20"
    assert "Cautious" in run(tmp_path, "-m", "belman", *command.split(), "--runs", "2")


def test_a_name_is_taken_once(tmp_path):
    script = """
import belman, cautious
from belman.policies import Policy, register
class Another(Policy):
    name = "cautious"
class Nameless(Policy):
    pass
class Plain:
    name = "plain"
for kind in (Another, Nameless, Plain):
    try:
        register(kind)
    except belman.BelmanError as error:
        print(error)
"""
    taken, nameless, plain = run(tmp_path, "-c", script).splitlines()
    assert "is taken by cautious.Cautious" in taken
    assert "Nameless cannot be registered: give a policy, family" in nameless
    assert "Plain cannot be registered" in plain
