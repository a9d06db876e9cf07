"""Any exponential family f_θ(x) = h(x) exp(θ T(x) − B(θ)), its conjugate belief by quadrature.

A family of one's own is a few kernels (see `RewardDistribution`) and a class. For counts that are
never 0, such as the size of an order, Poisson's distribution without its 0 has T(x) = x, θ = ln λ,
B(θ) = ln(e^λ − 1) and a belief of no known form:

>>> @kernel
... def statistic(constants, x):
...     return x
>>> @kernel
... def log_partition(constants, theta):
...     return math.exp(theta) + math.log(-math.expm1(-math.exp(theta)))
>>> @kernel
... def mean(constants, theta):
...     return math.exp(theta) / -math.expm1(-math.exp(theta))
>>> @kernel
... def quantile(constants, theta, uniform):
...     x, mass = 1.0, math.exp(theta) / math.expm1(math.exp(theta))
...     total = mass
...     while total < uniform and mass > 1e-300:
...         x += 1.0
...         mass *= math.exp(theta) / x
...         total += mass
...     return x
>>> class OrderSizes(OneParameter):
...     name, support = "order-sizes", "whole numbers from 1 up"
...     reward_distribution = RewardDistribution(
...         statistic, log_partition, mean, quantile, slope=mean
...     )
...     statistic_range, mean_range = (1.0, math.inf), (1.0, math.inf)
...     def supports(self, reward):
...         return reward >= 1.0 and reward == math.floor(reward)
>>> arm = OrderSizes()
>>> belief = arm.update(arm.prior, 4)
>>> [float(x) for x in belief], round(arm.expected_reward(belief), 6)
([6.0, 2.0], 3.0)

The constants of a family are the fields of its dataclass, and kernels have them by name: with a
field `k`, `constants.k`. In a module that can be imported, such a family is compiled once and
cached on disk.
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from belman import chance
from belman.beliefs.mesh import (
    MESH,
    farthest,
    locate,
    node_distance,
    position,
    tail_distance,
    tail_mass,
)
from belman.beliefs.quadrature import RewardDistribution as RewardDistribution
from belman.beliefs.quadrature import quadrature
from belman.engine import allocating_kernel, factory, kernel
from belman.families.family import ANY, LEAST, Family, Floats
from belman.families.family_kernels import FamilyKernels
from belman.families.searches import searched

Kernel = Callable[..., Any]

_STEPS = 60


#: Where constants begin in the numbers that kernels of families read: after the range of θ.
_FIRST = 2


def _reader(names: str) -> Kernel:
    """A kernel that reads constants by these names (joined by spaces) from a family's numbers.

    >>> float(_reader("k b")(np.array([-math.inf, 0.0, 2.0, 5.0])).b)
    5.0
    """
    named = namedtuple("Constants", names.split())  # type: ignore[misc]

    @kernel
    def nothing(constants):
        return ()

    def one_more(before: Kernel, position: int) -> Kernel:
        @kernel
        def values(constants):
            return before(constants) + (constants[position],)  # noqa: RUF005  (compiled code adds tuples)

        return values

    values: Kernel = nothing
    for i in range(len(names.split())):
        values = one_more(values, _FIRST + i)

    @kernel
    def read(constants):
        return named(*values(constants))

    return read


def _given_constants(reward_distribution: RewardDistribution, names: str) -> RewardDistribution:
    """The same kernels of a family's numbers, each given the constants among them by name."""
    read = _reader(names)

    def over(given: Kernel, arguments: int) -> Kernel:
        @kernel
        def of_nothing(constants):
            return given(read(constants))

        @kernel
        def of_one(constants, x):
            return given(read(constants), x)

        @kernel
        def of_two(constants, x, y):
            return given(read(constants), x, y)

        return (of_nothing, of_one, of_two)[arguments]

    counts = {"quantile": 2, "floor": 0}
    kernels = {
        field.name: getattr(reward_distribution, field.name)
        for field in fields(reward_distribution)
    }
    return RewardDistribution(
        **{name: one and over(one, counts.get(name, 1)) for name, one in kernels.items()}
    )


