"""Where other libraries are better than belman, in sentences, from docs/compare.json."""

from __future__ import annotations

import math
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

from belman.policies import POLICIES

ABOUT = tomllib.loads((Path(__file__).parent / "compare.toml").read_text(encoding="utf-8"))
OURS = "belman"
#: Policies that neither hold others nor know the truth.
COUNT = sum(
    not kind.sees_truth and not any("Policy" in str(field.type) for field in fields(kind))
    for kind in POLICIES.values()
)


def interval(regrets: list[float]) -> tuple[float, float]:
    """The mean, and half of Student's 95 % interval."""
    from scipy.special import stdtrit

    count, mean = len(regrets), sum(regrets) / len(regrets)
    spread = math.sqrt(sum((each - mean) ** 2 for each in regrets) / (count - 1))
    return mean, float(stdtrit(count - 1, 0.975)) * spread / math.sqrt(count)


def features() -> dict[str, list[str]]:
    """What each library offers, belman first, by feature."""
    return {
        key: [str(COUNT) if offer == "counted" else offer for offer in row]
        for key, row in ABOUT["features"].items()
        if key != "names"
    }


def players_of(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Regrets by problem of every player, named with its library."""
    return {
        f"{library}, {player}": regrets
        for library, about in data["libraries"].items()
        for player, regrets in about.get("players", {}).items()
    }


def best(data: dict[str, Any], what: str) -> dict[str, dict[str, float]]:
    """The best of all rounds, by library and player: the least µs, or the most turns."""
    choose = max if what == "simulated" else min
    return {
        name: {player: choose(values) for player, values in about[what].items()}
        for name, about in data["speed"]["libraries"].items()
    }


def _offered_elsewhere() -> list[str]:
    names, result = ABOUT["features"]["names"], []
    for feature, (ours, *offers) in features().items():
        if ours == "no":
            peers = zip(names[1:], offers, strict=True)
            who = [f"{n}" + ("" if o == "yes" else f": {o}") for n, o in peers if o != "no"]
            result.append(f"{feature[0].upper()}{feature[1:]}. {'; '.join(who)}.")
    return result


def _smaller(data: dict[str, Any]) -> list[str]:
    result, libraries = [], data["speed"]["libraries"]
    for what, words in (("megabytes", "MB to install"), ("cold", "CPU-seconds to a first ask")):
        values = {n: min(a[what]) if what == "cold" else a[what] for n, a in libraries.items()}
        less = [f"{name} {v:g}" for name, v in values.items() if v < values[OURS]]
        if less:
            result.append(f"Fewer {words} than belman's {values[OURS]:g}: {', '.join(less)}.")
    return result


def _quicker(data: dict[str, Any]) -> list[str]:
    """Peers that take less than belman's default, or than the same algorithm here."""
    result = []
    pairs = best(data, "pair")
    ours = pairs.pop(OURS)
    default = next(iter(ours))
    for own, limit in ours.items():
        quick = [
            f"{library}, {player} {value:g}"
            for library, players in pairs.items()
            for player, value in players.items()
            if value < limit and own in (player, default)
        ]
        if quick:
            told = f"Fewer µs for an ask and its tell than the {limit:g} of belman's {own}"
            result.append(f"{told}: {', '.join(quick)}.")
    rates = best(data, "simulated")
    for own, limit in rates.pop(OURS).items():
        quick = [f"{n} {each[own]:,}" for n, each in rates.items() if each.get(own, 0.0) > limit]
        if quick:
            told = f"More simulated turns of {own} a CPU-second than belman's {limit:,}"
            result.append(f"{told}: {', '.join(quick)}.")
    return result


def _losing_less(data: dict[str, Any]) -> list[str]:
    """Peers who lose less than belman's default in the runs that both played, by problem."""
    players, result = players_of(data), []
    default = next(iter(players))
    for problem, own in players[default].items():
        less = []
        for name, regrets in players.items():
            runs = min(len(own), len(regrets[problem]))
            pairs = zip(own[:runs], regrets[problem][:runs], strict=True)
            mean, half = interval([ours - theirs for ours, theirs in pairs])
            if mean > 0.0 and not name.startswith(OURS):
                less.append(f"{name}, by {mean:.1f} ± {half:.1f} in {runs} runs")
        if less:
            result.append(f"Less regret than {default} on “{problem}”: {'; '.join(less)}.")
    return result


def better(data: dict[str, Any]) -> list[str]:
    """Where a peer is better, in sentences."""
    read = [f"{what}. {who}." for what, who in ABOUT["better"].items()]
    return [*_losing_less(data), *_quicker(data), *_smaller(data), *_offered_elsewhere(), *read]
