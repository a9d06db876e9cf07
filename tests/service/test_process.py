"""The service as a process: killed, stopped, started anew, and with PostgreSQL restarted
underneath.
"""

from __future__ import annotations

import http.client
import re
import resource
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

import belman
from belman.errors import BelmanError, ServiceError, StorageError
from belman.service.keys import Keys, Role
from belman.studies import Kind, Storage, Study
from tests.studies.postgres import REASON, Postgres, programs
from tests.waiting import HANG, wait_until

pytestmark = pytest.mark.slow  # processes that are killed, disks that are full
# The time that it gives what is under way before it breaks it off is for machines in a hurry.
GRACE = f"from belman.service import app; app.GRACE_SECONDS = {HANG:.0f}"
SERVE = f"import belman.cli; {GRACE}; belman.cli.main()"


@contextmanager
def process(storage, *options, largest_file=None):
    """`belman serve` in a process of its own: the process and its address. Its files may not grow
    beyond `largest_file` bytes.
    """

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    command = [
        sys.executable,
        "-c",
        SERVE,
        "serve",
        "--storage",
        storage,
        "--port",
        "0",
        *options,
    ]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    server = subprocess.Popen(command, preexec_fn=limit if largest_file else None, **streams)
    try:
        yield server, server.stdout.readline().strip().rstrip("/")
    finally:
        if server.poll() is None:
            server.kill()
        server.wait(HANG)
        server.stdout.close()
        server.stderr.close()


class Player(threading.Thread):
    """Asks and tells until the service is gone, and notes every answer that it got."""

    def __init__(self, address):
        super().__init__()
        self.client = belman.Client(address, retries=0, timeout=HANG)
        self.asks, self.tells, self.enough = [], [], threading.Event()

    def run(self):
        study = self.client.study("load")
        try:
            while not self.enough.is_set():
                ticket = study.ask()
                self.asks.append(ticket.id)
                study.tell(ticket, 1)
                self.tells.append(ticket.id)
        except BelmanError:
            pass  # the service is gone
        finally:
            self.client.close()


def compare(storage, players):
    """Every answer that somebody got is in the log exactly once, and the state is its fold."""
    opened = Storage(storage)
    study = Study("load", opened)
    study.check()
    events = list(study.events())
    asked = {event.number for event in events if event.kind == Kind.ASKED}
    told = [event.ticket for event in events if event.kind == Kind.TOLD]
    opened.close()
    assert len(told) == len(set(told))
    noted = [int(one.split("-")[0]) for player in players for one in player.asks]
    assert len(noted) == len(set(noted))
    assert set(noted) <= asked
    assert {int(one.split("-")[0]) for player in players for one in player.tells} <= set(told)
    assert len(asked) <= len(noted) + len(
        players
    )  # of others at most the one that each had under way


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_answered_is_there(tmp_path, end):
    storage = f"sqlite:///{tmp_path}/studies.db"
    with process(storage) as (server, address):
        with belman.Client(address, timeout=HANG) as client:
            client.create("load", ["a", "b"], seed=1).ask(key="warm")
        players = [Player(address) for _ in range(4)]
        for player in players:
            player.start()
        wait_until(lambda: sum(len(player.tells) for player in players) >= 40)
        server.send_signal(end)
        for player in players:
            player.join(HANG)
        code = server.wait(HANG)
        words = server.stderr.read()
    assert code == (-signal.SIGKILL if end == signal.SIGKILL else 0), words
    assert "Traceback" not in words
    players[0].asks.append("2-warm")
    compare(storage, players)


def ask_on(client, player):
    """Ask until it is refused: a log that was full may have been emptied meanwhile, and have room
    for some more.
    """
    while True:
        player.asks.append(client.study("load").ask().id)


