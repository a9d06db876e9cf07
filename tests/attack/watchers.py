"""Pages that watch, some of which read nothing: asks are answered, and views are made once."""

from __future__ import annotations

import http.client
import tempfile
from collections import Counter
from typing import Any

from belman.dashboard.view import Snapshot, Wanted
from tests.attack.harness import Attack, Trials
from tests.service.running import running
from tests.waiting import HANG

PAGES, OTHERS = 30, 5


def run(trials: Trials) -> None:
    """A trial is a pair of ask and tell on a study that many pages watch."""
    made: Counter[int] = Counter()
    real = Snapshot.view

    def counted(self: Snapshot, wanted: Wanted) -> dict[str, Any]:
        made[self.state.number] += 1
        return real(self, wanted)

    Snapshot.view = counted  # type: ignore[method-assign]
    try:
        with tempfile.TemporaryDirectory() as folder:
            limits = {"max_streams": PAGES + OTHERS, "max_streams_per_key": PAGES + OTHERS}
            with running(folder, **limits) as service:
                _watch(trials, service)
    finally:
        Snapshot.view = real  # type: ignore[method-assign]
    often = max(made.values())
    trials.expect(often == 1, f"the view of one moment was worked out {often} times")


def _watch(trials: Trials, service) -> None:
    service.send("POST", "/api/studies", {"name": "watched", "arms": list("abcde")})
    lines = [http.client.HTTPConnection("127.0.0.1", service.port, timeout=HANG) for _ in range(40)]
    answers = []
    for line in lines:
        line.request("GET", "/api/studies/watched/live")
        answers.append(line.getresponse())
    open_now = [answer for answer in answers if answer.status == 200]
    trials.expect(len(open_now) == PAGES + OTHERS, f"{len(open_now)} streams are open")
    for _ in trials:
        asked = service.send("POST", "/api/studies/watched/ask", {})
        trials.expect(asked.status == 200, f"an ask got {asked.status}")
        body = {"ticket": asked.json["tickets"][0]["id"], "reward": 1.0}
        told = service.send("POST", "/api/studies/watched/tell", body)
        trials.expect(told.status == 200, f"a tell got {told.status}")
    last = f'"number": {service.send("GET", "/api/studies/watched").json["events"]},'.encode()
    for answer in open_now[:PAGES]:  # the others read nothing at all
        while (line := answer.readline()) and last not in line:
            pass
        trials.expect(line, "a stream ended before the newest view")
    for line in lines:
        line.close()


ATTACK = Attack(
    "watchers",
    f"{PAGES + OTHERS} pages watch a study that moves, {OTHERS} of them reading nothing; more ask",
    "every ask is answered, every page sees the newest view, none is worked out twice",
    run,
    short=20,
    long=3_000,
)
