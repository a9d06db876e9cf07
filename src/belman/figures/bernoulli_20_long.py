"""The twenty Bernoulli arms over fifty thousand turns, on a logarithmic axis of time."""

from belman.environments import bernoulli
from belman.figures.figure import Curves, Panel
from belman.figures.players import TWENTY, bernoulli_players

HORIZON = 50_000

FIGURE = Curves(
    name="bernoulli-20-long",
    title="Twenty arms over 50,000 turns",
    shows="Whether regret grows like ln t in the end; the dotted line has the slope of Lai and Robbins' bound.",
    paper="BelMan's regret becomes linear in ln t.",
    panels=(
        Panel("Bernoulli, twenty arms", bernoulli(TWENTY), bernoulli_players(HORIZON), horizon=HORIZON, runs=100, paper_runs=50),
    ),
    variables=("regret",),
    log=True,
    logarithmic=(),
    ceiling=800.0,
    bound=True,
)
