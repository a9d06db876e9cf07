"""What is foretold of every arm in many contexts, as arrays; of a copy, and nothing is changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from belman.deciders.decider import Asking
from belman.deciders.featured.slots import Floats
from belman.deciders.featured.views import ends
from belman.deciders.shares import Shares
from belman.errors import PolicyError
from belman.models import Belief, Model, linear
from belman.models.arrow import along

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_MIDDLES = (np.arange(64) + 0.5) / 64


def _looks(decider: Any, askings: Sequence[Asking]) -> Iterator[dict[str, Any]]:
    """Yield what a decision in each of these contexts sees, as if it were the only one."""
    known = decider.copy()
    for asking in askings:
        one = known
        if known.knowledge.news(asking.context or {}, asking.candidates or []):
            one = known.copy()  # what is new in one context tells nothing about the others
            one.meet(asking, count=False)
        _, rows, positions = one.at_hand(asking)
        yield one._calls.choose(asking.context or {}, rows, positions, one.turn)[2]


def means(decider: Any, askings: Sequence[Asking]) -> Floats:
    """Return the expected reward (or cost) of every arm in play, contexts × arms."""
    return np.array([_means(decider, held) for held in _looks(decider, askings)])


def _means(decider: Any, held: dict[str, Any]) -> list[float]:
    model = decider.knowledge.form.model
    seen = zip(held["sight"].eta, held["sight"].variance, strict=True)
    expected, constants = model.kernels.expected, model.constants
    return [decider.outward(float(expected(constants, *pair))) for pair in seen]


def deviations(decider: Any, askings: Sequence[Asking]) -> Floats:
    """Return the standard deviation of what is believed of every mean reward."""
    model, result = decider.knowledge.form.model, []
    for held in _looks(decider, askings):
        belief, features = held["belief"], held["features"]
        result.append([_deviation(model, belief, row) for row in features])
    return np.array(result)


def _deviation(model: Model, belief: Belief, features: Floats) -> float:
    """The standard deviation of the mean reward at these features: infinite where rewards are too
    few to say how large the noise is.
    """
    first = second = 0.0
    centre = float(belief.share @ (belief.mean @ features))
    level = float(model.kernels.mean(model.constants, centre))
    is_line = model.kernels.mean is linear.mean
    for b, share in enumerate(belief.share):
        shape, mean = belief.noise[b, 0], float(belief.mean[b] @ features)
        scale = model.kernels.scale(model.constants, belief.noise[b])
        wide = float(np.linalg.norm(along(features, belief.root[b], belief.begin)))
        wide *= math.sqrt(scale)
        if is_line:
            freer = shape / (shape - 1.0) if shape > 1.0 else math.inf
            freer = 1.0 if shape == 0.0 or wide == 0.0 else freer
            first += share * (mean - centre)
            second += share * (wide * wide * freer + (mean - centre) ** 2)
            continue
        nodes, weights = _distribution(shape)
        values = [model.kernels.mean(model.constants, mean + wide * node) for node in nodes]
        apart = np.array(values) - level
        first += share * float(weights @ apart)
        second += share * float(weights @ (apart * apart))
    return math.sqrt(max(second - first * first, 0.0))


def _distribution(shape: float) -> tuple[Floats, Floats]:
    """Points of a normal distribution, or of Student's with 2·shape degrees, and what they
    weigh.
    """
    if shape == 0.0:
        return _NODES, _WEIGHTS
    from scipy import special  # an agent that is asked for no deviations is imported without it

    nodes: Floats = special.stdtrit(2.0 * shape, _MIDDLES)
    return nodes, np.full(_MIDDLES.size, 1.0 / _MIDDLES.size)


def intervals(decider: Any, askings: Sequence[Asking], level: float) -> Floats:
    """Return the credible interval of every mean reward, contexts × arms × 2."""
    model, result = decider.knowledge.form.model, []
    for held in _looks(decider, askings):
        both = [ends(model, held["belief"], row, level) for row in held["features"]]
        result.append(
            [
                sorted(
                    decider.outward(float(model.kernels.mean(model.constants, end))) for end in pair
                )
                for pair in both
            ]
        )
    return np.array(result)


def chances(decider: Any, askings: Sequence[Asking], shares: Shares) -> Floats:
    """Return the chance with which every arm in play is chosen in each of these contexts;
    PolicyError where the policy does not say.
    """
    policy, model, arms = decider.policy, decider.knowledge.form.model, decider.arms
    free = [arms.index(arm) for arm in shares.free(arms)]
    result = []
    for held in _looks(decider, askings):
        if policy.by_chance:
            seen = held["belief"], held["features"], held["sight"]
            wished = np.array(
                [policy.chance(model, *seen, position) for position in range(len(arms))]
            )
        else:
            index = held["index"]
            wished = (index == index[free].max()).astype(np.float64)
        if np.isnan(wished).any():
            what = f"policy {policy.name!r} does not say the chances of {len(arms)} arms"
            raise PolicyError(f"{what}: lin-ts, lin-med and lin-epsilon-greedy do, of up to 50")
        wished /= wished.sum()  # they are integrals, to three digits
        beside = shares.beside(dict(zip(arms, wished.tolist(), strict=True)))
        result.append([beside[arm] for arm in arms])
    return np.array(result)
