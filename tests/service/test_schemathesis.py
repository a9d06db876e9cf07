"""Requests made up from the OpenAPI document: whatever they hold, the service answers, and never
with a 5xx.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.service.running import running
from tests.waiting import HANG

schemathesis = pytest.importorskip(
    "schemathesis", reason="schemathesis is not installed: pip install 'belman[dev]'"
)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("fuzz")) as result:
        result.send("POST", "/api/studies", {"name": "one", "arms": ["a", "b"]})
        result.send("POST", "/api/studies/one/publish", {"decisions": 10})
        yield result


@pytest.mark.slow
def test_no_request_breaks_it(service):
    schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json")
    seen = {}
    for operation in (result.ok() for result in schema.get_all_operations()):
        if operation.path.endswith("/live") or operation.path == "/api/demo":
            continue  # a stream, and a simulation, have tests of their own

        @settings(
            max_examples=12,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def one(case):
            if "name" in case.path_parameters and len(seen) % 2:
                case.path_parameters["name"] = "one"
            response = case.call(base_url=service.url, timeout=HANG)
            seen[response.status_code] = seen.get(response.status_code, 0) + 1
            assert response.status_code < 500, (case, response.text)

        one()
    assert seen.get(200, 0) + seen.get(201, 0) > 0
    assert any(400 <= status < 500 for status in seen)
