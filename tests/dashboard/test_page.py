"""The page in a real browser: it is made, moves, is turned, paused, loses its server and finds it
again.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import belman
from belman import dashboard
from belman.service.keys import Role
from belman.studies import Study, open_study
from tests.service.running import keys_of, running
from tests.waiting import HANG, wait_until

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
browsed = pytest.mark.skipif(
    CHROMIUM is None,
    reason="there is no Chromium here: `make browser` installs it on Debian and Ubuntu",
)


@pytest.fixture(scope="module")
def browser():
    from playwright import sync_api as playwright

    with playwright.sync_playwright() as browsers:
        found = browsers.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("page")) as found:
        yield found


def tab_of(browser, width=1200, scheme="light", allowed="$^"):
    """A tab, and the list of what its console said that was not allowed."""
    tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab.set_default_timeout(1_000 * HANG)
    heard = []
    tab.on(
        "console",
        lambda message: None if re.search(allowed, message.text) else heard.append(message.text),
    )
    tab.on("pageerror", lambda error: heard.append(str(error)))
    return tab, heard


def play(study, turns, best="green"):
    for _ in range(turns):
        ticket = study.ask()
        study.tell(ticket.id, float(ticket.arm == best))


def number(tab):
    return int(tab.get_attribute("main", "data-number"))


def wait_for_number(tab, least):
    """Wait until the page shows this event; by asking, because the page lets no script in that is
    not its own.
    """
    wait_until(lambda: number(tab) >= least or tab.wait_for_timeout(100))


@browsed
def test_create_a_study_watch_it_move_turn_the_dial_and_pause(browser, service):
    tab, heard = tab_of(browser)
    tab.goto(service.url)
    tab.fill("#name", "checkout <b>button</b>".replace("/", "∕"))
    tab.fill("#arms", "blue, green, <img src=x onerror=alert(1)>")
    tab.click("text=Create")
    tab.wait_for_selector("main[data-number='1']")
    near = Study("checkout <b>button<∕b>", service.storage)
    assert near.arms == ("blue", "green", "<img src=x onerror=alert(1)>")
    play(near, 15)
    wait_for_number(tab, 31)
    assert "15 told" in tab.inner_text(".counts")
    assert "green" in tab.inner_text("tbody tr:first-child th")
    assert tab.locator("canvas").count() == 3
    assert tab.locator("svg.manifold circle").count() == 3
    assert "index" in tab.inner_text("[aria-label='Why this arm now'] thead")
    tab.focus("#dial")
    tab.keyboard.press("End")
    wait_for_number(tab, 32)
    assert near.policy.exposure.gain == pytest.approx(100.0 * belman.exposure.Evidence().gain)
    assert tab.inner_text(".dial output") == "more exploiting"
    tab.click("text=Pause")
    tab.wait_for_selector("button:has-text('Resume')")
    assert near.paused
    tab.click("text=Resume")
    tab.wait_for_selector("button:has-text('Pause')")
    assert not near.paused
    assert heard == []
    tab.close()


@browsed
def test_a_demo_moves_on_a_phone_in_the_dark(browser, service):
    tab, heard = tab_of(browser, 390, "dark")
    tab.goto(service.url)
    tab.click("text=Play a demo")
    tab.wait_for_selector("main[data-number]")
    before = number(tab)
    wait_for_number(tab, before + 20)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 18, 21)"
    assert tab.locator("tbody").first.locator("tr").count() == 5
    assert heard == []
    tab.close()


@browsed
def test_a_server_that_goes_away_and_comes_back(browser, tmp_path):
    tab, heard = tab_of(
        browser, allowed="net::ERR_|Failed to load resource"
    )  # what Chromium itself says of a lost connection
    with running(tmp_path) as service:
        study = open_study("lasting", ["blue", "green"], storage=service.storage)
        play(study, 5)
        tab.goto(f"{service.url}/#/study/lasting")
        tab.wait_for_selector("main[data-number='11']")
    tab.wait_for_selector("#link[data-state=lost]")
    with running(tmp_path, port=service.port) as again:
        play(Study("lasting", again.storage), 5)
        tab.wait_for_selector("main[data-number='21']")
        tab.wait_for_selector("#link[data-state=live]")
    assert heard == []
    tab.close()


@browsed
def test_a_thousand_arms_and_a_search_by_keyboard(browser, service):
    study = open_study("crowded", [f"arm {i}" for i in range(1000)], storage=service.storage)
    study.record([(f"arm {i % 1000}", float(i % 1000 == 77)) for i in range(2000)])
    tab, heard = tab_of(browser)
    tab.goto(f"{service.url}/#/study/crowded")
    tab.wait_for_selector("main[data-number]")
    assert "arm 77" in tab.inner_text("tbody tr:first-child th")
    assert "994 more arms" in tab.inner_text("main")
    tab.focus("#search")
    tab.keyboard.type("arm 512")
    tab.wait_for_selector(".results button:has-text('arm 512')")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("tbody th:has-text('arm 512')")
    assert heard == []
    tab.close()


@browsed
def test_a_key_is_asked_for_and_a_reader_turns_nothing(browser, tmp_path):
    tab, heard = tab_of(browser, allowed="status of 401")  # Chromium's own words
    with running(tmp_path, require_keys=True) as service:
        open_study("guarded", ["blue", "green"], storage=service.storage)
        tab.goto(f"{service.url}/#/study/guarded")
        tab.fill("#key", keys_of(service.storage)[Role.READ])
        tab.keyboard.press("Enter")
        tab.wait_for_selector("main[data-number='1']")
        assert tab.is_disabled("#dial")
        assert tab.locator("button:has-text('Pause')").count() == 0
        assert heard == []
        tab.close()


@browsed
def test_an_address_that_is_no_encoding_of_anything_is_no_study(browser, service):
    tab, heard = tab_of(browser, allowed="status of 404")  # Chromium's own words
    tab.goto(f"{service.url}/#/study/%")
    tab.wait_for_selector("h1:has-text('No such study')")
    assert "'%'" in tab.inner_text("main")
    assert heard == []
    tab.close()


def test_all_assets_are_here_and_name_no_other_host(service):
    page = service.send("GET", "/")
    assert page.status == 200
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    wanted = re.findall(r'(?:src|href)="(/assets/[^"]+)"', page.body.decode())
    assert len(wanted) == 3
    for path in wanted:
        assert service.send("GET", path).status == 200
    assert service.send("GET", "/assets/../view.py").status == 404
    static = Path(dashboard.__file__).parent / "static"
    for file in static.iterdir():
        text = file.read_text(encoding="utf-8")
        assert set(re.findall(r"https?://[\w./-]+", text)) <= {"http://www.w3.org/2000/svg"}, file
    assert belman.__version__
