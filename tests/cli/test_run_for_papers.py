"""`belman run` for papers and pipelines: policies and means of files, vector pictures, JSON."""

from __future__ import annotations

import json
import sys

import pytest
from typer.testing import CliRunner

from belman.cli import app, parse
from belman.cli.problem import means
from belman.errors import PolicyError, SettingError

MINE = """
from dataclasses import dataclass
from belman import Thompson

@dataclass(frozen=True)
class Cautious(Thompson):
    width: float = 0.5

READY = Cautious(2.0)
"""


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "policies_of_mine.py"
    path.write_text(MINE)
    yield str(path)
    sys.modules.pop("policies_of_mine", None)


def test_a_paper_in_one_line(mine, tmp_path):
    (tmp_path / "means.csv").write_text("arm,mean\nblue,0.8\nred,0.9\n")
    words = ["run", "--policies", f"{mine}:Cautious,thompson", "--means"]
    words += [str(tmp_path / "means.csv"), "--format", "pdf", "--size", "print", "--json"]
    words += ["--horizon", "60", "--runs", "8", "--output", str(tmp_path / "out")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert [row["player"] for row in said["rows"]] == ["policies_of_mine.py:Cautious", "thompson"]
    assert said["turns"] == 2 * 8 * 60
    assert (tmp_path / "out" / "curves.pdf").read_bytes().startswith(b"%PDF")
    assert said["files"][0].endswith("curves.pdf")
    regrets = {row["regret"] for row in said["rows"]}
    assert len(regrets) == 1  # it is Thompson sampling by another name, with the same luck


def test_policies_of_a_file(mine):
    assert parse.policy(f"{mine}:Cautious", 10).width == 0.5
    assert parse.policy(f"{mine}:Cautious:width=0.7", 10).width == 0.7
    assert parse.policy(f"{mine}:READY", 10).width == 2.0
    for words, error in (
        (f"{mine}:Cautios", "did you mean 'Cautious'"),
        (f"{mine}:dataclass", "no policy 'dataclass'"),
        (f"{mine}:Cautious:depth=1", "cannot be made"),
        (f"{mine}:READY:width=1", "takes no settings"),
        ("nowhere.py:Cautious", "no file"),
    ):
        with pytest.raises(PolicyError, match=error):
            parse.policy(words, 10)


def test_a_file_that_fails_or_is_named_as_another_module(tmp_path):
    (tmp_path / "broken_policies.py").write_text("1 / 0")
    with pytest.raises(PolicyError, match="division by zero"):
        parse.policy(f"{tmp_path}/broken_policies.py:A", 10)
    (tmp_path / "json.py").write_text(MINE)
    with pytest.raises(PolicyError, match="another name"):
        parse.policy(f"{tmp_path}/json.py:Cautious", 10)
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("mean\n0.8\n0.9\n", (0.8, 0.9)),
        ("0.8\n0.9\n\n", (0.8, 0.9)),
        ("\ufeffarm, Mean ,x\na,0.8,1\nb,0.9,2\n", (0.8, 0.9)),
    ],
)
def test_means_of_a_file(text, wanted, tmp_path):
    (tmp_path / "m.csv").write_text(text, encoding="utf-8")
    assert means(str(tmp_path / "m.csv")) == wanted


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "no column 'mean'"),
        ("mean\nhigh\n", "'high'"),
        ("arm,mean\na\n", r"row 1 \(line 2\): 1 cell, and 2 columns"),
        ("mean\n", "no means"),
        ("", "is empty"),
    ],
)
def test_files_without_means(text, words, tmp_path):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(SettingError, match=words):
        means(str(tmp_path / "m.csv"))
    with pytest.raises(SettingError, match="cannot be read"):
        means(str(tmp_path / "other.csv"))


@pytest.mark.parametrize("words", [["--format", "gif"], ["--size", "poster"]])
def test_pictures_that_cannot_be_are_refused_before_anything_is_played(words, tmp_path):
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["run", "--means", "0.8,0.9", "--output", str(out), *words])
    assert isinstance(done.exception, SettingError)
    assert not out.exists()
