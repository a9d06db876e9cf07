"""Where compiled code is kept between processes: a small generated module per entry.

Numba's disk cache hits only for callees that are globals of a module, and goes stale when a callee
in another file changes. So an entry is a module of a few lines that writes the recipes of what it
is made of, named by a hash of its text and of the sources behind it: the modules in the recipes and
all that these import. An entry whose sources have changed is another entry, and the others stay.
"""

from __future__ import annotations

import atexit
import functools
import gc
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from belman.engine.kernels import recipe
from belman.files import is_own, write_atomically

_KEPT_DAYS = 60
_COMMENT = re.compile(r"#.*")
_IMPORT = re.compile(r"^\s*(?:from\s+(\S+)\s+import\s+(\([^)]*\)|.*)|import\s+(.*))", re.MULTILINE)
_HEADER = """from numba import carray
from numpy import bool_, float32, float64, int32, int64, uint32, uint64

from belman.engine.compiler import called, entered, pointer
from belman.engine.kernels import at
"""


class Generated:
    """The module of an entry: its function, and the things that this reads as globals."""

    def __init__(self, body: str, given: Mapping[str, Any]) -> None:
        self._body, self._given = body, given

    @functools.cached_property
    def path(self) -> Path | None:
        """The file of the module, written if it is not there; None where no other process could
        import what it reads, such as kernels of a notebook.

        A file that holds this text is never rewritten: Numba's index is bound to its time of
        change.
        """
        recipes = {name: recipe(thing) for name, thing in self._given.items()}
        known = {name: result for name, result in recipes.items() if result is not None}
        if len(known) < len(recipes):
            return None
        lines = [f"{name} = {one.expression}" for name, one in known.items()]
        text = "\n".join([_HEADER, *lines, "", self._body.format(kept=True), ""])
        digest = hashlib.sha256(text.encode() + _environment())
        for module in sorted(_closure(set().union(*(one.modules for one in known.values())))):
            digest.update(_source(module))
        path = cache_directory() / f"entry_{digest.hexdigest()[:24]}.py"
        if not _holds(path, text):
            for compiled in _compiled(path):
                compiled.unlink(missing_ok=True)
            write_atomically(path, text)
        return path

    @property
    def kept(self) -> bool:
        """Whether the code was compiled by a process before."""
        return self.path is not None and any(file.suffix == ".nbi" for file in _compiled(self.path))

    def load(self) -> Any:
        """The module, compiled, or loaded from the disk."""
        if self.path is not None:
            return load(self.path)
        namespace: dict[str, Any] = {"__name__": "belman_entry_of_this_process"}
        with _uncollected():
            exec(_HEADER, namespace)
            namespace.update(self._given)
            exec(self._body.format(kept=False), namespace)
        return SimpleNamespace(**namespace)


def _compiled(path: Path) -> list[Path]:
    """What was compiled of a generated module: machine code, its index, and byte code."""
    return list((path.parent / "__pycache__").glob(f"{path.stem}.*"))


def _holds(path: Path, text: str) -> bool:
    """Whether a file is the user's own and holds this text."""
    try:
        return is_own(path) and path.read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False


def load(path: Path) -> Any:
    """Import the generated module at a path; what others compiled of it is not run, but removed."""
    for compiled in _compiled(path):
        if not is_own(compiled):
            compiled.unlink(missing_ok=True)
    spec = importlib.util.spec_from_file_location(f"belman_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made  # Numba imports it by name when it unpickles cached code
    with _uncollected():
        spec.loader.exec_module(made)
    return made


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector from running: a compiler makes many objects and little garbage,
    and looking for it takes a fifth of the time to compile.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@functools.cache
def cache_directory() -> Path:
    """The directory of compiled code: `$BELMAN_CACHE` or the user's cache, else a temporary one
    that goes with the process.

    Compiled code is run, so a directory of another user is not used, and a warning says so; one's
    own is closed to the writing of others.
    """
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "belman"
    root = Path(os.environ.get("BELMAN_CACHE") or default)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root):
            pass
        foreign = [one for one in (root, root / "__pycache__") if one.exists() and not _closed(one)]
        if foreign:
            why = "is another user's, or others may write there"
            remedy = "set BELMAN_CACHE to a directory of your own"
            warnings.warn(f"compiled code is not kept: {foreign[0]} {why} ({remedy})", stacklevel=2)
            raise PermissionError
    except OSError:
        temporary = Path(tempfile.mkdtemp(prefix="belman-cache-"))
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        return temporary
    _forget_old(root)
    return root


def _closed(directory: Path) -> bool:
    """Whether a directory is one's own, with the writing of others taken away where it was not."""
    if not is_own(directory, others_write=True):
        return False
    if not is_own(directory):
        directory.chmod(directory.stat().st_mode & ~0o022)
    return True


def _forget_old(root: Path) -> None:
    """Drop what was compiled long ago, so that years of versions do not fill the disk."""
    oldest = time.time() - _KEPT_DAYS * 86_400
    for path in [*root.glob("entry_*.py"), *root.glob("__pycache__/entry_*")]:
        try:
            if path.stat().st_mtime < oldest:
                path.unlink()
        except OSError:  # another process was quicker
            continue


@functools.cache
def _environment() -> bytes:
    """What settles compiled code besides its sources: this room, and the compiler."""
    from importlib import metadata  # it imports `email` and `zipfile`

    sources = sorted(Path(__file__).parent.glob("*.py"))
    shortcuts = os.environ.get("BELMAN_SHORTCUTS", "1")
    return b"".join(
        [
            *(path.read_bytes() for path in sources),
            metadata.version("numba").encode(),
            shortcuts.encode(),
        ]
    )


def _closure(modules: Iterable[str]) -> set[str]:
    """These modules and all that they import, except for what is installed from elsewhere."""
    result: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in result:
            result.add(module)
            waiting += [name for name in _imports(module) if _followed(name, module)]
    return result


@functools.cache
def _imports(module: str) -> list[str]:
    """The loaded modules that a module imports, by its source."""
    named: list[str] = []
    for origin, names, plain in _IMPORT.findall(_COMMENT.sub("", _source(module).decode())):
        parts = [part.split(" as ")[0].strip(" ()\n\t") for part in (names or plain).split(",")]
        if origin.startswith("."):
            origin = importlib.util.resolve_name(origin, sys.modules[module].__package__)
        named += [origin, *(f"{origin}.{part}" for part in parts)] if origin else parts
    return [name for name in named if name in sys.modules]


def _followed(name: str, module: str) -> bool:
    """Whether a module may hold kernels: of this package, of the importing module's own, or
    somebody's file in no library.
    """
    package = name.split(".")[0]
    if package in ("belman", module.split(".")[0]):
        return name != "belman" and not name.startswith("belman.engine")
    path = Path(getattr(sys.modules[package], "__file__", None) or "/").parts
    return package not in sys.stdlib_module_names and len(path) > 1 and "site-packages" not in path


@functools.cache
def _source(module: str) -> bytes:
    path = getattr(sys.modules[module], "__file__", None)
    return Path(path).read_bytes() if path else module.encode()


@functools.cache
def source_digest(*modules: str) -> str:
    """A digest of all sources of this package, and of modules of a user with what these import.

    What was computed is kept under it: a change of any of these files makes another digest.
    """
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()}\n".encode() + path.read_bytes())
    given = {name for name in modules if name in sys.modules}
    for module in sorted(given | _closure(name for name in given if _followed(name, "belman"))):
        if module.split(".")[0] != "belman":
            digest.update(f"{module}\n".encode() + _source(module))
    return digest.hexdigest()[:24]
