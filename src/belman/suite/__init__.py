"""Who decides best: a suite of problems, played by BelMan and its rivals on the same luck."""

from belman.suite.cells import SPLITS, Cell, Records, Suite, play, suite
from belman.suite.tables import cell_table, player_csv, summary_table

__all__ = ["SPLITS", "Cell", "Records", "Suite"]
__all__ += ["cell_table", "play", "player_csv", "suite", "summary_table"]
