"""The slim client: built from the same files, installed where there is nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from belman.version import __version__
from tests.assignment.test_assign import VECTORS
from tests.service.running import running
from tests.waiting import HANG

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
LARGEST = 2_000_000  # bytes, installed


def run(*command: object, **more: object) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=HANG, check=False, **more
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment into which the built wheel was installed, without a network."""
    folder = tmp_path_factory.mktemp("client")
    shutil.copytree(ROOT / "client", folder / "client")
    shutil.copytree(ROOT / "src" / "belman" / "assignment", folder / "src/belman/assignment")
    offline = ("--no-index", "--no-deps", "--quiet", "--disable-pip-version-check")
    wheels = folder / "wheels"
    pip = (sys.executable, "-m", "pip")
    run(*pip, "wheel", *offline, "--no-build-isolation", "-w", wheels, folder / "client")
    (wheel,) = wheels.glob("belman_client-*.whl")
    venv.create(folder / "empty", with_pip=False)
    python = folder / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(*pip, "--python", python, "install", *offline, wheel)
    return python


def test_it_assigns_with_nothing_else_installed(installed):
    script = """
import json, sys
import belman_client
given = json.load(sys.stdin)
for case in given["documents"]:
    weights = belman_client.Weights.from_json(json.dumps(case["document"]))
    for wanted in case["assignments"]:
        found = belman_client.assign(weights, wanted["unit"])
        assert found._asdict() == {key: wanted[key] for key in found._fields}
assert belman_client.schema()["$defs"]
try:
    belman_client.SigningKey.new()
except belman_client.WeightsError as error:
    assert "belman-client[signatures]" in str(error)
try:
    import belman_client.feature_flags
except ImportError as error:
    assert "belman-client[openfeature]" in str(error)
foreign = {name.split(".")[0] for name in sys.modules} - sys.stdlib_module_names
print(sorted(name for name in foreign if not name.startswith("_")))
"""
    result = run(installed, "-I", "-c", script, input=json.dumps(VECTORS))
    assert result.split() == ["['belman_client']"]


def test_its_client_asks_and_tells_with_nothing_else_installed(installed, tmp_path):
    script = """
import sys
from belman_client import Client, assign, refusals
with Client(sys.argv[1], timeout=60.0) as client:
    study = client.create("far", ["blue", ("red", 1)], policy={"name": "thompson"}, seed=3)
    ticket = study.ask()
    assert study.tell(ticket, 1) and not study.tell(ticket, 1)
    try:
        study.tell(ticket, 0)
    except refusals.TicketError as error:
        assert "already" in str(error)
    assert {row["arm"] for row in study.beliefs()} == {"blue", ("red", 1)}
    assert study.exported().startswith(b"number,")
    other = client.create("near", ["blue", "green"])
    weights = other.publish(100)
    rows = [(unit, weights.version, assign(weights, unit).arm, 1.0) for unit in range(10)]
    assert other.observe(rows, key="monday") == 10
    print(client.study("near").status()["told"])
foreign = {name.split(".")[0] for name in sys.modules} - sys.stdlib_module_names
assert [name for name in foreign if not name.startswith("_")] == ["belman_client"]
"""
    with running(tmp_path) as service:
        assert run(installed, "-I", "-c", script, service.url).split() == ["10"]


def test_it_is_small_and_has_the_version_of_belman(installed):
    script = "import belman_client, pathlib; print(pathlib.Path(belman_client.__file__).parent)"
    folder = Path(run(installed, "-I", "-c", script).strip())
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < LARGEST
    assert {"assign.mjs", "py.typed", "weights.schema.json"} <= {path.name for path in files}
    metadata = folder.parent / f"belman_client-{__version__}.dist-info"
    assert metadata.is_dir()
