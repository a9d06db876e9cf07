"""The paper's twenty Bernoulli arms."""

from belman.environments import bernoulli
from belman.figures.figure import Curves, Panel
from belman.figures.players import SLOW, TWENTY, bernoulli_players

FIGURE = Curves(
    name="bernoulli-20",
    title="Twenty arms, 0.25 to 0.01",
    shows="Many arms and a short time: a greedy player gains what a careful one spends on looking.",
    paper="BelMan outperforms all, with about 230 suboptimal draws and none after turn 500.",
    panels=(Panel("Bernoulli, twenty arms", bernoulli(TWENTY), bernoulli_players(1_000), slow=SLOW),),
    published={
        "BelMan (paper)": "230 draws (155–330)",
        "Bayes-UCB": "800 draws (700–895)",
        "Thompson": "695 draws (570–780)",
        "UCB": "865 draws (800–900)",
        "KL-UCB": "825 draws (740–895)",
        "Gittins": "500 draws (430–540)",
        "Random": "950 draws",
    },
)
