"""Compiled code: cached across processes, never stale."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import textwrap
import time
from pathlib import Path

import pytest

import belman
from belman.engine import cache
from tests.engine.processes import finish, start

#: A process that plays two turns, compiled, and says what it made and what it found.
PLAY = """
    import numba, numpy as np
    from belman.engine import cache, entry
    from belman.families import Bernoulli
    from tests.engine.loops import turns
    arm = Bernoulli()
    out = np.array(arm.prior)
    entry(turns, family=arm.kernels)(constants=arm.constants, belief=out, count=2)
    made = cache.cache_directory()
    print(out.tolist())
    print(cache.cache_directory())
"""


def contents(folder: Path) -> dict[str, int]:
    """Every compiled file with the time of its last change (Python's own byte code apart)."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path): path.stat().st_mtime_ns for path in files}


def test_second_process_hits_the_cache(tmp_path):
    """Two processes that meet on an empty cache both work; a third compiles nothing and writes
    nothing.
    """
    first = [start(PLAY, BELMAN_CACHE=str(tmp_path)) for _ in range(2)]
    for process in first:
        assert finish(process) == ["[3.0, 1.0]", str(tmp_path)]
    before = contents(tmp_path)
    assert {Path(name).suffix for name in before} == {".py", ".nbi", ".nbc"}
    assert finish(start(PLAY, BELMAN_CACHE=str(tmp_path))) == ["[3.0, 1.0]", str(tmp_path)]
    assert contents(tmp_path) == before


def compiled(folder: Path) -> int:
    """How many functions were compiled into a cache."""
    return len(list(folder.rglob("*.nbc")))


def test_a_change_of_a_source_is_seen(tmp_path):
    """A kernel changes in another file than the entry's: another number, not a stale one; changed
    back, the old code is found.
    """
    sources, kept = tmp_path / "src", tmp_path / "cache"
    shutil.copytree(
        Path(belman.__file__).parent,
        sources / "belman",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    environment = {"BELMAN_CACHE": str(kept), "SOURCES": str(sources), "BELMAN_COMPILE": "first"}
    script = """
        import numpy as np
        from belman.families import Bernoulli
        print(Bernoulli().mean_intervals(np.ones((1, 2)), 0.25)[0][0])
    """
    assert finish(start(script, **environment)) == ["0.25"]
    assert compiled(kept) == 1
    changed = sources / "belman/special/beta_distribution.py"
    text = changed.read_text()
    line = "    x = _beta_quantile(beside * a, beside * b, level)\n"
    assert text.count(line) == 1
    changed.write_text(text.replace(line, line + "    x = 0.75\n"))
    assert finish(start(script, **environment)) == ["0.75"]
    assert compiled(kept) == 2
    changed.write_text(text)
    assert finish(start(script, **environment)) == ["0.25"]
    assert compiled(kept) == 2


USER = """
    from dataclasses import replace

    from belman.engine import kernel
    from belman.families import Bernoulli as Base, bernoulli
    from {tools} import (
        # a kernel, of another file
        factor as scale,
    )

    @kernel
    def mean_quantile(distribution, belief, level, upper):
        return scale(belief[0])

    class Mine(Base):
        name = "mine"
        kernels = replace(bernoulli.KERNELS, mean_quantile=mean_quantile)
"""
TOOLS = """
    from belman.engine import kernel

    @kernel
    def factor(x):
        return {factor} * x
"""


@pytest.mark.parametrize(
    ("user", "tools", "imported"),
    [("mine", "other", "other"), ("package.mine", "package.other", ".other")],
)
def test_a_change_of_a_users_source_is_seen(tmp_path, user, tools, imported):
    """Kernels of one's own, in two files, beside each other or in a package."""

    def write(module, text):
        path = (tmp_path / module.replace(".", "/")).with_suffix(".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))

    kept = tmp_path / "cache"
    path = os.pathsep.join([str(tmp_path), str(Path(belman.__file__).parents[1])])
    environment = {"BELMAN_CACHE": str(kept), "SOURCES": path, "BELMAN_COMPILE": "first"}
    script = f"""
        import numpy as np
        from {user} import Mine
        print(Mine().mean_intervals(np.array([[1.5, 1.0]]), 0.25)[0][0])
    """
    write(user, USER.format(tools=imported))
    write(tools, TOOLS.format(factor=2.0))
    for _ in range(2):
        assert finish(start(script, **environment)) == ["3.0"]
        assert compiled(kept) == 1
    write(tools, TOOLS.format(factor=4.0))
    assert finish(start(script, **environment)) == ["6.0"]
    assert compiled(kept) == 2


def test_what_a_users_kernels_take_from_the_package_counts(tmp_path):
    """An upgrade of the package reaches kernels outside it."""
    (tmp_path / "taking.py").write_text("import math\nfrom belman.special import log_gamma\n")
    sys.path.insert(0, str(tmp_path))
    try:
        importlib.import_module("taking")
        assert {
            "belman.special",
            "belman.special.gamma_functions",
            "belman.special.beta_distribution",
        } <= cache._closure(["taking"])
        assert not {"math", "numpy", "numba"} & cache._closure(["taking"])
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("taking", None)


def test_old_code_is_forgotten(tmp_path):
    (tmp_path / "__pycache__").mkdir()
    ages = {
        "entry_old.py": 61,
        "entry_new.py": 59,
        "__pycache__/entry_old-1.nbi": 61,
        "__pycache__/entry_new-1.nbc": 1,
    }
    for name, days in {**ages, "not ours": 900}.items():
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (time.time() - days * 86_400,) * 2)
    cache._forget_old(tmp_path)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"entry_new.py", "__pycache__/entry_new-1.nbc", "not ours"}


def test_a_cache_that_cannot_be_written_is_replaced(tmp_path):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "temporary").mkdir()
    environment = {"BELMAN_CACHE": str(tmp_path / "file"), "TMPDIR": str(tmp_path / "temporary")}
    value, folder = finish(start(PLAY, **environment))
    assert value == "[3.0, 1.0]"
    assert Path(folder).parent == tmp_path / "temporary"
    assert not Path(folder).exists()  # and is gone with the process


