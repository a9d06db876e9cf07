"""A sampler for Optuna: candidates of a search space are arms that share a belief."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from belman.agent import Agent
from belman.errors import needing
from belman.policies.dependent import DependentPolicy
from belman.validate import require_whole

with needing("a sampler for Optuna", "optuna", "optuna"):
    from optuna.distributions import (
        BaseDistribution,
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.search_space import IntersectionSearchSpace
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState

Space = Mapping[str, BaseDistribution]
Numeric = (FloatDistribution, IntDistribution)

_WIDTH = 3.0  # deviations from the median to which values are clipped
_NEAR = 0.1  # deviation of a neighbour, as a share of its range
_CHANGED = 0.4  # the probability that a neighbour differs in a parameter
_BUMPS = 6  # along the range of a number, whose heights make any smooth curve
_BEST = 5  # trials whose neighbours are candidates


class BelmanSampler(BaseSampler):
    """Suggests the point of a search space that a contextual bandit chooses among candidates.

    It is made for categorical and mixed spaces. All points of a small space of categories and whole
    numbers are candidates; else points drawn at random, and neighbours of the best trials so far.
    What is believed follows from the finished trials of the study alone, so that any number of
    processes may share one.

    Parameters
    ----------
    policy
        A policy for arms that share a belief, or its name, such as "lin-ts"; by default that of an
        agent with features.
    n_startup_trials
        How many trials are drawn at random at first.
    n_candidates
        How many points are looked at for a trial.
    seed
        Of the random numbers.
    """

    def __init__(
        self,
        policy: str | DependentPolicy | None = None,
        *,
        n_startup_trials: int = 10,
        n_candidates: int = 200,
        seed: int | None = None,
    ) -> None:
        require_whole("n_startup_trials", n_startup_trials, 1)
        require_whole("n_candidates", n_candidates, 2)
        Agent(features=["x"], model="linear", policy=policy)  # refuses what is none
        self._policy = policy
        self._startup, self._most = n_startup_trials, n_candidates
        self._random = RandomSampler(seed)
        self._rng = np.random.default_rng(seed)
        self._space = IntersectionSearchSpace()
        self._learnt: dict[str, _Learnt] = {}
        self._lock = threading.RLock()

    def reseed_rng(self) -> None:
        """Draw other random numbers from here on, as a new process has to."""
        self._random.reseed_rng()
        self._rng = np.random.default_rng()

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Say which parameters all finished trials have, where there is a choice."""
        with self._lock:
            space = self._space.calculate(study)
        return {name: one for name, one in space.items() if not one.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Choose a point of the space; an empty one while there are too few trials."""
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        trials = [
            one
            for one in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
            if one.value is not None and search_space.keys() <= one.params.keys()
        ]
        if len(trials) < self._startup:
            return {}
        with self._lock:
            draw = self._drawing(study, trial, search_space)
            is_less = study.direction == StudyDirection.MINIMIZE
            order = sorted(trials, key=lambda one: one.value or 0.0, reverse=not is_less)
            candidates = self._candidates(search_space, draw, order)
            agent = self._taught(study, search_space, trials, is_less)
            position = agent.ask(candidates=[_features(search_space, one) for one in candidates])
            agent.cancel(ticket=agent.ticket)
        return candidates[position]

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Draw a parameter at random."""
        self._raise_error_if_multi_objective(study)
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    # Candidates

    def _drawing(self, study: Study, trial: FrozenTrial, space: Space) -> Callable[[str], Any]:
        sample = self._random.sample_independent
        return lambda name: sample(study, trial, name, space[name])

    def _candidates(
        self, space: Space, draw: Callable[[str], Any], order: Sequence[FrozenTrial]
    ) -> list[dict[str, Any]]:
        """All points of a small space, else random ones, and neighbours of the best trials."""
        axes = [_values(one, self._most) for one in space.values()]
        if all(axis is not None for axis in axes):
            sizes = [len(axis) for axis in axes if axis is not None]
            if math.prod(sizes) <= self._most:
                points = itertools.product(*(axis for axis in axes if axis is not None))
                return [dict(zip(space, point, strict=True)) for point in points]
        result = [{name: draw(name) for name in space} for _ in range(self._most // 2)]
        best = order[:_BEST]
        while len(result) < self._most:
            start = best[len(result) % len(best)].params
            result.append(
                {name: self._near(space[name], start[name], draw, name) for name in space}
            )
        return result

    def _near(
        self, axis: BaseDistribution, value: Any, draw: Callable[[str], Any], name: str
    ) -> Any:
        if self._rng.random() >= _CHANGED:
            return value
        if not isinstance(axis, Numeric):
            return draw(name)
        low, high = _scaled(axis, axis.low), _scaled(axis, axis.high)
        moved = _scaled(axis, min(max(value, axis.low), axis.high))
        moved += _NEAR * (high - low) * self._rng.normal()
        moved = min(max(moved, low), high)
        number = math.exp(moved) if axis.log else moved
        if axis.step is not None:
            number = axis.low + axis.step * round((number - axis.low) / axis.step)
        number = min(max(number, axis.low), axis.high)
        return int(number) if isinstance(axis, IntDistribution) else float(number)

    # What is believed

    def _taught(
        self, study: Study, space: Space, trials: Sequence[FrozenTrial], is_less: bool
    ) -> Agent:
        """An agent that has learnt all finished trials, on the scale of those known when it began;
        it begins anew where there are twice as many, or the space is another one.
        """
        key = f"{trials[0].datetime_start} {sorted(space.items(), key=lambda item: item[0])}"
        learnt = self._learnt.get(study.study_name)
        if learnt is None or learnt.key != key or len(trials) >= 2 * learnt.size:
            seed = int(self._rng.integers(2**32))
            agent = Agent(features=_names(space), model="linear", policy=self._policy, seed=seed)
            learnt = self._learnt[study.study_name] = _Learnt(agent, key, trials, is_less)
        learnt.follow(space, trials)
        return learnt.agent


class _Learnt:
    """An agent, the trials that it has learnt, and the scale on which it did."""

    def __init__(
        self, agent: Agent, key: str, trials: Sequence[FrozenTrial], is_less: bool
    ) -> None:
        self.agent, self.key, self.size = agent, key, len(trials)
        values = np.array([one.value for one in trials], dtype=np.float64)
        values = values[np.isfinite(values)]
        self._middle = float(np.median(values)) if values.size else 0.0
        spread = float(np.median(np.abs(values - self._middle))) if values.size else 0.0
        self._spread = (spread or (float(values.std()) if values.size else 0.0) or 1.0) * (
            -1.0 if is_less else 1.0
        )
        self._known: set[int] = set()

    def follow(self, space: Space, trials: Sequence[FrozenTrial]) -> None:
        for trial in trials:
            if trial.number in self._known:
                continue
            self._known.add(trial.number)
            point = {name: trial.params[name] for name in space}
            value = ((trial.value or 0.0) - self._middle) / self._spread
            reward = min(max(value, -_WIDTH), _WIDTH)
            self.agent.tell(_features(space, point), 0.0 if math.isnan(reward) else reward)


def _values(axis: BaseDistribution, most: int) -> Sequence[Any] | None:
    """All values of a parameter, where there are few."""
    if isinstance(axis, CategoricalDistribution):
        return axis.choices
    if isinstance(axis, IntDistribution) and (axis.high - axis.low) // axis.step < most:
        return range(axis.low, axis.high + 1, axis.step)
    return None


def _scaled(axis: FloatDistribution | IntDistribution, value: float) -> float:
    return math.log(value) if axis.log else float(value)


def _names(space: Space) -> list[str]:
    bumps = [f" {k}" for k in range(_BUMPS)]
    return [
        f"{name}{bump}"
        for name, axis in space.items()
        for bump in (bumps if isinstance(axis, Numeric) else [""])
    ]


def _features(space: Space, point: Mapping[str, Any]) -> dict[str, Any]:
    """A point as features: numbers by bumps along their range, categories by their place."""
    result: dict[str, Any] = {}
    for name, axis in space.items():
        if isinstance(axis, Numeric):
            low, high = _scaled(axis, axis.low), _scaled(axis, axis.high)
            share = (_scaled(axis, point[name]) - low) / (high - low)
            for k in range(_BUMPS):
                away = (_BUMPS - 1) * share - k
                result[f"{name} {k}"] = math.exp(-0.5 * away * away)
        else:
            result[name] = f"choice {int(axis.to_internal_repr(point[name]))}"
    return result
