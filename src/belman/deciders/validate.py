"""What an agent lets in: names, numbers, policies; each refused with a reason, changing nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np

from belman.deciders.learnt import Learnt
from belman.errors import ArmError, PolicyError, PriorError, SettingError, shown, unknown
from belman.families import Family
from belman.policies import BelMan, Policy
from belman.policies.dependent import DependentPolicy
from belman.validate import is_between, is_whole

#: What a name may be, so that files, logs and pages can hold it.
LONGEST_NAME = 1_000
LONGEST_TUPLE = 16
DEEPEST_NAME = 4
LARGEST_NUMBER = 10**300
_HALVES = re.compile("[\ud800-\udfff]")
#: Seconds since some beginning.
FARTHEST = 1e12
#: How many arms there may be: memory and the time of a turn grow with them.
MOST_ARMS = 1_000_000
#: How many asks a batch may have: each is a decision, and all are held at once.
MOST_ASKED = 10_000_000
#: How many decisions may be counted, which are not held: floats have every whole number up to it.
MOST_COUNTED = 2**53 - 1


def check_names(arms: Iterable[Hashable], option: str) -> list[Hashable]:
    """A list of names, which one string is not."""
    if isinstance(arms, (str, bytes)):
        raise ArmError(f"{option}={arms!r} is one name, not a list of names: write [{arms!r}]")
    try:
        names = list(islice(arms, MOST_ARMS + 1))
    except TypeError:
        raise ArmError(f"{option}={arms!r} is not a list of names") from None
    if len(names) > MOST_ARMS:
        raise ArmError(f"{option}={shown(arms)} are more than {MOST_ARMS:,} arms")
    return names


def check_new(arm: Hashable, known: Collection[Hashable]) -> None:
    """A name that can be one, and is not taken."""
    try:
        hash(arm)
    except TypeError:
        words = "it is not hashable (a string, a number or a tuple is)"
        raise ArmError(f"arm {arm!r} cannot be a name: {words}") from None
    _check_size(arm)
    if arm in known:
        raise ArmError(f"arm {arm!r} is there already: every arm needs a name of its own")


def is_among(arm: Any, arms: Collection[Hashable]) -> bool:
    """Whether an arm is one of these; what cannot be a name, or be compared, is none."""
    try:
        hash(arm)
    except TypeError:
        return False
    return arm in arms


def unknown_arm(arm: Any, arms: Collection[Hashable], there: str = "this agent plays") -> ArmError:
    """The error of an arm that is none of these."""
    return ArmError(unknown("arm", arm, arms, there))


def _check_size(name: Hashable, depth: int = 0) -> None:
    """A name that can be written down, and shown: no half of a surrogate pair, and not too long."""
    why = None
    if isinstance(name, tuple):
        if depth == DEEPEST_NAME or len(name) > LONGEST_TUPLE:
            most = f"at most {LONGEST_TUPLE} parts, {DEEPEST_NAME} inside one another"
            why = f"a tuple that is one has {most}"
        else:
            for part in name:
                _check_size(part, depth + 1)
    elif isinstance(name, (str, bytes)) and len(name) > LONGEST_NAME:
        why = f"a name has at most {LONGEST_NAME:,} characters, and this one {len(name):,}"
    elif isinstance(name, str) and not is_text(name):
        why = "it holds half of a surrogate pair, which no encoding has"
    elif isinstance(name, int) and abs(name) >= LARGEST_NUMBER:
        why = f"a whole number that is one is below {LARGEST_NUMBER:.0e}"
    if why is not None:
        raise ArmError(f"arm {shown(name)} cannot be a name: {why}")


def is_text(word: str) -> bool:
    """Whether a word can be written down: it holds no half of a surrogate pair."""
    return word.isascii() or not _HALVES.search(word)


def check_seed(seed: int | None) -> int | None:
    """A whole number, or None for a seed from the system."""
    if seed is not None and not is_whole(seed, 0, LARGEST_NUMBER - 1):
        allowed = "it must be a whole number from 0 up, or None"
        raise SettingError(f"seed={shown(seed)} is not valid: {allowed}")
    return seed


def check_discount(discount: float) -> float:
    """A share of the past that is kept at every reward."""
    if not is_between(discount, 0.0, 1.0) or discount == 0.0:
        allowed = "it must be above 0 and at most 1 (1 never forgets)"
        raise SettingError(f"discount={shown(discount)} is not valid: {allowed}")
    return float(discount)


def check_count(n: Any, asked: str | None = None) -> int:
    """How many decisions are asked for."""
    if not is_whole(n, 1, math.inf):
        what = f"{asked or f'ask({shown(n)})'} is not valid"
        raise SettingError(f"{what}: n must be a whole number from 1 up")
    most = MOST_ASKED if asked is None else MOST_COUNTED
    if n > most:
        what = f"ask({shown(n)})" if asked is None else asked[:40]
        raise SettingError(f"{what} asks for too many: at most {most:,}")
    return int(n)


def check_list(given: Any, option: str, give: str) -> list[Any]:
    """All that somebody gave, of what can be gone through."""
    try:
        return list(given)
    except TypeError:
        raise SettingError(f"{option}={shown(given)} is not a list: give {give}") from None


def check_level(level: float, option: str = "level") -> float:
    """A probability that is neither 0 nor 1."""
    if not is_between(level, 0.0, 1.0) or level in (0.0, 1.0):
        allowed = "it must lie strictly between 0 and 1"
        raise SettingError(f"{option}={shown(level)} is not valid: {allowed}")
    return float(level)


def check_time(seconds: float) -> float:
    """Seconds since some beginning."""
    if not is_between(seconds, -FARTHEST, FARTHEST):
        allowed = f"give seconds since some beginning, at most {FARTHEST:g} of them"
        raise SettingError(f"time={seconds!r} is not valid: {allowed}")
    return float(seconds)


def check_wanted(m: Any, arms: int) -> None:
    """How many of the best arms are asked for."""
    if not is_whole(m, 1, arms):
        allowed = f"it must be a whole number from 1 to {arms}, the number of arms"
        raise SettingError(f"m={m!r} is not valid: {allowed}")


def check_exposed(policy: Any) -> BelMan:
    """A policy that has an exposure."""
    if not isinstance(policy, BelMan):
        remedy = "only belman has (set agent.policy to change the policy)"
        who = getattr(policy, "name", "of a box")
        raise PolicyError(f"policy {who!r} has no exposure: {remedy}")
    return policy


def check_priors(priors: Mapping[Hashable, Any] | None) -> Mapping[Hashable, Any]:
    """Beliefs about single arms, by name."""
    if priors is not None and not isinstance(priors, Mapping):
        remedy = "give {arm: prior, …}, or prior=… for all arms"
        raise PriorError(f"priors={priors!r} is not a mapping: {remedy}")
    return priors or {}


def policy_named(given: Any) -> Any:
    """Return the policy of that name, with the settings it has by itself; whatever is no name as it
    is.

    >>> policy_named("thompson"), policy_named("lin-ucb")
    (Thompson(), LinUCB(alpha=1.0))
    """
    if not isinstance(given, str):
        return given
    from belman import spec  # which takes a while to import
    from belman.policies.dependent import DEPENDENT_POLICIES

    return spec.build(given, DependentPolicy if given in DEPENDENT_POLICIES else Policy)


def check_policy(policy: Policy, family: Family, arms: int) -> Policy:
    """A policy that an agent can follow with this family and number of arms."""
    if isinstance(policy, DependentPolicy):
        remedy = "it is for arms with features (give context=… or features=… too)"
        raise PolicyError(f"policy={policy!r} is not a policy for arms that are apart: {remedy}")
    if not isinstance(policy, Policy):
        remedy = "give one of belman.policies, such as belman.BelMan()"
        raise PolicyError(f"policy={policy!r} is not a policy: {remedy}")
    if policy.sees_truth:
        where = "it plays in simulations only"
        raise PolicyError(f"policy {policy.name!r} knows the true means: {where}")
    policy.check(family, arms)
    return policy


def check_learnt(learnt: Learnt, family: Family) -> Learnt:
    """What an agent of this family can have learnt of an arm."""
    if not isinstance(learnt, Learnt):
        raise SettingError(f"{shown(learnt)} is not what `learnt(arm)` gives")
    belief = learnt.belief
    if len(belief) != family.dimension or not (np.isfinite(belief).all() and family.proper(belief)):
        raise PriorError(f"belief {belief!r} is not proper for {family.name} rewards")
    return learnt


def check_provisional(counts: Mapping[Hashable, Any], family: Family) -> Mapping[Hashable, Any]:
    """Successes and failures by arm, for a family that has them."""
    if not isinstance(counts, Mapping):
        remedy = "give {arm: (successes, failures)}"
        raise SettingError(f"provisional={counts!r} is not a mapping: {remedy}")
    if counts and not family.coin:
        remedy = "rewards count when they are told"
        raise SettingError(f"{family.name} rewards are not successes and failures: {remedy}")
    return counts


def check_counts(arm: Hashable, given: Any, belief: Any) -> tuple[float, ...]:
    """Successes and failures that leave an arm's belief proper, and a doubt of 0 or more."""
    try:
        won, lost, *rest = (float(number) for number in given)
    except (TypeError, ValueError, OverflowError):
        won, lost, rest = np.nan, np.nan, []
    doubt = rest[0] if rest else 0.0
    proper = belief[0] + won > 0.0 and belief[1] + lost > 0.0 and doubt >= 0.0
    if not (np.isfinite([won, lost, doubt]).all() and proper and len(rest) < 2):
        allowed = "give (successes, failures) that leave a belief (α, β) positive, and a doubt ≥ 0"
        raise SettingError(f"provisional[{arm!r}]={given!r} cannot count: {allowed}")
    return won, lost, doubt
