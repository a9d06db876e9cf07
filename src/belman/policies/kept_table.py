"""Tables that take seconds to compute, kept on disk beside compiled code, per digest of theirs."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from belman.engine import cache_directory
from belman.files import write_atomically
from belman.policies.policy import Floats


def kept_table(
    name: str,
    module: ModuleType,
    key: object,
    header: Sequence[float],
    size: int,
    make: Callable[[], Floats],
) -> Floats:
    """A header and the `size` numbers that `make` gives, from disk where this module made them."""
    code = Path(str(module.__file__)).read_bytes()
    digest = hashlib.sha256(code + repr(key).encode()).hexdigest()
    path = cache_directory() / f"{name}_{digest[:24]}.npy"
    head = [float(value) for value in header]
    try:
        kept: Floats = np.load(path)
        # kernels look numbers up by place, and would read past the end of a shorter table
        if kept.shape != (len(head) + size,) or kept[: len(head)].tolist() != head:
            raise ValueError
    except (OSError, ValueError, EOFError):
        kept = np.concatenate([head, make()])
        buffer = io.BytesIO()
        np.save(buffer, kept)
        with contextlib.suppress(OSError):
            write_atomically(path, buffer.getvalue())
    return kept
