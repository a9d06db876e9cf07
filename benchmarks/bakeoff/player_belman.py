"""belman as its guide does it: numbers as they are, categories as words, arms by name."""

from __future__ import annotations

from typing import Any

import belman
from belman.policies.dependent import LinTS, LinUCB
from benchmarks.bakeoff.tables import Table


class _Player:
    def __init__(self, table: Table, seed: int, **settings: Any) -> None:
        self.rows = table.rows
        self.agent = belman.Agent(range(table.arms), context=table.columns, seed=seed, **settings)

    def ask(self, place: int) -> int:
        return self.agent.ask(context=self.rows[place])

    def tell(self, place: int, arm: int, reward: int) -> None:
        self.agent.tell(arm, reward)


PLAYERS = {
    "default": _Player,
    "linear": lambda table, seed: _Player(table, seed, model="linear"),
    "LinUCB": lambda table, seed: _Player(table, seed, model="linear", policy=LinUCB(1.0)),
    "LinTS": lambda table, seed: _Player(table, seed, model="linear", policy=LinTS()),
}
