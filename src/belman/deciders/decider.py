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
    """How an arm came to be chosen, which says what its chance is worth.

    Attributes
    ----------
    POLICY
        By the policy, which left no chance to some of the arms.
    RANDOM
        By the policy, which left a chance to every arm.
    UNIFORM
        Uniformly, by the share of traffic that is kept so.
    FLOOR
        By the floors of the arms.
    FLOORED
        By the policy, beside floors of every arm.
    """

    POLICY = 0
    RANDOM = 1
    UNIFORM = 2
    FLOOR = 3
    FLOORED = 4


class Asking(NamedTuple):
    """A request that was checked.

    Attributes
    ----------
    context
        Values by name; None where decisions take no context.
    candidates
        The features of each candidate; None where arms are not candidates.
    """

    context: dict[str, Any] | None = None
    candidates: list[dict[str, Any]] | None = None


class Choice(NamedTuple):
    """One decision.

    Attributes
    ----------
    arm
        The name of the arm; where arms are candidates, the position of the candidate in the list.
    turn
        The turn for which it was made: the number of rewards told before, plus one.
    probability
        The chance with which it was made; NaN where that is not known (see `Decider.integrated`).
    draw
        How it was drawn.
    context
        The context that it was made in; None where there is none.
    candidate
        The features of the candidate; None where arms are not candidates.
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
        """Let another policy choose from now on, with all that was learnt.

        Parameters
        ----------
        policy
            The policy, which has to suit the family and the number of arms.

        Raises
        ------
        PolicyError
            If it does not suit them.
        """

    @property
    @abstractmethod
    def turn(self) -> int:
        """The turn to decide: the number of rewards told, plus one."""

    @abstractmethod
    def inward(self, reward: Any) -> float:
        """Return a reward of the user on the scale of the belief.

        Parameters
        ----------
        reward
            The reward, as the user counts it.

        Returns
        -------
        float
            The reward, as the belief counts it.

        Raises
        ------
        RewardError
            If it is no reward of the family or the model.
        """

    def value(self, reward: Any) -> float:
        """Return a reward of the user on the scale of the family that counts all contexts together.

        Parameters
        ----------
        reward
            The reward, as the user counts it.

        Returns
        -------
        float
            The reward, as that family counts it.
        """
        return self.inward(reward)

    @abstractmethod
    def outward(self, value: float) -> float:
        """Return a mean on the scale of the belief as the user counts it.

        Parameters
        ----------
        value
            The mean, as the belief counts it.

        Returns
        -------
        float
            The mean, in the user's units.
        """

    # Asking

    @abstractmethod
    def check(self, context: Any = None, candidates: Any = None) -> Asking:
        """Validate a request; nothing is changed.

        Parameters
        ----------
        context
            Values by name, where decisions depend on a context.
        candidates
            The features of each candidate, where arms are candidates.

        Returns
        -------
        Asking
            The request, for the other methods.

        Raises
        ------
        SettingError
            If one of them is missing or not valid, or the decider takes none.
        """

    def check_room(self, asking: Asking, n: int = 1) -> None:  # noqa: B027 (most have room)
        """Refuse a request for which there is no room; most deciders always have room.

        Parameters
        ----------
        asking
            The request, which may bring new levels or a new segment.
        n
            How many choices it asks for.

        Raises
        ------
        SettingError
            If there is no room for them.
        """

    def meet(self, asking: Asking) -> None:  # noqa: B027 (most need no room)
        """Make room for what is new in a request, and count its numbers.

        `choose` does so for each of its choices; whoever repeats a log has to do it before
        `expect`.

        Parameters
        ----------
        asking
            The request, as `check` returns it.
        """

    @abstractmethod
    def choose(
        self, asking: Asking, n: int = 1, among: Among = None, shares: Shares = NO_SHARES
    ) -> list[Choice]:
        """Choose arms and count them as outstanding.

        Draws are from `rng`. A batch spreads: each choice is made as if those before it had brought
        what is expected of them.

        Parameters
        ----------
        asking
            The request, as `check` returns it.
        n
            How many choices to make.
        among
            The arms, or positions of candidates, that are available; None for all.
        shares
            Floors, a uniform share and control's share, which are kept here.

        Returns
        -------
        list of Choice
            The choices. The chance of a draw from beliefs is NaN until it is `integrated`.

        Raises
        ------
        ArmError
            If `among` names an arm that is not in play, or none.
        """

    @abstractmethod
    def integrated(self, last: list[Choice]) -> list[Choice]:
        """Work out the chances of the last choices that were drawn from beliefs.

        Parameters
        ----------
        last
            What the last call of `choose` returned.

        Returns
        -------
        list of Choice
            The same choices with their chances.
        """

    def weights(self, asking: Asking, n: int, shares: Shares = NO_SHARES) -> dict[Any, float]:
        """Return the shares in which the arms in play would get the next `n` decisions if nothing
        were learnt meanwhile; nothing is changed.

        Parameters
        ----------
        asking
            The request, as `check` returns it.
        n
            How many decisions.
        shares
            Floors, a uniform share and control's share.

        Returns
        -------
        dict
            A share of each arm by its name; they add up to 1.

        Raises
        ------
        SettingError
            If decisions are made along features, which have no weights.
        """
        raise SettingError("a belief along features decides with every ask, and has no weights")

    def caution(self, asking: Asking, weights: Mapping[Any, float], n: int) -> str:
        """Warn where weights for `n` decisions are far surer than what is known.

        Parameters
        ----------
        asking
            The request, as `check` returns it.
        weights
            The shares of the arms, as `weights` returns them.
        n
            How many decisions they are for.

        Returns
        -------
        str
            A sentence; empty where there is nothing to warn of.
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
        """Return the chances with which the next `n` decisions are to be drawn, each by itself.

        Parameters
        ----------
        asking
            The request. What a policy wishes in it may itself be drawn from `rng`.
        n
            How many decisions.
        shares
            Floors, a uniform share and control's share.

        Returns
        -------
        dict
            The chance of each arm, or position of a candidate; they add up to 1.
        """
        return self.weights(asking, n, shares)

    def believed_now(self, asking: Asking) -> Floats:
        """Return what is believed of the arms as the policy sees it: rewards that are old, or
        provisional, weigh as they do for it.

        Parameters
        ----------
        asking
            The request, as `check` returns it.

        Returns
        -------
        array
            The coordinates of the belief about each arm in play, a row each.

        Raises
        ------
        SettingError
            If there is one belief for all arms, along features.
        """
        raise SettingError("a belief along features is none of each arm")

    @abstractmethod
    def rank(self, asking: Asking, among: Among = None) -> list[Any]:
        """Rank arms as the policy sees them now; nothing is counted as outstanding.

        Parameters
        ----------
        asking
            The request, as `check` returns it.
        among
            The arms, or positions of candidates, that are available; None for all.

        Returns
        -------
        list
            Arms, or positions of candidates, by their index, the largest first.
        """

    def chances(self, asking: Asking, shares: Shares) -> dict[Any, float] | None:
        """Return the chance that each arm has at one ask that was met.

        Parameters
        ----------
        asking
            The request, as `check` returns it.
        shares
            Floors, a uniform share and control's share.

        Returns
        -------
        dict, or None
            The chance of each arm, or position of a candidate; None where they are not known.
        """
        return None

    def recall(self, arm: Any, context: Any = None, candidate: Any = None) -> Choice:
        """Make the choice that a log holds, and check its context and candidate.

        Parameters
        ----------
        arm
            The name of the arm, or the position of the candidate.
        context
            The context that it was chosen in, values by name.
        candidate
            The features of the candidate.

        Returns
        -------
        Choice
            The choice, of turn 0 and with an unknown chance.
        """
        asking = self.check(context, None if candidate is None else [candidate])
        result = None if asking.candidates is None else asking.candidates[0]
        return Choice(arm, context=asking.context, candidate=result)

    @abstractmethod
    def expect(self, choice: Choice, n: int = 1) -> None:
        """Count asks that were decided elsewhere as outstanding.

        Parameters
        ----------
        choice
            What was decided.
        n
            How many asks it stands for.
        """

    # Learning

    @abstractmethod
    def check_reward(self, choice: Choice, reward: Any) -> None:
        """Refuse the reward of a choice that could not be learnt; nothing is changed.

        Parameters
        ----------
        choice
            The choice, from `choose` or `recall`.
        reward
            The reward, as the user counts it.

        Raises
        ------
        RewardError
            If the family does not allow it, or it is too large for the belief.
        """

    @abstractmethod
    def settle(self, choice: Choice, reward: float | None) -> None:
        """Learn the reward of an outstanding choice.

        Parameters
        ----------
        choice
            The choice, from `choose` or `recall`.
        reward
            The reward, as the user counts it; None forgets the choice.

        Raises
        ------
        RewardError
            If the reward cannot be learnt; then nothing is changed.
        """

    def record(self, choice: Choice, reward: float) -> None:
        """Learn a reward that nobody asked for.

        Parameters
        ----------
        choice
            What was played.
        reward
            The reward, as the user counts it.

        Raises
        ------
        RewardError
            If the reward cannot be learnt; then it does not count.
        """
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
        """Work out what many rewards of one arm lead to at once; nothing is changed.

        Parameters
        ----------
        choice
            The arm, and the context of its rewards.
        sums
            How many rewards there are, with their sums, on the scale of the family.

        Returns
        -------
        dict
            The patch by which `take` learns them.

        Raises
        ------
        RewardError
            If they cannot be learnt together.
        """

    @abstractmethod
    def corrected(
        self, choice: Choice, old: float | None, new: float | None, anew: Anew | None = None
    ) -> Plain | None:
        """Work out what replacing a settled reward leads to; nothing is changed.

        Parameters
        ----------
        choice
            The choice, from `choose` or `recall`.
        old
            The reward that was learnt, as the user counts it; None if none was.
        new
            The right reward; None to learn none.
        anew
            What all rewards of the arm lead to, where the caller has learnt them once more.

        Returns
        -------
        dict, or None
            The patch by which `take` learns it; None where it cannot be worked out without `anew`.
        """

    @abstractmethod
    def take(self, patch: Mapping[str, Any]) -> None:
        """Believe what a patch says; asks that are outstanding stay so.

        Parameters
        ----------
        patch
            What `taught` or `corrected` returned.
        """

    # Arms

    @abstractmethod
    def add(self, arm: Hashable, prior: Any = None) -> None:
        """Take in a new arm, or bring back a retired one as it was.

        Parameters
        ----------
        arm
            The name of the arm.
        prior
            The belief about a new arm at first; by default that of the decider.

        Raises
        ------
        ArmError
            If the arm is in play already.
        """

    @abstractmethod
    def retire(self, arm: Hashable) -> None:
        """Stop playing an arm; rewards of its outstanding choices still count.

        Parameters
        ----------
        arm
            The name of the arm.

        Raises
        ------
        ArmError
            If it is not in play, or the last one.
        """

    # Looking: nothing is changed

    @abstractmethod
    def known(self, asking: Asking | None = None) -> Known:
        """Return what is believed of every arm in play, for reports.

        Parameters
        ----------
        asking
            The context to look at; None for what is known over all contexts.

        Returns
        -------
        Known
            Beliefs, and sums of rewards.
        """

    @abstractmethod
    def beliefs(self, asking: Asking | None, level: float) -> Table:
        """Tabulate what is believed of the arms.

        Parameters
        ----------
        asking
            The context, and the candidates; None for what is known over all contexts.
        level
            The probability of credible intervals.

        Returns
        -------
        Table
            A row for each arm in play, or for each candidate.
        """

    @abstractmethod
    def explain(self, asking: Asking) -> Table:
        """Tabulate why the next choice is made.

        Parameters
        ----------
        asking
            The request, as `check` returns it.

        Returns
        -------
        Table
            What the policy sees of each arm in play, the largest index first.
        """

    # Keeping

    def lay_out(self) -> None:  # noqa: B027 (most keep nothing)
        """Forget how the policy worked, and nothing that it learnt: what is decided next depends on
        `state()` alone then.
        """

    @abstractmethod
    def copy(self) -> Decider:
        """Copy the decider.

        Returns
        -------
        Decider
            An equal one that shares nothing with this one.
        """

    @abstractmethod
    def state(self, working: bool = False) -> Plain:
        """Return the whole state as plain data. Deciders that learnt the same have equal states.

        Parameters
        ----------
        working
            Whether to say also how far the policy's own work has come, so that a restored decider
            rounds as this one does.

        Returns
        -------
        dict
            What `restore` reads.
        """

    @classmethod
    @abstractmethod
    def restore(cls, state: Mapping[str, Any], source: str, **replaced: Any) -> Decider:
        """Make the decider of a state.

        Parameters
        ----------
        state
            What `state` returned.
        source
            What messages call the state, such as the path of its file.
        replaced
            Arms, a family or a policy in place of those of the state, for what a file could not
            hold.

        Returns
        -------
        Decider
            The decider.

        Raises
        ------
        StateError
            If the state cannot be trusted.
        """
