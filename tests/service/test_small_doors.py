"""What is shown and what is believed: passwords, ports, tables and logs of a newer belman, proxies,
readiness, and addresses of pages that are no encoding of anything.
"""

from __future__ import annotations

import logging
import sqlite3

import pytest
from typer.testing import CliRunner

import belman
from belman.cli import app as command_line
from belman.errors import BelmanError, ServiceError, SettingError, StorageError
from belman.service.app import bind
from belman.studies import Event, Storage, open_study
from belman.studies.log.chain import link
from belman.studies.log.drivers import driver_for, without_password
from tests.service.running import running

SECRET = "tr0ub4dor"
URLS = [
    f"postgresql://me:{SECRET}@127.0.0.1:nine/db",
    f"postgresql://me:{SECRET}@127.0.0.1:99999/db",
    f"postgresql://me:x@{SECRET}@127.0.0.1:1/db",
    f"postgresql://me:x/{SECRET}?@127.0.0.1:1/db",
    f"postgresql://:{SECRET}@127.0.0.1:1/db",
    f"postgresql//me:{SECRET}@127.0.0.1/db",
    f"me:{SECRET}@127.0.0.1/db",
    f"mysql://me:{SECRET}@127.0.0.1/db",
    f"sqlite://me:{SECRET}@/studies.db",
    f"sqlite:///studies.db?password={SECRET}",
    f"postgresql://127.0.0.1:1/db?password={SECRET}",
    f"postgresql://127.0.0.1:1/db?sslpassword={SECRET}&connect_timeout=1",
]


@pytest.mark.parametrize("url", URLS)
def test_a_password_is_shown_nowhere(url, caplog):
    with pytest.raises(BelmanError) as raised:
        Storage(url)
    assert SECRET not in str(raised.value)
    assert SECRET not in without_password(url)
    said = CliRunner().invoke(command_line, ["key", "list", "--storage", url])
    assert SECRET not in said.output + str(said.exception)
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    "url",
    [f"http://me:{SECRET}@127.0.0.1:8000", f"http://me:{SECRET}@127.0.0.1:nine", f"x:{SECRET}@"],
)
def test_a_password_in_the_address_of_a_service_is_not_shown_either(url):
    with pytest.raises(SettingError) as raised:
        belman.Client(url)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("port", [-1, 65_536, 99_999_999_999])
def test_a_port_that_cannot_be(port):
    with pytest.raises(ServiceError, match="cannot listen"):
        bind("127.0.0.1", port)
    with pytest.raises(SettingError, match="port"):
        belman.Client(f"http://127.0.0.1:{port}")


def change(path, sql, *values):
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(sql, values)
    connection.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE belman_version SET version_num = '9999'",
        "UPDATE belman_version SET version_num = 'a newer kind'",
        "DELETE FROM belman_version",
        "ALTER TABLE belman_version RENAME COLUMN version_num TO version",
    ],
)
def test_tables_of_another_version_are_refused_in_our_words(tmp_path, sql):
    url = f"sqlite:///{tmp_path}/studies.db"
    Storage(url).close()
    change(tmp_path / "studies.db", sql)
    for _ in range(2):
        with pytest.raises(StorageError, match=r"studies\.db"):
            Storage(url)


def test_an_event_of_a_newer_belman_is_said_in_the_log_of_the_service(tmp_path, caplog):
    with running(tmp_path) as service:
        study = open_study("newer", ["a", "b"], storage=service.storage)
        (created,) = study.events()
        unknown = link(created.link, Event(2, 99, 0.0)).hex()
        insert = "INSERT INTO belman_events (study, number, kind, time, link)"
        change(tmp_path / "studies.db", f"{insert} VALUES (1, 2, 99, 0.0, x'{unknown}')")
        for path in ("", "/history", "/beliefs", "/view"):
            answer = service.send("GET", f"/api/studies/newer{path}")
            assert (answer.status, answer.json["type"]) == (500, "urn:belman:state"), path
        assert service.send("POST", "/api/studies/newer/ask", {}).status == 500
    said = [one for one in caplog.records if one.name == "belman.service"]
    assert len(said) == 5
    assert all("install a newer one" in one.getMessage() for one in said)
    assert all(one.levelno == logging.ERROR and one.exc_info is None for one in said)


@pytest.mark.parametrize(
    ("proxies", "last"), [((), 429), (("10.0.0.0/8",), 429), (("127.0.0.1",), 401)]
)
def test_only_configured_proxies_say_from_where_a_request_comes(tmp_path, clock, proxies, last):
    """Wrong keys are slowed down by address, which a caller could otherwise make up."""
    with running(tmp_path, require_keys=True, proxies=proxies) as service:
        result = [
            service.send(
                "GET",
                "/api/studies",
                key=f"belman_0_{i}",
                headers={"X-Forwarded-For": f"198.51.100.{i}"},
            ).status
            for i in range(15)
        ]
    assert result[-1] == last


def test_readiness_is_looked_at_once_a_moment_and_its_callers_are_slowed_down(tmp_path, clock):
    now = [0.0]
    with running(tmp_path, clock=lambda: now[0]) as service:
        real, looks = service.storage.execute, []
        service.storage.execute = lambda *sql: looks.append(sql) or real(*sql)
        result = [service.send("GET", "/readyz").status for _ in range(25)]
        assert (result[0], result[-1], len(looks)) == (200, 429, 1)
        clock.now += 1.0
        now[0] += 1.0
        assert service.send("GET", "/readyz").status == 200
        assert len(looks) == 2
        assert service.send("GET", "/healthz").status == 200


def test_a_storage_that_takes_nothing_is_not_ready(tmp_path):
    """And is again when it takes something; tests/service/test_process.py fills a disk."""
    now = [0.0]
    with running(tmp_path, clock=lambda: now[0]) as service:
        assert service.send("GET", "/readyz").status == 200
        real = service.storage.execute

        def full(*sql):
            raise StorageError("database or disk is full")

        service.storage.execute = full
        now[0] += 1.0
        answer = service.send("GET", "/readyz")
        assert (answer.status, answer.json["status"]) == (503, 503)
        assert service.send("GET", "/healthz").status == 200
        service.storage.execute = real
        now[0] += 1.0
        assert service.send("GET", "/readyz").status == 200


def test_a_password_that_is_right_is_used():
    assert "***" in str(driver_for("postgresql://me:a%40b@127.0.0.1:1/db"))
