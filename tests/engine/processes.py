"""Scripts run by interpreters of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.waiting import HANG

ROOT = Path(__file__).parents[2]


def start(script: str, **environment: str) -> subprocess.Popen[str]:
    """A fresh interpreter on a script, with this repository's tests on its path."""
    path = os.pathsep.join([environment.pop("SOURCES", str(ROOT / "src")), str(ROOT)])
    everything = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "error", **environment}
    command = [sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.Popen(
        command, env=everything, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str]) -> list[str]:
    """What it printed, once it has ended well."""
    out, err = process.communicate(timeout=HANG)
    assert process.returncode == 0, err
    return out.splitlines()
