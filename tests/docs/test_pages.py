"""Single pages keep up with what they describe: formats, links of README, blocks of code."""

from __future__ import annotations

import importlib
import itertools
import json
import re
import shlex
import sys
from pathlib import Path

import pytest
import typer

import belman
from belman.cli import app
from belman.deciders import Draw
from belman.studies.log.event_log import Event, Kind

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))  # where the extension of Sphinx is
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def text_of(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_the_event_log_has_every_column_kind_and_draw():
    text = text_of("reference/event-log.md")
    assert [name for name in Event._fields if f"| `{name}` |" not in text] == []
    for kind in (*Kind, *Draw):
        assert f"| {kind.value} | {kind.name} |" in text


def test_the_state_file_has_every_field():
    text = text_of("reference/state-file.md")
    agent = belman.Agent(
        ["a"], range=(0, 5), clip=True, control="a", stop_when=belman.measures.Sure(0.95)
    )
    saved = json.loads(agent.to_json())
    cells = " ".join(row.split("|")[1] for row in text.splitlines() if row.startswith("| `"))
    assert set(re.findall(r"`(\w+)`", cells)) == set(saved)


def test_links_of_readme_lead_to_files():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_block_of_python_is_an_example_that_runs():
    """Doctest runs what has a prompt, `test_extending` the files of one's own, and the tests of
    bridges the application of web.md; a block that is none of them would be run by nobody.
    """
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
            is_file = page.name in ("extending.md", "web.md") and re.match(r"# \w+\.py\n", block)
            assert block.startswith(">>>") or is_file, (page.name, block)


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "reference").glob("*.md")), ids=lambda page: page.stem
)
def test_what_is_generated_says_where_to_read_it(page):
    """In the repository nothing is written out: the next line says where it is."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for line, after in itertools.pairwise(lines):
        if line.startswith("<!-- generated: "):
            assert after.startswith("> The site that `make docs` builds "), line
            for link in re.findall(r"\]\(([^)]+)\)", after):
                assert (page.parent / link).exists(), link
            assert (helped := re.search(r"`help\(([\w.]+)\)`", after)) is None or (
                importlib.import_module(helped[1])
            )


def test_the_site_has_no_note_for_those_who_read_the_repository():
    pytest.importorskip("sphinx")
    extension = importlib.import_module("extension")
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    assert "> The site" in page
    assert "> The site" not in extension.written(page)


def calls():
    """Every call of `belman` in a block that is no output, with its page."""
    for page in PAGES:
        fence = None
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("```"):
                fence = line if fence is None else None
            elif fence in ("```", "```sh", "```bash") and re.match(r"belman [a-z-]+( |$)", line):
                yield page.name, line


def is_accepted(line):
    """Whether the command line can read a call, of which nothing is done."""
    command = typer.main.get_command(app)
    idle = [command]
    while idle:
        one = idle.pop()
        one.callback = None
        idle += getattr(one, "commands", {}).values()
    try:
        command(shlex.split(line, comments=True)[1:])
    except SystemExit as end:
        return not end.code
    return True


def test_the_command_line_takes_every_call_that_is_shown():
    shown = list(calls())
    assert len(shown) > 20
    assert [(page, line) for page, line in shown if not is_accepted(line)] == []


@pytest.mark.parametrize("line", ["belman rum", "belman run --meens 0.8", "belman study ask"])
def test_a_call_that_the_command_line_refuses_is_noticed(line):
    assert not is_accepted(line)
