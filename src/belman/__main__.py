"""`python -m belman` is the command line."""

from belman.cli import main

main()
