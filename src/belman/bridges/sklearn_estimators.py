"""Estimators for scikit-learn: an agent with contexts as a regressor of rewards, and as a decider.

What they believe is what an agent believes that was told the same rows: `agent_` is that agent.
"""

# ruff: noqa: N803 (X, as it is called there)
from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.agent import Agent
from belman.deciders import Asking
from belman.deciders.featured import forecasts
from belman.deciders.shares import Shares, check_floor
from belman.errors import RewardError, SettingError, needing, shown
from belman.validate import is_between

with needing("an estimator of scikit-learn", "sklearn", "sklearn"):
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        _check_feature_names_in,
        check_is_fitted,
        column_or_1d,
        validate_data,
    )

Floats = NDArray[np.float64]
Rows = list[dict[str, Any]]

#: What the regressor calls its one arm, where no column says which was played.
ROW = "reward"


class _Along(BaseEstimator):
    """What both have in common: rows as contexts, and an agent that is told them."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _rows(self, X: Any, *, reset: bool) -> Rows:
        """Return validated rows by the names of their columns."""
        result = validate_data(self, X, dtype=None, ensure_all_finite="allow-nan", reset=reset)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{position}" for position in range(result.shape[1])]
        if result.dtype.kind == "O":
            _check_values(result)
        elif result.dtype.kind == "f" and result.dtype.itemsize != 8:
            result = result.astype(np.float64)
        return [dict(zip(names, row, strict=True)) for row in result.tolist()]

    def _made(self, arms: Sequence[Hashable], names: Sequence[str]) -> Agent:
        """Return an agent with the settings of this estimator."""
        params = self.get_params(deep=False)
        settings = {name: params[name] for name in self._settings}
        rng = check_random_state(params.get("random_state", 0))
        return Agent(arms, context=list(names), seed=int(rng.randint(2**31)), **settings)

    _settings: tuple[str, ...] = ()

    def _askings(self, contexts: Rows) -> list[Asking]:
        decider = self.agent_._decider
        return [decider.check(context) for context in contexts]


class RewardRegressor(RegressorMixin, _Along):
    """Foretells the reward of a row, and says how sure that is, by the belief of an agent.

    Numbers are standardised, words are categories, and missing values count as such: no encoder or
    scaler is needed before it.

    Parameters
    ----------
    arm
        The name or the place of the column that says which arm was played; every arm answers the
        other columns in its own way. None where rows are of one thing.
    model, scale, discount, drift
        As those of `belman.Agent`; rewards are any numbers by default ("linear").

    >>> import numpy as np
    >>> X = np.random.default_rng(7).normal(size=(100, 2))
    >>> regressor = RewardRegressor().fit(X, X @ [1.0, -2.0])
    >>> mean, deviation = regressor.predict([[1.0, 1.0]], return_std=True)
    >>> print(round(float(mean[0]), 2), bool(deviation[0] < 0.1))
    -0.99 True
    """

    _settings = ("model", "scale", "discount", "drift")

    def __init__(
        self,
        arm: str | int | None = None,
        *,
        model: Any = "linear",
        scale: float | None = None,
        discount: float | None = None,
        drift: Any = None,
    ) -> None:
        self.arm = arm
        self.model = model
        self.scale = scale
        self.discount = discount
        self.drift = drift

    def fit(self, X: Any, y: ArrayLike) -> RewardRegressor:
        """Learn the rewards `y` of the rows of `X`, and forget what was learnt before."""
        return self._learn(None, X, y)

    def partial_fit(self, X: Any, y: ArrayLike) -> RewardRegressor:
        """Learn the rewards of further rows; arms that are new are taken in."""
        return self._learn(getattr(self, "agent_", None), X, y)

    def _learn(self, agent: Agent | None, X: Any, y: ArrayLike) -> RewardRegressor:
        if y is None:  # said as scikit-learn says it
            raise ValueError("requires y to be passed, but the target y is None")
        contexts = self._rows(X, reset=agent is None)
        rewards = _numbers(y, len(contexts), "y")
        played = self._played(contexts)
        if agent is None:
            agent = self._made(list(dict.fromkeys(played)), list(contexts[0]))
        else:
            agent = copy.deepcopy(agent)  # a row that is refused changes nothing
        for arm, context, reward in zip(played, contexts, rewards, strict=True):
            if arm not in agent.arms:
                agent.add_arm(arm)
            agent.tell(arm, reward, context)
        self.agent_ = agent
        return self

    def _played(self, contexts: Rows) -> list[Any]:
        """Take the arm out of every row."""
        if self.arm is None:
            return [ROW] * len(contexts)
        names = list(contexts[0])
        name = self.arm
        if isinstance(name, (int, np.integer)) and 0 <= name < len(names):
            name = names[name]
        if name not in names or len(names) < 2:
            columns = ", ".join(map(shown, names))
            raise SettingError(f"arm={self.arm!r} is no column beside others: there are {columns}")
        played = [context.pop(name) for context in contexts]
        if any(arm is None or arm != arm for arm in played):
            raise SettingError(f"column {name!r} says of some rows not which arm was played")
        return played

    def predict(
        self, X: Any, return_std: bool = False
    ) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
        """Return the expected reward of every row, and with `return_std` the standard deviation of
        what is believed of it (of the mean, not of one reward).
        """
        askings, positions = self._asked(X)
        every = np.arange(len(positions))
        mean = forecasts.means(self.agent_._decider, askings)[every, positions]
        if not return_std:
            return mean
        wide = forecasts.deviations(self.agent_._decider, askings)[every, positions]
        return mean, wide

    def predict_interval(self, X: Any, level: float = 0.95) -> NDArray[Any]:
        """Return the two ends of the credible interval of every expected reward, rows × 2."""
        if not is_between(level, 0.0, 1.0) or level in (0.0, 1.0):
            raise SettingError(f"level={level!r} is not strictly between 0 and 1")
        askings, positions = self._asked(X)
        result = forecasts.intervals(self.agent_._decider, askings, level)
        return result[np.arange(len(positions)), positions]

    def _asked(self, X: Any) -> tuple[list[Asking], list[int]]:
        check_is_fitted(self)
        contexts = self._rows(X, reset=False)
        arms = {arm: position for position, arm in enumerate(self.agent_.arms)}
        played = self._played(contexts)
        for arm in played:
            if arm not in arms:
                raise SettingError(f"arm {shown(arm)} was not met: there are {list(arms)!r}"[:400])
        return self._askings(contexts), [arms[arm] for arm in played]


class ContextualDecider(ClassifierMixin, TransformerMixin, _Along):
    """Decides by context which arm to try, by the belief and the policy of an agent.

    `fit(X, y, reward=r)` learns a log: in row i arm `y[i]` was tried, and brought `r[i]`. Without
    rewards `y` is the arm that was right: it brought 1, and each other 0.

    Parameters
    ----------
    policy, model, features, pooling, interactions, scale, minimise, discount, drift
        As those of `belman.Agent`.
    floor
        The least chance of every arm, or of some by name.
    random_state
        Of the draws of `agent_`, should it be asked.

    >>> import numpy as np
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> decider = ContextualDecider("lin-ts").fit(X, ["left", "left", "right", "right"])
    >>> decider.predict([[-3.0], [3.0]]).tolist()
    ['left', 'right']
    """

    classes_: NDArray[Any]
    _settings = (
        "policy",
        "features",
        "model",
        "pooling",
        "interactions",
        "scale",
        "minimise",
        "discount",
        "drift",
    )

    def __init__(
        self,
        policy: Any = None,
        *,
        features: Any = None,
        model: Any = "logistic",
        pooling: str | None = None,
        interactions: Any = None,
        scale: float | None = None,
        minimise: bool | None = None,
        discount: float | None = None,
        drift: Any = None,
        floor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.policy = policy
        self.features = features
        self.model = model
        self.pooling = pooling
        self.interactions = interactions
        self.scale = scale
        self.minimise = minimise
        self.discount = discount
        self.drift = drift
        self.floor = floor
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, reward: ArrayLike | None = None) -> ContextualDecider:
        """Learn which arms `y` were tried in the rows of `X` and the `reward` of each, and forget
        what was learnt before.
        """
        return self._learn(None, X, y, reward, None)

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        reward: ArrayLike | None = None,
    ) -> ContextualDecider:
        """Learn further rows; the first call says by `classes` which arms there are."""
        return self._learn(getattr(self, "agent_", None), X, y, reward, classes)

    def _learn(
        self,
        agent: Agent | None,
        X: Any,
        y: ArrayLike,
        reward: ArrayLike | None,
        classes: ArrayLike | None,
    ) -> ContextualDecider:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        contexts = self._rows(X, reset=agent is None)
        check_classification_targets(y)
        tried = column_or_1d(y, warn=True)
        if len(tried) != len(contexts):
            raise SettingError(f"there are {len(contexts)} rows in X and {len(tried)} in y")
        rewards = None if reward is None else _numbers(reward, len(contexts), "reward")
        if agent is None:
            arms = np.unique(tried if classes is None else np.asarray(classes))
            agent = self._made(arms.tolist(), list(contexts[0]))
        else:
            arms = self.classes_
            if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), arms):
                raise SettingError(f"classes={classes!r} are others than at first: {arms.tolist()}")
            agent = copy.deepcopy(agent)
        if strange := sorted(set(tried.tolist()) - set(agent.arms), key=str):
            raise SettingError(f"y has {strange!r}, which are not among classes {arms.tolist()}")
        right = 0.0 if self.minimise else 1.0
        for row, (arm, context) in enumerate(zip(tried.tolist(), contexts, strict=True)):
            if rewards is not None:
                agent.tell(arm, rewards[row], context)
                continue
            for one in agent.arms:
                agent.tell(one, right if one == arm else 1.0 - right, context)
        self._shares_of(agent)  # refuses floors that cannot be
        self.agent_, self.classes_ = agent, arms
        return self

    def _shares_of(self, agent: Agent) -> Shares:
        shares = Shares(check_floor(self.floor or None, agent.arms))
        shares.check(agent.arms)
        return shares

    def _asked(self, X: Any) -> list[Asking]:
        check_is_fitted(self)
        return self._askings(self._rows(X, reset=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the arm with the largest chance in every row, the first of equals."""
        positions = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[positions])

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the chance with which the policy chooses every arm, beside floors."""
        askings = self._asked(X)
        return forecasts.chances(self.agent_._decider, askings, self._shares_of(self.agent_))

    def sample(self, X: Any, random_state: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw an arm for every row by its chances; the arms, and the chance of each."""
        chances = self.predict_proba(X)
        points = check_random_state(random_state).uniform(size=(len(chances), 1))
        ends = chances.cumsum(axis=1)
        positions = (points * ends[:, -1:] >= ends).sum(axis=1)
        return np.asarray(self.classes_[positions]), chances[np.arange(len(positions)), positions]

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the expected reward (or cost) of every arm in every row."""
        askings = self._asked(X)
        return forecasts.means(self.agent_._decider, askings)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of `transform`: the arms."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        return np.array([str(arm) for arm in self.classes_.tolist()], dtype=object)


def _check_values(result: NDArray[Any]) -> None:
    """Refuse what is neither a number nor a word, in the words of scikit-learn."""
    for value in result.ravel().tolist():
        number = isinstance(value, (int, float, np.number))
        if number and not isinstance(value, bool) and math.isinf(value):
            raise ValueError("X contains infinity or a value too large")
        if not number and not isinstance(value, str) and value is not None:
            if type(value).__name__ in ("NAType", "NaTType"):
                continue
            kind = type(value).__name__
            raise TypeError(f"argument must be a string or a real number, not {kind!r}")


def _numbers(given: ArrayLike, rows: int, name: str) -> list[float]:
    """Return finite numbers, one a row."""
    result = column_or_1d(given, warn=True)
    try:
        result = np.asarray(result, dtype=np.float64)
    except (TypeError, ValueError):
        raise RewardError(f"{name} must be numbers: Unknown label type: {result.dtype}") from None
    if not np.isfinite(result).all():
        raise RewardError(f"Input {name} contains NaN or infinity")
    if len(result) != rows:
        raise SettingError(f"there are {rows} rows in X and {len(result)} in {name}")
    numbers: list[float] = result.tolist()
    return numbers
