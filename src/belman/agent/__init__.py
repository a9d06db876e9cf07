"""ask / tell for a person."""

from belman.agent.agent import Agent, Choice
from belman.agent.contextual import ContextualAgent

__all__ = ["Agent", "Choice", "ContextualAgent"]
