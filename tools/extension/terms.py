"""The glossary of the page of studies, which is kept beside that page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import belman.dashboard

_SOURCE = Path(belman.dashboard.__file__).parent / "web" / "src" / "glossary.js"


def terms() -> dict[str, str]:
    """Each term with its meaning, in alphabetical order.

    >>> terms()["floor"]
    'The share of traffic that an arm gets at least.'
    """
    pairs = re.findall(r"^  \w+: (\[.*\]),$", _SOURCE.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(sorted(map(json.loads, pairs)))


def markdown() -> str:
    """A table of all terms."""
    rows = [f"| **{name}** | {meaning} |" for name, meaning in terms().items()]
    return "\n".join(["| term | meaning |", "|---|---|", *rows])
