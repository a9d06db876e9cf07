"""The command line."""

from belman.cli.main import app, main

__all__ = ["app", "main"]
