"""Tables that others published, played again: docs/published.json, and docs/published.md from it.

    python tools/published.py [TABLE …] [--draw]

What is kept of a table has the digest of belman's sources and of the file that plays it; it is
played again only if one of them changed, or if it is named. `--draw` plays nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from published_tables import PLAYS, Rows

from belman.engine.cache import source_digest
from belman.files import write_atomically
from belman.version import __version__

ROOT = Path(__file__).parents[1]
KEPT, PAGE = ROOT / "docs" / "published.json", ROOT / "docs" / "published.md"


@dataclass(frozen=True)
class Published:
    """A table: what the page says of it, and the numbers that were published."""

    title: str
    source: str
    differs: str
    theirs: dict[str, dict[str, float]]
    rivals: list[str]
    better: str = "less"  # or "more"


TOLD = tomllib.loads((Path(__file__).parent / "published.toml").read_text(encoding="utf-8"))
TABLES = {name: Published(**told) for name, told in TOLD.items()}


def digest() -> str:
    """Of what is played, and of what plays it."""
    own = (Path(__file__).parent / "published_tables.py").read_bytes()
    return hashlib.sha256(source_digest().encode() + own).hexdigest()[:16]


def played(name: str, kept: dict[str, Any], anew: bool) -> dict[str, Any]:
    """The numbers of a table, as played before unless something has changed since."""
    now = digest()
    if not anew and kept.get("digest") == now:
        print(f"== {name}: as played before", flush=True)
        return kept
    print(f"== {name}", flush=True)
    start = time.process_time()
    rows = PLAYS[name]()
    seconds = round(time.process_time() - start)
    return {"digest": now, "version": __version__, "cpu_seconds": seconds, "rows": rows}


def behind(table: Published, rows: Rows) -> list[str]:
    """Columns in which no player of ours is level with the best of the rivals, in words."""
    result = []
    sign = 1.0 if table.better == "less" else -1.0
    columns = {column for rival in table.rivals for column in table.theirs[rival]}
    for column in (one for one in _columns(table, rows) if one in columns):
        theirs = min(sign * table.theirs[rival][column] for rival in table.rivals)
        ours = {
            name: sign * row[column][0]
            for name, row in rows.items()
            if column in row and "told every" not in name
        }
        best = min(ours, key=lambda name: ours[name])
        if ours[best] > theirs:
            own = min((one for one in ours if one.startswith("BelMan")), key=ours.get, default=best)
            players = dict.fromkeys((best, own))
            shown = ", ".join(f"{_number(abs(ours[name]))} ({name})" for name in players)
            result.append(f"{column}: {shown}, published {_number(abs(theirs))}")
    return result


def _columns(table: Published, rows: Rows) -> list[str]:
    every = [*table.theirs.values(), *rows.values()]
    return list(dict.fromkeys(column for row in every for column in row))


def _number(value: float) -> str:
    if value < 1.0:
        return f"{value:.3f}"
    return (
        f"{value:.2f}" if value < 10.0 else f"{value:.1f}" if value < 1_000.0 else f"{value:,.0f}"
    )


def _shown(cell: Any) -> str:
    if cell is None:
        return "–"
    value, error = cell
    return _number(value) if error is None else f"{_number(value)} ± {_number(error)}"


def section(table: Published, rows: Rows) -> list[str]:
    """A table of the page, in Markdown."""
    columns = _columns(table, rows)
    lines = [f"## {table.title}", "", table.source, "", "| | " + " | ".join(columns) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    for name, row in table.theirs.items():
        cells = (_shown((row[one], None)) if one in row else "–" for one in columns)
        lines.append(f"| *{name}* | " + " | ".join(cells) + " |")
    for name, cells_of in rows.items():
        cells = (_shown(cells_of.get(column)) for column in columns)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return [*lines, "", table.differs, ""]


def markdown(kept: dict[str, Any]) -> str:
    """The page: where others are ahead first, then every table."""
    lines = [
        "# Published tables",
        "",
        "Problems that others published with numbers, played by `make tables`, beside those "
        "numbers. ± is a standard error. Published numbers are from this project's notes of the "
        "papers, which were not read again for this page.",
        "",
        "## Where we are behind",
        "",
    ]
    worse = []
    for name, table in TABLES.items():
        if name in kept:
            worse += [f"- {table.title}. {words}" for words in behind(table, kept[name]["rows"])]
    lines += [*(worse or ["Nowhere in these tables."]), ""]
    missing = [table.title for name, table in TABLES.items() if name not in kept]
    if missing:
        lines += [f"Not played yet: {', '.join(missing)}.", ""]
    for name, table in TABLES.items():
        if name in kept:
            lines += section(table, kept[name]["rows"])
    lines += [
        "What the paper of BelMan itself shows is played again by `make reproduce`: "
        "[the claims](guide/paper.md).",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Play what has to be played, keep it, and draw the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}")
    parser.add_argument("--draw", action="store_true", help="play nothing")
    given = parser.parse_args()
    unknown = [name for name in given.tables if name not in TABLES]
    if unknown:
        parser.error(f"there is no table {unknown[0]!r}: there are {', '.join(TABLES)}")
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    for name in () if given.draw else given.tables or TABLES:
        kept[name] = played(name, kept.get(name, {}), name in given.tables)
        write_atomically(KEPT, json.dumps(kept, indent=1) + "\n")
    write_atomically(PAGE, markdown(kept))


if __name__ == "__main__":
    main()
