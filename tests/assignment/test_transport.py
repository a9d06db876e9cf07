"""Answers that no service gives."""

from __future__ import annotations

import http.server
import threading
from contextlib import contextmanager

import pytest

from belman.assignment.transport import Transport
from belman.errors import ServiceError


@contextmanager
def endless(seen: list[str]):
    """Something that answers on and on."""

    class Stranger(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 10_000)
            except OSError:  # the caller has hung up
                pass

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_an_answer_without_end_is_given_up_and_not_asked_for_again():
    seen: list[str] = []
    with endless(seen) as url:
        transport = Transport(url, None, 60.0, retries=3)
        with pytest.raises(ServiceError, match=r"more than 1,000,000 bytes: is something else"):
            transport.send("GET", "/api/studies", longest=1_000_000)
    assert seen == ["/api/studies"]
    assert not transport._pool
