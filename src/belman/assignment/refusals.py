"""What can be wrong with weights, and the root of every error."""

from __future__ import annotations


class BelmanError(Exception):
    """The root of every error that `belman` raises on purpose."""


class WeightsError(BelmanError, ValueError):
    """Weights that cannot be, or a document of them that cannot be trusted."""
