"""Bayesian bandits on the belief–reward manifold: decide, turn by turn, which option to try.

>>> import belman
>>> agent = belman.Agent(["blue", "green", "red"], seed=7)
>>> arm = agent.ask()
>>> agent.tell(arm, 1)
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from belman import exposure, families, manifold, measures, policies
from belman.agent import Agent, Choice
from belman.assignment import Weights, assign
from belman.engine import Bundle, allocating_kernel, kernel
from belman.errors import BelmanError
from belman.exposure import two_phase
from belman.families import (
    Bernoulli,
    BetaRewards,
    Bounded,
    BoundedExponential,
    ChiSquared,
    Exponential,
    Family,
    GammaKnownShape,
    Gaussian,
    GaussianUnknown,
    Geometric,
    LogNormal,
    Money,
    OneParameter,
    Poisson,
    Positive,
)
from belman.measures import LossBelow, Separated, Sure, compare
from belman.policies import (
    DMED,
    IDS,
    IMED,
    KLLUCB,
    KLUCB,
    LUCB,
    MOSS,
    NPTS,
    TSUCB,
    UCB1,
    BayesUCB,
    BelMan,
    CoinThompson,
    Drift,
    EpsilonGreedy,
    ExploreThenCommit,
    Forced,
    Forgetting,
    Gittins,
    Greedy,
    IMEDKinf,
    KLUCBEmpirical,
    KLUCBPlus,
    KLUCBPlusPlus,
    LogUCB,
    Oracle,
    Phases,
    Policy,
    Random,
    SequentialHalving,
    SuccessiveAcceptsRejects,
    SuccessiveRejects,
    Thompson,
    TopTwoThompson,
    TrackAndStop,
    UCBTuned,
    Uniform,
    WidestBelief,
    q_ths,
    q_ucb,
    qbelman,
)
from belman.version import __version__

if TYPE_CHECKING:
    from belman import plots, problems
    from belman.assignment import LocalDecider
    from belman.bulk_assignment import assign_many
    from belman.dispatch import Breaker, Dispatcher, LearntSlots, SharedDispatcher
    from belman.dispatch.simulation import dispatched, simulate_servers
    from belman.lab import explore, simulate
    from belman.problems import characteristic_time, lai_robbins
    from belman.service.client import Client
    from belman.studies import Study, open_study

__all__ = [
    "DMED",
    "IDS",
    "IMED",
    "KLLUCB",
    "KLUCB",
    "LUCB",
    "MOSS",
    "NPTS",
    "TSUCB",
    "UCB1",
    "Agent",
    "BayesUCB",
    "BelMan",
    "BelmanError",
    "Bernoulli",
    "BetaRewards",
    "Bounded",
    "BoundedExponential",
    "Breaker",
    "Bundle",
    "ChiSquared",
    "Choice",
    "Client",
    "CoinThompson",
    "Dispatcher",
    "Drift",
    "EpsilonGreedy",
    "ExploreThenCommit",
    "Exponential",
    "Family",
    "Forced",
    "Forgetting",
    "GammaKnownShape",
    "Gaussian",
    "GaussianUnknown",
    "Geometric",
    "Gittins",
    "Greedy",
    "IMEDKinf",
    "KLUCBEmpirical",
    "KLUCBPlus",
    "KLUCBPlusPlus",
    "LearntSlots",
    "LocalDecider",
    "LogNormal",
    "LogUCB",
    "LossBelow",
    "Money",
    "OneParameter",
    "Oracle",
    "Phases",
    "Poisson",
    "Policy",
    "Positive",
    "Random",
    "Separated",
    "SequentialHalving",
    "SharedDispatcher",
    "Study",
    "SuccessiveAcceptsRejects",
    "SuccessiveRejects",
    "Sure",
    "Thompson",
    "TopTwoThompson",
    "TrackAndStop",
    "UCBTuned",
    "Uniform",
    "Weights",
    "WidestBelief",
    "__version__",
    "allocating_kernel",
    "assign",
    "assign_many",
    "characteristic_time",
    "compare",
    "dispatched",
    "explore",
    "exposure",
    "families",
    "kernel",
    "lai_robbins",
    "manifold",
    "measures",
    "open_study",
    "plots",
    "policies",
    "problems",
    "q_ths",
    "q_ucb",
    "qbelman",
    "simulate",
    "simulate_servers",
    "two_phase",
]


#: What is imported at its first use, because it takes time, or needs Matplotlib or an extra.
_LATE = {
    "Breaker": "belman.dispatch",
    "Client": "belman.service.client",
    "Dispatcher": "belman.dispatch",
    "LearntSlots": "belman.dispatch",
    "LocalDecider": "belman.assignment",
    "SharedDispatcher": "belman.dispatch",
    "Study": "belman.studies",
    "assign_many": "belman.bulk_assignment",
    "characteristic_time": "belman.problems",
    "dispatched": "belman.dispatch.simulation",
    "explore": "belman.lab",
    "lai_robbins": "belman.problems",
    "open_study": "belman.studies",
    "simulate": "belman.lab",
    "simulate_servers": "belman.dispatch.simulation",
}
_LATE_ROOMS = ("environments", "lab", "plots", "problems")
#: What was here before it moved to `belman.problems`.
_MOVED = (
    "bernoulli",
    "exponential",
    "gamma",
    "gaussian",
    "geometric",
    "poisson",
    "problem",
    "queue",
    "random_bernoulli",
    "random_exponential",
    "random_gaussian",
    "random_poisson",
    "random_problem",
)


def __getattr__(name: str) -> Any:
    if name in _MOVED:
        words = f"belman.{name} is now belman.problems.{name}"
        warnings.warn(words, DeprecationWarning, stacklevel=2)
        return getattr(importlib.import_module("belman.problems"), name)
    if name in _LATE_ROOMS:
        return importlib.import_module(f"belman.{name}")
    if name not in _LATE:
        raise AttributeError(f"module 'belman' has no attribute {name!r}")
    return getattr(importlib.import_module(_LATE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
