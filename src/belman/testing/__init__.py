"""Contracts that families and policies keep, to be run on one's own.

`check_family` and `check_policy` try everything that the rest of the package relies on, and raise
AssertionError with all that they found, in words.

>>> from belman import Thompson
>>> from belman.families import Bernoulli
>>> check_policy(Thompson(), Bernoulli())

`FAMILY_CHECKS` and `POLICY_CHECKS` hold the single checks, functions that yield a sentence for each
fault, for a test runner that shows them one by one. Checks of draws raise a false alarm for one
seed in a million, and their seeds are fixed.
"""

from __future__ import annotations

from belman.families import Bernoulli, Family
from belman.policies import Policy
from belman.testing.beliefs import BELIEF_CHECKS
from belman.testing.cases import FamilyCase, raise_faults
from belman.testing.policies import POLICY_CHECKS, PolicyCase
from belman.testing.rewards import REWARD_CHECKS

#: Every check of a family, each a function of a `FamilyCase` that yields a sentence a fault.
FAMILY_CHECKS = (*BELIEF_CHECKS, *REWARD_CHECKS)


def check_family(family: Family, means: tuple[float, float] | None = None) -> None:
    """Check the contract of a family.

    Parameters
    ----------
    family
        The family, with the constants to try.
    means
        Two means that its rewards can have, the smaller first; by default they are found.

    Raises
    ------
    AssertionError
        If the family breaks its contract: one line for each check that fails, with the function
        and the line of an error that was raised.

    >>> from belman.families import Bernoulli
    >>> check_family(Bernoulli())
    """
    case = FamilyCase(family, means)
    raise_faults(family.name, FAMILY_CHECKS, case)


def check_policy(
    policy: Policy, family: Family | None = None, means: tuple[float, float] | None = None
) -> None:
    """Check the contract of a policy on rewards of a family.

    Parameters
    ----------
    policy
        The policy, with the settings to try.
    family
        The family of the rewards; by default Bernoulli.
    means
        Two means that rewards can have, the smaller first; by default they are found.

    Raises
    ------
    AssertionError
        If the policy breaks its contract: one line for each check that fails, with the function
        and the line of an error that was raised.

    >>> from belman import BelMan
    >>> from belman.families import Poisson
    >>> check_policy(BelMan(), Poisson())
    """
    case = PolicyCase(policy, Bernoulli() if family is None else family, means)
    raise_faults(policy.name, POLICY_CHECKS, case)


__all__ = [
    "FAMILY_CHECKS",
    "POLICY_CHECKS",
    "FamilyCase",
    "PolicyCase",
    "check_family",
    "check_policy",
]
