"""Whatever answers at the address of a service: clients raise errors of ours, and none waits."""

from __future__ import annotations

import http.server
import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import belman
from belman.assignment import LocalDecider, Weights
from belman.errors import BelmanError
from belman.service.client import RemoteStudy
from tests.attack.harness import Attack, Trials
from tests.attack.mutations import mutated
from tests.waiting import HANG

TICKET = {"id": "1-x", "arm": "a", "probability": 0.5, "uniform": False, "time": 1.0}
#: Answers as a service gives them, which are changed.
RIGHT: tuple[dict[str, Any], ...] = (
    {"tickets": [TICKET, TICKET]},
    {"news": True},
    {"studies": ["a", "b"]},
    {"columns": {"arm": ["a"], "expected reward": [0.5]}, "title": "beliefs"},
    {"observed": 3, "returned": 1, "changed": True, "corrected": 1, "deleted": 1},
    {"id": "k", "public": "AAAA", "trusted": {"k": "AAAA"}},
    {"events": [{"number": 1}], "type": "StateError", "detail": "why"},
    Weights.of("s", {"a": 0.5, "b": 0.5}, salt="x", valid_until=1e12).described(),
)
#: Answers that are none of a service.
WRONG = (
    b"", b"<html>log in first</html>", b"null", b"[]", b"5", b'"text"', b"\xff\xfe", b"NaN",
    b"[" * 100_000, b'{"tickets":' + b"[" * 900 + b"]" * 900 + b"}",
    b'{"format": "belman-weights/1", "published": ' + b"9" * 400 + b"}",
)  # fmt: skip


class _Stranger(http.server.BaseHTTPRequestHandler):
    """Answers everything with what it was told to."""

    protocol_version = "HTTP/1.1"
    answer: tuple[int, str, bytes] = (200, "application/json", b"")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, kind, content = self.answer
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST  # noqa: N815 (names of the standard library)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _answering() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Stranger) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def _answer(luck: random.Random) -> tuple[int, str, bytes]:
    """Status, kind and content of the next answer."""
    status = luck.choice((200, 200, 200, 201, 302, 404, 409, 422, 500))
    kind = luck.choice(("application/json", "application/json", "text/html", "x"))
    if luck.random() < 0.3:
        return status, kind, luck.choice(WRONG)
    return status, kind, json.dumps(mutated(luck.choice(RIGHT), luck)).encode()


def _calls(url: str, client: belman.Client) -> dict[str, Callable[[], object]]:
    study = RemoteStudy(client, "s")
    return {
        "studies": client.studies,
        "create": lambda: client.create("s", ["a"]),
        "status": study.status,
        "ask": study.ask,
        "tell": lambda: study.tell("1-x", 1.0),
        "give back": lambda: study.give_back(["1-x"]),
        "correct": lambda: study.correct("1-x", 0.0, "why"),
        "beliefs": study.beliefs,
        "weights": study.weights,
        "public keys": study.public_keys,
        "observe": lambda: study.observe([("u", None, "a", 1.0)]),
        "asks ahead": lambda: _in_time(lambda: _ahead(study)),
        "local": lambda: _local(url),
    }


def _in_time(call: Callable[[], object]) -> None:
    """What a call raises, unless it waits for ever."""
    raised: list[BaseException] = []

    def work() -> None:
        try:
            call()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(HANG)
    if thread.is_alive():
        raise TimeoutError("nobody answers")
    for error in raised:
        raise error


def _ahead(study: RemoteStudy) -> None:
    with study.prefetched(4) as tickets:
        tickets.ask()


def _local(url: str) -> None:
    """A decider fetches and sends, as its thread would."""
    decider = LocalDecider(url, "s", fallback="a", start=False)
    decider.fetch()
    decider.observe(decider.decide("unit"), 1.0)
    decider.send()
    decider.close(timeout=0.0)


def run(trials: Trials) -> None:
    """A trial is a call."""
    with _answering() as url, belman.Client(url, retries=0, timeout=HANG) as client:
        calls = list(_calls(url, client).items())
        for _ in trials:
            _Stranger.answer = _answer(trials.luck)
            name, call = trials.luck.choice(calls)
            try:
                call()
            except BelmanError:
                pass
            except Exception as error:
                trials.result.append(f"{name}: {error!r} at {str(_Stranger.answer)[:120]}")


ATTACK = Attack(
    "strange answers",
    "something else answers the client, asks ahead and the local decider: pages, other JSON, "
    "nothing",
    "an error of ours or an answer of the right kind; nobody waits for ever",
    run,
    short=150,
    long=20_000,
)
