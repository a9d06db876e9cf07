"""Everything that `belman` raises on purpose.

    BelmanError
    ├─ ArmError            an arm that this agent does not play, or plays already
    ├─ RewardError         a reward outside the support of the family
    ├─ PriorError          a prior that is not a proper belief
    ├─ FamilyError         a family that does not exist, or whose parameters make no law
    ├─ PolicyError         a policy that does not exist, or does not fit the family
    ├─ ExposureError       an exposure whose parameters make no schedule
    ├─ SettingError        any other option outside what is allowed
    ├─ WeightsError        weights that cannot be, or a document of them that cannot be trusted
    ├─ ServerError         a server, queue or job that this dispatcher does not have
    ├─ BusyError           a job for which no server is free
    ├─ StateError          a saved state that cannot be read or written
    ├─ StudyError          a study that cannot do this
    │  ├─ UnknownStudyError   … because there is none of that name
    │  └─ PausedError         … because it is paused
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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from belman.assignment.refusals import BelmanError as BelmanError
from belman.assignment.refusals import WeightsError as WeightsError


class ArmError(BelmanError, ValueError):
    """An arm that this agent does not play, or plays already."""


class RewardError(BelmanError, ValueError):
    """A reward outside the support of the family."""


class PriorError(BelmanError, ValueError):
    """A prior that is not a proper belief."""


class FamilyError(BelmanError, ValueError):
    """A family that does not exist, or whose parameters make no law."""


class PolicyError(BelmanError, ValueError):
    """A policy that does not exist, or does not fit the family."""


class ExposureError(BelmanError, ValueError):
    """An exposure whose parameters make no schedule."""


class SettingError(BelmanError, ValueError):
    """An option outside what is allowed."""


class ServerError(BelmanError, ValueError):
    """A server, queue or job that this dispatcher does not have."""


class BusyError(BelmanError, ValueError):
    """A job for which no server is free."""


class StateError(BelmanError, ValueError):
    """A saved state that cannot be read or written."""


class StudyError(BelmanError, ValueError):
    """A study that cannot do what was asked of it."""


class UnknownStudyError(StudyError):
    """A name under which the storage keeps no study."""


class PausedError(StudyError):
    """A study that is paused and decides nothing."""


class TicketError(BelmanError, ValueError):
    """A ticket that was told another reward already, or has expired."""


class UnknownTicketError(TicketError):
    """A ticket that the study never gave."""


class ReplayError(BelmanError, ValueError):
    """A log that allows no honest estimate of what another policy would have earned."""


class StorageError(BelmanError, OSError):
    """A storage that cannot be opened, reached or written."""


class ServiceError(BelmanError, OSError):
    """A service that refuses a request, or cannot be reached."""


class MissingExtraError(BelmanError, ImportError):
    """An optional dependency that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}': pip install 'belman[{extra}]'")


@contextmanager
def needing(what: str, extra: str, *packages: str) -> Iterator[None]:
    """Import packages of an extra: one that is not there is a missing extra.

    An import that fails inside of them is an error of its own, and stays what it is.

    >>> with needing("a table", "tables", "no_such_package"):
    ...     import no_such_package
    Traceback (most recent call last):
    belman.errors.MissingExtraError: a table needs the extra 'tables': pip install 'belman[tables]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in packages:
            raise
        raise MissingExtraError(what, extra) from None


def listing(names: Iterable[object], most: int = 12) -> str:
    """Names as they stand in a message, the first few of a long list.

    >>> listing(["blue", "green"])
    "'blue', 'green'"
    """
    shown = list(names)
    text = ", ".join(repr(name) for name in shown[:most])
    return text if len(shown) <= most else f"{text}, … ({len(shown)} in all)"


def nearest(name: object, names: Iterable[object]) -> str:
    """A hint for a misspelt name, ready to end a message; empty where nothing is near.

    >>> nearest("gren", ["blue", "green", "red"])
    " (did you mean 'green'?)"
    """
    spelt = {str(known): known for known in names}
    close = difflib.get_close_matches(str(name), list(spelt), n=1)
    return f" (did you mean {spelt[close[0]]!r}?)" if close else ""


def unknown(what: str, name: object, names: Iterable[object], has: str = "there are") -> str:
    """The message about a name that is none of those there are.

    >>> unknown("colour", "gren", ["green", "red"])
    "unknown colour 'gren': there are 'green', 'red' (did you mean 'green'?)"
    """
    known = list(names)
    return f"unknown {what} {name!r}: {has} {listing(known)}{nearest(name, known)}"


def problem_type(error: type[BelmanError]) -> str:
    """The name of a kind of error over HTTP: the `type` of a problem (RFC 9457).

    >>> problem_type(UnknownTicketError)
    'urn:belman:unknown-ticket'
    """
    name = error.__name__.removesuffix("Error")
    words = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)
    return f"urn:belman:{words.removeprefix('-')}"
