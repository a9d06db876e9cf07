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
Law = float | Callable[[np.random.Generator, int], Any] | Any
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
    """Servers and the jobs that come to them; made by `belman.problems.servers`."""

    names: tuple[Hashable, ...]
    slots: tuple[int, ...]
    failures: tuple[Chance, ...]
    services: Mapping[Hashable, tuple[Law, ...]]  # by class, one a server
    arrivals: Mapping[Hashable, Law]  # by class: jobs per second, or the distribution of the gaps

    def jobs(self, count: int, generator: np.random.Generator) -> list[Arrival]:
        """Return the first `count` jobs of all classes, in the order in which they come."""
        streams = [self._stream(name, count, generator) for name in self.arrivals]
        every = sorted(itertools.chain(*streams), key=lambda job: job.time)
        return every[:count]

    def _stream(
        self, job_class: Hashable, count: int, generator: np.random.Generator
    ) -> Iterator[Arrival]:
        given = self.arrivals[job_class]
        rate = float(given) if isinstance(given, (int, float)) else None
        gaps = draws(given if rate is None else 1.0 / rate, count, generator)
        laws = self.services[job_class]
        seconds = np.stack([draws(law, count, generator) for law in laws], axis=1)
        luck, times = generator.random(count), np.cumsum(gaps)
        for when, needs, fortune in zip(times.tolist(), seconds, luck.tolist(), strict=True):
            yield Arrival(when, job_class, needs, fortune)

    def fails(self, server: int, job: Arrival, now: float) -> bool:
        """Whether a job that ends now at this server has failed."""
        chance = self.failures[server]
        return job.luck < (chance(now) if callable(chance) else chance)

    def mean_seconds(self, job_class: Hashable) -> Floats:
        """The expected seconds of a job at every server, from many draws where no mean is given."""
        return np.array([_mean(law) for law in self.services[job_class]])


def servers(
    services: Mapping[Any, Any],
    arrivals: Law | Mapping[Any, Law],
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

    >>> problem = servers({"near": 0.1, "far": 0.3}, arrivals=5.0, slots={"far": 2})
    >>> problem.slots
    (1, 2)
    """
    rates = arrivals if isinstance(arrivals, Mapping) else {None: arrivals}
    by_class = services if isinstance(arrivals, Mapping) and set(services) == set(rates) else None
    laws = by_class or dict.fromkeys(rates, services)
    names = tuple(next(iter(laws.values()), {}))
    if not names:
        raise SettingError("no server is given: services must name at least one")
    for name, each in laws.items():
        if set(each) != set(names):
            raise SettingError(f"class {name!r} has other servers than {listing(names)}")
    counts = tuple(int(_by_server(slots, name, 1, names)) for name in names)
    if any(count < 1 for count in counts):
        raise SettingError(f"slots={slots!r}: every server needs at least one")
    chances = tuple(_by_server(failures, name, 0.0, names) for name in names)
    for chance in chances:
        if not callable(chance) and not 0.0 <= chance <= 1.0:
            raise SettingError(f"failures={failures!r}: a chance must be from 0 to 1")
    every = {name: tuple(each[server] for server in names) for name, each in laws.items()}
    made = Servers(names, counts, chances, every, dict(rates))
    _check_laws(made)
    return made


def draws(law: Law, count: int, generator: np.random.Generator) -> Floats:
    """So many numbers of a distribution."""
    if isinstance(law, (int, float)):
        return generator.exponential(law, count)
    drawn = law.rvs(count, random_state=generator) if hasattr(law, "rvs") else law(generator, count)
    return np.asarray(drawn, dtype=np.float64)


def _mean(law: Law) -> float:
    if isinstance(law, (int, float)):
        return float(law)
    if hasattr(law, "mean") and np.isfinite(law.mean()):
        return float(law.mean())
    return float(draws(law, 20_000, np.random.default_rng(0)).mean())


def _by_server(given: Any, name: Hashable, default: Any, names: tuple[Hashable, ...]) -> Any:
    if not isinstance(given, Mapping):
        return given
    for key in given:
        if key not in names:
            raise SettingError(unknown("server", key, names))
    return given.get(name, default)


def _check_laws(made: Servers) -> None:
    """Every distribution gives numbers that can be times."""
    generator = np.random.default_rng(0)
    laws = [*made.arrivals.values(), *itertools.chain(*made.services.values())]
    for law in laws:
        if isinstance(law, (int, float)):
            good = not isinstance(law, bool) and 0.0 < law < float("inf")
        else:
            drawn = draws(law, 100, generator)
            good = drawn.shape == (100,) and bool((np.isfinite(drawn) & (drawn >= 0.0)).all())
        if not good:
            allowed = "a positive number, a distribution of SciPy, or a function (generator, size)"
            raise SettingError(f"{law!r} is not a distribution of times: give {allowed}")
