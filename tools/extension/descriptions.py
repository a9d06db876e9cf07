"""Every page says in its head what it is about: its first paragraph, or the start of it."""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes

LONGEST = 300


def description_of(doctree: nodes.document) -> str:
    """The first paragraph of a page that is prose, as far as whole sentences fit.

    >>> page = nodes.document(None, None)
    >>> page += nodes.paragraph("", "What it is. And more.")
    >>> description_of(page)
    'What it is. And more.'
    """
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | nodes.document):
            return _sentences(re.sub(r"\s+", " ", paragraph.astext()).strip())
    return ""


def _sentences(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    cut = text[:LONGEST]
    end = max(cut.rfind(sign) for sign in (". ", ": ", "; "))
    return cut[:end] + "." if end > 0 else cut.rsplit(" ", 1)[0] + " …"


def describe(
    app: Any, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Put the description of a page into its head."""
    words = {
        "search": "Search the documentation of belman.",
        "genindex": "Every name of belman's Python interface, in alphabetical order.",
    }.get(page, "")
    if doctree is not None:
        words = description_of(doctree)
    if words:
        tag = f'<meta name="description" content="{html.escape(words, quote=True)}" />'
        context["metatags"] = context.get("metatags", "") + tag
