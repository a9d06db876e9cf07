"""The contract of a policy: how the state of knowledge becomes an index per arm.

The *ledger* holds what was observed and is the same for every policy; the *memory* holds what a
policy derives from it. When the ledger of an arm changes, `refresh` renews that arm's part of the
memory; `indices` gives every arm a number, and the arm with the largest is played, ties broken
uniformly at random. What changes with the turn alone is the *turn value*, tabulated by the
dataclass in front.

A policy needs `indices`; `params` are its settings and `memory` is none unless it says otherwise.
All else is a capability with a default, which a policy overrides to have it, and which a wrapper
forwards (`wrappers/wrapper.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.engine import Bundle, inlined_kernel, kernel
from belman.manifold import least_kl_from_arms
from belman.policies import memory as memories
from belman.policies.dealing import deal_by_asks
from belman.policies.memory import Floats as Floats
from belman.policies.memory import NoMemory, part
from belman.policies.settings import check_settings

if TYPE_CHECKING:
    from belman.families.family import Family

Kernel = Callable[..., Any]


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


class Ledger(NamedTuple):
    """What was observed: beliefs; counts, sums and sums of squares of rewards.

    Attributes
    ----------
    beliefs
        The coordinates of the belief about each arm (K × D).
    plays
        The number of rewards of each arm (K).
    sums
        Their sum (K).
    squares
        The sum of their squares (K).
    """

    beliefs: Floats = part("K", "D", told=True)
    plays: Floats = part("K", told=True)
    sums: Floats = part("K", told=True)
    squares: Floats = part("K", told=True)

    @classmethod
    def blank(cls, beliefs: Floats) -> Ledger:
        """Make the ledger of arms with these beliefs (K × D) and no rewards.

        Parameters
        ----------
        beliefs
            The belief about each arm, a row each (K × D).

        Returns
        -------
        Ledger
            The ledger, which holds these beliefs themselves.
        """
        return cls(beliefs, *(np.zeros(len(beliefs)) for _ in cls._fields[1:]))


@kernel
def score_by_expected_reward(family, constants, params, ledger, memory, score):
    """Fill E_a[X] of each arm; an arm whose expectation is infinite comes last."""
    for a in range(score.size):
        expected = family.expected_reward(constants, ledger.beliefs[a])
        score[a] = expected if np.isfinite(expected) else -np.inf


@kernel
def never_finished(family, constants, params, ledger, memory):
    """For policies that have no stopping rule of their own."""
    return False


@kernel
def learns_nothing(family, constants, params, ledger, memory, arm, reward):
    """For policies to which beliefs say all."""


@kernel
def record(family, constants, ledger, arm, reward):
    """Enter one reward of one arm in the ledger."""
    family.update(constants, ledger.beliefs[arm], reward)
    ledger.plays[arm] += 1.0
    ledger.sums[arm] += reward
    ledger.squares[arm] += reward * reward


@kernel
def no_refresh(family, constants, params, ledger, memory, arm):
    """For policies that read the ledger alone."""


@kernel
def leader(value, index):
    """The largest value of the arms that can be played now."""
    leading = -np.inf
    for a in range(index.size):
        if value[a] > leading and index[a] == index[a]:
            leading = value[a]
    return leading


@kernel
def pick(index, rng):
    """The arm with the largest index and how many share it, one of them drawn uniformly."""
    best = -np.inf
    first, ties = 0, 0
    for a in range(index.size):
        if index[a] > best:
            best, first, ties = index[a], a, 1
        elif index[a] == best:
            first = a if ties == 0 else first
            ties += 1
    if ties > 1:
        return _nth_tied(index, best, chance.below(rng, ties)), ties
    return first, ties


@kernel
def _nth_tied(index, best, rank):
    for a in range(index.size):
        if index[a] == best:
            if rank == 0:
                return a
            rank -= 1
    return 0


@kernel
def pick_most(score, count, rng, chosen):
    """Mark the `count` largest scores (ties drawn uniformly) in `chosen`, and use them up."""
    for a in range(score.size):
        chosen[a] = 0.0
    for _ in range(count):
        arm, _ = pick(score, rng)
        chosen[arm] = 1.0
        score[arm] = np.nan


@inlined_kernel
def choose_by_index(
    policy, family, constants, params, ledger, memory, turn, turn_value, rng, index
):
    """Compute every index and play the largest."""
    policy.indices(family, constants, params, ledger, memory, turn, turn_value, rng, index)
    return pick(index, rng)


@kernel
def choose_open(
    policy, family, constants, params, ledger, memory, turn, turn_value, rng, index, closed
):
    """Compute every index and play the largest of an arm that is not closed."""
    for a in range(index.size):
        index[a] = np.nan if closed[a] else 0.0
    policy.indices(family, constants, params, ledger, memory, turn, turn_value, rng, index)
    for a in range(index.size):
        if closed[a]:
            index[a] = np.nan
    return pick(index, rng)


@kernel
def any_open(arms, closed, rng):
    """Draw an arm that is not closed, uniformly; return it and the number of open arms."""
    count = 0
    for a in range(arms):
        count += closed.size == 0 or not closed[a]
    rank = chance.below(rng, count)
    for a in range(arms):
        if closed.size == 0 or not closed[a]:
            if rank == 0:
                return a, count
            rank -= 1
    return 0, count


@kernel
def share_of_ties(family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties):
    """A policy that draws nothing but ties plays each of the best arms with the same chance."""
    return 1.0 / ties


@kernel
def to_be_integrated(
    family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties
):
    """A policy whose indices are draws: `Policy.chances` needs only the chances of being best."""
    return np.nan


@dataclass(frozen=True)
class PolicyKernels(Bundle):
    """The bundle of kernels of a policy, where … stands for family, constants,
    params, ledger, memory.

    | kernel | what it does |
    |---|---|
    | `indices(…, turn, turn_value, rng, index)` | fills the index (K) of every arm |
    | `refresh(…, arm)` | renews the memory of an arm whose ledger has changed |
    | `propensity(…, turn, turn_value, closed, arm, ties)` | its chance; NaN if to be integrated |
    | `learn(…, arm, reward)` | takes in a reward that beliefs do not keep, before `refresh` |
    | `choose(policy, …, turn, turn_value, rng, index)` | the arm to play and the number of ties |
    | `recommend(…, score)` | fills a score (K): the arms with the largest are recommended |
    | `finished(…)` | whether the policy's own stopping rule has had enough |
    | `deal(policy, …, turn, turn_value, n, rng, deal)` | shares out n decisions: `dealing.py` |

    What `indices` finds in the index is NaN at arms that cannot be played now: a policy that
    measures arms from a leader takes the best of the others (`leader`).
    """

    indices: Kernel
    refresh: Kernel = no_refresh
    propensity: Kernel = share_of_ties
    learn: Kernel = learns_nothing
    choose: Kernel = choose_by_index
    recommend: Kernel = score_by_expected_reward
    finished: Kernel = never_finished
    deal: Kernel = deal_by_asks


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

    def resettled(self, memory: Any, fresh: Any, places: Sequence[int]) -> Any:
        """Make the memory of other arms, with what was kept of those that were there.

        Parameters
        ----------
        memory
            The memory of the arms before.
        fresh
            The memory of as many new arms as there are now.
        places
            For every arm of now its position before, or −1 if it is new.

        Returns
        -------
        NamedTuple
            The memory of the arms of now.
        """
        return memories.moved(memory, fresh, places)

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
