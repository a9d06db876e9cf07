"""Two Bernoulli arms of 0.8 and 0.9."""

from belman.environments import bernoulli
from belman.figures.figure import Curves, Panel
from belman.figures.players import SLOW, bernoulli_players

FIGURE = Curves(
    name="bernoulli-2",
    title="Two arms, 0.8 and 0.9",
    shows="Few arms with a gap of 0.1: what it costs to be too sure too soon.",
    paper="BelMan is comparable to the others, turns to exploitation sooner, and varies less between runs.",
    panels=(Panel("Bernoulli 0.8, 0.9", bernoulli([0.8, 0.9]), bernoulli_players(1_000), slow=SLOW),),
)
