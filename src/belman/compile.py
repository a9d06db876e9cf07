"""How and where functions are compiled: the only file that knows Numba, but for `inside.py`.

A *kernel* is a plain function over arrays. A *bundle* is a frozen set of kernels: what a belief, a family or a policy can do.
An *entry* is where Python enters compiled code: a template such as `decide(policy, family, law, ...)` closed over its bundles.

Numba's disk cache hits only for callees that are module globals, and goes stale when a callee in another file changes.
So an entry is a small generated module whose globals are the bundles, named by a hash of all the sources behind it (`cache.py`).
With `NUMBA_DISABLE_JIT=1` the same sources are interpreted and make the same choices.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import inspect
import sys
import threading
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, TypeVar, cast

import llvmlite.binding
import numba
import numba.core.imputils
import numba.core.typing.templates
import numba.extending
import numpy as np

from belman.cache import load_entry
from belman.inside import Inside

Function = TypeVar("Function", bound=Callable[..., Any])

#: True when `NUMBA_DISABLE_JIT=1`: kernels are then ordinary Python.
INTERPRETED: bool = bool(numba.config.DISABLE_JIT)

#: What every kernel and entry is compiled with: divisions as NumPy does them, no lock, no reference counts, no wrapper for C.
_OPTIONS = {"error_model": "numpy", "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
_lock = threading.RLock()
_entries: dict[tuple[Any, ...], Callable[..., Any]] = {}


class Kernel:
    """A compiled function: wrapper-less inside compiled code, where it is cheaper to make, and callable from Python all the same.

    Code from the disk cache finds its callees by name. Functions that are made anew with other closures share a qualified name,
    so each gets the names of what it closes over into its own.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        if function.__closure__:
            made_of = "|".join(_identity(cell.cell_contents) for cell in function.__closure__)
            function.__qualname__ += f"_{_digest(made_of)}"
        functools.update_wrapper(self, function)
        self.py_func = function
        self._options = {**_OPTIONS, **options}
        self.inside = numba.njit(pipeline_class=Inside, no_cpython_wrapper=True, **self._options)(function)

    @functools.cached_property
    def outside(self) -> Any:
        """What Python calls."""
        return numba.njit(**self._options)(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        return self.outside(*arguments)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _identity(thing: Any) -> str:
    """A name of a kernel, a bundle or a constant that is the same in every process."""
    if isinstance(thing, Kernel):
        return f"{thing.py_func.__module__}.{thing.py_func.__qualname__}"
    if isinstance(thing, Bundle):
        return f"{type(thing).__qualname__}({','.join(_identity(part) for part in vars(thing).values())})"
    return repr(thing)


@numba.extending.typeof_impl.register(Kernel)
def _type_of_kernel(compiled: Kernel, context: Any) -> Any:
    return numba.typeof(compiled.inside)


def kernel(function: Function) -> Function:
    """Mark a function over floats and arrays as a kernel, compiled at its first use.

    A kernel allocates no array and returns none, so Numba need not count references: passing records of many arrays through
    several levels of calls would otherwise cost more than the mathematics (a BelMan turn is twice as fast for it).

    >>> @kernel
    ... def double(x):
    ...     return 2.0 * x
    >>> double(21.0)
    42.0
    """
    return function if INTERPRETED else cast(Function, Kernel(function))


def inlined_kernel(function: Function) -> Function:
    """Mark a kernel of every turn that takes records of arrays: it is laid into its callers, however long it is.

    LLVM would call it, and handing over the arrays costs more than many a turn takes. Compiling takes longer for it.

    >>> @inlined_kernel
    ... def last(values):
    ...     return values[-1]
    >>> last(np.array([1.0, 2.0]))
    2.0
    """
    return function if INTERPRETED else cast(Function, Kernel(function, forceinline=True))


def allocating_kernel(function: Function) -> Function:
    """Mark a kernel that makes arrays of its own (and returns none of them).

    >>> @allocating_kernel
    ... def sum_of_squares(n):
    ...     squares = np.empty(n)
    ...     for i in range(n):
    ...         squares[i] = i * i
    ...     return squares.sum()
    >>> sum_of_squares(4)
    14.0
    """
    return function if INTERPRETED else cast(Function, Kernel(function, _nrt=True))


class Bundle:
    """A frozen dataclass of kernels (or of other bundles) that compiled code receives as one argument.

    To Numba it is a type without contents: its attributes are resolved while compiling, so it costs nothing to pass and,
    unlike a tuple of functions, leaves no address of this process in the cached code.
    """


class _BundleType(numba.types.Opaque):
    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        super().__init__(name=f"{type(bundle).__name__}_{_digest(_identity(bundle))}")


@numba.extending.typeof_impl.register(Bundle)
def _type_of_bundle(bundle: Bundle, context: Any) -> _BundleType:
    return _BundleType(bundle)


numba.extending.register_model(_BundleType)(numba.extending.models.OpaqueModel)


@numba.core.typing.templates.infer_getattr
class _BundleAttribute(numba.core.typing.templates.AttributeTemplate):
    key = _BundleType

    def generic_resolve(self, bundle_type: _BundleType, attribute: str) -> Any:
        return numba.typeof(getattr(bundle_type.bundle, attribute))


@numba.core.imputils.lower_constant(_BundleType)
def _constant_bundle(context: Any, builder: Any, bundle_type: _BundleType, value: Bundle) -> Any:
    return context.get_dummy_value()


@numba.core.imputils.lower_getattr_generic(_BundleType)
def _bundle_attribute(context: Any, builder: Any, bundle_type: _BundleType, value: Any, attribute: str) -> Any:
    return context.get_dummy_value()


def external(module: ModuleType, symbol: str, reference: Callable[..., Any], arguments: int) -> Callable[..., float]:
    """A function of `scipy.special.cython_special` as a kernel; `reference` is its twin for interpreted code."""
    if INTERPRETED:
        return lambda *values: float(reference(*values))
    capsule = module.__pyx_capi__[symbol]
    read_name = ctypes.pythonapi.PyCapsule_GetName
    read_name.restype, read_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    read_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    read_pointer.restype, read_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name = f"belman_{symbol}"
    llvmlite.binding.add_symbol(name, read_pointer(capsule, read_name(capsule)))
    # Cython appends an int that says whether to skip Python overrides; there are none.
    signature = numba.types.double(*[numba.types.double] * arguments, numba.types.intc)
    pointer = numba.types.ExternalFunction(name, signature)
    names = ", ".join(f"x{i}" for i in range(arguments))
    scope: dict[str, Any] = {"pointer": pointer, "__name__": __name__}
    exec(f"def {symbol.strip('_')}({names}): return pointer({names}, 0)", scope)
    return kernel(scope[symbol.strip("_")])


def entry(
    template: Callable[..., Any],
    bundles: Mapping[str, tuple[Any, str]],
    records: Mapping[str, type],
) -> Callable[..., Any]:
    """Close `template` over its bundles and spread its records, so that Python calls compiled code with bare arrays.

    `bundles` maps a parameter of the template to (bundle, name of the module where it is a global); `records` maps a
    parameter to a NamedTuple class whose fields become arguments of their own (passing eight arrays costs 0.6 µs, passing
    them in a tuple 1.7 µs). What remains of the template's parameters keeps its order.
    """
    key = (template, *((name, id(bundle)) for name, (bundle, _) in bundles.items()), *records.items())
    with _lock:
        if key not in _entries:
            _entries[key] = _quiet(_load(template, bundles, records))
        return _entries[key]


def _load(
    template: Callable[..., Any], bundles: Mapping[str, tuple[Any, str]], records: Mapping[str, type]
) -> Callable[..., Any]:
    """Import the generated module of an entry, or run its source in place where a bundle has no importable home."""
    functions = {"template": (template, template.__module__)}
    globals_: dict[str, tuple[Any, str]] = {**functions, **bundles}
    globals_ |= {f"record_{name}": (record, record.__module__) for name, record in records.items()}
    homes = {name: _home(value, module) for name, (value, module) in globals_.items()}
    body = _source(template, bundles, records)
    if INTERPRETED or any(home is None for home in homes.values()):
        scope: dict[str, Any] = {name: value for name, (value, _) in globals_.items()}
        exec(body, scope)
        return cast(Callable[..., Any], numba.njit(**_OPTIONS)(scope["call"]))
    found = {name: home for name, home in homes.items() if home is not None}
    imports = ["from importlib import import_module", "", "import numba", ""]
    names = [f"{name} = import_module({module!r}).{expression}" for name, (module, expression) in found.items()]
    text = "\n".join([*imports, *names, "", f"@numba.njit(cache=True, **{_OPTIONS})", body])
    return load_entry(
        text, {module for module, _ in found.values()}.union(*(_modules(value) for value, _ in globals_.values()))
    ).call


def _modules(thing: Any) -> set[str]:
    """The modules of all kernels that a kernel or a bundle is made of: some are made elsewhere than they are used."""
    if isinstance(thing, Bundle):
        return set().union(*(_modules(part) for part in vars(thing).values()))
    if isinstance(thing, Kernel):
        inner = (cell.cell_contents for cell in thing.py_func.__closure__ or ())
        return {thing.py_func.__module__}.union(*map(_modules, inner))
    return set()


def _source(template: Callable[..., Any], bundles: Mapping[str, Any], records: Mapping[str, type]) -> str:
    """The source of `call`: the template with its bundles as globals and its records spread into fields."""
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
    return f"def call({', '.join(parameters)}):\n    return template({', '.join(arguments)})\n"


def _home(value: Any, module: str) -> tuple[str, str] | None:
    """Where a value can be imported from, as (module, expression); None for `__main__` and for what is no global.

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
    """Interpreted code works on NumPy scalars, which warn where 64-bit counters wrap and where logs reach zero."""
    if not INTERPRETED:
        return call

    @functools.wraps(call)
    def quiet(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return call(*arguments)

    return quiet
