"""A mesh for a density on a parameter's range: the range as a line, panels, and their tails.

The open range (constants[0], constants[1]) of θ is stretched to a line u. Panels lie on both sides
of the mode of the density, at distances z from it in u, and each has the nodes of one
Gauss–Legendre rule.
"""

from __future__ import annotations

import math

import numpy as np

from belman.engine import kernel

#: A mesh has rows θ − θ₀, D and probability, for the nodes of `PANELS` panels on each side of the
#: mode.
PANELS = 7
ORDER = 12
MESH = (3, 2 * PANELS * ORDER)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(ORDER)
#: From values at the nodes of a panel to the coefficients of their Legendre series, and to its
#: integral up to each node.
SERIES = np.array(
    [(k + 0.5) * WEIGHTS * np.polynomial.Legendre.basis(k)(NODES) for k in range(ORDER)]
)
_INTEGRALS = [np.polynomial.Legendre.basis(k).integ(lbnd=-1.0) for k in range(ORDER)]
CUMULATE = np.array([integral(NODES) for integral in _INTEGRALS]).T @ SERIES

_FAR = 700.0
_LEAST = 1e-300
_STEPS = 60
_ULP = 2.3e-16


@kernel
def farthest(constants):
    """How far u may go: where the range ends, θ is within e⁻⁷⁰⁰ of its end, or as large as e⁷⁰⁰."""
    return 1e30 if constants[0] == -math.inf and constants[1] == math.inf else _FAR


@kernel
def position(constants, u):
    """θ and dθ/du at u: u, low + eᵘ, high − e⁻ᵘ or low + (high − low)/(1 + e⁻ᵘ), by finite ends."""
    low, high = constants[0], constants[1]
    far = farthest(constants)
    u = min(max(u, -far), far)
    if low == -math.inf and high == math.inf:
        return u, 1.0
    if high == math.inf:
        stretch = math.exp(u)
        return low + max(stretch, _ULP * abs(low)), stretch
    if low == -math.inf:
        stretch = math.exp(-u)
        return high - max(stretch, _ULP * abs(high)), stretch
    share = 1.0 / (1.0 + math.exp(abs(u)))
    gap = max((high - low) * share, _ULP * max(abs(low), abs(high)))
    return (low + gap if u < 0.0 else high - gap), (high - low) * share * (1.0 - share)


@kernel
def log_stretch(constants, u):
    """ln dθ/du and its derivative."""
    low, high = constants[0], constants[1]
    if low == -math.inf and high == math.inf:
        return 0.0, 0.0
    if high == math.inf:
        return u, 1.0
    if low == -math.inf:
        return -u, -1.0
    return math.log(high - low) - abs(u) - 2.0 * math.log1p(math.exp(-abs(u))), -math.tanh(0.5 * u)


@kernel
def locate(constants, theta):
    """The u of a θ."""
    low, high = constants[0], constants[1]
    if low == -math.inf and high == math.inf:
        return theta
    if high == math.inf:
        return math.log(max(theta - low, _LEAST))
    if low == -math.inf:
        return -math.log(max(high - theta, _LEAST))
    return math.log(max(theta - low, _LEAST)) - math.log(max(high - theta, _LEAST))


@kernel
def offset(constants, u, z):
    """θ(u + z) − θ(u) without cancellation."""
    low, high = constants[0], constants[1]
    if low == -math.inf and high == math.inf:
        return z
    if high == math.inf:
        return math.exp(u) * math.expm1(z)
    if low == -math.inf:
        return -math.exp(-u) * math.expm1(-z)
    rise = math.expm1(-abs(z)) * (high - low)
    if z < 0.0:
        return rise / (1.0 + math.exp(-u)) / (1.0 + math.exp(u + z))
    return -rise / (1.0 + math.exp(u)) / (1.0 + math.exp(-u - z))


@kernel
def panel_edges(panel, left, right, core):
    """The ends of a panel from the mode: panels widen outwards, the more the longer a side is, and
    the shorter the `core` in which the density bends.
    """
    side = right if panel >= PANELS else left
    rank = panel - PANELS if panel >= PANELS else PANELS - 1 - panel
    growth = 1.0 + 6.0 * max(1.0, side / min(left, right), 0.1 * side / core)
    inner = side * (growth ** (rank / PANELS) - 1.0) / (growth - 1.0)
    outer = side * (growth ** ((rank + 1) / PANELS) - 1.0) / (growth - 1.0)
    return (inner, outer) if panel >= PANELS else (-outer, -inner)


