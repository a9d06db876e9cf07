"""Five exponential arms cut at 10, the paper's parameters read as rates and as means."""

from __future__ import annotations

from belman.figures.checks import OURS, PAPER, less, locked, parts_of
from belman.figures.claim import AllData, Check, Claim, Judgement
from belman.figures.exponential_5 import PARAMETERS
from belman.figures.figure import Curves, Panel
from belman.figures.numbers import last
from belman.figures.players import BOUND, BOUNDED, SLOW, BetaThompson
from belman.measures import half_width
from belman.problems import exponential

_INVERSE = [1.0 / rate for rate in PARAMETERS]
_SLOW = {**SLOW, "Thompson (Beta)": BetaThompson}

FIGURE = Curves(
    name="exponential-5-bounded",
    title="Five exponential arms cut at 10",
    shows="Rewards min(X, 10). UCB-tuned without its cap and Thompson sampling with Beta beliefs "
    "on x/10 are the rivals whose sizes match the paper's picture.",
    paper="BelMan is better than Thompson, UCB-tuned, KL-UCB and KL-UCB-exp.",
    panels=(
        Panel(
            "rates 0.2 to 1, cut at 10",
            exponential(_INVERSE, BOUND),
            BOUNDED,
            slow=_SLOW,
            slow_runs=60,
        ),
        Panel(
            "means 0.2 to 1, cut at 10",
            exponential(PARAMETERS, BOUND),
            BOUNDED,
            slow=_SLOW,
            slow_runs=60,
        ),
    ),
    published={
        "BelMan (paper)": "97 draws (50–155)",
        "Thompson": "307 draws (263–357)",
        "UCB-tuned": "362 draws (330–405)",
        "KL-UCB": "312 draws (278–348)",
        "KL-UCB-exp": "252 draws (215–275)",
        "Random": "800 draws",
    },
)


def _bounded(everything: AllData) -> Judgement:
    rivals = ("Thompson", "UCB-tuned", "KL-UCB", "KL-UCB-exp")
    tests, causes = [], []
    for reading in ("rates", "means"):
        parts = parts_of(everything["exponential-5-bounded"], f"{reading} 0.2 to 1, cut at 10")
        tests += [less(parts, PAPER, rival, where=f" ({reading})") for rival in rivals]
        causes += [less(parts, OURS, rival, where=f" ({reading})") for rival in rivals]
    rates = parts_of(everything["exponential-5-bounded"], "rates 0.2 to 1, cut at 10")
    causes.append(locked(rates[0], PAPER))
    for player, published in (
        ("Thompson (Beta)", 307.0),
        ("UCB-tuned (no cap)", 362.0),
        ("KL-UCB", 312.0),
        ("KL-UCB-exp", 252.0),
    ):
        off = abs(last(rates, player, "suboptimal_draws").mean() / published - 1.0)
        size = f"the paper's {published:.0f} (relative difference)"
        words = f"{player} (rates): suboptimal draws within 15 % of {size}"
        half = float(half_width(last(rates, player, "suboptimal_draws"))) / published
        causes.append(Check(words, float(off), half, 0.15, runs=last(rates, player).size))
    return Judgement(tests, causes)


CLAIM = Claim(
    5,
    "Bounded exponential rewards",
    "BelMan is better than Thompson, UCB-tuned, KL-UCB and KL-UCB-exp.",
    ("exponential-5-bounded",),
    _bounded,
    "The paper's parameters are rates in the experiment that it repeats. Its sizes for the rivals "
    "are met by UCB-tuned without its cap and by Thompson sampling with Beta beliefs on x/10.",
)
