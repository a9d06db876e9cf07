"""The page of the report, with made-up numbers: contents that stay, figures that fold, a summary
to print.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pytest

from belman.figures import CLAIMS, FIGURES
from belman.figures.claim import Check, Judgement
from belman.figures.figure import PAPER_COLUMN
from belman.figures.handout import write_handout
from belman.figures.page import Section, page
from belman.table import Table
from tests import browsing
from tests.browsing import PAGE_HANG, TEST_HANG, browsed, limited
from tests.figures.test_report import Page

mpl.use("Agg")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    from matplotlib import pyplot

    folder = tmp_path_factory.mktemp("page")
    figure, ax = pyplot.subplots(figsize=(8, 4))
    ax.plot([0, 1])
    figure.savefig(folder / "x.png")
    pyplot.close(figure)
    columns = {"player": ["BelMan", "Thompson"], PAPER_COLUMN: ["231 draws (155–330)", "–"]}
    table = Table({**columns, **{f"column {k}": [12.5, 128_712.0] for k in range(9)}})
    sections = [
        Section(each, Path("x.png"), [table], [Path("x.png")], "", 1.0) for each in FIGURES.values()
    ]
    judged = [(claim, Judgement({"": [Check("it is so", 1.0, 0.1, 2.0)]})) for claim in CLAIMS]
    path = folder / "index.html"
    path.write_text(page("A report", "<p>Words.</p>", sections, judged, folder), encoding="utf-8")
    return path


def test_the_page_is_whole(made):
    text = made.read_text(encoding="utf-8")
    result = Page(text)
    assert result.open == []
    assert len(result.ids) == len(set(result.ids))
    for link in result.links:
        assert link[1:] in result.ids if link.startswith("#") else (made.parent / link).is_file()
    assert "128,712" in text


@browsed
def test_contents_stay_figures_fold_and_the_print_is_the_summary(made):
    with browsing.browser() as browser, limited(TEST_HANG):
        tab = browser.new_page(viewport={"width": 1400, "height": 900})
        tab.set_default_timeout(1_000 * PAGE_HANG)
        tab.goto(made.as_uri())
        tab.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
        tab.evaluate("window.scrollTo(0, 5000)")
        assert tab.evaluate("document.querySelector('nav').getBoundingClientRect().top") == 0
        name = next(iter(FIGURES))
        picture = tab.locator(f"section[aria-labelledby='{name}'] img")
        assert picture.is_visible()
        tab.locator(f"#{name}").click()
        assert not picture.is_visible()
        tab.locator(f"#{name}").click()
        assert picture.is_visible()
        tab.emulate_media(media="print")
        assert not picture.is_visible()
        assert not tab.locator("nav").is_visible()
        assert tab.locator("#claims").is_visible()
        tab.emulate_media(media="screen")
        tab.set_viewport_size({"width": 390, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
        says = tab.locator(".words td[data-name='the paper says']").first.bounding_box()
        assert says["x"] + says["width"] <= 390
        tab.evaluate("document.querySelector('.beside').scrollLeft = 400")
        seen = tab.locator(".beside td:nth-child(2)").first.bounding_box()
        assert seen["x"] >= 0
        assert seen["x"] + seen["width"] <= 390
        browser.close()


def test_the_handout_has_two_pages_and_comes_out_the_same(tmp_path):
    checks = [Check(f"{k} is so", 1.0, 0.1, 2.0) for k in range(5)]
    judged = [(claim, Judgement({"joint": checks})) for claim in CLAIMS]
    result = []
    for name in ("a.pdf", "b.pdf"):
        write_handout(tmp_path / name, "A report", "Words.", judged)
        result.append((tmp_path / name).read_bytes())
    assert result[0] == result[1]
    assert result[0].count(b"/Type /Page\n") + result[0].count(b"/Type /Page ") == 2
