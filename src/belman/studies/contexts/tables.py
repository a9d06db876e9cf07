"""What is believed in contexts, as tables; of copies, so that nothing is changed by looking."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from belman.agent import Agent
from belman.agent.contextual.agent import ContextualAgent
from belman.errors import StudyError
from belman.studies.contexts.features import FeatureContexts
from belman.studies.contexts.segments import SegmentContexts
from belman.studies.state import State
from belman.table import Table


def looking_in(state: State, context: Mapping[str, Any], look: Callable[[Any], Table]) -> Table:
    """A look at the agent of a context."""
    contexts = state.contexts
    if isinstance(contexts, FeatureContexts):
        return look(_InContext(contexts.agent, context))
    if isinstance(contexts, SegmentContexts):
        return look(_agent_in(contexts, context))
    raise StudyError("this study has no contexts to look at: open_study(…, context=[…]) makes one")


class _InContext:
    """A contextual agent in one of its contexts."""

    def __init__(self, agent: ContextualAgent, context: Mapping[str, Any]) -> None:
        self._agent, self._context = agent, context

    def beliefs(self, level: float) -> Table:
        return self._agent.beliefs(self._context, level)

    def explain(self) -> Table:
        return self._agent.explain(self._context)


def _agent_in(contexts: SegmentContexts, context: Mapping[str, Any]) -> Agent:
    return copy.deepcopy(contexts.agent_in(contexts.check(context)))


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
