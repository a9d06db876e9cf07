"""Who answers: fixed means, random ones, data of one's own, late or false rewards, and queues."""

# ruff: noqa: I001

from belman.problems.corrupted import Corrupted as Corrupted, corrupted as corrupted
from belman.problems.delayed import Delayed as Delayed, batched as batched, delayed as delayed
from belman.problems.drifting import (
    Drifting as Drifting,
    abrupt_and_back as abrupt_and_back,
    changing as changing,
    coming_and_going as coming_and_going,
    piecewise as piecewise,
    random_walk as random_walk,
    seasonal as seasonal,
    sinusoid as sinusoid,
)
from belman.problems.random_drift import (
    Coming as Coming,
    Jumping as Jumping,
    Renewing as Renewing,
    Walking as Walking,
    renewing as renewing,
)
from belman.problems.featured.context_arms import ContextArms as ContextArms
from belman.problems.featured.drawn_arms import ChangingArms as ChangingArms, DrawnArms as DrawnArms
from belman.problems.featured.featured import Featured as Featured
from belman.problems.featured.given_arms import GivenArms as GivenArms
from belman.problems.featured.named import (
    changing_arms as changing_arms,
    contextual as contextual,
    end_of_optimism as end_of_optimism,
    factors as factors,
    intercepts as intercepts,
    one_hot as one_hot,
    russo_van_roy as russo_van_roy,
    unit_ball as unit_ball,
)
from belman.problems.featured.table_arms import TableArms as TableArms, from_table as from_table
from belman.problems.lower_bounds import (
    CharacteristicTime as CharacteristicTime,
    characteristic_time as characteristic_time,
    lai_robbins as lai_robbins,
)
from belman.problems.problem import Problem as Problem
from belman.problems.queueing import (
    Queue as Queue,
    UnstableQueueWarning as UnstableQueueWarning,
    queue as queue,
)
from belman.problems.replayed import Replayed as Replayed, from_rewards as from_rewards
from belman.problems.servers import Servers as Servers, servers as servers
from belman.problems.stationary import (
    RandomStationary as RandomStationary,
    Stationary as Stationary,
    bernoulli as bernoulli,
    exponential as exponential,
    gamma as gamma,
    gaussian as gaussian,
    geometric as geometric,
    log_normal as log_normal,
    money as money,
    poisson as poisson,
    problem as problem,
    random_bernoulli as random_bernoulli,
    random_exponential as random_exponential,
    random_gaussian as random_gaussian,
    random_poisson as random_poisson,
    random_problem as random_problem,
)
from belman.problems.tables import (
    SHAPES as SHAPES,
    Tables as Tables,
    bounded as bounded,
    shaped as shaped,
)
from belman.registry import offered as _offered

__all__ = _offered(globals())
