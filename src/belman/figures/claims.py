"""The claims of the paper, by number; each stands, with its tests, in the file of its figure."""

from __future__ import annotations

from belman.figures import (
    barycentre,
    bernoulli_2,
    bernoulli_2_close,
    bernoulli_10,
    bernoulli_20,
    bernoulli_20_long,
    central_limit,
    consistency,
    exploration_shares,
    exponential_5,
    exponential_5_bounded,
    exponential_5_large,
    queueing,
    two_phase,
)
from belman.figures.claim import Claim

#: Every claim, in the order of the paper's.
CLAIMS: tuple[Claim, ...] = tuple(
    sorted(
        (
            module.CLAIM
            for module in (
                barycentre,
                bernoulli_10,
                bernoulli_2,
                bernoulli_20,
                bernoulli_20_long,
                bernoulli_2_close,
                central_limit,
                consistency,
                exponential_5,
                exponential_5_bounded,
                exponential_5_large,
                queueing,
                exploration_shares,
                two_phase,
            )
        ),
        key=lambda claim: claim.number,
    )
)
