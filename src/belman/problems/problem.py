"""The contract of a problem: who answers. A problem is frozen data; the lab plays it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from belman.families.family import Family
from belman.problems.course import FIXED, CourseKernels

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem(ABC):
    """The contract of a problem: arms whose rewards are of one family.

    Problems are frozen data. What happens in a run is in compiled kernels (`course`), which read
    the numbers and the table of the problem.

    Parameters
    ----------
    family
        The family of the rewards; players start from its prior.
    """

    family: Family

    #: Which loop of the lab plays it.
    played_as: ClassVar[str] = "bandit"
    #: Why players in plain Python cannot play it; empty where they can.
    no_python_players: ClassVar[str] = ""
    #: Whether rewards come late, or decisions are made in batches (`delayed`).
    late: ClassVar[bool] = False
    #: What compiled code needs of it where it is played as arms.
    course: ClassVar[CourseKernels] = FIXED
    #: Whether there are turns at which an arm is not there.
    comes_and_goes: ClassVar[bool] = False

    @property
    @abstractmethod
    def arms(self) -> int:
        """How many arms there are."""

    @property
    def sizes(self) -> dict[str, int]:
        """The dims of results that are the problem's own, with their sizes."""
        return {"arm": self.arms}

    @property
    def without(self) -> tuple[str, ...]:
        """Dims of size one that a result leaves out."""
        return ()

    @property
    def matched(self) -> bool:
        """Whether a player's indices are weights of a matching; else it chooses an arm itself."""
        return False

    @property
    @abstractmethod
    def parameters(self) -> Floats:
        """θ of each arm (K × parameters), or where a draw per run will put them."""

    @property
    def world(self) -> Floats:
        """The belief each run draws θ from, and the interval means are scaled to; or empty."""
        return np.zeros(0)

    @property
    def numbers(self) -> Floats:
        """What the kernels of its course read."""
        world = self.world
        return np.array([float(world.size), *world])

    @property
    def table(self) -> Floats:
        """Rows of parameters that they read (S × K × parameters)."""
        return self.parameters[None]

    @property
    def state_size(self) -> int:
        """How many numbers they keep of a run."""
        return 1

    @property
    def findings(self) -> dict[str, Any]:
        """What results say of the problem beside its description."""
        return {}


def _of_inner(name: str) -> Any:
    return property(attrgetter(f"problem.{name}"))


@dataclass(frozen=True)
class Layer(Problem):
    """A problem around another one: the same arms, whose rewards are told otherwise."""

    problem: Problem

    arms = _of_inner("arms")
    parameters = _of_inner("parameters")
    world = _of_inner("world")
    played_as = _of_inner("played_as")
    course = _of_inner("course")
    comes_and_goes = _of_inner("comes_and_goes")
    numbers = _of_inner("numbers")
    table = _of_inner("table")
    state_size = _of_inner("state_size")
    findings = _of_inner("findings")
