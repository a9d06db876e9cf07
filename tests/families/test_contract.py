"""Every family keeps the contract that users run on theirs, and agrees with the textbook."""

from __future__ import annotations

import pytest

from belman.testing import FAMILY_CHECKS
from tests.contracts.cases import CASES, Case
from tests.contracts.family_contract import FamilyContract
from tests.contracts.reward_contract import RewardContract


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request) -> Case:
    return request.param


@pytest.mark.parametrize("check", FAMILY_CHECKS, ids=lambda check: check.__name__)
def test_contract(case: Case, check) -> None:
    assert list(check(case)) == []


class TestBeliefs(FamilyContract):
    pass


class TestRewards(RewardContract):
    pass
