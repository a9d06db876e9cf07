"""Priors below the limit of their family, at the doors of studies, and in logs and files that were
written before there was one: refused in words, and no study hides another.
"""

from __future__ import annotations

import pytest

from belman import Agent, errors
from belman.families import Family
from belman.studies import Study, open_study

WEAK = (1e-13, 1.0)
WORDS = "says too little: alpha is 1e-13, and that of a bernoulli prior must be at least 1e-12"


@pytest.fixture
def older(monkeypatch):
    """As before there was a limit, until it is called."""
    monkeypatch.setattr(Family, "too_weak", lambda family, prior: None)
    return monkeypatch.undo


def test_studies_refuse_them(opened):
    study = opened()
    for settings in ({"prior": WEAK}, {"priors": {"a": WEAK}}):
        with pytest.raises(errors.PriorError, match=WORDS):
            opened("new", **settings)
    with pytest.raises(errors.PriorError, match=WORDS):
        study.add_arm("d", WEAK)
    assert (study.storage.names(), study.number) == (["study"], 1)


def added(study):
    study.add_arm("d", WEAK)
    study.ask(3)


def retired(study):
    study.add_arm("d", WEAK)
    study.retire_arm("d")


@pytest.mark.parametrize(
    ("settings", "change"),
    [
        ({"prior": WEAK}, Study.ask),
        ({"priors": {"a": WEAK}}, Study.ask),
        ({}, added),
        ({}, retired),
    ],
)
def test_a_log_that_has_them_is_refused_in_words(url, opened, older, settings, change):
    study = opened("old", **settings)
    change(study)
    older()
    for use in (lambda: open_study("old", storage=study.storage), lambda: opened("old", None)):
        with pytest.raises(
            errors.StudyError, match=f"this study cannot be opened here: prior .* {WORDS}"
        ):
            use()
    assert opened("another").check()


@pytest.mark.parametrize("settings", [{"prior": WEAK}, {"priors": {"a": WEAK}}])
@pytest.mark.parametrize("segments", [False, True])
def test_a_state_file_that_has_them_is_refused_in_words(older, settings, segments):
    agent = Agent(["a", "b"], **({"segments": ("country",)} if segments else {}), **settings)
    if segments:
        agent.tell("a", 1, context={"country": "FR"})
    text = agent.to_json()
    older()
    with pytest.raises(errors.StateError, match=WORDS):
        Agent.from_json(text)
