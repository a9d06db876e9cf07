"""A simulated study: visitors come, see a button, and some of them press it a moment later."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from belman.errors import PausedError, StorageError
from belman.service.registry import Registry
from belman.studies import Ask, Storage, Study, Tell, open_study

#: What the visitors think of each button, which the study has to find out.
BUTTONS = {"Buy": 0.30, "Add to basket": 0.45, "Order": 0.38, "Checkout": 0.22, "Yes, please": 0.52}
VISITORS = 4_000
PER_SECOND = 25.0
DELAY = 1.0  # seconds, on average, until a visitor has decided


def new_study(storage: Storage, seed: int | None = None) -> Study:
    """A study of the first free name: demo, demo-2, …"""
    taken = set(storage.names())
    names = ["demo", *(f"demo-{i}" for i in range(2, len(taken) + 2))]
    name = next(name for name in names if name not in taken)
    options: Any = {"storage": storage, "seed": seed, "uniform_share": 0.05}
    return open_study(name, list(BUTTONS), "bernoulli", **options)


async def play(registry: Registry, name: str, seed: int | None = None) -> None:
    """Let visitors come until all have been; while the study is paused they find no button."""
    nature = np.random.default_rng(seed)
    answers = []
    for _ in range(VISITORS):
        await asyncio.sleep(nature.exponential(1.0 / PER_SECOND))
        mood, delay = nature.random(), nature.exponential(DELAY)
        try:
            tickets = await (await registry.group_commit(name)).submit(Ask())
        except (PausedError, StorageError):
            continue
        assert isinstance(tickets, list)
        tell = Tell(tickets[0].id, float(mood < BUTTONS[str(tickets[0].arm)]))
        answers.append(registry.start_task(_answer(registry, name, tell, delay)))
    await asyncio.gather(*answers)


async def _answer(registry: Registry, name: str, tell: Tell, delay: float) -> None:
    """Tell what a visitor did, and again where the storage cannot be reached."""
    while True:
        await asyncio.sleep(delay)
        try:
            await (await registry.group_commit(name)).submit(tell)
        except StorageError:
            continue
        return
