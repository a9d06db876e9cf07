"""Every family keeps the contract: its beliefs."""

from __future__ import annotations

import pytest

from tests.contracts.cases import CASES, Case
from tests.contracts.family_contract import FamilyContract


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request) -> Case:
    return request.param


class TestBeliefs(FamilyContract):
    pass
