"""The contract of a problem: who answers. A problem is frozen data; the lab plays it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.families.family import Family

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem(ABC):
    """Arms whose rewards are of one family; players start from the family's prior."""

    family: Family

    @property
    @abstractmethod
    def arms(self) -> int:
        """How many arms there are."""

    @property
    @abstractmethod
    def parameters(self) -> Floats:
        """θ of each arm (K × parameters), or where a draw per run will put them."""

    @property
    @abstractmethod
    def world(self) -> Floats:
        """The belief from which each run draws θ of every arm, and the ends of the interval to which means are scaled.

        Empty if fixed.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The problem in words and numbers that JSON can hold."""
