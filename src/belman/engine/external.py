"""Functions of SciPy that kernels call: interpreted, or compiled in its Cython twin."""

from __future__ import annotations

import functools
from collections.abc import Callable

#: All of them, so that cached code finds them before it is loaded.
EXTERNALS: list[External] = []


class External:
    """A function of `scipy.special`, imported when first called.

    >>> External("ndtr", "__pyx_fuse_1ndtr", 1)(0.0)
    0.5
    """

    def __init__(self, name: str, cython: str, arguments: int) -> None:
        self.name, self.cython, self.arguments = name, cython, arguments
        self.symbol = f"belman_{cython}"
        EXTERNALS.append(self)

    def __call__(self, *values: float) -> float:
        return float(self._function(*values))

    @functools.cached_property
    def _function(self) -> Callable[..., float]:
        from scipy import special

        return getattr(special, self.name)
