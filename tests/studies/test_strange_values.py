"""Values that Python has and no log does: an answer or an error of ours, and nothing changed."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

import belman
from belman.errors import ArmError, BelmanError, StudyError
from belman.studies import open_study

HALF = "a\ud800"
HUGE = 10**4500  # more digits than Python turns into text


STRANGE = {
    "half": HALF, "huge": HUGE, "minus": -HUGE, "nan": float("nan"), "no float": 10**400,
    "single": np.float32(0.5), "one": np.float32(1.0), "bytes": b"x", "complex": 1j,
}  # fmt: skip


def doors(study, known):
    """Every way in, as a call with a value in the place of each part."""
    row = {"unit": "u", "version": known, "arm": "x", "reward": 1.0, "time": None}
    sums = {"version": known, "segment": None, "arm": "x", "n": 2, "sum": 1.0, "squares": 1.0}
    fixed = {"unit": "u", "version": known, "arm": "x", "was": 1.0, "reward": 0.0}
    for name in row:
        yield f"observe {name}", lambda value, name=name: study.observe([{**row, name: value}])
        yield (
            f"observe unversioned {name}",
            lambda value, name=name: study.observe([{**row, "version": None, name: value}]),
        )
        position = list(row).index(name)
        yield (
            f"observe tuple {name}",
            lambda value, position=position: study.observe(
                [[*list(row.values())[:position], value, *list(row.values())[position + 1 :]]]
            ),
        )
    for name in sums:
        yield (
            f"sums {name}",
            lambda value, name=name: study.observe([{**sums, name: value}], key=f"sums {name}"),
        )
    for name in fixed:
        yield (
            f"rows {name}",
            lambda value, name=name: study.correct_rows([{**fixed, name: value}], "why"),
        )
    yield "observe attributes", lambda value: study.observe([{**row, "attributes": {"a": value}}])
    yield "observe whole", study.observe
    yield "observe reason", lambda value: study.observe([row], value)
    yield "observe key", lambda value: study.observe([row], key=value)
    yield "ask", study.ask
    yield "ask attributes", lambda value: study.ask(attributes={"a": value})
    yield "ask key", lambda value: study.ask(key=value)
    yield "tell ticket", lambda value: study.tell(value, 1.0)
    yield "tell", lambda value: study.tell(study.ask(key="one"), value)
    yield "tell metrics", lambda value: study.tell(study.ask(key="one"), 1.0, metrics={"m": value})
    yield "correct", lambda value: study.correct(study.ask(key="one"), value, "why")
    yield "record arm", lambda value: study.record([(value, 1.0)])
    yield "record reward", lambda value: study.record([("x", value)])
    yield "record reason", lambda value: study.record([("x", 1.0)], value)
    yield "publish", study.publish
    yield "publish every", lambda value: study.publish(10, every=value)
    yield "publish valid", lambda value: study.publish(10, valid_for=value)
    yield "publish segment", lambda value: study.publish(10, segment=value)
    yield "weights", study.weights
    yield "add arm", study.add_arm
    yield "retire arm", study.retire_arm
    yield "ship", study.ship
    yield "report level", study.report
    yield "report by", lambda value: study.report(by=value)
    yield "report control", lambda value: study.report(control=value)
    yield "beliefs", study.beliefs
    yield "history", study.history
    yield "events", lambda value: list(study.events(value))
    yield "guard", lambda value: study.set_guard({"m": value})
    yield "archive", study.archive_events
    yield "archive keep", lambda value: study.archive_events("no/such/a.parquet", keep=value)


@pytest.mark.parametrize("window", [None, 60.0])
@pytest.mark.parametrize("strange", STRANGE)
def test_no_value_raises_what_is_not_ours(tmp_path, strange, window):
    url = f"sqlite:///{tmp_path}/studies.db?synchronous=normal"
    study = open_study("study", ["x", "y"], window=window, storage=url, seed=1)
    known = study.publish(10).version
    words = []
    for name, door in doors(study, known):
        before = study.number
        try:
            door(STRANGE[strange])
        except BelmanError as error:
            allowed = 1 if name in ("tell", "tell metrics", "correct") else 0  # the ask before
            assert study.number <= before + allowed, name
            words.append(str(error))
    assert max(map(len, words)) < 1_000
    assert open_study("study", storage=url).check() == study.check()
    study.storage.close()


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("kind", ["context", "segments"])
def test_no_level_raises_what_is_not_ours(tmp_path, strange, kind):
    url = f"sqlite:///{tmp_path}/studies.db?synchronous=normal"
    study = open_study("study", ["x", "y"], **{kind: ["c"]}, storage=url, seed=1)
    for call in (study.ask, study.beliefs, study.explain):
        with suppress(BelmanError):
            call(context={"c": STRANGE[strange]})
    assert open_study("study", storage=url).check() == study.check()
    study.storage.close()


@pytest.mark.parametrize("strange", STRANGE)
def test_no_setting_and_no_agent_raises_what_is_not_ours(tmp_path, strange):
    value, url = STRANGE[strange], f"sqlite:///{tmp_path}/studies.db"
    agent = belman.Agent(["x", "y"])
    calls = [
        lambda: open_study("s", ["x", value], storage=url),
        lambda: open_study("s", ["x", "y"], seed=value, storage=url),
        lambda: open_study("s", ["x", "y"], window=value, storage=url),
        lambda: belman.Agent([value, "y"]),
        lambda: agent.tell("x", value),
        lambda: agent.tell(value, 1.0),
        lambda: agent.ask(value),
        lambda: agent.weights(value),
    ]
    for call in calls:
        with suppress(BelmanError):
            result = call()
            if isinstance(result, belman.studies.Study):
                result.storage.close()


def test_whole_numbers_that_javascript_cannot_read_are_not_published(tmp_path):
    url = f"sqlite:///{tmp_path}/studies.db"
    study = open_study("near", [2**53 - 1, 1 - 2**53], storage=url)
    assert study.publish(10).arms == (2**53 - 1, 1 - 2**53)
    far = open_study("far", [2**53, 2**53 + 1], storage=study.storage)
    with pytest.raises(StudyError, match=r"9007199254740992 cannot be published.*below 2\*\*53"):
        far.publish(10)
    study.storage.close()


def test_an_arm_of_a_table_that_is_long_is_said_short(opened):
    with pytest.raises(ArmError) as refused:
        opened().record({"arm": ["a" * 10**6], "reward": [1.0]})
    assert len(str(refused.value)) < 500


def test_segments_of_numpys_numbers_are_those_of_pythons(opened):
    study = opened(segments=["country"], seed=3)
    given = (np.float64(0.5), 1e-320, 0.5, np.str_("fr"), np.int64(3), 3.0, np.True_)
    seen = [study.ask(context={"country": value}).context["country"] for value in given]
    assert list(map(repr, seen)) == ["0.5", "1e-320", "0.5", "'fr'", "3", "3", "'True'"]
    study.check()


def test_a_row_whose_context_is_an_array_is_refused(opened):
    study, number = opened(), 1
    for name in ("attributes", "context", "chances"):
        row = {"unit": "u", "version": None, "arm": "a", "reward": 1.0, name: np.array([1.0, 2.0])}
        with pytest.raises(BelmanError):
            study.observe([row])
    assert study.number == number
