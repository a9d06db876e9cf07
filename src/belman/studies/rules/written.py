"""What every log can keep: texts that any encoding has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from belman.errors import SettingError


def is_encodable(text: str) -> bool:
    """Whether a text can be written in any encoding: it holds no half of a surrogate pair."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def check_texts(values: Mapping[str, Any]) -> None:
    """Refuse values that no log could keep."""
    for name, value in values.items():
        if isinstance(value, str) and not is_encodable(value):
            words = "it holds half of a surrogate pair, which no encoding has"
            raise SettingError(f"{name}={value!r} cannot be kept in a log: {words}")
