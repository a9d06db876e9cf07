"""The HTTP client beside the package: families, policies and exposures go as the objects they are,
and tables come as tables. All else is that of the slim client, `belman_client.Client`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from belman import spec
from belman.assignment import RemoteTicket as RemoteTicket
from belman.assignment.client import AnyClient
from belman.assignment.remote_study import AnyRemoteStudy
from belman.exposure import Exposure
from belman.families import Family
from belman.files import write_atomically
from belman.measures.stop_rules import StopRule
from belman.models import Model
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy
from belman.table import Table

_PARTS = (Family, Policy, DependentPolicy, Model, Exposure, StopRule)


class Client(AnyClient["RemoteStudy"]):
    __doc__ = AnyClient.__doc__

    def _remote(self, name: str) -> RemoteStudy:
        return RemoteStudy(self, name)

    @staticmethod
    def described(value: Any) -> Any:
        """A family, policy, exposure or stopping rule as its description; else as JSON has it."""
        if isinstance(value, _PARTS):
            return spec.describe(value)
        return AnyClient.described(value)


class RemoteStudy(AnyRemoteStudy[Table]):
    """A study of a service."""

    _table = Table

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the log to a file whose name ends in .csv or .parquet."""
        content = self.exported(Path(path).suffix.removeprefix("."))
        write_atomically(path, content, private=True)
