"""Run tutorials as a reader would, block after block, and draw their pictures.

    python tools/tutorials.py              # every picture, into docs/images/
    python tools/tutorials.py ab-test      # those of one page

A page is run in a folder of its own: Python as in a session, lines that begin with `belman` as in a
shell. A block of `text` after a block of `sh` is what was printed. A picture is what the name
`picture` holds where the page shows it.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
_STEP = re.compile(
    r"^```(?P<language>\w*)\n(?P<block>.*?)^```$|^!\[[^\]]*\]\((?P<image>[^)]*)\)$", re.M | re.S
)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
#: Commands that go on until they are stopped.
_SERVERS = ("serve", "demo", "dashboard")


def pages() -> list[Path]:
    """Every tutorial."""
    return sorted(path for path in (DOCS / "tutorials").glob("*.md") if path.name != "index.md")


def play(page: Path, images: Path | None = None) -> list[str]:
    """What is wrong with a page, run in the current folder; its pictures are drawn into `images`.

    The words of a fault are those of doctest, or the output of the command that failed.
    """
    session: dict[str, Any] = {"__name__": "__main__"}
    faults: list[str] = []
    printed: str | None = None
    text = page.read_text(encoding="utf-8")
    for step in _STEP.finditer(text):
        line = text[: step.start()].count("\n") + 1
        language, block, image = step["language"], step["block"], step["image"]
        if image is not None:
            faults += _drawn(page, image, session, images)
        elif language == "python":
            faults += _run(page, block, line, session)
        elif language == "text" and printed is not None and block.split() != printed.split():
            faults.append(f"{page.name}:{line}: this was printed:\n{printed}")
        printed = None
        if language == "sh":
            printed, code = _shell(block)
            faults += [f"{page.name}:{line}: {printed}"] if code else []
    return faults


def _run(page: Path, block: str, line: int, session: dict[str, Any]) -> list[str]:
    words: list[str] = []
    test = doctest.DocTestParser().get_doctest(block, session, page.name, str(page), line)
    test.globs = session  # not the copy that doctest makes
    doctest.DocTestRunner(optionflags=_FLAGS).run(test, out=words.append, clear_globs=False)
    return ["".join(words)] if words else []


def _shell(block: str) -> tuple[str, int]:
    """What the commands of a block print, and the exit code of the last one that failed."""
    testing = importlib.import_module("typer.testing")
    app = importlib.import_module("belman.cli").app
    printed, code = "", 0
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["belman"] and words[1] not in _SERVERS:
            done = testing.CliRunner().invoke(app, words[1:])
            printed, code = printed + done.output, code or done.exit_code
    return printed, code


def _drawn(page: Path, image: str, session: dict[str, Any], images: Path | None) -> list[str]:
    picture = session.pop("picture", None)
    if picture is None:
        return [f"{page.name}: nothing drew {image}"]
    figure = getattr(picture, "figure", picture)
    if images is not None:
        figure.savefig(images / Path(image).name, dpi=150)
    importlib.import_module("matplotlib.pyplot").close(figure)
    return []


@contextlib.contextmanager
def elsewhere() -> Iterator[Path]:
    """A folder of its own, as the current one."""
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def main(names: list[str]) -> None:
    """Draw the pictures of the pages of these names, or of all."""
    importlib.import_module("matplotlib").use("agg")
    for page in pages():
        if not names or page.stem in names:
            with elsewhere():
                faults = play(page, DOCS / "images")
            if faults:
                sys.exit("\n".join(faults))
            print(f"{page.stem}: its code runs, its pictures are drawn")


if __name__ == "__main__":
    main(sys.argv[1:])
