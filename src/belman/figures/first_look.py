"""A first look: where BelMan is strong and where it is not, in four players and two problems."""

from belman.figures.figure import Curves, Panel
from belman.figures.players import BELMAN, TWENTY
from belman.policies import Random, Thompson
from belman.problems import bernoulli

_PLAYERS = {**BELMAN, "Thompson": Thompson(), "Random": Random()}

FIGURE = Curves(
    name="first-look",
    title="A first look",
    shows="Regret is what a player lost by not playing the best arm from the start: less is "
    "better. The paper's schedule shines with many arms and a short time, and with two good arms "
    "it locks onto the wrong one in some runs; the default is made for both.",
    panels=(
        Panel("20 arms, 0.25 to 0.01", bernoulli(TWENTY), _PLAYERS),
        Panel("2 arms, 0.9 and 0.8", bernoulli([0.9, 0.8]), _PLAYERS),
    ),
    variables=("regret",),
    logarithmic=(),
)
