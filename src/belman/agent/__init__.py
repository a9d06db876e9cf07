"""ask / tell for a person."""

from belman.agent.agent import Agent, Choice

__all__ = ["Agent", "Choice"]
