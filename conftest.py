"""Every test and example plays compiled code, unless it says otherwise."""

import os

os.environ.setdefault("BELMAN_COMPILE", "first")
