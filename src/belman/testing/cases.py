"""What the contract of a family is tried on, and what the checks share."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from belman import chance
from belman.engine import kernel
from belman.errors import FamilyError
from belman.families.family import Family, Floats

Belief = tuple[float, ...]
Faults = Iterator[str]

#: The chance of a false alarm, for a random seed.
ALARM = 1e-6
_PAIRS = ((0.7, 2.0), (0.3, 0.6), (1.5, 4.0), (-2.0, -0.7))  # of means


class FamilyCase:
    """A family, with the means, beliefs and draws on which its contract is checked.

    Parameters
    ----------
    family
        The family to check, with the constants to try.
    means
        Two means that its rewards can have, the smaller first; by default they are found.
    ordinary
        Beliefs after a few rewards; by default the prior, and what rewards of each mean make of it.
    extreme
        Beliefs after next to nothing, and after very many rewards; by default made of the ordinary
        ones.
    size
        How many draws a check of draws makes.
    """

    def __init__(
        self,
        family: Family,
        means: tuple[float, float] | None = None,
        *,
        ordinary: Sequence[Belief] | None = None,
        extreme: Sequence[Belief] | None = None,
        size: int = 1_000,
    ) -> None:
        self.family, self.size = family, size
        self.means = _two_means(family) if means is None else means
        self._ordinary, self._extreme = ordinary, extreme

    @cached_property
    def ordinary(self) -> tuple[Belief, ...]:
        """The prior, and what a few rewards of each mean make of it."""
        if self._ordinary is not None:
            return tuple(self._ordinary)
        result = [self.family.prior]
        for mean, count in zip(self.means, (3, 25), strict=True):
            belief: ArrayLike = self.family.prior
            for reward in self.draws(mean, count, seed=2):
                belief = self.family.update(belief, float(reward))
            result.append(row(belief))
        return tuple(result)

    @cached_property
    def extreme(self) -> tuple[Belief, ...]:
        """Next to nothing, and thousands and millions of rewards."""
        if self._extreme is not None:
            return tuple(self._extreme)
        few, many = (self.family.natural(self.ordinary[i]) for i in (0, -1))
        etas = (1e-3 * few, 1e3 * many, 1e7 * many)
        return tuple(row(self.family.from_natural(eta)) for eta in etas)

    @cached_property
    def rewards(self) -> tuple[float, ...]:
        """A few possible rewards, with the ends of their range."""
        drawn = self.draws(self.means[1], 4, seed=1).tolist()
        return (*drawn, *filter(self.family.supports, self.family.reward_range or ()))

    def draws(self, mean: float, size: int, seed: int) -> Floats:
        """Draw rewards of an arm.

        Parameters
        ----------
        mean
            The mean of the arm.
        size
            How many rewards.
        seed
            A whole number; the same seed gives the same rewards.

        Returns
        -------
        array
            The rewards.
        """
        theta = self.family.parameter_of(mean)
        return self.family.sample_rewards(theta, chance.generator(seed), size)


def _two_means(family: Family) -> tuple[float, float]:
    for pair in _PAIRS:
        try:
            for mean in pair:
                family.parameter_of(mean)
        except FamilyError:
            continue
        return pair
    low, high = family.mean_range
    if math.isfinite(low) and math.isfinite(high):
        return low + 0.3 * (high - low), low + 0.6 * (high - low)
    if math.isfinite(low):
        return low + 0.5 * max(abs(low), 1.0), low + 2.0 * max(abs(low), 1.0)
    if math.isfinite(high):
        return high - 2.0 * max(abs(high), 1.0), high - 0.5 * max(abs(high), 1.0)
    raise AssertionError(f"{family.name}: give means=(…, …), two that its rewards can have")


def checks_in(names: Mapping[str, Any], case: type) -> tuple[Callable[[Any], Faults], ...]:
    """Every check among the globals of a module: a function of such a case that yields faults."""
    wanted = {"case": case.__name__, "return": "Faults"}
    public = (it for name, it in names.items() if name[0] != "_")
    return tuple(it for it in public if getattr(it, "__annotations__", None) == wanted)


def raise_faults(name: str, checks: Sequence[Callable[[Any], Faults]], case: Any) -> None:
    """Run the checks; raise AssertionError with the first fault, or error, of each."""
    result: list[str] = []
    cause: Exception | None = None
    for check in checks:
        try:
            fault = next(check(case), None)
        except Exception as error:  # of the user's code, or of ours because of it
            fault, cause = f"{type(error).__name__}{_position_of(error)}: {error}", cause or error
        if fault is not None:
            result.append(f"- {check.__name__.replace('_', ' ')}: {fault}")
    if result:
        raise AssertionError("\n".join([f"{name} does not keep the contract:", *result])) from cause


def _position_of(error: Exception) -> str:
    """The function and the line at which an error was raised, which may be the user's."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    last = frames[-1]
    return f" in {last.name} ({Path(last.filename).name}, line {last.lineno})"


@kernel
def _means(family, constants, thetas, out):
    for i in range(out.size):
        out[i] = family.mean(constants, thetas[i])


def row(belief: ArrayLike) -> Belief:
    return tuple(np.asarray(belief, dtype=np.float64).tolist())


def close(result: ArrayLike, wanted: ArrayLike, relative: float, absolute: float = 0.0) -> bool:
    return bool(np.allclose(result, wanted, rtol=relative, atol=absolute))


def means_of(family: Family, thetas: ArrayLike) -> Floats:
    """E_θ[X] for each row of parameters."""
    rows = np.asarray(thetas, dtype=np.float64).reshape(-1, family.parameters)
    out = np.empty(len(rows))
    family.enter(_means, thetas=rows, out=out)
    return out


def slope(function: Callable[[Floats], Any], point: Floats, width: float, axis: int) -> Any:
    """The derivative along an axis, by five points."""
    step = np.zeros(len(point))
    step[axis] = width
    near = function(point + step) - function(point - step)
    far = function(point + 2 * step) - function(point - 2 * step)
    return (8 * near - far) / (12 * width)


def deviations(family: Family, belief: ArrayLike) -> Floats:
    """Standard deviations of the statistics under the belief: the scale of mean parameters."""
    return np.sqrt(np.maximum(np.diag(family.metric(belief)), 0.0))


def uniform_enough(chances: ArrayLike) -> bool:
    """By Kolmogorov and Smirnov, and by mean and variance, which see a wrong scale sooner."""
    from scipy import stats  # half a second, for those who check

    centred = np.asarray(chances) - 0.5
    mean, variance = centred.mean(), np.mean(centred**2) - 1 / 12
    close = abs(mean) < 5 / math.sqrt(12 * centred.size)
    close = close and abs(variance) < 5 / math.sqrt(180 * centred.size)
    return bool(close and stats.kstest(chances, "uniform").pvalue > ALARM)


def refuses(error: type[Exception], call: Callable[..., Any], *arguments: Any) -> bool:
    try:
        call(*arguments)
    except error:
        return True
    return False
