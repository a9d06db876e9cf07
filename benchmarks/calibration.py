"""Are beliefs right about rewards of the kind they are advised for? Coverage of the 95 % interval
of the mean, and how often one of two equal arms has P(best) > 0.95, at fixed truths.

The nominal chance of the latter is 10 % (5 % for either arm). A share is judged with its own error:
it fails where it lies beyond the limits by more than three deviations of so many trials.
`python -m benchmarks.calibration [TRIALS] [KIND …]` measures kinds whose names begin so, or all.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import belman
from belman import chance
from belman.engine import kernel
from belman.families import BetaRewards, Bounded, ChiSquared, Family
from belman.families.tally import beliefs_after
from belman.table import Table

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]

SIZES = (100, 1_000, 10_000)
WARNED = 10**9  # rewards from which a pair holds that the guide warns of
TRIALS = 2_000
LOW, HIGH, EQUAL = 0.93, 0.97, 0.10
_CELLS = 2_000_000  # rewards that are drawn at a time
_FEW_DRAWS = 400  # where beliefs are integrated; where P(best) is right, so few bias nothing


class Kind(NamedTuple):
    """A kind of rewards: a family for it, a distribution to draw from, its mean, from how many
    rewards on it holds, and how many draws of a pair of arms tell P(best).
    """

    what: str
    family: Family
    draw: Draw
    mean: float
    holds_from: int = SIZES[0]
    draws: int = 4_000


def money(share: float, amounts: Draw) -> Draw:
    """Nothing, or an amount with that chance."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        bought = rng.random(shape) < share
        out = np.zeros(shape)
        out[bought] = amounts(rng, (int(bought.sum()), 1)).ravel()
        return out

    return draw


def log_normal(sigma: float) -> Draw:
    return lambda rng, shape: 30.0 * rng.lognormal(0.0, sigma, shape)


def gamma(shape: float) -> Draw:
    return lambda rng, size: 30.0 / shape * rng.gamma(shape, size=size)


PRICES = np.array([5.0, 9.99, 20.0, 20.0, 50.0, 120.0])


