"""A built site, as a test looks at it: pages with their links, ids, titles and descriptions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

#: Elements that have no end tag.
_VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


class _Reader(HTMLParser):
    """Gathers what a page holds, and the text below every id."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.ids: dict[str, str] = {}
        self.title, self.description = "", ""
        self._open: list[tuple[str, str | None]] = []
        self._entry: str | None = None  # the name whose description comes next

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        for name in {"src", "data-src"} | ({"href"} if tag == "link" else set()):
            if name in given and given.get("rel") not in ("index", "search", "next", "prev"):
                self.resources.append(given[name])
        if tag == "meta" and given.get("name") == "description":
            self.description = given.get("content", "")
        if given.get("id"):
            self.ids.setdefault(given["id"], "")
        if tag == "dt" and given.get("id"):
            self._entry = given["id"]
        if tag not in _VOID:
            opened = self._entry if tag == "dd" else None
            self._open.append((tag, opened))

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if self._open and self._open[-1][0] == "title":
            self.title += data
        for _, entry in self._open:
            if entry is not None:
                self.ids[entry] += data


@dataclass
class Site:
    """All pages of a folder, by their path from it."""

    root: Path

    @cached_property
    def pages(self) -> dict[str, _Reader]:
        result = {}
        for path in sorted(self.root.rglob("*.html")):
            reader = _Reader()
            reader.feed(path.read_text(encoding="utf-8"))
            result[path.relative_to(self.root).as_posix()] = reader
        return result

    def faults(self, page: str) -> list[str]:
        """Links and resources of a page that lead nowhere."""
        reader, result = self.pages[page], []
        for link in [*reader.links, *reader.resources]:
            address, fragment = urldefrag(link)
            if re.match(r"[a-z]+:", address):
                continue
            target = (self.root / page).parent / unquote(address.split("?")[0]) if address else None
            target = (target or self.root / page).resolve()
            if not target.is_file():
                result.append(f"{page}: {link} is no file")
            elif fragment and target.suffix == ".html":
                ids = self.pages[target.relative_to(self.root.resolve()).as_posix()].ids
                if unquote(fragment) not in ids:
                    result.append(f"{page}: {link} is no place")
        return result
