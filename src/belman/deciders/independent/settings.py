"""The settings of a decider of independent arms, and what it may begin with."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.deciders import validate
from belman.deciders.learnt import Learnt
from belman.deciders.scale import Scale, scale
from belman.errors import ArmError, PriorError, RewardError, SettingError, listing
from belman.families import Family, family_named
from belman.families.mirror import Mirror
from belman.policies import BelMan, Drift, Forgetting, Policy


class Settings(NamedTuple):
    """Settings that go together: the arms with their rows, the scale of rewards, the family
    (mirrored where rewards are costs), the priors of single arms, the discount, and the policy.
    """

    rows: dict[Hashable, int]
    scale: Scale
    family: Family
    priors: dict[Hashable, tuple[float, ...]]
    discount: float
    policy: Policy


def checked(
    arms: Iterable[Hashable],
    family: str | Family | None = None,
    policy: Policy | None = None,
    *,
    prior: ArrayLike | None = None,
    priors: Mapping[Hashable, ArrayLike] | None = None,
    range: tuple[float, float] | None = None,
    clip: bool = False,
    minimise: bool = False,
    discount: float | None = None,
    drift: str | Drift | None = None,
    last: int | None = None,
) -> Settings:
    """Validate the settings of a decider, and fill in those that are None."""
    rows: dict[Hashable, int] = {}
    for arm in validate.check_names(arms, "arms"):
        validate.check_new(arm, rows)
        rows[arm] = len(rows)
    if not rows:
        raise ArmError("an agent needs at least one arm: the list of arms is empty")
    if family is None:
        family = "bernoulli" if range is None else "bounded"
    base = family_named(family)
    if prior is not None:
        base = replace(base, prior=base.check_prior(prior))
    counted = scale(base, range, minimise, clip)
    faded = 1.0 if discount is None else validate.check_discount(discount)
    chosen = check_last(last, check_drift(drift, policy, faded), faded)
    own = validate.check_priors(priors)
    for arm in own:
        if not validate.is_among(arm, rows):
            raise validate.unknown_arm(arm, list(rows))
    checked_priors = {arm: base.check_prior(given) for arm, given in own.items()}
    base.check_prior(base.prior)
    seen: Family = Mirror(base) if counted.minimise else base
    who = validate.check_policy(BelMan() if chosen is None else chosen, seen, len(rows))
    return Settings(rows, counted, seen, checked_priors, faded, who)


def check_drift(drift: object, policy: Policy | None, discount: float) -> Policy | None:
    """The policy that follows a changing world, or the one that was given where none is asked for.

    >>> check_drift("auto", None, 1.0).name
    'belman-drift'
    """
    if drift is None or drift is False or drift == policy:
        return policy
    if drift is True or drift == "auto":
        drift = Drift()
    if not isinstance(drift, Drift):
        allowed = '"auto", belman.policies.Drift(…), or None'
        raise SettingError(f"drift={drift!r} is not valid: give {allowed}")
    if policy is not None and policy != BelMan():
        who = f"policy={policy!r} is given beside drift, which chooses the policy itself"
        raise SettingError(f"{who}: give drift=… alone, or policy=… alone")
    if discount < 1.0:
        raise SettingError(f"discount={discount!r} forgets, and drift={drift!r} too: give one")
    return drift


def check_last(last: object, policy: Policy | None, discount: float) -> Policy | None:
    """The policy that sees the last rewards alone, or the one that was given where all count.

    >>> check_last(1_000, None, 1.0).last
    1000
    """
    if last is None:
        return policy
    if discount < 1.0 or (isinstance(policy, Policy) and policy.forgets):
        other = f"discount={discount!r}" if discount < 1.0 else repr(policy)
        raise SettingError(f"last={last!r} forgets, and {other} too: give one")
    return Forgetting(BelMan() if policy is None else policy, last=last)  # type: ignore[arg-type]


Floats = NDArray[np.float64]
#: What is learnt of some arms, by their names.
Known = Mapping[Hashable, Learnt]


def of_decider(other: Any, decider: Any) -> Known:
    """Return all that another decider knows of the arms that both play, of one family."""
    mine, theirs = decider.family, other.family
    if (theirs.name, *theirs.constants) != (mine.name, *mine.constants):
        rewards = f"start has {theirs.name} rewards, and this agent {mine.name} ones"
        raise PriorError(f"{rewards}: their beliefs do not compare")
    common = {arm: other.learnt(arm) for arm in other.arms if arm in decider.arms}
    if not common:
        lists = f"it played {listing(other.arms)}, and this agent plays {listing(decider.arms)}"
        raise ArmError(f"start knows none of these arms: {lists}")
    return common


def of_counts(
    counts: Mapping[Hashable, Any], scale: Scale, prior: Callable[[Any], Sequence[float]]
) -> Known:
    """Return what (plays, sum of rewards) or (plays, sum, sum of squares) say of each arm."""
    return {arm: _learnt(arm, given, scale, prior(arm)) for arm, given in counts.items()}


def _learnt(arm: Hashable, given: Any, scale: Scale, prior: Sequence[float]) -> Learnt:
    refused = f"start[{arm!r}]={given!r} is not a count"
    try:
        plays, total, *rest = (float(number) for number in given)
    except (TypeError, ValueError):
        raise RewardError(f"{refused}: give (plays, sum of rewards)") from None
    if not (plays >= 1.0 and plays == math.floor(plays) and math.isfinite(total) and len(rest) < 2):
        raise RewardError(f"{refused}: plays must be a whole number from 1 up, and sums finite")
    low, high = scale.range or (0.0, 1.0)
    width = high - low
    shifted = (total - plays * low) / width
    square: float | None = None
    if rest:
        square = (rest[0] - 2.0 * low * total + plays * low * low) / (width * width)
    belief = scale.base.update_many(prior, int(plays), shifted, square)
    if (
        square is None
    ):  # 0 and 1 are their own squares; other rewards are taken as if they had all been alike
        square = shifted if scale.base.reward_range == (0.0, 1.0) else shifted * shifted / plays
    total, first = -shifted if scale.minimise else shifted, tuple(map(float, prior))
    return Learnt(first, tuple(map(float, belief)), plays, total, square, int(plays), 0)
