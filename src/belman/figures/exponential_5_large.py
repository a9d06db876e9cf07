"""Five exponential arms without a bound, parameters 1 to 5 read as rates and as means."""

from __future__ import annotations

from belman.figures.checks import MARGIN, OURS, PAPER, less, locked, parts_of
from belman.figures.claim import AllData, Claim, Judgement
from belman.figures.figure import Curves, Panel
from belman.figures.players import EXPONENTIAL, SLOW
from belman.problems import exponential

PARAMETERS = (1.0, 2.0, 3.0, 4.0, 5.0)

FIGURE = Curves(
    name="exponential-5-large",
    title="Five exponential arms, parameters 1 to 5",
    shows="Larger parameters: as rates means of 1 to 0.2, as means 1 to 5.",
    paper="KL-UCB-exp is best and BelMan competitive.",
    panels=(
        Panel(
            "rates 1 to 5",
            exponential([1.0 / rate for rate in PARAMETERS]),
            EXPONENTIAL,
            slow=SLOW,
            slow_runs=60,
        ),
        Panel("means 1 to 5", exponential(PARAMETERS), EXPONENTIAL, slow=SLOW, slow_runs=60),
    ),
)


def _large(everything: AllData) -> Judgement:
    tests, causes = [], []
    for reading in ("rates", "means"):
        parts = parts_of(everything["exponential-5-large"], f"{reading} 1 to 5")
        where = f" ({reading})"
        rivals = ("Thompson", "UCB-tuned", PAPER)
        tests += [less(parts, "KL-UCB-exp", rival, where=where) for rival in rivals]
        tests.append(less(parts, PAPER, "Thompson", MARGIN, where))
        causes += [less(parts, OURS, "KL-UCB-exp", where=where), locked(parts[0], PAPER)]
    return Judgement(tests, causes)


CLAIM = Claim(
    7,
    "Exponential rewards, parameters 1 to 5",
    "KL-UCB-exp is best and BelMan competitive.",
    ("exponential-5-large",),
    _large,
)
