"""Compiled code: cached across processes, never stale, the same numbers as its sources interpreted."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import belman
from belman import chance, special
from belman.engine import cache, entry, kernel
from belman.engine import kernels as compile
from belman.families import Bernoulli, bernoulli
from tests.contracts.cases import CASES
from tests.waiting import HANG

ROOT = Path(__file__).parents[2]
LEARN = """
    from belman.engine import cache, entries as entry
    from belman.families import Bernoulli
    arm = Bernoulli()
    print(arm.expected_reward(arm.update(arm.prior, 1.0)))
    calls = entry._entries.values()
    hits, misses = ([sum(getattr(call.stats, name).values()) for call in calls] for name in ("cache_hits", "cache_misses"))
    print(sum(hits), sum(misses))
    print(cache.cache_directory())
"""


def start(script: str, **environment: str) -> subprocess.Popen[str]:
    """A fresh interpreter on a script, with this repository's tests on its path."""
    path = os.pathsep.join([environment.pop("SOURCES", ""), str(ROOT)]).lstrip(os.pathsep)
    everything = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "error", **environment}
    command = [sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.Popen(
        command, env=everything, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate(timeout=HANG)
    assert process.returncode == 0, err
    return out.splitlines()


def contents(folder: Path) -> dict[str, int]:
    """Every compiled file with the time of its last change (Python's own byte code apart)."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path): path.stat().st_mtime_ns for path in files}


def test_second_process_hits_the_cache(tmp_path):
    """Two processes that meet on an empty cache both work; a third compiles nothing and writes
    nothing.
    """
    first = [start(LEARN, BELMAN_CACHE=str(tmp_path)) for _ in range(2)]
    counted = []
    for process in first:
        value, counts, folder = finish(process)
        assert (value, Path(folder)) == ("0.6666666666666666", tmp_path)
        counted.append(counts)
    assert any(
        counts != "2 0" for counts in counted
    )  # one may be late, and find what the other made
    before = contents(tmp_path)
    assert {Path(name).suffix for name in before} == {".py", ".nbi", ".nbc"}
    value, counts, _ = finish(start(LEARN, BELMAN_CACHE=str(tmp_path)))
    assert (value, counts) == ("0.6666666666666666", "2 0")
    assert contents(tmp_path) == before


def test_a_change_of_a_source_is_seen(tmp_path):
    """A kernel changes in another file than the entry's: another number, not a stale one; changed
    back, the old code is found.
    """
    sources = tmp_path / "src"
    shutil.copytree(
        Path(belman.__file__).parent,
        sources / "belman",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    environment = {"BELMAN_CACHE": str(tmp_path / "cache"), "SOURCES": str(sources)}
    script = """
        from belman.engine import entries as entry
        from belman.families import Bernoulli
        print(Bernoulli().mean_quantile((1.0, 1.0), 0.25))
        print(*[sum(call.stats.cache_hits.values()) for call in entry._entries.values()])
    """
    assert finish(start(script, **environment)) == ["0.25", "0"]
    changed = sources / "belman/special/beta_law.py"
    text = changed.read_text()
    line = "    x = _beta_quantile(beside * a, beside * b, level)\n"
    assert text.count(line) == 1
    changed.write_text(text.replace(line, line + "    x = 0.75\n"))
    assert finish(start(script, **environment)) == ["0.75", "0"]
    changed.write_text(text)
    assert finish(start(script, **environment)) == ["0.25", "1"]


USER = """
    from dataclasses import replace

    from belman.engine import kernel
    from belman.families import Bernoulli as Base, bernoulli
    from {tools} import (
        # a kernel, of another file
        factor as scale,
    )

    @kernel
    def expected_reward(law, belief):
        return scale(belief[0])

    KERNELS = replace(bernoulli.KERNELS, expected_reward=expected_reward)

    class Mine(Base):
        name = "mine"
        kernels = KERNELS
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

    environment = {"BELMAN_CACHE": str(tmp_path / "cache"), "SOURCES": str(tmp_path)}
    script = f"""
        from belman.engine import entries as entry
        from {user} import Mine
        print(Mine().expected_reward((1.5, 1.0)), *[sum(call.stats.cache_hits.values()) for call in entry._entries.values()])
    """
    write(user, USER.format(tools=imported))
    write(tools, TOOLS.format(factor=2.0))
    assert finish(start(script, **environment)) == ["3.0 0"]
    assert finish(start(script, **environment)) == ["3.0 1"]
    write(tools, TOOLS.format(factor=4.0))
    assert finish(start(script, **environment)) == ["6.0 0"]


def test_what_a_users_kernels_take_from_the_package_counts(tmp_path):
    """An upgrade of the package reaches kernels outside it."""
    (tmp_path / "mine.py").write_text("import math\nfrom belman.special import log_gamma\n")
    sys.path.insert(0, str(tmp_path))
    try:
        importlib.import_module("mine")
        assert {
            "belman.special",
            "belman.special.gamma_functions",
            "belman.special.beta_law",
        } <= cache._closure(["mine"])
        assert not {"math", "numpy", "numba"} & cache._closure(["mine"])
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("mine", None)


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
    value, _, folder = finish(start(LEARN, **environment))
    assert value == "0.6666666666666666"
    assert Path(folder).parent == tmp_path / "temporary"
    assert not Path(folder).exists()  # and is gone with the process


def numbers() -> dict[str, list[str]]:
    """A few numbers of every kernel, to the last bit."""
    found: dict[str, list[str]] = {}

    def keep(name, values):
        found[name] = [float(value).hex() for value in np.ravel(values)]

    points = [*np.logspace(-3, 9, 40).tolist(), 1.0, 2.0, 1.4616321449683623, 7.999]
    for name in ("log_gamma", "digamma", "trigamma", "stirling"):
        keep(name, [getattr(special, name)(x) for x in points])
    keep("log_beta", [special.log_beta(x, y) for x in points for y in points[::7]])
    for name, case in CASES.items():
        family, means = case.family, case.means
        rewards = family.sample_rewards(family.parameter_of(means[0]), chance.generator(3), 6)
        keep(f"{name} rewards", rewards)
        keep(f"{name} d", family.reward_divergence(means[0], means[1]))
        for belief in (
            case.ordinary[1],
            *(case.extreme if case.law else ()),
        ):  # quadrature is slow without a compiler
            label = f"{name} {belief}"
            keep(f"{label} update", family.update(belief, rewards[0]))
            for method in (
                "natural",
                "log_partition",
                "mean_parameters",
                "metric",
                "expected_reward",
            ):
                keep(f"{label} {method}", getattr(family, method)(belief))
            keep(f"{label} solve", family.from_mean_parameters(family.mean_parameters(belief)))
            keep(f"{label} divergence", family.divergence(belief, family.prior))
            keep(f"{label} cdf", family.mean_cdf(belief, means[0]))
            keep(f"{label} sample", family.sample_parameters(belief, chance.generator(4), 6))
            for side in (False, True):
                keep(
                    f"{label} quantile {side}",
                    [family.mean_quantile(belief, level, upper=side) for level in (1e-13, 0.1)],
                )
    return found


def test_interpreted_code_gives_the_same_bits():
    script = """
        import json
        from tests.engine.test_kernels import compile, numbers
        assert compile.INTERPRETED
        print(json.dumps(numbers()))
    """
    interpreted = json.loads(finish(start(script, NUMBA_DISABLE_JIT="1"))[0])
    assert not compile.INTERPRETED
    compiled = numbers()
    assert compiled.keys() == interpreted.keys()
    assert [name for name in compiled if compiled[name] != interpreted[name]] == []


@kernel
def _doubled(law, belief):
    return 2.0 * bernoulli.expected_reward(law, belief)


@kernel
def _ask(family, law, belief):
    return family.expected_reward(law, belief)


DOUBLED = replace(bernoulli.KERNELS, expected_reward=_doubled)


def test_kernels_of_a_module_outside_the_package():
    call = entry(_ask, {"family": (DOUBLED, __name__)}, {})
    assert call(np.zeros(1), np.array([1.0, 3.0])) == 0.5
    assert entry(_ask, {"family": (DOUBLED, __name__)}, {}) is call
    assert (
        entry(_ask, {"family": (bernoulli.KERNELS, bernoulli.__name__)}, {})(
            np.zeros(1), np.array([1.0, 3.0])
        )
        == 0.25
    )


def test_kernels_with_no_importable_home():
    """Made in a function, they are compiled in place, without the cache."""

    @kernel
    def constant(law, belief):
        return 3.5

    call = entry(
        _ask, {"family": (replace(bernoulli.KERNELS, expected_reward=constant), __name__)}, {}
    )
    assert call(np.zeros(1), np.array([1.0, 3.0])) == 3.5


@pytest.mark.parametrize("interpreted", ["0", "1"])
def test_kernels_of_main(interpreted):
    script = """
        from dataclasses import replace
        from belman.engine import kernel
        from belman.families import Bernoulli, bernoulli

        @kernel
        def expected_reward(law, belief):
            return 10.0 * belief[0]

        class Mine(Bernoulli):
            kernels = replace(bernoulli.KERNELS, expected_reward=expected_reward)

        print(Mine().expected_reward((2.0, 3.0)), Bernoulli().expected_reward((2.0, 3.0)))
    """
    assert finish(start(script, NUMBA_DISABLE_JIT=interpreted)) == ["20.0 0.4"]


def test_entries_take_bare_arrays_and_leave_beliefs_alone():
    arm = Bernoulli()
    belief = np.array([1.0, 1.0])
    arm.update(belief, 1.0)
    assert belief.tolist() == [1.0, 1.0]
