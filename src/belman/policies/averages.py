"""The average and variance of an arm's rewards, without a prior; fading counts are fractions."""

from __future__ import annotations

from belman.engine import kernel
from belman.families.family import Family

_FADED = 1e-200  # plays that are none any more: sums of rewards have lost their digits


def plays_needed(family: Family) -> float:
    """How many plays an arm needs before its average counts: more where d needs a variance.

    >>> from belman.families import Bernoulli, GaussianUnknown
    >>> plays_needed(Bernoulli()), plays_needed(GaussianUnknown())
    (0.0, 3.0)
    """
    return 0.0 if family.mean_fixes_law else family.plays_for_spread


@kernel
def known(ledger, arm, needed):
    """Whether an arm has been played, and at least `needed` times."""
    return ledger.plays[arm] > _FADED and ledger.plays[arm] >= needed


@kernel
def average(ledger, arm):
    """The mean reward of an arm that was played."""
    return ledger.sums[arm] / ledger.plays[arm]


@kernel
def variance(ledger, arm):
    """The mean square of the rewards of an arm that was played, less the square of their mean."""
    mean = average(ledger, arm)
    return max(ledger.squares[arm] / ledger.plays[arm] - mean * mean, 0.0)


@kernel
def keep_terms(family, law, mean, spread, scratch, terms, arm):
    """Renew the arm's side of the evidence, a column of `terms`, by its mean and spread."""
    family.terms(law, mean, spread, scratch)
    for i in range(scratch.size):
        terms[i, arm] = scratch[i]


@kernel
def keep_terms_of(family, law, belief, worth, mean, spread, scratch, terms, arm):
    """Renew it by all that a belief knows, taken for so many rewards of that mean and spread."""
    family.terms_of(family, law, belief, worth, mean, spread, False, scratch)
    for i in range(scratch.size):
        terms[i, arm] = scratch[i]
