"""Who answers: fixed means, random ones, data of one's own, late or false rewards, and queues."""

from belman.problems.corrupted import Corrupted, corrupted
from belman.problems.delayed import Delayed, batched, delayed
from belman.problems.drifting import (
    Drifting,
    abrupt_and_back,
    changing,
    coming_and_going,
    piecewise,
    random_walk,
    seasonal,
    sinusoid,
)
from belman.problems.featured.context_arms import ContextArms
from belman.problems.featured.drawn_arms import ChangingArms, DrawnArms
from belman.problems.featured.featured import Featured
from belman.problems.featured.given_arms import GivenArms
from belman.problems.featured.named import (
    changing_arms,
    contextual,
    end_of_optimism,
    factors,
    intercepts,
    one_hot,
    russo_van_roy,
    unit_ball,
)
from belman.problems.featured.table_arms import TableArms, from_table
from belman.problems.lower_bounds import CharacteristicTime, characteristic_time, lai_robbins
from belman.problems.problem import Problem
from belman.problems.queueing import Queue, UnstableQueueWarning, queue
from belman.problems.replayed import Replayed, from_rewards
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
    "ChangingArms",
    "CharacteristicTime",
    "ContextArms",
    "Corrupted",
    "Delayed",
    "DrawnArms",
    "Drifting",
    "Featured",
    "GivenArms",
    "Problem",
    "Queue",
    "RandomStationary",
    "Replayed",
    "Servers",
    "Stationary",
    "TableArms",
    "Tables",
    "UnstableQueueWarning",
    "abrupt_and_back",
    "batched",
    "bernoulli",
    "bounded",
    "changing",
    "changing_arms",
    "characteristic_time",
    "coming_and_going",
    "contextual",
    "corrupted",
    "delayed",
    "end_of_optimism",
    "exponential",
    "factors",
    "from_rewards",
    "from_table",
    "gamma",
    "gaussian",
    "geometric",
    "intercepts",
    "lai_robbins",
    "log_normal",
    "money",
    "one_hot",
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
    "russo_van_roy",
    "seasonal",
    "servers",
    "shaped",
    "sinusoid",
    "unit_ball",
]
