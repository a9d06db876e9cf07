"""The feeds of a service, one for each study that is looked at, and the answers that stream."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from belman.dashboard.feed import Feed, Pace, stream
from belman.dashboard.view import Wanted
from belman.service.access import caller_of
from belman.service.registry import Registry

MAX_FEEDS = 100
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Feeds:
    """One feed a study; those that nobody watches are forgotten, the least used first."""

    def __init__(self, registry: Registry) -> None:
        self.registry, self.pace = registry, Pace(registry)
        self._feeds: OrderedDict[str, Feed] = OrderedDict()

    async def of(self, name: str) -> Feed:
        """The feed of a study."""
        result = self._feeds.get(name)
        if result is None or not result.is_watched:
            study = await self.registry.study(name)
            result = self._feeds.get(name)
            if result is None or (result.study is not study and not result.is_watched):
                result = self._feeds[name] = Feed(study)
        self._feeds.move_to_end(name)
        if len(self._feeds) > MAX_FEEDS:
            idle = [one for one, feed in self._feeds.items() if not feed.is_watched]
            for one in idle[: len(self._feeds) - MAX_FEEDS]:
                del self._feeds[one]
        return result


class LiveResponse(StreamingResponse):
    """A stream of views, counted as long as it lasts; a problem where there are too many."""

    def __init__(self, feeds: Feeds, feed: Feed, wanted: Wanted, **options: Any) -> None:
        super().__init__((), headers=_HEADERS, media_type="text/event-stream", **options)
        self._feeds, self._feed, self._wanted = feeds, feed, wanted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = caller_of(scope)
        assert caller is not None  # the access control has let it in
        registry, pace = self._feeds.registry, self._feeds.pace
        with registry.streams.one_more(caller.name):
            self.body_iterator = stream(self._feed, registry, pace, self._wanted, caller.given)
            await super().__call__(scope, receive, send)
