"""Bayesian bandits on the belief–reward manifold: decide, turn by turn, which option to try.

>>> import belman
>>> agent = belman.Agent(["blue", "green", "red"], seed=7)
>>> arm = agent.ask()
>>> agent.tell(arm, 1)

Here is what one begins with. All that there is several of a kind of is in the room of its kind:
`belman.policies`, `belman.families`, `belman.exposure`, `belman.models`, `belman.problems`,
`belman.measures`, `belman.plots`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from belman import exposure, families, measures, models, plots, policies, problems
    from belman.agent import Agent
    from belman.analysis import analyse, evaluate
    from belman.assignment import LocalDecider, Weights, assign
    from belman.bridges.async_client import AsyncClient as AsyncClient
    from belman.bridges.async_study import AsyncStudy as AsyncStudy
    from belman.bulk_assignment import assign_many
    from belman.deciders.box.box import Box
    from belman.dispatch import Dispatcher
    from belman.engine import kernel
    from belman.errors import BelmanError
    from belman.lab import explore, simulate
    from belman.measures import compare
    from belman.policies import BelMan, Thompson, Uniform
    from belman.service.client import Client
    from belman.studies import Study, open_study
    from belman.version import __version__

__all__ = [
    "Agent",
    "AsyncClient",
    "AsyncStudy",
    "BelMan",
    "BelmanError",
    "Box",
    "Client",
    "Dispatcher",
    "LocalDecider",
    "Study",
    "Thompson",
    "Uniform",
    "Weights",
    "__version__",
    "analyse",
    "assign",
    "assign_many",
    "compare",
    "evaluate",
    "explore",
    "exposure",
    "families",
    "kernel",
    "measures",
    "models",
    "open_study",
    "plots",
    "policies",
    "problems",
    "simulate",
]

#: Where names are: a room is imported when one of its names is used for the first time.
_HOMES = {
    "belman.agent": "Agent",
    "belman.analysis": "analyse evaluate",
    "belman.assignment": "LocalDecider Weights assign",
    "belman.bridges.async_client": "AsyncClient",
    "belman.bridges.async_study": "AsyncStudy",
    "belman.bulk_assignment": "assign_many",
    "belman.deciders.box.box": "Box",
    "belman.dispatch": "Dispatcher",
    "belman.engine": "kernel",
    "belman.errors": "BelmanError",
    "belman.lab": "explore simulate",
    "belman.measures": "compare",
    "belman.policies": "BelMan Thompson Uniform",
    "belman.service.client": "Client",
    "belman.studies": "Study open_study",
    "belman.version": "__version__",
}
#: Where a name may be that is not at the top.
_ROOMS = (
    "agent",
    "analysis",
    "policies",
    "families",
    "exposure",
    "models",
    "problems",
    "measures",
    "dispatch",
    "engine",
)
_LATE = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    try:
        return importlib.import_module(f"belman.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"belman.{name}":
            raise
    rooms = [] if name.startswith("_") else [f"belman.{room}" for room in _ROOMS]
    near = [room for room in rooms if hasattr(importlib.import_module(room), name)]
    hint = f": it is {near[0]}.{name}" if near else ""
    raise AttributeError(f"module 'belman' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
