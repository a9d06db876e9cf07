"""Binomial and hypergeometric draws: outwards from the most likely count, in O(deviation) steps."""

from __future__ import annotations

import math

from belman import chance
from belman.engine import kernel

_NEGLIGIBLE = 1e-18


@kernel
def _log_choose(n, k):
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


@kernel
def binomial(mind, trials, p):
    """Successes in a whole number of trials."""
    if trials <= 0.0 or p <= 0.0:
        return 0.0
    if p >= 1.0:
        return trials
    mode = min(math.floor((trials + 1.0) * p), trials)
    log_mass = _log_choose(trials, mode) + mode * math.log(p) + (trials - mode) * math.log1p(-p)
    odds, more = p / (1.0 - p), math.exp(log_mass)
    fewer, up, down = more, mode, mode
    left = chance.uniform(mind) - more
    while left >= 0.0 and max(more, fewer) > _NEGLIGIBLE:
        more *= odds * (trials - up) / (up + 1.0)
        up += 1.0
        left -= more
        if left < 0.0:
            return up
        fewer *= down / (odds * (trials - down + 1.0))
        down -= 1.0
        left -= fewer
        if left < 0.0:
            return down
    return mode


@kernel
def hypergeometric(mind, good, bad, draws):
    """Good ones among so many drawn without replacement; whole numbers, draws ≤ good + bad."""
    low, high = max(0.0, draws - bad), min(draws, good)
    if low >= high:
        return low
    mode = min(max(math.floor((draws + 1.0) * (good + 1.0) / (good + bad + 2.0)), low), high)
    log_mass = _log_choose(good, mode) + _log_choose(bad, draws - mode)
    more = math.exp(log_mass - _log_choose(good + bad, draws))
    fewer, up, down = more, mode, mode
    left = chance.uniform(mind) - more
    while left >= 0.0 and max(more, fewer) > _NEGLIGIBLE:
        more *= (good - up) * (draws - up) / ((up + 1.0) * (bad - draws + up + 1.0))
        up += 1.0
        left -= more
        if left < 0.0:
            return up
        fewer *= down * (bad - draws + down) / ((good - down + 1.0) * (draws - down + 1.0))
        down -= 1.0
        left -= fewer
        if left < 0.0:
            return down
    return mode
