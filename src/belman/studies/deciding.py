"""Deciding: by the policy, uniformly, by floors, or for an arm that was shipped.

Floors are drawn beside the policy: it says which arm it wishes, and a coin gives the turn to an arm
by its floor, or leaves it to the wish. What is logged is the chance of the arm *given the wish*:
its floor, and all that is left to the policy if it is the wished one. Every arm with a floor has
such a chance at every ask, whatever the policy, and estimates that weigh by it are unbiased. Of
control's fixed share the policy has no say: it chooses among the others.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from belman import chance
from belman.engine import LATER, entry
from belman.studies import floors
from belman.studies.event_log import Draw
from belman.studies.settings import Settings

if TYPE_CHECKING:
    from belman.studies.state import State

#: (place, draw, probability) of an ask.
Decision = tuple[int, int, float]


class Deciding:
    """Draws from generators that are forked from the seed of a study, by the number of an ask."""

    def __init__(self, settings: Settings) -> None:
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

    def decide(self, state: State, count: int) -> list[Decision]:
        """The next `count` asks, outstanding from now on."""
        if state.shipped is not None:
            arm = state.register[state.shipped]
            for _ in range(count):
                state.agent.expect(arm)
            return [(state.shipped, int(Draw.POLICY), 1.0)] * count
        if len(state.agent.arms) > 1 and self.floors(state):
            return self._beside_floors(state, count)
        share = self._settings.uniform_share
        uniform = self._uniform_draws(state, count) if share > 0.0 else [None] * count
        chosen = iter(self._policy_draws(state, uniform.count(None)))
        draws = []
        for arm in uniform:
            if arm is None:
                draws.append(next(chosen))
            else:
                state.agent.expect(arm)
                evenly = 1.0 / len(state.agent.arms)
                draws.append((state.places[arm], int(Draw.UNIFORM), evenly))
        return draws

    def _uniform_draws(self, state: State, count: int) -> list[Hashable | None]:
        """Which of the next asks the uniform share takes, with their arms; None for the others."""
        arms = state.agent.arms
        self._fork(state.number + 1, 1)
        taken = [self._uniform() < self._settings.uniform_share for _ in range(count)]
        return [arms[self._below(len(arms))] if uniform else None for uniform in taken]

    def _policy_draws(self, state: State, count: int) -> list[Decision]:
        if not count:
            return []
        agent = state.agent
        self._fork(state.number + 1, 0)
        agent.mind[:] = self._mind
        draw = int(Draw.RANDOM if agent.leaves_all_a_chance else Draw.POLICY)
        if count == 1:
            agent.ask()
        else:
            agent.ask(count)
        return [(state.places[choice.arm], draw, choice.probability) for choice in agent.last]

    # Floors

    def floors(self, state: State) -> dict[Hashable, float]:
        """The floors of the arms that are played now."""
        if self._floors is None:
            rule, arms = self._settings, state.agent.arms
            self._floors = floors.shares(arms, rule.floor, rule.control, rule.control_share)
        return self._floors

    def _beside_floors(self, state: State, count: int) -> list[Decision]:
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
        draws = []
        for coin in coins:
            taken = _taken(coin, own)
            wish = agent.ask(among=open_arms) if rest > 1e-12 else None
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
            draws.append((state.places[arm], int(draw), min(likely, 1.0)))
        return draws

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
