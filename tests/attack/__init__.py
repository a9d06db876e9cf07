"""Attacks: what a stranger, a crash or a slip may do, tried so many times with a seed and a time.

`make test` runs the short form of each, `make attack` the long one, which prints the table of
docs/guide/promises.md. An attack is a file with an `ATTACK`, and a line in `attacks.py`.
"""
