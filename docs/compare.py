"""belman beside other libraries: docs/compare.md, drawn from docs/compare.json.

    python docs/compare.py [--seconds 6] [--folder .venv/peers] [--draw]

Each library is installed from the package index into an environment of its own and runs through
docs/peers/peer_NAME.py. What was measured is kept with the digest of what was measured, a version
or belman's own sources, and of what measures it; it is measured again only if one of these changed.
`--draw` measures nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import platform
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from belman.files import write_atomically

DOCS = Path(__file__).parent
ABOUT = tomllib.loads((DOCS / "compare.toml").read_text(encoding="utf-8"))
KEPT = DOCS / "compare.json"
OURS = "belman"
_BIN = "Scripts" if os.name == "nt" else "bin"


def _contents(package: str) -> str:
    """What is installed: a version from the index, or the sources of a checkout by their digest."""
    if not Path(package).is_dir():
        return package
    digest = hashlib.sha256(Path(package, "pyproject.toml").read_bytes())
    for file in sorted(Path(package, "src").rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _environment(folder: Path, name: str, package: str) -> Path:
    """The Python of a library's own environment; raises CalledProcessError if it cannot be."""
    python = folder / name / _BIN / "python"
    ready = folder / name / ".ready"
    contents = _contents(package)
    if not ready.exists() or ready.read_text(encoding="utf-8") != contents:
        print(f"== installing {package}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder / name], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--no-compile"]
        wanted = [package] if Path(package).is_dir() else package.split()
        subprocess.run([*install, *wanted], check=True, capture_output=True, text=True)
        ready.write_text(contents, encoding="utf-8")
    return python


def _digest(name: str, seconds: float, package: str) -> str:
    files = [DOCS / "peers" / "measure.py", DOCS / "peers" / f"peer_{name}.py"]
    text = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(text + f"{seconds} {_contents(package)}".encode()).hexdigest()[:16]


def _version(python: Path, package: str) -> str:
    code = f"from importlib import metadata; print(metadata.version({package!r}))"
    done = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _cold(python: Path, name: str) -> float:
    """Seconds from nothing to the first ask, the best of three processes."""
    code = f"import peer_{name} as p; next(iter(p.PLAYERS.values()))(3, 1).ask()"
    times = []
    for _ in range(3):
        started = time.perf_counter()
        subprocess.run(
            [python, "-W", "ignore", "-c", code], check=True, cwd=DOCS / "peers", timeout=600
        )
        times.append(time.perf_counter() - started)
    return min(times)


def measured(name: str, package: str, folder: Path, seconds: float, kept: Any) -> Any:
    """What is known of a library, measured unless nothing has changed since."""
    try:
        python = _environment(folder, name, package)
        version = _version(python, OURS if name == OURS else package.split("==")[0])
    except subprocess.CalledProcessError as error:
        told = (error.stderr or error.stdout or "").strip().splitlines()
        return {"failed": "does not install", "words": told[-1] if told else str(error)}
    digest = _digest(name, seconds, package)
    if kept.get("digest") == digest:
        print(f"== {name} {version}: as measured before", flush=True)
        return kept
    print(f"== measuring {name} {version}", flush=True)
    command = [python, "-W", "ignore", "measure.py", name, str(seconds)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=DOCS / "peers", check=False, timeout=1_800
    )
    if done.returncode != 0:
        words = re.sub(r" \(/.*\)", "", done.stderr.strip().splitlines()[-1])
        return {"failed": "does not run", "words": words, "version": version, "digest": digest}
    found = json.loads(done.stdout.splitlines()[-1])
    return found | {"cold": round(_cold(python, name), 2), "digest": digest}


def interval(regrets: list[float]) -> tuple[float, float]:
    """The mean, and half of Student's 95 % interval."""
    from scipy.special import stdtrit

    count, mean = len(regrets), sum(regrets) / len(regrets)
    spread = math.sqrt(sum((each - mean) ** 2 for each in regrets) / (count - 1))
    return mean, float(stdtrit(count - 1, 0.975)) * spread / math.sqrt(count)


