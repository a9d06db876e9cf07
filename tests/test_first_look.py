"""The first look: one page, whole in itself, that says what its pictures show."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import matplotlib as mpl

from belman.first_look import PLAYERS, PROBLEMS, first_look

_VOID = {"img", "meta", "source"}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.addresses += [value for name in ("src", "srcset", "href") if (value := found.get(name))]
        if tag == "img":
            self.images.append(found)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole(tmp_path: Path) -> None:
    mpl.use("Agg")
    said: list[str] = []
    path, tables = first_look(tmp_path / "look", images=tmp_path / "images", runs=4, step=said.append)
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    assert page.open == []
    assert len(page.images) == 4
    assert all(image["alt"] for image in page.images)
    assert all(address.startswith("data:image/png;base64,") for address in page.addresses)  # nothing is fetched
    assert len(page.addresses) == 8  # light and dark
    assert sorted(picture.stem for picture in (tmp_path / "images").iterdir()) == ["beliefs", "focal", "manifold", "regret"]
    assert set(tables) == set(PROBLEMS)
    assert all(sorted(table["player"]) == sorted(PLAYERS) for table in tables.values())
    assert len(said) == len(PROBLEMS) + 3
