"""Keys that are revoked while pages watch with them: five seconds later they open nothing."""

from __future__ import annotations

import http.client
import tempfile

from belman.service.keys import Keys, Role
from tests.attack.harness import Attack, Trials
from tests.service.running import running
from tests.waiting import HANG

MAY_WATCH = [role for role in Role if role is not Role.FLAGS]


def run(trials: Trials) -> None:
    """A trial is a key with a stream, of which every other one is revoked."""
    now = [1000.0]
    with (
        tempfile.TemporaryDirectory() as folder,
        running(folder, require_keys=True, clock=lambda: now[0]) as service,
    ):
        keys = Keys(service.storage)
        admin = keys.add("admin", Role.ADMIN)
        service.send("POST", "/api/studies", {"name": "watched", "arms": ["a", "b"]}, key=admin)
        watching = []
        for number in trials:
            key = keys.add(f"key {number}", trials.luck.choice(MAY_WATCH))
            line = http.client.HTTPConnection("127.0.0.1", service.port, timeout=HANG)
            headers = {"Authorization": f"Bearer {key}"}
            line.request("GET", "/api/studies/watched/live", headers=headers)
            answer = line.getresponse()
            trials.expect(answer.readline() == b"event: view\n", "a stream shows nothing")
            watching.append((key, line, answer))
            if len(watching) == 20:
                _revoke(trials, service, keys, admin, watching, now)
        _revoke(trials, service, keys, admin, watching, now)


def _revoke(trials: Trials, service, keys: Keys, admin: str, watching: list, now: list) -> None:
    gone = watching[::2]
    for key, _, _ in gone:
        keys.revoke(key.split("_")[1])
    now[0] += 5.0
    for key, _, answer in gone:
        answer.read()  # to its end, which the service makes
        status = service.send("GET", "/api/studies", key=key).status
        trials.expect(status in (401, 429), f"a revoked key got {status}")
    service.send("POST", "/api/studies/watched/ask", {}, key=admin)
    for key, _, answer in watching[1::2]:
        while (line := answer.readline()) and line != b"event: view\n":
            pass
        trials.expect(line, "a stream ended whose key is good")
        status = service.send("GET", "/api/studies", key=key).status
        trials.expect(status == 200, f"a good key got {status}")
    for _, line, _ in watching:
        line.close()
    watching.clear()


ATTACK = Attack(
    "revoked",
    "keys are revoked while pages watch with them",
    "five seconds later their streams have ended and they open nothing; others go on",
    run,
    short=6,
    long=600,
)
