"""What the passes of the bake-off say: means, ranks, and who is ahead of whom by how much."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

#: Two players are level on a table within this many standard errors of their difference.
ERRORS = 2.0
DEFAULT = "belman, default"
LIMITS = "supervised"
#: Names on the page, where they are not those of modules.
CALLED = {"vw": "VW", "mabwiser": "MABWiser", LIMITS: "sees all classes"}
BEST_OF = "best of five rates"


@dataclass(frozen=True)
class Half:
    """One half of the tables: `passes[player][table]` is {seed: (mean reward, µs a decision)}."""

    tables: list[str]
    passes: dict[str, dict[str, dict[str, list[float]]]]

    def mean(self, player: str, table: str) -> float:
        """The mean reward over seeds."""
        return float(np.mean([each[0] for each in self.passes[player][table].values()]))

    def error(self, player: str, table: str) -> float:
        """The standard error of that mean."""
        rewards = [each[0] for each in self.passes[player][table].values()]
        if len(rewards) < 2:
            return float("nan")
        return float(np.std(rewards, ddof=1) / len(rewards) ** 0.5)

    def overall(self, player: str) -> tuple[float, float]:
        """The mean reward over tables, with the standard error that the seeds leave."""
        means = [self.mean(player, table) for table in self.tables]
        errors = np.array([self.error(player, table) for table in self.tables])
        return float(np.mean(means)), float(np.sqrt((errors**2).sum()) / len(self.tables))

    def seeds(self, player: str) -> int:
        """How many passes of every table a player made."""
        return min(len(self.passes[player][table]) for table in self.tables)

    def microseconds(self, player: str) -> float:
        """The median over tables of the median µs of a decision with its learning."""
        return float(
            np.median(
                [
                    np.median([each[1] for each in self.passes[player][table].values()])
                    for table in self.tables
                ]
            )
        )

    def ahead(self, first: str, second: str, table: str) -> tuple[float, float]:
        """By how much the first earns more than the second in the seeds that both played, with the
        standard error of it.
        """
        one, two = self.passes[first][table], self.passes[second][table]
        gaps = np.array([one[seed][0] - two[seed][0] for seed in one if seed in two])
        error = gaps.std(ddof=1) / len(gaps) ** 0.5 if len(gaps) > 1 else np.nan
        return float(gaps.mean()), float(error)

    def verdicts(self, first: str, second: str) -> tuple[int, int, int]:
        """On how many tables the first is ahead, level and behind."""
        signs = []
        for table in self.tables:
            gap, error = self.ahead(first, second, table)
            signs.append(0 if not abs(gap) > ERRORS * error else int(np.sign(gap)))
        return signs.count(1), signs.count(0), signs.count(-1)

    @cached_property
    def ranked(self) -> list[str]:
        """Players that could be used as they are: no limits, and no rates picked afterwards."""
        limits = CALLED[LIMITS]
        return [
            player
            for player in self.passes
            if not player.startswith(limits) and not player.endswith(BEST_OF)
        ]

    @cached_property
    def ranks(self) -> dict[str, float]:
        """The mean rank over tables among `ranked`, 1 the best; equals share their ranks."""
        means = np.array(
            [[self.mean(each, table) for table in self.tables] for each in self.ranked]
        )
        above = (means[:, None, :] < means[None, :, :]).sum(axis=1)
        equal = (means[:, None, :] == means[None, :, :]).sum(axis=1)
        ranks = (above + (equal + 1) / 2).mean(axis=1)
        return dict(zip(self.ranked, ranks.tolist(), strict=True))

    def limit(self, table: str) -> float:
        """The mean reward of the better learner that sees all classes."""
        limits = [player for player in self.passes if player.startswith(CALLED[LIMITS])]
        return max(self.mean(player, table) for player in limits)


def _best_of_rates(players: dict[str, Any]) -> dict[str, Any]:
    """VW's ways of exploring: at the default rate, and on every table at the rate that turned out
    best there.
    """
    ways = [player for player in players if ", rate " not in player]
    found: dict[str, Any] = {way: players[way] for way in ways}
    for way in ways:
        rates = [
            player for player in players if player == way or player.startswith(f"{way}, rate ")
        ]
        found[f"{way}, {BEST_OF}"] = {
            table: max(
                (players[rate][table] for rate in rates if table in players[rate]),
                key=lambda seeds: float(np.mean([each[0] for each in seeds.values()])),
            )
            for table in players[way]
        }
    return found


def halves(data: dict[str, Any]) -> tuple[Half, Half]:
    """The development half and the report half; players that did not play all tables are left
    out.
    """
    passes = {}
    for library, about in data["libraries"].items():
        players = about.get("players", {})
        if library == "vw":
            players = _best_of_rates(players)
        for player, tables in players.items():
            passes[f"{CALLED.get(library, library)}, {player}"] = tables
    every = sorted({table for tables in passes.values() for table in tables})
    whole = {player: tables for player, tables in passes.items() if len(tables) == len(every)}
    return Half(every[::2], whole), Half(every[1::2], whole)
