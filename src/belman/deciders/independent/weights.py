"""The weights of the next decisions: the shares in which a policy would play its arms.

Policies that draw nothing but ties are asked for all decisions in fluid form, each counted as
observed at its expectation (`policies/dealing.py`; the default in closed form,
`belman/waterfilling.py`). Policies that draw play every one of them with the chances that they
have now: Thompson's are those of being best. Where such a chance is not known, it is counted over
draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from belman.deciders.independent.kernels import renew
from belman.deciders.independent.views import copied
from belman.engine import LATER, entry, kernel
from belman.measures.best import best_probabilities
from belman.policies import Forced, Policy
from belman.policies.dealing import Deal, deal_untried, largest
from belman.policies.policy_kernels import pick, share_of_ties, to_be_integrated

Floats = NDArray[np.float64]

_DRAWS = 1024  # that stand for a chance which is not known


@kernel
def share_out(
    policy, family, constants, params, truth, provisional, working, memory, pending, stale,
    scratch, rng,
    deal, untried_first, decisions, turn, turn_value,
):  # fmt: skip
    """Bring the policy's memory up to date, and deal this number of decisions."""
    renew(
        policy, family, constants, params, truth, provisional, working, memory, pending, stale,
        scratch,
    )  # fmt: skip
    left = decisions
    if untried_first:
        left = deal_untried(policy, family, constants, params, working, memory, left, deal)
    if left > 0.0:
        policy.deal(
            policy, family, constants, params, working, memory, turn, turn_value, left, rng, deal
        )


@kernel
def chances_now(
    policy,
    family,
    constants,
    params,
    working,
    memory,
    rng,
    deal,
    none_closed,
    draws,
    turn,
    turn_value,
):
    """The chance of every arm, or how often it is chosen in this number of draws."""
    for draw in range(max(draws, 1)):
        deal.indices[:] = 0.0
        policy.indices(
            family, constants, params, working, memory, turn, turn_value, rng, deal.indices
        )
        if draws > 0:
            deal.dealt[pick(deal.indices, rng)[0]] += 1.0
        elif draw == 0:
            best, ties = largest(deal.indices)
            for a in range(deal.indices.size):
                if best == np.inf:
                    deal.dealt[a] = deal.indices[a] == best
                else:
                    deal.dealt[a] = policy.propensity(
                        family,
                        constants,
                        params,
                        working,
                        memory,
                        turn,
                        turn_value,
                        none_closed,
                        a,
                        ties,
                    )


def shares_of(decider: Any, decisions: int) -> Floats:
    """The shares of the arms, in order; nothing is changed."""
    held = copied(decider._calls.held)
    del held["index"]
    dealt = _dealt(decider, decider.policy, held, decisions)
    shares: Floats = np.maximum(dealt, 0.0)
    return shares / shares.sum()


def _dealt(decider: Any, policy: Policy, held: dict[str, Any], decisions: int) -> Floats:
    """What each arm gets of the decisions, or the chances of a policy that draws."""
    arms, family = len(decider.arms), decider.family
    if isinstance(policy, Forced):
        exploring, inner = policy.chance(decider.turn, arms), policy.policy
        inside = {**held, "params": inner.params(family)}
        dealt = _dealt(decider, inner, inside, decisions)
        return exploring / arms + (1.0 - exploring) * dealt / dealt.sum()
    deal = Deal.blank(arms, family.dimension)
    clock = {"turn": decider.turn, "turn_value": decider.turn_value(decider.turn)}
    bundles = {"policy": policy.kernels, "family": family.kernels}
    acting = policy.acting(held["memory"])
    if acting.kernels.propensity is share_of_ties:
        first = decisions > 1 or decider._waiting > 0
        entry(share_out, **bundles)(
            LATER, **held, **clock, deal=deal, untried_first=first, decisions=float(decisions)
        )
        return deal.dealt
    rng = held.pop("rng")
    entry(renew, **bundles)(LATER, **held)
    integrated = acting.kernels.propensity is to_be_integrated
    if integrated:
        chances = acting.own_chances(family, held["working"], np.arange(arms))
        if chances is None:
            chances = acting.chances(best_probabilities(family, held["working"].beliefs))
        if np.isfinite(chances).all():
            return chances
    seen = {name: held[name] for name in ("constants", "params", "working", "memory")}
    chancing = entry(chances_now, **bundles)
    draws = _DRAWS if integrated else 0
    fixed = {**seen, **clock, "rng": rng, "none_closed": np.zeros(0, dtype=np.bool_)}
    chancing(LATER, **fixed, deal=deal, draws=draws)
    if not np.isfinite(deal.dealt).all():
        deal.dealt[:] = 0.0
        chancing(LATER, **fixed, deal=deal, draws=_DRAWS)
    return deal.dealt
