"""Two Bernoulli arms of 0.45 and 0.55, over a shorter time."""

from __future__ import annotations

from belman.figures.checks import MARGIN, OURS, PAPER, less, locked, parts_of
from belman.figures.claim import AllData, Claim, Judgement
from belman.figures.figure import Curves, Panel
from belman.figures.players import SLOW, bernoulli_players
from belman.problems import bernoulli

FIGURE = Curves(
    name="bernoulli-2-close",
    title="Two arms, 0.45 and 0.55",
    shows="The same gap in the middle of the scale, where rewards vary most.",
    paper="BelMan is competitive.",
    panels=(
        Panel(
            "Bernoulli 0.45, 0.55",
            bernoulli([0.45, 0.55]),
            bernoulli_players(500),
            horizon=500,
            slow=SLOW,
        ),
    ),
)


def _close_arms(everything: AllData) -> Judgement:
    parts = parts_of(everything["bernoulli-2-close"], "Bernoulli 0.45, 0.55")
    causes = [locked(parts[0], PAPER), less(parts, OURS, "Thompson")]
    return Judgement([less(parts, PAPER, "Thompson", MARGIN)], causes)


CLAIM = Claim(
    3,
    "Two close arms, 0.45 and 0.55",
    "BelMan is competitive.",
    ("bernoulli-2-close",),
    _close_arms,
)
