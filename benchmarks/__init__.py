"""One file per claim of speed; each prints what it measured, the limit or the peer beside it, and
whether the claim holds.

`make bench` runs them all. Times are CPU times of this process unless said; a claim is a ratio, or
a limit with a margin.
"""

import os

# what is measured is compiled code, unless a benchmark is about how it comes to be
os.environ.setdefault("BELMAN_COMPILE", "first")
