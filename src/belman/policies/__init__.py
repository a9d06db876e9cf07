"""Policies choose the next arm, behind the contract of `policy.py`; kin share a folder.

They are listed, wherever they are, in the order of these lines. A new one needs a line here.
"""

# ruff: noqa: I001
from __future__ import annotations

from belman.policies.belman.belman import BelMan as BelMan
from belman.policies.change.drift import Drift as Drift
from belman.policies.thompson.thompson import CoinThompson as CoinThompson, Thompson as Thompson
from belman.policies.best_arm.top_two_thompson import TopTwoThompson as TopTwoThompson
from belman.policies.thompson.ts_ucb import MOTS as MOTS, TSUCB as TSUCB
from belman.policies.optimism.bayes_ucb import BayesUCB as BayesUCB
from belman.policies.gittins.gittins import Gittins as Gittins
from belman.policies.gittins.normal import (
    BrezziLaiGittins as BrezziLaiGittins,
    NormalGittins as NormalGittins,
)
from belman.policies.gittins.finite import (
    FiniteGittins as FiniteGittins,
    LattimoreGittins as LattimoreGittins,
)
from belman.policies.gittins.exact import ExactGittins as ExactGittins
from belman.policies.gittins.optimistic import OptimisticGittins as OptimisticGittins
from belman.policies.thompson.ids import IDS as IDS
from belman.policies.thompson.irs import (
    IRSVZero as IRSVZero,
    IRSVEmax as IRSVEmax,
    IRSIndex as IRSIndex,
)
from belman.policies.optimism.kl_ucb import (
    KLUCB as KLUCB,
    KLUCBPlus as KLUCBPlus,
    KLUCBPlusPlus as KLUCBPlusPlus,
)
from belman.policies.optimism.imed import DMED as DMED, IMED as IMED, OSSB as OSSB
from belman.policies.thompson.maillard import KLMS as KLMS, MED as MED, ExpKLMS as ExpKLMS
from belman.policies.thompson.exp_ts import ExpTS as ExpTS, ExpTSPlus as ExpTSPlus
from belman.policies.thompson.boltzmann_gumbel import BoltzmannGumbel as BoltzmannGumbel
from belman.policies.adversarial.tsallis_inf import TsallisINF as TsallisINF
from belman.policies.adversarial.exp3 import EXP3P as EXP3P, EXP3S as EXP3S
from belman.policies.resampling.perturbed import NPTS as NPTS, PHE as PHE, Giro as Giro
from belman.policies.optimism.kl_ucb_empirical import (
    IMEDKinf as IMEDKinf,
    KLUCBEmpirical as KLUCBEmpirical,
    KLUCBSwitch as KLUCBSwitch,
)
from belman.policies.resampling.besa import BESA as BESA
from belman.policies.resampling.sub_sampling import LBSDA as LBSDA, RBSDA as RBSDA
from belman.policies.optimism.light_tailed import AdaUCB as AdaUCB, LightTailed as LightTailed
from belman.policies.optimism.ucb1 import UCB1 as UCB1, LogUCB as LogUCB, UCBTuned as UCBTuned
from belman.policies.optimism.poker import POKER as POKER, UCBDT as UCBDT
from belman.policies.optimism.moss import MOSS as MOSS, UCBoost as UCBoost
from belman.policies.wrappers.forced import Forced as Forced
from belman.policies.wrappers.forgetting import Forgetting as Forgetting
from belman.policies.wrappers.restarting import Restarting as Restarting
from belman.policies.wrappers.clipping import Clipping as Clipping
from belman.policies.greedy import (
    EpsilonGreedy as EpsilonGreedy,
    ExploreThenCommit as ExploreThenCommit,
    Greedy as Greedy,
)
from belman.policies.wrappers.phases import Phases as Phases
from belman.policies.baselines import (
    Oracle as Oracle,
    Random as Random,
    Uniform as Uniform,
    WidestBelief as WidestBelief,
)
from belman.policies.best_arm.elimination import (
    SuccessiveAcceptsRejects as SuccessiveAcceptsRejects,
    SuccessiveRejects as SuccessiveRejects,
)
from belman.policies.best_arm.halving import (
    AnytimeHalving as AnytimeHalving,
    SequentialHalving as SequentialHalving,
)
from belman.policies.best_arm.lucb import (
    KLLUCB as KLLUCB,
    LUCB as LUCB,
    LUCBPlusPlus as LUCBPlusPlus,
)
from belman.policies.best_arm.track_and_stop import TrackAndStop as TrackAndStop
from belman.policies.best_arm.eb_tc import EBTC as EBTC, T3C as T3C, EBTCEpsilon as EBTCEpsilon
from belman.policies.best_arm.ttucb import TTEI as TTEI, TTUCB as TTUCB
from belman.policies.best_arm.lil_ucb import LilUCB as LilUCB, UGapE as UGapE
from belman.policies.change.detectors import (
    CUSUMTest as CUSUMTest,
    Detector as Detector,
    GLRTest as GLRTest,
    WindowTest as WindowTest,
    DETECTORS as DETECTORS,
)
from belman.policies.ledger import Ledger as Ledger
from belman.policies.policy import Policy as Policy, POLICIES as POLICIES
from belman.policies.policy_kernels import PolicyKernels as PolicyKernels
from belman.policies.wrappers.published import (
    cusum_ucb as cusum_ucb,
    exp3_s as exp3_s,
    glr_klucb as glr_klucb,
    m_ucb as m_ucb,
    q_ths as q_ths,
    q_ucb as q_ucb,
    qbelman as qbelman,
)
from belman.registry import offered as _offered, register as register

__all__ = _offered(globals())
