"""Ready when it is: warm, and open to the pages of the sites that were named and of no other."""

from __future__ import annotations

import threading

import pytest

from belman.errors import SettingError, StorageError
from belman.service import warming
from belman.service.keys import Role
from belman.service.limits import Limits
from belman.studies import open_study
from tests.service.running import keys_of, running
from tests.waiting import HANG, wait_until

SHOP = {"Origin": "https://shop.example"}
OTHER = {"Origin": "https://other.example"}


def test_it_is_ready_once_it_is_warm_and_answers_before(tmp_path, monkeypatch):
    cold, looked = threading.Event(), []
    real = warming.warm

    def slow(storage):
        assert cold.wait(HANG)
        real(storage)
        looked.append(storage.names())

    monkeypatch.setattr(warming, "warm", slow)
    with running(tmp_path, warm=True) as service:
        study = open_study("one", ["a", "b"], storage=service.storage)
        before = study.number
        assert service.send("GET", "/healthz").status == 200
        answer = service.send("GET", "/readyz")
        assert (answer.status, answer.json["detail"]) == (503, "this service is not warm yet")
        assert service.send("GET", "/api/studies").status == 200
        cold.set()
        wait_until(lambda: service.send("GET", "/readyz").status == 200)
        assert looked == [["one"]]
        assert study.number == before


def test_a_storage_that_cannot_be_looked_at_does_not_keep_it_cold(tmp_path, monkeypatch, caplog):
    def broken(storage):
        raise StorageError("away")

    monkeypatch.setattr(warming, "warm", broken)
    with running(tmp_path, warm=True) as service:
        wait_until(lambda: service.send("GET", "/readyz").status == 200)
    assert "warming: away" in caplog.text


@pytest.mark.parametrize("keyed", [False, True])
def test_pages_of_sites_that_were_named_may_call_it(tmp_path, keyed):
    with running(tmp_path, require_keys=keyed, origins=("https://shop.example",)) as service:
        key = keys_of(service.storage)[Role.ADMIN] if keyed else None
        asked = {"Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": "authorization,content-type"}  # fmt: skip
        first = service.send("OPTIONS", "/api/studies", headers={**SHOP, **asked})
        assert first.status == 200
        assert first.headers["access-control-allow-origin"] == SHOP["Origin"]
        assert service.send("OPTIONS", "/api/studies", headers={**OTHER, **asked}).status == 400
        body = {"name": "one", "arms": ["a", "b"]}
        made = service.send("POST", "/api/studies", body, key=key, headers=SHOP)
        assert made.status == 201
        assert made.headers["access-control-allow-origin"] == SHOP["Origin"]
        refused = service.send("POST", "/api/studies", raw="{", key=key, headers=SHOP)
        assert refused.headers["access-control-allow-origin"] == SHOP["Origin"]
        other = service.send("GET", "/api/studies", key=key, headers=OTHER)
        assert "access-control-allow-origin" not in other.headers
        if not keyed:
            body = {"name": "two", "arms": ["a", "b"]}
            assert service.send("POST", "/api/studies", body, headers=OTHER).status == 403


def test_no_page_of_another_site_may_call_it_by_default(tmp_path):
    with running(tmp_path) as service:
        answer = service.send("GET", "/api/studies", headers=SHOP)
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("origin", ["*", "https://*.example", "shop.example", "https://a/b", ""])
def test_what_is_no_site_is_refused(origin):
    with pytest.raises(SettingError, match=r"https://shop\.example"):
        Limits(origins=(origin,))
