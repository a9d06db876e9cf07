"""The contract of a detector: it hears the rewards of an arm, and says when they have changed.

A detector keeps two rows an arm: `marks`, which are whole numbers (counts and places), and `state`.
Its kernel `watch(family, law, params, marks, state, reward)` takes in a reward and gives whether
there is evidence of a change; the rows are then set to 0, and the arm is watched anew.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.policy import Floats

#: Whole numbers that a detector keeps of an arm.
MARKS = 3


@dataclass(frozen=True)
class Detector(ABC):
    """When there is evidence that the rewards of an arm have changed."""

    name: ClassVar[str]
    #: The kernel, a global of the module of this class.
    watch: ClassVar[Callable[..., Any]]

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers `state` has."""

    @abstractmethod
    def params(self, family: Family) -> Floats:
        """The numbers that the user chose, as the kernel reads them."""

    def check(self, family: Family) -> None:
        """Raise PolicyError where it cannot watch such rewards."""
        return

    def _require(self, name: str, fits: bool, allowed: str) -> None:
        if not fits:
            value = getattr(self, name)
            raise PolicyError(
                f"{name}={value!r} is not valid for {self.name}: it must be {allowed}"
            )
