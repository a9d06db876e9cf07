"""Every test and example plays compiled code, unless it says otherwise; and linear algebra has one
thread, for two processes share the cores, and threads that wait for one another keep them busy.
"""

import os

os.environ.setdefault("BELMAN_COMPILE", "first")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

#: Modules that run in the environments of other libraries.
collect_ignore_glob = ["docs/peers/*"]