def _line(cells: list[Any]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _table(head: list[str], rows: list[list[Any]]) -> list[str]:
    return [_line(head), "|" + "---|" * len(head), *map(_line, rows), ""]


def _players(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{library}, {player}": found
        for library, about in data["libraries"].items()
        for player, found in about.get("players", {}).items()
    }


def better(data: dict[str, Any]) -> list[str]:
    """Where a peer is better, in sentences."""
    found, libraries = [], data["libraries"]
    names, features = ABOUT["features"]["names"], ABOUT["features"]
    for feature, offered in features.items():
        if feature != "names" and (offered[0] == "no" or offered[0].endswith(" alone")):
            peers = zip(names[1:], offered[1:], strict=True)
            who = ", ".join(f"{n} ({o})" for n, o in peers if o != "no")
            found.append(f"{feature[0].upper()}{feature[1:]}: {who}; belman: {offered[0]}.")
    for what, words in (("megabytes", "MB to install"), ("cold", "s to the first ask")):
        ours = libraries[OURS].get(what)
        less = [
            f"{name} {about[what]:g}"
            for name, about in libraries.items()
            if about.get(what, math.inf) < (ours or 0.0)
        ]
        if less:
            found.append(f"Fewer {words} than belman's {ours:g}: {', '.join(less)}.")
    players = _players(data)
    own = {name: each for name, each in players.items() if name.startswith(OURS)}
    default = next(iter(own.values()))["pair"]
    quick = [f"{n} {e['pair']:g}" for n, e in players.items() if e["pair"] < default]
    quick = [words for words in quick if not words.startswith(OURS)]
    if quick:
        told = f"Fewer µs for an ask and its tell than the {default:g} of belman's default"
        found.append(f"{told}: {', '.join(quick)}.")
    for problem in next(iter(players.values()))["regret"]:
        ranked = sorted((interval(each["regret"][problem])[0], n) for n, each in players.items())
        if not ranked[0][1].startswith(OURS):
            best = next(each for each in ranked if each[1].startswith(OURS))
            found.append(
                f"Less regret on “{problem}”: {ranked[0][1]}, {ranked[0][0]:.1f}; the best of "
                f"belman's here, {best[1]}, {best[0]:.1f} (intervals below)."
            )
    return found


def markdown(data: dict[str, Any]) -> str:
    """The page."""
    libraries, players = data["libraries"], _players(data)
    known = {name: each for name, each in libraries.items() if "version" in each}
    failed = {name: each for name, each in libraries.items() if "failed" in each}
    lines = [
        "# belman beside other libraries",
        "",
        f"`make compare` draws this page. Measured on {data['machine']}, each library in an "
        "environment of its own, through its public interface as its documentation does it "
        "(how: `docs/peers/`). [The data](compare.json).",
        "",
        "## Where others are better",
        "",
        *[f"- {sentence}" for sentence in better(data)],
        "",
        "## Versions",
        "",
        ", ".join(f"{name} {each['version']}" for name, each in known.items()) + ".",
        "",
        *[f"- {name} {each['failed']}: `{each['words']}`" for name, each in failed.items()],
        "",
        "## Features",
        "",
        "As we read their documentation and code at these versions; an error here is a mistake.",
        "",
        *_table(
            ["", *ABOUT["features"]["names"]],
            [[key, *value] for key, value in ABOUT["features"].items() if key != "names"],
        ),
        "## Speed and size",
        "",
        "Yes-or-no rewards, 20 arms; CPU time of one core. “Simulated” is the library's own "
        "simulator, where it has one. A first ask of belman is interpreted; the other numbers are "
        "of compiled code, which an agent goes over to by itself after some seconds.",
        "",
    ]
    rows = []
    for name, each in libraries.items():
        for player, found in each.get("players", {}).items():
            simulated = each.get("simulator", {}).get(player)
            rate = f"{simulated:,}" if simulated else "–"
            own = [each["cold"], each["megabytes"], each["packages"]]
            rows.append(
                [f"{name}, {player}", found["pair"], f"{1e6 / found['pair']:,.0f}", rate, *own]
            )
    head = ["", "ask + tell, µs", "turns per CPU-second", "simulated", "first ask, s"]
    lines += _table([*head, "MB installed", "packages"], rows)
    problems = list(next(iter(players.values()))["regret"])
    turns = data["turns"]
    lines += [
        "## Decisions",
        "",
        "Regret with 95 % intervals, less is better; the same luck for all, run by run. Slow "
        "players have fewer runs (in brackets where fewer than 100).",
        "",
    ]
    rows = []
    for problem in problems:
        row: list[Any] = [f"{problem} ({turns[problem]:,} turns)"]
        for each in players.values():
            mean, half = interval(each["regret"][problem])
            count = len(each["regret"][problem])
            row.append(f"{mean:.1f} ± {half:.1f}" + (f" ({count})" if count < 100 else ""))
        rows.append(row)
    return "\n".join([*lines, *_table(["", *players], rows)])


def main() -> None:
    """Measure what has changed, and draw."""
    parser = argparse.ArgumentParser(description="belman beside other libraries.")
    parser.add_argument("--seconds", type=float, default=6.0, help="of CPU per player and problem")
    parser.add_argument("--folder", type=Path, default=Path(".venv") / "peers")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    options = parser.parse_args()
    data = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {"libraries": {}}
    if not options.draw:
        sys.path.insert(0, str(DOCS / "peers"))
        from measure import PROBLEMS

        folder = options.folder.resolve()
        data["turns"] = {name: turns for name, (_, turns) in PROBLEMS.items()}
        machine = f"{platform.system()} {platform.machine()}"
        data["machine"] = f"{machine}, Python {platform.python_version()}"
        for name, package in {OURS: str(DOCS.parent), **ABOUT["peers"]}.items():
            kept = data["libraries"].get(name, {})
            data["libraries"][name] = measured(name, package, folder, options.seconds, kept)
            write_atomically(KEPT, json.dumps(data, ensure_ascii=False))
    write_atomically(DOCS / "compare.md", markdown(data))


if __name__ == "__main__":
    main()
