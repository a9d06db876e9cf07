"""Jobs for real servers: who is free, who is fast, who fails."""

from belman.dispatch.dispatcher import Dispatcher

__all__ = ["Dispatcher"]
