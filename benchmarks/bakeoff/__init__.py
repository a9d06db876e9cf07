"""The contextual bake-off: tables for classification as bandits, beside other libraries.

`make bakeoff` plays all of it and draws docs/bakeoff.md; `python -m benchmarks.bakeoff.play NAME`
plays one library in the environment at hand, and prints.
"""
