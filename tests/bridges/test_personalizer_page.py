"""The page of Personalizer, followed as a new user would: its blocks run against a service."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from belman.cli import app
from belman.studies import Study

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "personalizer.md"


@pytest.mark.slow
def test_the_blocks_of_the_page_run(service):
    pytest.importorskip("azure.ai.personalizer", reason="make clients")
    pytest.importorskip("azure.cognitiveservices.personalizer", reason="make clients")
    text = PAGE.read_text("utf-8")
    (create,) = re.findall(r"^belman (study create .*)$", text, re.M)
    made = [*shlex.split(create), "--storage", str(service.storage)]
    assert CliRunner().invoke(app, made).exit_code == 0
    names: dict = {}
    blocks = re.findall(r"^```py\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) == 2
    for block in blocks:
        exec(block.replace("http://127.0.0.1:8000", service.url), names)
    names["client"].close()
    names["older"].close()
    assert names["show"] in ("pasta", "ice cream")
    assert names["page"].reward_action_id in ("pasta", "ice cream")
    assert Study("menu", service.storage).status()["told"] == 2
