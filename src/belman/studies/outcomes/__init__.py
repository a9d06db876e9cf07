"""Outcomes: one book of what came, or is still to come, of every decision."""
