"""What options of `belman study` stand for: metrics, attributes, priors, floors, guard-rails."""

from __future__ import annotations

from collections.abc import Hashable

from belman.cli.parse import numbers, pairs, setting
from belman.errors import SettingError, listing


def metrics(pairs: list[str] | None) -> dict[str, float] | None:
    """Metrics of a ticket, `latency=0.8` each.

    >>> metrics(["latency=0.8", "refund=0"])
    {'latency': 0.8, 'refund': 0.0}
    """
    if not pairs:
        return None
    found: dict[str, float] = {}
    for name, text in map(setting, pairs):
        if name in found:
            raise SettingError(f"metric {name!r} was given twice: {listing(pairs)}")
        try:
            found[name] = float(text)
        except ValueError:
            remedy = "write, for instance, latency=0.8"
            raise SettingError(f"metric {name}={text!r} is not a number: {remedy}") from None
    return found


def attributes(pairs: list[str] | None) -> dict[str, str] | None:
    """Attributes of a ticket, `device=phone` each.

    >>> attributes(["device=phone", "country=NL"])
    {'device': 'phone', 'country': 'NL'}
    """
    if not pairs:
        return None
    found = dict(map(setting, pairs))
    if len(found) < len(pairs):
        raise SettingError(f"an attribute was given twice: {listing(pairs)}")
    return found


def silence(words: str) -> float | str:
    """What a silent ticket counts as.

    >>> silence("0.5"), silence("forget")
    (0.5, 'forget')
    """
    return words if words == "forget" else numbers(words, "silence")[0]


def priors(pairs: list[str]) -> dict[Hashable, tuple[float, ...]]:
    """Priors of single arms, `blue=2,3` each.

    >>> priors(["blue=2,3"])
    {'blue': (2.0, 3.0)}
    """
    return {arm: numbers(text, "priors") for arm, text in map(setting, pairs)}


def floor(words: str) -> float | dict[Hashable, float]:
    """The least share of every arm, or of some by name.

    >>> floor("0.05"), floor("blue=0.2,red=0.1")
    (0.05, {'blue': 0.2, 'red': 0.1})
    """
    if "=" in words:
        return {arm: numbers(str(share), "floor")[0] for arm, share in pairs(words).items()}
    return numbers(words, "floor")[0]


def guard(limits: list[str]) -> dict[str, str]:
    """Limits on metrics, a name and a limit each.

    >>> guard(["refund < 0.05", "rating>3 up to 5"])
    {'refund': '< 0.05', 'rating': '> 3 up to 5'}
    """
    found = {}
    for words in limits:
        sign = next((sign for sign in "<>" if sign in words), None)
        if sign is None:
            raise SettingError(
                f"guard={words!r} is not a limit: write, for instance, refund < 0.05"
            )
        name, _, limit = words.partition(sign)
        found[name.strip()] = f"{sign} {limit.strip()}"
    return found
