"""Templates closed over bundles and over arrays, which compiled code calls by address.

A loop that is closed over its callee has to be compiled again for every callee. Called by address,
the callee is no part of it. A *desk* is where the callee finds its arrays: the address and the
shape of one after the other, as 64-bit integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numba
import numba.extending
import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.np.arrayobj import make_array, populate_array

from belman.engine.entries import Bundles, key, load, lock, spread
from belman.engine.kernels import INTERPRETED, kernel

#: What can be called by address: a desk, two whole numbers and a real one in, a whole number out.
_SIGNATURE = numba.int64(numba.int64, numba.int64, numba.int64, numba.float64)
_bound: dict[tuple[Any, ...], tuple[Any, int]] = {}


@numba.extending.intrinsic
def _call_at(typing, code, desk, first, second, amount):
    """Call what is at an address, in Numba's convention: result and error are returned through
    pointers. Kernels do not raise.
    """

    def generate(context, builder, signature, values):
        kind = context.call_conv.get_function_type(_SIGNATURE.return_type, _SIGNATURE.args)
        result, error = (cgutils.alloca_once(builder, pointer.pointee) for pointer in kind.args[:2])
        builder.call(builder.inttoptr(values[0], kind.as_pointer()), [result, error, *values[1:]])
        return builder.load(result)

    return _SIGNATURE.return_type(numba.int64, *_SIGNATURE.args), generate


@numba.extending.intrinsic(prefer_literal=True)
def take_up(typing, desk, kinds):
    """The arrays on a desk, as a tuple; their kinds are known while compiling."""
    arrays = []
    for kind in kinds.literal_value.split():
        dtype, dimensions = kind.split(":")
        arrays.append(numba.types.Array(numba.from_dtype(np.dtype(dtype)), int(dimensions), "C"))
    result = numba.types.Tuple(arrays)

    def generate(context, builder, signature, values):
        word = ir.IntType(64)
        numbers = builder.inttoptr(values[0], word.as_pointer())
        place, taken = 0, []
        for kind in arrays:
            address, *shape = (
                builder.load(builder.gep(numbers, [word(place + i)])) for i in range(kind.ndim + 1)
            )
            place += kind.ndim + 1
            array = make_array(kind)(context, builder)
            size = kind.dtype.bitwidth // 8
            strides = [word(size)]
            for length in reversed(shape[1:]):
                strides.insert(0, builder.mul(strides[0], length))
            data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
            populate_array(
                array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None
            )
            taken.append(array._getvalue())
        return context.make_tuple(builder, result, taken)

    return result(numba.int64, kinds), generate


class Address(NamedTuple):
    """A bound template in compiled code: where its code is, and the desk with its arrays."""

    code: Any
    desk: Any


class Bound:
    """A template closed over its bundles and over arrays. Spread (`*bound`) it is an `Address`;
    keep it while that is in use.
    """

    def __init__(self, code: Any, arrays: list[Any]) -> None:
        self._arrays = arrays
        if not all(array.flags.c_contiguous for array in arrays):
            raise ValueError(
                "code called by address finds its arrays by their shapes: they must be contiguous"
            )
        numbers = [number for array in arrays for number in (array.ctypes.data, *array.shape)]
        self._desk = np.array(numbers, dtype=np.int64)
        self._address = Address(code, self._desk.ctypes.data)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._address)


def bind(template: Callable[..., Any], bundles: Bundles, held: Mapping[str, Any]) -> Bound:
    """Close `template` over its bundles and over what it holds, arrays and records of arrays, for
    `call_bound`.

    The template takes its bundles first, then what it holds, in the order given here, and last two
    whole numbers and a real one. It returns a whole number, and is compiled once for all arrays of
    these types and dimensions.
    """
    records = {name: type(value) for name, value in held.items() if isinstance(value, tuple)}
    arrays = [
        array
        for value in held.values()
        for array in (value if isinstance(value, tuple) else [value])
    ]
    if INTERPRETED:
        known = [*(bundle for bundle, _ in bundles.values()), *held.values()]
        return Bound(lambda *rest: template(*known, *rest), arrays)
    kinds = " ".join(f"{array.dtype.str[1:]}:{array.ndim}" for array in arrays)
    name = (*key(template, bundles, records), kinds)
    with lock:
        if name not in _bound:
            parameters, arguments = spread(template, bundles, records)
            count = len(arrays)
            body = (
                f"def call(desk, {', '.join(parameters[count:])}):\n"
                f"    {', '.join(parameters[:count])}, = take_up(desk, {kinds!r})\n"
                f"    return template({', '.join(arguments)})\n"
            )
            scope = {
                "template": (template, template.__module__),
                "take_up": (take_up, take_up.__module__),
                **bundles,
            }
            compiled = load(body, scope, records, no_cpython_wrapper=True)
            _bound[name] = (
                compiled,
                _address_of(compiled),
            )  # kept together: the code goes with the function that owns it
        return Bound(_bound[name][1], arrays)


def _address_of(compiled: Any) -> int:
    """The address of the machine code of a dispatcher, compiled (or loaded from the disk) for the
    one signature.
    """
    compiled.compile(_SIGNATURE)
    result = compiled.overloads[_SIGNATURE.args]
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def _call_compiled(bound, first, second, amount):
    return _call_at(bound.code, bound.desk, first, second, amount)


def _call_interpreted(bound, first, second, amount):
    return bound.code(first, second, amount)


#: Call a bound template from a kernel that was given its `Address`, with two whole numbers and a
#: real one.
call_bound = _call_interpreted if INTERPRETED else kernel(_call_compiled)
