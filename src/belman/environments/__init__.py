"""Who answers: problems with fixed means, and random ones with new means in every run."""

from belman.environments.characteristic_time import CharacteristicTime, characteristic_time
from belman.environments.environment import Problem
from belman.environments.stationary import (
    RandomStationary,
    Stationary,
    bernoulli,
    exponential,
    gamma,
    gaussian,
    geometric,
    lai_robbins,
    poisson,
    problem,
    random_bernoulli,
    random_exponential,
    random_gaussian,
    random_poisson,
    random_problem,
)

__all__ = [
    "CharacteristicTime",
    "Problem",
    "RandomStationary",
    "Stationary",
    "bernoulli",
    "characteristic_time",
    "exponential",
    "gamma",
    "gaussian",
    "geometric",
    "lai_robbins",
    "poisson",
    "problem",
    "random_bernoulli",
    "random_exponential",
    "random_gaussian",
    "random_poisson",
    "random_problem",
]
