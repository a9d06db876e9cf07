"""A service that really listens, in a thread of the test, and plain requests to it."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import contextmanager
from typing import NamedTuple

import uvicorn

from belman.dashboard import application
from belman.service.app import bind, server_settings
from belman.service.keys import Keys, Role
from belman.service.limits import Limits
from belman.studies import Storage
from tests.waiting import HANG


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Running:
    """The address of a service, and a request to it."""

    def __init__(self, app, storage, port):
        self.app, self.storage, self.port = app, storage, port
        self.url = f"http://127.0.0.1:{port}"

    def send(self, method, path, body=None, *, key=None, raw=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)
        given = {"Content-Type": "application/json"} if body is not None or raw is not None else {}
        if key is not None:
            given["Authorization"] = f"Bearer {key}"
        data = raw if raw is not None else None if body is None else json.dumps(body)
        try:
            connection.request(method, path, data, given | (headers or {}))
            response = connection.getresponse()
            return Answer(
                response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
            )
        finally:
            connection.close()


@contextmanager
def running(folder, port=0, require_keys=False, clock=time.monotonic, warm=False, **limits):
    storage = Storage(f"sqlite:///{folder}/studies.db?synchronous=normal")
    held = Limits(**limits)
    app = application(storage, require_keys=require_keys, clock=clock, warm=warm, limits=held)
    listening = bind("127.0.0.1", port)
    config = server_settings(app)
    config.timeout_graceful_shutdown = int(HANG)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        thread.join(0.01)
    try:
        yield Running(app, storage, listening.getsockname()[1])
    finally:
        app.state.registry.stopping.set()
        server.should_exit = True
        thread.join(HANG)
        listening.close()
        assert not thread.is_alive()


def keys_of(storage):
    """One key for each role."""
    return {role: Keys(storage).add(role.word, role) for role in Role}
