"""One suite that every member of a room passes."""

import pytest

pytest.register_assert_rewrite("tests.contracts.family_contract", "tests.contracts.reward_contract")
