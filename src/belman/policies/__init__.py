"""Who chooses: one algorithm a file, all behind the contract of `policy.py`."""

from __future__ import annotations

from belman.policies.bayes_ucb import BayesUCB
from belman.policies.belman import BelMan
from belman.policies.coin_thompson import CoinThompson
from belman.policies.dmed import DMED
from belman.policies.drift import Drift
from belman.policies.epsilon_greedy import EpsilonGreedy
from belman.policies.explore_then_commit import ExploreThenCommit
from belman.policies.forced import Forced
from belman.policies.forgetting import Forgetting
from belman.policies.gittins import Gittins
from belman.policies.greedy import Greedy
from belman.policies.ids import IDS
from belman.policies.imed import IMED
from belman.policies.imed_k_inf import IMEDKinf
from belman.policies.kl_ucb import KLUCB
from belman.policies.kl_ucb_empirical import KLUCBEmpirical
from belman.policies.kl_ucb_plus import KLUCBPlus
from belman.policies.kl_ucb_plus_plus import KLUCBPlusPlus
from belman.policies.log_ucb import LogUCB
from belman.policies.lucb import KLLUCB, LUCB
from belman.policies.moss import MOSS
from belman.policies.npts import NPTS
from belman.policies.oracle import Oracle
from belman.policies.phases import Phases
from belman.policies.policy import Ledger, Policy, PolicyKernels
from belman.policies.published import q_ths, q_ucb, qbelman
from belman.policies.random import Random
from belman.policies.sequential_halving import SequentialHalving
from belman.policies.successive_accepts_rejects import SuccessiveAcceptsRejects
from belman.policies.successive_rejects import SuccessiveRejects
from belman.policies.thompson import Thompson
from belman.policies.top_two_thompson import TopTwoThompson
from belman.policies.track_and_stop import TrackAndStop
from belman.policies.ts_ucb import TSUCB
from belman.policies.ucb1 import UCB1
from belman.policies.ucb_tuned import UCBTuned
from belman.policies.uniform import Uniform
from belman.policies.widest import WidestBelief

_MEMBERS: tuple[type[Policy], ...] = (
    BelMan,
    Drift,
    Thompson,
    TopTwoThompson,
    TSUCB,
    BayesUCB,
    Gittins,
    IDS,
    KLUCB,
    KLUCBPlus,
    KLUCBPlusPlus,
    IMED,
    DMED,
    NPTS,
    IMEDKinf,
    KLUCBEmpirical,
    UCB1,
    UCBTuned,
    MOSS,
    LogUCB,
    CoinThompson,
    Forced,
    Forgetting,
    Greedy,
    EpsilonGreedy,
    ExploreThenCommit,
    Phases,
    WidestBelief,
    Uniform,
    Random,
    SuccessiveRejects,
    SuccessiveAcceptsRejects,
    SequentialHalving,
    LUCB,
    KLLUCB,
    TrackAndStop,
    Oracle,
)

#: Every policy by its name.
POLICIES: dict[str, type[Policy]] = {member.name: member for member in _MEMBERS}

__all__ = [
    "DMED",
    "IDS",
    "IMED",
    "KLLUCB",
    "KLUCB",
    "LUCB",
    "MOSS",
    "NPTS",
    "POLICIES",
    "TSUCB",
    "UCB1",
    "BayesUCB",
    "BelMan",
    "CoinThompson",
    "Drift",
    "EpsilonGreedy",
    "ExploreThenCommit",
    "Forced",
    "Forgetting",
    "Gittins",
    "Greedy",
    "IMEDKinf",
    "KLUCBEmpirical",
    "KLUCBPlus",
    "KLUCBPlusPlus",
    "Ledger",
    "LogUCB",
    "Oracle",
    "Phases",
    "Policy",
    "PolicyKernels",
    "Random",
    "SequentialHalving",
    "SuccessiveAcceptsRejects",
    "SuccessiveRejects",
    "Thompson",
    "TopTwoThompson",
    "TrackAndStop",
    "UCBTuned",
    "Uniform",
    "WidestBelief",
    "q_ths",
    "q_ucb",
    "qbelman",
]
