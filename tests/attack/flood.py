"""A flood of asks and tells, the next as soon as one is answered: nothing is lost or doubled."""

from __future__ import annotations

import http.client
import json
import tempfile
import threading

from belman.studies import Kind, Study
from tests.attack.harness import Attack, Trials
from tests.service.running import running
from tests.waiting import HANG

CALLERS = 16


def run(trials: Trials) -> None:
    """A trial is a pair of ask and tell; of its requests every fifth is sent twice."""
    with tempfile.TemporaryDirectory() as folder, running(folder, rate=1e6) as service:
        service.send("POST", "/api/studies", {"name": "flood", "arms": ["a", "b", "c"]})
        asked: list[str] = []
        numbers, lock = iter(trials), threading.Lock()

        def call() -> None:
            line = http.client.HTTPConnection("127.0.0.1", service.port, timeout=HANG)

            def send(what: str, body: object, key: str) -> tuple[int, dict]:
                headers = {"Content-Type": "application/json", "Idempotency-Key": key}
                line.request("POST", f"/api/studies/flood/{what}", json.dumps(body), headers)
                answer = line.getresponse()
                return answer.status, json.loads(answer.read())

            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    break
                result = [send("ask", {}, f"ask {number}") for _ in range(1 + (number % 5 == 0))]
                trials.expect(all(one == result[0] for one in result), f"asked twice: {result}")
                ticket = result[0][1]["tickets"][0]["id"] if result[0][0] == 200 else ""
                told = send("tell", {"ticket": ticket, "reward": 1.0}, f"tell {number}")
                trials.expect(told == (200, {"news": True}), f"told: {told}")
                asked.append(ticket)
            line.close()

        callers = [threading.Thread(target=call) for _ in range(CALLERS)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        study = Study("flood", service.storage)
        study.check()
        events = list(study.events())
        told = [event.ticket for event in events if event.kind == Kind.TOLD]
        trials.expect(len(asked) == len(set(asked)), "two callers have one ticket")
        trials.expect(len(told) == len(set(told)) == len(asked), "a reward is lost or doubled")


ATTACK = Attack(
    "flood",
    f"{CALLERS} callers ask and tell without a pause, every fifth ask sent twice",
    "no error; every answer is in the log once, and the state is the fold of the log",
    run,
    short=200,
    long=40_000,
)
