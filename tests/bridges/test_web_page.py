"""The application of docs/guide/web.md, with two workers: they decide, and learn from one log."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from belman.studies import Storage, Study
from tests.waiting import wait_until

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "web.md"


def asked(port, method, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def answers(port):
    try:
        return asked(port, "GET", "/page")[0] == 200
    except OSError:
        return False


@pytest.mark.slow
def test_the_application_of_the_page_decides_and_learns(tmp_path):
    (block,) = re.findall(r"^```python\n(# app\.py\n.*?)^```", PAGE.read_text(), re.M | re.S)
    (tmp_path / "app.py").write_text(block)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["uvicorn", "app:app", "--workers", "2", "--port", str(port)]
    server = subprocess.Popen(
        [sys.executable, "-m", *words], cwd=tmp_path, env={**os.environ, "PYTHONPATH": "."}
    )
    try:
        wait_until(lambda: answers(port))
        with closing(Storage(f"sqlite:///{tmp_path}/studies.db")) as storage:
            before = Study("checkout", storage).outstanding
            tickets = [asked(port, "GET", "/page")[1]["ticket"] for _ in range(10)]
            assert [asked(port, "POST", f"/bought/{one}") for one in tickets] == [(200, True)] * 10
            assert asked(port, "POST", f"/bought/{tickets[0]}") == (200, False)
            study = Study("checkout", storage)
            assert (study.status()["told"], study.outstanding) == (10, before)
            study.check()
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
