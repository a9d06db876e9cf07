"""The contract of a policy: how the state of knowledge becomes an index per arm.

The *ledger* (`ledger.py`) holds what was observed and is the same for every policy; the *memory*
(`memory.py`) holds what a policy derives from it. When the ledger of an arm changes, `refresh`
renews that arm's part of the memory; `indices` gives every arm a number, and the arm with the
largest is played, ties broken uniformly at random. What changes with the turn alone is the *turn
value*, tabulated by the dataclass in front.

A policy needs `indices`; `params` are its settings and `memory` is none unless it says otherwise.
All else is a capability with a default, which a policy overrides to have it, and which a wrapper
forwards (`wrappers/wrapper.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.manifold import least_kl_from_arms
from belman.policies import memory as memories
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats, NoMemory
from belman.policies.policy_kernels import PolicyKernels, learns_nothing, to_be_integrated
from belman.policies.settings import check_settings

if TYPE_CHECKING:
    from belman.families.family import Family


class Change(NamedTuple):
    """A change that was noticed, the `number`-th of all: at which turn, of which arm (−1: it is not
    played any more), after which turn, from and to which average reward, and how sure.
    """

    number: int
    turn: int
    arm: int
    after: int
    before: float
    now: float
    sure: float


def numbers_of(policy: Any) -> list[float]:
    """The settings of a policy in their order, where all of them are numbers; else nothing.

    Settings that go by keyword alone say how rewards are read, and are not among them.

    >>> from belman.policies import EpsilonGreedy
    >>> numbers_of(EpsilonGreedy(0.2))
    [0.2]
    """
    chosen = [getattr(policy, one.name) for one in fields(policy) if not one.kw_only]
    if not all(one is None or isinstance(one, Real) for one in chosen):
        return []
    return [0.0 if one is None else float(one) for one in chosen]


@dataclass(frozen=True)
class Policy(ABC):
    """An algorithm that chooses the next arm, and its settings; its state is the agent's."""

    name: ClassVar[str]
    #: The NamedTuple of its memory, whose fields say what it keeps (`memory.py`).
    remembers: ClassVar[type[tuple[Any, ...]]] = NoMemory
    #: Every policy that is known by name.
    registry: ClassVar[dict[str, type[Policy]]] = {}
    #: Whether it is told the true means, as its params: for the lab only.
    sees_truth: ClassVar[bool] = False
    #: Whether its chances, if to be integrated, follow from the chances of being best.
    draws_from_beliefs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    @abstractmethod
    def kernels(self) -> PolicyKernels:
        """The bundle of kernels, each of them a global of a module."""

    # What it is given: numbers, and room to remember

    def about(self, family: Family) -> tuple[float, ...]:
        """Return the numbers of a family that kernels read before the settings.

        Parameters
        ----------
        family
            The family of the rewards.

        Returns
        -------
        tuple of float
            The numbers, in the order in which kernels read them.
        """
        return ()

    def params(self, family: Family) -> Floats:
        """Return the numbers that kernels read.

        Parameters
        ----------
        family
            The family of the rewards.

        Returns
        -------
        ndarray
            The numbers of the family, then the settings.
        """
        return np.array([*self.about(family), *numbers_of(self)] or [0.0], dtype=np.float64)

    def memory(self, arms: int, dimension: int) -> Any:
        """Make the memory of arms that were never played.

        Parameters
        ----------
        arms
            The number of arms.
        dimension
            How many numbers a belief has.

        Returns
        -------
        NamedTuple
            Arrays of `remembers`, as before the first turn.
        """
        return memories.blank(self.remembers, memories.Sizes(self, arms, dimension))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        """Compute what changes with the turn alone.

        Parameters
        ----------
        turns
            Turns, counted from 1.
        arms
            The number of arms.

        Returns
        -------
        ndarray
            A number for each of the turns.
        """
        return np.zeros(len(turns))

    def check(self, family: Family, arms: int) -> None:
        """Refuse a family or a number of arms for which there is no such policy.

        Parameters
        ----------
        family
            The family of the rewards.
        arms
            The number of arms.

        Raises
        ------
        PolicyError
            If there is no such policy for the family or for that number of arms.
        """
        self.about(family)

    # What becomes of its memory

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        """Return the limits of memory parts that kernels use as positions or counts.

        A state file that holds others there is refused: nothing stops compiled code from reading
        or writing past the end of an array. Parts of a record inside the memory go by both names.

        Parameters
        ----------
        arms
            The number of arms.

        Returns
        -------
        dict
            By the name of a part of the memory, its least and its largest value.

        >>> from belman.policies import ExploreThenCommit
        >>> ExploreThenCommit(explore=20).whole_numbers(arms=3)
        {'committed': (-1, 2)}
        """
        return memories.whole_parts(self.remembers, memories.Sizes(self, arms))

    def resettled(self, memory: Any, fresh: Any, positions: Sequence[int]) -> Any:
        """Make the memory of other arms, with what was kept of those that were there.

        Parameters
        ----------
        memory
            The memory of the arms before.
        fresh
            The memory of as many new arms as there are now.
        positions
            For every arm of now its position before, or −1 if it is new.

        Returns
        -------
        NamedTuple
            The memory of the arms of now.
        """
        return memories.moved(memory, fresh, positions)

    def forget(self, memory: Any, arm: int) -> None:
        """Take an arm as the ledger believes it, at the next refresh, and not as it was told.

        Parameters
        ----------
        memory
            The memory of this policy.
        arm
            The position of the arm.
        """
        memories.forgotten(memory, arm)

    # What it learns of rewards one by one

    @property
    def learns(self) -> bool:
        """Whether it is told rewards one by one, and keeps of them what beliefs do not."""
        return self.kernels.learn is not learns_nothing

    @property
    def learns_from_asks(self) -> bool:
        """Whether what it learns depends on its asks too, so that rewards alone do not say it: a
        study, whose state follows from its log, cannot have it.
        """
        return False

    def learns_sums(self, family: Family) -> bool:
        """Return whether many rewards of an arm can be learnt at once, by their sums.

        Parameters
        ----------
        family
            The family of the rewards.

        Returns
        -------
        bool
            Whether it can; then `learn_many` takes them in.
        """
        return not self.learns

    def learn_many(
        self, family: Family, memory: Any, arm: int, n: int, total: float, squares: float
    ) -> None:
        """Take in many rewards by their sums, where it `learns_sums`; the ledger has them already.

        Parameters
        ----------
        family
            The family of the rewards.
        memory
            The memory of this policy.
        arm
            The position of the arm.
        n
            The number of rewards.
        total
            Their sum.
        squares
            The sum of their squares.
        """
        return

    def pseudobelief(
        self, family: Family, ledger: Ledger, memory: Any, turn_value: float
    ) -> Floats:
        """Compute the belief that sums up those about all arms, by default their barycentre.

        Parameters
        ----------
        family
            The family of the rewards.
        ledger
            The beliefs, plays and sums of the arms.
        memory
            The memory of this policy.
        turn_value
            The turn's value, one of `turn_values`.

        Returns
        -------
        ndarray
            Its coordinates.
        """
        return least_kl_from_arms(family, self.believed(family, ledger, memory))

    # What it makes of a world that changes

    @property
    def forgets(self) -> str:
        """Why rewards do not all count alike in what it believes; nothing where they do."""
        return ""

    @property
    def by_clock(self) -> bool:
        """Whether it goes by the time that `set_time` sets, and not by turns."""
        return False

    def set_time(self, memory: Any, seconds: float) -> None:
        """Set the clock.

        Parameters
        ----------
        memory
            The memory of this policy.
        seconds
            The time since any fixed moment; earlier ones than before are ignored.
        """
        return

    def believed(self, family: Family, ledger: Ledger, memory: Any) -> Floats:
        """Return the beliefs about all arms as they are now, by default those of the ledger.

        Parameters
        ----------
        family
            The family of the rewards.
        ledger
            The beliefs, plays and sums of the arms.
        memory
            The memory of this policy.

        Returns
        -------
        ndarray
            A belief an arm, a row each (K × D).
        """
        return ledger.beliefs

    def changes(self, memory: Any) -> list[Change]:
        """Return the changes of the world that it noticed.

        Parameters
        ----------
        memory
            The memory of this policy.

        Returns
        -------
        list of Change
            The last ones, oldest first.
        """
        return []

    # What its chances are, and why

    @property
    def leaves_all_a_chance(self) -> bool:
        """Whether all tried arms may be played at every turn, with chances that are known: the log
        tells of other policies.
        """
        return self.draws_from_beliefs and self.kernels.propensity is to_be_integrated

    def acting(self, memory: Any) -> Policy:
        """Return the policy that chooses now.

        Parameters
        ----------
        memory
            The memory of this policy.

        Returns
        -------
        Policy
            Itself, or the policy of the present phase.
        """
        return self

    def chances(self, best: Floats) -> Floats:
        """Compute the chance of playing each arm from the probabilities of being best.

        Parameters
        ----------
        best
            The probability of being best of each arm (K).

        Returns
        -------
        ndarray
            The chance of playing each arm (K); NaN where it is not known.
        """
        return best if self.draws_from_beliefs else np.full(len(best), np.nan)

    def own_chances(
        self, family: Family, ledger: Ledger, playable: NDArray[np.int64]
    ) -> Floats | None:
        """Compute the chance of playing each of these arms now, by a formula of its own.

        Parameters
        ----------
        family
            The family of the rewards.
        ledger
            The beliefs, plays and sums of the arms.
        playable
            The positions of the arms that can be played.

        Returns
        -------
        ndarray or None
            The chance of each of them; None where what it draws follows from the beliefs, or is not
            known.
        """
        return None

    def explanation(
        self, family: Family, ledger: Ledger, memory: Any, turn_value: float, index: Floats
    ) -> dict[str, Floats]:
        """Return columns that say how the indices come about.

        Parameters
        ----------
        family
            The family of the rewards.
        ledger
            The beliefs, plays and sums of the arms.
        memory
            The memory of this policy.
        turn_value
            The turn's value, one of `turn_values`.
        index
            The index of each arm (K).

        Returns
        -------
        dict
            By the heading of a column, one number an arm; the index is the last one.
        """
        return {"index": index}


#: Every policy by its name.
POLICIES = Policy.registry


def log_turns(policy: Policy, turns: Floats, arms: int) -> Floats:
    """ln t: turn values of several policies."""
    return np.log(turns)
