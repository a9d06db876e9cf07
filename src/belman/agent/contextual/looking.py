"""What a contextual agent believes, as tables; of a copy, so that nothing is changed by looking."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from belman.agent.contextual.slots import Floats
from belman.models import Belief, Model
from belman.special import normal_cdf, student_cdf
from belman.table import Table

if TYPE_CHECKING:
    from belman.agent.contextual.agent import ContextualAgent

_DRAWS = 4_000
_HALVINGS = 80


def ends(model: Model, belief: Belief, features: Floats, level: float) -> tuple[float, float]:
    """The credible interval of φᵀθ: the quantiles of the bank's laws, weighed by their shares."""
    laws = []
    for b in range(len(belief.mean)):
        scale = model.kernels.scale(model.law, belief.noise[b])
        wide = float(np.linalg.norm(features @ belief.root[b])) * math.sqrt(scale)
        laws.append((belief.share[b], float(belief.mean[b] @ features), wide, belief.noise[b, 0]))
    spread = max(wide for _, _, wide, _ in laws)
    if not spread > 0.0:
        return laws[0][1], laws[0][1]

    def below(x: float) -> float:
        total = 0.0
        for share, mean, wide, shape in laws:
            score = (x - mean) / wide
            known = normal_cdf(score) if shape == 0.0 else student_cdf(2.0 * shape, score)
            total += share * known
        return total

    def quantile(chance: float) -> float:
        low = min(mean - 1e3 * wide for _, mean, wide, _ in laws)
        high = max(mean + 1e3 * wide for _, mean, wide, _ in laws)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if below(middle) < chance else (low, middle)
        return 0.5 * (low + high)

    tail = 0.5 * (1.0 - level)
    return quantile(tail), quantile(1.0 - tail)


def best_shares(model: Model, belief: Belief, features: Floats, seed: int) -> Floats:
    """How often each arm is the best of many draws of θ, the same for the same seed."""
    rng = np.random.default_rng(seed)
    count = np.zeros(len(features))
    for b, draws in enumerate(rng.multinomial(_DRAWS, belief.share / belief.share.sum())):
        shape, rate = belief.noise[b]
        known = model.kernels.scale(model.law, belief.noise[b])
        scale = rate / rng.gamma(shape, size=draws) if shape > 0.0 else np.full(draws, known)
        apart = rng.normal(size=(draws, features.shape[1])) @ (features @ belief.root[b]).T
        values = features @ belief.mean[b] + np.sqrt(scale)[:, None] * apart
        count += np.bincount(values.argmax(axis=1), minlength=len(features))
    return count / _DRAWS


def beliefs(agent: ContextualAgent, level: float) -> Table:
    """Per arm what is believed of its mean reward."""
    held, model = agent._calls.survey(agent.turn), agent.model
    law, belief, features = model.law, held["belief"], held["features"]
    intervals = [
        sorted(
            agent.outward(float(model.kernels.mean(law, end)))
            for end in ends(model, belief, row, level)
        )
        for row in features
    ]
    seen = zip(held["sight"].eta, held["sight"].variance, strict=True)
    return Table(
        {
            "arm": agent.arms,
            **({"plays": list(agent._tells)} if agent._tells else {}),
            agent.quantity: [
                agent.outward(float(model.kernels.expected(law, *pair))) for pair in seen
            ],
            "low": [low for low, _ in intervals],
            "high": [high for _, high in intervals],
            "P(best)": best_shares(model, belief, features, agent.turn).tolist(),
        }
    )


def explanation(agent: ContextualAgent) -> Table:
    """Per arm how its index comes about, and what speaks most for it and against it; the largest
    index first.
    """
    held = agent._calls.survey(agent.turn)
    sight, index = held["sight"], held["index"]
    order = np.argsort(-index, kind="stable")
    more, labels = _beyond_average(agent, held["features"]), _labels(agent)
    columns = {
        "mean": sight.eta,
        "deviation": np.sqrt(sight.variance),
        "worth": sight.worth,
        "index": index,
    }
    ranked: dict[str, list[Any]] = {"arm": [agent.arms[a] for a in order]}
    ranked |= {name: [float(values[a]) for a in order] for name, values in columns.items()}
    ranked["for"] = [_most(more[a], labels) for a in order]
    ranked["against"] = [_most(-more[a], labels) for a in order]
    return Table(ranked, f"turn {agent.turn}: the arm with the largest index is played")


def _beyond_average(agent: ContextualAgent, features: Floats) -> Floats:
    """What each column that an arm has adds beyond the average of all arms (arms × columns)."""
    belief = agent._learnt.belief
    more = (features - features.mean(axis=0)) * (belief.share @ belief.mean)
    found: Floats = np.where(features != 0.0, more, 0.0)
    return found


def _most(adds: Floats, labels: list[tuple[Any, str]]) -> str:
    """The feature that adds most, if any does."""
    place = int(np.argmax(adds))
    return labels[place][1] if adds[place] > 0.0 else ""


def _labels(agent: ContextualAgent) -> list[tuple[Any, str]]:
    columns = agent._learnt.columns
    return [
        columns.label(
            column, agent._learnt.context, agent._learnt.features, agent._arms.__getitem__
        )
        for column in columns.columns
    ]


def reasons(agent: ContextualAgent, arm: int) -> Table:
    """What each feature adds for an arm beyond the average of all arms."""
    features = agent._calls.survey(agent.turn)["features"]
    belief = agent._learnt.belief
    mean = belief.share @ belief.mean
    more = _beyond_average(agent, features)[arm]
    order = [i for i in np.argsort(-more, kind="stable") if features[arm, i] != 0.0]
    labels = _labels(agent)
    return Table(
        {
            "feature": [labels[i][1] for i in order],
            "of": [labels[i][0] for i in order],
            "value": [float(features[arm, i]) for i in order],
            "coefficient": [float(mean[i]) for i in order],
            "speaks for it": [float(more[i]) for i in order],
        },
        f"why {agent.arms[arm]}: what each feature adds beyond the average of all arms",
    )


def coefficients(agent: ContextualAgent, level: float, most: int | None = None) -> Table:
    """Every coefficient with its interval, and the deviation of the numbers that it is per."""
    belief, size = agent._learnt.belief, len(agent._learnt.columns)
    mean = (belief.share @ belief.mean)[:most]
    intervals = [ends(agent.model, belief, row, level) for row in np.eye(size)[:most]]
    labels = _labels(agent)[:most]
    learnt = agent._learnt
    return Table(
        {
            "feature": [label for _, label in labels],
            "of": [owner for owner, _ in labels],
            "coefficient": mean.tolist(),
            "low": [low for low, _ in intervals],
            "high": [high for _, high in intervals],
            "per": [
                learnt.columns.unit(column, learnt.context, learnt.features)
                for column in learnt.columns.columns[:most]
            ],
        }
    )
