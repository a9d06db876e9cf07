"""One list of settings: the dataclass, `open_study`, the HTTP model, the command line and the
reference say the same; what it holds survives the log, and what has no meaning is refused.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import fields

import pytest
import typer

import belman
from belman import errors
from belman.cli import app
from belman.policies import BESA, EXP3P, LBSDA, TsallisINF
from belman.policies.dependent import LinTS
from belman.service.new_study import KINDS, NewStudy
from belman.studies import Storage, StudySettings, open_study

SENTENCES = StudySettings.sentences()
#: Arguments of `open_study` that are no settings of the study.
AROUND = {"name", "storage", "limits", "read_only", "clock"}
ROWS = {"a": {"price": 1.0}, "b": {"price": 2.0, "colour": "red"}}
GIVEN = {
    "default": {"arms": ["a", "b"]},
    "names": {"arms": ["a", ("b", 2), 3], "control": ("b", 2), "floor": {3: 0.1, "a": 0.2}},
    "windows": {"arms": ["a"], "window": 60, "silence": "forget", "accumulate": True},
    "rules": {
        "arms": ["a", "b"],
        "reward": "margin - 0.2*latency",
        "stop_when": belman.measures.Sure(0.95),
        "then": "ship",
        "guard": {"refund": "< 0.05", "stars": "> 3 up to 5"},
        "control": "a",
        "control_share": 0.2,
    },
    "beliefs": {"arms": ["a", "b"], "prior": (2, 3), "priors": {"b": (4, 1)}, "minimise": True},
    "ranges": {"arms": ["a"], "range": (0, 5), "clip": True, "discount": 0.9},
    "drift": {"arms": ["a", "b"], "drift": "auto", "uniform_share": 0.1},
    "last": {"arms": ["a", "b"], "last": 10},
    "segments": {"arms": ["a", "b"], "segments": ["country"], "policy": belman.Thompson()},
    "budgets": {"arms": ["a", "b"], "budget": {"dollars": "2.5 an hour"}},
    "contexts": {"arms": ["a", "b"], "context": ["age"], "policy": LinTS(), "scale": 2.0},
    "features": {"arms": ["a", "b"], "context": ["age"], "features": ROWS, "model": "linear",
                 "interactions": "age:price", "window": 5},
    "candidates": {"features": ["price"], "context": ["age"], "model": "poisson"},
}  # fmt: skip


def fields_of(settings):
    """What settings hold, by the names of the arguments."""
    return {one.name: getattr(settings, one.name) for one in fields(settings)}


@pytest.fixture
def storage(tmp_path):
    result = Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    yield result
    result.close()


@pytest.fixture(params=GIVEN)
def given(request):
    return GIVEN[request.param]


def test_open_study_takes_every_setting_and_none_is_given_by_default():
    parameters = inspect.signature(open_study).parameters
    assert [name for name in parameters if name not in AROUND] == list(SENTENCES)
    made = inspect.signature(StudySettings).parameters
    assert list(made) == list(SENTENCES)
    for name in SENTENCES:
        assert parameters[name].default is None
        assert made[name].default is None


def test_the_reference_has_the_sentence_of_every_setting():
    """It is made of docstrings, and that of `open_study` lists them all."""
    text = inspect.getdoc(open_study)
    assert [name for name in SENTENCES if f"\n{name}\n    {SENTENCES[name]}" not in text] == []
    assert [name for name in AROUND if f"\n{name}\n    " not in text] == []
    for sentence in SENTENCES.values():
        assert sentence[0].isupper()
        assert sentence.endswith(".")


def test_the_http_model_has_every_setting():
    assert list(NewStudy.model_fields) == ["name", *SENTENCES]
    assert KINDS.keys() == SENTENCES.keys()
    for name, sentence in SENTENCES.items():
        field = NewStudy.model_fields[name]
        assert (field.default, field.description) == (None, sentence)
    assert NewStudy.model_json_schema()["required"] == ["name"]


def test_the_command_line_has_every_setting():
    study = typer.main.get_command(app).commands["study"]
    options = {one.name: one for one in study.commands["create"].params}
    assert options.keys() - SENTENCES.keys() == {"name", "setting", "storage"}
    for name, sentence in SENTENCES.items():
        assert options[name].help.startswith(sentence)
        assert not options[name].default
        assert f"--{name.replace('_', '-')}" in options[name].opts


def test_settings_survive_the_log_and_are_settings_again(given):
    made = StudySettings(**given)
    assert StudySettings.from_json(made.to_json()) == made
    assert StudySettings(**fields_of(made)) == made
    assert None not in json.loads(made.to_json()).values()


def test_a_study_is_opened_again_by_any_of_its_settings(given, storage):
    study = open_study("study", storage=storage, **given)
    open_study("study", storage=storage, **given)
    for name, value in given.items():
        open_study("study", storage=storage, **{name: value})
    for name, value in fields_of(study.settings).items():
        open_study("study", storage=storage, **{name: value})


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("arms", ["x"]),
        ("family", "poisson"),
        ("prior", (7, 7)),
        ("priors", {"a": (7, 7)}),
        ("minimise", True),
        ("discount", 0.5),
        ("drift", "auto"),
        ("last", 7),
        ("seed", 7),
        ("window", 7),
        ("reward", "margin"),
        ("control", "b"),
        ("floor", 0.3),
        ("guard", {"refund": "< 0.5"}),
        ("budget", {"dollars": 5}),
        ("segments", ["country"]),
        ("context", ["age"]),
        ("model", "linear"),
    ],
)
def test_a_study_is_not_opened_by_other_settings(storage, name, other):
    open_study("study", ["a", "b"], storage=storage, seed=1)
    with pytest.raises(errors.SettingError, match=r"was created with .* leave it out"):
        open_study("study", storage=storage, **{name: other})


def test_arms_that_can_be_read_once_are_read_once(storage):
    made = open_study("study", iter("ab"), storage=storage, context=iter(["age"]))
    assert (made.arms, made.settings.context) == (("a", "b"), ("age",))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": None},
        {"arms": []},
        {"arms": "ab"},
        {"then": "sing"},
        {"silence": 0.0},
        {"early": True},
        {"minimise": 1},
        {"uniform_share": None},
        {"window": -1},
        {"floor": [["z", 0.1]]},
        {"priors": [["z", [1.0, 1.0]]]},
        {"control_share": 0.2},
        {"features": ["price"]},
        {"pooling": "shared"},
        {"strange": 1},
    ],
)
def test_a_log_that_was_edited_has_no_settings(change):
    content = {**json.loads(StudySettings(["a", "b"]).to_json()), **change}
    text = json.dumps({name: value for name, value in content.items() if value is not None})
    with pytest.raises((errors.BelmanError, TypeError)):
        StudySettings.from_json(text)


@pytest.mark.parametrize("policy", [BESA(), EXP3P(9), LBSDA(), TsallisINF()], ids=lambda p: p.name)
def test_segments_refuse_a_policy_that_keeps_more_than_beliefs(policy, storage):
    with pytest.raises(errors.PolicyError, match="cannot serve segments"):
        StudySettings(["a", "b"], policy=policy, segments=["country"])
    study = open_study("study", ["a", "b"], segments=["country"], storage=storage)
    with pytest.raises(errors.PolicyError):
        study.set_policy(policy)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"features": ["price"], "floor": 0.1}, "floor=0.1 is not for studies of candidates"),
        ({"features": ["price"], "control": "a"}, "control='a' is not for studies of candidates"),
        ({"features": ["price"], "guard": {"x": "< 1"}}, "none of them stays"),
        ({"features": ["price"], "range": (0, 5)}, "the model says what rewards are"),
        ({"arms": ["a"], "context": ["age"], "priors": {"a": (1, 1)}}, "the model says"),
        ({"arms": ["a"], "context": ["age"], "then": "ship"}, "depends on the context"),
        ({"arms": ["a"], "segments": ["age"], "last": 9}, "beliefs by segment do not fade"),
        ({"arms": ["a"], "context": ["age"], "last": 9}, "are not kept one by one"),
        ({"arms": ["a"], "silence": 0}, "give window=… too"),
        ({"arms": ["a"], "context": "age"}, "is one name"),
        ({"arms": ["a"], "minimise": "yes"}, "neither True nor False"),
        ({"arms": ["a", "b"], "floor": 0.1, "uniform_share": 0.1}, "beside floors"),
        ({"arms": ["a"], "context": ["\ud800"]}, "surrogate pair"),
    ],
)
def test_settings_that_have_no_meaning_beside_others_are_refused(given, words, storage):
    with pytest.raises(errors.BelmanError, match=words):
        open_study("study", storage=storage, **given)
    assert storage.names() == []


@pytest.mark.parametrize("given", [{}, {"segments": ["age"]}, {"context": ["age"]}])
def test_a_study_needs_arms_or_candidates(given):
    with pytest.raises(errors.ArmError, match="needs arms"):
        StudySettings(**given)