@factory
def generic_kernels(reward_distribution: RewardDistribution, names: str = "") -> FamilyKernels:
    """The kernels of the family with that reward distribution and constants (names joined by
    spaces).
    """
    reward_distribution = _given_constants(reward_distribution, names)
    tools = quadrature(reward_distribution)
    window, lay, slope = tools.window, tools.lay, tools.slope
    excess, given_parameter = tools.excess, tools.parameter
    statistic, partition = reward_distribution.statistic, reward_distribution.log_partition
    mean_of, quantile, log_density = (
        reward_distribution.mean,
        reward_distribution.quantile,
        tools.belief.log_density,
    )

    @kernel
    def parameter(constants, mean):
        far = farthest(constants)
        return min(
            max(given_parameter(constants, mean), position(constants, -far)[0]),
            position(constants, far)[0],
        )

    @kernel
    def update(constants, belief, reward):
        belief[0] += statistic(constants, reward)
        belief[1] += 1.0

    @kernel
    def worth(constants, belief):
        return belief[1]

    @kernel
    def imagine(constants, belief):
        """E[T] = E_b[B′(θ)] = (χ + b(low) − b(high))/ν, by parts: b vanishes at natural ends."""
        expected = belief[0]
        if constants[0] > -math.inf:
            expected += math.exp(log_density(constants, belief, position(constants, -700.0)[0]))
        if constants[1] < math.inf:
            expected -= math.exp(log_density(constants, belief, position(constants, 700.0)[0]))
        belief[0] += expected / belief[1]
        belief[1] += 1.0

    @allocating_kernel
    def expected_reward(constants, belief):
        """E_b[E_θ[X]], the mesh lengthened until the mean no longer outgrows b, else infinite."""
        mesh = np.empty(MESH)
        centre, left, right, core = window(constants, belief[0], belief[1])
        room = farthest(constants) - abs(centre)
        low, high = 0.0, 0.0
        for _ in range(_STEPS):
            lay(constants, belief[0], belief[1], centre, left, right, core, mesh)
            total, size = 0.0, 0.0
            for i in range(mesh.shape[1]):
                theta = position(constants, centre + node_distance(i, left, right, core))[0]
                high = mesh[2, i] * mean_of(constants, theta)
                low = high if i == 0 else low
                total += high
                size += abs(high)
            more_left, more_right = abs(low) > 1e-17 * size, abs(high) > 1e-17 * size
            if not more_left and not more_right:
                return total
            if (more_left and left >= room) or (more_right and right >= room):
                break
            left = min(2.0 * left, room) if more_left else left
            right = min(2.0 * right, room) if more_right else right
        return math.inf if max(low, high) > -min(low, high) else -math.inf

    @kernel
    def rising(constants, centre, left, right):
        low, high = position(constants, centre - left)[0], position(constants, centre + right)[0]
        return mean_of(constants, high) >= mean_of(constants, low)

    @allocating_kernel
    def mean_cdf(constants, belief, x):
        mesh = np.empty(MESH)
        centre, left, right, core = window(constants, belief[0], belief[1])
        lay(constants, belief[0], belief[1], centre, left, right, core, mesh)
        z = locate(constants, parameter(constants, x)) - centre
        side = z > 0.0
        mass = tail_mass(mesh, left, right, core, z, side)
        return mass if side != rising(constants, centre, left, right) else 1.0 - mass

    @allocating_kernel
    def belief_quantile(constants, belief, level, upper):
        mesh = np.empty(MESH)
        centre, left, right, core = window(constants, belief[0], belief[1])
        lay(constants, belief[0], belief[1], centre, left, right, core, mesh)
        return position(constants, centre + tail_distance(mesh, left, right, core, level, upper))[0]

    @allocating_kernel
    def mean_quantile(constants, belief, level, upper):
        mesh = np.empty(MESH)
        centre, left, right, core = window(constants, belief[0], belief[1])
        lay(constants, belief[0], belief[1], centre, left, right, core, mesh)
        mirrored = upper == rising(constants, centre, left, right)
        u = centre + tail_distance(mesh, left, right, core, level, mirrored)
        return mean_of(constants, position(constants, u)[0])

    @kernel
    def sample(constants, belief, rng, theta):
        theta[0] = belief_quantile(constants, belief, chance.uniform(rng), False)

    @kernel
    def sample_mean(constants, belief, rng):
        return mean_of(constants, belief_quantile(constants, belief, chance.uniform(rng), False))

    @kernel
    def mean(constants, theta):
        return mean_of(constants, theta[0])

    @kernel
    def reward(constants, theta, uniform):
        return quantile(constants, theta[0], uniform)

    @kernel
    def d(constants, mean, other, spread):
        """B(θ′) − B(θ) − B′(θ)(θ′ − θ) for the parameters θ, θ′ of the two means."""
        return excess(constants, parameter(constants, mean), parameter(constants, other))

    @kernel
    def terms(constants, mean, spread, out):
        theta = parameter(constants, mean)
        out[1] = slope(constants, theta)
        out[0] = theta * out[1] - partition(constants, theta)

    @kernel
    def weights(constants, mean, out):
        theta = parameter(constants, mean)
        out[0] = -theta
        out[1] = partition(constants, theta)

    common_mean = searched(d)
    return FamilyKernels.of(tools.belief, locals())


