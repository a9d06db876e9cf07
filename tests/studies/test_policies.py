"""Every policy in a study: its state is the fold of the log, or it is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from belman import open_study
from belman.errors import PolicyError
from belman.policies import EXP3P, LBSDA, POLICIES, RBSDA, Forced, Policy, TsallisINF
from tests.agent.test_weights import TOLD

#: Policies whose asks change what they learn from a reward.
LEARN_FROM_ASKS = ("exp3.p", "lb-sda", "rb-sda", "tsallis-inf")
OTHERS = [name for name in POLICIES if name not in ("oracle", *LEARN_FROM_ASKS)]


def fold(policy: Policy, folder: Path) -> str:
    """The digest of a study after some turns, of which the last are open; it is checked."""
    storage = f"sqlite:///{folder}/studies.db?synchronous=normal"
    study = open_study("one", ["a", "b", "c"], policy=policy, seed=1, storage=storage)
    luck = np.random.default_rng(2)
    try:
        for _ in range(20):
            first, second = study.ask(), study.ask()
            for ticket in (second, first):  # not in the order in which they were asked
                study.tell(ticket, float(luck.random() < 0.4))
        study.ask()
        return study.check()
    finally:
        study.storage.close()


@pytest.mark.parametrize("name", OTHERS)
def test_the_state_is_the_fold_of_the_log(name: str, tmp_path: Path) -> None:
    near = {"discount": 0.5} if name == "gittins" else {}  # a table of few rewards ahead
    assert fold(POLICIES[name](**{**TOLD.get(name, {}), **near}), tmp_path)


@pytest.mark.parametrize("policy", [TsallisINF(), EXP3P(100), LBSDA(), RBSDA(), Forced(RBSDA())])
def test_what_learns_from_asks_is_refused(policy: Policy, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="has no place in a study: what it learns depends on its"):
        fold(policy, tmp_path)
