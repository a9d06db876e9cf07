"""ask and tell in contexts, for arms with features."""

from belman.agent.contextual.agent import ContextualAgent
from belman.agent.contextual.open_asks import Asked

__all__ = ["Asked", "ContextualAgent"]
