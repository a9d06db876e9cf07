"""Where Python enters compiled code: a template such as `decide(policy, family, law, ...)` closed
over its bundles.

Numba's disk cache hits only for callees that are module globals, and goes stale when a callee in
another file changes. So an entry is a small generated module whose globals are the bundles, named
by a hash of all the sources behind it (`cache.py`).
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numba
import numpy as np

from belman.engine.cache import load_entry
from belman.engine.kernels import INTERPRETED, OPTIONS, Bundle, Kernel

#: Bundles by the parameters of a template: each with the name of the module where it is a global.
Bundles = Mapping[str, tuple[Any, str]]

#: Held while an entry is looked up and loaded.
lock = threading.RLock()
_entries: dict[tuple[Any, ...], Callable[..., Any]] = {}


def entry(
    template: Callable[..., Any],
    bundles: Bundles,
    records: Mapping[str, type],
) -> Callable[..., Any]:
    """Close `template` over its bundles and spread its records, so that Python calls compiled code
    with bare arrays.

    `bundles` maps a parameter of the template to (bundle, name of the module where it is a global);
    `records` maps a parameter to a NamedTuple class whose fields become arguments of their own
    (passing eight arrays costs 0.6 µs, passing them in a tuple 1.7 µs). What remains of the
    template's parameters keeps its order.
    """
    name = key(template, bundles, records)
    with lock:
        if name not in _entries:
            parameters, arguments = spread(template, bundles, records)
            body = (
                f"def call({', '.join(parameters)}):\n    return template({', '.join(arguments)})\n"
            )
            _entries[name] = _quiet(
                load(body, {"template": (template, template.__module__), **bundles}, records)
            )
        return _entries[name]


def key(template: Any, bundles: Bundles, records: Mapping[str, type]) -> tuple[Any, ...]:
    """What settles the code of a template."""
    return (
        template,
        *((name, id(bundle)) for name, (bundle, _) in bundles.items()),
        *records.items(),
    )


def load(body: str, globals_: Bundles, records: Mapping[str, type], **options: Any) -> Any:
    """Import the generated module of an entry, or run its source in place where a bundle has no
    importable home.
    """
    globals_ = {
        **globals_,
        **{f"record_{name}": (record, record.__module__) for name, record in records.items()},
    }
    homes = {name: _home(value, module) for name, (value, module) in globals_.items()}
    options = {**OPTIONS, **options}
    if INTERPRETED or any(home is None for home in homes.values()):
        namespace: dict[str, Any] = {name: value for name, (value, _) in globals_.items()}
        exec(body, namespace)
        return numba.njit(**options)(namespace["call"])
    found = {name: home for name, home in homes.items() if home is not None}
    imports = ["from importlib import import_module", "", "import numba", ""]
    names = [
        f"{name} = import_module({module!r}).{expression}"
        for name, (module, expression) in found.items()
    ]
    text = "\n".join([*imports, *names, "", f"@numba.njit(cache=True, **{options})", body])
    return load_entry(
        text,
        {module for module, _ in found.values()}.union(
            *(_modules(value) for value, _ in globals_.values())
        ),
    ).call


def _modules(thing: Any) -> set[str]:
    """The modules of all kernels that a kernel or a bundle is made of: some are made elsewhere than
    they are used.
    """
    if isinstance(thing, Bundle):
        return set().union(*(_modules(part) for part in vars(thing).values()))
    if isinstance(thing, Kernel):
        inner = (cell.cell_contents for cell in thing.py_func.__closure__ or ())
        return {thing.py_func.__module__}.union(*map(_modules, inner))
    return set()


def spread(
    template: Callable[..., Any], bundles: Bundles, records: Mapping[str, type]
) -> tuple[list[str], list[str]]:
    """The parameters of `call`, and the arguments of the template: bundles are globals, and records
    are made of their fields.
    """
    parameters: list[str] = []
    arguments: list[str] = []
    for name in inspect.signature(getattr(template, "py_func", template)).parameters:
        if name in bundles:
            arguments.append(name)
        elif name in records:
            fields = [f"{name}_{field}" for field in records[name]._fields]  # type: ignore[attr-defined]
            parameters += fields
            arguments.append(f"record_{name}({', '.join(fields)})")
        else:
            parameters.append(name)
            arguments.append(name)
    return parameters, arguments


def _home(value: Any, module: str) -> tuple[str, str] | None:
    """Where a value can be imported from, as (module, expression); None for `__main__` and for what
    is no global.

    The expression is a name, or a name and a key where the value stands in a dictionary.
    """
    if module == "__main__" or not getattr(sys.modules.get(module), "__file__", None):
        return None
    for name, candidate in vars(sys.modules[module]).items():
        if candidate is value:
            return module, name
        if isinstance(candidate, dict) and name != "__builtins__":
            for key, member in candidate.items():
                if member is value and isinstance(key, str):
                    return module, f"{name}[{key!r}]"
    return None


def _quiet(call: Callable[..., Any]) -> Callable[..., Any]:
    """Interpreted code works on NumPy scalars, which warn where 64-bit counters wrap and where logs
    reach zero.
    """
    if not INTERPRETED:
        return call

    @functools.wraps(call)
    def quiet(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return call(*arguments)

    return quiet