def test_shortcuts_are_left_out_where_numba_is_another(tmp_path):
    """The same numbers by Numba's public interface alone."""
    assert finish(start(PLAY, BELMAN_CACHE=str(tmp_path), BELMAN_SHORTCUTS="0"))[0] == "[3.0, 1.0]"
    script = """
        import numba
        numba.__version__ = "99.0"
        from belman.engine import shortcuts
        print(shortcuts.usable())
    """
    assert finish(start(script)) == ["False"]


# Whose code is run

#: What a process says of its cache after it played: where that is, and whether it was warned.
WHERE = """
    import sys, warnings
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        from belman.engine import cache
        print(cache.cache_directory())
    print([str(one.message) for one in said])
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are kept otherwise here")
def test_a_directory_of_another_user_is_not_used(tmp_path, monkeypatch):
    (tmp_path / "entry_evil.py").write_text("raise SystemExit('run')")
    monkeypatch.setenv("BELMAN_CACHE", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.warns(UserWarning, match="not kept: .* is another user's"):
        result = cache.cache_directory.__wrapped__()
    assert result != tmp_path
    assert result.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are kept otherwise here")
def test_a_directory_where_others_may_write_is_closed_to_them(tmp_path):
    (tmp_path / "__pycache__").mkdir()
    for folder in (tmp_path, tmp_path / "__pycache__"):
        folder.chmod(0o777)
    result, said = finish(start(WHERE, BELMAN_CACHE=str(tmp_path)))
    assert (result, said) == (str(tmp_path), "[]")
    assert [f.stat().st_mode & 0o022 for f in (tmp_path, tmp_path / "__pycache__")] == [0, 0]


def test_an_entry_with_another_text_is_not_run(tmp_path):
    assert finish(start(PLAY, BELMAN_CACHE=str(tmp_path)))[0] == "[3.0, 1.0]"
    (path,) = tmp_path.glob("entry_*.py")
    text = path.read_text()
    path.write_text("raise SystemExit('run')\n")
    assert finish(start(PLAY, BELMAN_CACHE=str(tmp_path)))[0] == "[3.0, 1.0]"
    assert path.read_text() == text


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are kept otherwise here")
def test_compiled_code_that_others_could_write_is_made_anew(tmp_path):
    assert finish(start(PLAY, BELMAN_CACHE=str(tmp_path)))[0] == "[3.0, 1.0]"
    kept = [path for path in tmp_path.rglob("*") if path.suffix in (".nbi", ".nbc")]
    for path in kept:
        path.write_bytes(b"another's")
        path.chmod(0o666)
    assert finish(start(PLAY, BELMAN_CACHE=str(tmp_path)))[0] == "[3.0, 1.0]"
    assert all(path.read_bytes() != b"another's" for path in kept if path.exists())
