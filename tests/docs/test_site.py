"""The documentation builds without a warning, is whole, and asks no other host for anything."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import belman
from tests import browsing
from tests.browsing import PAGE_HANG, TEST_HANG, browsed, limited
from tests.docs.site import Site
from tests.waiting import HANG

pytest.importorskip("sphinx")
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
names = importlib.import_module("extension.names")
commands = importlib.import_module("extension.commands")
routes = importlib.import_module("extension.routes")
terms = importlib.import_module("extension.terms")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built once with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-E"]
    positions = ["-d", str(folder / "doctrees"), str(ROOT / "docs"), str(folder / "html")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    built = subprocess.run(
        [*command, *positions], capture_output=True, text=True, timeout=HANG, env=environment
    )
    assert built.returncode == 0, built.stderr
    assert built.stderr == ""
    return Site(folder / "html")


@pytest.mark.slow
def test_no_link_is_dead(site):
    assert [fault for page in site.pages for fault in site.faults(page)] == []


@pytest.mark.slow
def test_every_page_has_a_title_and_a_description_of_its_own(site):
    assert len(site.pages) > 50
    for page, read in site.pages.items():
        assert len(read.title) > len(" - belman"), page
        assert 20 <= len(read.description) <= 310, (page, read.description)
        assert "To be filled" not in read.description
    descriptions = [read.description for read in site.pages.values()]
    assert len(set(descriptions)) == len(descriptions)


@pytest.mark.slow
def test_every_markdown_page_is_in_the_site(site):
    sources = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    assert {path.with_suffix(".html").as_posix() for path in sources} <= set(site.pages)


@pytest.mark.slow
def test_no_other_host_is_asked(site):
    for page, read in site.pages.items():
        outside = [one for one in read.resources if re.match(r"(https?:)?//", one)]
        assert outside == [], page
    for sheet in site.root.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", text) == [], sheet


@pytest.mark.slow
def test_every_public_name_is_described(site):
    described = {}
    for page, read in site.pages.items():
        if page.startswith("reference/"):
            described.update(read.ids)
    listed = set(names.entries())
    assert {name for name in listed if not described.get(name, "").strip()} == set()
    rooms = {name for name in belman.__all__ if inspect.ismodule(getattr(belman, name))}
    own = {f"belman.{name}" for name in belman.__all__ if name not in rooms | {"__version__"}}
    assert own <= listed
    assert {f"belman.{room}" for room in rooms} <= set(names.MODULES)


def test_every_public_name_and_method_has_a_docstring():
    without = []
    for path, (position, thing) in names.entries().items():
        if names.is_constant(thing):
            if not names.constant_doc(position, path.rsplit(".", 1)[1]):
                without.append(path)
            continue
        if not inspect.getdoc(thing):
            without.append(path)
        fields = getattr(thing, "__dataclass_fields__", ())
        for name, member in inspect.getmembers(thing) if inspect.isclass(thing) else ():
            kinds = (property, classmethod, staticmethod)
            own = inspect.isfunction(member) or isinstance(member, kinds)
            public = own and not name.startswith("_") and name not in fields
            if public and not inspect.getdoc(member):
                without.append(f"{path}.{name}")
    assert without == []


@pytest.mark.slow
def test_every_command_route_and_term_has_a_position(site):
    text = {
        page: re.sub(r"<[^>]+>|\s+", " ", (site.root / page).read_text(encoding="utf-8"))
        for page in ("reference/commands.html", "reference/http.html", "reference/glossary.html")
    }
    called = dict(commands.described())
    assert {"belman run", "belman study ask"} <= set(called)
    assert [name for name in called if name not in text["reference/commands.html"]] == []
    paths = routes.openapi()["paths"]
    assert [path for path in paths if path not in text["reference/http.html"]] == []
    assert len(terms.terms()) > 20
    assert [name for name in terms.terms() if name not in text["reference/glossary.html"]] == []


def test_no_row_of_the_reference_is_empty():
    for written in (commands.markdown(), routes.markdown(), terms.markdown()):
        for row in written.splitlines():
            if row.startswith("| `"):
                cells = [cell.strip() for cell in row.replace("\\|", "").strip("|").split("|")]
                assert cells[3 if len(cells) == 4 else 1], row


@pytest.fixture
def browser():
    with browsing.browser() as result, limited(TEST_HANG):
        yield result


@browsed
def test_the_search_works_from_the_built_files(site, browser):
    page = browser.new_page()
    page.goto(f"{(site.root / 'search.html').as_uri()}?q=idempotency")
    result = page.locator("#search-results li a")
    result.filter(has_text="Studies").first.wait_for(timeout=1_000 * PAGE_HANG)


@browsed
def test_the_leaderboard_can_be_filtered_and_sorted(site, browser):
    page = browser.new_page()
    page.goto((site.root / "leaderboard.html").as_uri())
    rows = page.locator(".content table tbody tr:visible")
    everyone = rows.count()
    assert everyone > 60
    page.get_by_label("keeps rewards").select_option("yes")
    assert 0 < rows.count() < everyone
    page.get_by_label("keeps rewards").select_option("")
    page.get_by_label("policy").fill("kl-ucb")
    assert all("kl-ucb" in text for text in rows.all_inner_texts())
    page.get_by_role("button", name="µs a turn").click()
    costs = [float(row.split("\t")[7]) for row in rows.all_inner_texts()]
    assert costs == sorted(costs)
    assert page.locator("a[href$='leaderboard.json']").count() == 1
