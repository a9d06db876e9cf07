"""The oldest versions that pyproject.toml allows, one constraint a line: `make test-oldest`.

python -m tests.oldest > oldest.txt && pip install -c oldest.txt -e '.[dev]'
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_PROJECT = Path(__file__).parents[1] / "pyproject.toml"
#: Tools that judge the text of this project and never run with it: any version will do.
_TOOLS = ("import-linter", "mypy", "ruff")
_FLOOR = re.compile(r"([A-Za-z0-9_.-]+)(\[[^]]*\])?>=([0-9.]+)(\s*;.*)?")


def floors(project: Mapping[str, Any]) -> Iterator[str]:
    """A constraint `name==floor` for every requirement of a project that runs in its tests.

    >>> list(floors({"dependencies": ["numpy>=2.2", "psycopg[binary]>=3.2; os_name == 'posix'"]}))
    ['numpy==2.2', "psycopg==3.2; os_name == 'posix'"]
    """
    extras = project.get("optional-dependencies", {})
    needed = [*project["dependencies"], *(line for name in extras for line in extras[name])]
    for line in needed:
        own = line.startswith(f"{project.get('name')}[")
        name = re.split(r"[\[>=;]", line)[0]
        if own or name in _TOOLS or line in extras.get("bench", ()):
            continue
        result = _FLOOR.fullmatch(line)
        if result is None:
            raise ValueError(f"{line!r} says no oldest version: write name>=version")
        yield f"{result[1]}=={result[3]}{result[4] or ''}"


if __name__ == "__main__":
    print("\n".join(floors(tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["project"])))
