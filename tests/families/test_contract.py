"""Every family keeps the contract that users run on theirs, and agrees with the textbook."""

from __future__ import annotations

import pytest

from belman.testing import FAMILY_CHECKS
from tests.contracts.cases import CASES, OTHER_CASES, Case
from tests.contracts.family_contract import FamilyContract
from tests.contracts.reward_contract import RewardContract
from tests.members import BY_QUADRATURE

ALL = {**CASES, **OTHER_CASES}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request) -> Case:
    return request.param


#: Compiled: the simplest families, and those whose quantiles are integrals or searches within
#: searches, which Python takes minutes for. What others would add is their compilation:
#: tests/agent/test_interpreted.py holds both ways together.
COMPILED = {"bernoulli", "gaussian", "money", "money of gamma amounts", *BY_QUADRATURE}


@pytest.mark.parametrize(
    "every",
    [
        pytest.param(case, marks=() if name in COMPILED else pytest.mark.interpreted)
        for name, case in ALL.items()
    ],
    ids=ALL.keys(),
)
@pytest.mark.parametrize("check", FAMILY_CHECKS, ids=lambda check: check.__name__)
def test_contract(every: Case, check) -> None:
    assert list(check(every)) == []


class TestBeliefs(FamilyContract):
    @pytest.fixture(params=[name for name in CASES if name not in ("money", "bounded")])
    def case(self, request) -> Case:
        """Money is a chance beside amounts, and bounded rewards have no distribution: see
        test_money.py and test_bounded.py.
        """
        return CASES[request.param]


class TestRewards(RewardContract):
    pass
