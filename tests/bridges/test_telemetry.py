"""Spans and events of OpenTelemetry: which arm, with what chance, and what went wrong."""

from __future__ import annotations

import asyncio
import sys
from contextlib import closing

import pytest

import belman
from belman.errors import MissingExtraError, TicketError
from belman.studies import Storage
from tests.service.running import running

pytest.importorskip("opentelemetry.sdk", reason="no SDK: pip install opentelemetry-sdk")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from belman.bridges import telemetry


@pytest.fixture
def provider():
    exporter = InMemorySpanExporter()
    result = TracerProvider()
    result.add_span_processor(SimpleSpanProcessor(exporter))
    result.exporter = exporter
    telemetry.instrument(result)
    yield result
    telemetry.uninstrument()
    result.shutdown()


@pytest.fixture
def storage(tmp_path):
    with closing(Storage(f"sqlite:///{tmp_path}/studies.db")) as result:
        yield result


def test_asks_and_tells_are_spans_and_arms_are_evaluations(provider, storage):
    study = belman.open_study("page", ["blue", "green"], policy="thompson", storage=storage, seed=1)
    tickets = study.ask(2)
    assert study.tell(tickets[0], 1)
    assert not study.tell(tickets[0], 1)
    with pytest.raises(TicketError):
        study.tell(tickets[0], 0)
    ask, tell, again, refused = provider.exporter.get_finished_spans()
    assert [one.name for one in (ask, tell)] == ["belman.ask", "belman.tell"]
    assert ask.attributes == {"belman.study": "page"}
    assert [dict(event.attributes) for event in ask.events] == [
        {
            "feature_flag.key": "page",
            "feature_flag.result.variant": ticket.arm,
            "feature_flag.provider.name": "belman",
            "belman.probability": ticket.probability,
            "belman.ticket": ticket.id,
        }
        for ticket in tickets
    ]
    assert {event.name for event in ask.events} == {"feature_flag.evaluation"}
    assert [one.attributes["belman.news"] for one in (tell, again)] == [True, False]
    assert refused.status.status_code is StatusCode.ERROR
    assert refused.events[0].name == "exception"


def test_an_awaited_ask_is_a_child_of_the_request_and_so_is_that_of_a_service(
    provider, storage, tmp_path
):
    tracer = provider.get_tracer("test")

    async def main(url):
        near = belman.open_study("page", ["blue", "green"], storage=storage)
        async with belman.AsyncStudy(near) as study, belman.AsyncClient(url) as client:
            far = await client.create("far", ["blue", "green"])
            with tracer.start_as_current_span("request"):
                await study.ask()
                await far.ask()

    (tmp_path / "far").mkdir()
    with running(tmp_path / "far") as service:
        asyncio.run(main(service.url))
    near, far, request = provider.exporter.get_finished_spans()
    for span, name in ((near, "page"), (far, "far")):
        assert span.attributes["belman.study"] == name
        assert span.parent.span_id == request.context.span_id
    assert far.kind is SpanKind.CLIENT


def test_instrumented_twice_is_once_and_uninstrumented_is_none(provider, storage):
    telemetry.instrument(provider)
    study = belman.open_study("page", ["blue", "green"], storage=storage)
    study.ask()
    assert len(provider.exporter.get_finished_spans()) == 1
    telemetry.uninstrument()
    study.ask()
    assert len(provider.exporter.get_finished_spans()) == 1


def test_without_the_api_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    monkeypatch.delitem(sys.modules, "belman.bridges.telemetry")
    with pytest.raises(MissingExtraError, match=r"pip install 'belman\[telemetry\]'"):
        import belman.bridges.telemetry  # noqa: F401
