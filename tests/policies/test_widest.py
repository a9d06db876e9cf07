"""The widest belief, by the quartiles that scipy gives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from belman.families import Bernoulli
from belman.policies import WidestBelief
from tests.policies.test_index_policies import Table, played


def test_index_is_the_distance_between_quartiles() -> None:
    ledger = played(Bernoulli(), [1, 5, 40, 300], 3)
    result = Table(WidestBelief(), Bernoulli(), ledger).indices(9)
    wanted = [stats.beta.isf(0.25, *row) - stats.beta.ppf(0.25, *row) for row in ledger.beliefs]
    assert result == pytest.approx(wanted, rel=1e-9)
    assert np.argmax(result) == 0
