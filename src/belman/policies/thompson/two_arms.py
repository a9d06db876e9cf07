"""The integrals of information-directed sampling for two yes-or-no arms, in closed form.

With p = P(θ₁ > θ₂) of Beta(a, b) and Beta(c, d), and h by which it steps (`special/two_betas.py`),
E[θ₁; θ₁ > θ₂] = μ₁ (p + h/a) and E[θ₂; θ₁ > θ₂] = μ₂ (p − h/c). A reward moves p and h by one step.
"""

from __future__ import annotations

import math

from belman.engine import kernel
from belman.policies.thompson.information import NEGLIGIBLE
from belman.special import a_success_less, after_reward, chance_above

#: Of both arms: with more of them the first p takes a millisecond and longer.
MOST_COUNTS = 1e9
_ROUNDING = 1e-9  # of a count


@kernel
def _counted(now, before):
    """By how much a count has grown: a whole number, where it is one but for rounding."""
    apart = now - before
    whole = math.floor(apart + 0.5)
    return whole if abs(apart - whole) < _ROUNDING else apart


@kernel
def renew_pair(beliefs, pair):
    """Bring p and h up to date with the beliefs, the first four numbers of `pair`.

    A single reward is one step, and so is a failure of the second arm in the place of a success, by
    which a recursion over all courses of play goes. Whatever else has changed, p is summed afresh.
    """
    a, b, c, d = pair[0], pair[1], pair[2], pair[3]
    won, lost = _counted(beliefs[0, 0], a), _counted(beliefs[0, 1], b)
    won_2, lost_2 = _counted(beliefs[1, 0], c), _counted(beliefs[1, 1], d)
    first, size = won + lost, abs(won) + abs(lost) + abs(won_2) + abs(lost_2)
    if size == 0.0:
        return
    if won_2 == -1.0 and lost_2 == 1.0 and size == 2.0:
        pair[2], pair[3] = c - 1.0, d + 1.0
        result, h = a_success_less(pair[4], pair[5], a, b, pair[2], pair[3])
    elif size == 1.0 and first + won_2 + lost_2 == 1.0 and a > 0.0:
        pair[0], pair[1], pair[2], pair[3] = a + won, b + lost, c + won_2, d + lost_2
        result, h = after_reward(pair[4], pair[5], a, b, c, d, first == 1.0, won + won_2 == 1.0)
    else:
        pair[0], pair[1], pair[2], pair[3] = (
            beliefs[0, 0], beliefs[0, 1], beliefs[1, 0], beliefs[1, 1],
        )  # fmt: skip
        result, h = chance_above(pair[0], pair[1], pair[2], pair[3])
    pair[4], pair[5] = min(max(result, 0.0), 1.0), h


@kernel
def integrate_pair(memory):
    """p_b and p_b M_ab of both arms."""
    a, b, c, d = memory.pair[0], memory.pair[1], memory.pair[2], memory.pair[3]
    result, h = memory.pair[4], memory.pair[5]
    mean, other = a / (a + b), c / (c + d)
    if result > NEGLIGIBLE:
        memory.share[0] = result
        memory.joint[0, 0] = mean * (result + h / a)
        memory.joint[0, 1] = other * max(result - h / c, 0.0)
    if 1.0 - result > NEGLIGIBLE:
        memory.share[1] = 1.0 - result
        memory.joint[1, 1] = other * (1.0 - result + h / c)
        memory.joint[1, 0] = mean * max(1.0 - result - h / a, 0.0)
