"""Bayesian bandits on the belief–reward manifold: decide, turn by turn, which option to try.

>>> import belman
>>> agent = belman.Agent(["blue", "green", "red"], seed=7)
>>> arm = agent.ask()
>>> agent.tell(arm, 1)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from belman import exposure, families, manifold, measures, models, policies
from belman.agent import Agent
from belman.assignment import Weights, assign
from belman.deciders import Choice
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
    BESA,
    DMED,
    EBTC,
    EXP3P,
    IDS,
    IMED,
    KLLUCB,
    KLMS,
    KLUCB,
    LBSDA,
    LUCB,
    MED,
    MOSS,
    MOTS,
    NPTS,
    OSSB,
    PHE,
    RBSDA,
    T3C,
    TSUCB,
    TTEI,
    TTUCB,
    UCB1,
    AdaUCB,
    AnytimeHalving,
    BayesUCB,
    BelMan,
    BoltzmannGumbel,
    BrezziLaiGittins,
    CoinThompson,
    Drift,
    EBTCEpsilon,
    EpsilonGreedy,
    ExpKLMS,
    ExploreThenCommit,
    ExpTS,
    ExpTSPlus,
    FiniteGittins,
    Forced,
    Forgetting,
    Giro,
    Gittins,
    Greedy,
    IMEDKinf,
    KLUCBEmpirical,
    KLUCBPlus,
    KLUCBPlusPlus,
    KLUCBSwitch,
    LattimoreGittins,
    LightTailed,
    LilUCB,
    LogUCB,
    LUCBPlusPlus,
    NormalGittins,
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
    TsallisINF,
    UCBoost,
    UCBTuned,
    UGapE,
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
    from belman.deciders.box.box import Box
    from belman.dispatch import Breaker, Dispatcher, LearntSlots, SharedDispatcher
    from belman.dispatch.simulation import dispatched, simulate_servers
    from belman.lab import explore, simulate
    from belman.problems import characteristic_time, lai_robbins
    from belman.service.client import Client
    from belman.studies import Study, open_study

__all__ = [
    "BESA",
    "DMED",
    "EBTC",
    "EXP3P",
    "IDS",
    "IMED",
    "KLLUCB",
    "KLMS",
    "KLUCB",
    "LBSDA",
    "LUCB",
    "MED",
    "MOSS",
    "MOTS",
    "NPTS",
    "OSSB",
    "PHE",
    "RBSDA",
    "T3C",
    "TSUCB",
    "TTEI",
    "TTUCB",
    "UCB1",
    "AdaUCB",
    "Agent",
    "AnytimeHalving",
    "BayesUCB",
    "BelMan",
    "BelmanError",
    "Bernoulli",
    "BetaRewards",
    "BoltzmannGumbel",
    "Bounded",
    "BoundedExponential",
    "Box",
    "Breaker",
    "BrezziLaiGittins",
    "Bundle",
    "ChiSquared",
    "Choice",
    "Client",
    "CoinThompson",
    "Dispatcher",
    "Drift",
    "EBTCEpsilon",
    "EpsilonGreedy",
    "ExpKLMS",
    "ExpTS",
    "ExpTSPlus",
    "ExploreThenCommit",
    "Exponential",
    "Family",
    "FiniteGittins",
    "Forced",
    "Forgetting",
    "GammaKnownShape",
    "Gaussian",
    "GaussianUnknown",
    "Geometric",
    "Giro",
    "Gittins",
    "Greedy",
    "IMEDKinf",
    "KLUCBEmpirical",
    "KLUCBPlus",
    "KLUCBPlusPlus",
    "KLUCBSwitch",
    "LUCBPlusPlus",
    "LattimoreGittins",
    "LearntSlots",
    "LightTailed",
    "LilUCB",
    "LocalDecider",
    "LogNormal",
    "LogUCB",
    "LossBelow",
    "Money",
    "NormalGittins",
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
    "TsallisINF",
    "UCBTuned",
    "UCBoost",
    "UGapE",
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
    "models",
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
    "Box": "belman.deciders.box.box",
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
_LATE_ROOMS = ("lab", "plots", "problems")


def __getattr__(name: str) -> Any:
    if name in _LATE_ROOMS:
        return importlib.import_module(f"belman.{name}")
    if name not in _LATE:
        raise AttributeError(f"module 'belman' has no attribute {name!r}")
    return getattr(importlib.import_module(_LATE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
