"""The page in a real browser, in each of its states, on a desk and on a phone, light and dark, by
keyboard; axe finds nothing that keeps anybody from using it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import belman
from belman import dashboard
from belman.errors import StorageError
from belman.service.keys import Role
from belman.studies import Study, open_study
from tests import browsing
from tests.browsing import PAGE_HANG, TEST_HANG, browsed, limited
from tests.service.running import keys_of, running
from tests.waiting import wait_until

AXE = Path(belman.__file__).parent / "dashboard/web/node_modules/axe-core/axe.min.js"
PHONE, DESK = 390, 1200
JUDGED = "main[data-judged]:not([data-judged=''])"


@pytest.mark.skipif(not AXE.exists(), reason="`make browser` installs axe where there is npm")
def test_axe_looks_at_the_pages_below():
    assert "axe.run" in AXE.read_text(encoding="utf-8")


@pytest.fixture(scope="module", autouse=True)
def _no_compiler():
    """What is seen of so few arms needs no compiler, and no page waits for one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BELMAN_COMPILE", "never")
        yield


@pytest.fixture(scope="module")
def browser():
    with browsing.browser() as result:
        yield result


@pytest.fixture(autouse=True)
def _limited():
    with limited(TEST_HANG):
        yield


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running(tmp_path_factory.mktemp("page")) as result:
        yield result


def tab_of(browser, width=DESK, scheme="light", allowed="$^"):
    """A tab, and the list of what its console said that was not allowed."""
    tab = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    tab.set_default_timeout(1_000 * PAGE_HANG)
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


def record(study, rows):
    """Past data of `rows`: (arm, impressions, conversions)."""
    study.record([(arm, float(i < won)) for arm, shown, won in rows for i in range(shown)])


def number(tab):
    return int(tab.get_attribute("main", "data-number"))


def wait_for_number(tab, least):
    """Wait until the page shows this event; by asking, because the page lets no script in that is
    not its own.
    """
    wait_until(lambda: number(tab) >= least or tab.wait_for_timeout(100))


def violations(tab):
    """What axe finds, where it is installed: nothing, where everybody can use the page; and nothing
    is cut off.
    """
    tab.mouse.move(0, 0)  # from a word that may have come below the pointer, and shows its tooltip
    result = []
    if AXE.exists():
        if not tab.evaluate("'axe' in window"):
            tab.evaluate(AXE.read_text(encoding="utf-8"))
        result = tab.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    wide = tab.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    nodes = [(one["id"], node["html"][:200]) for one in result for node in one["nodes"]]
    return nodes + [("wide", wide)] * (wide > 0)


def violations_everywhere(tab):
    """The same on a desk and on a phone, in the light and in the dark."""
    before, result = tab.viewport_size, []
    for width in (DESK, PHONE):
        tab.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme)
            result += [(width, scheme, *one) for one in violations(tab)]
    tab.set_viewport_size(before)
    return result


def sections(tab):
    """The headings of the page that can be seen, in order."""
    return [one.inner_text() for one in tab.locator("main h2").all() if one.is_visible()]


