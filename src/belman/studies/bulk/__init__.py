"""Outcomes in bulk: rows of units or sums, checked as a whole and learnt at once."""
