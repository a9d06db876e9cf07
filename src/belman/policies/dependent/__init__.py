"""Policies for arms that share a belief, one algorithm a file."""

from __future__ import annotations

from belman.policies.dependent.glm_ucb import GLMUCB
from belman.policies.dependent.laplace_ts import LaplaceTS
from belman.policies.dependent.lin_bayes_ucb import LinBayesUCB
from belman.policies.dependent.lin_epsilon_greedy import LinEpsilonGreedy
from belman.policies.dependent.lin_greedy import LinGreedy
from belman.policies.dependent.lin_ids import LinIDS
from belman.policies.dependent.lin_imed import LinIMED
from belman.policies.dependent.lin_med import LinMED
from belman.policies.dependent.lin_ts import LinTS
from belman.policies.dependent.lin_ts_ucb import LinTSUCB
from belman.policies.dependent.lin_ucb import LinUCB
from belman.policies.dependent.oful import OFUL
from belman.policies.dependent.paper_belman import PaperBelMan
from belman.policies.dependent.policy import DependentKernels, DependentPolicy
from belman.policies.dependent.shared_belman import SharedBelMan

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
