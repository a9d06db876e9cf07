"""What it means: arrays in, arrays out."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from belman.measures import bet_intervals
from belman.measures.best import best_probabilities, expected_losses
from belman.measures.bets import ArmBets
from belman.measures.lift import Interval, Lift, Units, lift
from belman.measures.martingales import Betting, Martingale, mixture
from belman.measures.queueing import queueing, unstable
from belman.measures.report import ArmReport, Known, Report, report
from belman.measures.sequences import (
    difference_sequence,
    log_separation,
    mean_sequence,
    policy_value_sequence,
    ratio_sequence,
    weighted_sequence,
)
from belman.measures.soundness import Drift, Finding, SampleRatio, told_shares
from belman.measures.stop_rules import LossBelow, Separated, StopRule, Sure, Verdict
from belman.measures.summary import (
    chance_of_error,
    compare,
    condense,
    curves_csv,
    difference,
    half_width,
    summary,
)

if TYPE_CHECKING:
    from belman.measures.planning import Plan, plan

__all__ = [
    "ArmBets",
    "ArmReport",
    "Betting",
    "Drift",
    "Finding",
    "Interval",
    "Known",
    "Lift",
    "LossBelow",
    "Martingale",
    "Plan",
    "Report",
    "SampleRatio",
    "Separated",
    "StopRule",
    "Sure",
    "Units",
    "Verdict",
    "best_probabilities",
    "bet_intervals",
    "chance_of_error",
    "compare",
    "condense",
    "curves_csv",
    "difference",
    "difference_sequence",
    "expected_losses",
    "half_width",
    "lift",
    "log_separation",
    "mean_sequence",
    "mixture",
    "plan",
    "policy_value_sequence",
    "queueing",
    "ratio_sequence",
    "report",
    "summary",
    "told_shares",
    "unstable",
    "weighted_sequence",
]


def __getattr__(name: str) -> Any:
    if name in ("Plan", "plan"):  # they play in the lab, which takes time to import
        return getattr(importlib.import_module("belman.measures.planning"), name)
    raise AttributeError(f"module 'belman.measures' has no attribute {name!r}")
