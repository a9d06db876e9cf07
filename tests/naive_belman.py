"""A slow, obvious twin of BelMan: every turn from scratch with SciPy, straight from the formulas.
Nothing is kept or compiled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import integrate, optimize, special, stats


class Bernoulli:
    prior = (1.0, 1.0)
    prior_worth = 2.0
    natural, from_natural = staticmethod(np.array), staticmethod(tuple)

    @staticmethod
    def update(belief, x):
        return belief[0] + x, belief[1] + 1.0 - x

    @staticmethod
    def expected(belief):
        return belief[0] / sum(belief)

    @staticmethod
    def d(mean, other):
        return special.rel_entr(mean, other) + special.rel_entr(1.0 - mean, 1.0 - other)

    @staticmethod
    def mean_parameters(belief):
        """E[ln θ] and E[ln(1 − θ)]."""
        return special.psi(belief) - special.psi(sum(belief))

    @classmethod
    def barycentre(cls, target):
        """The Beta distribution with those mean parameters, by SciPy's root finder in the
        logarithms.
        """
        start = np.log([1.0, 1.0])
        result = optimize.root(
            lambda u: cls.mean_parameters(np.exp(u)) - target,
            start,
            tol=1e-13,
            options={"maxfev": 2_000},
        )
        assert np.abs(result.fun).max() < 1e-9, result
        return tuple(np.exp(result.x))

    @classmethod
    def kl(cls, belief, other):
        gain = (np.array(belief) - other) @ cls.mean_parameters(belief)
        return gain + special.betaln(*other) - special.betaln(*belief)

    distribution = staticmethod(stats.beta)


class Exponential:
    prior = (1.0, 1.0)
    prior_worth = 0.0
    natural, from_natural = staticmethod(np.array), staticmethod(tuple)

    @staticmethod
    def update(belief, x):
        return belief[0] + 1.0, belief[1] + x

    @staticmethod
    def expected(belief):
        return belief[1] / (belief[0] - 1.0) if belief[0] > 1.0 else math.inf

    @staticmethod
    def d(mean, other):
        return mean / other - 1.0 - math.log(mean / other)

    @staticmethod
    def mean_parameters(belief):
        """E[ln θ] and −E[θ]."""
        return np.array([special.psi(belief[0]) - math.log(belief[1]), -belief[0] / belief[1]])

    @staticmethod
    def barycentre(target):
        gap = target[0] - math.log(-target[1])
        shape = math.exp(
            optimize.brentq(
                lambda u: special.psi(math.exp(u)) - u - gap, -20.0, 30.0, xtol=1e-14, rtol=1e-14
            )
        )
        return shape, -shape / target[1]

    @classmethod
    def kl(cls, belief, other):
        def partition(a, b):
            return special.gammaln(a) - a * math.log(b)

        return (
            (np.array(belief) - other) @ cls.mean_parameters(belief)
            + partition(*other)
            - partition(*belief)
        )

    @staticmethod
    def distribution(a, b):
        return stats.gamma(a, scale=1.0 / b)


class Gaussian:
    """Known variance 1; the belief is (mean, precision)."""

    prior = (0.0, 0.01)
    prior_worth = 0.01

    @staticmethod
    def update(belief, x):
        mean, precision = belief
        return (mean * precision + x) / (precision + 1.0), precision + 1.0

    @staticmethod
    def expected(belief):
        return belief[0]

    @staticmethod
    def d(mean, other):
        return 0.5 * (mean - other) ** 2

    @staticmethod
    def natural(belief):
        return np.array([belief[0] * belief[1], belief[1]])

    @staticmethod
    def from_natural(eta):
        return eta[0] / eta[1], eta[1]

    @staticmethod
    def mean_parameters(belief):
        """E[θ] and E[θ²]."""
        return np.array([belief[0], belief[0] ** 2 + 1.0 / belief[1]])

    @staticmethod
    def barycentre(target):
        return target[0], 1.0 / (target[1] - target[0] ** 2)

    @staticmethod
    def kl(belief, other):
        ratio = other[1] / belief[1]
        return 0.5 * (ratio - 1.0 - math.log(ratio) + other[1] * (belief[0] - other[0]) ** 2)

    @staticmethod
    def distribution(m, k):
        return stats.norm(m, k**-0.5)


def kl_by_quadrature(family, belief, other):
    """The twin of the twin: ∫ b ln(b/c), for a test of the closed forms above."""
    first, second = family.distribution(*belief), family.distribution(*other)
    ends = first.ppf([1e-13, 1.0 - 1e-13])
    return integrate.quad(
        lambda x: first.pdf(x) * (first.logpdf(x) - second.logpdf(x)),
        *ends,
        limit=200,
        epsabs=1e-12,
    )[0]


HORIZON = 280


def naive_phi(x, arms):
    """What a surprise of x nats counts under the default exposure."""
    return x * x / (x + 2.25 * math.log(arms) / (1.0 + (x / 8.5) ** 4)) if x > 0.0 else x


@dataclass
class NaiveBelMan:
    """`kind` is 'paper' (C = 15), 'natural' (the same with the other barycentre), 'fading'
    (evidence of weight c_t), 'evidence' or 'until' (the same where play ends after HORIZON turns).
    """

    family: type
    arms: int
    kind: str
    rewards: list[list[float]] = field(init=False)

    def __post_init__(self) -> None:
        self.rewards = [[] for _ in range(self.arms)]

    def tell(self, arm: int, reward: float) -> None:
        self.rewards[arm].append(reward)

    def beliefs(self) -> list[tuple[float, float]]:
        result = []
        for rewards in self.rewards:
            belief = self.family.prior
            for reward in rewards:
                belief = self.family.update(belief, reward)
            result.append(belief)
        return result

    def indices(self) -> list[float]:
        """The index of every arm at turn t = rewards told + 1."""
        beliefs, turn = self.beliefs(), 1 + sum(map(len, self.rewards))
        if self.kind in ("evidence", "until"):
            return self.surprise_less_evidence(beliefs, turn)
        if self.kind == "natural":
            centre = self.family.from_natural(
                np.mean([self.family.natural(belief) for belief in beliefs], axis=0)
            )
        else:
            centre = self.family.barycentre(
                np.mean([self.family.mean_parameters(belief) for belief in beliefs], axis=0)
            )
        nearness = [-self.family.kl(belief, centre) for belief in beliefs]
        means = [self.family.expected(belief) for belief in beliefs]
        if self.kind == "fading":
            leader = max(means)
            if math.isinf(leader):
                return [
                    math.inf if math.isinf(mean) else near
                    for mean, near in zip(means, nearness, strict=True)
                ]
            weight = 0.5 + 0.8 * math.log(self.arms) / (
                1.0 + 0.1 * math.log(1.0 + turn / self.arms)
            )
            evidence = [
                len(rewards) * self.family.d(mean, leader)
                for rewards, mean in zip(self.rewards, means, strict=True)
            ]
            return [
                near - weight * against for near, against in zip(nearness, evidence, strict=True)
            ]
        pull = max(0.0, math.log(turn) + 15.0 * math.log(math.log(turn))) if turn >= 3 else 0.0
        return [
            near + (pull * mean if pull > 0.0 else 0.0)
            for near, mean in zip(nearness, means, strict=True)
        ]

    def surprise_less_evidence(self, beliefs, turn):
        """φ(ln(t/ν)) − ν d(μ, μ_L), every prior moved down to where the arms were found to be."""
        prior_mean, prior_worth = self.family.expected(self.family.prior), self.family.prior_worth
        worths = [prior_worth + len(rewards) for rewards in self.rewards]
        means = [self.family.expected(belief) for belief in beliefs]
        known = [a for a, rewards in enumerate(self.rewards) if rewards]
        shift = 0.0
        if prior_worth > 0.0 and known:
            shift = sum(means[a] - prior_mean for a in known) / (
                5.0 + sum(1.0 - prior_worth / worths[a] for a in known)
            )
            if shift < 0.0 and prior_worth * self.family.d(prior_mean + shift, prior_mean) >= 1e-3:
                shift = -(2.0 ** (round(8.0 * math.log2(-shift)) / 8.0))
            else:
                shift = 0.0
        judged = [
            mean + shift * prior_worth / worth if worth else math.inf
            for mean, worth in zip(means, worths, strict=True)
        ]
        leader = max((mean for mean in judged if math.isfinite(mean)), default=0.0)
        return [
            self.counted(turn, worth) - worth * self.family.d(mean, leader) if worth else math.inf
            for mean, worth in zip(judged, worths, strict=True)
        ]

    def counted(self, turn, worth):
        """What an arm's surprise counts: φ(ln(t/ν)), or by the turns left where play ends."""
        if self.kind == "evidence":
            return naive_phi(math.log(turn / worth), self.arms)
        x = math.log((worth + 4.0 + max(HORIZON - turn, 0)) / (worth + 4.0))
        doubted = 8.5 * (0.25 + 0.05 * 2.25 * math.log(self.arms))
        far = max(min(x, math.log(turn / worth)), 0.0) / doubted
        return x**2 / (x + 6.0 / (1.0 + far**4))
