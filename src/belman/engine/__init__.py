"""How functions are compiled, kept, entered from Python and called by address: the only room that
knows Numba.
"""

from belman.engine.cache import cache_directory
from belman.engine.entries import (
    FIRST,
    LATER,
    Address,
    Call,
    Entry,
    call_address,
    entry,
    leaves,
    named_leaves,
    with_leaves,
)
from belman.engine.kernels import (
    Bundle,
    External,
    Kernel,
    allocating_kernel,
    factory,
    inlined_kernel,
    kernel,
)

__all__ = [
    "FIRST",
    "LATER",
    "Address",
    "Bundle",
    "Call",
    "Entry",
    "External",
    "Kernel",
    "allocating_kernel",
    "cache_directory",
    "call_address",
    "entry",
    "factory",
    "inlined_kernel",
    "kernel",
    "leaves",
    "named_leaves",
    "with_leaves",
]
