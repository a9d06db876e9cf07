"""What every log can keep and give back: texts, names of arms, families, models and policies."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from belman import codec, spec
from belman.deciders import validate
from belman.errors import (
    ArmError,
    BelmanError,
    FamilyError,
    PolicyError,
    StudyError,
    listing,
    nearest,
    shown,
)
from belman.escaping import for_csv
from belman.families import Family
from belman.frames import Frame, refusal
from belman.models import Model
from belman.policies import Policy
from belman.policies.dependent import DependentPolicy


def check_arm(arm: Hashable) -> Hashable:
    """A name that a log can keep and give back."""
    validate.check_new(arm, ())
    encoded = codec.encode_arm(arm)
    if _lost(encoded):
        allowed = "a study's arms are named by strings, numbers or tuples of them"
        raise ArmError(f"arm {arm!r} cannot be kept in a log: {allowed}")
    return codec.decode_arm(encoded)


def _lost(encoded: Any) -> bool:
    """Whether a name would not come back: JSON lacks its kind, or no encoding has the string."""
    if isinstance(encoded, str):
        return not validate.is_text(encoded)
    return isinstance(encoded, dict) and ("repr" in encoded or any(map(_lost, encoded["tuple"])))


def check_policy(policy: Policy) -> Policy:
    """A policy that a log can keep and give back."""
    if not isinstance(policy, Policy):
        remedy = "give one of belman.policies, such as belman.BelMan()"
        raise PolicyError(f"policy={policy!r} is not a policy: {remedy}")
    if policy.learns_from_asks:
        why = "what it learns depends on its asks too, which a log of rewards does not say"
        raise PolicyError(f"policy {policy.name!r} has no place in a study: {why}")
    kept(policy)
    return policy


def kept(part: Family | Model | Policy | DependentPolicy) -> dict[str, Any]:
    """The description of a part, from which the log restores it when the study is opened."""
    try:
        description = spec.describe(part)
        spec.build(description, trust="imported")
    except BelmanError as error:
        words = f"={part!r} cannot be kept in a log: {error}"
        if isinstance(part, (Family, Model)):
            what = "family" if isinstance(part, Family) else "model"
            raise FamilyError(what + words) from None
        raise PolicyError("policy" + words) from None
    return description


def given_back(description: Any, kind: type) -> Any:
    """The part that a log describes; a user's own has to be imported already."""
    try:
        return spec.build(description, kind, trust="imported")
    except BelmanError as error:
        raise StudyError(f"this study cannot be opened here: {error}") from None


class ArmTexts:
    """What the cells of a file may stand for.

    >>> arms = ArmTexts(["blue", 1, "1"])
    >>> arms.meant("blue"), arms.meant("int:1"), arms.meant("1")
    (['blue'], [1], [1, '1'])
    """

    def __init__(self, arms: Iterable[Hashable]) -> None:
        self._readings: dict[str, list[Hashable]] = {}
        self._own: dict[Any, Hashable] = {}
        for arm in arms:
            self._own[type(arm), arm] = arm
            for text in {*_ways(arm), *map(for_csv, _ways(arm))}:
                self._readings.setdefault(text, []).append(arm)

    def meant(self, cell: Any, typed: bool = False) -> list[Hashable]:
        """The arms that a cell may stand for; a number stands for itself, and so does a text where
        the file tells both apart (`typed`).
        """
        if isinstance(cell, (int, float, str) if typed else (int, float)):
            exact = self._own.get((type(cell), cell))
            if exact is not None:
                return [exact]
        text = str(cell)
        return self._readings.get(text) or self._readings.get(text.strip(), [])

    def column(self, frame: Frame, name: str, rows: Sequence[int] | None = None) -> list[Hashable]:
        """The arms that a column names, or `rows` of it, counted from 0; a cell that may be several
        arms is refused, and so is one that is none.
        """
        cells = frame.cells(name)
        chosen = range(len(cells)) if rows is None else rows
        given = [cells[i] for i in chosen]
        keys = [cell if type(cell) is str else (type(cell), str(cell)) for cell in given]
        result = {
            key: self.meant(cell, frame.typed)
            for key, cell in dict(zip(keys, given, strict=True)).items()
        }

        def say(i: int) -> str:
            meant, arms = self.meant(cells[i], frame.typed), list(self._own.values())
            if not meant:
                there = f"this study knows {listing(arms)}{nearest(cells[i], arms)}"
                return f"row {i + 1}: unknown arm {shown(cells[i])}: {there}"
            remedy = f"write {listing(_ways(arm)[1] for arm in meant)}"
            return f"row {i + 1}: {cells[i]!r} may be {listing(meant)}: {remedy}"

        if any(len(meant) != 1 for meant in result.values()):
            wrong = [i for i, key in zip(chosen, keys, strict=True) if len(result[key]) != 1]
            raise refusal(frame.source, wrong, say, ArmError)
        return [result[key][0] for key in keys]

    def text(self, arm: Hashable) -> str:
        """The name of an arm in a file, its kind in front (int:1) where two would read alike."""
        for way in _ways(arm):
            if len(self._readings[way]) == len(self._readings[for_csv(way)]) == 1:
                return way
        others = listing(self._readings[str(arm)])
        raise ArmError(f"arm {arm!r} cannot be told from others in a file: {others}")


def _ways(arm: Hashable) -> tuple[str, str]:
    """An arm as text, and with its kind in front."""
    return str(arm), f"{type(arm).__name__}:{arm}"
