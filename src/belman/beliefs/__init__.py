"""Conjugate beliefs: the points of the manifold, one law a file."""