@kernel
def node_distance(node, left, right, core):
    """How far a node lies from the mode."""
    low, high = panel_edges(node // ORDER, left, right, core)
    return 0.5 * (low + high) + 0.5 * (high - low) * NODES[node % ORDER]


@kernel
def moments(mesh):
    """Means, variances and covariance of δ and D over a mesh: E δ, E D, Var δ, Cov(δ, D), Var D."""
    first, second = 0.0, 0.0
    for i in range(mesh.shape[1]):
        first += mesh[2, i] * mesh[0, i]
        second += mesh[2, i] * mesh[1, i]
    square, cross, other = 0.0, 0.0, 0.0
    for i in range(mesh.shape[1]):
        x, y = mesh[0, i] - first, mesh[1, i] - second
        square += mesh[2, i] * x * x
        cross += mesh[2, i] * x * y
        other += mesh[2, i] * y * y
    return first, second, square, cross, other


@kernel
def _panel_mass(mesh, panel):
    total = 0.0
    for i in range(panel * ORDER, (panel + 1) * ORDER):
        total += mesh[2, i]
    return total


@kernel
def _expand(mesh, panel, mirrored):
    """The Legendre series of a panel's log density over (−1, 1), reversed if mirrored, in D."""
    for k in range(ORDER):
        total = 0.0
        for j in range(ORDER):
            total += SERIES[k, j] * math.log(max(mesh[2, panel * ORDER + j], _LEAST) / WEIGHTS[j])
        mesh[1, k] = -total if mirrored and k % 2 == 1 else total


@kernel
def _density(mesh, t):
    """The density of the panel that was expanded, at t."""
    before, here = 1.0, t
    total = mesh[1, 0]
    for k in range(1, ORDER):
        total += mesh[1, k] * here
        before, here = here, ((2 * k + 1) * t * here - k * before) / (k + 1)
    return math.exp(total)


@kernel
def _mass_below(mesh, t):
    """The probability of (−1, t) in the panel that was expanded."""
    half = 0.5 * (t + 1.0)
    total = 0.0
    for i in range(ORDER):
        total += WEIGHTS[i] * _density(mesh, half * (1.0 + NODES[i]) - 1.0)
    return half * total


@kernel
def tail_mass(mesh, left, right, core, z, mirrored):
    """The probability below a distance z from the mode, or above it if mirrored."""
    total = 0.0
    for step in range(2 * PANELS):
        panel = 2 * PANELS - 1 - step if mirrored else step
        low, high = panel_edges(panel, left, right, core)
        if low < z < high:
            _expand(mesh, panel, mirrored)
            t = (2.0 * z - low - high) / (high - low)
            return total + _mass_below(mesh, -t if mirrored else t)
        if (z <= low and not mirrored) or (z >= high and mirrored):
            break
        total += _panel_mass(mesh, panel)
    return total


@kernel
def tail_distance(mesh, left, right, core, level, mirrored):
    """The distance with that probability below (above if mirrored): Newton on ln `tail_mass`."""
    panel, mass = 0, 0.0
    for step in range(2 * PANELS):
        panel = 2 * PANELS - 1 - step if mirrored else step
        mass = _panel_mass(mesh, panel)
        if level < mass or step == 2 * PANELS - 1:
            break
        level -= mass
    level = min(max(level, _LEAST), mass)
    _expand(mesh, panel, mirrored)
    low, high = -1.0, 1.0
    t = min(2.0 * level / mass - 1.0, 1.0)
    for _ in range(_STEPS):
        result = max(_mass_below(mesh, t), _LEAST)
        if result < level:
            low = t
        else:
            high = t
        following = t + math.log(level / result) * result / max(_density(mesh, t), _LEAST)
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - t) <= 1e-14:
            break
        t = following
    near, far = panel_edges(panel, left, right, core)
    return 0.5 * (near + far) + 0.5 * (far - near) * (-t if mirrored else t)
