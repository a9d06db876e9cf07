"""The OpenAPI document says what a generated client needs: names, problems, keys of requests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from jsonschema_rs import validator_for

from tests.service.running import running

PROBLEM = "application/problem+json"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("openapi")) as result:
        result.send("POST", "/api/studies", {"name": "one", "arms": ["a", "b"]})
        yield result


def document(service):
    return service.send("GET", "/openapi.json").json


def operations(service):
    return [
        (method, path, what)
        for path, methods in document(service)["paths"].items()
        for method, what in methods.items()
    ]


def test_operations_have_short_names_of_their_own(service):
    names = [what["operationId"] for _, _, what in operations(service)]
    assert len(set(names)) == len(names)
    assert {"ask", "tell", "create_study", "healthz"} <= set(names)


def test_every_change_takes_an_idempotency_key_and_no_look_does(service):
    for method, path, what in operations(service):
        headers = {one["name"] for one in what.get("parameters", ()) if one["in"] == "header"}
        assert ("Idempotency-Key" in headers) == (method != "get"), path


def test_problems_are_described_as_they_come(service):
    schema = document(service)["components"]["schemas"]["Problem"]
    seen = 0
    for _, path, what in operations(service):
        for status, response in what["responses"].items():
            if PROBLEM in response.get("content", {}):
                assert response["content"] == {
                    PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}
                }, (path, status)
                seen += 1
    assert seen > 100
    for path, body in (("none/ask", {}), ("one/ask", {"tickets": 0}), ("one/tell", {})):
        answer = service.send("POST", f"/api/studies/{path}", body)
        assert answer.headers["content-type"] == PROBLEM
        validator_for(schema).validate(answer.json)


def test_the_header_counts_once(service):
    named = {"Idempotency-Key": "mine"}
    first = service.send("POST", "/api/studies/one/ask", {}, headers=named).json
    assert service.send("POST", "/api/studies/one/ask", {}, headers=named).json == first


USE = """
import sys
from client import Client
from client.api.studies import ask, tell
from client.models import AskBody, Problem, TellBody
client = Client(base_url=sys.argv[1])
found = ask.sync("one", client=client, body=AskBody(), idempotency_key="first")
again = ask.sync("one", client=client, body=AskBody(), idempotency_key="first")
assert found.tickets[0].id == again.tickets[0].id
assert tell.sync("one", client=client, body=TellBody(ticket=found.tickets[0].id, reward=1.0)).news
refused = ask.sync("none", client=client, body=AskBody())
assert isinstance(refused, Problem) and refused.status == 404, refused
print("done")
"""


@pytest.mark.slow
def test_a_generated_client_asks_and_tells(service, tmp_path):
    generator = os.environ.get("OPENAPI_CLIENT") or shutil.which("openapi-python-client")
    if generator is None:
        pytest.skip(
            "no generator: pip install openapi-python-client, or name it by $OPENAPI_CLIENT"
        )
    words = ["generate", "--url", f"{service.url}/openapi.json", "--meta", "none"]
    command = [generator, *words, "--output-path", str(tmp_path / "client")]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    python = os.path.join(os.path.dirname(generator), "python")
    python = python if os.path.exists(python) else sys.executable
    command = [python, "-c", USE, service.url]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr + made.stdout
