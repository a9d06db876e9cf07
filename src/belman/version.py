"""The version of the package, which is that of its client too."""

from belman.assignment import __version__ as __version__
