"""BelMan: play the arm nearest to the pseudobelief under the focal distribution; learn; re-centre.

The paper's rule is a_t = argmax_a  s·E_a[X] − KL(b_a ‖ b̄), with s = 1/τ(t). With `FadingEvidence`
each arm has its own τ, measured from the leader L: a_t = argmax_a  −c_t (n_a + p) d(μ_a, μ_L) −
KL(b_a ‖ b̄). `Evidence`, the default, makes both projections anew for every arm (`evidence.py`) and
keeps no barycentre; where exploration comes first, both are kept.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import InitVar, field
from typing import Any, NamedTuple

import numpy as np

from belman import manifold
from belman.engine import factory, inlined_kernel, kernel
from belman.errors import PolicyError, unknown
from belman.exposure import Evidence, Exposure, Paper, exposure
from belman.families.family import Family
from belman.manifold.projection import (
    least_kl_from_arms,
    least_kl_from_arms_tilted,
    least_kl_to_arms,
    nearness,
    replace_point,
)
from belman.policies.averages import keep_terms_of
from belman.policies.belman import evidence
from belman.policies.belman.evidence import columns, evidence_against, what_is_expected
from belman.policies.belman.evidence import indices as surprise_and_evidence
from belman.policies.belman.evidence import refresh as judge
from belman.policies.belman.waterfilling import deal_by_level
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats, Sizes, blank, part
from belman.policies.policy import Policy
from belman.policies.policy_kernels import PolicyKernels, leader
from belman.registry import register


class Memory(NamedTuple):
    """What a turn needs of the arms and of the pseudobelief (D coordinates, K arms)."""

    expected: Floats = part("K")  # expected reward
    points: Floats = part("D", "K")  # mean parameters
    negentropy: Floats = part("K")  # Φ = ⟨η, m⟩ − A
    averaged: Floats = part("D", "K")  # what the barycentre averages: mean or natural parameters
    total: Floats = part("D")  # its sum over the arms
    refreshes: Floats = part(1)  # since that sum was taken afresh
    pseudobelief: Floats = part("D", first=1.0)  # its coordinates, where the next solution starts
    eta: Floats = part("D")  # its natural parameters
    terms: Floats = part("T", "K")  # the arms' side of the evidence
    judged: Floats = part(5, "K")  # and
    pool: Floats = part(7)  # where evidence comes after exploration: see `evidence.py`
    scratch: Floats = part("T")
    row_scratch: Floats = part(2, "D")


def _refresh_with(averages_natural: bool, weighs: bool) -> Callable[..., None]:
    """Refresh for a reading that averages parameters, with or without the terms of the evidence."""

    @inlined_kernel
    def refresh(family, constants, params, ledger, memory, arm):
        belief = ledger.beliefs[arm]
        dimension = belief.size
        point, natural = memory.row_scratch[0], memory.row_scratch[1]
        expected = family.expected_reward(constants, belief)
        family.belief.mean_parameters(constants, belief, point)
        family.belief.natural(constants, belief, natural)
        product = 0.0
        for i in range(dimension):
            memory.points[i, arm] = point[i]
            product += natural[i] * point[i]
        memory.negentropy[arm] = product - family.belief.log_partition(constants, belief)
        memory.expected[arm] = expected
        if weighs and math.isfinite(expected):
            spread = family.spread(constants, belief)
            worth, scratch = family.worth(constants, belief), memory.scratch
            keep_terms_of(
                family, constants, belief, worth, expected, spread, scratch, memory.terms, arm
            )
        shared = natural if averages_natural else point
        replace_point(memory.averaged, memory.total, memory.refreshes, arm, shared)

    return refresh


def _pulled(recentre: Callable[..., None], scaled: bool) -> Callable[..., None]:
    """Indices under one exposure for all arms. Params: (the unit of a reward,) if scaled."""

    @inlined_kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        pull = turn_value / params[0] if scaled else turn_value
        recentre(family, constants, memory.total, index.size, pull, memory.pseudobelief, memory.eta)
        nearness(memory.points, memory.negentropy, memory.expected, memory.eta, pull, index)

    return indices


def _weighed(recentre: Callable[..., None]) -> Callable[..., None]:
    """Indices under evidence: one exposure per arm. Params: (p,)."""

    @inlined_kernel
    def indices(family, constants, params, ledger, memory, turn, turn_value, rng, index):
        leading = leader(memory.expected, index)
        recentre(family, constants, memory.total, index.size, 0.0, memory.pseudobelief, memory.eta)
        nearness(memory.points, memory.negentropy, memory.expected, memory.eta, 0.0, index)
        if turn_value > 0.0:
            weigh(family, constants, params, ledger, memory, leading, turn_value, index)

    return indices


@kernel
def weigh(family, constants, params, ledger, memory, leading, weight, index):
    """Subtract every arm's evidence against the leader; infinite expected rewards come first."""
    if leading == np.inf:
        for a in range(index.size):
            if memory.expected[a] == np.inf:
                index[a] = np.inf
    else:
        family.weights(constants, leading, memory.scratch)
        for a in range(index.size):
            evidence = max(family.evidence(memory.terms, a, memory.scratch), 0.0)
            index[a] -= weight * (ledger.plays[a] + params[0]) * evidence


