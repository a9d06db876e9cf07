"""Heavy reads, worked out once for everybody who wants them at the same time (single flight)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class _Flight(Generic[T]):
    """One read: at most one is under way and one waits, however many want it."""

    def __init__(self) -> None:
        self.running: asyncio.Task[T] | None = None
        self.next: asyncio.Task[T] | None = None


class SharedReads(Generic[T]):
    """Lets callers share reads, without handing anybody what was read before they asked.

    Whoever comes while a read is under way gets the one after it, which all who wait share: its
    result is never older than the request, and there are never more than two of a kind.
    """

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    async def read(self, what: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        """What the work gives, begun no earlier than now."""
        flight = self._flights.setdefault(what, _Flight())
        if flight.running is None and flight.next is None:
            flight.running = asyncio.create_task(self._fly(what, flight, work))
            return await asyncio.shield(flight.running)
        if flight.next is None:
            flight.next = asyncio.create_task(self._follow(what, flight, work))
        return await asyncio.shield(flight.next)

    async def _fly(self, what: Hashable, flight: _Flight[T], work: Callable[[], Awaitable[T]]) -> T:
        try:
            return await work()
        finally:
            flight.running = None
            if flight.next is None:
                self._flights.pop(what, None)

    async def _follow(
        self, what: Hashable, flight: _Flight[T], work: Callable[[], Awaitable[T]]
    ) -> T:
        if flight.running is not None:
            await asyncio.wait([flight.running])
        flight.running, flight.next = flight.next, None
        return await self._fly(what, flight, work)


class Kept(Generic[T]):
    """The newest version of a few things, the least used forgotten first.

    >>> kept = Kept(2)
    >>> kept.put("beliefs", 7, "a table")
    >>> kept.at("beliefs", 7), kept.at("beliefs", 8)
    ('a table', None)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, tuple[object, T]] = OrderedDict()

    def at(self, what: Hashable, version: object) -> T | None:
        """The thing, if it is kept in this version."""
        found = self._found.get(what)
        return found[1] if found is not None and found[0] == version else None

    def drop(self, chosen: Callable[[Hashable], bool]) -> None:
        """Forget the things that are chosen."""
        for what in [what for what in self._found if chosen(what)]:
            del self._found[what]

    def put(self, what: Hashable, version: object, thing: T) -> None:
        """Keep a version, instead of any other."""
        self._found[what] = (version, thing)
        self._found.move_to_end(what)
        while len(self._found) > self._most:
            self._found.popitem(last=False)
