"""ask / tell for a person: one class, whichever decider is behind it."""

from belman.agent.agent import Agent
from belman.agent.features import Features

__all__ = ["Agent", "Features"]
