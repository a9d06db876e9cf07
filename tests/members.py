"""Families with the constants that tests use, and random beliefs about their arms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.families import FAMILIES, Family, OneParameter
from belman.policies import POLICIES
from tests.waiting import HANG

Floats = NDArray[np.float64]

SETTINGS: dict[str, dict[str, float]] = {
    "money": {"share": 0.4, "sigma": 0.7},
    "bounded-exponential": {"bound": 10.0},
    "gamma": {"shape": 2.5},
    "gaussian": {"sigma": 0.7},
    "gaussian-unknown": {"sigma": 0.7},
    "beta": {"b": 2.0},
}
#: Families whose kernels are formulas; those whose beliefs are by quadrature, which take half a
#: minute to compile and are tried interpreted; and those whose chances alone are integrals.
CLOSED = [name for name, kind in FAMILIES.items() if kind.closed_form]
BY_QUADRATURE = [name for name, kind in FAMILIES.items() if issubclass(kind, OneParameter)]
INTEGRATED = [name for name in FAMILIES if name not in CLOSED and name not in BY_QUADRATURE]
#: Policies that must be told how long they play.
KNOWN_HORIZON = [
    name
    for name, kind in POLICIES.items()
    for field in fields(kind)
    if field.name == "horizon" and field.default is MISSING
]


def member(name: str) -> Family:
    return FAMILIES[name](**SETTINGS.get(name, {}))


def random_beliefs(
    family: Family, rng: np.random.Generator, arms: int, low: float = 0.7, high: float = 30.0
) -> Floats:
    """Beliefs, one a row, whose counts are log-uniform between two ends."""
    rows: Floats = np.exp(rng.uniform(np.log(low), np.log(high), (arms, family.dimension)))
    if "mean" in family.coordinates:
        rows[:, family.coordinates.index("mean")] = rng.normal(0.0, 2.0, arms)
    if family.coordinates[0] == "soft":
        rows[:, 0] = rng.uniform(0.0, 0.95, arms) / (1.0 / rows[:, 1] + 1.0 / rows[:, 2])
    if family.coordinates[0] == "chi":
        level = rng.normal(0.0, 1.0, arms)
        rows[:, 0] = rows[:, 1] * (level if family.proper((1.0, 1.0)) else -np.exp(level))
    return rows


def random_rewards(family: Family, rng: np.random.Generator, size: int) -> list[float]:
    """Possible rewards of a family, drawn from no distribution in particular."""
    return {
        "bernoulli": rng.integers(0, 2, size).astype(float),
        "poisson": rng.poisson(2.0, size).astype(float),
        "geometric": rng.geometric(0.4, size).astype(float),
        "bounded-exponential": np.minimum(rng.exponential(6.0, size), 10.0),
        "beta": rng.uniform(0.01, 0.99, size),
        "bounded": rng.beta(2.0, 3.0, size),
        "money": np.where(rng.random(size) < 0.5, rng.lognormal(0.0, 0.7, size), 0.0),
    }.get(family.name, np.abs(rng.normal(1.0, 1.0, size)) + 0.01).tolist()


def interpreted(script: str) -> Any:
    """The JSON that a script prints when nothing is compiled."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
