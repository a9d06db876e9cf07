"""The guard of a connection: headers without end, requests half sent, too many connections, answers
that nobody reads. Raw sockets to 127.0.0.1.
"""

from __future__ import annotations

import json
import socket
import threading

import pytest

from belman.errors import SettingError
from belman.service.limits import Limits
from tests.service.running import running
from tests.waiting import HANG, wait_until

LIMITS = {"max_header": 2_000, "request_seconds": 0.5, "max_connections": 20}
GOOD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
ASK = b"POST /api/studies/none/ask HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("guarded"), **LIMITS) as result:
        yield result


def connect(service):
    return socket.create_connection(("127.0.0.1", service.port), HANG)


def rest_of(line):
    """All that comes until the other side closes."""
    result = b""
    try:
        while more := line.recv(65_536):
            result += more
    except ConnectionError:
        pass
    return result


def status_of(answer):
    return int(answer.split(b" ", 2)[1])


def send_without_end(line, piece, most=200_000_000):
    """Send until the other side hangs up: how many bytes it took."""
    sent = 0
    try:
        while sent < most:
            sent += line.send(piece)
    except ConnectionError:
        pass
    return sent


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nx: ", b"a" * 65_536),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", b"x: y\r\n" * 10_000),
        (b"GET /", b"a" * 65_536),
        (b"", b"\r\n" * 30_000),
        (
            ASK + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx: ",
            b"a" * 65_536,
        ),
    ],
    ids=["one header", "many headers", "the address", "empty lines", "a trailer"],
)
def test_a_header_without_end_is_cut(service, head, piece):
    with connect(service) as line:
        line.sendall(head)
        assert send_without_end(line, piece) < 20_000_000  # what the buffers of the system hold
    assert service.send("GET", "/healthz").status == 200


def test_a_header_that_is_too_large_is_told_so_and_one_that_fits_is_not(service):
    with connect(service) as line:
        line.sendall(GOOD[:-2] + b"x: " + b"a" * 2_100 + b"\r\n\r\n")
        answer = rest_of(line)
    assert status_of(answer) == 431
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["detail"].endswith("2,000 bytes")
    assert service.send("GET", "/healthz", headers={"x": "a" * 1_500}).status == 200


def test_a_body_larger_than_a_header_may_be_is_no_header(service):
    body = json.dumps({"ticket": "1-abc", "reward": 1, "more": "a" * 100_000})
    assert service.send("POST", "/api/studies/none/tell", raw=body).status == 422


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"\r\n",
        b"G",
        GOOD[:-2],
        ASK + b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
        ASK + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
        GOOD + GOOD[:-2],
    ],
    ids=["nothing", "an empty line", "a letter", "a header", "a body", "a chunk", "a second one"],
)
def test_half_a_request_is_hung_up_on(service, half):
    with connect(service) as line:
        line.sendall(half)
        answer = rest_of(line)
    statuses = [status_of(b"HTTP/1.1 " + part) for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == ([200, 408] if half.startswith(GOOD) else [408])


def test_a_request_that_comes_in_pieces_is_answered(service):
    with connect(service) as line:
        for piece in (GOOD[:3], GOOD[3:30], GOOD[30:-1], GOOD[-1:] + GOOD):
            line.sendall(piece)
        result = b""
        while result.count(b'{"status":"ok"}') < 2:
            result += line.recv(65_536)
    assert result.count(b"200 OK") == 2


def test_too_many_connections_are_told_so(service):
    lines = [connect(service) for _ in range(LIMITS["max_connections"])]
    try:
        with connect(service) as line:
            answer = rest_of(line)
        assert status_of(answer) == 503
    finally:
        for one in lines:
            one.close()
    wait_until(lambda: b"200 OK" in _answer(service))


def _answer(service):
    with connect(service) as line:
        line.sendall(GOOD)
        return line.recv(65_536)


def test_an_answer_that_nobody_reads_is_given_up(tmp_path):
    with running(tmp_path, stall_seconds=0.2) as service, connect(service) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        asking = threading.Thread(target=send_without_end, args=(line, GOOD * 100))
        asking.start()
        asking.join(HANG)  # it ends when the service hangs up
        assert not asking.is_alive()


@pytest.mark.parametrize(
    "wrong", [{"max_body": 0}, {"request_seconds": float("nan")}, {"proxies": ("proxy",)}]
)
def test_limits_have_to_make_sense(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        Limits(**wrong)


def test_tickets_of_a_study_are_bounded_by_the_service(tmp_path):
    with running(tmp_path, max_tickets=3, max_tickets_out=5) as service:
        service.send("POST", "/api/studies", {"name": "few", "arms": ["a", "b"]})

        def ask(tickets):
            return service.send("POST", "/api/studies/few/ask", {"tickets": tickets})

        refused = ask(4)
        assert refused.status == 422
        assert "at most 3" in refused.json["detail"]
        assert [ask(3).status, ask(2).status] == [200, 200]
        over = ask(1)
        assert over.status == 409
        assert "limit of 5" in over.json["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {"arms": ["x" * 201]},
        {"arms": [[1] * 9]},
        {"arms": [[["a"]]]},
        {"arms": []},
        {"arms": list(range(10_001))},
        {"prior": [1.0] * 17},
        {"prior": [[1.0]]},
        {"policy": {f"p{i}": 1 for i in range(21)}},
        {"policy": "x" * 201},
        {"reward": "a+" * 200 + "a"},
        {"name": "x" * 201},
    ],
)
def test_every_part_of_a_new_study_has_a_size(tmp_path, body):
    with running(tmp_path) as service:
        answer = service.send("POST", "/api/studies", {"name": "s", "arms": ["a", "b"], **body})
        assert answer.status == 422
        assert service.send("GET", "/api/studies").json["studies"] == []
