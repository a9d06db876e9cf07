"""What estimates say of arms, as beliefs: coins by their counts, all else by large samples.

An estimate with its error and degrees of freedom is a Normal-gamma belief whose mean has Student's
distribution around it: what a flat prior makes of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from belman.analysis.estimates import Estimate, Estimates, Metric, Sample
from belman.analysis.rows import Rows
from belman.families import Bernoulli, Family, GaussianUnknown
from belman.families.mirror import Mirror
from belman.families.tally import learnt
from belman.measures.lift import Units
from belman.measures.report import Known

Floats = NDArray[np.float64]

_MOSTLY = 0.5  # zeros among rewards from which amounts are money
_LARGE = "sequences of large samples are asymptotic"


class Kind(Enum):
    """What the values of units are."""

    COIN = "coin"
    MONEY = "money"
    NUMBER = "number"


def kind_of(rows: Rows, metric: Metric, made: Sample | None) -> Kind:
    """Say what a metric is: 0 and 1, mostly zeros and amounts, or numbers of any kind."""
    if made is None:
        return Kind.COIN if rows.squares is None else Kind.NUMBER
    if metric.level is not None or made.before is not None or not (made.sizes == 1.0).all():
        return Kind.NUMBER
    if made.is_coin:
        return Kind.COIN
    zeros = float((made.sums == 0.0).mean())
    return Kind.MONEY if (made.sums >= 0.0).all() and zeros >= _MOSTLY else Kind.NUMBER


def known_by(
    kind: Kind,
    rows: Rows,
    metric: Metric,
    made: Sample | None,
    whole: Estimates,
    family: Family | None,
    minimise: bool,
) -> Known:
    """What is known of every arm: by a family where one was named, else by its kind."""
    units = Units(0.0, -1.0 if minimise else 1.0)
    sign = units.slope
    if family is not None and made is not None:
        return _by_family(family, rows, made, minimise, units)
    distribution, *beliefs = beliefs_of(kind, whole.arms, minimise)
    plays = np.array([float(one.units) for one in whole.arms])
    sums = sign * np.array([one.value * one.units for one in whole.arms])
    if kind is Kind.COIN:
        sums = np.round(sums)
    squares = np.abs(sums) if kind is Kind.COIN else sums**2 / plays
    priors = np.tile(np.array(distribution.prior), (plays.size, 1))
    faded = "" if kind is Kind.COIN else _LARGE
    return Known(
        distribution, rows.names, priors, np.array(beliefs), plays, sums, squares, units, faded
    )


def beliefs_of(
    kind: Kind, result: Sequence[Estimate], minimise: bool
) -> tuple[Family, *tuple[Floats, ...]]:
    """The family, and a belief for each of these estimates (mirrored families believe of costs)."""
    if kind is Kind.COIN:
        coin: Family = Mirror(Bernoulli()) if minimise else Bernoulli()
        counts = [(round(one.value * one.units), one.units) for one in result]
        prior = np.array(coin.prior)
        return coin, *(prior + np.array([k, n - k], dtype=np.float64) for k, n in counts)
    distribution: Family = Mirror(GaussianUnknown()) if minimise else GaussianUnknown()
    return distribution, *map(_student, result)


def _student(one: Estimate) -> Floats:
    units, half = float(one.units), 0.5 * max(one.freedom, 1.0)
    error = max(one.error, 1e-12 * max(abs(one.value), 1e-12))
    return np.array([one.value, units, half, half * units * error**2])


def _by_family(family: Family, rows: Rows, made: Sample, minimise: bool, units: Units) -> Known:
    """Beliefs by Bayes' theorem, reward by reward."""
    values = made.sums / made.sizes
    for value in np.unique(values):
        family.check_reward(float(value))
    distribution: Family = Mirror(family) if minimise else family
    parts = [units.slope * values[made.arms == a] for a in range(len(rows.names))]
    prior = np.array(distribution.prior)
    return Known(
        distribution,
        rows.names,
        np.tile(prior, (len(parts), 1)),
        np.array([learnt(distribution, prior, part) for part in parts]),
        np.array([float(part.size) for part in parts]),
        np.array([float(part.sum()) for part in parts]),
        np.array([float((part**2).sum()) for part in parts]),
        units,
    )
