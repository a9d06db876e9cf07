"""Who answers: problems with fixed means, random ones with new means in every run, and queues."""

from belman.environments.environment import Problem
from belman.environments.queueing import Queue, UnstableQueueWarning, queue
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
    "Problem",
    "Queue",
    "RandomStationary",
    "Stationary",
    "UnstableQueueWarning",
    "bernoulli",
    "exponential",
    "gamma",
    "gaussian",
    "geometric",
    "lai_robbins",
    "poisson",
    "problem",
    "queue",
    "random_bernoulli",
    "random_exponential",
    "random_gaussian",
    "random_poisson",
    "random_problem",
]
