"""Every family keeps the contract."""

from __future__ import annotations

import pytest

from tests.contracts.cases import CASES, Case
from tests.contracts.family_contract import FamilyContract
from tests.contracts.reward_contract import RewardContract


@pytest.fixture(params=CASES.values(), ids=CASES.keys(), scope="class")
def case(request) -> Case:
    return request.param


class TestBeliefs(FamilyContract):
    pass


class TestRewards(RewardContract):
    pass