def prices(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.choice(PRICES, shape)


def kinds() -> list[Kind]:
    """Every pair that the guide advises, and some that it warns of."""
    shop, anything = belman.families.Money(typical=10.0), belman.families.Money("any", typical=10.0)
    timed_out, late = belman.families.BoundedExponential(bound=60.0), cut_mean(30.0, 60.0)
    wide = belman.families.GaussianUnknown(prior=(0.0, 0.01, 1.0, 1.0))
    small = belman.families.GaussianUnknown(prior=(0.5, 0.01, 1.0, 0.05))
    tiny = belman.families.GaussianUnknown(prior=(0.5, 0.01, 1.0, 0.0025))
    result = [
        Kind("clicks, 3 %", belman.families.Bernoulli(), coin(0.03), 0.03),
        Kind("clicks, 40 %", belman.families.Bernoulli(), coin(0.4), 0.4),
        Kind("counts, Poisson, mean 2", belman.families.Poisson(), counts(2.0), 2.0),
        Kind("counts, overdispersed 3 ×", wide, overdispersed(3.0), 4.0),
        Kind("attempts to a success, 20 %", belman.families.Geometric(), attempts(0.2), 5.0),
        Kind("waiting times, exponential", belman.families.Exponential(), gamma(1.0), 30.0),
        Kind(
            "waiting times, log-normal, σ = 1",
            belman.families.LogNormal(),
            log_normal(1.0),
            ln(1.0),
        ),
        Kind(
            "waiting times, log-normal, σ = 1.5",
            belman.families.LogNormal(),
            log_normal(1.5),
            ln(1.5),
        ),
        Kind("waiting times, gamma, shape 2", belman.families.Positive(), gamma(2.0), 30.0),
        Kind(
            "waiting times, gamma, shape 2", belman.families.GammaKnownShape(2.0), gamma(2.0), 30.0
        ),
        Kind("waiting times, time-out at 60", timed_out, cut_exponential(30.0, 60.0), late),
        Kind("sums of squares, χ², 5 degrees", ChiSquared(), squares, 5.0, draws=_FEW_DRAWS),
        Kind("shares, Beta(3, 1)", BetaRewards(), shares, 0.75, draws=_FEW_DRAWS),
        Kind("ratings in [0, 1]", small, ratings, 2.0 / 3.0),
        Kind("narrow in [0, 1]", tiny, narrow, 0.4),
        *bounded_kinds(Bounded()),
        *bounded_kinds(Bounded(atoms=65), _FEW_DRAWS),
        Kind("measurements, Gaussian", wide, measured, 1.0),
        Kind("measurements, Gaussian, σ known", belman.families.Gaussian(2.0), measured, 1.0),
        Kind("measurements, t with 3 degrees", wide, lambda r, s: r.standard_t(3, s), 0.0),
    ]
    for sigma in (0.5, 1.0, 1.5):
        what = f"money, 3 % buy, log-normal, σ = {sigma:g}"
        draw, mean = money(0.03, log_normal(sigma)), 0.03 * ln(sigma)
        result.append(Kind(what, shop, draw, mean))
        result.append(Kind(what, anything, draw, mean, 100 if sigma > 1.0 else 1_000))
    paid = money(0.03, log_normal(1.0))
    gammas, listed = money(0.03, gamma(2.0)), money(0.03, prices)
    often, by_shape = money(0.4, log_normal(1.0)), belman.families.Money("gamma", 10.0, 2.0)
    return [
        *result,
        Kind("money, 3 % buy, gamma, shape 2", anything, gammas, 0.9, 1_000),
        Kind("money, 3 % buy, price list", anything, listed, 0.03 * float(PRICES.mean()), 1_000),
        Kind("money, 40 % buy, log-normal, σ = 1", anything, often, 0.4 * ln(1.0)),
        Kind("money, 3 % buy, gamma, shape 2", by_shape, gammas, 0.9, 1_000),
        Kind("money, 3 % buy, gamma, shape 0.5", shop, money(0.03, gamma(0.5)), 0.9, WARNED),
        Kind(
            "money, 3 % buy, log-normal, σ = 1",
            belman.families.Exponential(),
            paid,
            0.03 * ln(1.0),
            WARNED,
        ),
        Kind("ratings in [0, 1]", belman.families.Bernoulli(), ratings, 2.0 / 3.0, WARNED),
        Kind(
            "counts, overdispersed 3 ×", belman.families.Poisson(), overdispersed(3.0), 4.0, WARNED
        ),
    ]


def bounded_kinds(family: Bounded, draws: int = 4_000) -> list[Kind]:
    """Rewards in [0, 1] of the kinds that `belman.problems.shaped` plays."""
    spent = money(0.1, lambda r, s: r.beta(2.0, 3.0, s))
    either = money(0.5, lambda r, s: r.beta(8.0, 4.0, s))
    kinds = [
        Kind("clicks, 3 %", family, coin(0.03), 0.03),
        Kind("ratings in [0, 1]", family, ratings, 2.0 / 3.0),
        Kind("five stars", family, lambda r, s: r.integers(0, 5, s) / 4.0, 0.5),
        Kind("uniform from 0.2 to 0.6", family, lambda r, s: r.uniform(0.2, 0.6, s), 0.4, 1_000),
        Kind("narrow in [0, 1]", family, narrow, 0.4, 1_000),
        Kind("exponential cut at 1", family, cut_exponential(0.3, 1.0), cut_mean(0.3, 1.0)),
        Kind("nothing, or a share", family, either, 1.0 / 3.0),
        Kind("revenue, 10 % buy", family, spent, 0.04, 1_000),
    ]
    return [kind._replace(draws=draws) for kind in kinds]


def cut_exponential(mean: float, bound: float) -> Draw:
    return lambda rng, shape: np.minimum(rng.exponential(mean, shape), bound)


def cut_mean(mean: float, bound: float) -> float:
    return mean * -math.expm1(-bound / mean)


def narrow(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.beta(40.0, 60.0, shape)


def shares(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.beta(3.0, 1.0, shape)


def squares(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.chisquare(5.0, shape)


def measured(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(1.0, 2.0, shape)


def ln(sigma: float) -> float:
    """The mean of those amounts."""
    return 30.0 * math.exp(0.5 * sigma * sigma)


def coin(share: float) -> Draw:
    return lambda rng, shape: (rng.random(shape) < share).astype(np.float64)


def counts(mean: float) -> Draw:
    return lambda rng, shape: rng.poisson(mean, shape).astype(np.float64)


def overdispersed(factor: float) -> Draw:
    """Counts of mean 4 whose variance is so many times that."""
    share = 1.0 / factor
    size = 4.0 * share / (1.0 - share)
    return lambda rng, shape: rng.negative_binomial(size, share, shape).astype(np.float64)


def attempts(share: float) -> Draw:
    return lambda rng, shape: rng.geometric(share, shape).astype(np.float64)


def ratings(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.beta(4.0, 2.0, shape)


@kernel
def _look(family, constants, beliefs, mean, draws, rng, below, better):
    """The chance of a mean below the true one, and that of being better than the arm before."""
    for i in range(below.size):
        below[i] = family.mean_cdf(constants, beliefs[i], mean)
        if i % 2 == 1:
            wins = 0.0
            for _ in range(draws):
                own = family.sample_mean(constants, beliefs[i], rng)
                if own > family.sample_mean(constants, beliefs[i - 1], rng):
                    wins += 1.0
            better[i // 2] = wins / draws


def measure(kind: Kind, size: int, trials: int, seed: int) -> tuple[float, float]:
    """Coverage, and the share of pairs of equal arms of which one has P(best) > 0.95."""
    rng = np.random.default_rng([seed, size])
    beliefs = []
    while len(beliefs) < trials:
        rows = min(max(_CELLS // size, 1), trials - len(beliefs))
        beliefs += list(beliefs_after(kind.family, kind.draw(rng, (rows, size))))
    below, better = np.empty(trials), np.empty(trials // 2)
    kind.family.enter(
        _look,
        beliefs=np.array(beliefs),
        mean=float(kind.mean),
        draws=kind.draws,
        rng=chance.generator(seed, size),
        below=below,
        better=better,
    )
    covered = np.mean((below >= 0.025) & (below <= 0.975))
    return float(covered), float(np.mean((better > 0.95) | (better < 0.05)))


def right(covered: float, equal: float, trials: int) -> bool:
    """Whether shares of so many trials lie within the limits, but for their own error."""
    error = 3.0 * math.sqrt(0.05 * 0.95 / trials)
    pairs = 3.0 * math.sqrt(EQUAL * (1.0 - EQUAL) / (trials // 2))
    return LOW - error <= covered <= HIGH + error and equal <= EQUAL + pairs


def name_of(family: Family) -> str:
    """With what it takes amounts for, or how many atoms it has."""
    amounts, atoms = getattr(family, "amounts", None), getattr(family, "atoms", 0)
    if atoms:
        return f"{family.name} ({atoms} atoms)"
    return family.name if amounts is None else f"{family.name} ({amounts})"


def main(trials: int = TRIALS, *names: str) -> None:
    columns: dict[str, list[str]] = {"rewards": [], "family": []}
    columns |= {f"95 % at {size:,}": [] for size in SIZES}
    columns |= {f"equal at {size:,}": [] for size in SIZES} | {"advised": []}
    failed = []
    for kind in kinds():
        if names and not kind.what.startswith(names):
            continue
        family = name_of(kind.family)
        columns["rewards"].append(kind.what)
        columns["family"].append(family)
        advised = "no" if kind.holds_from == WARNED else f"from {kind.holds_from:,} on"
        columns["advised"].append(advised)
        for size in SIZES:
            covered, equal = measure(kind, size, trials, seed=16)
            columns[f"95 % at {size:,}"].append(f"{covered:.1%}")
            columns[f"equal at {size:,}"].append(f"{equal:.1%}")
            if size >= kind.holds_from and not right(covered, equal, trials):
                failed.append(f"{kind.what}, {family}, {size:,}")
    title = f"calibration at fixed truths, {trials:,} trials and {trials // 2:,} pairs"
    print(Table(columns, title))
    if failed:
        print("\nadvised, and not calibrated:", "; ".join(failed))
        sys.exit(1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
