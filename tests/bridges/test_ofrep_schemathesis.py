"""Requests made up from the protocol's description: every answer is one that it describes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.bridges.ofrep_openapi import DOCUMENT
from tests.waiting import HANG

schemathesis = pytest.importorskip(
    "schemathesis", reason="schemathesis is not installed: pip install 'belman[dev]'"
)


@pytest.mark.slow
def test_answers_are_those_of_the_protocol(service, flags):
    schema, seen = schemathesis.openapi.from_dict(DOCUMENT), dict[int, int]()
    for operation in (result.ok() for result in schema.get_all_operations()):

        @settings(
            max_examples=60,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def one(case):
            response = case.call(base_url=service.url, timeout=HANG)
            seen[response.status_code] = seen.get(response.status_code, 0) + 1
            case.validate_response(response)

        one()
    assert {200, 404} <= seen.keys() <= {200, 304, 400, 404}
