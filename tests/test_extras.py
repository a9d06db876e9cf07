"""Optional extras: one that is missing is named; an error inside one that is there stays itself."""

from __future__ import annotations

import importlib
import sys

import pytest

import belman
from belman.errors import MissingExtraError
from belman.lab.run import on_dask
from belman.studies import Storage
from belman.studies.views import import_export
from belman.table import Table

DOORS = {
    "pandas": lambda folder: Table({"arm": ["a"]}).to_pandas(),
    "zarr": lambda folder: belman.simulate(
        [belman.Random()], belman.problems.bernoulli([0.1, 0.9]), 5, 2, store=folder / "store"
    ),
    "distributed": lambda folder: next(on_dask(None, [], None, None)),
    "pyarrow": lambda folder: import_export.write(folder / "log.parquet", iter(())),
    "psycopg": lambda folder: Storage("postgresql://nobody@127.0.0.1:1/nothing"),
}


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
