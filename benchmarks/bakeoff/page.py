"""docs/bakeoff.md from docs/bakeoff.json: where others win first, then everything."""

from __future__ import annotations

from typing import Any

from benchmarks.bakeoff.judge import BEST_OF, CALLED, DEFAULT, ERRORS, LIMITS, Half, halves


def _table(head: list[str], rows: list[list[Any]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [*("| " + " | ".join(map(str, cells)) + " |" for cells in lines), ""]


def _listed(words: list[str]) -> str:
    return "; ".join(words) if words else "none"


def _others(half: Half) -> list[str]:
    """Where someone else's player is ahead of the default, and who comes closest to its mean."""
    rivals = [player for player in half.ranked if not player.startswith("belman")]
    own = [player for player in half.ranked if player.startswith("belman") and player != DEFAULT]
    lines = []
    for called, players in (("another library", rivals), ("another policy of belman", own)):
        lost = []
        for table in half.tables:
            gaps = {player: half.ahead(player, DEFAULT, table) for player in players}
            ahead = {each: gap for each, gap in gaps.items() if gap[0] > ERRORS * gap[1]}
            if ahead:
                best = max(ahead, key=lambda each: ahead[each][0])
                gap, error = ahead[best]
                lost.append(f"{table} ({best} by {gap:.3f} ± {error:.3f})")
        count = f"{len(lost)} of {len(half.tables)} tables"
        told = f"the best of {len(players)} players on each table, so that some are so by chance"
        lines.append(
            f"- **{called[0].upper()}{called[1:]} is ahead on {count}** ({told}): {_listed(lost)}."
        )
    first = max(rivals, key=lambda each: half.overall(each)[0])
    gap = half.overall(DEFAULT)[0] - half.overall(first)[0]
    lines.append(
        f"- The best mean of another library is that of {first}, {half.overall(first)[0]:.3f}; the "
        f"default of belman has {half.overall(DEFAULT)[0]:.3f} ({gap:+.3f})."
    )
    picked = [player for player in half.passes if player.endswith(BEST_OF)]
    if picked:
        tuned = max(picked, key=lambda each: half.overall(each)[0])
        lines.append(
            f"- With the best of five learning rates, picked afterwards for every table, {tuned} "
            f"has {half.overall(tuned)[0]:.3f}."
        )
    limits = [half.limit(table) for table in half.tables]
    ours = [half.mean(DEFAULT, table) for table in half.tables]
    gaps = sorted(zip(limits, ours, half.tables, strict=True), key=lambda each: each[1] - each[0])
    widest = [f"{table} {ours:.2f} of {limit:.2f}" for limit, ours, table in gaps[:4]]
    lines.append(
        f"- Learners that see the right class of every row reach {sum(limits) / len(limits):.3f} "
        f"(the better of two on each table); the default is furthest from them on "
        f"{_listed(widest)}."
    )
    quicker = [
        f"{player} ({half.microseconds(player):.0f} µs)"
        for player in sorted(rivals, key=half.microseconds)
        if half.microseconds(player) < half.microseconds(DEFAULT)
    ]
    lines.append(
        f"- Quicker a decision than the default ({half.microseconds(DEFAULT):.0f} µs, the median "
        f"table): {_listed(quicker)}."
    )
    return [*lines, ""]


def _overall(half: Half) -> list[str]:
    """Every player: means, ranks, and the default beside it."""
    rows = []
    order = sorted(half.passes, key=lambda each: -half.overall(each)[0])
    for player in order:
        mean, error = half.overall(player)
        against = "–"
        if player != DEFAULT:
            against = " / ".join(map(str, half.verdicts(DEFAULT, player)))
        rank = half.ranks.get(player)
        rows.append(
            [
                f"**{player}**" if player == DEFAULT else player,
                f"{mean:.3f} ± {error:.3f}",
                f"{rank:.1f}" if rank else "–",
                against,
                f"{half.microseconds(player):,.0f}",
                half.seeds(player),
            ]
        )
    head = ["", "mean reward", "mean rank", "default ahead / level / behind", "µs", "seeds"]
    return _table(head, rows)


def _by_table(half: Half, sizes: dict[str, Any]) -> list[str]:
    """Of each table the default, the best of every library, and the limits."""
    groups: dict[str, list[str]] = {}
    for player in half.ranked:
        library = player.split(",")[0]
        if player != DEFAULT:
            groups.setdefault("belman, others" if library == "belman" else library, []).append(
                player
            )
    heads = {
        group: max(players, key=lambda each: half.overall(each)[0])
        for group, players in groups.items()
    }
    limits = [player for player in half.passes if player.startswith(CALLED[LIMITS])]
    own = heads.pop("belman, others", DEFAULT)
    shown = [*dict.fromkeys((DEFAULT, own)), *heads.values(), *limits]
    rows = []
    for table in half.tables:
        best = max(shown[: -len(limits)], key=lambda each: half.mean(each, table))
        cells = []
        for player in shown:
            numbers = f"{half.mean(player, table):.3f} ± {half.error(player, table):.3f}"
            cell = numbers.replace(" ", "\N{NO-BREAK SPACE}")
            cells.append(f"**{cell}**" if player == best else cell)
        rows.append([table, *sizes.get(table, ["–"] * 3), *cells])
    return _table(["", "rows", "arms", "columns", *shown], rows)


def markdown(data: dict[str, Any]) -> str:
    """The page."""
    development, report = halves(data)
    failed = [
        f"{CALLED.get(name, name)} {about['failed']}"
        for name, about in data["libraries"].items()
        if "failed" in about
    ]
    rows = f"{data['rows']:,}"
    lines = [
        "# The contextual bake-off",
        "",
        "`make bakeoff` plays and draws this page (how: `benchmarks/bakeoff/`; "
        "[the data](bakeoff.json)). Tables for classification are bandits here: a row is a "
        "context, a class is an arm, 1 is earned by the right one and nothing is said of the "
        f"others. The tables are all {len(development.tables) + len(report.tables)} of the wheel "
        f"`{data['tables']}` that are not resampled, read from there; it has left out rows with "
        f"missing values. A pass is every row once, {rows} at most, in an order that a seed draws; "
        "all players meet the same orders. Means are over a pass, its first rows included; ± is a "
        f"standard error over seeds, and players are level within {ERRORS:.0f} standard errors of "
        "their paired difference.",
        "",
        "In alphabetical order every second table is for reporting; the others are those on which "
        "anything of belman may be settled. " + _played(report, data),
        *(["", data["note"]] if "note" in data else []),
        "",
        "## Where others win",
        "",
        *_others(report),
        "## The report tables",
        "",
        "Ranks are among players that one could use as they are: learners that see all classes, "
        "and rates that were picked afterwards, have none.",
        "",
        *_overall(report),
        "## Table by table",
        "",
        "The default, the player with the best mean of every library, and those who see all "
        "classes; the best of those who do not is bold.",
        "",
        *_by_table(report, data.get("sizes", {})),
        "## The development tables",
        "",
        *_overall(development),
        "## How each plays",
        "",
        *_how(),
        f"Not installed or not run: {_listed(failed)}.",
        "",
    ]
    return "\n".join(lines)


def _played(half: Half, data: dict[str, Any]) -> str:
    """How much was played, where."""
    fewest = min(half.seeds(player) for player in half.passes)
    most = max(half.seeds(player) for player in half.passes)
    seeds = f"{most} seeds" if fewest == most else f"{fewest} to {most} seeds a player, by its cost"
    return (
        f"This run: {seeds}, {data['machine']}, CPU time on one thread. A larger one: "
        "`make bakeoff ROWS=5000 SEEDS=20 SECONDS=3600`."
    )


def _how() -> list[str]:
    return [
        "- **belman**: `Agent(arms, context=columns)` and nothing else, numbers as they are and "
        'categories as words; with `model="linear"`, and with its LinUCB (width 1) and LinTS.',
        "- **VW**: its own simulation from labels (`--cbify`), costs −1 and 0, which served it "
        "best in the published bake-off and on the development tables; `squarecb` and optimistic "
        "`regcb` know the range of costs, `cover` is 16 policies with ψ 0.1 and no uniform part, "
        "ε is 0.05; numbers as `name:value`, categories as `name=level`. *Pairs* has all products "
        "of two columns. Rates: 0.5, the default, and 0.02, 0.1, 2.5, 12.5.",
        "- **contextualbandits**: linear policies learn row by row; around logistic regression "
        "they are fitted anew after 50 rows and then whenever they are a fifth more, around "
        "stochastic gradients they learn every 50 rows.",
        "- **MABWiser**: fitted to a row of every arm, then row by row.",
        "- **river**: disjoint LinUCB behind its own scaler and encoder.",
        "- **Sees all classes**: scikit-learn's logistic regression and forest of 100 trees, "
        "fitted anew after 20 rows and then whenever they are half as many again: the limit of "
        "learning by the class, and no player.",
        "- contextualbandits, MABWiser and those who see all classes get numbers standardised by "
        "the whole pass, which nobody could know at the first row, and categories as a column a "
        "level.",
        "",
    ]
