"""Logs of tests whose weights adapt: units hashed by GrowthBook, payload by payload."""

from __future__ import annotations

import numpy as np

from belman.bridges.growthbook import bucket_ranges
from belman.bulk_hashes import buckets

ARMS = ("blue", "green", "red")


def payload(weights, seed="s", feature="offer", **rule):
    made = {"key": feature, "variations": list(ARMS), "weights": list(weights), "seed": seed}
    made |= {"hashVersion": 2, **rule}
    return {"features": {feature: {"defaultValue": "blue", "rules": [made]}}}


def arms_of(units, weights, seed="s"):
    """What GrowthBook gives units, by the ranges of buckets that its clients compute."""
    share = buckets(seed, 2, units) / 10_000
    ends = [end for _, end in bucket_ranges(len(weights), 1.0, list(weights))]
    return np.searchsorted(ends[:-1], share, side="right")


def adapting(rng, periods, each, means, floor=0.1, repeats=False, name="u"):
    """A log in periods: after each, most weight goes to the arm whose rewards were best so far.

    With `repeats` half of the units of a period were there in the one before.
    """
    weights = np.full(len(means), 1.0 / len(means))
    history, units, times, arms, rewards = {}, [], [], [], []
    won, came = np.ones(len(means)), np.full(len(means), 2.0)
    for period in range(periods):
        history[float(period * each)] = payload(weights)
        first = period * each // (2 if repeats else 1)
        own = np.array([f"{name}{i}" for i in range(first, first + each)])
        given = arms_of(own, weights)
        got = (rng.random(each) < np.asarray(means)[given]).astype(float)
        units += own.tolist()
        times += range(period * each, (period + 1) * each)
        arms += [ARMS[position] for position in given]
        rewards += got.tolist()
        won += np.bincount(given, weights=got, minlength=len(means))
        came += np.bincount(given, minlength=len(means))
        best = int(np.argmax(won / came))
        weights = np.full(len(means), floor)
        weights[best] = 1.0 - floor * (len(means) - 1)
    log = {"unit": units, "time": times, "variation": arms, "reward": rewards}
    return log, history
