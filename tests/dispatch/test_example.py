"""The worked example of the guide, with few tasks: it ends, and every task is done once.

How well it does depends on how fast its processes really are, and is measured in
`benchmarks/dispatch.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.waiting import HANG

ROOT = Path(__file__).parents[2]


def test_the_worked_example_runs(tmp_path):
    picture = tmp_path / "dispatch.png"
    command = [
        sys.executable,
        "-W",
        "error",
        str(ROOT / "docs" / "examples" / "dispatch.py"),
        "400",
        str(picture),
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")])
        ),
    }
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=HANG, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "400 tasks" in done.stdout
    served = {name: int(count) for name, count in re.findall(r"'(\w+)': (\d+)", done.stdout)}
    assert sum(served.values()) == 400
    assert picture.read_bytes().startswith(b"\x89PNG")
