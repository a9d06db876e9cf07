"""A test of a page cannot hang, neither by a script without end nor by a browser that stays."""

from __future__ import annotations

import pytest

from tests import browsing


@browsing.browsed
def test_a_call_without_a_limit_of_its_own_ends_with_the_browser():
    from playwright.sync_api import Error

    with browsing.browser() as browser:
        tab = browser.new_page()
        with browsing.limited(1.0), pytest.raises(Error, match="closed"):
            tab.evaluate("new Promise(() => {})")
