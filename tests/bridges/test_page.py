"""The page of flags, followed as a new user would: its blocks run against a service."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "flags.md"


@pytest.mark.slow
def test_the_blocks_of_the_page_run(service, flags):
    pytest.importorskip("growthbook", reason="pip install growthbook")
    pytest.importorskip(
        "openfeature.contrib.provider.ofrep", reason="pip install openfeature-provider-ofrep"
    )
    names: dict = {}
    blocks = re.findall(r"^```py\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(blocks) == 2
    for block in blocks:
        exec(block.replace("http://127.0.0.1:8000", service.url), names)
    names["book"].destroy()
    names["api"].get_provider_metadata()
    names["api"].clear_providers()
    assert names["found"].value == names["button"] in ("blue", "green", "red")
    assert flags["checkout"].status()["observed"] == 1
