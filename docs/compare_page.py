"""docs/compare.md from docs/compare.json: where others are better first, then everything."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

from belman.policies import POLICIES

ABOUT = tomllib.loads((Path(__file__).parent / "compare.toml").read_text(encoding="utf-8"))
OURS = "belman"
#: What the program counts need not be written by hand.
COUNTED = {"policies without contexts": str(len(POLICIES))}


def interval(regrets: list[float]) -> tuple[float, float]:
    """The mean, and half of Student's 95 % interval."""
    from scipy.special import stdtrit

    count, mean = len(regrets), sum(regrets) / len(regrets)
    spread = math.sqrt(sum((each - mean) ** 2 for each in regrets) / (count - 1))
    return mean, float(stdtrit(count - 1, 0.975)) * spread / math.sqrt(count)


def _features() -> dict[str, list[str]]:
    """What each library offers, belman first, by feature."""
    rows = {key: list(value) for key, value in ABOUT["features"].items() if key != "names"}
    for key, value in COUNTED.items():
        rows[key][0] = value
    return rows


def _players(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Regrets by problem of every player, named with its library."""
    return {
        f"{library}, {player}": regrets
        for library, about in data["libraries"].items()
        for player, regrets in about.get("players", {}).items()
    }


def _best(data: dict[str, Any], what: str) -> dict[str, dict[str, float]]:
    """The best of all rounds, by library and player: the least µs, or the most turns."""
    choose = max if what == "simulated" else min
    return {
        name: {player: choose(values) for player, values in about[what].items()}
        for name, about in data["speed"]["libraries"].items()
    }


def _offered_elsewhere() -> list[str]:
    names, found = ABOUT["features"]["names"], []
    for feature, (ours, *offers) in _features().items():
        if ours == "no":
            peers = zip(names[1:], offers, strict=True)
            who = [f"{n}" + ("" if o == "yes" else f": {o}") for n, o in peers if o != "no"]
            found.append(f"{feature[0].upper()}{feature[1:]}. {'; '.join(who)}.")
    return found


def _smaller(data: dict[str, Any]) -> list[str]:
    found, libraries = [], data["speed"]["libraries"]
    for what, words in (("megabytes", "MB to install"), ("cold", "CPU-seconds to a first ask")):
        values = {n: min(a[what]) if what == "cold" else a[what] for n, a in libraries.items()}
        less = [f"{name} {v:g}" for name, v in values.items() if v < values[OURS]]
        if less:
            found.append(f"Fewer {words} than belman's {values[OURS]:g}: {', '.join(less)}.")
    return found


def _quicker(data: dict[str, Any]) -> list[str]:
    """Peers that take less than belman's default, or than the same algorithm here."""
    found = []
    pairs = _best(data, "pair")
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
            found.append(f"{told}: {', '.join(quick)}.")
    rates = _best(data, "simulated")
    for own, limit in rates.pop(OURS).items():
        quick = [f"{n} {each[own]:,}" for n, each in rates.items() if each.get(own, 0.0) > limit]
        if quick:
            told = f"More simulated turns of {own} a CPU-second than belman's {limit:,}"
            found.append(f"{told}: {', '.join(quick)}.")
    return found


def _losing_less(data: dict[str, Any]) -> list[str]:
    """Peers whose mean regret is below that of belman's default, problem by problem."""
    players, found = _players(data), []
    default = next(iter(players))
    for problem, own in players[default].items():
        ours = interval(own)
        less = [
            f"{name} {mean:.1f} ± {half:.1f}"
            for name, regrets in players.items()
            for mean, half in [interval(regrets[problem])]
            if mean < ours[0] and not name.startswith(OURS)
        ]
        if less:
            told = f"Less regret on “{problem}” than the {ours[0]:.1f} ± {ours[1]:.1f} of {default}"
            found.append(f"{told}: {', '.join(less)}.")
    return found


def better(data: dict[str, Any]) -> list[str]:
    """Where a peer is better, in sentences."""
    return [*_losing_less(data), *_quicker(data), *_smaller(data), *_offered_elsewhere()]


def _table(head: list[str], rows: list[list[Any]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [*("| " + " | ".join(map(str, cells)) + " |" for cells in lines), ""]


def _unlike(data: dict[str, Any]) -> float:
    """How much longer the slowest round of an ask and its tell took than the quickest, at most."""
    pairs = [
        values for about in data["speed"]["libraries"].values() for values in about["pair"].values()
    ]
    return max(max(values) / min(values) for values in pairs) - 1.0


def _versions(data: dict[str, Any]) -> list[str]:
    rows = []
    for name, about in data["libraries"].items():
        size = data["speed"]["libraries"].get(name)
        cells = ["–"] * 3
        if size:
            cells = [f"{min(size['cold']):.2f}", f"{size['megabytes']:.0f}", str(size["packages"])]
        rows.append([name, about.get("version", "–"), *cells])
    failed = [
        f"{name} {about['failed']}: `{about['words']}`"
        for name, about in data["libraries"].items()
        if "failed" in about
    ]
    told = "; ".join(failed) if failed else "All of them install and run"
    head = ["", "version", "first ask, CPU-seconds", "MB installed", "packages"]
    return [f"{told}.", "", *_table(head, rows)]


def _speeds(data: dict[str, Any]) -> list[str]:
    pairs, rates = _best(data, "pair"), _best(data, "simulated")
    rows = [
        [f"{library}, {player}", value, f"{1e6 / value:,.0f}", f"{rate:,}" if rate else "–"]
        for library, players in pairs.items()
        for player, value in players.items()
        for rate in [rates[library].get(player)]
    ]
    head = ["", "ask + tell, µs", "turns per CPU-second", "of its own simulator"]
    return _table(head, rows)


def _decisions(data: dict[str, Any]) -> list[str]:
    players, turns = _players(data), data["libraries"][OURS]["turns"]
    letters = {problem: chr(ord("A") + place) for place, problem in enumerate(turns)}
    rows = []
    for name, regrets in players.items():
        cells = []
        for problem in turns:
            mean, half = interval(regrets[problem])
            count = len(regrets[problem])
            cells.append(f"{mean:.1f} ± {half:.1f}" + (f" ({count})" if count < 100 else ""))
        rows.append([name, *cells])
    listed = [f"- {letters[each]}: {each}; {count:,} turns" for each, count in turns.items()]
    return [*listed, "", *_table(["", *letters.values()], rows)]


def markdown(data: dict[str, Any]) -> str:
    """The page."""
    lines = [
        "# belman beside other libraries",
        "",
        "`make compare` measures and draws this page. Each library has an environment of its own "
        "and runs through its public interface as its documentation does it "
        "(how: `docs/peers/`). [The data](compare.json).",
        "",
        "## Where others are better",
        "",
        *[f"- {sentence}" for sentence in better(data)],
        "",
        "## Decisions",
        "",
        "Regret over yes-or-no rewards with 95 % intervals; less is better. All meet the same "
        "luck, run by run, in up to 200 runs; slow players have fewer (in brackets if under 100). "
        "contextualbandits is made for contexts, and sees the same one in every turn.",
        "",
        *_decisions(data),
        "## Speed",
        "",
        "Yes-or-no rewards, 20 arms, CPU time of one core. All libraries were measured in one "
        f"sitting ({data['speed']['machine']}), in three rounds, of which the best counts; the "
        f"worst took up to {_unlike(data):.0%} longer. belman's are of compiled code, which an "
        "agent goes over to by itself after some seconds.",
        "",
        *_speeds(data),
        "## Versions and size",
        "",
        *_versions(data),
        "## Features",
        "",
        "As we read their documentation and code at these versions; an error here is a mistake.",
        "",
        *_table(["", *ABOUT["features"]["names"]], [[k, *v] for k, v in _features().items()]),
    ]
    return "\n".join(lines)
