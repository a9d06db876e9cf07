"""Two Bernoulli arms of 0.45 and 0.55, over a shorter time."""

from belman.environments import bernoulli
from belman.figures.figure import Curves, Panel
from belman.figures.players import SLOW, bernoulli_players

FIGURE = Curves(
    name="bernoulli-2-close",
    title="Two arms, 0.45 and 0.55",
    shows="The same gap in the middle of the scale, where rewards vary most.",
    paper="BelMan is competitive.",
    panels=(Panel("Bernoulli 0.45, 0.55", bernoulli([0.45, 0.55]), bernoulli_players(500), horizon=500, slow=SLOW),),
)
