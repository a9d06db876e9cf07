"""Weights documents, and the pure function that assigns units by them: for every server, edge and
phone, with nothing but the standard library. It is the package `belman_client` too.
"""

from .assign import assign
from .documents import Assignment, Weights, schema
from .hashing import point
from .local_decider import LocalDecider
from .refusals import BelmanError, WeightsError
from .signatures import SigningKey, key_id, sign, verify

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
