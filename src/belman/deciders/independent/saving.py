"""Independent arms as plain data and back: all that the next turn needs, and patches of beliefs."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from belman import codec, spec
from belman.codec import NAMED, Array, Count, Form, Name
from belman.deciders import checks, validate
from belman.deciders.checks import Floats
from belman.deciders.decider import Plain
from belman.deciders.learnt import MOST_PENDING, Learnt, Tells
from belman.errors import BelmanError, StateError
from belman.families import Family
from belman.families.family import LARGEST
from belman.policies import Ledger, Policy

#: What a patch holds of an arm beside its name and how many rewards are new.
_PATCHED = ("belief", "plays", "sum", "squares", "tells")


def patch(arm: Hashable, learnt: Learnt, n: int = 0) -> Plain:
    """Return the patch after which this is learnt of an arm, by `n` rewards more."""
    row = [getattr(learnt, name) for name in _PATCHED[1:]]
    return {"arms": [[codec.encode_arm(arm), n, list(learnt.belief), *row]]}


def patched(
    content: Mapping[str, Any], learnt: Callable[[Hashable], Learnt]
) -> Iterator[tuple[Hashable, Learnt, int]]:
    """Yield every arm of a patch with all that is learnt then, and how many rewards are new."""
    for encoded, n, belief, *rest in content["arms"]:
        arm = codec.decode_arm(encoded)
        values = dict(zip(_PATCHED[1:], rest, strict=True))
        yield arm, learnt(arm)._replace(belief=tuple(belief), **values), n


def described(part: Family | Policy) -> dict[str, Any] | None:
    """Return a part's description, or None for one that is to be given again when loading."""
    try:
        return spec.describe(part)
    except BelmanError:
        return None


Described = Annotated[Any, Form(described, lambda content, _: content)]
Real = Annotated[Any, lambda value: type(value) in (int, float)]
Ints = NDArray[np.int64]
Anything = Annotated[Floats, Array(None, -math.inf, math.inf)]


@dataclass(frozen=True)
class Kept:
    """All that a decider of independent arms keeps; the memory of a policy that learns nothing, its
    work and the arms to look at anew (`stale`) follow from the rest up to rounding.
    """

    arms: list[Name]
    family: Described
    policy: Described
    range: tuple[Real, ...] | None
    minimise: bool
    clip: bool
    clipped: Tells
    discount: float
    time: float
    told: Tells
    tells: Annotated[Ints, Array((None,), 0, LARGEST)]
    pending: Annotated[Ints, Array((None,), 0, MOST_PENDING)]
    priors: Floats
    truth: Annotated[Ledger, NAMED]
    retired: list[tuple[Name, Learnt]]
    memory: dict[str, Anything] | None
    working: Annotated[Ledger, NAMED] | None
    stale: list[Count] | None


def to_plain(decider: Any, working: bool) -> Plain:
    """Return the whole state; with `working` also how far the policy's own work has come."""
    policy, scale = decider._policy, decider.scale
    kept = Kept(
        arms=decider._arms,
        family=scale.base,
        policy=policy,
        range=scale.range,
        minimise=scale.minimise,
        clip=scale.clip,
        clipped=decider.clipped,
        discount=decider.discount,
        time=decider._time if policy.by_clock else 0.0,
        told=decider._told,
        tells=decider._tells,
        pending=decider._pending,
        priors=decider._priors,
        truth=decider._truth,
        retired=sorted_by_name(decider.retired),
        memory=checks.lasting(decider._memory) if policy.learns or working else None,
        working=decider._working if working else None,
        stale=decider._stale[1 : decider._stale[0] + 1].tolist() if working else None,
    )
    return codec.write(kept)


def sorted_by_name(retired: Mapping[Hashable, Any]) -> list[tuple[Hashable, Any]]:
    """Return arms in an order that does not depend on when they were retired."""
    return sorted(retired.items(), key=lambda pair: repr(pair[0]))


def _built(content: Any, kind: Any, name: str) -> Any:
    """Return a family or a policy of its description."""
    if content is None:
        raise StateError(f"it could not hold its {name}: give it again, load(path, {name}=…)")
    try:
        return spec.build(content, kind, trust="imported")
    except BelmanError as error:
        raise StateError(f"{error} (or give it again, load(path, {name}=…))") from None


def from_plain(
    kind: Any,
    content: Mapping[str, Any],
    source: str,
    *,
    arms: Sequence[Hashable] | None = None,
    family: Family | None = None,
    policy: Policy | None = None,
) -> Any:
    """Return the decider of a state; arms, family and policy replace what it holds."""
    kept = codec.read(Kept, content, {})
    count = len(kept.arms)
    given = [] if arms is None else list(arms)  # those in play, and perhaps then those retired
    names = [codec.decode_arm(arm) for arm in kept.arms] if arms is None else given[:count]
    away = given[count:]
    if len(names) != count or len(away) not in (0, len(kept.retired)):
        raise StateError(f"{source} has {count} arms, and {len(given)} were given")
    decider = kind(
        names,
        _built(kept.family, Family, "family") if family is None else family,
        _built(kept.policy, Policy, "policy") if policy is None else policy,
        range=kept.range,
        minimise=kept.minimise,
        clip=kept.clip,
        discount=kept.discount,
    )
    if policy is None and kept.time != 0.0 and not decider._policy.by_clock:
        raise StateError(f"time is {kept.time:g}, and {decider._policy.name} goes by no clock")
    decider.clipped, decider._told = kept.clipped, kept.told
    decider._time = validate.check_time(kept.time)
    checks.fill(decider._tells, kept.tells, "tells")
    checks.fill(decider._pending, kept.pending, "pending")
    checks.fill(decider._priors, kept.priors, "priors")
    checks.check_beliefs(kept.priors, decider.family.check_prior, "priors")
    checks.fill_ledger(decider._truth, kept.truth, decider.family, "truth")
    for position, (encoded, learnt) in enumerate(kept.retired):
        arm = away[position] if away else codec.decode_arm(encoded)
        if arm in decider.retired or arm in decider._rows:
            raise StateError(f"{source} has arm {arm!r} twice")
        decider.retired[arm] = checks.learnt(learnt, decider.family, f"retired arm {arm!r}")
    if decider._learns:  # it has heard of arms that nothing was told of
        decider._lay_out_arrays()
    else:
        decider._waiting = int(decider._pending.sum())
        decider.lay_out()
    if policy is None and kept.memory is not None:
        checks.fill_memory(decider._memory, kept.memory, decider._policy, count)
    if policy is None and kept.working is not None:
        checks.fill_ledger(decider._working, kept.working, decider.family, "working")
        _fill_stale(decider, kept.stale or [])
    if kept.memory is not None:
        _try_out(decider)
    return decider


def _fill_stale(decider: Any, listed: list[int]) -> None:
    """Note the arms to look at anew, each once at most."""
    if len({*listed}) < len(listed) or not {*listed} <= {*range(len(decider._arms))}:
        raise StateError("stale names an arm twice, or one that is not there")
    decider._stale[: len(listed) + 1] = [len(listed), *listed]


def _try_out(decider: Any) -> None:
    """Let a copy decide once: a memory that allows no decision is refused."""
    trial = copy.deepcopy(decider)
    try:
        trial.choose(trial.check())
    except (ArithmeticError, ValueError, LookupError) as error:
        words = f"the memory of {decider._policy.name} allows no decision: {error}"
        raise StateError(words) from None
