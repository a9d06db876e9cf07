"""A page to watch studies: what is believed of each arm, who gets the traffic, what it earns."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from belman.errors import needing

with needing("a service", "service", "fastapi"):
    import fastapi  # noqa: F401

from belman.bridges.flag_routes import FlagRoutes
from belman.bridges.personalizer_routes import PersonalizerRoutes, PersonalizerWords
from belman.dashboard import demo as simulation
from belman.dashboard.feeds import Feeds
from belman.dashboard.routes import router
from belman.service.app import create_app
from belman.studies import Storage


def application(
    storage: Storage, *, demo: bool = False, seed: int | None = None, **options: Any
) -> Any:
    """The service of a storage with the page at `/`; `demo` plays a simulated study at once."""
    background = []
    if demo:
        name = simulation.new_study(storage, seed).name
        background.append(partial(simulation.play, name=name, seed=seed))
    app = create_app(
        storage,
        routers=[router],
        background=background,
        middleware=[FlagRoutes, PersonalizerRoutes],
        around=[PersonalizerWords],
        **options,
    )
    app.state.feeds = Feeds(app.state.registry)
    app.state.demo, app.state.demo_lock = None, asyncio.Lock()
    return app


__all__ = ["application"]
