"""The contract of a shared belief: arms are directions φ, and a reward tells of θ through φᵀθ.

The belief on θ is N(m, s·LLᵀ), where s is the variance of the noise for linear rewards (known, or
believed to be inverse-gamma) and 1 for others; what it says of an arm is the marginal of φᵀθ, the
arm's point on the manifold. A belief is a *bank* of such distributions, one for each prior scale
that is tried, weighed by how well they foresaw the rewards; mostly it is a bank of one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.engine import Bundle
from belman.errors import FamilyError, PriorError, RewardError, unknown
from belman.models import arrow

Floats = NDArray[np.float64]
Kernel = Callable[..., Any]

#: The parts of `distribution`: what is kept of the past at every reward, a number of the model's
#: own, and the belief on the noise before the first reward.
KEEP, SETTING, SHAPE, RATE = 0, 1, 2, 3
#: The factors of the scale of a block whose scale is learnt.
BANK = (1.0 / 16.0, 1.0 / 4.0, 1.0, 4.0)
#: The largest reward: a belief that has met it still tells small ones apart.
LARGEST = 1e12
#: What a prior scale may be.
LEAST, MOST = 1e-9, 1e9
#: How many features there may be: a belief holds their square.
MOST_FEATURES = 5_000


#: What a belief keeps: a covariance of all coefficients, or a variance of each.
FULL, DIAGONAL = "full", "diagonal"


class Belief(NamedTuple):
    """A bank of B distributions on d coefficients; `Model.belief` makes the first one.

    The variance of a distribution is s·LLᵀ, where s is the variance of the noise for linear rewards
    and 1 for others. Kernels change its arrays as rewards come.

    Attributes
    ----------
    mean
        The means m (B, d).
    root
        L (B, d, width), without entries that are always 0.
    begin
        Of each row of L (d), where the block begins that it depends on.
    noise
        Shape and rate of the belief on the precision of the noise (B, 2); 0 where the noise is
        known.
    fit
        ln of the marginal likelihood of each distribution (B), less that of the best.
    share
        What each distribution is worth (B): exp(`fit`), summing to 1.
    prior
        The standard deviations of the prior around 0 (B, d), in the units of the model.
    age
        Of each coefficient (d), how many rewards since it last faded had it in their context.
    clock
        How many rewards were learnt (1).
    scratch
        Room for kernels (5, d), and at least 4 wide.
    """

    mean: Floats  # (B, d) m
    root: Floats  # (B, d, width) L, but for what is 0 (`arrow.py`)
    begin: arrow.Places  # (d) where the own block of each row begins, of L
    noise: Floats  # (B, 2) shape and rate of the belief on the precision of the noise
    fit: Floats  # (B) ln of the marginal likelihood, the largest at 0
    share: Floats  # (B) what each is worth: exp(fit), summing to 1
    prior: Floats  # (B, d) the standard deviations of the prior, around 0
    age: Floats  # (d) rewards since a coefficient last faded in whose contexts it counted
    clock: Floats  # (1) rewards learnt
    scratch: Floats  # (5, d), and at least 4 wide


class Block(NamedTuple):
    """Coefficients that have one prior scale.

    Attributes
    ----------
    size
        How many coefficients there are, from 0 up.
    scale
        The standard deviation of each before the first reward, from 1e-9 to 1e9.
    pooled
        Whether the scale is learnt: 1/16, 1/4, 1 and 4 times it are tried, and weighed by how well
        they foresaw the rewards.
    """

    size: int
    scale: float = 1.0
    pooled: bool = False


@dataclass(frozen=True)
class ModelKernels(Bundle):
    """The bundle of kernels of a model; η is φᵀm and v is φᵀLLᵀφ.

    | kernel | what it does |
    |---|---|
    | `assimilate(constants, noise, eta, v, reward)` | by how many Sφ the mean moves, the noise that the reward had in units of s, and ln of its chance; renews `noise` |
    | `scale(constants, noise)` | s, or what is expected of it |
    | `draw_scale(constants, noise, rng)` | a draw of s |
    | `information(constants, eta)` | Fisher's information of one reward on φᵀθ, times s |
    | `mean(constants, eta)` | the mean reward where φᵀθ is η |
    | `expected(constants, eta, v)` | the expected reward under N(η, v) |
    | `reward(constants, eta, uniform)` | the reward at a level, for the lab |
    """  # noqa: E501

    assimilate: Kernel
    scale: Kernel
    draw_scale: Kernel
    information: Kernel
    mean: Kernel
    expected: Kernel
    reward: Kernel

    @classmethod
    def of(cls, names: dict[str, Any]) -> ModelKernels:
        """Make the bundle of the kernels of a module.

        Parameters
        ----------
        names
            The globals of the module, which have a kernel under each name of the table.

        Returns
        -------
        ModelKernels
            The bundle.
        """
        return cls(**{name: names[name] for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Model(ABC):
    """The contract of a model: how rewards depend on θ.

    With `keep` below 1 beliefs fade to the prior. What fades is a walk of θ whose distribution is
    the prior's at all times. A coefficient ages by the rewards in whose contexts it counts, for
    whichever arm, so that what is rarely seen is spared. At every reward the oldest coefficient,
    and any that would keep less than half, keeps keep^(age/2) of its distance from 0, and gets a
    part of the prior's variance.

    Parameters
    ----------
    keep
        What a belief keeps of the past at every reward, above 0 and at most 1; 1 never forgets.
    drift
        Whether a contextual agent has a belief that fades beside the one that does not, and goes by
        the one that foretold rewards better of late.
    covariance
        "full" for a covariance of all coefficients. "diagonal" gives an agent or a study a mean and
        a variance of each, for any number of them if a context sets a few.

    Raises
    ------
    FamilyError
        If a setting is invalid.
    """

    keep: float = 1.0
    drift: bool = field(default=False, kw_only=True)
    covariance: str = field(default=FULL, kw_only=True)

    name: ClassVar[str]
    #: What rewards may be, in words.
    support: ClassVar[str]
    #: Every model that is known by name.
    registry: ClassVar[dict[str, type[Model]]] = {}

    def __post_init__(self) -> None:
        is_number = isinstance(self.keep, (int, float)) and not isinstance(self.keep, bool)
        if not is_number or not 0.0 < self.keep <= 1.0:
            allowed = "it must be above 0 and at most 1 (1 never forgets)"
            raise FamilyError(f"keep={self.keep!r} is not valid: {allowed}")
        if not isinstance(self.drift, bool):
            raise FamilyError(f"drift={self.drift!r} is not valid: it is neither True nor False")
        if self.covariance not in (FULL, DIAGONAL):
            raise FamilyError(unknown("covariance", self.covariance, (FULL, DIAGONAL)))

    @property
    @abstractmethod
    def kernels(self) -> ModelKernels:
        """The bundle of kernels, a global of the module of this class."""

    @property
    def setting(self) -> float:
        """The number that kernels find at `SETTING` of the distribution."""
        return 0.0

    @property
    def constants(self) -> Floats:
        """What kernels are given of the user's choices."""
        return np.array([self.keep, self.setting, *self.first_noise])

    @property
    def unit(self) -> float:
        """The standard deviation that scales of the prior are measured in inside beliefs."""
        return 1.0

    @property
    def is_wide(self) -> bool:
        """Whether coefficients have a variance each, and may be any number."""
        return self.covariance == DIAGONAL

    @property
    def first_noise(self) -> tuple[float, float]:
        """Shape and rate of the belief on the noise before the first reward, if there is one."""
        return (0.0, 0.0)

    @abstractmethod
    def supports(self, reward: float) -> bool:
        """Say whether such a reward can come.

        Parameters
        ----------
        reward
            A finite number.

        Returns
        -------
        bool
            True if the model allows it.
        """

    def check_reward(self, reward: Any) -> float:
        """Check a reward.

        Parameters
        ----------
        reward
            What somebody gave: anything that `float` takes, except text.

        Returns
        -------
        float
            The reward.

        Raises
        ------
        RewardError
            If the model has no such reward, or it is beyond ±10¹².
        """
        try:
            value = float(reward)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if isinstance(reward, str) or not math.isfinite(value) or not self.supports(value):
            allowed = f"{self.name} rewards are {self.support}"
            raise RewardError(f"reward {reward!r} is not allowed: {allowed}")
        if abs(value) > LARGEST:
            allowed = f"no reward of a {self.name} model may be larger than {LARGEST:g}"
            raise RewardError(f"reward {reward!r} is too large: {allowed}")
        return value

    def belief(self, blocks: Sequence[Block] | int) -> Belief:
        """Make the belief before the first reward: coefficients around 0, block by block.

        Parameters
        ----------
        blocks
            The blocks in the order of the features; a number stands for one block of that size and
            scale 1. They have at most 5,000 coefficients.

        Returns
        -------
        Belief
            A bank of one distribution, or of four if a scale is learnt.

        Raises
        ------
        PriorError
            If a block has no valid size or scale, or there are too many coefficients or none.
        FamilyError
            If the covariance is "diagonal".

        >>> from belman.models import Linear
        >>> Linear().belief([Block(2), Block(3, scale=0.5, pooled=True)]).prior.shape
        (4, 5)
        """
        if self.covariance != FULL:
            where = 'it is for contexts of agents and studies: here covariance="full"'
            raise FamilyError(f"covariance={self.covariance!r} has no blocks: {where}")
        given = [Block(blocks)] if isinstance(blocks, int) else [Block(*block) for block in blocks]
        factors = BANK if any(block.pooled for block in given) else (1.0,)
        for block in given:
            if not LEAST <= block.scale <= MOST or block.size < 0:
                allowed = f"sizes from 0 up, scales from {LEAST:g} to {MOST:g}"
                raise PriorError(f"{block!r} is not a valid prior: {allowed}")
        size = sum(block.size for block in given)
        if not 1 <= size <= MOST_FEATURES:
            raise PriorError(f"{size} features are not allowed: give from 1 to {MOST_FEATURES:,}")
        rows = [
            [
                block.scale * (factor if block.pooled else 1.0) / self.unit
                for block in given
                for _ in range(block.size)
            ]
            for factor in factors
        ]
        prior = np.array(rows)
        return blank(prior, self.first_noise)


