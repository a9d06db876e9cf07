"""What is kept on disk is kept under a digest of the code that made it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import belman
from belman.lab.design import sources

SCRIPT = """
import belman, playing
from belman.lab.design import sources
ours = sources({"ours": belman.Thompson()}, belman.problems.bernoulli([0.1, 0.9]))
print(sources(), ours, sources({"mine": playing.Mine}))
"""


@pytest.fixture
def folder(tmp_path):
    """A copy of the package, and a user's player with a module that it imports."""
    shutil.copytree(Path(belman.__file__).parent, tmp_path / "belman")
    (tmp_path / "helping.py").write_text("ARM = 0\n")
    (tmp_path / "playing.py").write_text(
        "import helping\nclass Mine:\n    def ask(self):\n        return helping.ARM\n"
    )
    return tmp_path


def digests(folder):
    """The package's digest, that of a policy of ours, and that of the user's player."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.split()


@pytest.mark.parametrize("edited", ["belman/special/gamma_functions.py", "belman/plots/style.py"])
def test_an_edit_anywhere_in_the_package_makes_another_digest(folder, edited):
    package, ours, mine = digests(folder)
    assert package == ours == sources()
    with (folder / edited).open("a") as file:
        file.write("# edited\n")
    assert not {package, mine} & set(digests(folder))


def test_an_edit_behind_a_users_player_counts_for_that_player_alone(folder):
    package, ours, mine = digests(folder)
    (folder / "helping.py").write_text("ARM = 1\n")
    assert digests(folder)[:2] == [package, ours]
    assert digests(folder)[2] != mine
