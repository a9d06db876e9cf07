"""Queues and servers of unknown speed: Q(t) = max(Q(t−1) + A(t) − S(t), 0), in discrete time.

Every turn jobs arrive, then each queue is matched with at most one server and each server with at
most one queue. A service is a Bernoulli trial that takes one turn, or takes as long as the job is
large: a geometric or an exponential time, during which queue and server hold each other. Regret is
counted from a genie that knows the rates and meets the same arrivals and luck.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.errors import SettingError, listing
from belman.families import Bernoulli, Exponential, Family, Geometric
from belman.families.mirror import Mirror
from belman.problems.problem import Floats, Problem
from belman.validate import require_one_of

#: Distributions of arrivals and of services by name, as kernels know them.
ARRIVAL_DISTRIBUTIONS = {"poisson": 0, "bernoulli": 1}
SERVICE_DISTRIBUTIONS: dict[str, type[Family]] = {
    constants.name: constants for constants in (Bernoulli, Geometric, Exponential)
}
#: Parts of the last half of a run whose mean backlogs are kept, to see whether it grows.
BATCHES = 20
#: Turns that the genie plays before turn 1 where the stationary distribution is not computed: so
#: many relaxation times, between two ends.
_RELAXATIONS, _SHORTEST, _LONGEST = 20.0, 200, 100_000


class UnstableQueueWarning(UserWarning):
    """Jobs arrive faster than even the genie can serve them: queues grow whatever a player does."""


@dataclass(frozen=True)
class Queue(Problem):
    """Jobs in U queues, K servers and a rate for each pair; made by `belman.problems.queue`.

    Parameters
    ----------
    family
        The family of what players learn of a pair: of trials that succeed or fail, or of the times
        that jobs take.
    rates
        Jobs per turn of each pair, U rows of K; with job sizes, 1 over the mean turns of a job.
    arrivals
        Jobs per turn that come to each queue.
    arrival_distribution
        The distribution of arrivals in a turn: "poisson" or "bernoulli".
    service_distribution
        "bernoulli" for a trial every turn; "geometric" or "exponential" for a time during which a
        job holds its server.
    single
        Whether there is one queue, and a player chooses its server; else a matching is made.
    weighting
        "length" multiplies the indices of a queue by its length before matching, "none" does not.
    serves_empty
        Whether a server turns to an empty queue, and is learnt about there.
    shared
        Whether one set of beliefs, and one pseudobelief, spans all queues.
    matching
        "weight" for the largest sum of indices, "favourites" where each queue in turn gets the best
        server it asks for, and those who came too late what is left.
    """

    rates: tuple[tuple[float, ...], ...]
    arrivals: tuple[float, ...]
    arrival_distribution: str
    service_distribution: str
    single: bool
    weighting: str
    serves_empty: bool
    shared: bool
    matching: str = "weight"

    played_as = "queue"
    no_python_players = "queues are served by policies such as belman.BelMan() only"

    @property
    def queues(self) -> int:
        """How many queues there are."""
        return len(self.rates)

    @property
    def servers(self) -> int:
        """How many servers there are."""
        return len(self.rates[0])

    @property
    def groups(self) -> int:
        """How many sets of beliefs a player has."""
        return 1 if self.shared else self.queues

    @property
    def arms(self) -> int:
        """The arms of one set of beliefs: a queue's servers, or all pairs if shared."""
        return self.queues * self.servers // self.groups

    @property
    def holds(self) -> bool:
        """Whether a job keeps its server until it is done."""
        return self.service_distribution != "bernoulli"

    @property
    def fixed(self) -> bool:
        """Whether the genie's matching is the same in every turn."""
        return not self.holds and self.serves_empty and self.weighting == "none"

    @property
    def sizes(self) -> dict[str, int]:
        return {"queue": self.queues, "server": self.servers, "batch": BATCHES}

    @property
    def without(self) -> tuple[str, ...]:
        return ("queue",) if self.single else ()

    @property
    def parameters(self) -> Floats:
        """θ of each pair (U·K × 1): chance of a service in a turn, or rate of its duration."""
        return np.array(self.rates).reshape(-1, 1)

    @property
    def matched(self) -> bool:
        return not self.single

    @property
    def throughput(self) -> Floats:
        """Jobs per turn of each pair, always busy (U × K); exponential times are rounded up."""
        rates = np.array(self.rates)
        return -np.expm1(-rates) if self.service_distribution == "exponential" else rates

    @property
    def load(self) -> Floats:
        """Load of each queue as a share of the genie's service (infinite without a server)."""
        arrivals = np.array(self.arrivals)
        served = self._by_lengths() * arrivals if self.weighting == "length" else self._by_rates()
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(arrivals == 0.0, 0.0, arrivals / served)

    @property
    def plan(self) -> NDArray[np.int64]:
        """The server of each queue in the matching of the largest total rate, −1 for none."""
        from scipy.optimize import linear_sum_assignment

        plan = np.full(self.queues, -1)
        rows, columns = linear_sum_assignment(self.throughput, maximize=True)
        plan[rows] = columns
        return plan

    def _by_rates(self) -> Floats:
        """What each queue is served by that matching."""
        return np.where(self.plan >= 0, self.throughput[np.arange(self.queues), self.plan], 0.0)

    def _by_lengths(self) -> float:
        """The largest factor by which arrivals could grow and still be served by mixed matchings.

        Matching by rate times length bears every load that any mixture bears.
        """
        from scipy.optimize import linprog

        pairs = self.queues * self.servers
        one_server = np.kron(np.eye(self.queues), np.ones(self.servers))
        one_queue = np.kron(np.ones(self.queues), np.eye(self.servers))
        work = one_server * self.throughput.ravel()
        if not any(self.arrivals):
            return math.inf
        growth = np.r_[np.zeros(self.queues + self.servers), self.arrivals]
        limits = np.c_[np.r_[one_server, one_queue, -work], growth]
        room = np.r_[np.ones(self.queues + self.servers), np.zeros(self.queues)]
        return float(linprog(np.r_[np.zeros(pairs), -1.0], A_ub=limits, b_ub=room).x[-1])

    @property
    def stable(self) -> bool:
        """Whether the genie keeps every queue bounded."""
        return bool((self.load < 1.0).all())

    @property
    def start(self) -> tuple[int, Floats]:
        """How queues start: turns of burn-in, or 0 and each queue's geometric stationary ratio.

        With Bernoulli arrivals and services and a fixed server, Q goes up with chance λ(1 − μ) and
        down with chance μ(1 − λ), so P(Q = n) = (1 − ρ) ρⁿ with ρ the ratio of the two. A system
        without a stationary distribution starts empty.
        """
        ratios = np.zeros(self.queues)
        if not self.stable:
            return 0, ratios
        coming, load = np.array(self.arrivals), self.load
        served = np.divide(coming, load, out=np.ones_like(coming), where=load > 0.0)
        if self.fixed and self.arrival_distribution == "bernoulli":
            return 0, coming * (1.0 - served) / (served * (1.0 - coming))
        slack = float(np.min(served - coming))
        turns = _RELAXATIONS * float(np.max(coming + served * (1.0 - served))) / slack**2
        return int(min(max(turns, _SHORTEST), _LONGEST)), ratios

    @property
    def findings(self) -> dict[str, Any]:
        return {"stable": self.stable}


