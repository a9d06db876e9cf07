"""The command line."""

from belman.cli.commands import app
from belman.cli.main import main

__all__ = ["app", "main"]
