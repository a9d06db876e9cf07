"""Break one line at a time, and see whether the tests notice: `python -m tests.mutation`.

`python -m tests.mutation --map FOLDER` runs the tests of the rooms once and notes which of them run
which lines (it needs `coverage`); `python -m tests.mutation FOLDER --seed 1 --count 200` then
breaks so many lines, drawn by the seed, each in a copy of the tree, and runs the tests that run the
line, the quickest first. What nobody noticed is printed as a line of a diff.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple
from xml.etree import ElementTree

HERE = Path(__file__).parents[1]
ROOMS = ("assignment", "deciders", "measures", "studies")
#: What a comparison, or a sum, is turned into.
OTHER: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or,
    ast.Or: ast.And, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip
#: What the code of a run says: all pass, some fail, a file cannot be imported, or there are none.
CODES, BROKEN = {0: "passed", 1: "failed", 2: "failed", 5: "passed", -9: "hung", -24: "hung"}, 99
SECONDS = 120  # of the processor, that a run may take
#: What tests import is imported once for all runs: each is a child of this process. Plugins of
#: pytest, which would take longer than most tests, are left out.
PRELOADED = (
    "fastapi", "hypothesis", "hypothesis.strategies", "mpmath", "numba",
    "numpy", "pandas", "psycopg", "pyarrow.parquet", "pytest", "rich.console", "scipy.optimize",
    "scipy.stats", "typer", "uvicorn",
)  # fmt: skip


class Mutant(NamedTuple):
    """A line that is broken: where, from what, to what."""

    path: str
    line: int
    last: int
    start: int  # characters of the text that are replaced
    end: int
    new: str
    was: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.was}  →  {self.new}"


def mutants(root: Path, path: str) -> Iterator[Mutant]:
    """Every line of a file that can be broken, in every way that is tried."""
    text = (root / path).read_text()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = text.splitlines()

    def at(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for node, new in _changes(ast.parse(text)):
        start, end = at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)
        if text[start:end] != new:
            yield Mutant(path, node.lineno, node.end_lineno, start, end, new, text[start:end])


def _changes(tree: ast.AST) -> Iterator[tuple[Any, str]]:
    """Nodes, and what may stand in their place."""
    skipped = set[int]()
    for node in ast.walk(tree):
        parts = [getattr(node, name, None) for name in ("annotation", "returns")]
        if isinstance(node, ast.JoinedStr):
            parts.append(node)
        for part in filter(None, parts):
            skipped |= {id(one) for one in ast.walk(part)}
    for node in ast.walk(tree):
        if id(node) not in skipped:
            for new in _changed(node):
                yield node, new


def _changed(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        ops: list[Any] = [OTHER[type(node.ops[0])]()]
        yield f"({ast.unparse(ast.Compare(node.left, ops, node.comparators))})"
    elif isinstance(node, ast.BinOp) and type(node.op) in OTHER:
        yield f"({ast.unparse(ast.BinOp(node.left, OTHER[type(node.op)](), node.right))})"
    elif isinstance(node, ast.BoolOp):
        yield f"({ast.unparse(ast.BoolOp(OTHER[type(node.op)](), node.values))})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        value = node.value
        yield str(not value) if isinstance(value, bool) else f"({value} + 1)"
    elif isinstance(node, ast.IfExp):
        yield f"({ast.unparse(ast.IfExp(node.test, node.orelse, node.body))})"
    elif isinstance(node, ast.Call) and len(node.args) > 1 and not _is_symmetric(node.func):
        first, second, *rest = node.args
        if not any(isinstance(one, ast.Starred) for one in (first, second)):
            yield ast.unparse(ast.Call(node.func, [second, first, *rest], node.keywords))
    elif isinstance(node, (ast.AugAssign, ast.Raise)) or _is_call(node):
        yield "pass"
    elif isinstance(node, ast.Return) and not isinstance(node.value, (ast.Constant, NoneType)):
        yield "return None"


def _is_symmetric(function: ast.expr) -> bool:
    """Whether the order of its arguments says nothing."""
    return ast.unparse(function).rpartition(".")[2] in {"max", "min", "maximum", "minimum", "hypot"}


def _is_call(node: ast.AST) -> bool:
    """Whether a statement calls something for its effect."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


# Which tests run which lines


