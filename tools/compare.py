"""belman beside other libraries: measures docs/compare.json, and draws docs/compare.md from it.

    python tools/compare.py [--seconds 10] [--folder .venv/peers] [--workers 2]
                            [--rounds 3] [--speed | --draw]

Each library is installed from the package index into an environment of its own and runs through
tools/peers/peer_NAME.py. What is kept has the digest of what was measured, a version or belman's
own sources, and of what measures it; it is measured again only if one of these changed. Speeds are
compared, so they are measured of all libraries in one sitting, round after round, once any changed:
`--speed` measures them anew, and nothing else, for a machine that was busy. `--draw` measures
nothing.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from compare_better import ABOUT, OURS
from compare_page import markdown

from belman.files import write_atomically

ROOT = Path(__file__).parents[1]
DOCS, PEERS = ROOT / "docs", ROOT / "tools" / "peers"
KEPT = DOCS / "compare.json"
LIBRARIES: dict[str, str] = {OURS: str(ROOT), **ABOUT["peers"]}
_BIN = "Scripts" if os.name == "nt" else "bin"


def _module(name: str) -> str:
    return f"peer_{name.lower()}"


def contents(package: str) -> str:
    """What is installed: a version from the index, or the sources of a checkout by their digest."""
    if not Path(package).is_dir():
        return package
    digest = hashlib.sha256(Path(package, "pyproject.toml").read_bytes())
    for file in sorted(Path(package, "src").rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def digest(files: list[str], *settings: Any) -> str:
    """Of what measures (files of tools/peers) and of what is measured."""
    text = b"".join((PEERS / file).read_bytes() for file in files)
    return hashlib.sha256(text + repr(settings).encode()).hexdigest()[:16]


def python_of(folder: Path, name: str, package: str) -> Path:
    """The Python of a library's own environment; raises CalledProcessError if it cannot be."""
    python = folder / name / _BIN / "python"
    ready, wanted = folder / name / ".ready", contents(package)
    if not ready.exists() or ready.read_text(encoding="utf-8") != wanted:
        print(f"== installing {name}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder / name], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--no-compile"]
        packages = [f"{package}[lab]"] if Path(package).is_dir() else package.split()
        subprocess.run([*install, *packages], check=True, capture_output=True, text=True)
        ready.write_text(wanted, encoding="utf-8")
    return python


def _run(python: Path, *command: Any) -> str:
    """The last line that a process of a library's environment prints; some greet first."""
    words = [python, "-W", "ignore", *map(str, command)]
    done = subprocess.run(
        words, capture_output=True, text=True, cwd=PEERS, check=True, timeout=1_800
    )
    return (done.stdout.splitlines() or [""])[-1]


def _failed(what: str, error: subprocess.CalledProcessError) -> dict[str, str]:
    """In the library's own words, without the places of this machine."""
    told = (error.stderr or error.stdout or str(error)).strip().splitlines()
    return {"failed": what, "words": re.sub(r" \(/.*\)", "", told[-1])}


def decided(name: str, package: str, folder: Path, seconds: float, kept: Any) -> Any:
    """The regrets of a library's players, played unless nothing has changed since."""
    try:
        python = python_of(folder, name, package)
    except subprocess.CalledProcessError as error:
        return _failed("does not install", error)
    files = ["decisions.py", f"{_module(name)}.py"]
    fresh = {"digest": digest(files, seconds, contents(package))}
    if kept.get("digest") == fresh["digest"]:
        print(f"== {name}: as played before", flush=True)
        return kept
    print(f"== {name} plays", flush=True)
    project = OURS if name == OURS else re.split("[=< ]", package)[0]
    code = f"from importlib import metadata; print(metadata.version({project!r}))"
    fresh["version"] = _run(python, "-c", code)
    try:
        return fresh | json.loads(_run(python, "decisions.py", _module(name), seconds))
    except subprocess.CalledProcessError as error:
        return fresh | _failed("does not run", error)


def _cold(python: Path, name: str) -> float:
    """CPU-seconds of a process that imports, makes an agent and asks once."""
    before = os.times()
    _run(python, "-c", f"import {_module(name)} as p; next(iter(p.PLAYERS.values()))(3, 1).ask()")
    after = os.times()
    spent = after.children_user + after.children_system
    return round(spent - before.children_user - before.children_system, 2)


def sitting(names: list[str], folder: Path, rounds: int) -> dict[str, Any]:
    """Speeds and sizes of all libraries, round after round; of each the value of every round."""
    result: dict[str, Any] = {name: {"cold": [], "pair": {}, "simulated": {}} for name in names}
    for each in range(rounds):
        for name in names:
            print(f"== round {each + 1}: how quick is {name}?", flush=True)
            python, about = python_of(folder, name, LIBRARIES[name]), result[name]
            told = json.loads(_run(python, "speed.py", _module(name)))
            about["megabytes"], about["packages"] = told["megabytes"], told["packages"]
            about["cold"].append(_cold(python, name))
            for what in ("pair", "simulated"):
                for player, value in told[what].items():
                    about[what].setdefault(player, []).append(value)
    return result


def measure(data: dict[str, Any], options: argparse.Namespace) -> None:
    """Bring the data up to date, and keep it after every step."""
    folder, known = options.folder.resolve(), data.setdefault("libraries", {})

    def played(name: str) -> Any:
        package, kept = LIBRARIES[name], known.get(name, {})
        return decided(name, package, folder, options.seconds, kept)

    if not options.speed:
        with ThreadPoolExecutor(options.workers) as pool:
            for name, result in zip(LIBRARIES, pool.map(played, LIBRARIES), strict=True):
                known[name] = result
                write_atomically(KEPT, json.dumps(data, ensure_ascii=False))
        data["libraries"] = {name: known[name] for name in LIBRARIES}
    names = [name for name, about in data["libraries"].items() if "players" in about]
    files = ["decisions.py", "speed.py", *(f"{_module(name)}.py" for name in names)]
    fresh = digest(files, [contents(LIBRARIES[name]) for name in names])
    if options.speed or data.get("speed", {}).get("digest") != fresh:
        machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        data["speed"] = {
            "digest": fresh,
            "machine": machine,
            "libraries": sitting(names, folder, options.rounds),
        }
        write_atomically(KEPT, json.dumps(data, ensure_ascii=False))


def main() -> None:
    """Measure what has changed, and draw."""
    parser = argparse.ArgumentParser(description="belman beside other libraries.")
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU per player and problem")
    parser.add_argument("--folder", type=Path, default=Path(".venv") / "peers")
    parser.add_argument("--workers", type=int, default=2, help="libraries that play at once")
    parser.add_argument(
        "--rounds", type=int, default=3, help="of measuring speeds; the best counts"
    )
    parser.add_argument("--speed", action="store_true", help="measure speeds anew, nothing else")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    options = parser.parse_args()
    data = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    if not options.draw:
        measure(data, options)
    write_atomically(DOCS / "compare.md", markdown(data))


if __name__ == "__main__":
    main()
