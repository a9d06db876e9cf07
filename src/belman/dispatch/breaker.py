"""Failures, believed apart from speed: a circuit breaker per server, which opens and recovers."""

from __future__ import annotations

from dataclasses import dataclass, field

from belman.codec import DERIVED, Count, Real
from belman.deciders import checks
from belman.deciders.checks import Size
from belman.errors import SettingError, StateError
from belman.special.beta_distribution import beta_survival
from belman.validate import require_number, require_whole

#: What is believed of a server before its first job: a Beta distribution of its chance of failure.
PRIOR = (1.0, 4.0)


@dataclass(frozen=True)
class Breaker:
    """When a server that fails gets no more jobs, and how it comes back.

    Once its chance of failure is over `threshold` with probability `certainty`, the breaker opens:
    the server gets no job until `rest` jobs were sent elsewhere. Then it gets single jobs on
    probation. After `probes` successes in a row it is back, with a clean record; a failure opens
    the breaker again. All of it is counted in jobs, so it holds at any pace.

    Parameters
    ----------
    threshold
        The largest chance of failure that is accepted, between 0 and 1.
    certainty
        How probable it must be that the chance of failure is larger, between 0 and 1.
    memory
        From about how many of its last jobs a server is judged, at least 2.
    rest
        How many jobs are sent elsewhere during the first rest of a server.
    longest_rest
        The most jobs of a rest: one that follows a failure on probation is twice the one before,
        up to this.
    probes
        After how many successes in a row on probation a server is back.

    >>> Breaker(threshold=0.5).rest
    20
    """

    threshold: Real = 0.3
    certainty: Real = 0.9
    memory: Real = 15.0
    rest: int = 20
    longest_rest: int = 640
    probes: int = 5

    def __post_init__(self) -> None:
        for name in ("threshold", "certainty"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not 0.0 < value < 1.0:
                raise SettingError(f"{name}={value!r} is not a chance: it must be between 0 and 1")
        require_number("memory", self.memory, 2.0, checks.MOST)
        for name in ("rest", "longest_rest", "probes"):
            require_whole(name, getattr(self, name), 1, checks.MOST)
        if self.longest_rest < self.rest:
            limits = f"longest_rest={self.longest_rest}, rest={self.rest}"
            raise SettingError(f"{limits}: the longest rest must not be the shorter one")


@dataclass
class Record:
    """What is known of one server's failures, and whether it may have jobs; without a breaker it
    always may.
    """

    rules: Breaker | None = field(default=None, metadata=DERIVED)
    failures: Size = 0.0  # of the last jobs, the older the less
    successes: Size = 0.0
    rest: Count = 0  # jobs that its last rest lasts or lasted; 0 while the breaker is closed
    due: Count = 0  # how many jobs will have been sent when it is over
    passed: Count = 0  # probes in a row
    probing: bool = field(default=False, metadata=DERIVED)  # whether one is under way

    def under(self, rules: Breaker | None) -> Record:
        """Follow these rules; StateError where they do not lead to such a record."""
        self.rules = rules
        jobs = self.failures + self.successes
        if rules is None:
            fits = self == Record()
        else:
            fits = self.rest <= rules.longest_rest and self.passed < rules.probes
            fits = fits and jobs <= 1.001 * rules.memory
        if not fits:
            raise StateError("a record of failures is none that the breaker makes")
        return self

    @property
    def chance_of_failure(self) -> float:
        """The expected one."""
        a, b = PRIOR[0] + self.failures, PRIOR[1] + self.successes
        return a / (a + b)

    def condition(self, sent: int) -> str:
        """`closed`, `open` (it rests) or `half-open` (it is tried again), after `sent` jobs."""
        return "closed" if self.rest == 0 else "half-open" if sent >= self.due else "open"

    def admits(self, sent: int) -> bool:
        """Whether it may have the next job, after `sent` jobs were sent in all."""
        return self.rest == 0 or (sent >= self.due and not self.probing)

    def begun(self) -> bool:
        """A job begins; whether it is a probe."""
        self.probing = self.rest > 0
        return self.probing

    def taken_back(self, probe: bool) -> None:
        """End a job without learning from it."""
        self.probing = self.probing and not probe

    def ended(self, success: bool, probe: bool, sent: int) -> None:
        """A job ends, and was a probe or not; `sent` jobs were sent in all."""
        rules = self.rules
        if rules is None:
            return
        if probe:
            self.probing = False
            self._judge_probe(rules, success, sent)
        elif self.rest == 0:
            keep = 1.0 - 1.0 / rules.memory
            self.failures = keep * self.failures + (not success)
            self.successes = keep * self.successes + success
            a, b = PRIOR[0] + self.failures, PRIOR[1] + self.successes
            if not success and beta_survival(a, b, rules.threshold) > rules.certainty:
                self._open(rules.rest, sent)

    def _judge_probe(self, rules: Breaker, success: bool, sent: int) -> None:
        self.passed = self.passed + 1 if success else 0
        if not success:
            self._open(min(2 * self.rest, rules.longest_rest), sent)
        elif self.passed >= rules.probes:
            self.failures = self.successes = 0.0
            self.rest = self.passed = 0

    def _open(self, rest: int, sent: int) -> None:
        self.rest, self.due, self.passed = rest, sent + rest, 0
