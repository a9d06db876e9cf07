"""The verdict through HTTP: the study's own, for clients and the page."""

from __future__ import annotations

import json

import pytest

import belman
from belman import errors
from belman.studies import open_study


def test_a_client_gets_the_report_of_the_study(service, client):
    rule = belman.Separated(0.1)
    study = client.create("verdict", ["blue", "green"], control="blue", stop_when=rule, seed=1)
    for i, ticket in enumerate(study.ask(20)):
        study.tell(ticket, i % 2)
    found = study.report(0.9)
    own = open_study("verdict", storage=service.storage)
    theirs = json.loads(own.report(0.9).to_json())
    for moment in (found, theirs):
        moment.pop("time")
    assert found == theirs
    assert (found["control"], found["rule"]) == ("blue", {"name": "separated", "delta": 0.1})
    assert found["state"] == "running"
    row = found["arms"][1]
    assert {"id", "colour", "asked", "told", "share", "credible", "anytime"} <= row.keys()
    assert set(row["lift"]) == {"absolute", "relative", "beats"}
    assert study.report(control="green")["control"] == "green"
    with pytest.raises(errors.ArmError, match="control='red' is none of the arms"):
        study.report(control="red")
    with pytest.raises(errors.SettingError, match="nope"):
        client.create("other", ["blue"], stop_when="nope")
