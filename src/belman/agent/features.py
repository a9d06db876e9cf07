"""Features that a function of the user's gives: of any object, a mapping or an array."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from belman.deciders.featured.arrays import as_array, is_array
from belman.deciders.featured.settings import MOST_NAMES, check_names
from belman.errors import SettingError

#: What of a fitted model gives features, the first of them that it has.
_METHODS = ("transform", "predict_proba", "predict")


class Features:
    """What a function, or a fitted model of scikit-learn, tells of a context or a candidate.

    Parameters
    ----------
    function
        A function of one object that returns {name: value}, or an array; or a fitted model with
        `transform`, `predict_proba` or `predict`, which is given rows as it was fitted to.
    names
        The names of what it returns: one for every number, or ["embedding[384]"] for an array that
        is one value. A transformer that names its columns needs none.

    >>> import belman
    >>> length = belman.agent.Features(lambda text: {"length": len(text)}, ["length"])
    >>> agent = belman.Agent(["short", "long"], context=length, seed=7)
    >>> agent.ask(context="a question in some words") in ("short", "long")
    True
    """

    def __init__(self, function: Any, names: Iterable[str] | None = None) -> None:
        method = next((each for each in _METHODS if hasattr(function, each)), None)
        if method is None and not callable(function):
            allowed = f"a function, or a fitted model with {' or '.join(_METHODS)}"
            raise SettingError(f"{function!r} gives no features: it must be {allowed}")
        self.function, self._method = function, method
        self.names = check_names(self._result() if names is None else names, "names")

    def __repr__(self) -> str:
        return f"Features({self.called}, {self.names!r})"

    @property
    def called(self) -> str:
        """The name of the function, or the class of the model."""
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def _result(self) -> list[str]:
        """Return the names that a transformer gives its columns; many columns are one array."""
        known: Callable[[], Iterable[Any]] | None
        known = getattr(self.function, "get_feature_names_out", None)
        if known is None or self._method != "transform":
            remedy = 'Features(function, names=["length"]), or ["embedding[384]"] for an array'
            raise SettingError(f"what {self.called} returns has no names: give {remedy}")
        result = [str(name) for name in known()]
        return result if len(result) <= MOST_NAMES else [f"features[{len(result)}]"]

    def of(self, objects: Sequence[Any]) -> list[dict[str, Any]]:
        """Compute the features of objects, in one call where a model takes rows.

        Parameters
        ----------
        objects
            The objects, as the function or the model takes them.

        Returns
        -------
        list of dict
            The values of each object, by name.

        Raises
        ------
        SettingError
            If the function returns another number of values than are named.
        """
        if self._method is None:
            return [self._named(self.function(each)) for each in objects]
        rows: Any = list(objects)
        columns = getattr(self.function, "feature_names_in_", None)
        if columns is not None:  # it was fitted to a data frame
            try:
                import pandas as pd
            except ImportError as error:
                remedy = "pip install 'belman[pandas]'"
                raise SettingError(f"{self.called} takes data frames: {remedy}") from error
            rows = pd.DataFrame(rows, columns=list(columns))
        result = getattr(self.function, self._method)(rows)
        result = result.toarray() if hasattr(result, "toarray") else result  # text is often sparse
        return [self._named(each) for each in getattr(result, "values", result)]

    def _named(self, result: Any) -> dict[str, Any]:
        if isinstance(result, Mapping):
            return dict(result)
        if not is_array(result):
            result = [result]
        array = as_array(self.called, result)
        (first, *others) = self.names
        if not others and first.endswith("]"):
            return {first[: first.rindex("[")]: array}
        if array.size != len(self.names):
            wanted = f"{len(self.names)} are named: {self.names!r}"
            raise SettingError(f"{self.called} returned {array.size} numbers, and {wanted}"[:400])
        return dict(zip(self.names, array.tolist(), strict=True))


def features_of(given: Any) -> Features | None:
    """Return what turns objects into features, or None where a setting lists names or values."""
    if given is None or isinstance(given, Features):
        return given
    gives = callable(given) or any(hasattr(given, method) for method in _METHODS[:2])
    listed = isinstance(given, (str, bytes, Mapping, Sequence)) or hasattr(given, "to_dict")
    return Features(given) if gives and not listed else None


def of_arms(given: Any, arms: Sequence[Hashable]) -> Any:
    """Return {arm: features} where a function of the arm gives them; anything else as it is."""
    if isinstance(given, Features):
        return dict(zip(arms, given.of(arms), strict=True))
    if not callable(given) or hasattr(given, "to_dict"):
        return given
    result = {arm: given(arm) for arm in arms}
    return {arm: {"features": value} if is_array(value) else value for arm, value in result.items()}


class Functions:
    """The functions that contexts and candidates of an agent go through, if any."""

    def __init__(self, context: Features | None = None, features: Features | None = None) -> None:
        self.given = {"context": context, "features": features}

    def names(self) -> dict[str, str]:
        """Return what each function is called: a state file can hold no more of it."""
        return {name: one.called for name, one in self.given.items() if one is not None}

    def context(self, context: Any) -> Any:
        """Return the named values of a context."""
        function = self.given["context"]
        return context if function is None or context is None else function.of([context])[0]

    def candidates(self, candidates: Any) -> Any:
        """Return the named values of every candidate."""
        function = self.given["features"]
        if function is None or candidates is None or isinstance(candidates, (str, bytes)):
            return candidates
        return function.of(candidates)

    def candidate(self, arm: Any) -> Any:
        """Return the named values of a candidate in place of its number, or the number."""
        function = self.given["features"]
        return arm if function is None or isinstance(arm, int) else function.of([arm])[0]
