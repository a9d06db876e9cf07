"""One wait for many: heavy reads worked out once, and what is used kept at hand."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class _Flight(Generic[T]):
    """One read: at most one is under way and one waits, however many want it."""

    def __init__(self) -> None:
        self.running: asyncio.Task[T] | None = None
        self.next: asyncio.Task[T] | None = None


class SharedReads(Generic[T]):
    """Lets callers share reads, without handing anybody what was read before they asked.

    A caller who comes while a read is under way gets the next, which all who wait share: its
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


class Recent(OrderedDict[K, T]):
    """Keep at most `most` things by name; the least recently used is forgotten first.

    >>> recent = Recent(2)
    >>> recent.keep("a", 1), recent.keep("b", 2), recent.used("a"), recent.keep("c", 3)
    (None, None, 1, None)
    >>> list(recent)
    ['a', 'c']
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def used(self, name: K) -> T | None:
        """Find the thing of that name, or None, and count that as a use."""
        if name in self:
            self.move_to_end(name)
        return self.get(name)

    def keep(self, name: K, thing: T) -> None:
        """Keep a thing, instead of any other of its name."""
        self[name] = thing
        self.move_to_end(name)
        if len(self) > self._most:
            self.popitem(last=False)
