"""Contexts along features: one belief for all arms, or for candidates that come and go."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from belman import chance
from belman.agent.contextual import saving
from belman.agent.contextual.agent import ContextualAgent
from belman.agent.contextual.mind import Asking
from belman.errors import SettingError
from belman.policies.dependent import DependentPolicy
from belman.studies.contexts.context import Contexts, check_candidates
from belman.studies.rules.written import check_texts

#: Arms × coefficients × tickets of one ask: tickets of a batch are decided one after another.
MOST_CELLS = 4_000_000
#: Coefficients that the page lists.
MOST_LISTED = 200


class FeatureContexts(Contexts):
    """A contextual agent whose asks are those of the log."""

    def __init__(self, agent: ContextualAgent) -> None:
        self.agent = agent

    def check(self, context: Any, candidates: Any = None) -> Asking:
        found = self.agent.check(context, check_candidates(candidates))
        for values in (found.context, *(found.candidates or ())):
            check_texts(values)
        return found

    def choose(
        self, asking: Asking, count: int, among: Sequence[int], mind: chance.Words
    ) -> list[tuple[int, float]]:
        self.agent.mind[:] = mind
        self.agent.meet(asking, count=False)
        found = self.agent.choose(asking, count, among)
        known = not self.agent.policy.by_chance
        return [(place, 1.0 / tied if known else math.nan) for place, tied in found]

    def rank(self, asking: Asking, among: Sequence[int]) -> list[int]:
        self.agent.meet(asking, count=False)
        return self.agent.rank(asking, among)

    def meet(self, asking: Asking) -> None:
        self.agent.meet(asking, count=False)  # as `choose` did, to the last bit
        self.agent.meet(asking)

    def check_room(self, asking: Asking, tickets: int) -> None:
        self.agent.check_room(asking)
        arms = len(self.agent.arms if asking.candidates is None else asking.candidates)
        most = max(MOST_CELLS // (arms * self.agent.columns), 1)
        if tickets > most:
            what = f"{arms:,} arms with {self.agent.columns:,} coefficients"
            words = f"one ask gives at most {most:,} in a context, of {what}: ask for fewer"
            raise SettingError(f"{tickets:,} tickets were asked for, and {words}")

    def check_reward(self, asking: Asking, place: int, reward: float) -> None:
        self.agent.inward(reward)

    def learn(self, asking: Asking, place: int, reward: float) -> None:
        self.agent.learn(asking, place, self.agent.inward(reward))

    def expected(self, asking: Asking, place: int) -> float:
        return self.agent.expected(asking, place)

    @property
    def policy(self) -> DependentPolicy:
        return self.agent.policy

    @property
    def categories(self) -> list[str]:
        return self.agent.categories

    def status(self) -> dict[str, Any]:
        return {"model": self.agent.model.name, "context": self.agent.context_names}

    def tables(self) -> dict[str, Any]:
        return {"coefficients": dict(self.agent.coefficients(most=MOST_LISTED).columns)}

    def copied(self) -> FeatureContexts:
        return FeatureContexts(deepcopy(self.agent))

    def learnt(self) -> dict[str, Any]:
        self.agent.mind[:] = chance.generator(0)  # every decision forks its own
        found: dict[str, Any] = json.loads(self.agent.to_json())
        return found

    def take(self, content: Mapping[str, Any]) -> None:
        text = json.dumps(content)
        self.agent = saving.from_text(ContextualAgent, text, "the study")
