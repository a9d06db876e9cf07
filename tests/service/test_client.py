"""The client: the same ask and tell, the same errors, and retries that count nothing twice."""

from __future__ import annotations

import math
import re
import threading

import pytest

import belman
from belman.errors import (
    ArmError,
    MissingExtraError,
    PausedError,
    PolicyError,
    RewardError,
    ServiceError,
    SettingError,
    StorageError,
    TicketError,
    UnknownStudyError,
    UnknownTicketError,
)
from belman.exposure import Constant, Evidence, Infinite, two_phase
from belman.policies import Forced, Phases, q_ths, qbelman
from belman.studies import Study


def test_a_study_from_afar_is_the_study(service, client):
    study = client.create(
        "far", ["blue", ("red", 1)], family=belman.families.Bernoulli(prior=(2.0, 3.0)), seed=3
    )
    near = Study("far", service.storage)
    ticket = study.ask()
    assert ticket.arm in ("blue", ("red", 1))
    assert study.tell(ticket, 1)
    assert not study.tell(ticket.id, 1)
    tickets = study.ask(3, key="mine")
    assert tickets == study.ask(3, key="mine")
    assert study.tell_many([(tickets[0], 1.0), (tickets[1], 0.0)]) == [True, True]
    assert str(study.beliefs()) == str(near.beliefs())
    assert str(study.explain()) == str(near.explain())
    assert near.settings.family == belman.families.Bernoulli(prior=(2.0, 3.0))
    assert [event["number"] for event in study.history()] == list(range(1, near.number + 1))
    assert client.studies("fa") == ["far"]


@pytest.mark.parametrize(
    "policy",
    [
        Phases(belman.BelMan(Infinite()), belman.BelMan(), None, 0.9),
        Forced(belman.Thompson(), arms=3),
        q_ths(),
        qbelman(),
        belman.BelMan(two_phase(20, Constant(0.5))),
        belman.BelMan(Evidence(pool=math.inf)),
    ],
    ids=repr,
)
def test_policies_that_the_package_describes_are_taken_over_http(service, client, policy):
    client.create(repr(policy), ["blue", "red"], policy=policy).ask()
    assert Study(repr(policy), service.storage).policy == policy


def test_a_policy_that_cannot_be_described_is_not_sent(client):
    with pytest.raises(PolicyError, match="cannot be described"):
        client.create("default", ["blue", "red"], policy=belman.BelMan(lambda t: 1.0))
    assert client.studies("default") == []


def test_an_export_from_afar_is_the_same_file(service, client, tmp_path):
    study = client.create("exported", ["blue", "red"])
    study.tell(study.ask(), 1)
    near = Study("exported", service.storage)
    for ending in ("csv", "parquet"):
        study.export(tmp_path / f"far.{ending}")
        near.export(tmp_path / f"near.{ending}")
        assert (tmp_path / f"far.{ending}").read_bytes() == (
            tmp_path / f"near.{ending}"
        ).read_bytes()
    with pytest.raises(ServiceError, match="csv"):
        study.export(tmp_path / "far.xlsx")


def test_an_extra_that_the_service_lacks_is_no_error_of_the_client(client, tmp_path, monkeypatch):
    study = client.create("lacking", ["blue", "red"])

    def lacking(self, path):
        raise MissingExtraError("a .parquet file", "parquet")

    monkeypatch.setattr(Study, "export", lacking)
    with pytest.raises(ServiceError, match=r"belman\[parquet\]"):
        study.export(tmp_path / "far.parquet")


def test_changes_from_afar(service, client):
    study = client.create("changing", ["blue", "red"], policy=belman.BelMan())
    near = Study("changing", service.storage)
    study.add_arm("violet", [3.0, 1.0])
    study.retire_arm("red", "sold out")
    assert near.arms == ("blue", "violet")
    study.set_exposure(Constant(0.5))
    assert near.policy == belman.BelMan(exposure=Constant(0.5))
    study.set_exposure(0.5)
    assert near.policy == belman.BelMan()
    study.pause("why not")
    with pytest.raises(PausedError, match="paused"):
        study.ask()
    study.resume()
    study.ask()


def test_errors_are_those_of_the_study(client):
    study = client.create("strict", ["blue", "red"])
    ticket = study.ask()
    study.tell(ticket, 1)
    with pytest.raises(TicketError, match="already"):
        study.tell(ticket, 0)
    with pytest.raises(UnknownTicketError, match="never gave it"):
        study.tell("1-abc", 1)
    with pytest.raises(RewardError):
        study.tell(study.ask(), 2)
    with pytest.raises(ArmError):
        study.retire_arm("green")
    with pytest.raises(UnknownStudyError, match="did you mean 'strict'"):
        client.study("stric")
    assert isinstance(study.tell_many([("1-abc", 1)])[0], UnknownTicketError)


@pytest.mark.parametrize("reward", [math.nan, math.inf, "much", None])
def test_a_reward_that_is_no_finite_number_is_refused_before_it_is_sent(client, reward):
    study = client.create("finite", ["blue", "red"])
    ticket, other = study.ask(2)
    with pytest.raises(RewardError, match=re.escape(f"reward {reward!r} is not a finite number")):
        study.tell(ticket, reward)
    with pytest.raises(RewardError, match=re.escape(f"reward {reward!r} is not a finite number")):
        study.tell_many([(other, 1), (ticket, reward)])
    assert study.status()["told"] == 0


def test_an_ask_whose_answer_was_lost_is_sent_again_and_counts_once(service, client, monkeypatch):
    study = client.create("lossy", ["blue", "red"])
    transport = client._transport
    once, lost = transport._send_once, []

    def unlucky(*request):
        answer = once(*request)
        if len(lost) < 2:
            lost.append(answer)
            raise ConnectionResetError("the answer was lost")
        return answer

    monkeypatch.setattr(transport, "_send_once", unlucky)
    ticket = study.ask()
    assert len(lost) == 2
    assert study.status()["asked"] == 1
    lost.clear()
    study.tell(ticket, 1)
    assert len(lost) == 2
    assert study.status()["told"] == 1


def test_a_storage_that_is_away_for_a_moment(service, client, monkeypatch):
    """503 while it is away, and the client goes on when it is back."""
    study = client.create("away", ["blue", "red"])
    real, failures = Study.together, []

    def away(self, requests):
        if len(failures) < 2:
            failures.append(1)
            raise StorageError("postgresql://secret-host could not be read")
        return real(self, requests)

    monkeypatch.setattr(Study, "together", away)
    refused = service.send("POST", "/api/studies/away/ask", {})
    assert refused.status == 503
    assert b"secret-host" not in refused.body
    study.ask()
    assert len(failures) == 2
    assert study.status()["asked"] == 1


def test_many_threads_spread_and_nothing_is_lost(client, service):
    study = client.create("busy", ["a", "b", "c"])

    def play():
        for _ in range(10):
            study.tell(study.ask(), 1)

    threads = [threading.Thread(target=play) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    status = study.status()
    assert (status["asked"], status["told"], status["outstanding"]) == (80, 80, 0)
    Study("busy", service.storage).check()
    together = service.send("GET", "/metrics").body.decode()
    assert "belman_together_count" in together


def test_addresses():
    with pytest.raises(SettingError, match="not an address"):
        belman.Client("ftp://x")
    with pytest.raises(ServiceError, match="cannot be reached"):
        belman.Client("http://127.0.0.1:9", retries=0).studies()
