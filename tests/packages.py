"""Build the sdist and the wheel: `make packages`, and what the tests of packaging install.

python -m tests.packages dist
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
_MADE = ("build", "dist", "report", "figures", "belman-run", "client")  # beside the sources
_BUILD = "import sys, setuptools.build_meta as b; getattr(b, 'build_' + sys.argv[1])(sys.argv[2])"


def copied(folder: Path) -> Path:
    """The sources alone, where building leaves nothing behind in the checkout."""

    def left_out(folder: str, names: list[str]) -> list[str]:
        top = Path(folder) == ROOT
        caches = ("__pycache__", "node_modules")
        own = [name for name in names if name in caches or name.endswith(".egg-info")]
        return own + [name for name in names if top and (name in _MADE or name.startswith("."))]

    return Path(shutil.copytree(ROOT, folder / "sources", ignore=left_out))


def build(kind: str, sources: Path, folder: Path) -> Path:
    """Build an 'sdist' or a 'wheel' of the sources by the backend, which has to be installed."""
    folder.mkdir(parents=True, exist_ok=True)
    before = set(folder.iterdir())
    command = [sys.executable, "-c", _BUILD, kind, str(folder.resolve())]
    done = subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the {kind} could not be built:\n{done.stdout}\n{done.stderr}")
    (made,) = set(folder.iterdir()) - before
    return made


def main(target: Path) -> None:
    """Both, and where they are."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        sources = copied(Path(folder))
        for kind in ("sdist", "wheel"):
            made = build(kind, sources, Path(folder) / kind)
            target.mkdir(parents=True, exist_ok=True)
            print(shutil.copy2(made, target / made.name))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
