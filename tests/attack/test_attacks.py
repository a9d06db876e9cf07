"""The short form of every attack; `make attack` runs the long one."""

from __future__ import annotations

import pytest

from tests.attack.attacks import ATTACKS


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_nothing_is_found(attack):
    if missing := attack.needs():
        pytest.skip(missing)
    trials = attack.trials(attack.short)
    assert trials.result == []
    assert trials.done > 0
