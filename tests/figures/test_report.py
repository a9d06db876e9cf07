"""The report, played with three runs: one page, whole in itself, that says what its pictures show,
and goes on after a stop.
"""

from __future__ import annotations

import json
from html.parser import HTMLParser

import matplotlib as mpl
import pytest

from belman.figures import CLAIMS, FIGURES, Effort, figure_data
from belman.figures.report import Watcher, reproduce
from tests import browsing
from tests.browsing import PAGE_HANG, TEST_HANG, browsed, limited

mpl.use("Agg")
THREE = Effort("three runs", exactly=3)
_VOID = {"img", "meta", "source", "link"}


class Page(HTMLParser):
    """What is open, what is linked, what can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.open, self.images, self.links, self.sources, self.ids, self.columns = (
            [],
            [],
            [],
            [],
            [],
            0,
        )
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        result = dict(attrs)
        self.ids += [result["id"]] if "id" in result else []
        self.links += [result["href"]] if tag == "a" else []
        self.sources += [result[name] for name in ("src", "srcset") if name in result]
        self.columns += tag == "th" and result.get("scope") == "col"
        if tag == "img":
            self.images.append(result)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    said = []
    result = reproduce(
        tmp_path_factory.mktemp("report"), THREE, Watcher(said.append, lambda words, done, of: None)
    )
    return result, said


@pytest.mark.slow
def test_every_figure_and_every_claim_is_there(report):
    result, said = report
    page = Page(result.path.read_text(encoding="utf-8"))
    assert page.open == []
    assert set(FIGURES) <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert [claim.number for claim, _ in result.judged] == [claim.number for claim in CLAIMS]
    assert {f"claim-{claim.number}" for claim in CLAIMS} <= set(page.ids)
    assert sum(line.startswith("figure ") for line in said) == len(FIGURES)


@pytest.mark.slow
def test_pictures_are_inside_and_say_what_they_show(report):
    page = Page(report[0].path.read_text(encoding="utf-8"))
    assert len(page.images) == len(FIGURES)
    assert all(len(image["alt"]) > 40 for image in page.images)
    assert len(page.sources) == len(FIGURES)
    assert all(source.startswith("data:image/png;base64,") for source in page.sources)
    assert page.columns > 100  # tables have headers


@pytest.mark.slow
def test_every_link_leads_somewhere(report):
    path = report[0].path
    page = Page(path.read_text(encoding="utf-8"))
    assert len(page.links) > len(FIGURES)
    for link in page.links:
        assert link[1:] in page.ids if link.startswith("#") else (path.parent / link).is_file()


@pytest.mark.slow
def test_every_check_is_there_for_programs(report):
    result = json.loads((report[0].path.parent / "report.json").read_text(encoding="utf-8"))
    checks = [check for claim in result["claims"] for check in claim["checks"]]
    assert len(checks) == sum(len(judgement.rows()) for _, judgement in report[0].judged)
    assert len({check["id"] for check in checks}) == len(checks)
    for check in checks:
        low, high = check["interval"]
        assert not low > check["estimate"]
        assert not high < check["estimate"]
        assert check["runs"] >= 0
        assert check["seed"] == result["seed"]
    for claim in result["claims"]:
        assert all(
            name in claim["designs"] for check in claim["checks"] for name in check["design"]
        )


@browsed
def test_the_page_in_a_browser(report):
    """Chromium at the width of a phone and of a desk, light and dark: no console message, every
    picture shown, nothing cut off.
    """
    with browsing.browser() as browser, limited(TEST_HANG):
        for width, scheme in ((390, "light"), (1400, "dark")):
            tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            tab.set_default_timeout(1_000 * PAGE_HANG)
            heard = []
            tab.on("console", lambda message, heard=heard: heard.append(message.text))
            tab.on("pageerror", lambda error, heard=heard: heard.append(str(error)))
            tab.on("requestfailed", lambda request, heard=heard: heard.append(request.url[:100]))
            tab.goto(report[0].path.as_uri())
            tab.evaluate(
                "document.querySelectorAll('img').forEach(image => image.loading = 'eager')"
            )
            tab.wait_for_function(
                "[...document.images].every(image => image.complete && image.naturalWidth > 0)"
            )
            assert heard == []
            assert tab.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.slow
def test_a_second_call_plays_nothing_again_and_a_lost_part_comes_back_to_the_last_byte(report):
    result, _ = report
    folder = result.path.parent / "figures"
    lost = folder / "bernoulli-2" / "bernoulli-0.8-0.9.nc"
    table = lost.with_suffix(".csv")
    before = lost.read_bytes(), table.read_bytes()
    for path in (lost, table):
        path.unlink()
    said = []
    again = reproduce(
        result.path.parent,
        THREE,
        Watcher(said.append, lambda words, done, of: None),
        ["focal", "bernoulli-2"],
    )
    assert [line for line in said if not line.startswith(("figure ", "writing"))] == [
        "bernoulli-2: Bernoulli 0.8, 0.9"
    ]
    assert (lost.read_bytes(), table.read_bytes()) == before
    assert [claim.number for claim, _ in again.judged] == [1]


def test_figures_without_a_claim_make_a_report_without_claims(tmp_path):
    quiet = Watcher(lambda line: None, lambda words, done, of: None)
    result = reproduce(tmp_path, THREE, quiet, ["focal"])
    assert result.judged == []
    assert "claims.pdf" not in result.path.read_text(encoding="utf-8")
    assert not (tmp_path / "claims.pdf").exists()


def test_data_of_another_design_are_not_taken(tmp_path):
    said = []
    figure = FIGURES["focal"]
    figure_data(figure, THREE, tmp_path, said.append)
    (tmp_path / "focal" / "densities.nc").write_bytes(b"torn")
    figure_data(figure, THREE, tmp_path, said.append)
    assert said == ["focal: densities"] * 2
    figure_data(figure, THREE, tmp_path, said.append)
    assert len(said) == 2


def test_data_of_other_code_are_not_taken(tmp_path, monkeypatch):
    said = []
    figure_data(FIGURES["focal"], THREE, tmp_path, said.append)
    monkeypatch.setattr("belman.lab.design.source_digest", lambda *modules: "edited")
    figure_data(FIGURES["focal"], THREE, tmp_path, said.append)
    assert said == ["focal: densities"] * 2


def test_descriptions_are_json_and_tell_efforts_apart():
    for figure in FIGURES.values():
        for part in figure.parts(THREE).values():
            json.dumps(part.description)
    runs = {
        effort.name: part.description["runs"]
        for effort in (THREE, Effort("full"))
        for part in [_first(effort)]
    }
    assert runs == {"three runs": 3, "full": 1_000}


def _first(effort):
    return next(iter(FIGURES["bernoulli-2"].parts(effort).values()))
