"""Detectors of a change: the contract, and the tests of GLR, CUSUM and two windows.

The contract of a detector: it hears the rewards of an arm, and says when they have changed.

A detector keeps two rows an arm: `marks`, which are whole numbers (counts and places), and `state`.
Its kernel `watch(family, constants, params, marks, state, reward)` takes in a reward and says if
there is evidence of a change; the rows are then set to 0, and the arm is watched anew.

The generalised likelihood ratio test of a change (Besson, Kaufmann, Maillard and Seznec, 2022).

Of n rewards of an arm it asks whether two means explain them better than one: there is a change if
sup_s s d(μ̂_{1:s}, μ̂) + (n − s) d(μ̂_{s+1:n}, μ̂) ≥ ln(n^{3/2}/δ). The places s are kept on a grid of
bounded size, which grows coarser as n grows.

Two-sided CUSUM (Liu, Lee and Shroff, 2018): a walk that drifts down until the mean has moved.

The first `basis` rewards give μ̂. From then on g⁺ = max(0, g⁺ + x − μ̂ − ε), and g⁻ is the same of
μ̂ − x; there is a change where either reaches `bar`.

The two halves of a window (Cao, Wen, Kveton and Xie, 2019): M-UCB's test of a change.

There is one if the sums of the last w/2 rewards of an arm and of the w/2 before them differ by more
than `bar`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from belman.engine import kernel
from belman.errors import PolicyError
from belman.families.family import Family
from belman.policies.memory import Floats
from belman.policies.policy import numbers_of
from belman.policies.settings import Allowed, FromOne, FromZero, check_settings, is_whole, number
from belman.registry import register

#: Whole numbers that a detector keeps of an arm.
MARKS = 3


@dataclass(frozen=True)
class Detector(ABC):
    """When there is evidence that the rewards of an arm have changed."""

    name: ClassVar[str]
    #: The kernel, a global of the module of this class.
    watch: ClassVar[Callable[..., Any]]
    #: Every detector that is known by name.
    registry: ClassVar[dict[str, type[Detector]]] = {}

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers `state` has."""

    def params(self, family: Family) -> Floats:
        """Return the numbers that the kernel reads.

        Parameters
        ----------
        family
            The family of the rewards.

        Returns
        -------
        ndarray
            The settings, in their order.
        """
        return np.array(numbers_of(self))

    def check(self, family: Family) -> None:
        """Refuse a family whose rewards it cannot watch.

        Parameters
        ----------
        family
            The family of the rewards.

        Raises
        ------
        PolicyError
            If it cannot watch such rewards.
        """
        return


#: Every detector by its name.
DETECTORS = Detector.registry

SPLITS = 256
SEEN, KEPT, STRIDE = 0, 1, 2  # marks
TOTAL, FIRST = 0, 1  # state: the sum so far, then the sums at each kept split


@kernel
def keep_split(marks, state):
    """Keep the sum so far as one at a split; where there are too many, every second one stays."""
    if marks[KEPT] >= SPLITS:
        half = SPLITS // 2
        for i in range(half):
            state[FIRST + i] = state[FIRST + 2 * i + 1]
        marks[KEPT] = half
        marks[STRIDE] = 2.0 * marks[STRIDE]
    if marks[SEEN] % marks[STRIDE] == 0.0:
        state[FIRST + int(marks[KEPT])] = state[TOTAL]
        marks[KEPT] += 1.0


@kernel
def glr_watch(family, constants, params, marks, state, reward):
    """Record a reward; all splits that are kept are tried at regular intervals."""
    if marks[STRIDE] < 1.0:
        marks[STRIDE] = 1.0
    marks[SEEN] += 1.0
    state[TOTAL] += reward
    keep_split(marks, state)
    n, total = marks[SEEN], state[TOTAL]
    if n % params[1] != 0.0:
        return False
    mean = total / n
    bar = 1.5 * math.log(n) - math.log(params[0])
    for i in range(min(int(marks[KEPT]), SPLITS)):
        s = (i + 1.0) * marks[STRIDE]
        if s >= n:
            break
        first = state[FIRST + i]
        result = s * family.d(constants, first / s, mean, 1.0)
        result += (n - s) * family.d(constants, (total - first) / (n - s), mean, 1.0)
        if result >= bar:
            return True
    return False


@register
class GLRTest(Detector):
    """Two means explain the rewards better than one, at risk `delta`; tried every `every` rewards.

    Parameters
    ----------
    delta
        The risk of noticing a change where there was none.
    every
        The number of rewards from one test to the next.

    >>> GLRTest(delta=0.01)
    GLRTest(delta=0.01, every=5)
    """

    delta: Annotated[float, number("()", 0.0, 1.0, "a risk between 0 and 1")] = 0.01
    every: FromOne = 5

    name = "glr-test"
    watch = glr_watch
    size = FIRST + SPLITS

    def check(self, family: Family) -> None:
        if not family.mean_fixes_distribution:
            why = f"the mean of {family.name} rewards does not fix their distribution"
            raise PolicyError(f"{self.name} compares distributions by their means: {why}")


@kernel
def cusum_watch(family, constants, params, marks, state, reward):
    """Take in a reward: of the basis, or a step of both walks."""
    if marks[0] < params[0]:
        marks[0] += 1.0
        state[0] += reward
        return False
    apart = reward - state[0] / marks[0]
    state[1] = max(0.0, state[1] + apart - params[1])
    state[2] = max(0.0, state[2] - apart - params[1])
    return max(state[1], state[2]) >= params[2]


@register
class CUSUMTest(Detector):
    """The mean of the first `basis` rewards has moved by more than `slack`, in the rewards' units.

    Parameters
    ----------
    basis
        The number of first rewards whose mean is compared with.
    slack
        The move of the mean that is no change, in the rewards' units.
    bar
        The height of the walk that counts as a change.

    >>> CUSUMTest(bar=8.0)
    CUSUMTest(basis=50, slack=0.1, bar=8.0)
    """

    basis: FromOne = 50
    slack: FromZero = 0.1
    bar: FromZero = 10.0

    name = "cusum-test"
    watch = cusum_watch
    size = 3


_MOST = 100_000
_EVEN = Allowed(
    lambda last: is_whole(last, 2, _MOST) and last % 2 == 0, f"an even number from 2 to {_MOST:,}"
)


@kernel
def window_watch(family, constants, params, marks, state, reward):
    """Take in a reward: both sums are kept, and so are the rewards, in a ring."""
    size = state.size - 2
    half = size // 2
    position = int(marks[0]) % size
    middle = (position + half) % size
    # what leaves the newer half joins the older one, and its oldest is gone
    state[1] += state[2 + middle] - state[2 + position]
    state[0] += reward - state[2 + middle]
    state[2 + position] = reward
    marks[0] += 1.0
    return marks[0] >= size and abs(state[0] - state[1]) > params[0]


@register
class WindowTest(Detector):
    """The sums of the two halves of the last `last` rewards of an arm differ by more than `bar`.

    Parameters
    ----------
    last
        The number of newest rewards in the window, an even one.
    bar
        The difference of the two sums that counts as a change.

    >>> WindowTest(last=100, bar=20.0)
    WindowTest(last=100, bar=20.0)
    """

    last: Annotated[int, _EVEN] = 200
    bar: FromZero = 40.0

    name = "window-test"
    watch = window_watch

    @property
    def size(self) -> int:
        return 2 + self.last

    def params(self, family: Family) -> Floats:
        return np.array([float(self.bar)])
