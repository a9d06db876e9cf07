"""The configuration of Sphinx is no test, and imports what need not be installed."""

collect_ignore = ["conf.py", "extension"]