def queue(
    services: ArrayLike,
    arrivals: float | Sequence[float],
    *,
    arrival_distribution: str = "poisson",
    service_distribution: str = "bernoulli",
    weighting: str = "none",
    serves_empty: bool | None = None,
    shared: bool = False,
    matching: str = "weight",
    prior: ArrayLike | None = None,
) -> Queue:
    """Make one queue and servers of given rates or, from a matrix of rates, several queues to
    match.

    A system that even the genie cannot stabilise is played with an UnstableQueueWarning, and the
    result says so.

    Parameters
    ----------
    services
        Jobs per turn of each server, from 0 to 1; a matrix has a row for each queue.
    arrivals
        Jobs per turn that come to each queue.
    arrival_distribution
        The distribution of arrivals in a turn: "poisson" or "bernoulli".
    service_distribution
        "bernoulli" (a trial every turn), "geometric" or "exponential" (a job holds its server for a
        random time of mean 1/rate, and players learn times).
    weighting
        "length" multiplies the indices of a queue by its length.
    serves_empty
        Whether servers turn to empty queues, as published; by default they do.
    shared
        Whether queues share their beliefs about servers.
    matching
        "weight" (the largest sum of indices) or "favourites", as in the code of QBelMan: each queue
        asks for its best server, the first one gets it, and the others take what is left.
    prior
        What players believe of every server at first.

    Returns
    -------
    Queue
        The problem.

    Raises
    ------
    SettingError
        If a rate is not from 0 to 1 job per turn, numbers of queues differ, a name is unknown, or
        servers turn to empty queues although jobs have sizes.

    >>> queue([0.5, 0.33, 0.25], arrivals=0.35).servers
    3
    >>> queue([[0.5, 0.3, 0.2], [0.3, 0.5, 0.2]], arrivals=[0.4, 0.3]).queues
    2
    """
    for name, given, known in (
        ("arrival_distribution", arrival_distribution, list(ARRIVAL_DISTRIBUTIONS)),
        ("service_distribution", service_distribution, list(SERVICE_DISTRIBUTIONS)),
        ("weighting", weighting, ["none", "length"]),
        ("matching", matching, ["weight", "favourites"]),
    ):
        require_one_of(name, given, known)
    single, rates = _rates(services, positive=service_distribution != "bernoulli")
    family: Family = SERVICE_DISTRIBUTIONS[service_distribution]()
    if prior is not None:
        family = SERVICE_DISTRIBUTIONS[service_distribution](prior=family.check_prior(prior))
    holds = service_distribution != "bernoulli"
    if holds and serves_empty:
        what = f"serves_empty=True is not valid with {service_distribution} job sizes"
        raise SettingError(f"{what}: an empty queue has no job to size")
    made = Queue(
        family=Mirror(family) if holds else family,
        rates=rates,
        arrivals=_arrivals(arrivals, len(rates), single),
        arrival_distribution=arrival_distribution,
        service_distribution=service_distribution,
        single=single,
        weighting=weighting,
        serves_empty=not holds if serves_empty is None else bool(serves_empty),
        shared=bool(shared),
        matching=matching,
    )
    if not made.stable:
        warnings.warn(_overload(made), UnstableQueueWarning, stacklevel=2)
    return made


