"""Every test and example plays compiled code, unless it says otherwise."""

import os

os.environ.setdefault("BELMAN_COMPILE", "first")

#: Modules that run in the environments of other libraries.
collect_ignore_glob = ["docs/peers/*"]
