"""Five exponential arms without a bound, the paper's parameters read as rates and as means."""

from __future__ import annotations

from belman.figures.checks import OURS, PAPER, less, locked, parts_of
from belman.figures.claim import AllData, Claim, Judgement
from belman.figures.figure import Curves, Panel
from belman.figures.players import EXPONENTIAL, SLOW
from belman.problems import exponential

PARAMETERS = (0.2, 0.25, 0.33, 0.5, 1.0)

FIGURE = Curves(
    name="exponential-5",
    title="Five exponential arms, parameters 0.2 to 1",
    shows="The same numbers read as rates (means 5 to 1) and as means (0.2 to 1): the paper's "
    "text allows both.",
    paper="BelMan outperforms all.",
    panels=(
        Panel(
            "rates 0.2 to 1",
            exponential([1.0 / rate for rate in PARAMETERS]),
            EXPONENTIAL,
            slow=SLOW,
            slow_runs=60,
        ),
        Panel("means 0.2 to 1", exponential(PARAMETERS), EXPONENTIAL, slow=SLOW, slow_runs=60),
    ),
)


def _unbounded(everything: AllData) -> Judgement:
    rivals = ("Thompson", "UCB-tuned", "KL-UCB-exp")
    tests, causes = [], []
    for reading in ("rates", "means"):
        parts = parts_of(everything["exponential-5"], f"{reading} 0.2 to 1")
        tests += [less(parts, PAPER, rival, where=f" ({reading})") for rival in rivals]
        causes += [less(parts, OURS, "Thompson", where=f" ({reading})"), locked(parts[0], PAPER)]
    return Judgement(tests, causes)


CLAIM = Claim(
    6,
    "Exponential rewards, parameters 0.2 to 1",
    "BelMan outperforms all.",
    ("exponential-5",),
    _unbounded,
    "The schedule is made for rewards in [0, 1]: on means of 1 to 5 it is five times as greedy as "
    "on means of 0.2 to 1.",
)
