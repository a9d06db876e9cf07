"""Weights documents, and the pure function that assigns units by them: for every server, edge and
phone, with nothing but the standard library. It is the package `belman_client` too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .assign import assign
from .documents import Assignment, Weights, schema
from .hashing import point
from .refusals import BelmanError, WeightsError
from .signatures import SigningKey, key_id, sign, verify

if TYPE_CHECKING:
    from .local_decider import LocalDecider

__all__ = [
    "Assignment",
    "BelmanError",
    "LocalDecider",
    "SigningKey",
    "Weights",
    "WeightsError",
    "assign",
    "key_id",
    "point",
    "schema",
    "sign",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "LocalDecider":  # here, since HTTP takes longer to import than all of the rest
        from .local_decider import LocalDecider

        return LocalDecider
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
