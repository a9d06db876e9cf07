"""A backup is put back under a service: it says so, writes nothing, and goes on when it is told."""

from __future__ import annotations

import pytest

from belman import errors
from belman.studies import Study
from tests.service.running import running
from tests.studies.test_chain import back_up

PATH = "/api/studies/shop"


def test_a_restore_is_said_everywhere_and_mended_by_one_request(tmp_path):
    """The copy that reads has seen more than the one that writes: both refuse."""
    with running(tmp_path) as service:
        send = service.send
        send("POST", "/api/studies", {"name": "shop", "arms": ["a", "b"]})
        send("POST", f"{PATH}/ask", {"tickets": 2})
        back_up(tmp_path / "studies.db", tmp_path / "copy.db")
        elsewhere = Study("shop", service.storage.__class__(str(service.storage)))
        elsewhere.ask(50)
        assert send("GET", PATH).json["asked"] == 52
        back_up(tmp_path / "copy.db", tmp_path / "studies.db")
        for method, path, body in (
            ("POST", f"{PATH}/ask", {}),
            ("GET", PATH, None),
            ("POST", f"{PATH}/pause", {}),
        ):
            result = send(method, path, body)
            assert result.status == 409
            assert result.json["type"].endswith("restored")
            assert "POST …/reopen" in result.json["detail"]
        assert send("GET", "/readyz").status == 503
        with pytest.raises(errors.RestoredError):
            elsewhere.ask()
        elsewhere.storage.close()
        assert send("POST", f"{PATH}/reopen", {}).json["asked"] == 2
        assert send("POST", f"{PATH}/ask", {}).status == 200
        assert send("GET", PATH).json["asked"] == 3
        assert send("GET", "/readyz").status == 200
        assert send("POST", "/api/studies/none/reopen", {}).status == 404
