"""Policies for arms that share a belief, one algorithm a file."""

from __future__ import annotations

from belman.policies.dependent.belman import PaperBelMan, SharedBelMan
from belman.policies.dependent.greedy import LinEpsilonGreedy, LinGreedy
from belman.policies.dependent.information import LinIDS, LinIMED, LinMED
from belman.policies.dependent.optimism import GLMUCB, OFUL, LinBayesUCB, LinUCB
from belman.policies.dependent.policy import DependentKernels, DependentPolicy
from belman.policies.dependent.thompson import LaplaceTS, LinTS, LinTSUCB

_MEMBERS: tuple[type[DependentPolicy], ...] = (
    SharedBelMan,
    PaperBelMan,
    LinTS,
    LaplaceTS,
    LinUCB,
    OFUL,
    GLMUCB,
    LinBayesUCB,
    LinIMED,
    LinMED,
    LinIDS,
    LinTSUCB,
    LinGreedy,
    LinEpsilonGreedy,
)

#: Every policy for arms with features by its name.
DEPENDENT_POLICIES: dict[str, type[DependentPolicy]] = {kind.name: kind for kind in _MEMBERS}

__all__ = [
    "DEPENDENT_POLICIES",
    "GLMUCB",
    "OFUL",
    "DependentKernels",
    "DependentPolicy",
    "LaplaceTS",
    "LinBayesUCB",
    "LinEpsilonGreedy",
    "LinGreedy",
    "LinIDS",
    "LinIMED",
    "LinMED",
    "LinTS",
    "LinTSUCB",
    "LinUCB",
    "PaperBelMan",
    "SharedBelMan",
]
