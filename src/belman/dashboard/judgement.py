"""The verdict as the page shows it: the sentence first, all intervals when there is time."""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import Any

import scipy.optimize
import scipy.special  # noqa: F401

from belman.studies.state import State
from belman.studies.views.study_report import report_of

MAX_LISTED = 50
#: Arms with lifts and intervals at any look in the first verdict, and in those that follow.
FIRST, MOST = 2, MAX_LISTED
#: The most arms of a study that is shown with a verdict from the first view on; larger ones get it
#: soon after.
EASY = 50
#: Of the time between two verdicts, so much may go into the first of them; but whoever watches does
#: not wait for the next one longer than this, if the first had to be compiled.
SHARE_OF_TIME = 0.05
LEAST_SECONDS, MOST_SECONDS = 1.0, 15.0


class Judgement:
    """The newest report on a study, worked out seldom enough that nobody who asks notices."""

    def __init__(self, name: str) -> None:
        self.report: dict[str, Any] | None = None
        self.version: Hashable = None  # of the study, in which the report is complete
        self._name, self._due = name, 0.0

    def begin(self, state: State, now: float) -> None:
        """The sentence, where there is none yet and it is found at once."""
        if self.report is None and len(state.arms) <= EASY:
            self.report = self._worked_out(state, now, FIRST)

    def complete(self, state: State, now: float, version: Hashable) -> bool:
        """The whole report, unless it is known in this version or is not due yet, and a first one
        where there is none: whether anything was worked out.
        """
        if version == self.version or time.monotonic() < self._due:
            return False
        if self.report is None:
            self.report = self._worked_out(state, now, FIRST)
            return True
        started = time.thread_time()
        self.report, self.version = self._worked_out(state, now, MOST), version
        took = time.thread_time() - started
        rest = min(max(took / SHARE_OF_TIME, LEAST_SECONDS), MOST_SECONDS)
        self._due = time.monotonic() + rest
        return True

    def _worked_out(self, state: State, now: float, most: int) -> dict[str, Any]:
        result = report_of(state, self._name, now, most=most).to_dict()
        likely = sorted(result["arms"], key=lambda arm: -arm["chance_best"])
        control = [arm for arm in likely[MAX_LISTED:] if arm["arm"] == result["control"]]
        listed = likely[:MAX_LISTED] + control
        short = {name: result[name][:MAX_LISTED] for name in ("retired", "metrics")}
        return {**result, **short, "arms": listed}
