"""Who answers: fixed means, random ones with new means in every run, late rewards, and queues."""

from belman.problems.delayed import Delayed, delayed
from belman.problems.lower_bounds import CharacteristicTime, characteristic_time, lai_robbins
from belman.problems.problem import Problem
from belman.problems.queueing import Queue, UnstableQueueWarning, queue
from belman.problems.stationary import (
    RandomStationary,
    Stationary,
    bernoulli,
    exponential,
    gamma,
    gaussian,
    geometric,
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
    "Delayed",
    "Problem",
    "Queue",
    "RandomStationary",
    "Stationary",
    "UnstableQueueWarning",
    "bernoulli",
    "characteristic_time",
    "delayed",
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
