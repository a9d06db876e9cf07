"""What a service logs: outcomes that it refuses, requests, as text and as JSON, harmless always."""

from __future__ import annotations

import io
import json
import logging
import warnings

import pytest

import belman
from belman.errors import BelmanError, SettingError
from belman.service import logs
from belman.studies import open_study
from tests.service.running import running


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    """Nothing is remembered of other tests, and nothing is set up for them."""
    monkeypatch.setattr(logs, "_refused", logs.PacedLog("belman.service"))
    loggers = [logging.getLogger(name) for name in ("belman", "uvicorn", "belman.service.access")]
    before = [(one.handlers[:], one.propagate, one.level) for one in loggers]
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    yield
    for one, (handlers, propagate, level) in zip(loggers, before, strict=True):
        one.handlers[:], one.propagate = handlers, propagate
        one.setLevel(level)


def refusals(service):
    lines = service.send("GET", "/metrics").body.decode().splitlines()
    (result,) = [line for line in lines if line.startswith("belman_refused_outcomes_total ")]
    return float(result.split()[1])


def test_every_refused_outcome_is_counted_and_logged_at_a_decent_pace(tmp_path, caplog):
    with running(tmp_path) as service, belman.Client(service.url) as client:
        open_study("one", ["a", "b"], storage=service.storage)
        study = client.study("one")
        made = study.publish(10)
        ticket = study.ask()
        bad = [
            lambda: study.tell(ticket, 7.0),
            lambda: study.tell(ticket, 8.0),
            lambda: study.tell("1-x", 1.0),
            lambda: study.correct(ticket, 1.0, "why"),
            lambda: study.observe([("u", made.version, "c", 1.0)]),
            lambda: study.observe([("u", made.version, {}, 1.0)]),
            lambda: study.correct_rows([("u", made.version, "a", 1.0, 0.0)], "why"),
        ]
        for number, call in enumerate(bad, start=1):
            with pytest.raises(BelmanError):
                call()
            assert refusals(service) == number
        elsewhere = service.send("POST", "/api/studies/two/tell", {"ticket": "1-x", "reward": 1})
        assert elsewhere.status == 404
        answers = study.tell_many([(ticket, 9.0), (ticket, 1.0)])
        assert len(answers) == 2
        assert refusals(service) == len(bad) + 2
    said = [one.getMessage() for one in caplog.records if one.name == "belman.service"]
    assert sum("/tell were refused (422): reward 7.0" in line for line in said) == 1
    assert not any("8.0" in line for line in said)  # the second within a minute
    assert any("/observations were refused (422): " in line for line in said)
    assert sum("refused (404)" in line for line in said) == 1  # whatever the path


@pytest.mark.parametrize("style", logs.STYLES)
def test_requests_are_logged_if_asked_for(tmp_path, style, monkeypatch):
    logs.set_up(style, requests=True)
    stream = logging.getLogger("belman").handlers[0].stream = io.StringIO()
    with running(tmp_path) as service:
        service.send("GET", "/api/studies")
        service.send("GET", "/api/studies/%0A%1B%5B2Jforged")
        service.send("POST", "/api/studies/x%0Ay/tell", {"ticket": "1-x", "reward": 1})
    lines = [line for line in stream.getvalue().splitlines() if "belman.service.access" in line]
    assert len(lines) == 3
    assert stream.getvalue().replace("\n", "").isprintable()
    if style == "json":
        result = [json.loads(line) for line in stream.getvalue().splitlines()]
        (first, *_) = [one for one in result if one["logger"] == "belman.service.access"]
        wanted = {"method": "GET", "path": "/api/studies", "status": 200, "caller": "127.0.0.1"}
        assert first["level"] == "INFO"
        assert {name: first[name] for name in wanted} == wanted
    else:
        assert "INFO belman.service.access: GET /api/studies 200 " in lines[0]


def test_no_request_is_logged_by_default(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    with running(tmp_path) as service:
        service.send("GET", "/api/studies")
    assert not caplog.records


def test_a_fault_is_one_object_with_its_traceback():
    logs.set_up("json")
    stream = logging.getLogger("belman").handlers[0].stream = io.StringIO()
    try:
        raise ValueError("\x1b[2J\nforged")
    except ValueError:
        logging.getLogger("belman.service").exception("it broke")
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["traceback"].startswith("Traceback")
    assert line.isprintable()


def test_a_style_that_is_none_is_refused():
    with pytest.raises(SettingError, match="'text', 'json'"):
        logs.set_up("xml")


@pytest.mark.filterwarnings("always::UserWarning")
def test_a_warning_of_the_library_is_a_line_of_the_log(tmp_path, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    logs.set_up("json")
    with running(tmp_path) as service, belman.Client(service.url) as client:
        study = open_study("one", ["a", "b", "c"], storage=service.storage)
        study.tell(study.ask(), 1.0)
        client.study("one").publish(5_000)
    said = [json.loads(line) for line in stream.getvalue().splitlines()]
    (line,) = [one for one in said if "ask for fewer" in one["message"]]
    assert (line["level"], line["logger"]) == ("WARNING", "belman.service")
    assert "study 'one': arm" in line["message"]
