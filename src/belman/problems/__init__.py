"""Who answers: fixed means, random ones with new means in every run, late rewards, and queues."""

from belman.problems.delayed import Delayed, batched, delayed
from belman.problems.drifting import (
    Drifting,
    abrupt_and_back,
    changing,
    piecewise,
    random_walk,
    seasonal,
    sinusoid,
)
from belman.problems.lower_bounds import CharacteristicTime, characteristic_time, lai_robbins
from belman.problems.problem import Problem
from belman.problems.queueing import Queue, UnstableQueueWarning, queue
from belman.problems.servers import Servers, servers
from belman.problems.stationary import (
    RandomStationary,
    Stationary,
    bernoulli,
    exponential,
    gamma,
    gaussian,
    geometric,
    log_normal,
    money,
    poisson,
    problem,
    random_bernoulli,
    random_exponential,
    random_gaussian,
    random_poisson,
    random_problem,
)
from belman.problems.tables import SHAPES, Tables, bounded, shaped

__all__ = [
    "SHAPES",
    "CharacteristicTime",
    "Delayed",
    "Drifting",
    "Problem",
    "Queue",
    "RandomStationary",
    "Servers",
    "Stationary",
    "Tables",
    "UnstableQueueWarning",
    "abrupt_and_back",
    "batched",
    "bernoulli",
    "bounded",
    "changing",
    "characteristic_time",
    "delayed",
    "exponential",
    "gamma",
    "gaussian",
    "geometric",
    "lai_robbins",
    "log_normal",
    "money",
    "piecewise",
    "poisson",
    "problem",
    "queue",
    "random_bernoulli",
    "random_exponential",
    "random_gaussian",
    "random_poisson",
    "random_problem",
    "random_walk",
    "seasonal",
    "servers",
    "shaped",
    "sinusoid",
]
