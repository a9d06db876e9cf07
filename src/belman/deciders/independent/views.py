"""What independent arms show: beliefs, why one is chosen, what was noticed, and what reports and
measures read.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from belman.deciders.independent import kernels
from belman.deciders.scale import Scale
from belman.delays import intervals
from belman.engine import LATER, entry, kernel, leaves, with_leaves
from belman.families import Family
from belman.measures.best import best_probabilities
from belman.measures.lift import Units
from belman.measures.report import Known
from belman.policies import Forced, Ledger, Policy
from belman.policies.averages import plays_needed
from belman.policies.best_arm.stopping import least_contrast
from belman.policies.memory import Floats
from belman.policies.policy import Change
from belman.policies.policy_kernels import pick_most
from belman.table import Table

_FADED = "a discount below 1 forgets, and a faded sum is not a sum of independent rewards"


def units(scale: Scale) -> Units:
    """Return how the user counts."""
    low, high = scale.range or (0.0, 1.0)
    return Units(low, (low - high) if scale.minimise else high - low)


def why_not_all(decider: Any) -> str:
    """Return why beliefs are not from all rewards alike; nothing where they are."""
    return _FADED if decider.discount < 1.0 else decider.policy.forgets


def known(decider: Any) -> Known:
    """Return what was told, as measures read it."""
    truth = decider._truth
    return Known(
        decider.family,
        decider.arms,
        decider._priors,
        decider.policy.believed(decider.family, truth, decider._memory),
        truth.plays,
        truth.sums,
        truth.squares,
        units(decider.scale),
        why_not_all(decider),
    )


def beliefs(decider: Any, level: float) -> Table:
    """Return plays, expected reward, credible interval and probability of being best per arm."""
    rows = decider.seen().beliefs
    doubt = decider._provisional[:, 2]
    tail = 0.5 * (1.0 - level)
    family, outward = decider.family, decider.scale.outward
    both = intervals(rows, doubt, tail) if doubt.any() else family.mean_intervals(rows, tail)
    shown = [sorted(map(outward, pair)) for pair in zip(*both, strict=True)]
    return Table(
        {
            "arm": decider.arms,
            "plays": decider._tells.tolist(),
            decider.scale.quantity: _expected(decider, rows),
            "low": [low for low, _ in shown],
            "high": [high for _, high in shown],
            "P(best)": [round(float(chance), 6) for chance in best_probabilities(family, rows)],
        }
    )


def explanation(decider: Any) -> Table:
    """Return what the policy sees of each arm, the largest index first; a copy is looked at."""
    turn, policy, family = decider.turn, decider.policy, decider.family
    turn_value = decider.turn_value(turn)
    held = copied(decider._calls.held)
    bundles = {"policy": policy.kernels, "family": family.kernels}
    entry(kernels.survey, **bundles)(LATER, **held, turn=turn, turn_value=turn_value)
    working, memory, index = held["working"], held["memory"], held["index"]
    order = np.argsort(-index, kind="stable")
    columns: dict[str, Any] = {
        decider.scale.quantity: _expected(decider, policy.believed(family, working, memory)),
        **policy.explanation(family, working, memory, turn_value, index),
    }
    ranked = {name: [float(values[a]) for a in order] for name, values in columns.items()}
    title = f"turn {turn}: the arm with the largest index is played"
    return Table({"arm": [decider.arms[a] for a in order], **ranked}, title)


def changes(decider: Any) -> list[tuple[Hashable | None, Change]]:
    """Return what the policy noticed, oldest first, in the user's units, with the name of each arm;
    None for arms that are not played any more.
    """
    arms, outward = decider.arms, decider.scale.outward
    return [
        (
            arms[change.arm] if 0 <= change.arm < len(arms) else None,
            change._replace(before=outward(change.before), now=outward(change.now)),
        )
        for change in decider.policy.changes(decider._memory)
    ]


def changes_table(result: Sequence[tuple[Hashable | None, Change]]) -> Table:
    """A line for each change of an arm that is played."""
    known = [(arm, change) for arm, change in result if change.arm >= 0]
    return Table(
        {
            "turn": [change.turn for _, change in known],
            "arm": [arm for arm, _ in known],
            "after turn": [change.after for _, change in known],
            "from": [change.before for _, change in known],
            "to": [change.now for _, change in known],
            "sure": [round(change.sure, 4) for _, change in known],
        }
    )


def chances(policy: Policy, family: Family, ledger: Ledger, playable: Any, turn: int) -> Floats:
    """Return the chance of playing each of these arms (their places), of a policy that draws; NaN
    where it is not known.
    """
    if isinstance(policy, Forced) and policy.policy.leaves_all_a_chance:
        share = policy.chance(turn, len(ledger.plays))
        inside = chances(policy.policy, family, ledger, playable, turn)
        return share / len(playable) + (1.0 - share) * inside
    result = policy.own_chances(family, ledger, playable)
    if result is None:
        result = policy.chances(best_probabilities(family, ledger.beliefs[playable]))
    return result


def copied(held: dict[str, Any]) -> dict[str, Any]:
    """Return copies of the arrays that a decision is given."""
    return {
        name: with_leaves(part, (array.copy() for array in leaves(part)))
        for name, part in held.items()
    }


def _expected(decider: Any, rows: Floats) -> list[float]:
    return [decider.scale.outward(decider.family.expected_reward(row)) for row in rows]


class Advice(NamedTuple):
    """The places of the recommended arms, best first, and the evidence that others are worse."""

    positions: list[int]
    evidence: float


@kernel
def _advise(
    policy, family, constants, params, ledger, memory, needed, m, luck, score, spent, chosen, doubt
):
    policy.recommend(family, constants, params, ledger, memory, score)
    for a in range(score.size):
        spent[a] = score[a]
    pick_most(spent, m, luck, chosen)
    return least_contrast(family, constants, ledger, needed, chosen, -1.0, doubt)


def advise(
    policy: Policy, family: Family, ledger: Ledger, memory: Any, m: int, luck: Any
) -> Advice:
    """The m arms that the policy recommends after these rewards; uses up `luck` to draw ties."""
    arms = len(ledger.plays)
    score, spent, chosen = np.zeros(arms), np.zeros(arms), np.zeros(arms)
    evidence = entry(_advise, policy=policy.kernels, family=family.kernels)(
        LATER,
        constants=family.constants,
        params=policy.params(family),
        ledger=ledger,
        memory=memory,
        needed=plays_needed(family),
        m=m,
        luck=luck,
        score=score,
        spent=spent,
        chosen=chosen,
        doubt=np.zeros(2, dtype=np.int64),
    )
    return Advice(sorted(_marked(chosen), key=lambda position: -score[position]), float(evidence))


def _marked(chosen: Floats) -> list[int]:
    return [int(position) for position in np.flatnonzero(chosen)]
