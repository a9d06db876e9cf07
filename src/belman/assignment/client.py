"""The HTTP client: the studies of a service, with the same ask and tell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from datetime import timedelta
from typing import Any, Generic, Self, TypeVar
from urllib.parse import urlencode

from .messages import Found, arm_out, found_in, raise_problem
from .remote_study import AnyRemoteStudy, RemoteStudy
from .transport import LONGEST, Answer, Transport

S = TypeVar("S", bound=AnyRemoteStudy[Any])


class AnyClient(ABC, Generic[S]):
    """A connection to a service.

    Requests are sent again after failures that pass. That is safe: every change carries an
    idempotency key, so that the service gives the same answer again and does nothing twice. Objects
    may be shared between threads, and by processes that are forked.

    Parameters
    ----------
    url
        The address of the service.
    key
        A key, where the service asks for one.
    timeout
        Seconds after which a request has failed.
    retries
        How often a request is sent again, waiting longer each time.
    """

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = 10.0, retries: int = 6
    ) -> None:
        self._transport = Transport(url, key, timeout, retries)

    def studies(self, query: str = "", *, archived: bool = False) -> list[str]:
        """List the names of studies.

        Parameters
        ----------
        query
            Part of a name; by default all names.
        archived
            Whether to list archived studies in place of the others.

        Returns
        -------
        list
            Names.
        """
        given = {"query": query, "limit": 1000, "archived": str(archived).lower()}
        path = f"/api/studies?{urlencode(given)}"
        result: list[str] = self.call("GET", path)["studies"]
        return result

    @abstractmethod
    def _remote(self, name: str) -> S:
        """Make the object of a study, whether the service has one of that name or not."""

    def study(self, name: str) -> S:
        """Open a study of the service.

        Parameters
        ----------
        name
            The name of the study.

        Returns
        -------
        RemoteStudy
            The study.

        Raises
        ------
        UnknownStudyError
            If there is no study of that name.
        """
        study = self._remote(name)
        study.status()
        return study

    def create(self, name: str, arms: Iterable[Hashable] | None = None, **settings: Any) -> S:
        """Open a study of the service, and create it first if there is none of that name.

        Parameters
        ----------
        name
            The name of the study.
        arms
            The names of its arms; None where arms are candidates, whose `features` are named.
        settings
            Settings of `belman.open_study`; a family, policy or rule goes by its name, or by name
            and settings.

        Returns
        -------
        RemoteStudy
            The study.

        Raises
        ------
        StudyError
            If there is a study of that name with other settings.
        """
        body: dict[str, Any] = {"name": name}
        if arms is not None:
            body["arms"] = [arm_out(arm) for arm in arms]
        body |= {key: self.described(value) for key, value in settings.items()}
        self.call("POST", "/api/studies", body)
        return self._remote(name)

    def call(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Found:
        """Send a request to a route, and return its JSON.

        Parameters
        ----------
        method
            "GET", "POST", "PUT" or "DELETE".
        path
            The path, from /api on.
        body
            What is sent, as plain data.
        key
            The idempotency key of a change; by default a new one.

        Returns
        -------
        Found
            The answer as plain data.

        Raises
        ------
        BelmanError
            The error that the study raised.
        """
        return found_in(self._answer(method, path, body, key).content)

    def text(self, path: str) -> bytes:
        """Fetch what a route answers with that is no JSON.

        Parameters
        ----------
        path
            The path, from /api on.

        Returns
        -------
        bytes
            The answer.
        """
        return self._answer("GET", path, None, None, longest=None).content

    def _answer(
        self, method: str, path: str, body: Any, key: str | None, longest: int | None = LONGEST
    ) -> Answer:
        answer = self._transport.send(method, path, body, key, longest=longest)
        if answer.status >= 400:
            is_json = answer.kind.endswith("json")
            raise_problem(answer.status, found_in(answer.content) if is_json else {})
        return answer

    @staticmethod
    def described(value: Any) -> Any:
        """Return a setting as JSON has it.

        Parameters
        ----------
        value
            A value of a setting, such as ('a', 'b') or a timedelta.

        Returns
        -------
        Any
            A list for a tuple, seconds for a length of time; anything else as it is.
        """
        if isinstance(value, tuple):
            return list(value)
        return value.total_seconds() if isinstance(value, timedelta) else value

    def close(self) -> None:
        """Close the connections; the next request opens a new one."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({str(self._transport)!r})"


class Client(AnyClient[RemoteStudy]):
    __doc__ = AnyClient.__doc__

    def _remote(self, name: str) -> RemoteStudy:
        return RemoteStudy(self, name)
