"""Three queues and five servers, matched in every turn by the players' indices."""

from __future__ import annotations

from belman.figures.players import BELMAN
from belman.figures.queueing import HORIZON, PUBLISHED, SERVICES, QueuePanel, Queues
from belman.policies import UCB1, CoinThompson, Thompson, q_ths, q_ucb, qbelman
from belman.problems import queue

#: As in the authors' code.
ARRIVALS = (0.3, 0.25, 0.2)
#: K in the chance of exploring is the number of servers, however many queues share the beliefs.
BAYESIAN = {**BELMAN, PUBLISHED: qbelman(arms=len(SERVICES[0]))}

FIGURE = Queues(
    name="queueing-matching",
    title="Three queues, five servers",
    shows="Jobs more in all queues than with the best matching from the start: each queue with "
    "beliefs of its own, and, as in the authors' code, with one pseudobelief for all fifteen "
    "pairs.",
    panels=(
        QueuePanel(
            "beliefs of each queue",
            queue(SERVICES, ARRIVALS),
            {
                **BAYESIAN,
                "Thompson": Thompson(),
                "Q-UCB": q_ucb(),
                "Q-ThS": q_ths(),
                "Thompson (authors)": CoinThompson(),
                "UCB": UCB1(),
            },
            horizon=HORIZON,
            runs=200,
            paper_runs=50,
        ),
        QueuePanel(
            "one pseudobelief for all",
            queue(SERVICES, ARRIVALS, shared=True),
            {**BAYESIAN, "Thompson": Thompson()},
            horizon=HORIZON,
            runs=200,
            paper_runs=50,
        ),
    ),
    variables=("queue_regret",),
    log=True,
    logarithmic=(),
    ceiling=15.0,
)
