"""Parallel servers in seconds: jobs come when they come, take as long as they take, and may fail.

Arrivals and services have any distribution. A server works on as many jobs at once as it has slots;
others sent to it wait there, first come first served. What a job would take at every server, and
how lucky it is, is its own: every dispatcher meets the same jobs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.errors import SettingError, listing, unknown

Floats = NDArray[np.float64]
#: A mean (times are then exponential), a distribution of SciPy, or a function of a NumPy generator
#: and a size.
Distribution = float | Callable[[np.random.Generator, int], Any] | Any
#: A chance, or a function of the time in seconds that gives one.
Chance = float | Callable[[float], float]


class Arrival(NamedTuple):
    """A job: when it comes, its class, its seconds at every server, and its luck in [0, 1)."""

    time: float
    job_class: Hashable
    seconds: Floats
    luck: float


@dataclass(frozen=True)
class Servers:
    """Servers and the jobs that come to them; made by `belman.problems.servers`.

    Parameters
    ----------
    names
        The names of the servers.
    slots
        How many jobs each server works on at once.
    failures
        The chance of each server that a job fails, or a function of the time in seconds that gives
        it.
    services
        By class of jobs, how long a job takes at each server: a mean in seconds, a distribution of
        SciPy, or a function of a generator and a size.
    arrivals
        By class of jobs, how many come per second (as a Poisson process), or the distribution of
        the gaps between them in seconds.
    """

    names: tuple[Hashable, ...]
    slots: tuple[int, ...]
    failures: tuple[Chance, ...]
    services: Mapping[Hashable, tuple[Distribution, ...]]  # by class, one a server
    arrivals: Mapping[
        Hashable, Distribution
    ]  # by class: jobs per second, or the distribution of the gaps

    def jobs(self, count: int, generator: np.random.Generator) -> list[Arrival]:
        """Draw the first jobs of all classes, in the order in which they come.

        Parameters
        ----------
        count
            How many jobs.
        generator
            The generator that draws gaps, times and luck.

        Returns
        -------
        list of Arrival
            Each with its time and class, its seconds at every server, and its luck in [0, 1).
        """
        streams = [self._stream(name, count, generator) for name in self.arrivals]
        every = sorted(itertools.chain(*streams), key=lambda job: job.time)
        return every[:count]

    def _stream(
        self, job_class: Hashable, count: int, generator: np.random.Generator
    ) -> Iterator[Arrival]:
        given = self.arrivals[job_class]
        rate = float(given) if isinstance(given, (int, float)) else None
        gaps = draws(given if rate is None else 1.0 / rate, count, generator)
        distributions = self.services[job_class]
        seconds = np.stack(
            [draws(distribution, count, generator) for distribution in distributions], axis=1
        )
        luck, times = generator.random(count), np.cumsum(gaps)
        for when, needs, fortune in zip(times.tolist(), seconds, luck.tolist(), strict=True):
            yield Arrival(when, job_class, needs, fortune)

    def fails(self, server: int, job: Arrival, now: float) -> bool:
        """Say whether a job has failed that ends now at a server.

        Parameters
        ----------
        server
            The position of the server, from 0.
        job
            The job, with its luck.
        now
            The time in seconds.

        Returns
        -------
        bool
            True where the luck of the job is below the chance of failure.
        """
        chance = self.failures[server]
        return job.luck < (chance(now) if callable(chance) else chance)

    def mean_seconds(self, job_class: Hashable) -> Floats:
        """Compute the expected seconds of a job at every server.

        Parameters
        ----------
        job_class
            The class of the job; None where there is one class without a name.

        Returns
        -------
        array
            One number a server; the mean of 20,000 draws where a distribution does not tell its
            mean.
        """
        return np.array([_mean(distribution) for distribution in self.services[job_class]])


def servers(
    services: Mapping[Any, Any],
    arrivals: Distribution | Mapping[Any, Distribution],
    *,
    slots: int | Mapping[Any, int] = 1,
    failures: Chance | Mapping[Any, Chance] = 0.0,
) -> Servers:
    """Make parallel servers, in seconds and jobs per second.

    Parameters
    ----------
    services
        How long a job takes at each server: a mean (of an exponential distribution), a distribution
        of SciPy, or a function of a NumPy generator and a size that draws an array of times. For
        several classes of jobs a mapping by class of such mappings, or one for all.
    arrivals
        Jobs per second, which come as a Poisson process, or the distribution of the gaps between
        them. For several classes of jobs a mapping by class.
    slots
        How many jobs a server takes at once: a number, or a mapping by server.
    failures
        The probability that a job fails after it has taken its time: one for all, or by server; it
        may be a function of the time.

    Returns
    -------
    Servers
        The problem.

    Raises
    ------
    SettingError
        If no server is given, classes name different ones, a server has no slot, a chance is not
        from 0 to 1, or times are no distribution.

    >>> problem = servers({"near": 0.1, "far": 0.3}, arrivals=5.0, slots={"far": 2})
    >>> problem.slots
    (1, 2)
    """
    rates = arrivals if isinstance(arrivals, Mapping) else {None: arrivals}
    by_class = services if isinstance(arrivals, Mapping) and set(services) == set(rates) else None
    distributions = by_class or dict.fromkeys(rates, services)
    names = tuple(next(iter(distributions.values()), {}))
    if not names:
        raise SettingError("no server is given: services must name at least one")
    for name, each in distributions.items():
        if set(each) != set(names):
            raise SettingError(f"class {name!r} has other servers than {listing(names)}")
    counts = tuple(int(_by_server(slots, name, 1, names)) for name in names)
    if any(count < 1 for count in counts):
        raise SettingError(f"slots={slots!r}: every server needs at least one")
    chances = tuple(_by_server(failures, name, 0.0, names) for name in names)
    for chance in chances:
        if not callable(chance) and not 0.0 <= chance <= 1.0:
            raise SettingError(f"failures={failures!r}: a chance must be from 0 to 1")
    every = {name: tuple(each[server] for server in names) for name, each in distributions.items()}
    made = Servers(names, counts, chances, every, dict(rates))
    _check_distributions(made)
    return made


def draws(distribution: Distribution, count: int, generator: np.random.Generator) -> Floats:
    """Draw `count` numbers of a distribution."""
    if isinstance(distribution, (int, float)):
        return generator.exponential(distribution, count)
    drawn = (
        distribution.rvs(count, random_state=generator)
        if hasattr(distribution, "rvs")
        else distribution(generator, count)
    )
    return np.asarray(drawn, dtype=np.float64)


def _mean(distribution: Distribution) -> float:
    if isinstance(distribution, (int, float)):
        return float(distribution)
    if hasattr(distribution, "mean") and np.isfinite(distribution.mean()):
        return float(distribution.mean())
    return float(draws(distribution, 20_000, np.random.default_rng(0)).mean())


def _by_server(given: Any, name: Hashable, default: Any, names: tuple[Hashable, ...]) -> Any:
    if not isinstance(given, Mapping):
        return given
    for key in given:
        if key not in names:
            raise SettingError(unknown("server", key, names))
    return given.get(name, default)


def _check_distributions(made: Servers) -> None:
    """Every distribution gives numbers that can be times."""
    generator = np.random.default_rng(0)
    distributions = [*made.arrivals.values(), *itertools.chain(*made.services.values())]
    for distribution in distributions:
        if isinstance(distribution, (int, float)):
            good = not isinstance(distribution, bool) and 0.0 < distribution < float("inf")
        else:
            drawn = draws(distribution, 100, generator)
            good = drawn.shape == (100,) and bool((np.isfinite(drawn) & (drawn >= 0.0)).all())
        if not good:
            allowed = "a positive number, a distribution of SciPy, or a function (generator, size)"
            raise SettingError(f"{distribution!r} is not a distribution of times: give {allowed}")