@browsed
def test_create_a_study_send_the_first_ask_watch_it_decide_turn_the_dial_and_pause(
    browser, service
):
    tab, heard = tab_of(browser)
    tab.goto(service.url)
    tab.wait_for_selector(".studies li")
    assert violations(tab) == []
    name = "checkout <b>button<∕b>"
    tab.fill("#name", name)
    tab.fill("#arms", "blue, green, <img src=x onerror=alert(1)>")
    tab.fill("#control", "blue")
    tab.select_option("#rule", "surer")
    tab.click("button:has-text('Create')")
    tab.wait_for_selector("main[data-number='1']")
    near = Study(name, service.storage)
    assert near.arms == ("blue", "green", "<img src=x onerror=alert(1)>")
    assert near.settings.control == "blue"
    assert (near.settings.stop_when, near.settings.then) == (belman.measures.Sure(0.99), "say")
    # nobody asked yet
    assert tab.inner_text(".state") == "Waiting for its first ask"
    assert sections(tab)[0] == "Send your first ask"
    assert f"curl -X POST '{service.url}/api/studies/" in tab.inner_text("pre >> nth=0")
    assert violations(tab) == []
    # it runs, and has decided
    record(near, [(arm, 100, 0) for arm in near.arms if arm != "green"])
    play(near, 25)
    assert near.verdict().decided
    wait_for_number(tab, near.number)
    tab.wait_for_selector(".state[data-state=decided]")
    assert tab.inner_text(".sentence").startswith("green converts")
    assert sections(tab) == [
        "Lift over blue",
        "Who gets the traffic",
        "What it earned",
        "The arms",
        "Is the data sound?",
        "The log",
        "Explore or exploit",
        "Change its arms",
        "Change its guard-rails",
        "Put this study away",
    ]
    assert "green" in tab.inner_text("table.cards tbody tr:first-child th")
    # the dial asks, and one change is one event
    before = near.number
    tab.focus("#dial")
    for _ in range(4):
        tab.keyboard.press("ArrowRight")
    tab.wait_for_selector("dialog.ask")
    assert violations(tab) == []
    tab.keyboard.press("Escape")
    tab.wait_for_selector("dialog.ask", state="detached")
    assert (near.number, tab.inner_text(".dial output")) == (before, "the default")
    tab.keyboard.press("End")
    tab.wait_for_selector("dialog.ask")
    tab.keyboard.type("be greedy")
    tab.keyboard.press("Enter")
    wait_for_number(tab, before + 1)
    assert near.number == before + 1
    assert near.policy.exposure.gain == pytest.approx(100.0 * belman.exposure.Evidence().gain)
    assert "policy changed: be greedy" in tab.inner_text(".changes li:first-child")
    # it is paused, resumed and shipped
    for button, state in (("Pause", "paused"), ("Resume", "decided"), ("Ship green", "decided")):
        tab.click(f".verdict button:has-text('{button}')")
        tab.wait_for_selector("dialog.ask .primary")
        tab.click("dialog.ask .primary")
        tab.wait_for_selector(f".state[data-state={state}]")
    tab.wait_for_selector(".state:has-text('green gets all traffic')")
    assert (near.paused, near.number) == (False, before + 4)
    assert heard == []
    tab.close()


@browsed
@pytest.mark.parametrize(("width", "scheme"), [(DESK, "light"), (PHONE, "dark")])
def test_every_number_can_be_read_by_keyboard_on_desk_and_phone(browser, service, width, scheme):
    name = f"read-{width}"
    study = open_study(
        name, ["blue", "green", "red"], storage=service.storage, control="blue", seed=1,
        uniform_share=0.2,
    )  # fmt: skip
    record(study, [("blue", 4_000, 400), ("green", 4_000, 500), ("red", 100, 4)])
    for device, ticket in zip(("phone", "desktop") * 20, study.ask(40), strict=True):
        study.tell(ticket, float(ticket.arm == "green" and device == "phone"))
    study.tell(study.ask(attributes={"device": "phone"}), 1)
    tab, heard = tab_of(browser, width, scheme)
    tab.goto(f"{service.url}/#/study/{name}")
    tab.wait_for_selector(JUDGED)
    tab.wait_for_selector(".forest .thin >> nth=5", state="attached")
    assert violations(tab) == []
    # what a decision needs is there, whatever the width
    row = tab.inner_text("table.cards tbody tr:first-child")
    for words in ("green", "+2", " to ", "%"):
        assert words in row
    cells = tab.locator("table.cards tbody tr:first-child td").all()
    assert [cell.get_attribute("data-label") for cell in cells] == [
        "lift", "conversion rate", "95 % credible", "chance to be best", "traffic share",
        "impressions", "expected loss",
    ]  # fmt: skip
    assert all(cell.is_visible() and cell.inner_text().strip() for cell in cells)
    # one colour an arm, by the page's own scheme
    colours = tab.evaluate(
        "[...document.querySelectorAll('.forest .middle')].map(e => getComputedStyle(e).fill)"
    )
    assert len(set(colours)) == 2
    # charts are read with arrows
    for chart, words in (
        ("Traffic shares over time", "green"),
        ("What was earned over time", "a fixed split"),
    ):
        tab.focus(f"[aria-label='{chart}']")
        tab.keyboard.press("Home")
        spoken = tab.get_attribute(f"[aria-label='{chart}']", "aria-valuetext")
        assert words in spoken
        assert re.search(r"\d{1,2} \w{3}", spoken)  # a date
        assert tab.get_attribute(f"[aria-label='{chart}']", "aria-valuenow") == "0"
        tab.keyboard.press("End")
        assert tab.locator(f"[aria-label='{chart}'] .cursor line").count() == 1
    # the table is sorted and searched
    tab.focus(".sort >> text=arm")
    tab.keyboard.press("Enter")
    assert tab.inner_text("table.cards tbody tr:first-child th").startswith("blue")
    tab.fill("#search", "RED")
    assert tab.locator("table.cards tbody tr").count() == 1
    # a term says what it means, and the glossary has it
    tab.focus(".figures .term >> nth=0")
    assert tab.inner_text("#tip").startswith("By how much")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#glossary[open]")
    assert tab.evaluate("document.activeElement.id") == "term-lift"
    assert violations(tab) == []
    used = {one.get_attribute("data-term") for one in tab.locator("[data-term]").all()}
    listed = {one.get_attribute("id") for one in tab.locator("#glossary dt").all()}
    assert {f"term-{one}" for one in used} <= listed
    tab.keyboard.press("Escape")
    # segments, and details
    tab.select_option("#by", "device")
    tab.wait_for_selector("section:has(#by) [role=status]:not(:has-text('Reading'))")
    tab.focus(".more > summary")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("svg.manifold circle >> nth=2")
    tab.focus("[aria-label='The manifold, arm by arm']")
    tab.keyboard.press("End")
    spoken = tab.get_attribute("[aria-label='The manifold, arm by arm']", "aria-valuetext")
    assert re.fullmatch(r"blue; expected reward [\d.]+; precision [\d.,]+", spoken)
    assert "index" in tab.inner_text("[aria-label='Why this arm now'] thead")
    tab.focus("[aria-label='Beliefs about the arms']")
    tab.keyboard.press("ArrowLeft")
    tab.click("text=The newest events of all kinds")
    tab.wait_for_selector("[aria-label='The newest events'] tbody tr >> nth=20")
    assert violations(tab) == []
    assert heard == []
    tab.close()


