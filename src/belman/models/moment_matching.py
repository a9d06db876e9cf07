"""Assumed density: the normal distribution with the two moments of φᵀθ after a reward that is not
Gaussian.

With q the distribution of η = φᵀθ after the reward, N(η₀, v)·p(y | η) up to a constant, integrating
by parts gives its moments from the score g and the curvature h of ln p:

    E_q[η] − η₀ = v E_q[g],        v − Var_q[η] = v² (E_q[−h] − Var_q[g]),

in which nothing cancels where v is small. The integrals are sums over 21 points laid around the
mode. Where v is so large that these would miss how the distribution bends, they say where to look,
and the moments are sums over points that are near enough.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from belman.engine import factory, kernel

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_LOG_WEIGHTS = np.log(_WEIGHTS) + 0.5 * _NODES * _NODES
_STEPS = 100
_HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)
_SMOOTH = 1.0  # a variance up to which 21 points see all of a distribution
_REACH, _FINE, _MOST = 9.0, 0.6, 2_000  # standard deviations, steps, and how many of them
_LEAST = 1e-12  # share of a variance that one reward leaves: less is rounding


@factory
def most_likely(score: Any, curvature: Any) -> Any:
    """The kernel `mode(eta, v, reward)`: where N(η₀, v)·p(y | η) is largest."""

    @kernel
    def mode(eta, v, reward):
        """It lies between η₀ and η₀ + v g(η₀), as g falls."""
        first = v * score(reward, eta)
        low, high = min(eta, eta + first), max(eta, eta + first)
        here, last = eta, high - low
        for _ in range(_STEPS):
            slope = (eta - here) / v + score(reward, here)
            if slope > 0.0:
                low = here
            else:
                high = here
            step = slope / (1.0 / v + curvature(reward, here))
            if not low < here + step < high or abs(step) > 0.5 * last:  # Newton is no use: halve
                step = 0.5 * (low + high) - here
            last = abs(step)
            here += step
            if last <= 1e-7 * (1.0 + abs(here)):
                break
        return here

    return mode


@factory
def curving(log_chance: Any, score: Any, curvature: Any) -> Any:
    """As `matching`, by Laplace's rule: the mode and the curvature there in place of moments."""
    mode = most_likely(score, curvature)

    @kernel
    def curve(constants, noise, eta, v, reward):
        if not v > 0.0:
            return 0.0, np.inf, log_chance(reward, eta)
        centre = mode(eta, v, reward)
        bends = curvature(reward, centre)
        apart = centre - eta
        fit = log_chance(reward, centre) - 0.5 * apart * apart / v
        fit -= 0.5 * math.log1p(v * bends)
        return apart / v, 1.0 / bends if bends > 0.0 else np.inf, fit

    return curve


@factory
def matching(log_chance: Any, score: Any, curvature: Any) -> Any:
    """The kernel `assimilate` of a distribution that is log-concave in η: by how many Sφ
    the mean moves, the noise that a Gaussian reward with the same effect has, and ln p(y).
    """

    mode = most_likely(score, curvature)

    @kernel
    def match(constants, noise, eta, v, reward):
        if not v > 0.0:
            return 0.0, np.inf, log_chance(reward, eta)
        centre = mode(eta, v, reward)
        wide = 1.0 / math.sqrt(1.0 / v + curvature(reward, centre))
        top = log_chance(reward, centre) - 0.5 * (centre - eta) * (centre - eta) / v
        total, first, second, scores, squares, curve = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(_NODES.size):
            x = centre + wide * _NODES[i]
            height = log_chance(reward, x) - 0.5 * (x - eta) * (x - eta) / v
            weight = math.exp(min(height - top, 0.0) + _LOG_WEIGHTS[i])
            total += weight
            first += weight * _NODES[i]
            second += weight * _NODES[i] * _NODES[i]
            if v <= _SMOOTH:
                slope = score(reward, x)
                scores += weight * slope
                squares += weight * slope * slope
                curve += weight * curvature(reward, x)
        mass = total * wide
        if v <= _SMOOTH:
            pull = scores / total
            lost = v * (curve / total - max(squares / total - pull * pull, 0.0))
            left = 1.0 - lost
        else:
            first /= total
            centre += wide * first
            wide *= math.sqrt(max(second / total - first * first, 1.0))
            count = int(_REACH * wide / min(_FINE, 0.4 * wide)) + 1
            count = min(count, _MOST)
            apart = _REACH * wide / count
            mass, first, second = 0.0, 0.0, 0.0
            for i in range(-count, count + 1):
                x = centre + apart * i
                height = log_chance(reward, x) - 0.5 * (x - eta) * (x - eta) / v
                weight = math.exp(min(height - top, 0.0))
                mass += weight
                first += weight * i
                second += weight * i * i
            first /= mass
            pull = (centre + apart * first - eta) / v
            left = apart * apart * (second / mass - first * first) / v
            lost = 1.0 - left
            mass *= apart
        left, lost = min(max(left, _LEAST), 1.0), min(lost, 1.0 - _LEAST)
        rest = v * left / lost if lost > 0.0 else np.inf
        return pull, rest, math.log(mass / math.sqrt(v)) + top - _HALF_LOG_TAU

    return match


@kernel
def scale(constants, noise):
    """Beliefs of such distributions are in units of nothing but themselves."""
    return 1.0


@kernel
def draw_scale(constants, noise, rng):
    return 1.0
