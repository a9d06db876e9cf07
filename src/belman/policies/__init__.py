"""Policies choose the next arm, behind the contract of `policy.py`; kin share a folder."""

from __future__ import annotations

from belman.policies.adversarial.exp3 import EXP3P, EXP3S
from belman.policies.adversarial.tsallis_inf import TsallisINF
from belman.policies.baselines import Oracle, Random, Uniform, WidestBelief
from belman.policies.belman.belman import BelMan
from belman.policies.best_arm.eb_tc import EBTC, T3C, EBTCEpsilon
from belman.policies.best_arm.elimination import SuccessiveAcceptsRejects, SuccessiveRejects
from belman.policies.best_arm.halving import AnytimeHalving, SequentialHalving
from belman.policies.best_arm.lil_ucb import LilUCB, UGapE
from belman.policies.best_arm.lucb import KLLUCB, LUCB, LUCBPlusPlus
from belman.policies.best_arm.top_two_thompson import TopTwoThompson
from belman.policies.best_arm.track_and_stop import TrackAndStop
from belman.policies.best_arm.ttucb import TTEI, TTUCB
from belman.policies.change.detectors import CUSUMTest, Detector, GLRTest, WindowTest
from belman.policies.change.drift import Drift
from belman.policies.gittins.finite import FiniteGittins, LattimoreGittins
from belman.policies.gittins.gittins import Gittins
from belman.policies.gittins.normal import BrezziLaiGittins, NormalGittins
from belman.policies.greedy import EpsilonGreedy, ExploreThenCommit, Greedy
from belman.policies.optimism.bayes_ucb import BayesUCB
from belman.policies.optimism.imed import DMED, IMED, OSSB
from belman.policies.optimism.kl_ucb import KLUCB, KLUCBPlus, KLUCBPlusPlus
from belman.policies.optimism.kl_ucb_empirical import IMEDKinf, KLUCBEmpirical, KLUCBSwitch
from belman.policies.optimism.light_tailed import AdaUCB, LightTailed
from belman.policies.optimism.moss import MOSS, UCBoost
from belman.policies.optimism.ucb1 import UCB1, LogUCB, UCBTuned
from belman.policies.policy import Ledger, Policy, PolicyKernels
from belman.policies.resampling.besa import BESA
from belman.policies.resampling.perturbed import NPTS, PHE, Giro
from belman.policies.resampling.sub_sampling import LBSDA, RBSDA
from belman.policies.thompson.boltzmann_gumbel import BoltzmannGumbel
from belman.policies.thompson.exp_ts import ExpTS, ExpTSPlus
from belman.policies.thompson.ids import IDS
from belman.policies.thompson.maillard import KLMS, MED, ExpKLMS
from belman.policies.thompson.thompson import CoinThompson, Thompson
from belman.policies.thompson.ts_ucb import MOTS, TSUCB
from belman.policies.wrappers.clipping import Clipping
from belman.policies.wrappers.forced import Forced
from belman.policies.wrappers.forgetting import Forgetting
from belman.policies.wrappers.phases import Phases
from belman.policies.wrappers.published import (
    cusum_ucb,
    exp3_s,
    glr_klucb,
    m_ucb,
    q_ths,
    q_ucb,
    qbelman,
)
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
