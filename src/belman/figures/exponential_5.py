"""Five exponential arms without a bound, the paper's parameters read as rates and as means."""

from belman.environments import exponential
from belman.figures.figure import Curves, Panel
from belman.figures.players import EXPONENTIAL, SLOW

PARAMETERS = (0.2, 0.25, 0.33, 0.5, 1.0)

FIGURE = Curves(
    name="exponential-5",
    title="Five exponential arms, parameters 0.2 to 1",
    shows="The same numbers read as rates (means 5 to 1) and as means (0.2 to 1): the paper's text allows both.",
    paper="BelMan outperforms all.",
    panels=(
        Panel("rates 0.2 to 1", exponential([1.0 / rate for rate in PARAMETERS]), EXPONENTIAL, slow=SLOW, slow_runs=60),
        Panel("means 0.2 to 1", exponential(PARAMETERS), EXPONENTIAL, slow=SLOW, slow_runs=60),
    ),
)