def in_state(storage, state):
    """A study that is in this state, and stays in it."""
    study = open_study(f"is {state}", ["blue", "green"], storage=storage, control="blue", seed=1)
    if state == "wrong":
        record(study, [("blue", 2_000, 1_000)])  # first all of them convert, and then nobody
    elif state != "waiting":
        rates = {"blue": 40, "green": 140 if state == "decided" else 42}  # of 400, evenly over time
        study.record(
            [(arm, float(i * n % 400 < n)) for i in range(400) for arm, n in rates.items()]
        )
    if state != "waiting":
        study.ask()
    if state == "paused":
        study.pause("the shop is closed")
    assert state in ("waiting", study.report().state)
    return study


@browsed
@pytest.mark.parametrize("state", ["running", "decided", "paused", "wrong", "waiting"])
def test_every_state_on_desk_and_phone_light_and_dark_by_keyboard(browser, service, state):
    study = in_state(service.storage, state)
    tab, heard = tab_of(browser)
    tab.goto(f"{service.url}/#/study/{study.name}")
    tab.wait_for_selector(f".state[data-state={state}]")
    assert violations_everywhere(tab) == []
    before = study.number
    for width in (DESK, PHONE):
        tab.set_viewport_size({"width": width, "height": 900})
        # the sentence can be seen at once, and the state says what it means
        assert tab.locator(".sentence").bounding_box()["y"] < 450
        tab.focus(".home")
        reached = []
        for _ in range(8):
            tab.keyboard.press("Tab")
            reached.append(tab.evaluate("document.activeElement.innerText"))
            if reached[-1] in ("Pause", "Resume"):
                break
        assert tab.inner_text(".state") in reached
        # a button of live traffic asks, and leaves things as they are
        assert reached[-1] == ("Resume" if state == "paused" else "Pause")
        tab.keyboard.press("Enter")
        tab.wait_for_selector("dialog.ask")
        assert violations(tab) == []
        tab.keyboard.press("Escape")
        tab.wait_for_selector("dialog.ask", state="detached")
    assert study.number == before
    assert heard == []
    tab.close()


