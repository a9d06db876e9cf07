"""Windows and corrections over HTTP: settings, telling again, and what a repeated request does."""

from __future__ import annotations

from datetime import timedelta

import pytest

from belman.errors import RewardError, SettingError, TicketError
from belman.studies import Study


def test_rewards_add_up_from_afar_and_a_request_that_is_sent_again_counts_once(service, client):
    rule = {"window": timedelta(hours=1), "silence": "forget", "accumulate": True}
    study = client.create("sums", ["a", "b"], family="poisson", **rule)
    near = Study("sums", service.storage)
    assert (near.settings.window, near.settings.silence) == (3600.0, "forget")
    ticket = study.ask()
    assert study.tell(ticket, 2) is True
    assert study.tell(ticket, 2) is True  # another purchase of two
    assert study.tell(ticket, 3, key="order 7") is True
    assert study.tell(ticket, 3, key="order 7") is False
    assert study.tell_many([(ticket, 1), (ticket, 1)]) == [True, True]
    body = {"ticket": ticket.id, "reward": 1, "key": "lost answer"}
    sent = [service.send("POST", "/api/studies/sums/tell", body).json for _ in range(2)]
    assert sent == [{"news": True}, {"news": False}]
    assert near._replica.look(lambda state: [one.reward for one in state.book.open.values()]) == [
        10.0
    ]
    status = study.status()
    assert (status["window"], status["silence"], status["accumulate"]) == (3600.0, "forget", True)
    with pytest.raises(TicketError, match="is open until"):
        study.correct(ticket, 0, "refund")


def test_corrections_from_afar(service, client):
    study = client.create("refunds", ["a"])
    ticket, other = study.ask(2)
    study.tell(ticket, 1)
    study.tell(other, 1)
    assert study.correct(ticket, 0, "refund", key="r1") is True
    assert study.correct(ticket, 1, "no refund") is True
    assert study.correct(ticket, 0, "refund", key="r1") is False
    assert study.correct(other, None, "fraud") is True
    assert Study("refunds", service.storage).agent().belief("a") == (2.0, 1.0)
    last = list(study.history())[-1]
    assert (last["kind"], last["details"]["reason"], last["ticket"]) == ("corrected", "fraud", 3)
    with pytest.raises(RewardError):
        study.correct(ticket, 7, "refund")
    with pytest.raises(SettingError, match="reason"):
        study.correct(ticket, 0, " ")
    path = f"/api/studies/refunds/tickets/{ticket.id}/correct"
    assert service.send("POST", path, {"reward": 1}).status == 422
    assert service.send("POST", path, {"reward": 1, "reason": ""}).status == 422
    gone = service.send("POST", path.replace(ticket.id, "1-aaaaaa"), {"reward": 1, "reason": "x"})
    assert gone.json["type"] == "urn:belman:unknown-ticket"


def test_early_learning_from_afar(service, client):
    study = client.create("early", ["a", "b"], window=3600.0)
    ticket = study.ask()
    study.tell(ticket, 1)
    assert (study.status()["early"], study.status()["told"]) == (True, 0)
    assert study.beliefs().row(ticket.arm)["expected reward"] == pytest.approx(2 / 3, abs=0.01)
    study.tell(study.ask(), 0.5)
    assert "a reward of 0.5 was told" in study.status()["waits"]
    assert study.beliefs().title == study.status()["waits"]
    late = client.create("late", ["a", "b"], window=3600.0, early=False)
    late.tell(late.ask(), 1)
    assert late.beliefs()["expected reward"] == [0.5, 0.5]
    with pytest.raises(SettingError, match="early=True is not allowed: poisson rewards"):
        client.create("counts", ["a"], family="poisson", window=3600.0, early=True)
