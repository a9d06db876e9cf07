"""Every family keeps the contract: its rewards."""

from __future__ import annotations

import pytest

from tests.contracts.cases import CASES, Case
from tests.contracts.reward_contract import RewardContract


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request) -> Case:
    return request.param


class TestRewards(RewardContract):
    pass
