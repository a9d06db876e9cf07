"""Conjugate beliefs: the points of the manifold, one distribution a file."""
