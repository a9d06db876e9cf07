"""Ten Bernoulli arms of small means."""

from __future__ import annotations

from belman.figures.checks import BERNOULLI_RIVALS, OURS, PAPER, less, parts_of
from belman.figures.claim import AllData, Claim, Judgement
from belman.figures.figure import Curves, Panel
from belman.figures.players import SLOW, bernoulli_players
from belman.problems import bernoulli

#: The paper's ten arms.
TEN = (0.1, 0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 0.01, 0.01, 0.01)

FIGURE = Curves(
    name="bernoulli-10",
    title="Ten arms, 0.1 to 0.01",
    shows="Rare successes: most arms have none for a long time.",
    paper="BelMan outperforms the others.",
    panels=(
        Panel(
            "Bernoulli, ten arms", bernoulli(TEN), bernoulli_players(500), horizon=500, slow=SLOW
        ),
    ),
)


def _ten_arms(everything: AllData) -> Judgement:
    parts = parts_of(everything["bernoulli-10"], "Bernoulli, ten arms")
    return Judgement(
        [less(parts, PAPER, rival) for rival in BERNOULLI_RIVALS],
        [less(parts, PAPER, "ε-greedy"), less(parts, OURS, "Thompson")],
    )


CLAIM = Claim(4, "Ten arms", "BelMan outperforms the others.", ("bernoulli-10",), _ten_arms)