def _overload(made: Queue) -> str:
    loads = ", ".join(f"{load:.3g}" for load in made.load)
    return (
        f"this system is unstable: jobs arrive at {listing(made.arrivals)} a turn, {loads} times "
        "what the best servers complete; queues grow whatever a player does"
    )


def _rates(services: ArrayLike, positive: bool) -> tuple[bool, tuple[tuple[float, ...], ...]]:
    """Whether there is one queue without matching, and a row of rates per queue."""
    try:
        rates = np.array(services, dtype=np.float64)
    except (TypeError, ValueError):
        what = f"services={services!r} is neither a list of rates"
        raise SettingError(f"{what} nor a matrix with rows of equal length") from None
    if rates.ndim not in (1, 2) or rates.size == 0:
        raise SettingError(
            f"services has shape {rates.shape}: give a rate per server, or a matrix with a row per "
            "queue and a column per server"
        )
    low = "above 0" if positive else "from 0"
    fits = np.isfinite(rates) & (rates <= 1.0) & ((rates > 0.0) if positive else (rates >= 0.0))
    if not fits.all():
        rate = float(rates[~fits][0])
        raise SettingError(
            f"service rate {rate!r} is not allowed: it must be {low} to 1 job per turn"
        )
    return rates.ndim == 1, tuple(tuple(map(float, row)) for row in np.atleast_2d(rates))


def _arrivals(arrivals: float | Sequence[float], queues: int, single: bool) -> tuple[float, ...]:
    try:
        rates = np.atleast_1d(np.array(arrivals, dtype=np.float64))
    except (TypeError, ValueError):
        raise SettingError(f"arrivals={arrivals!r} is neither a rate nor a list of rates") from None
    if rates.shape != (queues,):
        many = f"a list of {queues} rates, one per row of the services"
        wanted = "one rate" if single or queues == 1 else many
        raise SettingError(f"arrivals={arrivals!r} does not fit: give {wanted}")
    for rate in rates:
        if not (math.isfinite(rate) and 0.0 <= rate <= 1.0):
            allowed = "it must be from 0 to 1 job per turn"
            raise SettingError(f"arrival rate {float(rate)!r} is not allowed: {allowed}")
    return tuple(map(float, rates))
