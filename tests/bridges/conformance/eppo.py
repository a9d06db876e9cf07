"""Eppo's published cases: bandits, with the flags that lead to them, and flags with shards.

Whom a flag targets is evaluated by the runner itself, since belman has no rules of Eppo; which
variation a unit's shards give is assigned by a weights document, and the action by a `Bandit`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import belman
from belman import Agent, assign_many
from belman.assignment import Eppo, Weights
from belman.assignment.assigners import cuts_of_ranges
from belman.bridges.eppo import Bandit, bandit
from belman.errors import BelmanError, SettingError
from tests.bridges.conformance import REFUSED, Outcome, judged

Json = Any
#: Objects whose keys are names of things, not fields.
_MAPS = {"flags", "variations", "bandits", "banditReferences", "coefficients", "valueCoefficients"}


def outcomes(folder: Path) -> Iterator[Outcome]:
    """Run all cases of a folder: `bandit-tests/` and `tests/`, and the form of what is exported."""
    flags, models = _read(folder / "bandit-flags-v1.json"), _read(folder / "bandit-models-v1.json")
    for path in sorted((folder / "bandit-tests").glob("*.json")):
        case = _read(path)
        for subject in case["subjects"]:
            yield _outcome("bandits", path, subject, _bandit, flags, models, case)
    if (folder / "flags-v1.json").exists():
        flags = _read(folder / "flags-v1.json")
        for path in sorted((folder / "tests").glob("*.json")):
            case = _read(path)
            for subject in case["subjects"]:
                yield _outcome("flags", path, subject, _flag, flags, {}, case)
    ours = exported()
    for name, own, theirs in (
        ("bandit-flags-v1.json", ours.flags(), _read(folder / "bandit-flags-v1.json")),
        ("bandit-models-v1.json", ours.models(), models),
    ):
        yield judged("form of exports", name, differences(own, theirs), [])


def _read(path: Path) -> Json:
    return json.loads(path.read_text(encoding="utf-8"))


def _outcome(section: str, path: Path, subject: Json, run: Any, *given: Json) -> Outcome:
    case = f"{path.stem}, {subject['subjectKey']}"
    try:
        return judged(section, case, run(subject, *given), subject["assignment"])
    except BelmanError as error:
        return Outcome(section, case, REFUSED, str(error))


def _bandit(subject: Json, flags: Json, models: Json, case: Json) -> Json:
    """The variation of a flag, and the action where it is a bandit."""
    flag, unit = case["flag"], subject["subjectKey"]
    context = _context(subject["subjectAttributes"])
    variation = _variation(flags["flags"].get(flag), unit, context)
    if variation is None:
        return {"variation": case["defaultValue"], "action": None}
    own = next(
        (
            one["key"]
            for several in flags["bandits"].values()
            for one in several
            if (one["flagKey"], one["variationValue"]) == (flag, variation)
        ),
        None,
    )
    actions = {one["actionKey"]: _context(one) for one in subject["actions"]}
    if own is None or not actions:
        return {"variation": variation, "action": None}
    model = Bandit(own, models["bandits"][own]["modelData"])
    chances = model.chances(context, actions)
    chosen = model.choose(unit, context, actions, flag)
    assert abs(sum(chances.values()) - 1.0) < 1e-9
    assert chances[chosen.arm] == chosen.chance
    assert min(chances.values()) >= model.data["actionProbabilityFloor"] / len(actions) - 1e-12
    return {"variation": variation, "action": chosen.arm}


def _flag(subject: Json, flags: Json, _: Json, case: Json) -> Json:
    attributes = {"id": subject["subjectKey"], **subject["subjectAttributes"]}
    flag = flags["flags"].get(case["flag"])
    variation = _variation(flag, subject["subjectKey"], attributes)
    if variation is None:
        return case["defaultValue"]
    return json.loads(variation) if flag["variationType"] == "JSON" else variation


def _context(given: Json) -> dict[str, Json]:
    """Attributes as their clients take them: numbers, and words for all else."""
    numbers, words = (
        given.get(f"{kind}_attributes", given.get(f"{kind}Attributes")) or {}
        for kind in ("numeric", "categorical")
    )
    is_number = {name: value for name, value in numbers.items() if type(value) in (int, float)}
    as_words = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in words.items()
        if value is not None
    }
    return {**as_words, **is_number}


def _variation(flag: Json, unit: str, attributes: Mapping[str, Json]) -> Json:
    """The value that a flag gives to a unit; None where no allocation is for it."""
    if flag is None or not flag["enabled"]:
        return None
    for allocation in flag["allocations"]:
        if "startAt" in allocation or "endAt" in allocation:
            raise SettingError("allocations for a time are not the runner's")
        rules = allocation.get("rules") or [{"conditions": []}]
        if any(all(_is_met(one, attributes) for one in rule["conditions"]) for rule in rules):
            key = _split(allocation["splits"], flag["totalShards"], unit)
            if key is not None:
                return flag["variations"][key]["value"]
    return None


def _is_met(condition: Json, attributes: Mapping[str, Json]) -> bool:
    value, asked = attributes.get(condition["attribute"]), condition["value"]
    words = value if isinstance(value, str) else json.dumps(value)
    if condition["operator"] == "ONE_OF":
        return value is not None and words in asked
    if condition["operator"] == "NOT_ONE_OF":
        return value is not None and words not in asked
    if condition["operator"] == "MATCHES":
        return value is not None and re.search(asked, words) is not None
    raise SettingError(f"rules by {condition['operator']} are not the runner's")


def _split(splits: Sequence[Json], shards: int, unit: str) -> str | None:
    """The variation that the shards of a unit give, by the weights document of the splits."""
    if any(not one["shards"] for one in splits):
        return str(next(one["variationKey"] for one in splits if not one["shards"]))
    *traffic, _ = splits[0]["shards"]
    if any(one["shards"][:-1] != traffic for one in splits):
        raise SettingError("splits that differ in their traffic are no one document")
    (salt,) = {one["shards"][-1]["salt"] for one in splits}
    by = Eppo(shards, tuple((one["salt"], _pairs(one)) for one in traffic))
    ranges = [_pairs(one["shards"][-1]) for one in splits]
    if any(len(several) > 1 for several in ranges):
        raise SettingError("a split with several ranges is no one arm of a document")
    shares = [(start / shards, end / shards) for ((start, end),) in ranges]
    arms = tuple(one["variationKey"] for one in splits)
    cuts = cuts_of_ranges(shares, shards)
    document = Weights("case", 1, salt, arms, cuts, (0.0,) * len(arms), assigner=by)
    position = int(assign_many(document, [unit]).positions[0])
    return None if position < 0 else str(arms[position])


def _pairs(shard: Json) -> tuple[tuple[int, int], ...]:
    return tuple((one["start"], one["end"]) for one in shard["ranges"])


# The form of what is exported


def exported() -> Bandit:
    """A bandit with numbers and words in its context."""
    agent: Agent = belman.Agent(["blue", "red"], context=["age", "country"], model="linear", seed=7)
    for age in range(20, 60):
        position = "fr" if age % 2 else "de"
        agent.tell(("blue", "red")[age % 3 > 0], age / 10, {"age": age, "country": position})
    return bandit(agent, "banner", gamma=2.0)


def differences(ours: Json, theirs: Json) -> list[str]:
    """Fields that theirs do not have as ours do, and those that ours lack beside fields that they
    have, where theirs always have them.
    """
    own = {path: kinds for path, kinds, _ in _fields("", [ours])}
    inside = {path.rpartition(".")[0] for path in own}
    result = {path: kinds for path, kinds, _ in _fields("", [theirs])}
    more = [path for path, kinds in own.items() if not kinds <= result.get(path, set())]
    less = [
        path
        for path, _, always in _fields("", [theirs])
        if always and path not in own and path.rpartition(".")[0] in inside
    ]
    return sorted([*(f"more: {path}" for path in more), *(f"less: {path}" for path in less)])


def _fields(path: str, several: Sequence[Json]) -> Iterator[tuple[str, set[str], bool]]:
    """The fields of objects of one kind, the kinds of their values, and whether all have it."""
    for name in dict.fromkeys(name for one in several for name in one):
        result = [one[name] for one in several if name in one]
        kinds = {"number" if type(one) in (int, float) else type(one).__name__ for one in result}
        yield f"{path}.{name}", kinds, len(result) == len(several)
        inner = [value for one in result for value in one.values()] if name in _MAPS else result
        flat = [item for one in inner for item in (one if isinstance(one, list) else [one])]
        objects = [one for one in flat if isinstance(one, dict)]
        if objects:
            yield from _fields(f"{path}.{name}", objects)
