"""Tests of the documentation: the site, the reference, the tutorials."""
