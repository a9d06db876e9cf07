"""Policies choose the next arm: one algorithm a file, behind the contract of `policy.py`."""

from __future__ import annotations

from belman.policies.ada_ucb import AdaUCB
from belman.policies.anytime_halving import AnytimeHalving
from belman.policies.bayes_ucb import BayesUCB
from belman.policies.belman import BelMan
from belman.policies.besa import BESA
from belman.policies.boltzmann_gumbel import BoltzmannGumbel
from belman.policies.brezzi_lai_gittins import BrezziLaiGittins
from belman.policies.coin_thompson import CoinThompson
from belman.policies.cusum_test import CUSUMTest
from belman.policies.detector import Detector
from belman.policies.dmed import DMED
from belman.policies.drift import Drift
from belman.policies.eb_tc import EBTC
from belman.policies.eb_tc_epsilon import EBTCEpsilon
from belman.policies.epsilon_greedy import EpsilonGreedy
from belman.policies.exp3_p import EXP3P
from belman.policies.exp3_s import EXP3S
from belman.policies.exp_kl_ms import ExpKLMS
from belman.policies.exp_ts import ExpTS
from belman.policies.exp_ts_plus import ExpTSPlus
from belman.policies.explore_then_commit import ExploreThenCommit
from belman.policies.finite_gittins import FiniteGittins
from belman.policies.following import cusum_ucb, exp3_s, glr_klucb, m_ucb
from belman.policies.giro import Giro
from belman.policies.gittins import Gittins
from belman.policies.glr_test import GLRTest
from belman.policies.greedy import Greedy
from belman.policies.ids import IDS
from belman.policies.imed import IMED
from belman.policies.imed_k_inf import IMEDKinf
from belman.policies.kl_ms import KLMS
from belman.policies.kl_ucb import KLUCB
from belman.policies.kl_ucb_empirical import KLUCBEmpirical
from belman.policies.kl_ucb_plus import KLUCBPlus
from belman.policies.kl_ucb_plus_plus import KLUCBPlusPlus
from belman.policies.kl_ucb_switch import KLUCBSwitch
from belman.policies.lattimore_gittins import LattimoreGittins
from belman.policies.lb_sda import LBSDA
from belman.policies.light_tailed import LightTailed
from belman.policies.lil_ucb import LilUCB
from belman.policies.log_ucb import LogUCB
from belman.policies.lucb import KLLUCB, LUCB
from belman.policies.lucb_plus_plus import LUCBPlusPlus
from belman.policies.med import MED
from belman.policies.moss import MOSS
from belman.policies.mots import MOTS
from belman.policies.normal_gittins import NormalGittins
from belman.policies.npts import NPTS
from belman.policies.oracle import Oracle
from belman.policies.ossb import OSSB
from belman.policies.phe import PHE
from belman.policies.policy import Ledger, Policy, PolicyKernels
from belman.policies.published import q_ths, q_ucb, qbelman
from belman.policies.random import Random
from belman.policies.rb_sda import RBSDA
from belman.policies.sequential_halving import SequentialHalving
from belman.policies.successive_accepts_rejects import SuccessiveAcceptsRejects
from belman.policies.successive_rejects import SuccessiveRejects
from belman.policies.t3c import T3C
from belman.policies.thompson import Thompson
from belman.policies.top_two_thompson import TopTwoThompson
from belman.policies.track_and_stop import TrackAndStop
from belman.policies.ts_ucb import TSUCB
from belman.policies.tsallis_inf import TsallisINF
from belman.policies.ttei import TTEI
from belman.policies.ttucb import TTUCB
from belman.policies.ucb1 import UCB1
from belman.policies.ucb_tuned import UCBTuned
from belman.policies.ucboost import UCBoost
from belman.policies.ugape import UGapE
from belman.policies.uniform import Uniform
from belman.policies.widest import WidestBelief
from belman.policies.window_test import WindowTest
from belman.policies.wrappers.clipping import Clipping
from belman.policies.wrappers.forced import Forced
from belman.policies.wrappers.forgetting import Forgetting
from belman.policies.wrappers.phases import Phases
from belman.policies.wrappers.restarting import Restarting

_MEMBERS: tuple[type[Policy], ...] = (
    BelMan,
    Drift,
    Thompson,
    TopTwoThompson,
    TSUCB,
    BayesUCB,
    Gittins,
    NormalGittins,
    FiniteGittins,
    BrezziLaiGittins,
    LattimoreGittins,
    IDS,
    KLUCB,
    KLUCBPlus,
    KLUCBPlusPlus,
    IMED,
    DMED,
    MED,
    KLMS,
    ExpKLMS,
    ExpTS,
    ExpTSPlus,
    BoltzmannGumbel,
    TsallisINF,
    EXP3P,
    NPTS,
    IMEDKinf,
    KLUCBEmpirical,
    KLUCBSwitch,
    BESA,
    RBSDA,
    LBSDA,
    PHE,
    Giro,
    LightTailed,
    UCB1,
    UCBTuned,
    MOSS,
    AdaUCB,
    MOTS,
    UCBoost,
    OSSB,
    LogUCB,
    CoinThompson,
    Forced,
    Forgetting,
    Restarting,
    Clipping,
    EXP3S,
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
    EBTC,
    EBTCEpsilon,
    TTUCB,
    T3C,
    TTEI,
    UGapE,
    LilUCB,
    LUCBPlusPlus,
    AnytimeHalving,
    Oracle,
)

#: Every policy by its name.
POLICIES: dict[str, type[Policy]] = {member.name: member for member in _MEMBERS}

#: Every detector by its name.
DETECTORS: dict[str, type[Detector]] = {
    member.name: member for member in (GLRTest, CUSUMTest, WindowTest)
}

__all__ = [
    "BESA",
    "DETECTORS",
    "DMED",
    "EBTC",
    "EXP3P",
    "EXP3S",
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
    "POLICIES",
    "RBSDA",
    "T3C",
    "TSUCB",
    "TTEI",
    "TTUCB",
    "UCB1",
    "AdaUCB",
    "AnytimeHalving",
    "BayesUCB",
    "BelMan",
    "BoltzmannGumbel",
    "BrezziLaiGittins",
    "CUSUMTest",
    "Clipping",
    "CoinThompson",
    "Detector",
    "Drift",
    "EBTCEpsilon",
    "EpsilonGreedy",
    "ExpKLMS",
    "ExpTS",
    "ExpTSPlus",
    "ExploreThenCommit",
    "FiniteGittins",
    "Forced",
    "Forgetting",
    "GLRTest",
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
    "Ledger",
    "LightTailed",
    "LilUCB",
    "LogUCB",
    "NormalGittins",
    "Oracle",
    "Phases",
    "Policy",
    "PolicyKernels",
    "Random",
    "Restarting",
    "SequentialHalving",
    "SuccessiveAcceptsRejects",
    "SuccessiveRejects",
    "Thompson",
    "TopTwoThompson",
    "TrackAndStop",
    "TsallisINF",
    "UCBTuned",
    "UCBoost",
    "UGapE",
    "Uniform",
    "WidestBelief",
    "WindowTest",
    "cusum_ucb",
    "exp3_s",
    "glr_klucb",
    "m_ucb",
    "q_ths",
    "q_ucb",
    "qbelman",
]
