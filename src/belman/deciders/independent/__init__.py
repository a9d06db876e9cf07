"""A belief an arm: the decider of independent arms, and all that it needs."""
