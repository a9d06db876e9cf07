"""Tutorials are run whole, with their commands and pictures, by tests/docs/test_tutorials.py."""

collect_ignore_glob = ["*.md"]
