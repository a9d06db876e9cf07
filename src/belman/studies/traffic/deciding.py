"""Deciding: by the policy, uniformly, by floors, or for an arm that was shipped.

Floors are drawn beside the policy: it says which arm it wishes, and a coin gives the turn to an arm
by its floor, or leaves it to the wish. What is logged is the chance of the arm *given the wish*:
its floor, and all that is left to the policy if it is the wished one. Every arm with a floor has
such a chance at every ask, whatever the policy, and estimates that weigh by it are unbiased. Of
control's fixed share the policy has no say: it chooses among the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from belman import chance
from belman.engine import LATER, entry
from belman.studies.log.event_log import Draw
from belman.studies.rules import floors
from belman.studies.settings import StudySettings

if TYPE_CHECKING:
    from belman.agent.contextual.mind import Asking
    from belman.studies.state import State


#: The place of an arm, how it was drawn, its chance; and where candidates are the arms, which of
#: them.
Decision = tuple[int, int, float, int | None]


class Deciding:
    """Draws from generators that are forked from the seed of a study, by the number of an ask."""

    def __init__(self, settings: StudySettings) -> None:
        self._settings = settings
        self._words = settings.words()
        self._mind = np.zeros_like(self._words)  # of one decision
        self._fork = entry(chance.fork).hold(LATER, words=self._words, out=self._mind)
        self._uniform = entry(chance.uniform).hold(LATER, mind=self._mind)
        self._below = entry(chance.below).hold(LATER, mind=self._mind)
        self.forget()

    def forget(self) -> None:
        """Forget what follows from the arms that are played: they change."""
        self._floors: dict[Hashable, float] | None = None
        self._chances: dict[int, dict[int, float]] = {}

    def decide(self, state: State, count: int, asking: Asking | None = None) -> Iterable[Decision]:
        """The next `count` asks, outstanding from now on; in a context, if there are such. They are
        made one by one as they are read, since there may be many.
        """
        if state.shipped is not None:
            arm = state.register[state.shipped]
            for _ in range(count):
                state.agent.expect(arm)
            return repeat((state.shipped, int(Draw.POLICY), 1.0, None), count)
        if len(state.agent.arms) > 1 and self.floors(state):
            return self._beside_floors(state, count, asking)
        share = self._settings.uniform_share
        candidates = None if asking is None else asking.candidates
        of = len(state.agent.arms if candidates is None else candidates)
        if share == 0.0:
            return self._policy_draws(state, count, asking)
        uniform = self._uniform_draws(state, count, of)
        chosen = iter(self._policy_draws(state, uniform.count(None), asking))
        draws: list[Decision] = []
        for place in uniform:
            if place is None:
                draws.append(next(chosen))
            else:
                arm = state.agent.arms[place if candidates is None else 0]
                state.agent.expect(arm)
                which = None if candidates is None else place
                draws.append((state.places[arm], int(Draw.UNIFORM), 1.0 / of, which))
        return draws

    def _uniform_draws(self, state: State, count: int, of: int) -> list[int | None]:
        """Which of the next asks the uniform share takes, with the places that it draws of so many;
        None for the others.
        """
        self._fork(state.number + 1, 1)
        taken = [self._uniform() < self._settings.uniform_share for _ in range(count)]
        return [self._below(of) if uniform else None for uniform in taken]

    def _policy_draws(self, state: State, count: int, asking: Asking | None) -> Iterable[Decision]:
        if not count:
            return ()
        agent = state.agent
        self._fork(state.number + 1, 0)
        if asking is not None:
            return self._in_context(state, count, asking, agent.arms)
        agent.mind[:] = self._mind
        draw = int(Draw.RANDOM if agent.leaves_all_a_chance else Draw.POLICY)
        arms = [agent.ask()] if count == 1 else agent.ask(count)
        places = map(state.places.__getitem__, arms)
        return zip(places, repeat(draw), agent.probabilities, repeat(None))

    def _in_context(
        self, state: State, count: int, asking: Asking, among: Sequence[Hashable]
    ) -> list[Decision]:
        """What is chosen in a context among some of the arms, outstanding from now on."""
        assert state.contexts is not None
        places = [state.places[arm] for arm in among]
        draws, has_arms = [], asking.candidates is None
        for chosen, probability in state.contexts.choose(asking, count, places, self._mind):
            place = chosen if has_arms else 0
            state.agent.expect(state.register[place])
            which = None if has_arms else chosen
            draws.append((place, int(Draw.POLICY), probability, which))
        return draws

    # Floors

    def floors(self, state: State) -> dict[Hashable, float]:
        """The floors of the arms that are played now."""
        if self._floors is None:
            rule, arms = self._settings, state.agent.arms
            self._floors = floors.shares(arms, rule.floor, rule.control, rule.control_share)
        return self._floors

    def _beside_floors(
        self, state: State, count: int, asking: Asking | None = None
    ) -> list[Decision]:
        """Every ask by a floor or by the policy's wish, with its chance given the wish."""
        agent, own, settings = state.agent, self.floors(state), self._settings
        rest = max(1.0 - sum(own.values()), 0.0)
        fixed = settings.control if settings.control_share is not None else None
        open_arms = [arm for arm in agent.arms if arm != fixed] if fixed in own else None
        all_have = len(own) == len(agent.arms)
        self._fork(state.number + 1, 2)
        coins = [self._uniform() for _ in range(count)]
        self._fork(state.number + 1, 0)
        agent.mind[:] = self._mind
        draws: list[Decision] = []
        for coin in coins:
            taken = _taken(coin, own)
            wish = None if rest <= 1e-12 else self._wish(state, asking, open_arms)
            arm = wish if taken is None else taken
            if wish is None:
                arm = next(reversed(own)) if taken is None else taken  # by a rounding error
                agent.expect(arm)
            elif arm != wish:
                agent.cancel(wish)
                agent.expect(arm)
            draw = Draw.POLICY
            if all_have:
                draw = Draw.FLOORED if taken is None else Draw.FLOOR
            likely = own.get(arm, 0.0) + (rest if arm == wish else 0.0)
            draws.append((state.places[arm], int(draw), min(likely, 1.0), None))
        return draws

    def _wish(self, state: State, asking: Asking | None, among: list[Hashable] | None) -> Hashable:
        """The arm that the policy would have, outstanding from now on."""
        if asking is None:
            return state.agent.ask(among=among)
        arms = state.agent.arms if among is None else among
        return state.register[self._in_context(state, 1, asking, arms)[0][0]]

    # What the chances were

    def chances(self, state: State, draw: int) -> dict[int, float] | None:
        """The chance of every arm that is played in a draw of this kind, by place, where no policy
        had a say.
        """
        if draw not in (Draw.UNIFORM, Draw.FLOOR):
            return None
        if draw not in self._chances:
            arms = state.agent.arms
            own = self.floors(state) if draw == Draw.FLOOR else dict.fromkeys(arms, 1.0)
            total = sum(own.values())
            self._chances[draw] = {state.places[arm]: own[arm] / total for arm in own}
        return self._chances[draw]


def _taken(coin: float, own: dict[Hashable, float]) -> Hashable | None:
    """The arm to whose floor a coin falls; None leaves it to the policy."""
    for arm, share in own.items():
        coin -= share
        if coin < 0.0:
            return arm
    return None
