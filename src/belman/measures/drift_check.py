"""Does my world change? What past rewards say for and against it, arm by arm.

Each arm's rewards, in their order, are told to a bank of hazards (`policies/change`). The
evidence is the logarithm of how much better its members of some hazard predicted them than the one
of none, all weighed as at first; it is positive where rewards speak for changes. Numbers that are
all 0 and 1 are read as Bernoulli rewards, others by their ranks among the rewards of the arm, from
0 to 1: whatever their distribution, it is then the same, and no outlier is taken for a change.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.engine import LATER, entry, kernel
from belman.errors import SettingError
from belman.families import Bernoulli, Bounded, Family
from belman.policies import Drift
from belman.policies.change import run_lengths
from belman.policies.change.run_lengths import EVENTS
from belman.table import Table

Floats = NDArray[np.float64]

#: Nats from which evidence is called clear: twenty to one.
CLEAR = math.log(20.0)
#: Lengths of runs that are kept of an arm: a few say what is true now, and more when it changed.
_RUNS = 64
_PART, _SHORT = 50, 0.2  # rewards that are told at once, and seconds within which more would be


@dataclass(frozen=True)
class ArmCourse:
    """One arm: its rewards, the evidence after each of them, and the changes that were noticed:
    after which of its rewards, from and to which average, how sure.
    """

    arm: Hashable
    rewards: int
    evidence: tuple[float, ...]
    changes: tuple[tuple[int, float, float, float], ...]


@dataclass(frozen=True)
class DriftCheck:
    """The courses of all arms, in a table, as data, and in one sentence."""

    family: str
    arms: tuple[ArmCourse, ...]

    @property
    def sentence(self) -> str:
        """What it means.

        >>> print(check_drift([1.0] * 60 + [0.0] * 60).sentence)
        The world changes: rewards of 1 of 1 arms say so (evidence up to 70 nats): use drift="auto".
        """
        clear = [arm for arm in self.arms if arm.evidence[-1] >= CLEAR]
        most = max(arm.evidence[-1] for arm in self.arms)
        if clear:
            words = f"The world changes: rewards of {len(clear)} of {len(self.arms)} arms say so"
            return f'{words} (evidence up to {most:.0f} nats): use drift="auto".'
        if most <= -0.5 * CLEAR and min(arm.rewards for arm in self.arms) >= 100:
            return "Nothing speaks for a change: leave drift out."
        return (
            'These rewards do not tell either way: drift="auto" costs little where nothing changes.'
        )

    @property
    def table(self) -> Table:
        """A line an arm."""
        last = [arm.changes[-1] if arm.changes else None for arm in self.arms]
        return Table(
            {
                "arm": [arm.arm for arm in self.arms],
                "rewards": [arm.rewards for arm in self.arms],
                "evidence": [round(arm.evidence[-1], 1) for arm in self.arms],
                "changes": [len(arm.changes) for arm in self.arms],
                "last after": ["–" if one is None else str(one[0]) for one in last],
                "from": ["–" if one is None else f"{one[1]:.4g}" for one in last],
                "to": ["–" if one is None else f"{one[2]:.4g}" for one in last],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        arms = [
            {
                "arm": arm.arm,
                "rewards": arm.rewards,
                "evidence": list(arm.evidence),
                "changes": [
                    {"after": after, "from": before, "to": now, "sure": sure}
                    for after, before, now, sure in arm.changes
                ],
            }
            for arm in self.arms
        ]
        return {"family": self.family, "sentence": self.sentence, "arms": arms}

    def __str__(self) -> str:
        return f"{self.table}\n\n{self.sentence}"


def check_drift(
    rewards: ArrayLike,
    arms: Sequence[Hashable] | None = None,
    progress: Callable[[int], None] | None = None,
) -> DriftCheck:
    """What rewards, in the order in which they came, say of changes of their arms.

    `progress` is called with the number of rewards that were taken in, now and then.

    >>> check_drift([0.0, 1.0] * 200).arms[0].evidence[-1] < 0.0
    True
    """
    values = np.asarray(rewards, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise SettingError("check_drift needs a list of finite rewards, in the order of time")
    names = ["all"] * values.size if arms is None else list(arms)
    if len(names) != values.size:
        raise SettingError(f"{values.size} rewards have {len(names)} arms: give one for each")
    binary = bool(np.isin(values, (0.0, 1.0)).all())
    positions: dict[Hashable, list[int]] = {}
    for i, name in enumerate(names):
        positions.setdefault(name, []).append(i)
    result, done = [], 0
    for name, own in positions.items():

        def told(count: int, before: int = done) -> None:
            if progress is not None:
                progress(before + count)

        result.append(_course(name, values[own], binary, told))
        done += len(own)
    return DriftCheck("bernoulli" if binary else "ranks", tuple(result))


def ranks(values: Floats) -> Floats:
    """The share of values below each, and half of those that are the same, stretched to [0, 1].

    >>> ranks(np.array([7.0, 1e9, 7.0, 3.0])).tolist()
    [0.5, 1.0, 0.5, 0.0]
    """
    _, positions, counts = np.unique(values, return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - 0.5 * counts
    return ((below - below[0]) / max(below[-1] - below[0], 1.0))[positions]


def _course(name: Hashable, own: Floats, binary: bool, told: Callable[[int], None]) -> ArmCourse:
    family: Family = Bernoulli() if binary else Bounded()
    policy = Drift(runs=_RUNS)
    hazards, first = np.array(policy.hazards), np.array(policy.shares)
    bank = run_lengths.blank(hazards.size, 1, policy.runs, family.dimension)
    evidence, noticed, span = np.zeros(own.size), np.zeros(1), np.zeros(2, dtype=np.int64)
    follow = entry(_follow, family=family.kernels).hold(
        LATER,
        constants=family.constants,
        hazards=hazards,
        first=first,
        prior=np.array(family.prior),
        sure=policy.sure,
        bank=bank,
        rewards=own if binary else ranks(own),
        evidence=evidence,
        noticed=noticed,
        span=span,
    )
    part = _PART  # short calls, between which compiled code takes over
    while span[1] < own.size:
        span[:] = span[1], min(span[1] + part, own.size)
        began = time.perf_counter()
        follow()
        told(int(span[1]))
        part *= 2 if time.perf_counter() - began < _SHORT else 1
    count = int(noticed[0])
    events = [bank.noticed[i % EVENTS] for i in range(max(0, count - EVENTS), count)]
    changes, since = [], 0
    for turn, _, after, _, _, sure in events:
        before, now = own[since : int(after)].mean(), own[int(after) : int(turn)].mean()
        changes.append((int(after), float(before), float(now), float(sure)))
        since = int(after)
    return ArmCourse(name, own.size, tuple(evidence.tolist()), tuple(changes))


@kernel
def _follow(family, constants, hazards, first, prior, sure, bank, rewards, evidence, noticed, span):
    """Tell a span of the rewards, and keep the evidence for members of some hazard after each."""
    if span[0] == 0:
        run_lengths.seed_arm(family, constants, first, bank, 0, prior)
    for i in range(span[0], span[1]):
        bank.times[run_lengths.NOW] = i + 1.0
        coins = run_lengths.coins_of(family, constants, prior, bank, 0)
        least = run_lengths.least_said(family, constants, prior, bank, rewards[i], coins)
        run_lengths.learn(
            family, constants, hazards, first, 0.0, prior, bank, 0, rewards[i], coins, least
        )
        run_lengths.notice(hazards, first, bank, 0, sure)
        none = bank.members[0]
        some = 1.0 - none
        odds = max(some, 1e-300) / max(none, 1e-300)
        evidence[i] = math.log(odds * first[0] / (1.0 - first[0]))
    noticed[0] = bank.clock[1]
