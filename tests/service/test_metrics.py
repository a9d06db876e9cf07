"""Metrics over HTTP: told, corrected, read, refused, and a reward declared over them."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from belman.errors import RewardError, SettingError
from belman.studies import Study


def test_metrics_from_afar(service, client):
    study = client.create("pages", ["a"])
    first, second = study.ask(2)
    assert study.tell(first, 1, metrics={"latency": 0.5, "inf": 1}) is True
    assert study.tell(second, 1) is True
    row = next(iter(study.metrics()))
    assert row == {
        "arm": "a",
        "metric": "inf",
        "n": 1,
        "mean": 1,
        "low": -math.inf,
        "high": math.inf,
    }
    assert study.correct(first, 1, "measured anew", metrics={"latency": 0.75}) is True
    assert study.metrics().columns == Study("pages", service.storage).metrics().columns
    assert study.metrics()["mean"] == [1.0, 0.75]
    assert list(study.history())[-1]["details"]["metrics"] == {"latency": 0.75}
    ticket = study.ask()
    for bad in ({"1a": 1}, {"latency": 1e200}):
        with pytest.raises((RewardError, SettingError), match="metric"):
            study.tell(ticket, 1, metrics=bad)
    with pytest.raises(RewardError, match="nothing was told"):
        study.tell(ticket, 1, metrics={"latency": math.nan})
    with pytest.raises(RewardError, match="nothing was told"):
        study.tell(ticket)
    path = "/api/studies/pages/tell"
    for body in ({}, {"metrics": {"a": 1}}, {"reward": 1, "metrics": {"a": "1"}}):
        assert service.send("POST", path, {"ticket": ticket.id, **body}).status == 422
    assert study.status()["outstanding"] == 1


def test_a_reward_is_declared_from_afar(service, client):
    study = client.create("orders", ["a"], family="gaussian", reward="margin - 0.2*latency")
    ticket, other = study.ask(2)
    with pytest.raises(RewardError, match="needs the metric 'latency'"):
        study.tell(ticket, metrics={"margin": 3})
    with pytest.raises(RewardError, match="the study's reward is"):
        study.tell(ticket, 1, metrics={"margin": 3, "latency": 0.5})
    assert study.tell(ticket, metrics={"margin": 3, "latency": 0.5}) is True
    many = {"tells": [{"ticket": other.id, "metrics": {"margin": 1, "latency": 0}}]}
    assert service.send("POST", "/api/studies/orders/tells", many).json == {
        "answers": [{"news": True}]
    }
    assert study.status()["reward"] == 2.9 + 1.0
    with pytest.raises(SettingError, match="it may hold"):
        client.create("evil", ["a"], reward="__import__('os')")


def test_the_board_for_grafana_asks_for_counters_that_there_are(service):
    """Every counter of the service is on it, and it has no other; its labels are theirs."""
    service.send("POST", "/api/studies", {"name": "board", "arms": ["a", "b"]})
    service.send("POST", "/api/studies/board/ask", {})
    text = service.send("GET", "/metrics").body.decode()
    names = set(re.findall(r"^(belman_\w+?)(?:\{| )", text, re.M))
    labels = set(re.findall(r"[{,](\w+)=", text)) | {"instance", "le"}
    path = Path(__file__).parents[2] / "deploy" / "grafana.json"
    board = json.loads(path.read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    wanted = set(re.findall(r"belman_\w+", " ".join(asked)))
    assert wanted <= names
    families = {re.sub("_(total|bucket|sum|count|created)$", "", name) for name in names}
    assert families == {re.sub("_(total|bucket|sum|count)$", "", name) for name in wanted}
    for expr in asked:
        by = re.findall(r"by \(([\w, ]+)\)", expr)
        used = {name for group in by for name in group.split(", ")}
        assert used | set(re.findall(r"(\w+)=~?", expr)) <= labels, expr
        assert expr.count("(") == expr.count(")")
    positions = [(one["gridPos"]["x"], one["gridPos"]["y"]) for one in board["panels"]]
    assert len(set(positions)) == len(positions) == len({one["id"] for one in board["panels"]})
