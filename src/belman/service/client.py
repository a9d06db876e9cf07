"""The HTTP client beside the package: families, policies and exposures go as the objects they are,
and tables come as tables. All else is that of the slim client, `belman_client.Client`.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from belman import assignment, spec
from belman.assignment import RemoteTicket as RemoteTicket
from belman.assignment import remote_study
from belman.assignment.remote_study import Given, in_context
from belman.exposure import Exposure
from belman.families import Family
from belman.files import write_atomically
from belman.measures.stop_rules import StopRule
from belman.models import Model
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.table import Table

_PARTS = (Family, Policy, DependentPolicy, Model, Exposure, StopRule)


class Client(assignment.Client):
    """A service at `url`, opened with a `key` where it asks for one.

    Requests are sent again after failures that pass (`retries` times, waiting longer each time).
    That is safe: every change carries an idempotency key, so that the service gives the same answer
    again and does nothing twice. Objects may be shared between threads, and by processes that are
    forked.
    """

    def study(self, name: str) -> RemoteStudy:
        """The study of that name; raises UnknownStudyError where there is none."""
        return RemoteStudy(self, super().study(name).name)

    def create(
        self, name: str, arms: Iterable[Hashable] | None = None, **settings: Any
    ) -> RemoteStudy:
        """The study of that name, created with these settings of `belman.open_study` if new."""
        return RemoteStudy(self, super().create(name, arms, **settings).name)

    @staticmethod
    def described(value: Any) -> Any:
        """A family, policy, exposure or stopping rule as its description; else as JSON has it."""
        if isinstance(value, _PARTS):
            return spec.describe(value)
        return assignment.Client.described(value)


class RemoteStudy(remote_study.RemoteStudy):
    """A study of a service."""

    def beliefs(
        self,
        level: float = 0.95,
        *,
        context: Given | None = None,
        candidates: Iterable[Given] | None = None,
    ) -> Table:
        """Per arm: rewards told, expected reward, credible interval, P(best); in a context, and of
        candidates, where the study has such.
        """
        return Table(*self._columns(f"beliefs?{in_context(context, candidates, level=level)}"))

    def metrics(self, level: float = 0.95) -> Table:
        """Per arm and metric: how many tickets counted with it, mean, Student's interval for it."""
        return Table(*self._columns(f"metrics?{urlencode({'level': level})}"))

    def explain(
        self, *, context: Given | None = None, candidates: Iterable[Given] | None = None
    ) -> Table:
        """Why this arm now: what the policy sees of each arm, the largest index first."""
        return Table(*self._columns(f"explain?{in_context(context, candidates)}"))

    def changes(self) -> Table:
        """The changes of the world that the study noticed, where it follows them (`drift`)."""
        return Table(*self._columns("changes"))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the log to a file whose name ends in .csv or .parquet."""
        write_atomically(path, self.exported(Path(path).suffix.removeprefix(".")))
