"""Policies for arms that share a belief, listed in the order of these lines."""

# ruff: noqa: I001
from __future__ import annotations

from belman.policies.dependent.belman import (
    PaperBelMan as PaperBelMan,
    SharedBelMan as SharedBelMan,
)
from belman.policies.dependent.thompson import LaplaceTS as LaplaceTS, LinTS as LinTS
from belman.policies.dependent.thompson import LinTSUCB as LinTSUCB
from belman.policies.dependent.optimism import GLMUCB as GLMUCB, OFUL as OFUL
from belman.policies.dependent.optimism import LinBayesUCB as LinBayesUCB, LinUCB as LinUCB
from belman.policies.dependent.information import LinIDS as LinIDS, LinIMED as LinIMED
from belman.policies.dependent.information import LinMED as LinMED
from belman.policies.dependent.greedy import LinEpsilonGreedy as LinEpsilonGreedy
from belman.policies.dependent.greedy import LinGreedy as LinGreedy
from belman.policies.dependent.policy import DEPENDENT_POLICIES as DEPENDENT_POLICIES
from belman.policies.dependent.policy import DependentKernels as DependentKernels
from belman.policies.dependent.policy import DependentPolicy as DependentPolicy
from belman.registry import offered as _offered

__all__ = _offered(globals())
