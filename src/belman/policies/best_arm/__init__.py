"""Policies that look for the best arm: elimination, confidence bounds, top-two rules, stopping."""
