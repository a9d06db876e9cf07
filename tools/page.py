"""Draws the pictures of the page: `python tools/page.py` plays a study and opens it in Chromium.

A checkout button is tried in four colours for twelve days. Visitors are simulated; phones and
desktops like different things. The pictures go to docs/images, or to the folder that is given.
"""

from __future__ import annotations

import math
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import uvicorn

from belman.dashboard import application
from belman.service.app import bind, server_settings
from belman.studies import Ask, Storage, Study, Tell, open_study

RATES = {"blue": 0.060, "green": 0.076, "orange": 0.064, "plum": 0.051}
ON_PHONES = {"plum": 0.006, "orange": -0.006}
BEGIN, DAYS, VISITORS = 1_762_128_000, 12, 26_000  # Monday, 3 November 2025
BATCH, CLOSED = 20, 100


def play(storage: Storage, name: str = "checkout-button", visitors: int = VISITORS) -> Study:
    """Twelve days of visitors, more of them by day than by night."""
    nature, now = np.random.default_rng(7), [float(BEGIN)]
    study = open_study(
        name, list(RATES), storage=storage, seed=7, control="blue", floor=0.04, clock=lambda: now[0]
    )
    hours = np.arange(24 * DAYS)
    busy = 1.0 + 0.8 * np.sin((hours % 24 - 9) / 24 * 2 * math.pi)
    for hour, share in zip(hours, busy / busy.sum(), strict=True):
        if hour == CLOSED:
            study.pause("the shop is closed for an hour")
            continue
        if hour == CLOSED + 1:
            now[0] = BEGIN + 3600.0 * hour
            study.resume("it is open again")
        for _ in range(round(visitors * share / BATCH)):
            now[0] = BEGIN + 3600.0 * (hour + nature.random() / 2)
            devices = ["phone" if nature.random() < 0.6 else "desktop" for _ in range(BATCH)]
            asks = [Ask(attributes={"device": device}) for device in devices]
            tells = []
            for result, device in zip(study.together(asks), devices, strict=True):
                assert isinstance(result, list)
                rate = RATES[result[0].arm] + (device == "phone") * ON_PHONES.get(
                    result[0].arm, 0.0
                )
                tells.append(Tell(result[0], float(nature.random() < rate)))
            study.together(tells)
    return study


@contextmanager
def service(storage: Storage) -> Iterator[str]:
    """The address of a service that runs as long as the context."""
    listening: socket.socket = bind("127.0.0.1", 0)
    app = application(storage)
    server = uvicorn.Server(server_settings(app))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        app.state.registry.stopping.set()
        server.should_exit = True
        thread.join()
        listening.close()


def main() -> None:
    from playwright.sync_api import sync_playwright

    folder = Path(
        sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "images"
    )
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as position:
        storage = Storage(f"sqlite:///{position}/studies.db?synchronous=normal")
        name = play(storage).name
        with service(storage) as address, sync_playwright() as browsers:
            browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for file, wide, tall, scheme in (
                ("dashboard.png", 1080, 1530, "light"),
                ("dashboard-phone.png", 390, 1560, "dark"),
            ):
                size = {"width": wide, "height": tall}
                tab = browser.new_page(viewport=size, color_scheme=scheme)
                tab.goto(f"{address}/#/study/{name}")
                tab.wait_for_selector("main[data-judged]:not([data-judged=''])")
                tab.wait_for_selector(".forest .thick >> nth=2", state="attached")  # of every arm
                tab.screenshot(path=folder / file)
            browser.close()


if __name__ == "__main__":
    main()
