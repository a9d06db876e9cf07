"""`belman study …`: a life of a study from the shell, and what it refuses."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import belman
from belman import BelMan, errors
from belman.cli import app
from belman.studies import Storage, open_study
from tests.waiting import wait_until

pytestmark = pytest.mark.interpreted  # a few turns from the shell


@pytest.fixture
def study(tmp_path, tmp_path_factory, monkeypatch):
    """Runs a command on a storage of its own, and gives what it printed.

    It is run in an empty folder: were the variable not heeded, the default storage would lie
    there, where the test does not look and no other test finds it.
    """
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.setenv("BELMAN_STORAGE", f"sqlite:///{tmp_path}/studies.db?synchronous=normal")

    def invoke(*words: object) -> str:
        done = CliRunner().invoke(app, ["study", *map(str, words)])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == 0, done.output
        return done.output

    return invoke


def test_a_study_of_a_class_that_is_not_imported_hides_no_other(study, tmp_path, monkeypatch):
    (tmp_path / "their_policy.py").write_text(
        "from tests.own import Steady\nclass Theirs(Steady): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    theirs = importlib.import_module("their_policy").Theirs()
    study("create", "ours", "--arms", "blue,green")
    position = Storage(os.environ["BELMAN_STORAGE"])
    open_study("theirs", ["blue"], policy=BelMan(theirs), storage=position)
    position.close()
    assert "import" not in study("list")
    del sys.modules["their_policy"]
    listed = " ".join(study("list").split())
    assert "theirs: this study cannot be opened here: exposure 'their_policy:Theirs'" in listed
    assert "import their_policy first" in listed
    assert "ours │ 2" in listed
    with pytest.raises(errors.StudyError, match="import their_policy first"):
        study("show", "theirs")


def test_a_life_from_the_shell(study, tmp_path):
    assert "2 arms" in study(
        "create",
        "button",
        "--arms",
        "blue,green",
        "--uniform-share",
        "0.5",
        "--seed",
        "1",
        "--policy",
        "thompson",
    )
    ticket, arm = study("ask", "button", "--key", "k").split()
    assert study("ask", "button", "--key", "k").split() == [ticket, arm]
    assert "learnt" in study("tell", "button", ticket, "1")
    assert "known already" in study("tell", "button", ticket, "1")
    study("pause", "button", "--reason", "lunch")
    with pytest.raises(errors.PausedError):
        study("ask", "button")
    study("resume", "button")
    study("add-arm", "button", "red", "--prior", "2,1")
    study("retire-arm", "button", "blue", "--reason", "dear")
    study("add-arm", "button", "blue")
    assert len(study("ask", "button", "--n", 4).splitlines()) == 4
    assert "button" in study("list")
    assert "P(best)" in study("show", "button")
    assert "index" in study("explain", "button")
    assert "lunch" in study("history", "button")
    log = tmp_path / "log.csv"
    assert "events" in study("export", "button", log)
    study("create", "other", "--arms", "blue,green,red")
    assert "learnt 1 rewards" in study("import", "other", log, "--reason", "last year")
    study("exposure", "other", "constant:tau=0.1")
    assert "state" in study("check", "button")
    assert "version" in study("migrate")
    with pytest.raises(errors.ReplayError):
        study("replay", "button", "belman")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["show", "nobody"], errors.UnknownStudyError),
        (["exposure", "button", "constant:tua=1"], errors.ExposureError),
        (["exposure", "button", "konstant"], errors.ExposureError),
        (["exposure", "button", "two-phase"], errors.ExposureError),
        (["retire-arm", "button", "bleu"], errors.ArmError),
        (["add-arm", "button", "red", "--prior", "1e-13,1"], errors.PriorError),
        (["tell", "button", "1-aaaaaa", "1"], errors.UnknownTicketError),
    ],
)
def test_what_is_wrong_is_said(study, words, error):
    study("create", "button", "--arms", "blue,green")
    with pytest.raises(error):
        study(*words)


@pytest.mark.parametrize(
    ("words", "policy"),
    [
        (["--drift", "auto"], belman.policies.Drift()),
        (["--drift", "half_life=604800"], belman.policies.Drift(half_life=604_800.0)),
        (["--last", "1000"], belman.policies.Forgetting(BelMan(), last=1_000)),
        (["--discount", "0.99"], BelMan()),
    ],
)
def test_studies_of_a_world_that_changes(study, words, policy):
    study("create", "button", "--arms", "blue,green", *words)
    position = Storage(os.environ["BELMAN_STORAGE"])
    made = open_study("button", storage=position)
    assert made.policy == policy
    assert made.settings.discount == (0.99 if "--discount" in words else 1.0)
    position.close()


def test_a_window_and_a_correction_from_the_shell(study):
    study("create", "mail", "--arms", "only", "--window", "0.05", "--silence", "forget")
    ticket = study("ask", "mail").split("\t")[0]
    made = study("create", "shop", "--arms", "only", "--family", "poisson")
    assert made.startswith("Study(")
    with Path(made.partition("kept in ")[2].strip()).open("rb") as kept:
        assert kept.read(6) == b"SQLite"
    told = study("ask", "shop").split("\t")[0]
    study("tell", "shop", told, 5)
    assert study("correct", "shop", told, 3, "--reason", "refund").strip() == "corrected"
    assert study("correct", "shop", told, 3, "--reason", "refund").strip() == "known already"
    assert study("correct", "shop", told, "none", "--reason", "fraud").strip() == "corrected"
    assert "0 rewards told" in study("show", "shop")
    wait_until(lambda: "0 tickets out" in study("show", "mail"))
    assert "forgotten" in study("history", "mail")
    with pytest.raises(errors.TicketError, match="and it was forgotten"):
        study("tell", "mail", ticket, 1, "--key", "k")
    study("create", "sums", "--arms", "a", "--family", "poisson", "--window", 60, "--accumulate")


def test_a_study_learns_early_or_waits_and_says_why_it_does(study):
    study("create", "early", "--arms", "a", "--window", 60)
    study("create", "late", "--arms", "a", "--window", 60, "--no-early")
    for name in ("early", "late"):
        for reward in (1, 0.25):
            study("tell", name, study("ask", name).split("\t")[0], reward)
            shown = " ".join(study("show", name).split())
            waits = "a reward of 0.25 was told" in shown
            assert waits == (name == "early" and reward == 0.25)
    with pytest.raises(errors.SettingError, match="early=True is not allowed: there is no window"):
        study("create", "never", "--arms", "a", "--early")


def test_metrics_from_the_shell(study):
    study("create", "s", "--arms", "a", "--family", "gaussian", "--reward", "margin - 0.2*latency")
    for margin in (3, 4):
        ticket, _, _ = study("ask", "s").strip().partition("\t")
        told = ("tell", "s", ticket, "--metric", f"margin={margin}", "--metric", "latency=0.5")
        assert study(*told) == "learnt\n"
        assert study(*told) == "known already\n"
    assert "margin" in study("metrics", "s")
    assert " 3.5 " in study("metrics", "s")
    words = ("correct", "s", ticket, "none", "--metric", "margin=2", "--reason", "sent back")
    assert study(*words) == "corrected\n"
    assert " 2.5 " in study("metrics", "s")
    for wrong, said in (("margin", "has no value"), ("margin=x", "is not a number")):
        with pytest.raises(errors.SettingError, match=said):
            study("tell", "s", ticket, "--metric", wrong)
    with pytest.raises(errors.SettingError, match="given twice"):
        study("tell", "s", ticket, "--metric", "margin=1", "--metric", "margin=2")


def test_a_report_from_the_shell(study, tmp_path):
    created = study(
        "create", "button", "--arms", "blue,green", "--control", "blue", "--stop-when",
        "separated:delta=0.1", "--seed", 1,
    )  # fmt: skip
    assert "2 arms" in created
    for line in study("ask", "button", "--n", 6).splitlines():
        study("tell", "button", line.split("\t")[0], 1)
    printed = " ".join(study("report", "button").split())
    assert "button: running" in printed
    assert "Earned 6 in 6 rewards" in printed
    assert "Separated(delta=0.1" in printed
    content = json.loads(study("report", "button", "--json", "--control", "green"))
    assert (content["control"], content["rule"]["delta"]) == ("green", 0.1)
    page = tmp_path / "page.html"
    study("report", "button", "--html", page)
    assert "<h1>Report on button</h1>" in page.read_text(encoding="utf-8")
    with pytest.raises(errors.ArmError, match="unknown arm 'blu'"):
        study("report", "button", "--control", "blu")


def test_guard_rails_shipping_and_archives_from_the_shell(study, tmp_path):
    study(
        "create", "button", "--arms", "blue,green", "--control", "blue", "--control-share", 0.3,
        "--floor", "green=0.1", "--guard", "refund < 0.05", "--stop-when", "sure", "--then", "say",
        "--seed", 1,
    )  # fmt: skip
    lines = study("ask", "button", "--n", 12, "--attribute", "device=phone").splitlines()
    for line in lines:
        ticket, arm = line.split("\t")
        study("tell", "button", ticket, int(arm == "green"), "--metric", "refund=0")
    printed = " ".join(study("report", "button", "--by", "device").split())
    assert "green beside blue by device" in printed
    assert "all traffic goes to green" in study("ship", "button", "--reason", "enough")
    assert "All traffic goes to green." in study("report", "button")
    study("unship", "button")
    file = tmp_path / "old.parquet"
    assert "no event is older than 30 days" in study("archive-events", "button", file)
    assert "events to" in study("archive-events", "button", file, "--keep", 0)
    assert file.exists()
    assert "events, state" in study("check", "button")
    study("archive", "button", "--reason", "done")
    assert "button" not in study("list")
    assert "button" in study("list", "--archived")
    study("restore", "button")
    assert "button" in study("list")
    with pytest.raises(errors.SettingError, match="confirm is its name"):
        study("delete", "button", "--confirm", "buttons")
    assert "deleted button" in study("delete", "button", "--confirm", "button")
    assert "button" not in study("list")


def test_contexts_from_the_shell(study, tmp_path):
    (tmp_path / "arms.csv").write_text("arm,price,colour\n1,5,red\n2,8,\n")
    study("create", "shop", "--arms", "1,2", "--features", tmp_path / "arms.csv", "--context",
          "country,age", "--interactions", "country:price", "--model", "linear",
          "--policy", "lin-ucb:alpha=2", "--uniform-share", 0.5, "--seed", 1)  # fmt: skip
    visitor = ("--context", "country=FR", "--context", "age=31")
    for _ in range(3):
        ticket, arm, ranking = study("ask", "shop", *visitor, "--top", 2).split()
        assert ranking in ("1,2", "2,1")
        assert ranking[0] == arm
        study("tell", "shop", ticket, 3.5)
    assert "against" in study("explain", "shop", *visitor)
    assert "P(best)" in study("show", "shop", *visitor)
    shown = study("contexts", "shop")
    assert "country=FR × price" in shown
    assert "age × price" not in shown
    assert "colour=missing" in shown
    with pytest.raises(errors.ReplayError, match="LinTS"):
        study("replay", "shop", "lin-ts")


def test_segments_and_candidates_from_the_shell(study, tmp_path):
    study("create", "seg", "--arms", "a,b", "--segments", "country,device", "--seed", 1)
    ticket, _ = study("ask", "seg", "--context", "country=FR", "--context", "device=").split()
    study("tell", "seg", ticket, 1)
    assert "country=FR, device=none" in study("contexts", "seg")
    (tmp_path / "shelf.csv").write_text("price,colour\n5,red\n8,\n")
    (tmp_path / "shelf.json").write_text('[{"price": 5}, {"price": 8}]')
    study("create", "shelf", "--features", "price,colour", "--context", "hour", "--seed", 1)
    for given in (tmp_path / "shelf.csv", tmp_path / "shelf.json", '[{"price": 5}]'):
        ticket, position = study(
            "ask", "shelf", "--context", "hour=9", "--candidates", given
        ).split()
        assert int(position) in (0, 1)
        study("tell", "shelf", ticket, 1)
    assert "price" in study("explain", "shelf", "--candidates", tmp_path / "shelf.json")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ask", "shop", "--candidates", "{}"), "no list"),
        (("ask", "shop", "--candidates", "[{"), "not JSON"),
        (("ask", "shop", "--candidates", "none.csv"), "cannot be read"),
        (("ask", "shop", "--context", "a=1", "--context", "a=2"), "twice"),
        (("create", "new", "--arms", "a", "--features", "price"), "say nothing of the arms"),
        (("contexts", "shop"), "without contexts"),
        (("explain", "shop", "--context", "a=1"), "no contexts"),
    ],
)
def test_contexts_that_cannot_be_are_refused(study, words, message):
    study("create", "shop", "--arms", "a,b")
    with pytest.raises(errors.BelmanError, match=message):
        study(*words)


def test_a_budget_from_the_shell(study):
    study("create", "chat", "--arms", "a,b", "--budget", "dollars 25 a day", "--seed", "1")
    ticket = study("ask", "chat").split()[0]
    position = Storage(os.environ["BELMAN_STORAGE"])
    open_study("chat", storage=position).tell(ticket, 1, metrics={"dollars": 3.5})
    study("spend", "chat", "1.25", "--arm", "b", "--reason", "elsewhere")
    assert "4.75" in study("spending", "chat")
    assert "4.75 of 25 dollars are spent today" in " ".join(study("report", "chat").split())
    assert json.loads(study("report", "chat", "--json"))["budget"]["spent"] == 4.75
    assert "spent" in study("history", "chat")
    position.close()
    for wrong in ("dollars", "dollars much", "25"):
        with pytest.raises(errors.SettingError):
            study("create", "wrong", "--arms", "a,b", "--budget", wrong)


def test_who_only_looks_makes_no_file(study, tmp_path):
    for words in (["list"], ["show", "button"], ["ask", "button"], ["restore", "button"]):
        with pytest.raises(errors.StorageError, match="there is no such file"):
            study(*words)
    assert not list(tmp_path.iterdir())