@browsed
@pytest.mark.parametrize("width", [DESK, PHONE])
def test_metrics_are_shown_and_arms_and_guards_change_while_it_runs(browser, service, width):
    study = open_study(
        f"changing-{width}", ["blue", "green"], storage=service.storage, control="blue"
    )
    for turn in range(60):
        ticket = study.ask()
        study.tell(ticket, turn % 3 == 0, metrics={"latency": 0.5 + (ticket.arm == "green")})
    tab, heard = tab_of(browser, width, allowed="status of 422")  # Chromium's own words
    tab.goto(f"{service.url}/#/study/{study.name}")
    tab.wait_for_selector(JUDGED)
    rows = {row["arm"]: row for row in study.report().metrics}
    shown = tab.inner_text("section[aria-labelledby=metrics] tbody")
    for arm, row in rows.items():
        assert arm in shown
        assert str(row["n"]) in shown
    before = study.number

    def confirm(field, value, button):
        tab.fill(field, value)
        tab.click(f"section:has({field}) button:has-text('{button}')")
        tab.wait_for_selector("dialog.ask .primary")
        tab.click("dialog.ask .primary")

    confirm("#change-arm", "red", "Add")
    wait_for_number(tab, before + 1)
    confirm("#change-arm", "green", "Retire")
    wait_for_number(tab, before + 2)
    assert (study.arms, study.retired) == (("blue", "red"), ("green",))
    confirm("#change-guard", "latency", "Set")  # which is no limit
    tab.wait_for_selector("dialog.ask .error:has-text('is not a limit')")
    tab.keyboard.press("Escape")
    confirm("#change-guard", "latency < 2, refund < 0.05", "Set")
    wait_for_number(tab, before + 3)
    tab.wait_for_selector(".findings:has-text('latency < 2')")
    assert [(row["metric"], row["limit"]) for row in study.report().guards][:2] == [
        ("latency", "< 2.0"),
        ("refund", "< 0.05"),
    ]
    assert tab.input_value("#change-guard") == "latency < 2.0, refund < 0.05"
    confirm("#change-guard", "", "Set")
    wait_for_number(tab, before + 4)
    assert study.report().guards == ()
    assert violations_everywhere(tab) == []
    assert heard == []
    tab.close()


@browsed
def test_views_that_come_leave_the_keyboard_where_it_is(browser, service):
    study = open_study("moving", ["blue", "green"], storage=service.storage, control="blue")
    play(study, 20)
    tab, heard = tab_of(browser)
    tab.goto(f"{service.url}/#/study/moving")
    tab.wait_for_selector(JUDGED)
    tab.focus(".figures .term >> nth=0")
    for turns in (1, 2):
        before = study.number
        play(study, turns)
        wait_for_number(tab, before + 2 * turns)
        assert tab.evaluate("document.activeElement.dataset.term") == "lift"
        assert tab.inner_text("#tip").startswith("By how much")
    assert heard == []
    tab.close()


@browsed
def test_something_is_wrong_on_a_phone_in_the_light(browser, service):
    study = open_study("drifting", ["a", "b"], storage=service.storage, control="a")
    study.record([("a", float(i >= 3_000)) for i in range(6_000)] + [("b", 1.0)] * 20)
    study.ask()
    tab, heard = tab_of(browser, PHONE)
    tab.goto(f"{service.url}/#/study/drifting")
    tab.wait_for_selector(".state[data-state=wrong]")
    assert tab.inner_text(".state") == "Something is wrong"
    assert "look at them before you stop" in tab.inner_text(".sentence")
    assert tab.locator(".findings li.bad").count() >= 1
    assert violations(tab) == []
    tab.set_viewport_size({"width": 820, "height": 1180})  # and on what is neither
    assert violations(tab) == []
    assert heard == []
    tab.close()


@browsed
def test_a_demo_moves_on_a_phone_in_the_dark(browser, service):
    tab, heard = tab_of(browser, PHONE, "dark")
    tab.goto(service.url)
    tab.click("text=Play a demo")
    tab.wait_for_selector("main[data-number]")
    before = number(tab)
    wait_for_number(tab, before + 20)
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 28)"
    assert tab.locator("table.cards tbody tr").count() == 5
    assert violations(tab) == []
    assert heard == []
    tab.close()


@browsed
def test_loading_a_server_that_goes_away_and_comes_back(browser, tmp_path):
    tab, heard = tab_of(
        browser, scheme="dark", allowed="net::ERR_|Failed to load resource"
    )  # what Chromium itself says of a lost connection
    with running(tmp_path) as service:
        tab.goto(service.url)
        tab.wait_for_selector(".studies .note:has-text('There is no study yet')")
        assert violations_everywhere(tab) == []
        study = open_study("lasting", ["blue", "green"], storage=service.storage)
        play(study, 5)
        tab.route("**/live*", lambda route: None)  # answers never come
        tab.goto(f"{service.url}/#/study/lasting")
        tab.wait_for_selector(".loading:has-text('Opening lasting')")
        assert violations_everywhere(tab) == []
        tab.unroute_all(behavior="ignoreErrors")
        tab.reload()
        tab.wait_for_selector("main[data-number='11']")
    tab.wait_for_selector("#link[data-state=lost]")
    assert "tries again by itself. What you see is from" in tab.inner_text("#banner")
    assert violations_everywhere(tab) == []
    with running(tmp_path, port=service.port) as again:
        play(Study("lasting", again.storage), 5)
        tab.wait_for_selector("main[data-number='21']")
        tab.wait_for_selector("#link[data-state=live]")
        assert not tab.is_visible("#banner")
    assert heard == []
    tab.close()


