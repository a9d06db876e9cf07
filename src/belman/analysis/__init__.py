"""From the tables that people have to a verdict, and to what another policy would have earned."""

from __future__ import annotations

from belman.analysis.analysis import Analysis
from belman.analysis.evaluation import Evaluation, evaluate
from belman.analysis.making import analyse
from belman.analysis.racing import Race, Raced, race
from belman.analysis.recomputing import TimeMachine, time_machine
from belman.analysis.replaying import WhatIf, what_if
from belman.analysis.weights_history import read_weights

__all__ = [
    "Analysis",
    "Evaluation",
    "Race",
    "Raced",
    "TimeMachine",
    "WhatIf",
    "analyse",
    "evaluate",
    "race",
    "read_weights",
    "time_machine",
    "what_if",
]
