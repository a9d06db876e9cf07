"""Bayesian bandits on the belief–reward manifold: decide, turn by turn, which option to try.

>>> import belman
>>> agent = belman.Agent(["blue", "green", "red"], seed=7)
>>> arm = agent.ask()
>>> agent.tell(arm, 1)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from belman import environments, exposure, families, manifold, measures, policies
from belman.agent import Agent, Choice
from belman.dispatch import Dispatcher
from belman.engine import Bundle, allocating_kernel, kernel
from belman.environments import (
    bernoulli,
    characteristic_time,
    exponential,
    gamma,
    gaussian,
    geometric,
    lai_robbins,
    poisson,
    problem,
    queue,
    random_bernoulli,
    random_exponential,
    random_gaussian,
    random_poisson,
    random_problem,
)
from belman.errors import BelmanError
from belman.exposure import two_phase
from belman.families import (
    Bernoulli,
    BetaRewards,
    BoundedExponential,
    ChiSquared,
    Exponential,
    Family,
    GammaKnownShape,
    Gaussian,
    GaussianUnknown,
    Geometric,
    OneParameter,
    Poisson,
)
from belman.lab import explore, simulate
from belman.measures import compare
from belman.policies import (
    DMED,
    IDS,
    IMED,
    KLLUCB,
    KLUCB,
    LUCB,
    MOSS,
    TSUCB,
    UCB1,
    BayesUCB,
    BelMan,
    CoinThompson,
    EpsilonGreedy,
    ExploreThenCommit,
    Forced,
    Gittins,
    Greedy,
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
    from belman import plots
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
    "TSUCB",
    "UCB1",
    "Agent",
    "BayesUCB",
    "BelMan",
    "BelmanError",
    "Bernoulli",
    "BetaRewards",
    "BoundedExponential",
    "Bundle",
    "ChiSquared",
    "Choice",
    "Client",
    "CoinThompson",
    "Dispatcher",
    "EpsilonGreedy",
    "ExploreThenCommit",
    "Exponential",
    "Family",
    "Forced",
    "GammaKnownShape",
    "Gaussian",
    "GaussianUnknown",
    "Geometric",
    "Gittins",
    "Greedy",
    "KLUCBPlus",
    "KLUCBPlusPlus",
    "LogUCB",
    "OneParameter",
    "Oracle",
    "Phases",
    "Poisson",
    "Policy",
    "Random",
    "SequentialHalving",
    "Study",
    "SuccessiveAcceptsRejects",
    "SuccessiveRejects",
    "Thompson",
    "TopTwoThompson",
    "TrackAndStop",
    "UCBTuned",
    "Uniform",
    "WidestBelief",
    "__version__",
    "allocating_kernel",
    "bernoulli",
    "characteristic_time",
    "compare",
    "environments",
    "explore",
    "exponential",
    "exposure",
    "families",
    "gamma",
    "gaussian",
    "geometric",
    "kernel",
    "lai_robbins",
    "manifold",
    "measures",
    "open_study",
    "plots",
    "poisson",
    "policies",
    "problem",
    "q_ths",
    "q_ucb",
    "qbelman",
    "queue",
    "random_bernoulli",
    "random_exponential",
    "random_gaussian",
    "random_poisson",
    "random_problem",
    "simulate",
    "two_phase",
]


#: What is imported at its first use, because it needs Matplotlib or an extra.
_LATE = {
    "plots": "belman.plots",
    "Client": "belman.service.client",
    "Study": "belman.studies",
    "open_study": "belman.studies",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'belman' has no attribute {name!r}")
    module = importlib.import_module(_LATE[name])
    return module if name == "plots" else getattr(module, name)
