"""The conjugate belief of any one-parameter exponential family, by quadrature.

Rewards follow f_θ(x) = h(x) exp(θ T(x) − B(θ)) for θ in an open range (constants[0], constants[1]);
the belief is b(θ) ∝ exp(χθ − νB(θ)), with η = (χ, ν) and S(θ) = (θ, −B(θ)). It is told from its
mode θ₀: with δ = θ − θ₀ and the excess D = B(θ) − B(θ₀) − B′(θ₀)δ = ∫ (B′ − B′(θ₀)) dθ, which is
integrated and not subtracted, the logarithm of the density is cδ − νD, c = χ − νB′(θ₀). So nothing
cancels, even for counts of 1e9. Panels cover the belief until it has fallen by e⁴⁶ on both sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from belman.beliefs import beta
from belman.beliefs.belief import BeliefKernels, Kernel
from belman.beliefs.mesh import (
    CUMULATE,
    MESH,
    NODES,
    ORDER,
    PANELS,
    WEIGHTS,
    farthest,
    log_stretch,
    moments,
    offset,
    panel_edges,
    position,
)
from belman.engine import Bundle, allocating_kernel, kernel
from belman.special import log_excess

_COARSE_NODES, _COARSE_WEIGHTS = np.polynomial.legendre.leggauss(6)
_DEEP = 46.0
_STEPS = 100
_ULP = 2.3e-16


@dataclass(frozen=True)
class RewardDistribution(Bundle):
    """Kernels of a distribution f_θ(x) = h(x) exp(θ T(x) − B(θ)).

    In a family, a `OneParameter`, each is given the family's `constants` by name: `constants.k` is
    the field `k` of the dataclass.

    | kernel | what it gives |
    |---|---|
    | `statistic(constants, x)` | T(x) |
    | `log_partition(constants, theta)` | B(θ) |
    | `mean(constants, theta)` | E_θ[X], monotone in θ |
    | `quantile(constants, theta, uniform)` | the reward with that chance below it |
    | `slope(constants, theta)` | B′(θ) = E_θ[T]; if left out, from B, 20 times slower |
    | `parameter(constants, mean)` | the θ of a mean; if left out, a search for the root |
    | `floor(constants)` | the least ν of beliefs, for barycentres of distant ones; if left out, 0 |
    """

    statistic: Kernel
    log_partition: Kernel
    mean: Kernel
    quantile: Kernel
    slope: Kernel | None = None
    parameter: Kernel | None = None
    floor: Kernel | None = None


@dataclass(frozen=True)
class Quadrature(Bundle):
    """A belief and the kernels below it, which a family needs for its own integrals.

    | kernel | what it does |
    |---|---|
    | `slope(constants, theta)`, `parameter(constants, mean)` | those of the reward distribution |
    | `excess(constants, theta, other)` | B(θ′) − B(θ) − B′(θ)(θ′ − θ), without cancellation |
    | `window(constants, chi, nu)` | the mode in u, the reach to its left and right, its core |
    | `lay(constants, chi, nu, centre, left, right, core, mesh)` | θ₀, B′(θ₀), A−χθ₀+νB(θ₀) |
    """

    belief: BeliefKernels
    slope: Kernel
    parameter: Kernel
    excess: Kernel
    window: Kernel
    lay: Kernel


@kernel
def no_floor(constants):
    return 0.0


def searcher(function: Kernel) -> Kernel:
    """A kernel for the root u of falling function(distribution, a, b, u): doubled steps, halves,
    secants.
    """

    @kernel
    def search(constants, a, b):
        far = farthest(constants)
        low, high, below, above = -2.0 * far, 2.0 * far, 0.0, 0.0
        x, step, side = 0.0, 1.0, 0
        for _ in range(_STEPS):
            value = function(constants, a, b, x)
            before = x
            if value > 0.0:
                above *= 0.5 if side > 0 else 1.0
                low, below, side = x, value, 1
            else:
                below *= 0.5 if side < 0 else 1.0
                high, above, side = x, value, -1
            if below == 0.0 or above == 0.0:  # not yet on both sides of the root, unless this is it
                if value == 0.0 or abs(x) >= far:
                    break
                x = min(max(x + side * step, -far), far)
                step *= 2.0
                continue
            x = 0.5 * (low + high)
            if high - low < 1.0:
                secant = (low * above - high * below) / (above - below)
                x = secant if low < secant < high else x
            if abs(x - before) <= _ULP * abs(x):
                break
        return x

    return search


def richardson(function: Kernel) -> Kernel:
    """A kernel for the derivative of function(distribution, theta): central differences, Neville's
    table.
    """

    @allocating_kernel
    def derivative(constants, theta):
        table = np.empty(8)
        step = 0.25 * min(max(1.0, abs(theta)), min(theta - constants[0], constants[1] - theta))
        best, error = 0.0, math.inf
        for level in range(table.size):
            fresh = (function(constants, theta + step) - function(constants, theta - step)) / (
                2.0 * step
            )
            factor = 1.0
            for k in range(level):
                factor *= 4.0
                old, table[k] = table[k], fresh
                fresh += (fresh - old) / (factor - 1.0)
                if abs(fresh - old) + abs(fresh - table[k]) < error:
                    best, error = fresh, abs(fresh - old) + abs(fresh - table[k])
            table[level] = fresh
            step *= 0.5
        return best

    return derivative


def mesher(slope: Kernel) -> tuple[Kernel, Kernel]:
    """The kernels `window` and `lay` of a quadrature."""

    @kernel
    def climb(constants, chi, nu, u):
        """d/du of the log density: it falls through 0 once, because B is convex."""
        theta, stretch = position(constants, u)
        return (chi - nu * slope(constants, theta)) * stretch + log_stretch(constants, u)[1]

    find_mode = searcher(climb)

    @kernel
    def fall(constants, chi, nu, centre, z):
        """By how much the logarithm of the density falls from the mode to a distance z."""
        total = 0.0
        for k in range(_COARSE_NODES.size):
            u = centre + 0.5 * z * (1.0 + _COARSE_NODES[k])
            total += _COARSE_WEIGHTS[k] * climb(constants, chi, nu, u)
        return -0.5 * z * total

    @kernel
    def reach(constants, chi, nu, centre, z):
        """A distance on the side of z at which the density has fallen by e⁴⁶ or somewhat more."""
        inner, shallow, outer, deep = 0.0, 0.0, 0.0, 0.0
        for _ in range(_STEPS):
            depth = fall(constants, chi, nu, centre, z)
            if depth < _DEEP:
                inner, shallow = z, depth
            elif depth < 1.5 * _DEEP or abs(z) < 1e-30:
                break
            else:
                outer, deep = z, depth
            if outer == 0.0:
                if abs(z) >= farthest(constants):
                    break
                z *= 2.0
            elif inner == 0.0:
                z *= 0.25
            else:  # a tail is nearly a power of the distance
                known = shallow > 0.0 and deep < 1e6 * shallow
                share = math.log(1.2 * _DEEP / shallow) / math.log(deep / shallow) if known else 0.5
                z = inner * (outer / inner) ** share
        return min(abs(z), max(farthest(constants) - abs(centre), 1.0))

    @kernel
    def bend(constants, chi, nu, centre, z):
        """About how far from the mode, on the side of z, the density falls half as fast as at z:
        halfway if its logarithm is a parabola, near the mode if that is a bent line.
        """
        enough = 0.5 * abs(climb(constants, chi, nu, centre + z))
        for _ in range(_STEPS):
            z *= 0.25
            if not abs(climb(constants, chi, nu, centre + z)) > enough:
                break
        return 2.0 * abs(z)

    @kernel
    def window(constants, chi, nu):
        centre = find_mode(constants, chi, nu)
        right = reach(constants, chi, nu, centre, 1.0)
        left = reach(constants, chi, nu, centre, -right)
        core = min(bend(constants, chi, nu, centre, -left), bend(constants, chi, nu, centre, right))
        return centre, left, right, core

    @kernel
    def lay(constants, chi, nu, centre, left, right, core, mesh):
        theta = position(constants, centre)[0]
        rate, base = slope(constants, theta), log_stretch(constants, centre)[0]
        tilt = chi - nu * rate
        peak = -math.inf
        for side in range(2):
            inner = 0.0
            for rank in range(PANELS):
                panel = PANELS + rank if side == 1 else PANELS - 1 - rank
                first = panel * ORDER
                low, high = panel_edges(panel, left, right, core)
                middle, half = 0.5 * (low + high), 0.5 * (high - low)
                gain = 0.0
                for i in range(ORDER):
                    here, stretch = position(constants, centre + (middle + half * NODES[i]))
                    mesh[2, first + i] = half * (slope(constants, here) - rate) * stretch
                    gain += WEIGHTS[i] * mesh[2, first + i]
                for i in range(ORDER):
                    excess = inner if side == 1 else inner - gain
                    for j in range(ORDER):
                        excess += CUMULATE[i, j] * mesh[2, first + j]
                    mesh[1, first + i] = excess
                inner += gain if side == 1 else -gain
                for i in range(ORDER):
                    z = middle + half * NODES[i]
                    delta = offset(constants, centre, z)
                    stretch = log_stretch(constants, centre + z)[0] - base
                    height = tilt * delta - nu * mesh[1, first + i] + stretch
                    peak = max(peak, height)
                    mesh[0, first + i] = delta
                    mesh[2, first + i] = height
        total = 0.0
        for panel in range(2 * PANELS):
            low, high = panel_edges(panel, left, right, core)
            for i in range(ORDER):
                k = panel * ORDER + i
                mesh[2, k] = 0.5 * (high - low) * WEIGHTS[i] * math.exp(mesh[2, k] - peak)
                total += mesh[2, k]
        for k in range(mesh.shape[1]):
            mesh[2, k] /= total
        return theta, rate, base + peak + math.log(total)

    return window, lay


def quadrature(reward_distribution: RewardDistribution) -> Quadrature:
    """The conjugate belief of a reward distribution."""
    partition, mean = reward_distribution.log_partition, reward_distribution.mean
    lowest = reward_distribution.floor or no_floor
    slope = reward_distribution.slope or richardson(partition)
    window, lay = mesher(slope)

    @kernel
    def mean_gap(constants, target, sign, u):
        return sign * (target - mean(constants, position(constants, u)[0]))

    find_mean = searcher(mean_gap)

    @kernel
    def found_parameter(constants, target):
        rises = mean(constants, position(constants, 1.0)[0]) >= mean(
            constants, position(constants, -1.0)[0]
        )
        return position(constants, find_mean(constants, target, 1.0 if rises else -1.0))[0]

    @kernel
    def excess(constants, theta, other):
        base, rate, step = partition(constants, theta), slope(constants, theta), other - theta
        value = partition(constants, other) - base - rate * step
        if not value < 1e-3 * (abs(base) + abs(rate * step)):
            return value
        total = 0.0
        for k in range(ORDER):
            total += (
                0.5 * WEIGHTS[k] * (slope(constants, theta + 0.5 * step * (1.0 + NODES[k])) - rate)
            )
        return max(0.0, total * step)

    @kernel
    def survey(constants, chi, nu, mesh):
        centre, left, right, core = window(constants, chi, nu)
        return lay(constants, chi, nu, centre, left, right, core, mesh)

    @allocating_kernel
    def log_partition(constants, belief):
        theta, _, level = survey(constants, belief[0], belief[1], np.empty(MESH))
        return belief[0] * theta - belief[1] * partition(constants, theta) + level

    @allocating_kernel
    def mean_parameters(constants, belief, out):
        mesh = np.empty(MESH)
        theta, rate, _ = survey(constants, belief[0], belief[1], mesh)
        delta, lost = moments(mesh)[:2]
        out[0] = theta + delta
        out[1] = -(partition(constants, theta) + rate * delta + lost)

    @allocating_kernel
    def metric(constants, belief, out):
        mesh = np.empty(MESH)
        rate = survey(constants, belief[0], belief[1], mesh)[1]
        square, cross, other = moments(mesh)[2:]
        out[0, 0] = square
        out[0, 1] = -(rate * square + cross)
        out[1, 0] = out[0, 1]
        out[1, 1] = rate * (rate * square + 2.0 * cross) + other

    @allocating_kernel
    def solve(constants, target, belief):
        """Newton on the convex A(η) − ⟨η, target⟩ in (c, −ν) of (δ, D), which hardly correlate.

        Where the guess is far off it begins at E θ = target and E D ≈ 1/(2ν), which is exact for
        large counts. A target more spread than any belief is met at the floor of ν, where the
        function is least.
        """
        mesh = np.empty(MESH)
        chi, nu = belief[0], belief[1]
        old_chi, old_nu, least = chi, nu, math.inf
        floor = lowest(constants)
        guessed = False
        for _ in range(_STEPS):
            decrement, value, noise, bound = math.nan, math.nan, 0.0, False
            if nu > floor:
                theta, rate, level = survey(constants, chi, nu, mesh)
                base = partition(constants, theta)
                delta, lost, square, cross, other = moments(mesh)
                off = target[0] - theta - delta
                miss = -target[1] - base - rate * (target[0] - theta) - lost
                size = square * other - cross * cross
                tilt = (off * other - miss * cross) / size
                thin = (off * cross - miss * square) / size
                decrement = math.sqrt(abs(off * tilt - miss * thin))
                bound = thin < -0.9 * (nu - floor)
                if bound:  # as far as ν may fall, and the best c for that
                    thin = -0.9 * (nu - floor)
                    tilt = (off + cross * thin) / square
                    decrement = abs(tilt) * math.sqrt(square)
                value = chi * (theta - target[0]) - nu * (base + target[1]) + level
                noise = 1e-14 * (abs(chi * theta) + abs(nu * base) + 1.0)
            if not guessed and not decrement < 1.0:
                guessed = True
                low, high = (
                    position(constants, -farthest(constants))[0],
                    position(constants, farthest(constants))[0],
                )
                theta = min(max(target[0], low), high)
                base = partition(constants, theta)
                nu = 0.5 / max(-target[1] - base, _ULP * (1.0 + abs(base)))
                chi = nu * slope(constants, theta)
                old_chi, old_nu, least = chi, nu, math.inf
            elif not value <= least + noise:
                chi, nu = 0.5 * (chi + old_chi), 0.5 * (nu + old_nu)
            else:
                old_chi, old_nu, least = chi, nu, value
                shrink = 1.0 / (1.0 + decrement) if decrement > 0.1 else 1.0
                chi, nu = chi + shrink * (tilt + rate * thin), nu + shrink * thin
                if decrement < 1e-6 and (not bound or nu - floor < 1e-12):
                    break
        belief[0] = chi
        belief[1] = nu

    @allocating_kernel
    def divergence(constants, belief, other):
        """E_b[e⁻ʳ − 1 + r], r = ln(b/c), for near distributions; else ν D(θ₀, θ₀′) and small
        terms.
        """
        chi, nu, new_chi, new_nu = belief[0], belief[1], other[0], other[1]
        mesh = np.empty(MESH)
        theta, rate, level = survey(constants, chi, nu, mesh)
        turn, thin = (chi - new_chi) - (nu - new_nu) * rate, nu - new_nu
        spread, shift = 0.0, 0.0
        for i in range(mesh.shape[1]):
            q = turn * mesh[0, i] - thin * mesh[1, i]
            spread += mesh[2, i] * q * q
            shift += mesh[2, i] * math.expm1(min(max(-q, -600.0), 600.0))
        if spread < 1.0:
            shift = math.log1p(max(shift, -0.999))
            total = 0.0
            for i in range(mesh.shape[1]):
                r = min(max(turn * mesh[0, i] - thin * mesh[1, i] + shift, -600.0), 600.0)
                total += mesh[2, i] * log_excess(math.exp(-r), math.expm1(-r))
            if total < 0.05:
                return total
        delta, lost = moments(mesh)[:2]
        new_theta, new_rate, new_level = survey(constants, new_chi, new_nu, mesh)
        tilt = new_chi - new_nu * new_rate
        total = (
            turn * delta
            - thin * lost
            + new_nu * excess(constants, new_theta, theta)
            - tilt * (theta - new_theta)
        )
        return max(0.0, total + new_level - level)

    @allocating_kernel
    def log_density(constants, belief, theta):
        if not constants[0] < theta < constants[1]:
            return -math.inf
        mode, rate, level = survey(constants, belief[0], belief[1], np.empty(MESH))
        tilt = belief[0] - belief[1] * rate
        return tilt * (theta - mode) - belief[1] * excess(constants, mode, theta) - level

    belief = BeliefKernels.of({**locals(), "natural": beta.natural, "blend": beta.blend})
    return Quadrature(
        belief, slope, reward_distribution.parameter or found_parameter, excess, window, lay
    )
