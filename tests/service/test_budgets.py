"""A budget through HTTP: settings, refusals in its own words, what was spent, and the client."""

from __future__ import annotations

import pytest

import belman
from belman.errors import BudgetError, RewardError
from tests.service.running import running

pytestmark = pytest.mark.interpreted


def test_a_budget_is_kept_by_a_service_and_its_client_says_so(tmp_path):
    with running(tmp_path) as service, belman.Client(service.url) as client:
        made = {"name": "chat", "arms": ["a", "b"], "budget": {"dollars": "2 an hour"}, "seed": 1}
        assert service.send("POST", "/api/studies", made).status == 201
        study = client.study("chat")
        for _ in range(2):
            assert study.tell(study.ask(), 1, metrics={"dollars": 0.5})
        study.spend(0.75, "elsewhere", arm="a", key="once")
        study.spend(0.75, "elsewhere", arm="a", key="once")
        assert study.status()["budget"]["spent"] == 1.75
        with pytest.raises(BudgetError, match=r"1\.75 of 2 dollars are spent this hour"):
            study.ask()
        answer = service.send("POST", "/api/studies/chat/ask", {})
        assert (answer.status, answer.json["type"]) == (409, "urn:belman:budget")
        (row,) = study.spending()
        assert (row["budget"], row["spent"], row["asks"]) == (2.0, 1.75, 2)
        assert study.report()["budget"]["left"] == 0.25


@pytest.mark.parametrize("budget", [{"dollars": "much"}, {"dollars": -1}, {}, {"a": 1, "b": 2}, 3])
def test_what_is_no_budget_is_refused(tmp_path, budget):
    with running(tmp_path) as service:
        made = {"name": "chat", "arms": ["a", "b"], "budget": budget}
        assert service.send("POST", "/api/studies", made).status == 422
        for body in ({"amount": -1}, {"amount": "1"}, {}, {"amount": 1, "arm": {}}):
            assert service.send("POST", "/api/studies/chat/spend", body).status in (404, 422)


def test_a_study_without_a_budget_spends_nothing(tmp_path):
    with running(tmp_path) as service, belman.Client(service.url) as client:
        service.send("POST", "/api/studies", {"name": "chat", "arms": ["a", "b"]})
        study = client.study("chat")
        with pytest.raises(belman.errors.StudyError, match="has no budget"):
            study.spend(1)
        with pytest.raises(RewardError):
            study.spend(float("nan"))
