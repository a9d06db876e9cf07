"""Worlds that change, from words: `drifting:arms=3,changes=4,seed=1`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from belman.errors import SettingError, listing, nearest
from belman.families import Family
from belman.problems import Drifting, changing, coming_and_going, random_walk, sinusoid

#: What makes each, and what it gets unless the user says otherwise.
WORLDS: dict[str, tuple[Callable[..., Drifting], dict[str, Any]]] = {
    "drifting": (changing, {"arms": 3, "changes": 4, "seed": 1}),
    "random-walk": (random_walk, {"arms": 3, "step": 0.005, "seed": 1}),
    "coming-and-going": (coming_and_going, {"arms": 6, "seed": 1}),
    "sinusoid": (sinusoid, {"arms": 3, "period": 1_000.0}),
}


def world(name: str, settings: dict[str, Any], family: Family, horizon: int) -> Drifting:
    """The problem of that name for so many turns.

    >>> from belman import Bernoulli
    >>> world("drifting", {"changes": 2}, Bernoulli(), 500).findings
    {'changes': 2}
    """
    if name not in WORLDS:
        there = f"there are {listing(WORLDS)}{nearest(name, WORLDS)}"
        raise SettingError(f"problem={name!r} is unknown: {there}")
    make, usual = WORLDS[name]
    takes = [one for one in inspect.signature(make).parameters if one not in ("family", "horizon")]
    for key in settings:
        if key not in takes:
            there = f"it has {listing(takes)}{nearest(key, takes)}"
            raise SettingError(f"problem {name!r} has no setting {key!r}: {there}")
    try:
        return make(horizon=horizon, family=family, **{**usual, **settings})
    except (TypeError, ValueError) as error:
        raise SettingError(f"problem {name!r} does not take these settings: {error}") from None
