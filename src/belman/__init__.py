"""Bayesian bandits on the belief–reward manifold."""

__version__ = "0.1.0"
