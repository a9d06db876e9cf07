"""Gittins indices: exact by tables, and in closed form."""
