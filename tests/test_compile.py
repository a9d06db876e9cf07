"""Compiled code: cached across processes, never stale, the same numbers as its sources interpreted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import belman
from belman import chance, compile, special
from belman.compile import entry, kernel
from belman.families import Bernoulli, bernoulli
from tests.contracts.cases import CASES

ROOT = Path(__file__).parents[1]
LEARN = """
    from belman import cache, compile
    from belman.families import Bernoulli
    arm = Bernoulli()
    print(arm.expected_reward(arm.update(arm.prior, 1.0)))
    calls = compile._entries.values()
    hits, misses = ([sum(getattr(call.stats, name).values()) for call in calls] for name in ("cache_hits", "cache_misses"))
    print(sum(hits), sum(misses))
    print(cache.cache_directory())
"""


def start(script: str, **environment: str) -> subprocess.Popen[str]:
    """A fresh interpreter on a script, with this repository's tests on its path."""
    path = os.pathsep.join([environment.pop("SOURCES", ""), str(ROOT)]).lstrip(os.pathsep)
    everything = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "error", **environment}
    command = [sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.Popen(command, env=everything, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.splitlines()


def contents(folder: Path) -> dict[str, int]:
    """Every compiled file with the time of its last change (Python's own byte code apart)."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path): path.stat().st_mtime_ns for path in files}


def test_second_process_hits_the_cache(tmp_path):
    """Two processes that meet on an empty cache both work; a third compiles nothing and writes nothing."""
    first = [start(LEARN, BELMAN_CACHE=str(tmp_path)) for _ in range(2)]
    for process in first:
        value, counts, folder = finish(process)
        assert (value, Path(folder)) == ("0.6666666666666666", tmp_path)
    assert counts.split()[1] != "0"
    before = contents(tmp_path)
    assert {Path(name).suffix for name in before} == {".py", ".nbi", ".nbc"}
    value, counts, _ = finish(start(LEARN, BELMAN_CACHE=str(tmp_path)))
    assert (value, counts) == ("0.6666666666666666", "2 0")
    assert contents(tmp_path) == before


def test_a_change_of_any_source_is_seen(tmp_path):
    """A kernel changes in a file other than the entry's: another number, never a stale one; and changed back, the cache hits."""
    sources = tmp_path / "src"
    shutil.copytree(Path(belman.__file__).parent, sources / "belman", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {"BELMAN_CACHE": str(tmp_path / "cache"), "SOURCES": str(sources)}
    value, _, _ = finish(start(LEARN, **environment))
    changed = sources / "belman/families/bernoulli.py"
    text = changed.read_text()
    assert text.count("return belief[0] / (belief[0] + belief[1])") == 1
    changed.write_text(text.replace("return belief[0] / (belief[0] + belief[1])", "return 7.0"))
    new_value, _, _ = finish(start(LEARN, **environment))
    assert (value, new_value) == ("0.6666666666666666", "7.0")
    changed.write_text(text)
    same_value, counts, _ = finish(start(LEARN, **environment))
    assert (same_value, counts) == (value, "2 0")


def test_a_change_elsewhere_keeps_the_cache(tmp_path):
    sources = tmp_path / "src"
    shutil.copytree(Path(belman.__file__).parent, sources / "belman", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {"BELMAN_CACHE": str(tmp_path / "cache"), "SOURCES": str(sources)}
    finish(start(LEARN, **environment))
    with (sources / "belman/families/poisson.py").open("a") as file:
        file.write("# a thought\n")
    assert finish(start(LEARN, **environment))[1] == "2 0"


PLAY = """
    import belman
    for reading in READINGS:
        agent = belman.Agent(range(5), policy=belman.BelMan.paper(reading), seed=3)
        asked = []
        for turn in range(40):
            asked.append(agent.ask())
            agent.tell(asked[-1], (turn * 7 + asked[-1] * 3) % 5 / 4)
        print(reading, asked)
"""


def test_kernels_made_anew_do_not_take_each_others_code(tmp_path):
    """A process compiles one reading and then meets another in the cache: closures of one name must not be mixed up."""
    cached = finish(start(PLAY.replace("READINGS", "['barycentre']"), BELMAN_CACHE=str(tmp_path)))
    alone = finish(start(PLAY.replace("READINGS", "['natural']"), BELMAN_CACHE=str(tmp_path / "other")))
    together = finish(start(PLAY.replace("READINGS", "['natural', 'barycentre']"), BELMAN_CACHE=str(tmp_path)))
    assert together == [*alone, *cached]
    assert alone[0].split(" ", 1)[1] != cached[0].split(" ", 1)[1]


def test_old_entries_are_forgotten(tmp_path):
    for name in ("entry_old.py", "entry_new.py", "a file"):
        (tmp_path / name).write_text("x")
    for name in ("entry_old.py", "a file"):
        os.utime(tmp_path / name, (1e9, 1e9))
    finish(start("from belman.cache import cache_directory\nprint(cache_directory())", BELMAN_CACHE=str(tmp_path)))
    assert {path.name for path in tmp_path.iterdir()} == {"entry_new.py", "a file"}


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
        for belief in (case.ordinary[1], *case.extreme):
            label = f"{name} {belief}"
            keep(f"{label} update", family.update(belief, rewards[0]))
            for method in ("natural", "log_partition", "mean_parameters", "metric", "expected_reward"):
                keep(f"{label} {method}", getattr(family, method)(belief))
            keep(f"{label} solve", family.from_mean_parameters(family.mean_parameters(belief)))
            keep(f"{label} divergence", family.divergence(belief, family.prior))
            keep(f"{label} cdf", family.mean_cdf(belief, means[0]))
            keep(f"{label} sample", family.sample_parameters(belief, chance.generator(4), 6))
            for side in (False, True):
                keep(f"{label} quantile {side}", [family.mean_quantile(belief, level, upper=side) for level in (1e-13, 0.1)])
    return found


def test_interpreted_code_gives_the_same_bits():
    script = """
        import json
        from tests.test_compile import compile, numbers
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
    assert entry(_ask, {"family": (bernoulli.KERNELS, bernoulli.__name__)}, {})(np.zeros(1), np.array([1.0, 3.0])) == 0.25


def test_kernels_with_no_importable_home():
    """Made in a function, they are compiled in place, without the cache."""

    @kernel
    def constant(law, belief):
        return 3.5

    call = entry(_ask, {"family": (replace(bernoulli.KERNELS, expected_reward=constant), __name__)}, {})
    assert call(np.zeros(1), np.array([1.0, 3.0])) == 3.5


@pytest.mark.parametrize("interpreted", ["0", "1"])
def test_kernels_of_main(interpreted):
    script = """
        from dataclasses import replace
        from belman.compile import kernel
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
