"""Five exponential arms cut at 10, the paper's parameters read as rates and as means."""

from belman.environments import exponential
from belman.figures.exponential_5 import PARAMETERS
from belman.figures.figure import Curves, Panel
from belman.figures.players import BOUND, BOUNDED, SLOW, BetaThompson

_INVERSE = [1.0 / rate for rate in PARAMETERS]
_SLOW = {**SLOW, "Thompson (Beta)": BetaThompson}

FIGURE = Curves(
    name="exponential-5-bounded",
    title="Five exponential arms cut at 10",
    shows="Rewards min(X, 10). UCB-tuned without its cap and Thompson sampling with Beta beliefs on x/10 are the rivals whose "
    "sizes match the paper's picture.",
    paper="BelMan is better than Thompson, UCB-tuned, KL-UCB and KL-UCB-exp.",
    panels=(
        Panel(
            "rates 0.2 to 1, cut at 10",
            exponential(_INVERSE, BOUND),
            BOUNDED,
            slow=_SLOW,
            slow_runs=60,
        ),
        Panel("means 0.2 to 1, cut at 10", exponential(PARAMETERS, BOUND), BOUNDED, slow=_SLOW, slow_runs=60),
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
