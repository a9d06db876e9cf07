"""BelMan for a world that changes: a bank of hazards, in turns or by the clock."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any

import numpy as np

from belman.errors import PolicyError
from belman.exposure import Evidence
from belman.families.family import Family
from belman.manifold import distance_on_beliefs
from belman.policies import memory as memories
from belman.policies.change import fading_bank, run_lengths
from belman.policies.change.aging_evidence import (
    AGAINST,
    KERNELS,
    MEAN,
    SURPRISE,
    Memory,
    judge_member,
    time_of_decision,
)
from belman.policies.change.run_lengths import EVENTS, NOTICED, NOW, TURN, WEIGHT, elapsed_at, gone
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats, rearranged
from belman.policies.policy import Change, Policy
from belman.policies.settings import is_number, number, require, whole
from belman.registry import register

#: Spans after which what was seen has faded, in times between changes of the quickest member.
_SPANS = (0.05, 0.1, 0.3, 1.0, 3.0, 10.0)
#: By a half-life: units of time in it, and the half-lives of the members in half-lives.
_UNITS, _HALF_LIVES = 100.0, (math.inf, 10.0, 1.0, 0.1)


@register
class Drift(Policy):
    """BelMan where the world may change, for families with conjugate beliefs.

    `hazards` are chances of a change per arm and turn, each of them a complete BelMan that is
    weighed by how well it predicts; `shares` are their weights at first, of which a share
    `renewal` is mixed in at every reward. Of each arm `runs` lengths of time since its last change
    are kept. A change of which it is `sure` is noticed (`changes`).

    Time may go by the clock, where decisions are not equally far apart: hazards are then `per` so
    many seconds (or a timedelta), or follow from a `half_life`, in which half of all arms change.
    A study sets the clock; in a loop of your own, set `agent.time`.

    Parameters
    ----------
    hazards
        Chances of a change per arm and turn, or per unit of time; one BelMan each.
    shares
        The weights of the hazards at first, which add up to 1.
    renewal
        The share of the first weights that is mixed in at every reward.
    runs
        The lengths of time since its last change that are kept of each arm.
    most
        The largest evidence, in nats, that a single reward may give.
    sure
        The probability of a change from which it is noticed.
    gain
        The gain of the default's exposure, as of `belman.exposure.Evidence`.
    reach
        Its reach.
    pool
        Its pool.
    per
        The seconds (or a timedelta) to which hazards belong; None goes by turns.
    half_life
        The time in which half of all arms change, in place of hazards and `per`.

    >>> Drift().hazards
    (0.0, 0.0001, 0.001, 0.01)
    >>> Drift(half_life=timedelta(days=7)).half_life
    604800.0
    """

    hazards: tuple[float, ...] = (0.0, 1e-4, 1e-3, 1e-2)
    shares: tuple[float, ...] = (0.7, 0.18, 0.09, 0.03)
    renewal: Annotated[float, number("[)", 0.0, 1.0, "a share from 0 to less than 1")] = 3e-4
    runs: Annotated[int, whole(2, "from 2 to 4096", 4096)] = 8
    most: Annotated[float, number("(]", 0.0, math.inf, "a positive number of nats")] = 20.0
    sure: Annotated[float, number("[)", 0.5, 1.0, "from 0.5 to below 1")] = 0.95
    gain: float = 2.25
    reach: float = 8.5
    pool: float = 5.0
    per: float | timedelta | None = None
    half_life: float | timedelta | None = None

    name = "belman-drift"
    forgets = "this agent follows changes, and rewards before and after one are not of one mean"
    kernels = KERNELS

    def __post_init__(self) -> None:
        for name in ("hazards", "shares"):
            given = getattr(self, name)
            listed = isinstance(given, (tuple, list)) and 0 < len(given) <= 64
            fits = listed and all(
                is_number(one) and 0.0 <= one < 1.0 + (name == "shares") for one in given
            )
            require(self, name, fits, "a list of chances per turn, from 0 to less than 1")
            object.__setattr__(self, name, tuple(map(float, given)))
        fits = len(self.shares) == len(self.hazards) and abs(sum(self.shares) - 1.0) < 1e-6
        require(self, "shares", fits and min(self.shares) > 0.0, "one a hazard, adding up to 1")
        super().__post_init__()
        Evidence(self.gain, self.reach, self.pool)
        for name in ("per", "half_life"):
            given = getattr(self, name)
            seconds = given.total_seconds() if isinstance(given, timedelta) else given
            fits = seconds is None or (is_number(seconds) and 1e-6 <= seconds <= 1e12)
            require(self, name, fits, "a timedelta, seconds from 1e-06 to 1e+12, or None")
            object.__setattr__(self, name, None if seconds is None else float(seconds))
        if self.half_life is not None and (self.per is not None or self.hazards != Drift.hazards):
            raise PolicyError(f"{self!r} has hazards from a half-life, and others: give one")

    @property
    def unit(self) -> float:
        """The seconds of a unit of time, by the clock; 0 where that is a turn."""
        if self.half_life is not None:
            return float(self.half_life) / _UNITS  # type: ignore[arg-type]
        return float(self.per or 0.0)  # type: ignore[arg-type]

    @property
    def rates(self) -> tuple[float, ...]:
        """The chance of a change in a unit of time, of each member."""
        if self.half_life is None:
            return self.hazards
        return tuple(-math.expm1(-math.log(2.0) / (_UNITS * many)) for many in _HALF_LIVES)

    @property
    def spans(self) -> tuple[float, ...]:
        """The units of time after which beliefs that fade have faded; no decision reads them."""
        quickest = max(self.rates)
        return tuple(span / quickest for span in _SPANS) if quickest > 0.0 else ()

    @property
    def by_clock(self) -> bool:
        return self.unit > 0.0

    def set_time(self, memory: Memory, seconds: float) -> None:
        if self.by_clock:
            memory.bank.times[NOW] = max(seconds / self.unit, memory.bank.times[NOW])

    def params(self, family: Family) -> Floats:
        mean, worth = family.expected_reward(family.prior), family.worth(family.prior)
        useful = math.isfinite(mean) and math.isfinite(self.pool)
        known = (mean, worth) if useful else (0.0, 0.0)
        head = [self.pool, self.reach, self.most, self.sure, self.renewal, *known, self.unit]
        sizes = [float(len(self.rates)), float(family.dimension), float(len(self.spans))]
        return np.array([*head, *sizes, *self.rates, *self.shares, *family.prior, *self.spans])

    def _sizes(self, arms: int, dimension: int) -> memories.Sizes:
        members, spans = len(self.hazards), len(self.spans)
        return run_lengths.bank_sizes(members, arms, self.runs, dimension, spans)

    def memory(self, arms: int, dimension: int) -> Memory:
        fresh: Memory = memories.blank(Memory, self._sizes(arms, dimension))
        return fresh

    def whole_numbers(self, arms: int) -> dict[str, tuple[int, int]]:
        return memories.whole_parts(Memory, self._sizes(arms, 0))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        return Evidence(self.gain, self.reach, self.pool).pull(turns, arms)

    def check(self, family: Family, arms: int) -> None:
        if not family.foretells:
            why = f"{family.name} beliefs give rewards no chances"
            if family.reward_range is not None:
                why += ": leave out atoms"
            raise PolicyError(f"{self.name} needs a family whose beliefs predict rewards: {why}")

    def resettled(self, memory: Memory, fresh: Memory, positions: Sequence[int]) -> Memory:
        """Runs and fading beliefs go with their arms; members, clock and what was noticed of arms
        that stay, too. What a turn needs of them is found anew.
        """
        axes = {"counts": 1, "runs": 2, "beliefs": 1, "arms": 1, "unchanged": 0, "logs": 1}
        bank, blank = memory.bank, fresh.bank
        moved = {
            name: rearranged(getattr(bank, name), getattr(blank, name), axis, positions)
            for name, axis in axes.items()
        }
        noticed = bank.noticed.copy()
        for event in noticed:
            position = int(event[1])
            event[1] = positions.index(position) if position in positions else -1
        faded = rearranged(memory.fading.beliefs, fresh.fading.beliefs, 1, positions)
        return fresh._replace(
            bank=bank._replace(noticed=noticed, **moved),
            fading=memory.fading._replace(beliefs=faded),
            seeded=rearranged(memory.seeded, fresh.seeded, 0, positions),
        )

    def forget(self, memory: Memory, arm: int) -> None:
        memory.seeded[arm] = 0.0
        memory.bank.arms[:, arm] = 0.0

    def learns_sums(self, family: Family) -> bool:
        return family.summed

    def learn_many(
        self, family: Family, memory: Memory, arm: int, n: int, total: float, squares: float
    ) -> None:
        """They came together: the arm changed before all of them, or before none."""
        bank, fading, prior = memory.bank, memory.fading, np.array(family.prior)
        hazards, first = np.array(self.rates), np.array(self.shares)
        bank.clock[TURN] += n
        if not self.by_clock:
            bank.times[NOW] = bank.clock[TURN]
        elapsed = elapsed_at(bank, arm, bank.times[NOW])
        own = family.kernels, family.constants
        run_lengths.open_runs(*own, hazards, prior, bank, arm, elapsed)
        top = -math.inf
        for j, r in itertools.product(range(len(hazards)), range(self.runs)):
            if r < bank.counts[j, arm]:
                belief = bank.beliefs[j, arm, r]
                belief[:] = family.update_many(belief, n, total, squares)
                top = max(top, run_lengths.said(*own, bank, j, arm, r, -math.inf))
        belief, before = bank.unchanged[arm], family.log_partition(bank.unchanged[arm])
        belief[:] = family.update_many(belief, n, total, squares)
        run_lengths.said_unchanged(*own, bank, arm, before, -math.inf)
        sums = float(n), total, squares
        heard = run_lengths.reweigh(hazards, first, self.renewal, bank, arm, top, *sums)
        top = heard
        fading_bank.say(fading, 0, heard)
        for i, span in enumerate(self.spans):
            belief = fading.beliefs[i, arm]
            before = fading_bank.fade(*own, span, prior, belief, elapsed)
            belief[:] = family.update_many(belief, n, total, squares)
            top = max(top, fading_bank.said(*own, fading, i, arm, before, -math.inf))
        fading_bank.reweigh(fading, top)
        run_lengths.notice(hazards, first, bank, arm, self.sure)
        memory.fresh[arm] = 0.0

    def believed(self, family: Family, ledger: Ledger, memory: Memory) -> Floats:
        """The beliefs nearest, by their mean parameters, to the mixtures of what fades at each pace
        and of what the bank says: all runs, and a reset since the last reward.
        """
        rows = ledger.beliefs.copy()
        for a in np.flatnonzero(memory.seeded > 0.0):
            parts = [part for part in self._mixture(family, memory, int(a)) if part[0] > 0.0]
            target = sum(weight * family.mean_parameters(belief) for weight, belief in parts)
            heaviest = max(parts, key=lambda part: part[0])
            rows[a] = family.from_mean_parameters(target, heaviest[1])
        return rows

    def _mixture(self, family: Family, memory: Memory, arm: int) -> list[tuple[float, Floats]]:
        """All that may be true of an arm now, each with its weight."""
        bank, fading, prior = memory.bank, memory.fading, np.array(family.prior)
        now = time_of_decision(self.params(family), bank)
        elapsed = elapsed_at(bank, arm, now)
        result = []
        for j, hazard in enumerate(self.rates):
            changed = gone(hazard, elapsed)
            weight = fading.weights[0] * bank.members[j]
            result.append((weight * changed, prior))
            for r in range(int(bank.counts[j, arm])):
                own = weight * (1.0 - changed) * bank.runs[WEIGHT, j, arm, r]
                result.append((own, bank.beliefs[j, arm, r]))
        for i, span in enumerate(self.spans):
            left = math.exp(-elapsed / span)
            faded = family.blend(fading.beliefs[i, arm], prior, left)
            result.append((fading.weights[i + 1], faded))
        return result

    def explanation(
        self, family: Family, ledger: Ledger, memory: Any, turn_value: float, index: Floats
    ) -> dict[str, Floats]:
        """Per arm both distances (nats), averaged over the members by their weights, what the
        surprise counts, the chance that it changed since its world was acknowledged, the index.
        """
        against, apart = np.zeros(len(index)), np.zeros(len(index))
        own = family.kernels, family.constants, self.params(family), memory
        for j, weight in enumerate(memory.bank.members):
            if judge_member(*own, j, index):
                sides = memory.sides
                known = np.isfinite(sides[MEAN])
                against += weight * np.where(known, sides[AGAINST], 0.0)
                apart += weight * np.where(known, distance_on_beliefs(sides[SURPRISE]), np.inf)
        bank = np.array(self.rates), np.array(self.shares), memory.bank
        changed = [run_lengths.chance_of_change(*bank, a) for a in range(len(index))]
        return {
            "distance on rewards": against,
            "distance on beliefs": apart,
            "surprise": index + against,
            "changed": np.array(changed),
            "index": index,
        }

    def changes(self, memory: Any) -> list[Change]:
        """The changes that were noticed, the last 64 of them, oldest first."""
        bank = memory.bank
        count = int(bank.clock[NOTICED])
        result = []
        for i in range(max(0, count - EVENTS), count):
            turn, arm, after, before, now, sure = map(float, bank.noticed[i % EVENTS])
            result.append(Change(i + 1, int(turn), int(arm), int(after), before, now, sure))
        return result
