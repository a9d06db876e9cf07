"""Ten Bernoulli arms of small means."""

from belman.environments import bernoulli
from belman.figures.figure import Curves, Panel
from belman.figures.players import SLOW, bernoulli_players

#: The paper's ten arms.
TEN = (0.1, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01)

FIGURE = Curves(
    name="bernoulli-10",
    title="Ten arms, 0.1 to 0.01",
    shows="Rare successes: most arms have none for a long time.",
    paper="BelMan outperforms the others.",
    panels=(Panel("Bernoulli, ten arms", bernoulli(TEN), bernoulli_players(500), horizon=500, slow=SLOW),),
)
