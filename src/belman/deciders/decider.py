"""The contract of a decider: the only thing that an agent or a study knows of deciding.

A decider has arms and a policy, believes something of every arm, and chooses. There are four:
`independent` (a belief an arm), `segmented` (a belief an arm and segment), `featured` (one belief
for all arms, in contexts, or for candidates) and `box` (points of a box). A request is checked,
which changes nothing; `choose` decides and counts its choices as outstanding; `settle` learns what
a choice brought. A log of requests, choices and rewards, given to `meet`, `expect` and `settle` in
its order, leads to the same state to the last bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman import chance
from belman.deciders.learnt import Anew, Sums
from belman.deciders.shares import NO_SHARES, Shares
from belman.errors import SettingError, shown
from belman.measures.report import Known
from belman.table import Table

#: A weight calls for caution above _SURE, if it exceeds the probability of being best by _SURER and
#: is for _MANY times more decisions than there are rewards.
_SURE, _SURER, _MANY = 0.9, 0.3, 50

Floats = NDArray[np.float64]
#: Plain data that JSON can hold.
Plain = dict[str, Any]
#: Arms, or places of candidates, that are available; None for all.
Among = Sequence[Any] | None


class Draw(IntEnum):
    """How an arm came to be chosen, which says what its chance is worth."""

    POLICY = 0  # by the policy, which left no chance to some of the arms
    RANDOM = 1  # by the policy, which left a chance to every arm
    UNIFORM = 2  # uniformly, by the share of traffic kept so
    FLOOR = 3  # by the floors of the arms
    FLOORED = 4  # by the policy, beside floors of every arm


class Asking(NamedTuple):
    """A checked request: the context, and the candidates where these are the arms."""

    context: dict[str, Any] | None = None
    candidates: list[dict[str, Any]] | None = None


class Choice(NamedTuple):
    """One decision: the arm (of candidates its place), the turn for which it was made, the
    probability with which it was made (NaN where it is not known), how it was drawn, and the
    context and candidate that it was chosen with.
    """

    arm: Any
    turn: int = 0
    probability: float = np.nan
    draw: Draw = Draw.POLICY
    context: dict[str, Any] | None = None
    candidate: dict[str, Any] | None = None


class Decider(ABC):
    """What decides; `arms` are those in play, retired ones are not among them."""

    #: Its name in a state file.
    kind: ClassVar[str]

    # What it is

    @property
    @abstractmethod
    def arms(self) -> tuple[Hashable, ...]:
        """The arms in play, in order; none where candidates come with every request."""

    @property
    @abstractmethod
    def rng(self) -> chance.Words:
        """The words of the generator that choices are drawn from."""

    @property
    @abstractmethod
    def policy(self) -> Any:
        """The policy, which chooses."""

    @abstractmethod
    def set_policy(self, policy: Any) -> None:
        """Let another policy choose, with all that was learnt; PolicyError where it cannot."""

    @property
    @abstractmethod
    def turn(self) -> int:
        """The turn to decide: the number of rewards told, plus one."""

    @abstractmethod
    def inward(self, reward: Any) -> float:
        """Return a reward of the user on the scale of the belief; RewardError where it is none."""

    def value(self, reward: Any) -> float:
        """Return a reward of the user on the scale of the family that counts all contexts."""
        return self.inward(reward)

    @abstractmethod
    def outward(self, value: float) -> float:
        """Return a mean on the scale of the belief as the user counts it."""

    # Asking

    @abstractmethod
    def check(self, context: Any = None, candidates: Any = None) -> Asking:
        """Validate a context and candidates; nothing is changed."""

    def check_room(self, asking: Asking, n: int = 1) -> None:  # noqa: B027 (most have room)
        """Refuse a request for which there is no room: new levels, segments, or `n` too large."""

    def meet(self, asking: Asking) -> None:  # noqa: B027 (most need no room)
        """Make room for what is new in a request, and count its numbers; `choose` does so for each
        of its choices, and a log has to before `expect`.
        """

    @abstractmethod
    def choose(
        self, asking: Asking, n: int = 1, among: Among = None, shares: Shares = NO_SHARES
    ) -> list[Choice]:
        """Choose `n` arms, of those `among` which are available, and count them as outstanding.

        Draws are from `rng`. Floors, a uniform share and control's share are kept here, and a batch
        spreads: each choice is made as if those before it had brought what is expected of them. The
        chance of a draw from beliefs is NaN until it is `integrated`.
        """

    @abstractmethod
    def integrated(self, last: list[Choice]) -> list[Choice]:
        """Return the last choices with their chances, those of draws from beliefs worked out."""

    def weights(self, asking: Asking, n: int, shares: Shares = NO_SHARES) -> dict[Any, float]:
        """Return the shares in which the arms in play would get the next `n` decisions if nothing
        were learnt meanwhile; nothing is changed.
        """
        raise SettingError("a belief along features decides with every ask, and has no weights")

    def caution(self, asking: Asking, weights: Mapping[Any, float], n: int) -> str:
        """Return a sentence where weights for `n` decisions are far surer than what is known;
        elsewhere nothing.
        """
        leader = max(weights, key=weights.__getitem__)
        if weights[leader] <= _SURE or n <= _MANY * self.turn:
            return ""
        chance = self.beliefs(asking, 0.95).row(leader)["P(best)"]
        if weights[leader] <= chance + _SURER:
            return ""
        best = f"it is the best with a probability of {chance:.0%}"
        given = f"arm {shown(leader)} gets {weights[leader]:.0%} of {n:,} decisions"
        return f"{given}, and {best}: ask for fewer decisions at a time, or give a floor"

    def chances_of_next(self, asking: Asking, n: int, shares: Shares) -> dict[Any, float]:
        """Return the chance of every arm at hand with which the next `n` decisions are to be drawn,
        each by itself; what a policy wishes may itself be drawn from `rng`.
        """
        return self.weights(asking, n, shares)

    def believed_now(self, asking: Asking) -> Floats:
        """Return what is believed of each arm in play in a request, a row each, as the policy sees
        it: rewards that are old, or provisional, weigh as they do for it.
        """
        raise SettingError("a belief along features is none of each arm")

    @abstractmethod
    def rank(self, asking: Asking, among: Among = None) -> list[Any]:
        """Return arms, or places of candidates, by their index, the largest first."""

    def chances(self, asking: Asking, shares: Shares) -> dict[Any, float] | None:
        """Return the chance that each arm, or place of a candidate, has at one ask that was met;
        None where that is not known.
        """
        return None

    def recall(self, arm: Any, context: Any = None, candidate: Any = None) -> Choice:
        """Return the choice that a log holds, checked: an arm, with its context and candidate."""
        asking = self.check(context, None if candidate is None else [candidate])
        result = None if asking.candidates is None else asking.candidates[0]
        return Choice(arm, context=asking.context, candidate=result)

    @abstractmethod
    def expect(self, choice: Choice, n: int = 1) -> None:
        """Count `n` asks like this one, decided elsewhere, as outstanding."""

    # Learning

    @abstractmethod
    def check_reward(self, choice: Choice, reward: Any) -> None:
        """Raise RewardError where the reward of a choice could not be learnt."""

    @abstractmethod
    def settle(self, choice: Choice, reward: float | None) -> None:
        """Learn the reward of an outstanding choice; None forgets the choice. RewardError, and
        nothing is changed, where the belief would leave its reach.
        """

    def record(self, choice: Choice, reward: float) -> None:
        """Learn a reward that nobody asked for."""
        self.check_reward(choice, reward)
        self.meet(Asking(choice.context, None if choice.candidate is None else [choice.candidate]))
        self.expect(choice)
        try:
            self.settle(choice, reward)
        except Exception:
            self.settle(choice, None)
            raise

    @abstractmethod
    def taught(self, choice: Choice, sums: Sums) -> Plain:
        """Return the patch by which many rewards of one arm are learnt at once; nothing is changed.
        RewardError where they could not be learnt.
        """

    @abstractmethod
    def corrected(
        self, choice: Choice, old: float | None, new: float | None, anew: Anew | None = None
    ) -> Plain | None:
        """Return the patch by which a settled reward is replaced, on the user's scale (None: none
        was, or is, learnt); None where that takes what all rewards of the arm lead to `anew`.
        """

    @abstractmethod
    def take(self, patch: Mapping[str, Any]) -> None:
        """Believe what a patch says; asks that are outstanding stay so."""

    # Arms

    @abstractmethod
    def add(self, arm: Hashable, prior: Any = None) -> None:
        """Take in a new arm with its prior, or bring back a retired one as it was."""

    @abstractmethod
    def retire(self, arm: Hashable) -> None:
        """Play an arm no more; rewards of its outstanding choices still count."""

    # Looking: nothing is changed

    @abstractmethod
    def known(self, asking: Asking | None = None) -> Known:
        """Return what is believed of every arm in play, for reports: in a context, or over all."""

    @abstractmethod
    def beliefs(self, asking: Asking | None, level: float) -> Table:
        """Return the table of beliefs of the arms in play."""

    @abstractmethod
    def explain(self, asking: Asking) -> Table:
        """Return why the next choice is made: what the policy sees of each arm in play."""

    # Keeping

    def lay_out(self) -> None:  # noqa: B027 (most keep nothing)
        """Forget how the policy worked, and nothing that it learnt: what is decided next depends on
        `state()` alone then.
        """

    @abstractmethod
    def copy(self) -> Decider:
        """Return an equal decider that shares nothing with this one."""

    @abstractmethod
    def state(self, working: bool = False) -> Plain:
        """Return all of it as plain data, canonical: deciders that learnt the same have equal
        states. With `working` it also says how far the policy's own work has come, so that a
        restored decider rounds as this one does.
        """

    @classmethod
    @abstractmethod
    def restore(cls, state: Mapping[str, Any], source: str, **replaced: Any) -> Decider:
        """Return the decider of a state; StateError where it cannot be trusted. Arms, family and
        policy may be given in place of those that a file could not hold.
        """
