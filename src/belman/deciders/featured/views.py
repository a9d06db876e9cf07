"""What is believed along features, as tables; of a copy, since looking at a context meets it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from belman.deciders.decider import Asking
from belman.deciders.featured.columns import OF_ARMS
from belman.deciders.featured.slots import Floats
from belman.deciders.validate import is_among, unknown_arm
from belman.models import Belief, Model
from belman.models.arrow import along
from belman.special import normal_cdf, student_cdf
from belman.table import Table

_DRAWS = 4_000
_HALVINGS = 80


def ends(model: Model, belief: Belief, features: Floats, level: float) -> tuple[float, float]:
    """The credible interval of φᵀθ: the quantiles of the bank's distributions, weighed by their
    shares.
    """
    distributions = []
    for b in range(len(belief.mean)):
        scale = model.kernels.scale(model.constants, belief.noise[b])
        wide = float(np.linalg.norm(along(features, belief.root[b], belief.begin))) * math.sqrt(
            scale
        )
        distributions.append(
            (belief.share[b], float(belief.mean[b] @ features), wide, belief.noise[b, 0])
        )
    spread = max(wide for _, _, wide, _ in distributions)
    if not spread > 0.0:
        return distributions[0][1], distributions[0][1]

    def below(x: float) -> float:
        total = 0.0
        for share, mean, wide, shape in distributions:
            score = (x - mean) / wide
            known = normal_cdf(score) if shape == 0.0 else student_cdf(2.0 * shape, score)
            total += share * known
        return total

    def quantile(chance: float) -> float:
        low = min(mean - 1e3 * wide for _, mean, wide, _ in distributions)
        high = max(mean + 1e3 * wide for _, mean, wide, _ in distributions)
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
        known = model.kernels.scale(model.constants, belief.noise[b])
        scale = rate / rng.gamma(shape, size=draws) if shape > 0.0 else np.full(draws, known)
        apart = (
            rng.normal(size=(draws, features.shape[1]))
            @ along(features, belief.root[b], belief.begin).T
        )
        values = features @ belief.mean[b] + np.sqrt(scale)[:, None] * apart
        count += np.bincount(values.argmax(axis=1), minlength=len(features))
    return count / _DRAWS


def _surveyed(decider: Any, asking: Asking) -> tuple[list[Any], dict[str, Any]]:
    """Return the arms in play or the places of candidates, and what a decision sees of them."""
    decider.meet(asking, count=False)
    names, rows, positions = decider.at_hand(asking)
    held = decider._calls.survey(asking.context or {}, rows, positions, decider.turn)
    return list(names), held


def beliefs(decider: Any, asking: Asking, level: float) -> Table:
    """Return what is believed of the mean reward of every arm in a context."""
    names, held = _surveyed(decider, asking)
    model = decider.knowledge.form.model
    constants, belief, features = model.constants, held["belief"], held["features"]
    intervals = [
        sorted(
            decider.outward(float(model.kernels.mean(constants, end)))
            for end in ends(model, belief, row, level)
        )
        for row in features
    ]
    seen = zip(held["sight"].eta, held["sight"].variance, strict=True)
    plays = {} if asking.candidates is not None else {"plays": _tells(decider, names)}
    return Table(
        {
            "arm": names,
            **plays,
            decider.quantity: [
                decider.outward(float(model.kernels.expected(constants, *pair))) for pair in seen
            ],
            "low": [low for low, _ in intervals],
            "high": [high for _, high in intervals],
            "P(best)": best_shares(model, belief, features, decider.turn).tolist(),
        }
    )


def _tells(decider: Any, names: list[Any]) -> list[int]:
    return [decider.learnt(name).tells for name in names]


def explanation(decider: Any, asking: Asking) -> Table:
    """Return how the index of every arm comes about, and what speaks most for it and against it;
    the largest index first.
    """
    names, held = _surveyed(decider, asking)
    sight, index = held["sight"], held["index"]
    order = np.argsort(-index, kind="stable")
    features, mean, labels = decider._calls.spelled(held, decider._arms.__getitem__)
    more = _beyond_average(features, mean)
    columns = {
        "mean": sight.eta,
        "deviation": np.sqrt(sight.variance),
        "worth": sight.worth,
        **decider.policy.explanation(sight, decider.turn),
        "index": index,
    }
    ranked: dict[str, list[Any]] = {"arm": [names[a] for a in order]}
    ranked |= {name: [float(values[a]) for a in order] for name, values in columns.items()}
    ranked["for"] = [_most(more[a], labels) for a in order]
    ranked["against"] = [_most(-more[a], labels) for a in order]
    words = f"turn {decider.turn}: the arm with the largest index is played"
    return Table(ranked, words + decider.knowledge.form.words)


def _beyond_average(features: Floats, mean: Floats) -> Floats:
    """Return what each column of an arm adds beyond the average of all arms (arms × columns)."""
    more = (features - features.mean(axis=0)) * mean
    result: Floats = np.where(features != 0.0, more, 0.0)
    return result


def _most(adds: Floats, labels: list[tuple[Any, str]]) -> str:
    """Return the feature that adds most, if any does."""
    position = int(np.argmax(adds))
    return labels[position][1] if adds[position] > 0.0 else ""


def reasons(decider: Any, arm: Any, asking: Asking) -> Table:
    """Return what each feature adds for an arm beyond the average of all arms."""
    names, held = _surveyed(decider, asking)
    if not is_among(arm, names):
        raise unknown_arm(arm, names)
    features, mean, labels = decider._calls.spelled(held, decider._arms.__getitem__)
    row = names.index(arm)
    more = _beyond_average(features, mean)[row]
    order = [i for i in np.argsort(-more, kind="stable") if features[row, i] != 0.0]
    return Table(
        {
            "feature": [labels[i][1] for i in order],
            "of": [labels[i][0] for i in order],
            "value": [float(features[row, i]) for i in order],
            "coefficient": [float(mean[i]) for i in order],
            "speaks for it": [float(more[i]) for i in order],
        },
        f"why {arm}: what each feature adds beyond the average of all arms",
    )


def coefficients(decider: Any, level: float, most: int | None = None) -> Table:
    """Return every coefficient with its interval, and the deviation of its numbers (`per`), or the
    first ones; those that retired arms have for themselves are left out.
    """
    learnt = decider.knowledge
    labels = learnt.labels(decider._arms.__getitem__)
    belief, columns = learnt.belief, learnt.columns.columns
    gone = {decider._positions[arm] for arm in decider.retired}
    shown = [
        position
        for position, (kind, *parts) in enumerate(columns)
        if kind not in OF_ARMS or parts[0] not in gone
    ][:most]
    mean, model = belief.share @ belief.mean, learnt.form.model
    intervals = [ends(model, belief, row, level) for row in np.eye(len(columns))[shown]]
    result = {
        "feature": [labels[position][1] for position in shown],
        "of": [labels[position][0] for position in shown],
        "coefficient": mean[shown].tolist(),
        "low": [low for low, _ in intervals],
        "high": [high for _, high in intervals],
        "per": [
            learnt.columns.unit(columns[position], learnt.context, learnt.features)
            for position in shown
        ],
    }
    left = None if most is None else most - len(shown)
    for (owner, label), mean_of, row in learnt.in_table(decider, gone, left):
        low, high = ends(model, row, np.ones(1), level)
        for name, value in zip(result, (label, owner, mean_of, low, high, 1.0), strict=True):
            result[name].append(value)
    return Table(result)