def make_map(folder: Path, rooms: list[str]) -> None:
    """Run the tests of the rooms once, and note what each of them runs, and for how long."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rc").write_text(
        f"[run]\nsource = {','.join(f'belman.{room}' for room in ROOMS)}\n"
        "dynamic_context = test_function\n"
    )
    for room in rooms:
        command = [sys.executable, "-m", "coverage", "run", f"--rcfile={folder}/rc", "-m", "pytest"]
        command += [f"tests/{room}", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
        command += [f"--junitxml={folder}/{room}.xml"]
        own = {"COVERAGE_FILE": str(folder / f"cov.{room}")}
        subprocess.run(command, env=os.environ | own, check=False)


def read_map(
    folder: Path,
) -> tuple[dict[tuple[str, int], set[str]], dict[str, set[str]], dict[str, float]]:
    """The tests of every line, those of every file, and the seconds of every test."""
    from coverage import CoverageData

    seconds: dict[str, float] = defaultdict(float)
    there = [room for room in ROOMS if (folder / f"{room}.xml").exists()]
    for room in there:
        for case in ElementTree.parse(folder / f"{room}.xml").iter("testcase"):
            name = f"{case.get('classname')}.{str(case.get('name')).partition('[')[0]}"
            seconds[name] += float(case.get("time", 0.0))
    result: dict[tuple[str, int], set[str]] = defaultdict(set)
    files: dict[str, set[str]] = defaultdict(set)
    for room in there:
        data = CoverageData(str(folder / f"cov.{room}"))
        data.read()
        for path in data.measured_files():
            own = path[path.index("src/belman/") :]
            for line, tests in data.contexts_by_lineno(path).items():
                result[own, line] |= {test for test in tests if test in seconds}
                files[own] |= result[own, line]
    return result, files, seconds


def node_of(test: str) -> str:
    """A test as pytest names it."""
    parts = test.split(".")
    module = next(i for i, part in enumerate(parts) if part.startswith("test_"))
    return "::".join(["/".join(parts[: module + 1]) + ".py", *parts[module + 1 :]])


# Trying them


def run(root: Path, arguments: list[str], out: Path) -> str:
    """Run tests in a child: 'passed', 'failed', 'hung' or 'crashed'; 'broken' where they could not
    be run.
    """
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        os.chdir(root)
        stream = os.open(out, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(stream, 1)
        os.dup2(stream, 2)
        ours = {"", str(HERE), str(HERE / "src")}
        sys.path[:] = [str(root), str(root / "src"), *(one for one in sys.path if one not in ours)]
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        os.environ["PYTHONPATH"] = str(root / "src")
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", *arguments]
        code = BROKEN
        try:
            code = int(pytest.main(options))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return CODES.get(code, "crashed" if code < 0 else "broken")


def judge(root: Path, mutant: Mutant, tests: list[str], out: Path) -> str:
    """Break a line, run the tests, and mend it again."""
    path = root / mutant.path
    text = path.read_text()
    path.write_text(text[: mutant.start] + mutant.new + text[mutant.end :])
    try:
        return run(root, [mutant.path, *map(node_of, tests)], out)
    finally:
        path.write_text(text)


def quickest(tests: set[str], seconds: dict[str, float]) -> list[str]:
    """The tests that are run for a line: the quickest, for as long as a run may take."""
    result, total = list[str](), 0.0
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        total += seconds[test]
        if total > 0.5 * SECONDS:
            break
        result.append(test)
    return result


def blamed(out: Path) -> list[str]:
    """The tests that noticed, as pytest names them."""
    lines = [line.partition(" ") for line in out.read_text(errors="replace").splitlines()]
    return [rest.partition(" - ")[0] for how, _, rest in lines if how in ("FAILED", "ERROR")]


def main() -> None:
    """Break lines for as long as told; leave with an error if fewer than 90 % are noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the map is kept")
    parser.add_argument("--map", action="store_true", help="make the map")
    parser.add_argument("--rooms", nargs="+", default=list(ROOMS), help="that are broken")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--only", type=int, nargs="+", help="the numbers of those that are tried")
    given = parser.parse_args()
    if given.map:
        make_map(given.folder, given.rooms)
        return
    root = Path(tempfile.mkdtemp(prefix="mutation"))
    for name in ("src", "tests", "pyproject.toml", "docs", "benchmarks", "README.md", "Makefile"):
        copy: Any = shutil.copytree if Path(name).is_dir() else shutil.copy
        copy(name, root / name)
    lines, of_file, seconds = read_map(given.folder)
    files = sorted(
        str(path.relative_to(root))
        for room in given.rooms
        for path in (root / "src" / "belman" / room).rglob("*.py")
    )
    every = [one for path in files for one in mutants(root, path)]
    random.Random(given.seed).shuffle(every)
    for name in PRELOADED:
        importlib.import_module(name)

    counts: dict[str, int] = defaultdict(int)
    sound: set[str] = set()  # tests that pass where nothing is broken, and those that do not
    unsound: set[str] = set()
    for i in given.only or range(given.count):
        mutant = every[i]
        own = range(mutant.line, mutant.last + 1)
        tests = set().union(*(lines.get((mutant.path, line), set()) for line in own))
        tests = tests or of_file[mutant.path]  # a line that runs as its module is imported
        chosen = quickest(tests - unsound, seconds)
        result, by = judge(root, mutant, chosen, given.folder / "out"), ""
        while result == "failed":  # only if the same test passes where nothing is broken
            by = (blamed(given.folder / "out") or [mutant.path])[0]
            if by in sound or run(root, [by], given.folder / "control") == "passed":
                sound.add(by)
                break
            unsound |= {test for test in chosen if node_of(test) == by.partition("[")[0]}
            if not unsound & set(chosen):
                result = "broken"
                break
            chosen = [test for test in chosen if test not in unsound]
            result = judge(root, mutant, chosen, given.folder / "out")
        counts[result] += 1
        said = {"mutant": i, "found": result, "tests": len(tests), "by": by, "what": str(mutant)}
        print(json.dumps(said, ensure_ascii=False), flush=True)
    shutil.rmtree(root)
    noticed = counts["failed"] + counts["hung"] + counts["crashed"]
    print(f"{noticed} of {sum(counts.values())} noticed: {dict(counts)}")
    sys.exit(noticed < 0.9 * sum(counts.values()))


if __name__ == "__main__":
    main()
