"""What an agent recommends, and Chernoff's evidence that the policy's favourites are the best."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from belman.engine import LATER, entry, kernel
from belman.families import Family
from belman.policies import Ledger, Policy
from belman.policies.averages import plays_needed
from belman.policies.best_arm.stopping import least_contrast
from belman.policies.policy import Floats, pick_most


class Advice(NamedTuple):
    """The places of the recommended arms, best first, and the evidence that no other is as good."""

    places: list[int]
    evidence: float


@kernel
def _advise(
    policy, family, law, params, ledger, memory, needed, m, luck, score, spent, chosen, doubt
):
    policy.recommend(family, law, params, ledger, memory, score)
    for a in range(score.size):
        spent[a] = score[a]
    pick_most(spent, m, luck, chosen)
    return least_contrast(family, law, ledger, needed, chosen, -1.0, doubt)


def advise(
    policy: Policy, family: Family, ledger: Ledger, memory: Any, m: int, luck: Any
) -> Advice:
    """The m arms that the policy recommends after these rewards; uses up `luck` to draw ties."""
    arms = len(ledger.plays)
    score, spent, chosen = np.zeros(arms), np.zeros(arms), np.zeros(arms)
    evidence = entry(_advise, policy=policy.kernels, family=family.kernels)(
        LATER,
        law=family.law,
        params=policy.params(family),
        ledger=ledger,
        memory=memory,
        needed=plays_needed(family),
        m=m,
        luck=luck,
        score=score,
        spent=spent,
        chosen=chosen,
        doubt=np.zeros(2, dtype=np.int64),
    )
    return Advice(sorted(_marked(chosen), key=lambda place: -score[place]), float(evidence))


def _marked(chosen: Floats) -> list[int]:
    return [int(place) for place in np.flatnonzero(chosen)]