#: Every model by its name.
MODELS = Model.registry


def blank(
    prior: Floats, first_noise: tuple[float, float], begin: arrow.Places | None = None
) -> Belief:
    """The belief whose prior has these standard deviations (B, d), in the units of the model; all
    coefficients may depend on each other, or those alone whose blocks `begin` alike.
    """
    bank, size = prior.shape
    begin = arrow.whole(size) if begin is None else begin
    return Belief(
        mean=np.zeros((bank, size)),
        root=arrow.of_diagonal(prior, begin),
        begin=begin,
        noise=np.tile(np.array(first_noise), (bank, 1)),
        fit=np.zeros(bank),
        share=np.full(bank, 1.0 / bank),
        prior=prior,
        age=np.zeros(size),
        clock=np.zeros(1),
        scratch=np.zeros((5, max(size, 4))),
    )


def placed(belief: Belief, source: arrow.Places, target: arrow.Places, fresh: Belief) -> Belief:
    """Return the belief of a blank one with what is known of coefficients `source` at `target`, and
    of all else the prior alone.
    """
    independent = fresh.root.copy()
    fresh.root[:] = arrow.placed(belief.root, belief.begin, source, target, fresh.begin)
    new = np.setdiff1d(np.arange(fresh.begin.size), target)
    fresh.root[:, new] = independent[:, new]
    fresh.mean[:, target], fresh.age[target] = belief.mean[:, source], belief.age[source]
    for name in ("noise", "fit", "share", "clock"):
        getattr(fresh, name)[:] = getattr(belief, name)
    return fresh
