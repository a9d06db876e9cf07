"""Studies as feature flags: a flag is a study with published weights, and its variants are arms."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from belman.assignment import Assignment, Weights, assign
from belman.studies import Study

#: What a context of a flag names the unit by.
UNIT = "targetingKey"


@dataclass(frozen=True)
class Flag:
    """A study as a flag: its default value, the weights that stand, by segment, and the context
    that each segment is, where the study learns by segment.
    """

    name: str
    default: Hashable
    weights: dict[str | None, Weights]
    contexts: dict[str | None, Mapping[str, Any]] | None

    def chosen(self, fits: Callable[[Weights], bool] = lambda _: True) -> Weights | None:
        """Return the weights for all units, or else the first of a segment, of those that fit."""
        result = [one for one in self.weights.values() if fits(one)]
        whole = [one for one in result if one.segment is None]
        return next(iter(whole + result), None)

    @cached_property
    def _for_all(self) -> Weights | None:
        return self.chosen()

    def decided(self, unit: str | int, attributes: Mapping[str, Any]) -> Assignment | None:
        """Return the arm of a unit by what is known of it; None in a segment without weights."""
        if self.contexts is not None:
            for segment, context in self.contexts.items():
                if all(attributes.get(name) == value for name, value in context.items()):
                    return assign(self.weights[segment], unit)
            return None
        weights = self._for_all
        if weights is None:
            return None
        if weights.contexts is None:
            return assign(weights, unit)
        return assign(weights, unit, {one: attributes.get(one) for one in weights.contexts.names})


def flag_of(study: Study) -> Flag | None:
    """Return a study as a flag; None where it has published nothing."""
    segments, settings, arms = study.published_segments(), study.settings, study.arms
    if not segments:
        return None
    default = settings.control if settings.control in arms else arms[0]
    contexts = None if settings.segments is None else dict(segments)
    return Flag(study.name, default, {one: study.weights(one) for one in segments}, contexts)
