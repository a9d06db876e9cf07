"""Kernels and bundles in Numba's eyes, by its public interface.

It is imported when something is compiled or loaded, which takes longer than many a program runs.
To Numba a bundle is a type without contents: its attributes are resolved while compiling, so it
costs nothing to pass and, unlike a tuple of functions, leaves no address of this process in cached
code. What only saves time, and may be missing in another version of Numba, is in `shortcuts.py`.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable
from typing import Any

import llvmlite.binding
import numba
import numba.extending
from llvmlite import ir

from belman.engine import shortcuts
from belman.engine.entries import CallAddress
from belman.engine.kernels import EXTERNALS, Bundle, External, Kernel, parts

#: Divisions as NumPy does them, and no lock of Python's.
_OPTIONS = {"error_model": "numpy", "nogil": True}
#: What compiled code calls by address: a frame, two whole numbers and a real one in, a whole number
#: out.
_CALLED = numba.int64(numba.int64, numba.int64, numba.int64, numba.float64)

_WORD, _REAL, _BYTE = ir.IntType(64), ir.DoubleType(), ir.IntType(8)


# What generated entries are made of (`entries.py`)


def entered(signature: str, kept: bool) -> Callable[[Callable[..., Any]], Any]:
    """Compile what Python calls with numbers of these types, or load it from the disk."""

    def compiled(function: Callable[..., Any]) -> Any:
        _offer()
        options = {**_OPTIONS, **shortcuts.entry_options()}
        call = numba.njit(cache=kept, **options)(function)
        call.compile(signature)
        return call

    return compiled


def called(kept: bool) -> Callable[[Callable[..., Any]], Any]:
    """Compile what compiled code calls by address, or load it from the disk."""
    _offer()
    return numba.cfunc(_CALLED, cache=kept, **_OPTIONS)


def prepare() -> None:
    """Have Numba import what it imports when it first compiles, so that loading code is quick."""
    numba.njit("int64(int64)")(_same)


def _same(number):
    return number


@numba.extending.intrinsic
def pointer(context, address):
    """An address as a pointer."""

    def generate(target, builder, signature, values):
        return builder.inttoptr(values[0], _BYTE.as_pointer())

    return numba.types.voidptr(numba.int64), generate


@numba.extending.intrinsic
def call_at(context, code, frame, first, second, amount):
    """Call what `called` compiled, at its address."""

    def generate(target, builder, signature, values):
        kind = ir.FunctionType(_WORD, [_WORD, _WORD, _WORD, _REAL])
        return builder.call(builder.inttoptr(values[0], kind.as_pointer()), values[1:])

    return _CALLED.return_type(numba.int64, *_CALLED.args), generate


# Kernels


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _identity(thing: Any) -> str:
    """What a kernel, a bundle or a constant does, in words that are the same in every process."""
    if isinstance(thing, Kernel):
        function = thing.function
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        inner = ",".join(_identity(cell) for cell in cells)
        code = function.__code__
        body = _digest(f"{code.co_code.hex()}{code.co_consts!r}{code.co_names!r}") if inner else ""
        return f"{function.__module__}.{function.__qualname__}{body}({inner})"
    if isinstance(thing, Bundle):
        inner = ",".join(_identity(part) for part in parts(thing).values())
        return f"{type(thing).__module__}.{type(thing).__qualname__}({inner})"
    if isinstance(thing, type):
        return f"{thing.__module__}.{thing.__qualname__}"
    return repr(thing)


def _symbol(function: types.FunctionType, name: str) -> types.FunctionType:
    """The same function under another name: that is how linkers tell apart what a factory made
    twice.
    """
    twin = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    twin.__qualname__ = name
    return twin


_dispatchers: dict[Kernel, Any] = {}


def dispatcher(kernel: Kernel) -> Any:
    """A kernel as Numba compiles it."""
    if kernel not in _dispatchers:
        function: Any = kernel.function
        if function.__closure__:
            digest = _digest(_identity(kernel))
            function = _symbol(function, f"{function.__qualname__}_{digest}")
        options = {**_OPTIONS, **shortcuts.kernel_options(kernel.options)}
        if kernel.options.get("inlined"):
            options["forceinline"] = True
        _dispatchers[kernel] = numba.njit(**options)(function)
    return _dispatchers[kernel]


@numba.extending.typeof_impl.register(Kernel)
def _type_of_kernel(kernel: Kernel, context: Any) -> Any:
    return numba.typeof(dispatcher(kernel))


# Bundles


class _BundleType(numba.types.Opaque):
    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        _offer()
        super().__init__(name=f"{type(bundle).__name__}_{_digest(_identity(bundle))}")


@numba.extending.typeof_impl.register(Bundle)
def _type_of_bundle(bundle: Bundle, context: Any) -> _BundleType:
    return _BundleType(bundle)


numba.extending.register_model(_BundleType)(numba.extending.models.OpaqueModel)


def _offer(kind: type[Bundle] = Bundle) -> None:
    """Let compiled code read the attributes of bundles, of whatever class there is by now.

    Before anything is compiled: a bundle inside a kernel is met when it is too late.
    """
    if not shortcuts.usable():
        for inner in kind.__subclasses__():
            _offer(inner)
        for name in getattr(kind, "__dataclass_fields__", {}):
            if name not in _offered:
                _offered.add(name)
                numba.extending.overload_attribute(_BundleType, name)(_reader(name))


_offered: set[str] = set()


def _reader(name: str) -> Callable[..., Any]:
    def read(bundle):
        part = getattr(bundle.bundle, name)
        return lambda bundle: part

    return read


if shortcuts.usable():
    shortcuts.offer_attributes(_BundleType)


# Calls by address


def _call_address(address, first, second, amount):
    return call_at(address.code, address.frame, first, second, amount)


_calling = numba.njit(**_OPTIONS, **shortcuts.kernel_options({}))(_call_address)


@numba.extending.typeof_impl.register(CallAddress)
def _type_of_call(call: CallAddress, context: Any) -> Any:
    return numba.typeof(_calling)


# Functions of SciPy


@numba.extending.typeof_impl.register(External)
def _type_of_external(external: External, context: Any) -> Any:
    return numba.typeof(_external(external))


_externals: dict[External, Any] = {}


def _external(external: External) -> Any:
    """A function of SciPy's, by the symbol under which cached code finds it too."""
    if external not in _externals:

        def typed(context, *given):
            def generate(target, builder, signature, values):
                flag = ir.IntType(
                    32
                )  # whether to skip overrides by Python, of which there are none
                kind = ir.FunctionType(_REAL, [*[_REAL] * len(values), flag])
                declared = builder.module.globals.get(external.symbol)
                function = declared or ir.Function(builder.module, kind, external.symbol)
                return builder.call(function, [*values, ir.Constant(flag, 0)])

            return numba.float64(*[numba.float64] * external.arguments), generate

        names = ", ".join(f"x{i}" for i in range(external.arguments))
        scope: dict[str, Any] = {"typed": typed, "__name__": __name__}
        exec(f"def invoke(context, {names}): return typed(context, {names})", scope)
        scope["invoke"] = numba.extending.intrinsic(scope["invoke"])
        exec(f"def {external.name}({names}): return invoke({names})", scope)
        options = {**_OPTIONS, **shortcuts.kernel_options({})}
        _externals[external] = numba.njit(**options)(scope[external.name])
    return _externals[external]


for _each in EXTERNALS:
    llvmlite.binding.add_symbol(
        _each.symbol,
        numba.extending.get_cython_function_address("scipy.special.cython_special", _each.cython),
    )
