"""Weights documents, the pure function that assigns units by them, and the client of a service: for
every server, edge and phone, with nothing but the standard library. It is the package
`belman_client` too.
"""

from .assign import assign, point
from .assigners import Elsewhere, Eppo, GrowthBook
from .client import Client
from .documents import Assignment, Weights, schema
from .local_decider import LocalDecider
from .messages import RemoteTicket
from .prefetched import Prefetched
from .refusals import BelmanError, WeightsError
from .remote_study import RemoteStudy
from .signatures import SigningKey, key_id, sign, verify

__version__ = "0.1.0"
__all__ = [
    "Assignment",
    "BelmanError",
    "Client",
    "Elsewhere",
    "Eppo",
    "GrowthBook",
    "LocalDecider",
    "Prefetched",
    "RemoteStudy",
    "RemoteTicket",
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
