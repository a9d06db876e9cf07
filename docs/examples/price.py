"""A shop looks for a price: 200 visitors, who buy or do not. Draws docs/images/price.png."""

import math
import sys

import numpy as np

import belman


def chance_of_buying(price: float) -> float:
    return 0.7 / (1.0 + math.exp((price - 13.0) / 2.0))


def main(visitors: int = 200, picture: str = "price.png") -> None:
    agent = belman.Agent(space=belman.Box(price=(5, 20)), seed=7)
    luck = np.random.default_rng(7)
    for _ in range(visitors):
        offer = agent.ask()
        bought = luck.random() < chance_of_buying(offer["price"])
        agent.tell(offer, offer["price"] if bought else 0.0)
    best = agent.best()
    print(
        f"best price {best['price']:.2f}: {best['expected']:.2f} a visitor expected, "
        f"95 % between {best['low']:.2f} and {best['high']:.2f}"
    )
    belman.plots.space(agent).figure.savefig(picture)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, *sys.argv[2:3])
