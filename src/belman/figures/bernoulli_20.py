"""The paper's twenty Bernoulli arms."""

from __future__ import annotations

from belman.figures.checks import BERNOULLI_RIVALS, OURS, PAPER, interval, less, parts_of
from belman.figures.claim import AllData, Check, Claim, Judgement
from belman.figures.figure import Curves, Panel
from belman.figures.numbers import last
from belman.figures.players import SLOW, TWENTY, bernoulli_players
from belman.problems import bernoulli

FIGURE = Curves(
    name="bernoulli-20",
    title="Twenty arms, 0.25 to 0.01",
    shows="Many arms and a short time: a greedy player gains what a careful one spends on looking.",
    paper="BelMan outperforms all, with about 230 suboptimal draws and none after turn 500.",
    panels=(
        Panel("Bernoulli, twenty arms", bernoulli(TWENTY), bernoulli_players(1_000), slow=SLOW),
    ),
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


def _twenty_arms(everything: AllData) -> Judgement:
    parts = parts_of(everything["bernoulli-20"], "Bernoulli, twenty arms")
    draws = interval(last(parts, PAPER, "suboptimal_draws"))
    players = parts[0].suboptimal_draws_at.sel(player=PAPER)
    late = interval(players.isel(mark=-1) - players.isel(mark=-2))
    return Judgement(
        [
            *(less(parts, PAPER, rival) for rival in BERNOULLI_RIVALS),
            Check(
                f"{PAPER}: at most 330 suboptimal draws, the paper's largest",
                draws[0],
                draws[1],
                330.0,
                runs=draws[2],
            ),
            Check(
                f"{PAPER}: hardly any suboptimal draw after turn 500 (less than 5)",
                late[0],
                late[1],
                5.0,
                runs=late[2],
            ),
        ],
        [
            less(parts, PAPER, "ε-greedy"),
            less(parts, OURS, "Thompson"),
            less(parts, OURS, "ε-greedy"),
        ],
    )


CLAIM = Claim(
    2,
    "Twenty arms",
    "BelMan outperforms all, with about 230 suboptimal draws and none after turn 500.",
    ("bernoulli-20",),
    _twenty_arms,
    "The two best arms are 0.03 apart: after ten draws each nobody can know which is better, so a "
    "count of 230 cannot be. Regret is another matter, because a second-best arm costs little.",
)
