"""The plug-in of pytest: tests of candidates stop when the best one is known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

TEST = """
import random
import pytest
ITEMS = [random.Random(i).random() for i in range(120)]
SKILLS = {"old": 0.4, "new": 0.9}

@pytest.mark.race(items=ITEMS, MORE)
@pytest.mark.parametrize("candidate", list(SKILLS))
def test_answers(candidate, itemSCORE):
    BODY

def test_plain(): pass
"""
ASSERTS = "assert item < SKILLS[candidate]"
SCORES = "score(float(item < SKILLS[candidate]))"


@pytest.fixture
def run(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(more="", body=ASSERTS, *arguments, text=TEST):
        text = text.replace("MORE", more).replace("BODY", body)
        pytester.makepyfile(text.replace("SCORE", ", score" if "score(" in body else ""))
        settings = ("-p", "belman.bridges.pytest_plugin", "-p", "no:cacheprovider", "-q")
        return pytester.runpytest_inprocess(*settings, "--strict-markers", *arguments)

    return run


@pytest.mark.parametrize("body", [ASSERTS, SCORES])
def test_a_race_ends_when_the_best_is_known(run, body):
    result = run('best="new"', body)
    assert result.ret == 0
    counts = result.parseoutcomes()
    assert counts["skipped"] > 140
    assert counts.get("failed", 0) == 0
    result.stdout.fnmatch_lines(
        ["*== races ==*", "*::test_answers: new is best (wrong in at most*"]
    )


def test_a_run_fails_where_another_candidate_is_best(run):
    result = run('best="old"')
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*test_answers: FAILED, old was to be best*"])


def test_a_run_fails_where_it_is_not_known_that_the_candidate_is_best(run):
    result = run('best="new", delta=1e-60')
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*Not known so far*", "*FAILED, it is not known that new is"])
    assert run("delta=1e-60").ret == 0


def test_an_error_of_a_test_is_an_error_and_ends_the_race(run):
    result = run('best="new"', "raise ZeroDivisionError")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*test_answers: FAILED, test_answers* did not run to its end"])


def test_a_score_that_cannot_be_is_a_failure(run):
    result = run("", "score(7)")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*score 7.0 of candidate '*' is not allowed*"])


def test_single_tests_run_as_they_are(run):
    result = run('best="old"', ASSERTS, "-k", "item and (7-new or 7-old) and not 17 and not 107")
    assert result.parseoutcomes().get("skipped", 0) == 0
    result.stdout.fnmatch_lines(["*no race, since some of its tests were not selected"])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("delta=3", "delta=3 is no chance"),
        ("colour=3", "no setting 'colour'"),
        ('candidate="model"', "takes 'model' as an argument"),
    ],
)
def test_wrong_marks_are_refused(run, more, words):
    result = run(more)
    assert result.ret != 0
    assert words in "\n".join(result.outlines + result.errlines)


def test_marks_without_items_are_refused(run):
    for text in (TEST.replace("items=ITEMS, MORE", ""), TEST.replace("=ITEMS, MORE", "=[]")):
        result = run(text=text)
        assert result.ret != 0
        assert "needs items" in result.stdout.str() or "name the items" in result.stdout.str()


def test_the_test_of_the_page_says_what_the_page_says(run):
    page = (Path(__file__).parents[2] / "docs/guide/evaluations.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```py\n(.*?)^```", page, re.M | re.S)
    (said,) = re.findall(r"^```text\n.*::(.*?)\n```", page, re.M)
    given = """
PROMPTS = {"terse": 4, "polite": 5, "examples": 8}
QUESTIONS = list(range(1_000))
def ask(candidate, item): return item % 10 < PROMPTS[candidate]
def graded(answer, item): return float(answer)
"""
    result = run(text=given + block.replace("SCORE", "score"))
    assert result.ret == 0
    assert said in result.stdout.str()


def test_a_project_without_races_notices_nothing(run):
    result = run(text="def test_plain(): pass\ndef test_scored(score): pass")
    result.assert_outcomes(passed=1, errors=1)
    assert "== races ==" not in result.stdout.str()
    result.stdout.fnmatch_lines(["*score is for tests with @pytest.mark.race*"])
