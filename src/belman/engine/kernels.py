"""How functions are compiled: with `inside.py`, `entry.py` and `bound.py` all that knows Numba.

A *kernel* is a plain function over arrays. A *bundle* is a frozen set of kernels: what a belief, a
family or a policy can do. With `NUMBA_DISABLE_JIT=1` the same sources are interpreted and make the
same choices.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar, cast

import llvmlite.binding
import numba
import numba.core.imputils
import numba.core.typing.templates
import numba.extending

from belman.engine.inside import Inside

Function = TypeVar("Function", bound=Callable[..., Any])

#: True when `NUMBA_DISABLE_JIT=1`: kernels are then ordinary Python.
INTERPRETED: bool = bool(numba.config.DISABLE_JIT)

#: What every kernel and entry is compiled with: divisions as NumPy does them, no lock, no reference
#: counts, no wrapper for C.
OPTIONS = {"error_model": "numpy", "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}


class Kernel:
    """A compiled function: wrapper-less inside compiled code, where it is cheaper to make, and
    callable from Python all the same.

    Code from the disk cache finds its callees by name. Functions that are made anew with other
    closures share a qualified name, so each gets the names of what it closes over into its own.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        if function.__closure__:
            made_of = "|".join(_identity(cell.cell_contents) for cell in function.__closure__)
            function.__qualname__ += f"_{_digest(made_of)}"
        functools.update_wrapper(self, function)
        self.py_func = function
        self._options = {**OPTIONS, **options}
        self.inside = numba.njit(pipeline_class=Inside, no_cpython_wrapper=True, **self._options)(
            function
        )

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

    A kernel allocates no array and returns none, so Numba need not count references: passing
    records of many arrays through several levels of calls would otherwise cost more than the
    mathematics (a BelMan turn is twice as fast for it).

    >>> @kernel
    ... def double(x):
    ...     return 2.0 * x
    >>> double(21.0)
    42.0
    """
    return function if INTERPRETED else cast(Function, Kernel(function))


def inlined_kernel(function: Function) -> Function:
    """Mark a kernel of every turn that takes records of arrays: it is laid into its callers,
    however long it is.

    LLVM would call it, and handing over the arrays costs more than many a turn takes. Compiling
    takes longer for it.

    >>> import numpy as np
    >>> @inlined_kernel
    ... def last(values):
    ...     return values[-1]
    >>> last(np.array([1.0, 2.0]))
    2.0
    """
    return function if INTERPRETED else cast(Function, Kernel(function, forceinline=True))


def allocating_kernel(function: Function) -> Function:
    """Mark a kernel that makes arrays of its own (and returns none of them).

    >>> import numpy as np
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
    """A frozen dataclass of kernels (or of other bundles) that compiled code receives as one
    argument.

    To Numba it is a type without contents: its attributes are resolved while compiling, so it costs
    nothing to pass and, unlike a tuple of functions, leaves no address of this process in the
    cached code.
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
def _bundle_attribute(
    context: Any, builder: Any, bundle_type: _BundleType, value: Any, attribute: str
) -> Any:
    return context.get_dummy_value()


def external(
    module: ModuleType, symbol: str, reference: Callable[..., Any], arguments: int
) -> Callable[..., float]:
    """A function of `scipy.special.cython_special` as a kernel; `reference` is its twin for
    interpreted code.
    """
    if INTERPRETED:
        return lambda *values: float(reference(*values))
    capsule = module.__pyx_capi__[symbol]
    read_name = ctypes.pythonapi.PyCapsule_GetName
    read_name.restype, read_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    read_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    read_pointer.restype, read_pointer.argtypes = (
        ctypes.c_void_p,
        [ctypes.py_object, ctypes.c_char_p],
    )
    name = f"belman_{symbol}"
    llvmlite.binding.add_symbol(name, read_pointer(capsule, read_name(capsule)))
    # Cython appends an int that says whether to skip Python overrides; there are none.
    signature = numba.types.double(*[numba.types.double] * arguments, numba.types.intc)
    pointer = numba.types.ExternalFunction(name, signature)
    names = ", ".join(f"x{i}" for i in range(arguments))
    scope: dict[str, Any] = {"pointer": pointer, "__name__": __name__}
    exec(f"def {symbol.strip('_')}({names}): return pointer({names}, 0)", scope)
    return kernel(scope[symbol.strip("_")])
