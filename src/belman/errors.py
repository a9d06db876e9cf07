"""Everything that `belman` raises on purpose.

    BelmanError
    ├─ ArmError            an arm that this agent does not play, or plays already
    ├─ RewardError         a reward outside the support of the family
    ├─ PriorError          a prior that is not a proper belief
    ├─ FamilyError         a family that does not exist, or whose parameters make no distribution
    ├─ PolicyError         a policy that does not exist, or does not fit the family
    ├─ ExposureError       an exposure whose parameters make no schedule
    ├─ SettingError        any other option outside what is allowed
    ├─ WeightsError        weights that cannot be, or a document of them that cannot be trusted
    ├─ ServerError         a server, queue or job that this dispatcher does not have
    ├─ BusyError           a job for which no server is free
    ├─ StateError          a saved state that cannot be read or written
    │  └─ RestoredError    a study whose log is not the one that this process knows
    ├─ StudyError          a study that cannot do this
    │  ├─ UnknownStudyError   … because there is none of that name
    │  ├─ PausedError         … because it is paused
    │  └─ BudgetError         … because its budget is spent
    ├─ TicketError         a ticket that cannot be told this: told otherwise already, or expired
    │  └─ UnknownTicketError  … because the study never gave it
    ├─ ReplayError         a log that allows no honest estimate
    ├─ StorageError        a storage that cannot be opened, reached or written
    ├─ ServiceError        a service that refuses, or cannot be reached
    └─ MissingExtraError   an optional dependency that is not installed

Every class is also a `ValueError` (an `OSError` for storage and service, an `ImportError` for
extras), so that code which knows nothing of `belman` can catch it. A message says what was wrong,
what was given, what is allowed and, for names, what is near.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from belman.assignment import refusals
from belman.assignment.refusals import ArmError as ArmError
from belman.assignment.refusals import BelmanError as BelmanError
from belman.assignment.refusals import BudgetError as BudgetError
from belman.assignment.refusals import BusyError as BusyError
from belman.assignment.refusals import ExposureError as ExposureError
from belman.assignment.refusals import FamilyError as FamilyError
from belman.assignment.refusals import MissingExtraError as MissingExtraError
from belman.assignment.refusals import PausedError as PausedError
from belman.assignment.refusals import PolicyError as PolicyError
from belman.assignment.refusals import PriorError as PriorError
from belman.assignment.refusals import ReplayError as ReplayError
from belman.assignment.refusals import RestoredError as RestoredError
from belman.assignment.refusals import RewardError as RewardError
from belman.assignment.refusals import ServerError as ServerError
from belman.assignment.refusals import ServiceError as ServiceError
from belman.assignment.refusals import SettingError as SettingError
from belman.assignment.refusals import StateError as StateError
from belman.assignment.refusals import StorageError as StorageError
from belman.assignment.refusals import StudyError as StudyError
from belman.assignment.refusals import TicketError as TicketError
from belman.assignment.refusals import UnknownStudyError as UnknownStudyError
from belman.assignment.refusals import UnknownTicketError as UnknownTicketError
from belman.assignment.refusals import WeightsError as WeightsError
from belman.assignment.refusals import needing as needing
from belman.assignment.refusals import problem_type as problem_type
from belman.assignment.refusals import shown as shown

for _kind in (*refusals.SENT.values(), MissingExtraError):
    _kind.__module__ = __name__  # where users find them, as tracebacks say


def listing(names: Iterable[object], most: int = 12) -> str:
    """Names as they stand in a message, the first few of a long list.

    >>> listing(["blue", "green"])
    "'blue', 'green'"
    """
    known = list(names)
    text = ", ".join(map(shown, known[:most]))
    return text if len(known) <= most else f"{text}, … ({len(known)} in all)"


def nearest(name: object, names: Iterable[object]) -> str:
    """A hint for a misspelt name, ready to end a message; empty where nothing is near.

    >>> nearest("gren", ["blue", "green", "red"])
    " (did you mean 'green'?)"
    """
    spelt = {str(known): known for known in names}
    given = name if isinstance(name, str) else shown(name)
    close = difflib.get_close_matches(given, list(spelt), n=1)
    return f" (did you mean {spelt[close[0]]!r}?)" if close else ""


def unknown(what: str, name: object, names: Iterable[object], has: str = "there are") -> str:
    """The message about a name that is none of those there are.

    >>> unknown("colour", "gren", ["green", "red"])
    "unknown colour 'gren': there are 'green', 'red' (did you mean 'green'?)"
    """
    known = list(names)
    return f"unknown {what} {shown(name)}: {has} {listing(known)}{nearest(name, known)}"
