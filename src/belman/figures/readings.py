"""The three readings of the reverse projection side by side, under the paper's schedule."""

from belman.figures.figure import Curves, Panel
from belman.figures.players import TWENTY
from belman.policies import BelMan, Thompson
from belman.problems import bernoulli

_PLAYERS = {
    "barycentre": BelMan.paper("barycentre"),
    "joint": BelMan.paper("joint"),
    "natural": BelMan.paper("natural"),
    "BelMan": BelMan(),
    "Thompson": Thompson(),
}

FIGURE = Curves(
    name="readings",
    title="Three readings of the reverse projection",
    shows="The pseudobelief as the barycentre of Theorem 1, as the joint projection of Algorithm "
    "1, and as the average of natural parameters of the authors' code, all with the paper's "
    "exposure, on 2 and on 20 arms.",
    panels=(
        Panel("Bernoulli 0.8, 0.9", bernoulli([0.8, 0.9]), _PLAYERS),
        Panel("Bernoulli, twenty arms", bernoulli(TWENTY), _PLAYERS),
    ),
)
