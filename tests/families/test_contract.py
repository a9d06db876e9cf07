"""Every family keeps the contract that users run on theirs, and agrees with the textbook."""

from __future__ import annotations

import pytest

from belman.testing import FAMILY_CHECKS
from tests.contracts.cases import CASES, OTHER_CASES, Case
from tests.contracts.family_contract import FamilyContract
from tests.contracts.reward_contract import RewardContract

ALL = {**CASES, **OTHER_CASES}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request) -> Case:
    return request.param


@pytest.mark.parametrize("every", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("check", FAMILY_CHECKS, ids=lambda check: check.__name__)
def test_contract(every: Case, check) -> None:
    assert list(check(every)) == []


class TestBeliefs(FamilyContract):
    @pytest.fixture(params=[name for name in CASES if name not in ("money", "bounded")])
    def case(self, request) -> Case:
        """Money is a chance beside amounts, and bounded rewards have no law: see test_money.py and
        test_bounded.py.
        """
        return CASES[request.param]


class TestRewards(RewardContract):
    pass
