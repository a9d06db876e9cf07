"""How functions are compiled, kept, entered from Python and called by address: the only room that
knows Numba.
"""

from belman.engine.addresses import Address, Bound, bind, call_bound
from belman.engine.cache import cache_directory
from belman.engine.entries import entry
from belman.engine.kernels import (
    INTERPRETED,
    Bundle,
    allocating_kernel,
    external,
    inlined_kernel,
    kernel,
)

__all__ = [
    "INTERPRETED",
    "Address",
    "Bound",
    "Bundle",
    "allocating_kernel",
    "bind",
    "cache_directory",
    "call_bound",
    "entry",
    "external",
    "inlined_kernel",
    "kernel",
]
