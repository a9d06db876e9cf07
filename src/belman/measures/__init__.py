"""What it means: arrays in, arrays out."""

# ruff: noqa: I001
from __future__ import annotations

import importlib as _importlib
import typing as _typing

from belman.measures import bet_intervals as bet_intervals
from belman.measures.best import (
    best_probabilities as best_probabilities,
    expected_losses as expected_losses,
)
from belman.measures.bets import ArmBets as ArmBets
from belman.measures.lift import Interval as Interval, Lift as Lift, Units as Units, lift as lift
from belman.measures.martingales import Martingale as Martingale, mixture as mixture
from belman.measures.queueing import queueing as queueing, unstable as unstable
from belman.measures.report import (
    ArmReport as ArmReport,
    Known as Known,
    Report as Report,
    report as report,
)
from belman.measures.sequences import (
    difference_sequence as difference_sequence,
    log_separation as log_separation,
    mean_sequence as mean_sequence,
    policy_value_sequence as policy_value_sequence,
    ratio_sequence as ratio_sequence,
)
from belman.measures.soundness import (
    Drift as Drift,
    Finding as Finding,
    SampleRatio as SampleRatio,
    told_shares as told_shares,
)
from belman.measures.stop_rules import (
    LossBelow as LossBelow,
    Separated as Separated,
    StopRule as StopRule,
    Sure as Sure,
    Verdict as Verdict,
)
from belman.measures.summary import (
    chance_of_error as chance_of_error,
    compare as compare,
    condense as condense,
    curves_csv as curves_csv,
    difference as difference,
    half_width as half_width,
    summary as summary,
)

from belman.registry import offered as _offered

if _typing.TYPE_CHECKING:
    from belman.measures.limit import Attainable, attainable
    from belman.measures.planning import Plan, plan
    from belman.measures.trials import TrialReport, trial

#: They play in the lab, which takes time to import, or need its problems.
_LATER = {"Plan": "planning", "plan": "planning"}
_LATER |= {"Attainable": "limit", "attainable": "limit", "TrialReport": "trials", "trial": "trials"}
__all__ = [*_offered(globals()), "Attainable", "Plan", "TrialReport", "attainable"]
__all__ += ["bet_intervals", "plan", "trial"]


def __getattr__(name: str) -> _typing.Any:
    if name in _LATER:
        return getattr(_importlib.import_module(f"belman.measures.{_LATER[name]}"), name)
    raise AttributeError(f"module 'belman.measures' has no attribute {name!r}")
