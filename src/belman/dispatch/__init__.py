"""Jobs for real servers: who is free, who is fast, who fails."""

from belman.dispatch.breaker import Breaker
from belman.dispatch.dispatcher import Dispatcher
from belman.dispatch.jobs import Job
from belman.dispatch.shared import SharedDispatcher
from belman.dispatch.simulation import dispatched, simulate_servers
from belman.dispatch.slots import LearntSlots

__all__ = ["Breaker", "Dispatcher", "Job", "LearntSlots", "SharedDispatcher"]
__all__ += ["dispatched", "simulate_servers"]
