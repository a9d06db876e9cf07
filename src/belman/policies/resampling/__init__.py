"""Policies that keep rewards as they came, and resample them."""