@dataclass(frozen=True)
class OneParameter(Family):
    """A family by `generic_kernels`: b(θ) ∝ exp(χθ − νB(θ)), proper if ν > 0 and χ/ν a mean of T.

    The default prior is worth one reward, ν = 1, whose statistic χ is the middle of
    `statistic_range`: 0 on the whole line, and 1 away from the end of a half-line.

    Parameters
    ----------
    prior
        The belief about an arm at first, as its coordinates; by default worth one reward.
    """

    #: The kernels of the rewards' distribution.
    reward_distribution: ClassVar[RewardDistribution]

    coordinates = ("chi", "nu")
    closed_form = False
    no_joint = "the normaliser E[exp(X/τ)] of a family given by its kernels is not known"
    #: The open ranges of θ and of E_θ[T(X)]; `mean_range` is that of E_θ[X].
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    statistic_range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    @property
    def constant_names(self) -> tuple[str, ...]:
        """The names of the numbers that the user chose."""
        return tuple(f.name for f in fields(self) if f.name != "prior")

    @property
    def kernels(self) -> FamilyKernels:  # type: ignore[override]
        """By quadrature, for this distribution of rewards and these constants."""
        return generic_kernels(self.reward_distribution, " ".join(self.constant_names))

    @property
    def constants(self) -> Floats:
        """The range of θ, then the numbers that the user chose."""
        chosen = [getattr(self, name) for name in self.constant_names]
        return np.array([*self.range, *chosen], dtype=np.float64)

    def default_prior(self) -> tuple[float, ...]:
        low, high = self.statistic_range
        if math.isinf(low) and math.isinf(high):
            return (0.0, 1.0)
        if math.isinf(high):
            return (low + 1.0, 1.0)
        return (high - 1.0 if math.isinf(low) else 0.5 * (low + high), 1.0)

    def proper(self, belief: Sequence[float]) -> bool:
        chi, nu = belief
        low, high = self.statistic_range
        return nu > 0.0 and low * nu < chi < high * nu

    @property
    def least(self) -> tuple[float, ...]:
        return (ANY, LEAST)

    def _proper_words(self) -> str:
        low, high = self.statistic_range
        return f"nu positive and chi/nu strictly between {low:g} and {high:g}"

    def parameter_of(self, mean: float) -> tuple[float, ...]:
        weights = np.empty(2)
        self._run(self.kernels.weights, self._mean_between(mean, *self.mean_range), weights)
        return (-float(weights[0]),)
