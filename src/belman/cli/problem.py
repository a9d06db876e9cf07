"""The problem that the options of `belman run` and `belman explore` describe."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from belman import frames, spec
from belman.cli.parse import numbers, pairs, split
from belman.errors import SettingError, listing, nearest
from belman.families import Family
from belman.problems import (
    Problem,
    batched,
    changing,
    coming_and_going,
    corrupted,
    delayed,
    from_rewards,
    random_walk,
    renewing,
    sinusoid,
)
from belman.problems.stationary import RandomStationary, Stationary
from belman.validate import require_one_of

#: What makes each, and what it gets unless the user says otherwise.
WORLDS: dict[str, tuple[Callable[..., Problem], dict[str, Any]]] = {
    "drifting": (changing, {"arms": 3, "changes": 4, "seed": 1}),
    "random-walk": (random_walk, {"arms": 3, "step": 0.005, "seed": 1}),
    "coming-and-going": (coming_and_going, {"arms": 6, "seed": 1}),
    "sinusoid": (sinusoid, {"arms": 3, "period": 1_000.0}),
    "renewing": (renewing, {"arms": 3, "chance": 0.001}),
}


def means(text: str) -> tuple[float, ...]:
    """Means of arms: numbers separated by commas, or a file with a column `mean`, or with one
    column.

    >>> means("0.8,0.9")
    (0.8, 0.9)
    """
    if not frames.is_path(text):
        return numbers(text, "means")
    frame = frames.read(text.strip(), empty=True)
    named = [name for name in frame.columns if name.lower() == "mean"]
    if not named and len(frame.columns) != 1:
        frame.require("mean")
    (name,) = named or frame.columns
    result = tuple(frame.numbers(name).tolist())
    if not named:
        result = (*_headless(name), *result)
    if not result:
        raise SettingError(f"{text} holds no means")
    return result


def _headless(name: str) -> tuple[float, ...]:
    """The mean that the first line holds, where a file of one column has no header."""
    try:
        return (float(name),)
    except ValueError:
        return ()


def problem(family: str, settings: dict[str, Any], means: Any, random_arms: int | None) -> Problem:
    """Fixed means, or random arms drawn from the family's prior."""
    if (means is None) == (random_arms is None):
        ways = "either means (--means 0.8,0.9) or random arms (--random-arms 10)"
        raise SettingError(f"a problem needs {ways}")
    distribution = spec.build({"name": family, **settings}, Family)
    if random_arms is not None:
        return RandomStationary(distribution, random_arms, distribution.prior)
    return Stationary(distribution, tuple(means))


def problem_of(options: dict[str, Any]) -> Problem:
    """What the options of `belman run` describe: means, random arms or rewards that one has."""
    ways = [name for name in ("means", "random_arms", "rewards") if options[name] is not None]
    if options["problem"] is not None:
        result = changing_problem(options["problem"], options)
    elif options["rewards"] is None:
        result = problem(
            options["family"], options["settings"], options["means"], options["random_arms"]
        )
        if options["columns"] is not None:
            raise SettingError(f"columns={options['columns']!r} are of a file: give --rewards too")
    elif len(ways) > 1:
        raise SettingError(f"a problem needs one of means, random arms and rewards, not {ways}")
    else:
        family = options["family"]
        distribution = None if family is None else {"name": family, **options["settings"]}
        columns = options["columns"]
        result = from_rewards(
            options["rewards"],
            None if distribution is None else spec.build(distribution, Family),
            arms=split(columns) if isinstance(columns, str) else columns,
            order=options["order"],
        )
    if options["corruption"] is None:
        return result
    return corrupted(result, options["corruption"])


def changing_problem(words: str, options: dict[str, Any]) -> Problem:
    """A world that changes: `drifting:arms=3,changes=4`, for the family and the horizon given.

    >>> from belman.cli.run import DEFAULTS
    >>> changing_problem("sinusoid:arms=2", {**DEFAULTS, "horizon": 500}).arms
    2
    """
    for name in ("means", "random_arms", "rewards"):
        if options[name] is not None:
            raise SettingError(f"problem={words!r} has means of its own: leave out {name}")
    distribution = spec.build({"name": options["family"], **options["settings"]}, Family)
    name, _, rest = words.strip().partition(":")
    return world(name, pairs(rest), distribution, options["horizon"])


def late(problem: Problem, options: dict[str, Any]) -> Problem:
    """The problem with late rewards, if there are delays (`expon:scale=30`, one of SciPy's), and in
    batches, if their size is given.

    >>> shop = late(Stationary(spec.build("bernoulli"), (0.04, 0.03)), {
    ...     "delays": "expon:scale=30", "window": 120.0, "arrivals": 60.0, "told": "window",
    ...     "batch": None})
    >>> shop.told, round(shop.quantiles[0][512], 1)
    ('window', 20.2)
    """
    words, window = options["delays"], options["window"]
    if options["batch"] is not None:
        return batched(late(problem, {**options, "batch": None}), options["batch"])
    if (words is None) != (window is None):
        raise SettingError("late rewards need both delays and a window: --delays … --window …")
    if words is None:
        return problem
    from scipy import stats  # half a second, for those who ask

    name, _, rest = words.strip().partition(":")
    distribution: Any = getattr(stats, name, None)
    if not hasattr(distribution, "ppf"):
        raise SettingError(
            f"delays={words!r} is not a distribution of SciPy: write, for instance, expon:scale=30"
        )
    try:
        frozen = distribution(**pairs(rest))
    except TypeError as error:
        raise SettingError(f"delays={words!r} is not a distribution of SciPy: {error}") from None
    told, arrivals = options["told"], options["arrivals"]
    return delayed(problem, frozen, window, arrivals=arrivals, told=told)


def world(name: str, settings: dict[str, Any], family: Family, horizon: int) -> Problem:
    """The problem of that name for `horizon` turns.

    >>> from belman.families import Bernoulli
    >>> world("drifting", {"changes": 2}, Bernoulli(), 500).findings
    {'changes': 2}
    """
    require_one_of("problem", name, WORLDS)
    make, usual = WORLDS[name]
    every = list(inspect.signature(make).parameters)
    takes = [one for one in every if one not in ("family", "horizon")]
    given = {"horizon": horizon} if "horizon" in every else {}
    for key in settings:
        if key not in takes:
            there = f"it has {listing(takes)}{nearest(key, takes)}"
            raise SettingError(f"problem {name!r} has no setting {key!r}: {there}")
    if settings.get("seed") == "none":
        settings = {**settings, "seed": None}
    try:
        return make(**given, family=family, **{**usual, **settings})
    except (TypeError, ValueError) as error:
        raise SettingError(f"problem {name!r} does not take these settings: {error}") from None
