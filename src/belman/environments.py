"""The old name of `belman.problems`; what is taken from here comes with a warning."""

from __future__ import annotations

import warnings
from typing import Any

from belman import problems


def __getattr__(name: str) -> Any:
    if name not in problems.__all__:
        raise AttributeError(f"module 'belman.environments' has no attribute {name!r}")
    words = f"belman.environments.{name} is now belman.problems.{name}"
    warnings.warn(words, DeprecationWarning, stacklevel=2)
    return getattr(problems, name)
