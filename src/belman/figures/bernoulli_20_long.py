"""The twenty Bernoulli arms over fifty thousand turns, on a logarithmic axis of time."""

from __future__ import annotations

from belman.figures.checks import OURS, PAPER, growth, less, locked, parts_of
from belman.figures.claim import AllData, Claim, Judgement
from belman.figures.figure import Curves, Panel
from belman.figures.players import TWENTY, bernoulli_players
from belman.problems import bernoulli

HORIZON = 50_000

FIGURE = Curves(
    name="bernoulli-20-long",
    title="Twenty arms over 50,000 turns",
    shows="Whether regret grows like ln t in the end; the dotted line has the slope of Lai and "
    "Robbins' bound.",
    paper="BelMan's regret becomes linear in ln t.",
    panels=(
        Panel(
            "Bernoulli, twenty arms",
            bernoulli(TWENTY),
            bernoulli_players(HORIZON),
            horizon=HORIZON,
            runs=300,
            paper_runs=50,
        ),
    ),
    variables=("regret",),
    log=True,
    logarithmic=(),
    ceiling=800.0,
    bound=True,
)


def _long(everything: AllData) -> Judgement:
    parts = parts_of(everything["bernoulli-20-long"], "Bernoulli, twenty arms")
    grown = [growth(parts[0], player) for player in (OURS, "Thompson", "IMED")]
    causes = [*grown, locked(parts[0], PAPER)]
    return Judgement([growth(parts[0], PAPER)], [*causes, less(parts, OURS, "Thompson")])


CLAIM = Claim(
    8,
    "Twenty arms over 50,000 turns",
    "BelMan's regret becomes linear in ln t.",
    ("bernoulli-20-long",),
    _long,
    "A locked run pays its gap every turn: regret grows like t times the share of such runs.",
)
