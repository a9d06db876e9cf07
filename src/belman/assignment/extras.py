"""Optional dependencies: what is missing is said with what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .refusals import BelmanError


class MissingExtraError(BelmanError, ImportError):
    """An optional dependency that is not installed."""

    def __init__(self, what: str, extra: str, *others: str) -> None:
        packages = ", or ".join(f"'{package}[{extra}]'" for package in ("belman", *others))
        super().__init__(f"{what} needs the extra '{extra}': pip install {packages}")


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
