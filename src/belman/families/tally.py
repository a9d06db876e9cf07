"""What many rewards teach a belief at once: sums of statistics, in arrays.

What a reward adds to the natural parameters of a conjugate belief is its statistic, whatever was
believed before. So the belief after many rewards is a sum, and their chance one after the other,
each predicted from those before it, telescopes to the log-partition after all of them less that
before any, and what no belief changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from belman.engine import kernel
from belman.families.family import Family, Floats
from belman.families.money import Money

Statistic = Callable[[Family, Floats], Floats]


@kernel
def _tell(family, constants, beliefs, samples):
    for i in range(len(samples)):
        for reward in samples[i]:
            family.update(constants, beliefs[i], reward)


def _normal(family: Family, x: Floats) -> Floats:
    return np.stack([np.full(x.shape, 0.5), 0.5 * x * x, x, np.ones(x.shape)], axis=-1)


def _gamma(family: Family, x: Floats) -> Floats:
    return np.stack([np.full(x.shape, getattr(family, "shape", 1.0)), x], axis=-1)


_STATISTICS: dict[str, Statistic] = {
    "bernoulli": lambda family, x: np.stack([x, 1.0 - x], axis=-1),
    "poisson": lambda family, x: np.stack([x, np.ones(x.shape)], axis=-1),
    "geometric": lambda family, x: np.stack([np.ones(x.shape), x - 1.0], axis=-1),
    "exponential": _gamma,
    "gamma": _gamma,
    "gaussian-unknown": _normal,
    "log-normal": lambda family, x: _normal(family, np.log(x)),
}


def _statistics(family: Family, x: Floats) -> Floats:
    if not isinstance(family, Money):
        return _STATISTICS[family.name](family, x)
    bought = x > 0.0
    amounts = _statistics(family.amount, np.where(bought, x, 1.0))
    counts = np.stack([bought, ~bought], axis=-1).astype(np.float64)
    return np.concatenate([counts, amounts * bought[..., None]], axis=-1)


def has_distribution(family: Family) -> bool:
    """Whether a distribution predicts rewards, and sums say all that a belief learns."""
    amounts = family.amount if isinstance(family, Money) else family
    return amounts.name in _STATISTICS


def beliefs_after(family: Family, samples: Floats) -> Floats:
    """The beliefs after rows of rewards, one belief a row.

    >>> from belman.families import Poisson
    >>> beliefs_after(Poisson(), np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[5.0, 3.0], [1.0, 3.0]]
    """
    if not has_distribution(family):
        beliefs = np.tile(np.asarray(family.prior, dtype=np.float64), (len(samples), 1))
        family.enter(_tell, beliefs=beliefs, samples=np.ascontiguousarray(samples))
        return beliefs
    start = family.natural(family.prior)
    sums = [_statistics(family, sample).sum(axis=0) for sample in samples]
    return np.array([family.from_natural(start + learned) for learned in sums])


def log_score(family: Family, rewards: Floats) -> float:
    """The sum of ln p(reward | those before it): masses of counts, densities of other numbers.

    >>> from belman.families import Bernoulli
    >>> round(math.exp(log_score(Bernoulli(), np.array([1.0, 1.0, 0.0]))), 4)  # 1/2 · 2/3 · 1/4
    0.0833
    """
    (after,) = beliefs_after(family, rewards[None])
    learned = family.log_partition(after) - family.log_partition(family.prior)
    return learned + _unlearned(family, rewards)


def _unlearned(family: Family, x: Floats) -> float:
    """The sum of the logarithms of what no parameter changes in the distribution of a reward."""
    if isinstance(family, Money):
        return _unlearned(family.amount, x[x > 0.0])
    if family.name == "poisson":
        from scipy import special  # here, since it takes longer to import than all of the rest

        return -float(special.gammaln(x + 1.0).sum())
    if family.name == "gamma":
        shape = float(getattr(family, "shape", 1.0))
        return float(((shape - 1.0) * np.log(x)).sum()) - x.size * math.lgamma(shape)
    normal = -0.5 * x.size * math.log(2.0 * math.pi)
    if family.name == "log-normal":
        return normal - float(np.log(x).sum())
    return normal if family.name == "gaussian-unknown" else 0.0


def learnt(family: Family, belief: ArrayLike, rewards: ArrayLike) -> Floats:
    """The belief after these rewards; the family must support each of them.

    >>> from belman.families import Bernoulli
    >>> learnt(Bernoulli(), (1.0, 1.0), [1.0, 0.0, 1.0]).tolist()
    [3.0, 2.0]
    """
    after = np.array(belief, dtype=np.float64)[None]
    values = np.ascontiguousarray(rewards, dtype=np.float64)
    if values.size:
        family.enter(_tell, beliefs=after, samples=values.reshape(1, -1))
    return after[0]
