"""Deciding in contexts: what a study knows beside the average of every arm.

The ledger of a study counts what every arm brought, whoever it was for. A study with contexts has
this beside it, which decides and learns by context: one belief along features, or beliefs by
segment. It is part of the fold of the log: an ask holds its context (and its candidates), which is
met when the ask is folded, and learnt with the reward when its ticket counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from belman import chance
from belman.agent.contextual.mind import Asking
from belman.errors import SettingError
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy

#: Candidates of one ask: the log keeps all of them.
MOST_CANDIDATES = 1_000
CONTEXT, CANDIDATES, CHOSEN, RANKING = "context", "candidates", "chosen", "ranking"


class Open(NamedTuple):
    """What a ticket that is out was asked with, and the place of its arm or candidate in that."""

    asking: Asking
    place: int


class Contexts(ABC):
    """What was learnt by context."""

    # Deciding

    @abstractmethod
    def check(self, context: Any, candidates: Any = None) -> Asking:
        """What is asked, as the log keeps it; changes nothing."""

    @abstractmethod
    def choose(
        self, asking: Asking, count: int, among: Sequence[int], mind: chance.Words
    ) -> list[tuple[int, float]]:
        """The places of so many arms of these, or of candidates, and the chance of each (NaN where
        it is not known). All that changes is what `meet` would.
        """

    @abstractmethod
    def rank(self, asking: Asking, among: Sequence[int]) -> list[int]:
        """The places of these arms, or of candidates, the largest index first."""

    @abstractmethod
    def meet(self, asking: Asking) -> None:
        """Take in what is new in a context."""

    @abstractmethod
    def check_room(self, asking: Asking, tickets: int) -> None:
        """Refuse what is new in a context where there is no room for it, and more tickets than can
        be decided in a moment, for which every other study of the storage may have to wait.
        """

    @abstractmethod
    def check_reward(self, asking: Asking, place: int, reward: float) -> None:
        """Raise RewardError where a reward cannot be learnt in a context."""

    @abstractmethod
    def learn(self, asking: Asking, place: int, reward: float) -> None:
        """Learn a reward of the study, which was checked, in a context that was met."""

    @abstractmethod
    def expected(self, asking: Asking, place: int) -> float:
        """The expected reward of an arm, or candidate, in a context that was met."""

    # Looking

    @property
    @abstractmethod
    def policy(self) -> Policy | DependentPolicy:
        """Who chooses."""

    @property
    @abstractmethod
    def categories(self) -> list[str]:
        """The names of contexts whose values divide those who are asked for."""

    @abstractmethod
    def status(self) -> dict[str, Any]:
        """What it is, in words."""

    @abstractmethod
    def tables(self) -> dict[str, Any]:
        """What the page shows of it: tables by title, as columns."""

    def expect(self, asking: Asking, place: int) -> None:
        """An ask was given a ticket."""
        self.meet(asking)

    def settle(self, asking: Asking, place: int, reward: float | None) -> None:
        """A ticket counts as this reward, or is forgotten."""
        if reward is not None:
            self.learn(asking, place, reward)

    # Copies and snapshots

    @abstractmethod
    def copied(self) -> Contexts:
        """The same, to go its own way."""

    @abstractmethod
    def learnt(self) -> dict[str, Any]:
        """All that was learnt, as plain data."""

    @abstractmethod
    def take(self, content: Mapping[str, Any]) -> None:
        """Have what `learnt` gave."""


def body(asking: Asking, chosen: int | None = None) -> dict[str, Any]:
    """What the event of an ask keeps of it."""
    found: dict[str, Any] = {CONTEXT: asking.context}
    if asking.candidates is not None:
        found[CANDIDATES] = asking.candidates
    if chosen is not None:
        found[CHOSEN] = chosen
    return found


def check_candidates(candidates: Any) -> Any:
    """Candidates that are not too many for one line of a log."""
    if candidates is None:
        return None
    if not isinstance(candidates, Sequence) or isinstance(candidates, (str, bytes)):
        raise SettingError(
            f"candidates={str(candidates)[:80]!r} are not valid: give a list of {{…}}"
        )
    if not 0 < len(candidates) <= MOST_CANDIDATES:
        allowed = f"from 1 to {MOST_CANDIDATES:,} in one ask"
        raise SettingError(f"{len(candidates):,} candidates are not allowed: give {allowed}")
    return candidates