@browsed
def test_a_storage_that_cannot_be_reached_is_said_and_waited_for(browser, tmp_path, monkeypatch):
    with running(tmp_path) as service:
        study = open_study("away", ["blue", "green"], storage=service.storage)
        play(study, 3)
        tab, heard = tab_of(browser)
        tab.goto(f"{service.url}/#/study/away")
        tab.wait_for_selector("main[data-number='7']")
        real = Study.moment
        monkeypatch.setattr(Study, "moment", property(_unreachable))
        tab.wait_for_selector("#link[data-state=trouble]")
        assert "The storage cannot be reached; trying again." in tab.inner_text("#banner")
        assert violations_everywhere(tab) == []
        monkeypatch.setattr(Study, "moment", real)
        tab.wait_for_selector("#link[data-state=live]")
        assert heard == []
        tab.close()


def _unreachable(study):
    raise StorageError("gone")


@browsed
def test_a_thousand_arms_and_a_search_by_keyboard(browser, service):
    study = open_study("crowded", [f"arm {i}" for i in range(1000)], storage=service.storage)
    study.record([(f"arm {i % 1000}", float(i % 1000 == 77)) for i in range(2000)])
    study.ask()
    tab, heard = tab_of(browser)
    tab.goto(f"{service.url}/#/study/crowded")
    tab.wait_for_selector("main[data-number]")
    assert "arm 77" in tab.inner_text("table.cards tbody tr:first-child th")
    assert "950 more arms" in tab.inner_text("main")
    tab.focus("#search")
    tab.keyboard.type("arm 512")
    tab.wait_for_selector(".results button:has-text('arm 512')")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("table.cards tbody th:has-text('arm 512')")
    assert heard == []
    tab.close()


@browsed
def test_a_key_is_asked_for_and_a_reader_turns_nothing(browser, tmp_path):
    tab, heard = tab_of(browser, allowed="status of 401")  # Chromium's own words
    with running(tmp_path, require_keys=True) as service:
        study = open_study("guarded", ["blue", "green"], storage=service.storage)
        play(study, 2)
        tab.goto(f"{service.url}/#/study/guarded")
        tab.wait_for_selector("#key")
        assert violations_everywhere(tab) == []
        tab.fill("#key", keys_of(service.storage)[Role.READ])
        tab.keyboard.press("Enter")
        tab.wait_for_selector("main[data-number='5']")
        assert tab.is_disabled("#dial")
        for words in ("Pause", "Archive", "Delete"):
            assert tab.locator(f"button:has-text('{words}')").count() == 0
        assert heard == []
        tab.close()


@browsed
def test_a_study_is_archived_brought_back_and_deleted_by_its_name(browser, service):
    study = open_study("old", ["blue", "green"], storage=service.storage)
    play(study, 2)
    tab, heard = tab_of(browser, PHONE)
    tab.goto(f"{service.url}/#/study/old")
    tab.click("button:has-text('Archive')")
    assert tab.is_disabled("dialog.ask .primary")
    tab.fill("dialog.ask [id$=name]", "old")
    tab.click("dialog.ask .primary")
    tab.check("#archived")
    tab.click("button:has-text('Restore old')")
    tab.wait_for_selector("main[data-number]")
    assert study.paused
    tab.click(".rest button:has-text('Delete')")
    tab.fill("dialog.ask [id$=name]", "ol")
    assert tab.is_disabled("dialog.ask .danger")
    assert violations(tab) == []
    tab.fill("dialog.ask [id$=name]", "old")
    tab.click("dialog.ask .danger")
    tab.wait_for_selector("h1:has-text('Studies')")
    assert "old" not in service.storage.names()
    kept = service.storage.rows("SELECT events FROM belman_deletions ORDER BY time DESC LIMIT 1")
    assert kept == [(6,)]  # under a key: were its answer lost, it could be sent again
    assert heard == []
    tab.close()


@browsed
def test_an_address_that_is_no_encoding_of_anything_is_no_study(browser, service):
    tab, heard = tab_of(browser, allowed="status of 404")  # Chromium's own words
    tab.goto(f"{service.url}/#/study/%")
    tab.wait_for_selector("h1:has-text('No such study')")
    assert "'%'" in tab.inner_text("main")
    assert violations_everywhere(tab) == []
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
