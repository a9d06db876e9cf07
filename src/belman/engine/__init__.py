"""How functions are compiled, kept, entered from Python and called by address: the only room that
knows Numba.
"""

# ruff: noqa: I001
from __future__ import annotations

from belman.engine.cache import cache_directory as cache_directory
from belman.engine.entries import FIRST as FIRST, LATER as LATER, Address as Address, Call as Call
from belman.engine.entries import Entry as Entry, call_address as call_address, entry as entry
from belman.engine.entries import leaves as leaves, named_leaves as named_leaves
from belman.engine.entries import with_leaves as with_leaves
from belman.engine.kernels import Bundle as Bundle, External as External, Kernel as Kernel
from belman.engine.kernels import allocating_kernel as allocating_kernel, factory as factory
from belman.engine.kernels import inlined_kernel as inlined_kernel, kernel as kernel
from belman.registry import offered as _offered

__all__ = _offered(globals())
