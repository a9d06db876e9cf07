"""Tickets that are asked for ahead: few requests, none twice, none left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from belman.assignment.prefetched import Prefetched
from belman.errors import PausedError, ServiceError, SettingError
from belman.studies import Study
from tests.waiting import HANG, wait_until


@pytest.fixture
def study(client, request):
    return client.create(request.node.name, ["blue", "green"], seed=3)


@pytest.fixture
def near(service, study):
    return Study(study.name, service.storage)


def requests_of(client, monkeypatch):
    sent, once = [], client._transport._send_once

    def counting(method, path, *rest):
        sent.append(path)
        return once(method, path, *rest)

    monkeypatch.setattr(client._transport, "_send_once", counting)
    return sent


def test_threads_get_each_ticket_once_with_few_requests(client, study, near, monkeypatch):
    sent, result = requests_of(client, monkeypatch), []
    with study.prefetched(32, oldest=HANG) as ahead:

        def work():
            for _ in range(100):
                result.append(ahead.ask())
                assert ahead.counts.here <= 32

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANG)
        wait_until(lambda: near.outstanding == 400 + ahead.counts.here)
    assert len({ticket.id for ticket in result}) == len(result) == 400
    assert len(sent) < 100
    assert near.outstanding == near.status()["asked"] == 400
    assert study.tell_many([(ticket, 1.0) for ticket in result]) == [True] * 400
    near.check()


def test_tickets_that_nobody_takes_are_given_back(study, near):
    with study.prefetched(16, oldest=0.05) as ahead:
        taken = [ahead.ask() for _ in range(20)]
        wait_until(lambda: near.status()["asked"] == 20 and not ahead.counts.here)
        back = ahead.counts.returned
        taken.append(ahead.ask())
    kinds = [row["event"] for row in near.history()]
    assert kinds.count("returned") >= back
    assert ahead.counts == (0, len(taken), kinds.count("returned"))
    assert {ticket.id for ticket in near.tickets()} == {ticket.id for ticket in taken}
    assert str(near.beliefs()) == str(Study(near.name, near.storage).beliefs())


def test_tickets_that_are_stale_at_the_end_are_counted_once(study, near):
    now = [0.0]
    ahead = Prefetched(study, 8, 1_000.0, None, clock=lambda: now[0])
    ahead.ask()
    wait_until(lambda: ahead.counts.here)
    now[0] += 2_000.0
    assert ahead.close()
    assert ahead.close()
    here, taken, returned = ahead.counts
    assert (here, taken, near.outstanding) == (0, 1, 1)
    assert returned == [row["event"] for row in near.history()].count("returned")


def test_whoever_asks_now_and_then_has_few_out(study, near):
    with study.prefetched(64, oldest=0.02) as ahead:
        for _ in range(5):
            ahead.ask()
            wait_until(lambda: not ahead.counts.here)
        assert ahead.counts.returned <= 5 * 4


def test_what_the_study_refuses_is_raised_to_everyone_who_waits(study, near):
    near.pause("lunch")
    raised = []
    with study.prefetched(8) as ahead:

        def work():
            try:
                ahead.ask()
            except PausedError as error:
                raised.append(error)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANG)
        assert len(raised) == 3
        near.resume()
        assert ahead.ask().arm in ("blue", "green")
    with pytest.raises(SettingError, match="were closed"):
        ahead.ask()


def test_a_refusal_of_before_the_ask_is_not_raised_to_it(study, near, monkeypatch):
    fetch, refused, resumed = type(study).ask, threading.Event(), threading.Event()

    def slow(self, *arguments, **settings):
        try:
            return fetch(self, *arguments, **settings)
        except PausedError:
            refused.set()
            assert resumed.wait(HANG)
            raise

    monkeypatch.setattr(type(study), "ask", slow)
    near.pause("lunch")
    with study.prefetched(8) as ahead:

        def wait_and_see():
            with suppress(PausedError):  # or the second ask's fetch is here before it wakes
                ahead.ask()

        first = threading.Thread(target=wait_and_see)
        first.start()
        assert refused.wait(HANG)
        near.resume()
        result, waits, want = [], threading.Event(), ahead._want
        monkeypatch.setattr(ahead, "_want", lambda: (want(), waits.set()))
        second = threading.Thread(target=lambda: result.append(ahead.ask().arm))
        second.start()
        assert waits.wait(HANG)
        resumed.set()
        second.join(HANG)
        first.join(HANG)
    assert result[0] in ("blue", "green")


def test_without_the_service_asks_fail_and_closing_says_so(client, study, monkeypatch):
    ahead = study.prefetched(8, oldest=HANG)
    for _ in range(4):
        ahead.ask()
    wait_until(lambda: ahead.counts.here)

    def away(*_):
        raise OSError("away")

    client._transport._retries = 0
    monkeypatch.setattr(client._transport, "_send_once", away)
    with pytest.raises(ServiceError, match="away"):
        [ahead.ask() for _ in range(20)]
    monkeypatch.undo()
    assert ahead.ask().id
    wait_until(lambda: ahead.counts.here)
    monkeypatch.setattr(client._transport, "_send_once", away)
    assert not ahead.close()


def test_what_cannot_be_is_refused(study):
    for wrong in ({"ahead": 0}, {"ahead": 1_001}, {"oldest": 0.0}):
        with pytest.raises(SettingError, match="give a whole number"):
            study.prefetched(**wrong)


def test_attributes_go_with_every_ticket(study, near):
    with study.prefetched(4, attributes={"device": "phone"}) as ahead:
        study.tell(ahead.ask(), 1.0)
    asked = [row for row in near.history() if row["event"] == "asked"]
    assert all('"phone"' in row["attributes"] for row in asked)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_fetches_tickets_of_its_own(service, study, near):
    script = f"""
import os, sys
from belman.assignment import Client
study = Client({service.url!r}, timeout={HANG}).study({study.name!r})
ahead = study.prefetched(16, oldest={HANG})
mine = [ahead.ask().id for _ in range(20)]
child = os.fork()
mine += [ahead.ask().id for _ in range(20)]
assert ahead.close()
if child:
    assert os.waitpid(child, 0)[1] == 0
    print(*mine)
else:
    print(*mine[20:], flush=True)
    os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == 0, done.stderr
    result = done.stdout.split()
    assert len(set(result)) == len(result) == 60
    assert {ticket.id for ticket in near.tickets()} == set(result)
