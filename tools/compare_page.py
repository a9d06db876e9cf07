"""docs/compare.md from docs/compare.json: where others are better first, then everything."""

from __future__ import annotations

from typing import Any

from compare_better import ABOUT, OURS, best, better, features, interval, players_of


def _table(head: list[str], rows: list[list[Any]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [*("| " + " | ".join(map(str, cells)) + " |" for cells in lines), ""]


def _rounds(data: dict[str, Any]) -> str:
    """How often speeds were measured, and how much longer an ask and its tell took at most."""
    pairs = [
        values for about in data["speed"]["libraries"].values() for values in about["pair"].values()
    ]
    longer = max(max(values) / min(values) for values in pairs) - 1.0
    if len(pairs[0]) == 1:
        return "in one round"
    counts = f"in {len(pairs[0])} rounds; the best round counts"
    return f"{counts}, the worst took up to {longer:.0%} longer"


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
    return [f"{told}. {ABOUT['notes']['size']}", "", *_table(head, rows)]


def _speeds(data: dict[str, Any]) -> list[str]:
    pairs, rates = best(data, "pair"), best(data, "simulated")
    rows = [
        [
            f"{library}, {player}",
            f"{value:,.1f}",
            f"{1e6 / value:,.0f}",
            f"{rate:,}" if rate else "–",
        ]
        for library, players in pairs.items()
        for player, value in players.items()
        for rate in [rates[library].get(player)]
    ]
    head = ["", "ask + tell, µs", "turns per CPU-second", "of its own simulator"]
    return _table(head, rows)


def _decisions(data: dict[str, Any]) -> list[str]:
    players, turns = players_of(data), data["libraries"][OURS]["turns"]
    letters = {problem: chr(ord("A") + position) for position, problem in enumerate(turns)}
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


def _read() -> list[str]:
    """What libraries offer that are not measured."""
    rows = ABOUT["read_features"]
    head = [f"{name} {version}" for name, version in ABOUT["read"].items()]
    return _table(["", *head], [[what, *row] for what, row in rows.items()])


def markdown(data: dict[str, Any]) -> str:
    """The page."""
    lines = [
        "# belman beside other libraries",
        "",
        "`make compare` measures and draws this page. Each library has an environment of its own "
        "and runs through its public interface as its documentation does it "
        "(how: `tools/peers/`). [The data](compare.json).",
        "",
        "## Where others are better",
        "",
        *[f"- {sentence}" for sentence in better(data)],
        "",
        "## Decisions",
        "",
        "Regret over yes-or-no rewards with 95 % intervals; less is better. All meet the same "
        "luck, run by run, in up to 200 runs; slow players have fewer (in brackets if under 100), "
        "and the first section compares them in the runs that both played. "
        "contextualbandits is made for contexts, and here sees the same one in every turn; "
        "[the bake-off](bakeoff.md) plays tables with contexts.",
        "",
        *_decisions(data),
        "## Speed",
        "",
        "Yes-or-no rewards, 20 arms, CPU time of one core. All libraries were measured in one "
        f"sitting ({data['speed']['machine']}), {_rounds(data)}. belman's are of compiled code, "
        "which an agent goes over to by itself after some seconds. " + ABOUT["notes"]["speed"],
        "",
        *_speeds(data),
        "## Versions and size",
        "",
        *_versions(data),
        "## Features",
        "",
        "As we read their documentation and code at these versions. Please tell us what is wrong.",
        "",
        *_table(["", *ABOUT["features"]["names"]], [[k, *v] for k, v in features().items()]),
        "These were read and not run here, for they are made for other work:",
        "",
        *_read(),
    ]
    return "\n".join(lines)
