"""What is believed in contexts, as tables; of copies, so that nothing is changed by looking."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from belman.agent.contextual.agent import ContextualAgent
from belman.errors import StudyError
from belman.studies.contexts.features import FeatureContexts
from belman.studies.contexts.segments import SegmentContexts
from belman.studies.state import State
from belman.table import Table

Given = Mapping[str, Any]
Candidates = Sequence[Given] | None


def looking_in(
    state: State, context: Given | None, candidates: Candidates, look: Callable[[Any], Table]
) -> Table:
    """A look at the agent of a context, or at candidates in one."""
    contexts = state.contexts
    if isinstance(contexts, FeatureContexts):
        if contexts.agent.arms or candidates is not None:
            contexts.check(context, candidates)
        return look(_InContext(contexts.agent, context, candidates))
    if isinstance(contexts, SegmentContexts):
        return look(copy.deepcopy(contexts.agent_in(contexts.check(context, candidates))))
    raise StudyError("this study has no contexts to look at: open_study(…, context=[…]) makes one")


class _InContext:
    """A contextual agent in one of its contexts."""

    def __init__(
        self, agent: ContextualAgent, context: Given | None, candidates: Candidates
    ) -> None:
        self._agent, self._context, self._candidates = agent, context, candidates

    def beliefs(self, level: float) -> Table:
        return self._agent.beliefs(self._context, level, candidates=self._candidates)

    def explain(self) -> Table:
        return self._agent.explain(self._context, candidates=self._candidates)


def along_features(state: State) -> ContextualAgent:
    """The agent of a study along features."""
    if isinstance(state.contexts, FeatureContexts):
        return state.contexts.agent
    raise StudyError("this study has no features: open_study(…, context=[…]) makes one with such")


def segments_table(state: State) -> Table:
    """The segments that were seen."""
    if isinstance(state.contexts, SegmentContexts):
        return Table(state.contexts.tables()["segments"])
    raise StudyError("this study has no segments: open_study(…, segments=[…]) makes one with such")
