"""Independent arms as plain data and back: all that the next turn needs, and patches of beliefs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

from belman import spec
from belman.deciders import checks, state_file, validate
from belman.deciders.decider import Plain
from belman.deciders.learnt import Learnt
from belman.errors import BelmanError, StateError
from belman.families import Family
from belman.policies import Ledger, Policy

#: What a patch holds of an arm beside its name and how many rewards are new.
_PATCHED = ("belief", "plays", "sum", "squares", "tells")


def patch(arm: Hashable, learnt: Learnt, n: int = 0) -> Plain:
    """Return the patch after which this is learnt of an arm, by `n` rewards more."""
    row = [getattr(learnt, name) for name in _PATCHED]
    return {"arms": [[state_file.encode_arm(arm), n, *state_file.plain(row)]]}


def patched(
    content: Mapping[str, Any], learnt: Callable[[Hashable], Learnt]
) -> Iterator[tuple[Hashable, Learnt, int]]:
    """Yield every arm of a patch with all that is learnt then, and how many rewards are new."""
    for encoded, n, belief, *rest in content["arms"]:
        arm = state_file.decode_arm(encoded, "the log")
        values = dict(zip(_PATCHED[1:], rest, strict=True))
        yield arm, learnt(arm)._replace(belief=tuple(belief), **values), n


def to_plain(decider: Any, working: bool) -> Plain:
    """Return the whole state; with `working` also how far the policy's own work has come, which
    follows from the rest up to rounding.
    """
    memory = decider._policy.learns or working
    return {
        "arms": [state_file.encode_arm(arm) for arm in decider._arms],
        "family": described(decider.scale.base),
        "policy": described(decider._policy),
        "range": decider.scale.range,
        "minimise": decider.scale.minimise,
        "clip": decider.scale.clip,
        "clipped": decider.clipped,
        "discount": decider.discount,
        "time": decider._time if decider._policy.by_clock else 0.0,
        "told": decider._told,
        "tells": decider._tells,
        "pending": decider._pending,
        "priors": decider._priors,
        "truth": decider._truth,
        "retired": [
            [state_file.encode_arm(arm), *learnt] for arm, learnt in sorted_by_name(decider.retired)
        ],
        **({"memory": checks.lasting(decider._memory)} if memory else {}),
        **({"working": decider._working, "stale": _stale(decider)} if working else {}),
    }


def sorted_by_name(retired: Mapping[Hashable, Any]) -> list[tuple[Hashable, Any]]:
    """Return arms in an order that does not depend on when they were retired."""
    return sorted(retired.items(), key=lambda pair: repr(pair[0]))


def _stale(decider: Any) -> Any:
    return decider._stale[: decider._stale[0] + 1]


def described(part: Family | Policy) -> dict[str, Any] | None:
    """Return a part's description, or None for one that is to be given again when loading."""
    try:
        return spec.describe(part)
    except BelmanError:
        return None


def _part(content: Mapping[str, Any], kind: Any, name: str, source: str) -> Any:
    if content[name] is None:
        remedy = f"give it again, load(path, {name}=…)"
        raise StateError(f"{source} could not hold its {name}: {remedy}")
    try:
        return spec.build(content[name], kind, trust="imported")
    except BelmanError as error:
        words = f"{error} (or give it again, load(path, {name}=…))"
        raise StateError(f"{source} does not hold a whole agent: {words}") from None


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
    saved = content["arms"]
    if not isinstance(saved, list):
        raise StateError(f"{source} has no list of arms")
    given = [] if arms is None else list(arms)  # those in play, and perhaps then those retired
    names = [state_file.decode_arm(arm, source) for arm in saved] if arms is None else given
    away = names[len(saved) :]
    names = names[: len(saved)]
    if len(names) != len(saved) or len(away) not in (0, len(content["retired"])):
        raise StateError(f"{source} has {len(saved)} arms, and {len(given)} were given")
    rewards = _part(content, Family, "family", source) if family is None else family
    who = _part(content, Policy, "policy", source) if policy is None else policy
    flags = {name: content[name] for name in ("minimise", "clip")}
    if not all(type(flag) is bool for flag in flags.values()):
        raise StateError(f"{source} does not say whether it minimises, or clips")
    ends = checks.interval(content["range"])
    decider = kind(names, rewards, who, range=ends, **flags, discount=content["discount"])
    count = len(names)
    decider.clipped = checks.whole(content["clipped"], "clipped")
    decider._time = validate.check_time(content["time"])
    decider._told = checks.whole(content["told"], "told")
    decider._tells[:] = checks.wholes(content["tells"], count, "tells")
    decider._priors[:] = checks.priors(content["priors"], decider._priors, decider.family)
    _fill(decider._truth, checks.ledger(content["truth"], decider._truth, decider.family, "truth"))
    decider._pending[:] = checks.wholes(content["pending"], count, "pending", checks.MOST_PENDING)
    for place, (encoded, *row) in enumerate(content["retired"]):
        arm = away[place] if away else state_file.decode_arm(encoded, source)
        if arm in decider.retired or arm in decider._rows:
            raise StateError(f"{source} has arm {arm!r} twice")
        decider.retired[arm] = checks.learnt(row, decider.family, f"retired arm {arm!r}")
    decider._lay_out_arrays()
    if policy is None and "memory" in content:
        checks.fill_memory(decider._memory, content["memory"], decider._policy, count)
    if policy is None and "working" in content:
        listed = checks.stale(content["stale"], count)
        decider._stale[: len(listed)] = listed
        working = checks.ledger(content["working"], decider._working, decider.family, "working")
        _fill(decider._working, working)
    _try_out(decider)
    return decider


def _fill(ledger: Ledger, found: Ledger) -> None:
    for column, rows in zip(ledger, found, strict=True):
        column[:] = rows


def _try_out(decider: Any) -> None:
    """Let a copy decide once: a memory that allows no decision is refused."""
    trial = copy.deepcopy(decider)
    try:
        trial.choose(trial.check(), rng=trial.rng, integrate=False)
    except (ArithmeticError, ValueError, LookupError) as error:
        words = f"the memory of {decider._policy.name} allows no decision: {error}"
        raise StateError(words) from None
