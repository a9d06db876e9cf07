"""Policies that play the largest bound or index by divergence."""