def _explored(position: Any, explore: Any) -> tuple[Any, Any]:
    """Refresh and indices of exploration that evidence follows: the greed is −∞ while it lasts."""

    @inlined_kernel
    def refresh(family, constants, params, ledger, memory, arm):
        judge(family, constants, params, ledger, memory, arm)
        position(family, constants, params, ledger, memory, arm)

    @inlined_kernel
    def indices(family, constants, params, ledger, memory, turn, greed, rng, index):
        if greed == -np.inf:
            explore(family, constants, params, ledger, memory, turn, 0.0, rng, index)
        else:
            surprise_and_evidence(
                family, constants, params, ledger, memory, turn, greed, rng, index
            )

    return refresh, indices


@factory
def _bundle(recentre: Callable[..., None], averages_natural: bool, form: str) -> PolicyKernels:
    refresh = _refresh_with(averages_natural, weighs=form == "weighed")
    indices = _weighed(recentre) if form == "weighed" else _pulled(recentre, form == "common")
    if form == "explored":
        refresh, indices = _explored(refresh, indices)
    return PolicyKernels(indices, refresh)


BARYCENTRE = _bundle(least_kl_from_arms, False, "common")
BARYCENTRE_WEIGHED = _bundle(least_kl_from_arms, False, "weighed")
BARYCENTRE_EXPLORED = _bundle(least_kl_from_arms, False, "explored")
NATURAL = _bundle(least_kl_to_arms, True, "common")
NATURAL_WEIGHED = _bundle(least_kl_to_arms, True, "weighed")
NATURAL_EXPLORED = _bundle(least_kl_to_arms, True, "explored")
JOINT = _bundle(least_kl_from_arms_tilted, False, "common")
EVIDENCE = PolicyKernels(surprise_and_evidence, judge, deal=deal_by_level)

#: Readings of the reverse projection, for each form of exposure to which they make a difference.
#: One exposure per arm is measured from the leader, whose focal distribution is flat: the
#: normaliser inside the joint projection is then 1, and it is the barycentre's. Evidence alone
#: keeps no barycentre.
READINGS: dict[str, dict[str, PolicyKernels]] = {
    "barycentre": {
        "common": BARYCENTRE,
        "weighed": BARYCENTRE_WEIGHED,
        "explored": BARYCENTRE_EXPLORED,
        "evidence": EVIDENCE,
    },
    "natural": {"common": NATURAL, "weighed": NATURAL_WEIGHED, "explored": NATURAL_EXPLORED},
    "joint": {"common": JOINT},
}
_CENTRES: dict[str, Callable[[Family, Floats, float], Floats]] = {
    "barycentre": lambda family, rows, pull: manifold.least_kl_from_arms(family, rows),
    "natural": lambda family, rows, pull: manifold.least_kl_to_arms(family, rows),
    "joint": manifold.least_kl_from_arms_tilted,
}


