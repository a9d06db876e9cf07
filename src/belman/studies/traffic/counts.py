"""What became of the traffic: counts by arm from which one sees whether the data are sound.

They are kept with the state, event by event, so that a report need not read the log: how many
tickets of an arm counted and how many were forgotten, how often each arm was drawn while its chance
was the same, what the arm had earned at its 1st, 2nd, 4th, 8th, … reward, and what came from past
data.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from belman.agent.learnt import Learnt
from belman.families import Family
from belman.measures.lift import Units
from belman.measures.soundness import Drift, Finding, SampleRatio, told_shares

#: Seconds after which a ticket without a window that nobody told is taken for a missing reward.
LATE = 86_400.0

Cut = tuple[int, float, tuple[float, ...]]


class Traffic:
    """Counts by an arm's place in the register; `draws` are (chances by place, counts by place),
    one for each time during which the chances of random draws were the same.
    """

    def __init__(self, arms: int) -> None:
        self.told = [0] * arms
        self.forgotten = [0] * arms
        self.past, self.past_sum = [0] * arms, 0.0
        self.draws: list[tuple[dict[int, float], dict[int, int]]] = []
        self.cuts: list[dict[int, Cut]] = [{} for _ in range(arms)]

    def add_arm(self) -> None:
        """One arm more in the register."""
        self.told.append(0)
        self.forgotten.append(0)
        self.past.append(0)
        self.cuts.append({})

    def drawn(self, arm: int, chances: dict[int, float], count: int = 1) -> None:
        """An arm was drawn at random, with these chances of all that were played; or many times."""
        last = self.draws[-1] if self.draws else None
        if last is None or (last[0] is not chances and last[0] != chances):
            self.draws.append((chances, dict.fromkeys(chances, 0)))
        elif last[0] is not chances:  # so that the next one is known at a glance
            self.draws[-1] = (chances, last[1])
        self.draws[-1][1][arm] += count

    def counted(self, arm: int, learnt: Callable[[int], Learnt]) -> None:
        """The reward of a ticket was learnt."""
        self.told[arm] += 1
        self._cut(arm, learnt)

    def recorded(self, arm: int, reward: float, learnt: Callable[[int], Learnt]) -> None:
        """A row of past data was learnt."""
        self.past[arm] += 1
        self.past_sum += reward
        self._cut(arm, learnt)

    def observed(self, arm: int, rewards: int, learnt: Callable[[int], Learnt]) -> None:
        """Many rewards were learnt at once: where that passes a power of 2, it is kept."""
        before = self.told[arm] + self.past[arm]
        self.told[arm] += rewards
        if (after := before + rewards).bit_length() > before.bit_length():
            now = learnt(arm)
            self.cuts[arm][after.bit_length()] = (after, now.sum, now.belief)

    def _cut(self, arm: int, learnt: Callable[[int], Learnt]) -> None:
        """Keep what was learnt of an arm where the number of its rewards is a power of 2."""
        rewards = self.told[arm] + self.past[arm]
        if rewards & (rewards - 1) == 0:
            now = learnt(arm)
            self.cuts[arm][rewards.bit_length()] = (rewards, now.sum, now.belief)

    def corrected(self, arm: int, tells: int) -> None:
        """A ticket counts otherwise, with so many more rewards told: what was kept of the arm's
        past is not its past any more.
        """
        self.told[arm] += tells
        self.forgotten[arm] -= tells
        self.cuts[arm] = {}

    def rows_corrected(self, arm: int, tells: int) -> None:
        """Rows of outcomes in bulk count otherwise, and so many more of them."""
        self.told[arm] += tells
        self.cuts[arm] = {}

    # Is the data sound?

    def sample_ratio(self, register: Sequence[Hashable], test: SampleRatio) -> Finding | None:
        """Whether random draws fell as their chances say, and units as a test found that was begun
        with published weights; None where there are neither.
        """
        if not self.draws and not test.counts.any():
            return None
        places = range(len(register))
        for chances, counts in self.draws:
            counted = [counts.get(place, 0) for place in places]
            test.add(counted, [chances.get(place, 0.0) for place in places])
        return test.finding()

    def missing(
        self, register: Sequence[Hashable], asks: Sequence[int], out: Sequence[int], late: list[int]
    ) -> Finding | None:
        """Whether rewards are missing for one arm more than for another; None where none are.

        `out` are the tickets that are out, by arm, and `late` those of them that nobody will tell.
        """
        if not any(late) and not any(self.forgotten):
            return None
        settled = [asked - waiting for asked, waiting in zip(asks, out, strict=True)]
        told = [n - lost for n, lost in zip(settled, self.forgotten, strict=True)]
        due = [n + more for n, more in zip(settled, late, strict=True)]
        return told_shares(
            dict(zip(register, due, strict=True)), dict(zip(register, told, strict=True))
        )

    def drift(
        self, place: int, arm: Hashable, family: Family, now: Learnt, units: Units, risk: float
    ) -> Finding:
        """Whether an arm changed while it was played."""
        found = Drift(arm, family, now.prior, units)
        cuts = [cut for _, cut in sorted(self.cuts[place].items())]
        return found.resume(now.tells, now.sum, now.belief, cuts).finding(risk)

    # Copies and snapshots

    def copied(self) -> Traffic:
        """The same, to go its own way."""
        other = Traffic(0)
        other.told, other.forgotten = self.told.copy(), self.forgotten.copy()
        other.past, other.past_sum = self.past.copy(), self.past_sum
        other.draws = [(chances, counts.copy()) for chances, counts in self.draws]
        other.cuts = [cuts.copy() for cuts in self.cuts]
        return other

    def to_plain(self) -> dict[str, Any]:
        """For a snapshot."""
        return {
            "told": self.told,
            "forgotten": self.forgotten,
            "past": self.past,
            "past_sum": self.past_sum,
            "draws": [[_pairs(chances), _pairs(counts)] for chances, counts in self.draws],
            "cuts": [[[key, *cut] for key, cut in sorted(cuts.items())] for cuts in self.cuts],
        }

    def from_plain(self, content: dict[str, Any]) -> None:
        """Take over what `to_plain` gave."""
        self.told, self.forgotten = content["told"], content["forgotten"]
        self.past, self.past_sum = content["past"], content["past_sum"]
        self.draws = [(dict(chances), dict(counts)) for chances, counts in content["draws"]]
        self.cuts = [
            {key: (n, total, tuple(belief)) for key, n, total, belief in cuts}
            for cuts in content["cuts"]
        ]


def _pairs(of: dict[int, Any]) -> list[list[Any]]:
    return [list(pair) for pair in of.items()]
