"""What strangers write is shown harmless: in every view of a study, in every medium."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from typer.testing import CliRunner

import belman
from belman import Thompson, plots
from belman.cli import app
from belman.cli import study as commands
from belman.cli.main import main
from belman.studies import open_study
from belman.table import Table

pytestmark = pytest.mark.interpreted

#: Clears a terminal (two ways), turns text round, is markup of Rich, HTML, Markdown, a formula.
NASTY = '=\x1b[2J\x9b2J\u202e[/b]<script>alert(1)</script>|[x](y)`*\\"\r\n\t!'
#: Commands that show nothing of what a stranger wrote.
CHANGES = {
    *("create", "tell", "correct", "import", "import-growthbook", "observe", "pause", "resume"),
    *("add-arm", "retire-arm", "spend"),
    *(
        "ship",
        "unship",
        "exposure",
        "guard",
        "archive",
        "archive-events",
        "restore",
        "delete",
        "migrate",
    ),
}


@pytest.fixture
def url(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BELMAN_STORAGE", f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    return f"sqlite:///{tmp_path}/studies.db?synchronous=normal"


def plain(url):
    study = open_study(
        "plain", [NASTY, "other"], control=NASTY, policy=Thompson(), storage=url, seed=1
    )
    for i, ticket in enumerate(study.ask(150, attributes={"device": "<script>"})):
        study.tell(ticket, i % 2, metrics={"cost": 1.0})
    study.record([(NASTY, 1.0)], NASTY)
    study.pause(NASTY)
    study.resume(NASTY)
    return study


def by_segment(url):
    study = open_study("segments", ["a", NASTY], segments=["country"], storage=url, seed=1)
    for country in (NASTY, "fr"):
        study.tell(study.ask(context={"country": country}), 1)
    return study


def in_contexts(url):
    study = open_study("contexts", ["a", NASTY], context=["country"], storage=url, seed=1)
    for country in (NASTY, "fr"):
        study.tell(study.ask(context={"country": country}), 1)
    return study


def with_a_budget(url):
    study = open_study("budget", ["a", NASTY], budget={"cost": 5}, storage=url, seed=1)
    study.tell(study.ask(), 1, metrics={"cost": 1.0})
    study.spend(1, NASTY, arm=NASTY)
    return study


WORLDS = {"plain": plain, "budget": with_a_budget, "segments": by_segment, "contexts": in_contexts}
#: The commands that show something, with what they need beside the name of a study.
VIEWS = {
    "list": {"plain": []},
    "show": {"plain": [], "contexts": ["--context", "country=fr"]},
    "metrics": {"plain": []},
    "spending": {"budget": []},
    "changes": {"plain": []},
    "explain": {"plain": [], "segments": ["--context", "country=fr"]},
    "contexts": {"segments": [], "contexts": []},
    "history": {"plain": [], "segments": [], "contexts": []},
    "export": {"plain": ["log.csv"]},
    "replay": {"plain": ["thompson"]},
    "check": {"plain": []},
    "report": {"plain": ["--by", "device"]},
    "ask": {"plain": ["--n", "3"], "segments": ["--context", f"country={NASTY}"]},
    "publish": {"plain": ["--decisions", "10"]},
}


def is_harmless(text: str) -> bool:
    return all(letter.isprintable() or letter in "\n\t" for letter in text)


def test_every_command_is_looked_at():
    names = {
        one.name or one.callback.__name__.replace("_", "-")
        for one in commands.app.registered_commands
    }
    assert names == CHANGES | set(VIEWS)


@pytest.mark.parametrize("width", ["80", "400"])
@pytest.mark.parametrize("view", VIEWS)
def test_no_view_moves_the_terminal(view, width, url, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    for world, more in VIEWS[view].items():
        study = WORLDS[world](url)
        study.storage.close()
        words = ["study", view, *([] if view == "list" else [world]), *more]
        for extra in ([], ["--json"] if view == "report" else []):
            done = CliRunner().invoke(app, [*words, *extra])
            assert done.exit_code == 0, (words, done.exception)
            assert is_harmless(done.output), words
            if extra or view == "publish":
                json.loads(done.output)


def test_an_error_moves_no_terminal(url, monkeypatch, capsys):
    by_segment(url).storage.close()
    monkeypatch.setattr("sys.argv", ["belman", "study", "ship", "segments", NASTY])
    with pytest.raises(SystemExit):
        main()
    assert is_harmless(capsys.readouterr().err)


def test_tables_and_reports_move_no_terminal_from_python(url):
    study, other = plain(url), by_segment(url)
    shown = [
        study.beliefs(),
        study.explain(),
        study.history(),
        study.report(),
        *other.contexts().values(),
    ]
    shown += [Table({NASTY: [NASTY]}, NASTY), study]
    assert all(is_harmless(str(one)) and is_harmless(repr(one)) for one in shown)
    study.storage.close()
    other.storage.close()


def test_no_page_runs_a_script(url):
    study = plain(url)
    tables = [study.beliefs(), study.history(), Table({NASTY: [NASTY]}, NASTY)]
    pages = [study.report(by="device").to_html(NASTY), *(table._repr_html_() for table in tables)]
    data = {"arm": [NASTY, "b"] * 20, "reward": [0, 1] * 20, "device": [NASTY] * 40}
    pages.append(belman.analyse(data, control="b", by=["device"]).to_html(NASTY))
    for page in pages:
        assert "&lt;script" in page
        assert not re.search(r"<script>alert", page)
    study.storage.close()


def test_no_dollar_of_a_name_begins_a_formula(tmp_path):
    data = {"arm": ["$\\frac{$5", "b"] * 20, "reward": [0, 1] * 20}
    belman.analyse(data, control="$\\frac{$5").to_pdf(tmp_path / "x.pdf", "$\\frac{$")
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")
    beliefs = plots.beliefs(belman.Agent(["$\\frac{$5", "b"]))
    beliefs.figure.savefig(tmp_path / "x.png")


def test_no_markdown_is_read_as_more_than_text():
    data = {"arm": [NASTY, "b"] * 20, "reward": [0, 1] * 20, "device": [NASTY] * 40}
    result = belman.analyse(data, control="b", by=["device"]).to_markdown()
    bare = re.sub(r"\\[^\w\s]", "", result)  # what is escaped is text
    assert is_harmless(result)
    assert "script" in bare
    for sign in ("<", "`", "](", "[x"):
        assert sign not in bare
    rows = [line for line in bare.splitlines() if line.startswith("|")]
    assert len({row.count("|") for row in rows[:4]}) == 1


def test_no_cell_of_a_csv_file_is_a_formula(url, tmp_path):
    study = plain(url)
    study.export(tmp_path / "log.csv")
    files = [(tmp_path / "log.csv").read_bytes().decode(), study.beliefs().to_csv()]
    files.append(Table({NASTY: [NASTY]}).to_csv())
    for file in files:
        rows = list(csv.reader(io.StringIO(file, newline="")))
        cells = [cell for row in rows for cell in row]
        assert f"'{NASTY}" in cells
        assert not any(cell[:1] in "=+@" for cell in cells if cell)
    study.storage.close()


def test_a_label_of_prometheus_ends_where_it_ends():
    dispatcher = belman.Dispatcher([NASTY, "b"])
    lines = [line for line in dispatcher.metrics().splitlines() if not line.startswith("#")]
    pattern = re.compile(r'\w+(\{(\w+="([^"\\]|\\[\\n"])*",?)+\})? [-+\w.]+')
    text = dispatcher.metrics()
    assert all(pattern.fullmatch(line) for line in text.split("\n") if line and line[0] != "#")
    assert lines


def test_a_segment_of_any_level_is_published(url):
    study = by_segment(url)
    for country in (NASTY, "\x9b", "\\u009b", "x" * 150, "fr"):
        made = study.publish(10, segment={"country": country})
        assert made.segment.isprintable()
        assert study.weights(made.segment) == study.weights({"country": country}) == made
    assert len(study._replica.look(lambda state: state.publishing.current)) == 5
    study.storage.close()