@register
class BelMan(Policy):
    """Play the arm nearest to the pseudobelief under the focal distribution.

    With no arguments it is the default: on the paper's manifold of rewards and beliefs it plays
    the arm whose rewards are least far below the leader's level, less what the distance of its
    belief from the pooled one counts (`evidence.py`). It has the paper's two projections, made for
    every arm with a focal distribution of its own, and neither its schedule nor its barycentre;
    as play goes on it tends to IMED with the counts and means of beliefs.

    `BelMan.paper()` is the paper's rule. `drift=True` makes it `belman.policies.Drift()`, for a
    world that changes, which has settings of its own.

    Parameters
    ----------
    exposure
        How greedy, when: one of `belman.exposure` or a function τ(t).
    reading
        Which reverse projection makes the pseudobelief where one is kept: 'barycentre' (least sum
        of KL from the arms, Theorem 1), 'natural' (least sum of KL to the arms) or 'joint'
        (Algorithm 1 with the normaliser of the focal distribution inside).

    >>> BelMan.paper()
    BelMan(exposure=Paper(C=15.0, unit=None), reading='barycentre')
    >>> BelMan(drift=True).name
    'belman-drift'
    """

    exposure: Exposure | Callable[[int], float] = field(default_factory=Evidence)
    reading: str = "barycentre"
    drift: InitVar[bool] = False

    name = "belman"

    def __new__(cls, *given: Any, drift: bool = False, **named: Any) -> Any:
        """A bank of BelMans where the world changes; else this one, which `__init__` fills in."""
        if drift is not True:
            return super().__new__(cls)
        if given or named:
            own = "an exposure and a reading are of BelMan where nothing changes"
            raise PolicyError(
                f"{own}: give drift=True alone, or belman.policies.Drift(…) with its settings"
            )
        from belman.policies.change.drift import Drift

        return Drift()

    def __post_init__(self, drift: bool) -> None:
        if drift is not False:
            allowed = "drift=True by name, or belman.policies.Drift(…)"
            raise PolicyError(f"drift={drift!r} makes no belman: give {allowed}")
        object.__setattr__(self, "exposure", exposure(self.exposure))
        if self.reading not in READINGS:
            raise PolicyError(unknown("reading", self.reading, READINGS))
        if self.reading != "barycentre" and self.schedule.form not in READINGS[self.reading]:
            why = "where every arm has an exposure of its own it is the barycentre"
            if self.schedule.form == "evidence":
                why = "Evidence pools beliefs, and keeps no barycentre to be read in several ways"
            what = f"reading={self.reading!r} does nothing here: {why}"
            raise PolicyError(f"{what} (leave it out, or give one exposure for all arms)")

    @classmethod
    def paper(cls, reading: str = "barycentre", unit: float | None = None) -> BelMan:
        """The paper to the letter: τ(t) = unit/(ln t + 15 ln ln t) for all arms; see `Paper`.

        Parameters
        ----------
        reading
            The reverse projection, as of `BelMan`.
        unit
            The reward that counts as 1; by default the width of the family's range.

        Returns
        -------
        BelMan
            The policy of the paper.
        """
        return cls(Paper(unit=unit), reading)

    @classmethod
    def until(cls, horizon: int) -> BelMan:
        """The default where play ends after `horizon` turns: near the optimum under its prior.

        Regret is less by then on average. Where the truth is not as the prior says, rare large
        losses can be larger than the default's: an arm that began badly is looked at again later.

        Parameters
        ----------
        horizon
            The number of turns of play.

        Returns
        -------
        BelMan
            The default, tuned to that horizon.

        >>> BelMan.until(1_000).schedule.settings[-1]
        1000.0
        """
        return cls(Evidence(horizon=horizon))

    @property
    def schedule(self) -> Exposure:
        """The exposure, as a schedule."""
        return exposure(self.exposure)

    @property
    def kernels(self) -> PolicyKernels:
        return READINGS[self.reading][self.schedule.form]

    def params(self, family: Family) -> Floats:
        if self.schedule.form in ("evidence", "explored"):
            return what_is_expected(family, *self.schedule.settings)
        if self.schedule.form == "common":
            return np.array([self.unit(family)])
        return np.array([*self.schedule.settings, 0.0])

    def unit(self, family: Family) -> float:
        """The reward that counts as 1: the exposure's own, or the width of the family's range.

        Parameters
        ----------
        family
            The family of the rewards.

        Returns
        -------
        float
            The reward that counts as 1.

        >>> from belman.families import BoundedExponential, Exponential
        >>> [BelMan.paper().unit(each) for each in (BoundedExponential(10.0), Exponential())]
        [10.0, 1.0]
        """
        if self.schedule.scale is not None:
            return float(self.schedule.scale)
        low, high = family.reward_range or (0.0, 1.0)
        return high - low

    def memory(self, arms: int, dimension: int) -> Any:
        kind = evidence.Memory if self.schedule.form == "evidence" else Memory
        fresh = blank(kind, Sizes(self, arms, dimension))
        judges = self.schedule.form in ("evidence", "explored")
        return fresh if judges else fresh._replace(judged=np.zeros((5, 0)))

    def turn_values(self, turns: Floats, arms: int) -> Floats:
        return self.schedule.pull(turns, arms)

    def check(self, family: Family, arms: int) -> None:
        if self.reading == "joint":
            manifold.check_joint(family)

    def pseudobelief(
        self, family: Family, ledger: Ledger, memory: Any, turn_value: float
    ) -> Floats:
        """What all arms are compared with: the pooled belief of the default, or the barycentre by
        the `reading`.
        """
        rows = ledger.beliefs
        if self.schedule.form in ("evidence", "explored") and turn_value > -math.inf:
            return manifold.pooled(family, rows, 1.0 + float(ledger.plays.sum()))
        return _CENTRES[self.reading](family, rows, turn_value)

    def explanation(
        self, family: Family, ledger: Ledger, memory: Any, turn_value: float, index: Floats
    ) -> dict[str, Floats]:
        """KL to the pseudobelief and τ of each arm (infinite for the leader, if τ is per arm).

        Under `Evidence`, once exploration is over, the distances of both projections are in their
        place.
        """
        if self.schedule.form in ("evidence", "explored"):
            if turn_value > -math.inf:
                return columns(family, self.params(family), ledger, memory, index)
            turn_value = 0.0
        kl = np.array([family.divergence(row, memory.pseudobelief) for row in ledger.beliefs])
        common = self.schedule.form == "common"
        pull = np.full(len(kl), turn_value / self.unit(family) if common else turn_value)
        if self.schedule.form == "weighed":
            leading = float(memory.expected.max())
            pull[:] = 0.0
            for a, mean in enumerate(memory.expected):
                if math.isfinite(leading) and leading > mean:
                    against = evidence_against(family, memory, a, leading)
                    plays = ledger.plays[a] + self.schedule.settings[0]
                    pull[a] = turn_value * plays * against / (leading - mean)
        # of all arms' KL, which kernels leave out
        shared = family.log_partition(memory.pseudobelief)
        with np.errstate(divide="ignore"):
            return {"KL to pseudobelief": kl, "exposure": 1.0 / pull, "index": index - shared}


# what `__init__` takes, which `__new__` would hide
_taken = inspect.signature(BelMan.__init__)
BelMan.__signature__ = _taken.replace(  # type: ignore[attr-defined]
    parameters=list(_taken.parameters.values())[1:]
)
