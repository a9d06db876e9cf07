"""Everything that a study or a service refuses with: the errors that the client knows too.

`belman.errors` shows them as a tree. Every class is also a `ValueError` (an `OSError` for storage
and service), so that code which knows nothing of them can catch it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_LONGEST = 80  # characters of a value in a message

#: What may be the matter where answers are not those of a service.
STRANGER = "is something else at the address of the service?"


class BelmanError(Exception):
    """The root of every error that `belman` raises on purpose."""


class WeightsError(BelmanError, ValueError):
    """Weights that cannot be, or a document of them that cannot be trusted."""


class ArmError(BelmanError, ValueError):
    """An arm that this agent does not play, or plays already."""


class RewardError(BelmanError, ValueError):
    """A reward outside the support of the family."""


class PriorError(BelmanError, ValueError):
    """A prior that is not a proper belief."""


class FamilyError(BelmanError, ValueError):
    """A family that does not exist, or whose parameters make no distribution."""


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


class RestoredError(StateError):
    """A study whose log is not the one that this process knows: it went back, or is another one."""


class StudyError(BelmanError, ValueError):
    """A study that cannot do what was asked of it."""


class UnknownStudyError(StudyError):
    """A name under which the storage keeps no study."""


class PausedError(StudyError):
    """A study that is paused and decides nothing."""


class BudgetError(StudyError):
    """A study whose budget has no room for another ask before its period ends."""


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


def problem_type(error: type[BelmanError]) -> str:
    """The name of a kind of error over HTTP: the `type` of a problem (RFC 9457).

    >>> problem_type(UnknownTicketError)
    'urn:belman:unknown-ticket'
    """
    name = error.__name__.removesuffix("Error")
    words = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)
    return f"urn:belman:{words.removeprefix('-')}"


#: Every error that a service may send, by the type of its problem.
SENT = {
    problem_type(kind): kind
    for kind in tuple(vars().values())
    if isinstance(kind, type) and issubclass(kind, BelmanError)
}


class MissingExtraError(BelmanError, ImportError):
    """An optional dependency that is not installed; services never send this error."""

    def __init__(self, what: str, extra: str, *others: str) -> None:
        packages = ", or ".join(f"'{package}[{extra}]'" for package in ("belman", *others))
        super().__init__(f"{what} needs the extra '{extra}': pip install {packages}")


def shown(value: object) -> str:
    """Return a value as it stands in a message, the beginning of a long one.

    >>> shown("blue"), shown(10**5_000)
    ("'blue'", 'a number of more than 4300 digits')
    """
    try:
        text = repr(value)
    except ValueError:  # of a number, or of one inside
        text = f"a number of more than {sys.get_int_max_str_digits()} digits"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@contextmanager
def needing(what: str, extra: str, *packages: str, also: tuple[str, ...] = ()) -> Iterator[None]:
    """Import packages of an extra, which belman has and `also` others: one that is not there is a
    missing extra.

    An import that fails inside of them is an error of its own, and stays what it is.

    >>> try:
    ...     with needing("a table", "tables", "no_such_package"):
    ...         import no_such_package
    ... except MissingExtraError as error:
    ...     print(error)
    a table needs the extra 'tables': pip install 'belman[tables]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in packages:
            raise
        raise MissingExtraError(what, extra, *also) from None
