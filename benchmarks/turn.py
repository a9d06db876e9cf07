"""A turn of BelMan alone in a compiled loop: its cost at 20 arms beside Thompson's, and how it
grows with the number of arms.
"""

from __future__ import annotations

import numpy as np

import belman
from belman import chance
from belman.engine import call_address, entry
from belman.lab.bandit_loop import play_arm
from belman.lab.policy_call import NO_ARM, bind_policy, call_choose, reset
from belman.policies.ledger import Ledger
from belman.policies.policy import Policy
from benchmarks.claim import Claim, best_cpu_seconds, report


@belman.kernel
def play(family, constants, ledger, theta, turn_values, nature, policy_call):
    """The bare loop: choose, draw, learn."""
    arm = NO_ARM
    for t in range(turn_values.size):
        arm = call_address(policy_call, arm, t + 1, turn_values[t])
        play_arm(family, constants, theta, nature, ledger, arm)


def microseconds(policy: Policy, arms: int, turns: int, repeats: int = 7) -> float:
    """CPU time of one turn on Bernoulli arms with means from 0.01 to 0.25; the start, long with
    many arms, is not timed.
    """
    family = belman.families.Bernoulli()
    theta = np.linspace(0.01, 0.25, arms).reshape(-1, 1)
    ledger = Ledger.blank(np.zeros((arms, 2)))
    turn_values = policy.turn_values(np.arange(1.0, turns + 1.0), arms)
    nature, rng = chance.generator(1, 0), chance.generator(1, 1)
    call = bind_policy(
        call_choose,
        policy,
        family,
        policy.params(family),
        ledger,
        policy.memory(arms, 2),
        rng,
        np.zeros(arms),
    )
    start = entry(reset).hold(
        policy_call=call.address,
        prior=np.array(family.prior),
        ledger=ledger,
        block=np.zeros(0),
        blank=np.zeros(0),
    )
    loop = entry(play, family=family.kernels).hold(
        constants=family.constants,
        ledger=ledger,
        theta=theta,
        turn_values=turn_values,
        nature=nature,
        policy_call=call.address,
    )
    return best_cpu_seconds(loop, repeats, start) / turns * 1e6


def main() -> None:
    paper = microseconds(belman.BelMan.paper(), 20, 100_000)
    default = microseconds(belman.BelMan(), 20, 100_000)
    thompson = microseconds(belman.Thompson(), 20, 100_000)
    sizes = {
        arms: microseconds(belman.BelMan(), arms, 20_000_000 // arms, 5)
        for arms in (1_000, 10_000, 100_000)
    }
    slope = (sizes[100_000] - sizes[1_000]) / 99_000 * 1e3
    report(
        "a turn of BelMan, Bernoulli arms, one thread",
        [
            Claim("paper's BelMan at 20 arms", paper, 0.6, "µs"),
            Claim("default BelMan at 20 arms", default, 0.6, "µs"),
            Claim("the default's turn over the paper's", default / paper, 0.9, "×"),
            Claim("paper's BelMan / Thompson at 20 arms", paper / thompson, 1.0, ""),
            Claim("default BelMan / Thompson at 20 arms", default / thompson, 1.0, ""),
            Claim("slope of the default up to 100,000 arms", slope, 5.0, "ns per arm"),
        ],
        {
            "turn": ", ".join(f"{cost:.2f} µs at {arms:,} arms" for arms, cost in sizes.items()),
            "Thompson": f"{thompson:.2f} µs at 20 arms",
        },
    )


if __name__ == "__main__":
    main()
