"""What people install: the sdist and the wheel, each in an empty environment far from the checkout.

Nothing is fetched: the environment sees the packages of the one that runs the tests by a line in a
`.pth` file, which does not bring along what is installed there as editable.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

from belman.version import __version__
from tests import packages
from tests.service.running import running
from tests.waiting import HANG, process

ROOT = Path(__file__).parents[1]
needs_backend = pytest.mark.skipif(
    importlib.util.find_spec("setuptools") is None or importlib.util.find_spec("pip") is None,
    reason="the build backend, setuptools, or pip is not installed",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    sources = packages.copied(folder)
    return {kind: packages.build(kind, sources, folder / kind) for kind in ("sdist", "wheel")}


def tracked(under: str) -> set[str]:
    """Files of the checkout below a folder, caches aside."""
    files = (path for path in (ROOT / under).rglob("*") if path.is_file())
    names = {path.relative_to(ROOT).as_posix() for path in files}
    return {name for name in names if not re.search(r"__pycache__|node_modules|egg-info", name)}


@pytest.mark.slow
@needs_backend
def test_the_sdist_holds_the_sources(built):
    with tarfile.open(built["sdist"]) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert tracked("src") <= held
    assert tracked("docs") | tracked("tests") | tracked("benchmarks") | tracked("tools") <= held
    assert {"LICENSE", "README.md", "CITATION.cff", "Makefile", "constraints.txt"} <= held


@pytest.mark.slow
@needs_backend
def test_the_wheel_holds_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built["wheel"]) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        metadata = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        text = archive.read(metadata).decode()
    package = {name.removeprefix("src/") for name in tracked("src/belman")}
    assert held == {name for name in package if not name.startswith("belman/dashboard/web/")}
    assert f"\nVersion: {__version__}\n" in text
    assert "the belman developers" in text
    assert "Project-URL" not in text
    assert "Home-page" not in text


def installed(package: Path, folder: Path) -> Path:
    """The scripts of a new environment with the package in it."""
    venv.create(folder, with_pip=False)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / Path(sys.executable).name
    if not python.exists():
        python = scripts / "python"
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    site = next(folder.rglob("site-packages"))
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", *options]
    subprocess.run([*pip, "--ignore-installed", str(package)], check=True, env=_far(folder))
    return scripts


def _far(folder: Path) -> dict[str, str]:
    """An environment in which nothing points to the checkout."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {"HOME": str(folder), "BELMAN_COMPILE": "never"}


FIVE_LINES = """
import random, belman, belman.version
clicks, luck = {"blue": 0.05, "green": 0.11, "red": 0.08}, random.Random(7)
agent = belman.Agent(["blue", "green", "red"], seed=7)
for visitor in range(100):
    button = agent.ask()
    agent.tell(button, luck.random() < clicks[button])
print(belman.__file__, belman.__version__, sum(agent.beliefs()["plays"]), sep="|")
"""


@pytest.mark.slow
@needs_backend
@pytest.mark.parametrize("kind", ["sdist", "wheel"])
def test_what_is_installed_works(kind, built, tmp_path):
    scripts = installed(built[kind], tmp_path / "env")
    environment = _far(tmp_path)
    run = {"cwd": tmp_path, "env": environment, "text": True, "timeout": HANG}
    command = [str(scripts / "python"), "-c", FIVE_LINES]
    said = subprocess.run(command, capture_output=True, check=True, **run).stdout
    file, version, plays = said.strip().split("|")
    assert Path(file).is_relative_to(tmp_path / "env")
    assert (version, plays) == (__version__, "100")
    belman = str(scripts / "belman")
    for arguments, path in (
        (["demo", "--no-browser", "--port", "0", "--seed", "7"], "/"),
        (["serve", "--port", "0", "--storage", "sqlite:///studies.db"], "/healthz"),
    ):
        with process([belman, *arguments], cwd=tmp_path, env=environment) as child:
            address = re.search(r"http://[^/\s]+", child.stdout.readline())
            assert address, child.stderr.read()
            with urllib.request.urlopen(address[0] + path, timeout=HANG) as answer:
                assert answer.status == 200
                assert answer.read()


def test_the_citation_names_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", text, re.MULTILINE)[1] == __version__
    assert re.search(r"^cff-version: 1\.2\.0$", text, re.MULTILINE)
    assert [name for name in ("Basu", "Senellart", "Bressan") if name not in text] == []


def test_the_container_file_copies_what_there_is_and_starts_the_service():
    """A builder is not asked here; hosted tests build the image."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    joined = re.sub(r"\\\n", " ", text)
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    known = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL"}
    known |= {"HEALTHCHECK", "ENTRYPOINT", "CMD"}
    assert {line.split()[0] for line in lines} <= known
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    for line in lines:
        words = shlex.split(line)
        if words[0] == "COPY" and not words[1].startswith("--from"):
            for name in words[1:-1]:
                assert (ROOT / name).exists()
                assert f"!{name}" in ignored
    user, warm = (next(i for i, line in enumerate(lines) if word in line) for word in
                  ("USER 10001", "belman warm"))  # fmt: skip
    assert user < warm, "the cache has to be the user's own"
    set_up = " ".join(line for line in lines if line.startswith("ENV"))
    (command,) = [line for line in lines if line.startswith("CMD")]
    assert "BELMAN_STORAGE=" in set_up
    assert "--storage" not in command, "an option would beat the environment of the container"


@pytest.mark.slow
def test_the_health_check_asks_the_service_and_imports_next_to_nothing(tmp_path):
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    (words,) = re.findall(r"^HEALTHCHECK .* CMD (\[.*\])$", text, re.M)
    _, flags, script = json.loads(words)
    with running(tmp_path) as service:
        for port, status in ((service.port, 0), (1, 1)):
            tried = script.replace("8000", str(port))
            looked = f"import sys\ntry:\n exec({tried!r})\nfinally:\n print(len(sys.modules))"
            done = subprocess.run(
                [sys.executable, flags, looked], capture_output=True, text=True, check=False
            )
            assert done.returncode == status, done.stderr
            assert int(done.stdout) < 200


def test_hosted_tests_call_targets_that_there_are():
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    versions = set()
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        called = {word for line in re.findall(r"run: make (.*)", text) for word in line.split()}
        called |= set(re.findall(r"target: ([a-z-]+)", text))
        targets = {word for word in called if re.fullmatch(r"[a-z-]+", word)}
        assert targets <= made
        versions |= set(re.findall(r'"(3\.\d+)"', text))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    said = {
        words.rsplit(" ", 1)[1]
        for words in project["classifiers"]
        if re.search(r":: 3\.\d+$", words)
    }
    assert versions == said
