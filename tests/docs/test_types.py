"""The examples of the docs are well typed, for mypy and for pyright: what a reader copies does not
fail a check of types, and an editor knows what it is.
"""

from __future__ import annotations

import doctest
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: What examples of a notebook may do and a module may not: name one thing twice, show a value.
ALLOWED = "no-redef,assignment,import-untyped,import-not-found,func-returns-value,var-annotated"

#: Where an example knows what its types do not say, such as that a lift is there.
KNOWN = {
    ("docs_tutorials_llm_routing", "arg-type"),  # max by dict.get
    ("docs_tutorials_jobs", "index"),  # that its servers have names that are texts
    ("docs_ideas_design", "union-attr"),
    ("docs_guide_verdict", "union-attr"),
    ("docs_guide_studies", "arg-type"),  # which answer of `together` is whose
    ("docs_guide_lab", "type-var"),  # that names of xarray's variables are texts
    ("docs_guide_contexts", "arg-type"),  # that a ranking was asked for
}


def examples(folder):
    """Write the examples of each page that are meant to succeed as one module, and give all."""
    parser, result = doctest.DocTestParser(), []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        shown = parser.get_examples(text)
        lines = [example.source for example in shown if example.exc_msg is None]
        if lines:
            name = "_".join(page.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
            path = folder / f"page_{name}.py"
            path.write_text("".join(lines), encoding="utf-8")
            result.append(path)
    return result


@pytest.mark.slow
@pytest.mark.skipif(
    tuple(map(int, np.__version__.split(".")[:2])) < (2, 3),
    reason="types of older NumPy let .tolist() of an array be a number",
)
def test_mypy_takes_every_example(tmp_path):
    pages = examples(tmp_path)
    assert len(pages) > 20
    codes = [word for code in ALLOWED.split(",") for word in ("--disable-error-code", code)]
    words = ["--follow-imports", "silent", "--no-error-summary", "--allow-redefinition", *codes]
    cache = ["--cache-dir", str(ROOT / ".mypy_cache")]
    command = [sys.executable, "-m", "mypy", *words, *cache, *map(str, pages)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    result = re.findall(r"page_(\w+)\.py:(\d+): error: (.*)  \[([\w-]+)\]", done.stdout)
    assert done.returncode in (0, 1), done.stderr
    assert [one for one in result if (one[0], one[3]) not in KNOWN] == []
    assert {(one[0], one[3]) for one in result} == KNOWN


WANTED = """
import belman
agent = belman.Agent(["a"])
reveal_type(agent)
reveal_type(belman.Agent(["a"], context=["age"], policy="lin-ucb"))
reveal_type(agent.beliefs())
reveal_type(belman.open_study("page", ["a"], policy="thompson").ask())
reveal_type(belman.Client("http://127.0.0.1:8000").study("page").ask(3))
reveal_type(belman.analyse({}))
async def main() -> None:
    study = belman.AsyncStudy(belman.open_study("page"))
    reveal_type(await study.ask())
    reveal_type(await study.ask(2))
    reveal_type(await study.beliefs(level=0.9))
    far = await belman.AsyncClient("http://127.0.0.1:8000").study("page")
    reveal_type(await far.tell("1", 1.0))
"""
REVEALED = [
    "Agent",
    "Agent",
    "Table",
    "Ticket",
    "list[RemoteTicket]",
    "Analysis",
    "Ticket",
    "list[Ticket]",
    "Table",
    "bool",
]


@pytest.mark.slow
def test_pyright_knows_what_everything_is(tmp_path):
    pyright = shutil.which("pyright", path=str(Path(sys.executable).parent)) or shutil.which(
        "pyright"
    )
    if pyright is None:
        pytest.skip("pyright is not installed: pip install pyright")
    (tmp_path / "example.py").write_text(WANTED)
    words = ["--outputjson", "--pythonpath", sys.executable, "example.py"]
    done = subprocess.run([pyright, *words], cwd=tmp_path, capture_output=True, text=True)
    try:
        result = json.loads(done.stdout)["generalDiagnostics"]
    except ValueError:
        pytest.skip(f"pyright does not run here: {done.stderr[:200]}")
    errors = [one for one in result if one["severity"] == "error"]
    assert errors == []
    assert [one["message"].split(' is "')[1].rstrip('"') for one in result] == REVEALED
