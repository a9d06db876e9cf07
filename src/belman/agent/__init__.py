"""ask / tell for a person: one class, whichever decider is behind it."""

from belman.agent.agent import Agent

__all__ = ["Agent"]
