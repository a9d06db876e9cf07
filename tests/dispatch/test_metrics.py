"""Metrics, as Prometheus' own parser reads them."""

from __future__ import annotations

import pytest

from belman import Dispatcher
from belman.dispatch import Breaker
from tests.dispatch.clocks import Clock

parser = pytest.importorskip("prometheus_client.parser")


def test_prometheus_reads_the_metrics():
    name = 'a "quoted"\nname\\'
    clock = Clock()
    dispatcher = Dispatcher([name, 2], slots={2: 3}, breaker=Breaker(), seed=1, clock=clock)
    dispatcher.pause(name)
    for _ in range(3):
        dispatcher.assign()
    dispatcher.completed(2, time=0.5)
    dispatcher.failed(2, time=0.25)
    result = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in parser.text_string_to_metric_families(dispatcher.metrics())
        for sample in family.samples
    }
    prefix, two, quoted = "belman_dispatch_", ("server", "2"), ("server", name)
    assert result[f"{prefix}jobs_total", ("outcome", "completed"), two] == 1
    assert result[f"{prefix}jobs_total", ("outcome", "failed"), two] == 1
    assert result[f"{prefix}jobs_total", ("outcome", "failed"), quoted] == 0
    assert result[f"{prefix}seconds_total", two] == 0.5
    assert result[f"{prefix}under_way", two] == 1
    assert result[f"{prefix}slots", two] == 3
    assert result[f"{prefix}paused", quoted] == 1
    assert result[f"{prefix}breaker", two] == 0
    assert result[f"{prefix}failing", two] == pytest.approx(2.0 / (5 + 1 + 14 / 15), rel=0.05)
    assert result[f"{prefix}waiting",] == 0
