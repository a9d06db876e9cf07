"""Attacks as programs: each has a `main(count, seed)`, and a short form in the tests."""