def test_a_full_disk_is_said_and_nothing_answered_is_lost(tmp_path):
    """The service answers 503 and lives on; after a start with room again all that was answered is
    there, and it goes on.
    """
    storage = f"sqlite:///{tmp_path}/studies.db"
    with process(storage) as (server, address), belman.Client(address, timeout=HANG) as client:
        client.create("load", ["a", "b"], seed=1).ask(key="warm")
    with process(storage, largest_file=1_000_000) as (server, address):
        players = [Player(address) for _ in range(4)]
        players[0].asks.append("2-warm")
        for player in players:
            player.start()
        for player in players:
            player.join(HANG)
        with (
            belman.Client(address, retries=0, timeout=HANG) as client,
            pytest.raises(StorageError, match="try again"),
        ):
            ask_on(client, players[0])
        assert server.poll() is None
        server.send_signal(signal.SIGTERM)
        assert server.wait(HANG) == 0
        assert "Traceback" not in server.stderr.read()
    assert sum(len(player.tells) for player in players) > 20
    compare(storage, players)
    with process(storage) as (server, address), belman.Client(address, timeout=HANG) as client:
        assert client.study("load").ask().arm in ("a", "b")


def test_a_full_disk_is_not_ready(tmp_path):
    storage = f"sqlite:///{tmp_path}/studies.db"
    opened = Storage(storage)
    opened.close()
    with process(storage, largest_file=60_000) as (server, address):
        with belman.Client(address, retries=0, timeout=HANG) as client:
            wait_until(lambda: client._transport.send("GET", "/readyz")[0] == 503)
            assert client._transport.send("GET", "/healthz")[0] == 200
            assert client.studies() == []
        assert server.poll() is None


def test_a_page_that_watches_does_not_hold_up_the_end(tmp_path):
    with process(f"sqlite:///{tmp_path}/studies.db") as (server, address):
        with belman.Client(address, timeout=HANG) as client:
            client.create("watched", ["a", "b"])
        connection = http.client.HTTPConnection(
            "127.0.0.1", int(address.rpartition(":")[2]), timeout=HANG
        )
        connection.request("GET", "/api/studies/watched/live")
        response = connection.getresponse()
        assert response.readline() == b"event: view\n"
        server.send_signal(signal.SIGTERM)
        response.read()  # to the end of the stream, which the service ends
        assert server.wait(HANG) == 0
        assert "exceeded" not in server.stderr.read()  # the time that it gives what is under way
        response.close()
        connection.close()


def test_elsewhere_only_with_keys_and_no_key_in_the_log(tmp_path):
    storage = f"sqlite:///{tmp_path}/studies.db"
    with process(storage, "--host", "0.0.0.0") as (server, address):
        assert server.wait(HANG) == 2
        assert address == ""
        assert "belman key add" in re.sub(r"\s+", " ", server.stderr.read())
    opened = Storage(storage)
    key = Keys(opened).add("me", Role.ADMIN)
    opened.close()
    with process(storage, "--host", "0.0.0.0") as (server, address):
        here = address.replace("0.0.0.0", "127.0.0.1")
        with (
            belman.Client(here, retries=0, timeout=HANG) as stranger,
            pytest.raises(ServiceError, match="Authorization"),
        ):
            stranger.studies()
        with belman.Client(here, key, timeout=HANG) as client:
            client.create("guarded", ["a", "b"])
            assert client.studies() == ["guarded"]
        server.send_signal(signal.SIGTERM)
        server.wait(HANG)
        said = server.stdout.read() + server.stderr.read()
    assert key.split("_", 2)[2] not in said


@pytest.mark.skipif(programs() is None, reason=REASON)
def test_two_services_on_one_postgresql_that_is_restarted():
    """Both answer 503 while it is away, and go on by themselves when it is back; what they answered
    is there.
    """
    database = Postgres()
    try:
        with process(database.url) as (_, first), process(database.url) as (_, second):
            clients = [
                belman.Client(address, retries=0, timeout=HANG) for address in (first, second)
            ]
            clients[0].create("load", ["a", "b"], seed=1)
            near, far = (client.study("load") for client in clients)
            ticket = near.ask()
            assert far.tell(ticket, 1)
            assert not near.tell(ticket, 1)
            database.stop()
            for client in clients:
                assert client._transport.send("POST", "/api/studies/load/ask", {})[0] == 503
                assert client._transport.send("GET", "/readyz")[0] == 503
                assert client._transport.send("GET", "/healthz")[0] == 200
            database.start()
            for client, study in zip(clients, (near, far), strict=True):
                patient = belman.Client(str(client._transport), retries=6, timeout=HANG)
                assert far.tell(patient.study("load").ask(), 1)
                assert study.status()["outstanding"] == 0
                patient.close()
                client.close()
    finally:
        database.close()
