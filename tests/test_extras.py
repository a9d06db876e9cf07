"""Optional extras: one that is missing is named; an error inside one that is there stays itself."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import belman
from belman.errors import MissingExtraError
from belman.lab.run import on_dask
from belman.studies import Storage
from belman.studies.views import import_export
from belman.table import Table

#: Runs in a process of its own, in which what comes with the lab cannot be imported.
WITHOUT_THE_LAB = """
import sys
for name in ("xarray", "matplotlib", "pandas"):
    sys.modules[name] = None
import belman
from belman.cli import main
from belman.dashboard import application
agent = belman.Agent(["blue", "red"], seed=7)
agent.tell(agent.ask(), 1)
agent.report()
sys.argv = ["belman", *sys.argv[1:]]
main()
"""
DOORS = {
    "xarray": lambda folder: belman.simulate(
        [belman.policies.Random()], belman.problems.bernoulli([0.1, 0.9]), 5, 2
    ),
    "matplotlib": lambda folder: fresh("belman.plots"),
    "pandas": lambda folder: Table({"arm": ["a"]}).to_pandas(),
    "zarr": lambda folder: belman.simulate(
        [belman.policies.Random()],
        belman.problems.bernoulli([0.1, 0.9]),
        5,
        2,
        store=folder / "store",
    ),
    "distributed": lambda folder: next(on_dask(None, [], None, None)),
    "pyarrow": lambda folder: import_export.write(folder / "log.parquet", iter(())),
    "psycopg": lambda folder: Storage("postgresql://nobody@127.0.0.1:1/nothing"),
}


def fresh(name):
    """Import a module of ours anew, and leave the old one as it was."""
    kept = {one: sys.modules.pop(one) for one in list(sys.modules) if one.startswith(name)}
    try:
        importlib.import_module(name)
    finally:
        sys.modules.update(kept)


@pytest.mark.parametrize("package", DOORS)
def test_a_package_that_is_not_there_is_a_missing_extra(package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match="pip install 'belman"):
        DOORS[package](tmp_path)


@pytest.mark.parametrize("package", DOORS)
@pytest.mark.parametrize("line", ["import somebodys_own", "from json import somebodys_own"])
def test_an_import_error_inside_one_is_told_as_it_is(package, line, tmp_path, monkeypatch):
    (tmp_path / f"{package}.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, package, raising=False)
    importlib.invalidate_caches()
    with pytest.raises(ImportError, match="somebodys_own") as caught:
        DOORS[package](tmp_path)
    assert not isinstance(caught.value, MissingExtraError)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--version"], belman.__version__),
        (["list"], "bernoulli"),
        (["run", "--means", "0.1,0.2"], "error: a simulation needs the extra 'lab': "),
        (["report", "visits.csv", "--output", "a.pdf"], "error: a PDF file needs the extra"),
    ],
)
def test_all_but_the_lab_works_without_its_extra(words, said, tmp_path):
    (tmp_path / "visits.csv").write_text("arm,reward\n" + "old,0\nold,1\nnew,1\nnew,1\n" * 5)
    command = [sys.executable, "-c", WITHOUT_THE_LAB, *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert said in done.stdout + done.stderr
    if "error" in said:
        assert done.returncode == 2
        assert "pip install 'belman[lab]'" in done.stderr


@pytest.mark.parametrize("command", ["demo", "serve"])
def test_the_service_names_its_extra(command):
    script = """
import sys
for name in ("fastapi", "starlette", "uvicorn", "httptools", "prometheus_client"):
    sys.modules[name] = None
from belman.cli import main
main()
"""
    command = [sys.executable, "-c", script, command]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'belman[service]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_assignment_imports_nothing_else_of_the_package():
    listed = "import sys, belman.assignment; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True).stdout
    ours = {name for name in result.split() if name.split(".")[0] == "belman"}
    assert "belman.assignment.client" in ours
    assert all(name.startswith("belman.assignment") for name in ours - {"belman"})
    assert "numpy" not in result.split()


def test_an_agent_imports_neither_scipy_nor_numba_nor_the_lab():
    """They take as long as all else together, and an agent that asks and tells needs none."""
    listed = "import sys, belman; belman.Agent; belman.open_study; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True).stdout
    tops = {name.split(".")[0] for name in result.split()}
    assert {"belman", "numpy"} <= tops
    assert not tops & {"scipy", "numba", "xarray", "pandas", "matplotlib", "rich", "typer"}


def test_every_public_name_is_found_when_it_is_used():
    for name in belman.__all__:
        assert getattr(belman, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        belman.nothing  # noqa: B018
