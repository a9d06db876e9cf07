"""Words of the command line as things of the package: policies, problems and config files."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from belman.errors import ExposureError, PolicyError, SettingError, listing, nearest
from belman.exposure import EXPOSURES, Exposure
from belman.families import Family, family_named
from belman.policies import POLICIES, Policy, q_ths, q_ucb, qbelman
from belman.policies.belman import BelMan
from belman.problems import Problem
from belman.problems.stationary import RandomStationary, Stationary

#: Policies that are a setting of another, by the name they go by.
PRESETS: dict[str, Callable[..., Policy]] = {
    "belman-paper": BelMan.paper,
    "belman-until": BelMan.until,
    "q-ucb": q_ucb,
    "q-ths": q_ths,
    "qbelman": qbelman,
}

#: What a config file may hold, and its default.
DEFAULTS: dict[str, Any] = {
    "family": "bernoulli",
    "settings": {},
    "means": None,
    "random_arms": None,
    "policies": ["belman", "thompson"],
    "horizon": 1000,
    "runs": 1000,
    "seed": 0,
    "workers": None,
    "executor": "threads",
    "store": None,
    "output": "belman-run",
    "log": False,
}


def policy(words: str, horizon: int) -> Policy:
    """A policy from its name, with settings after a colon: `epsilon-greedy:epsilon=0.05`. What
    needs a horizon gets this one.

    >>> policy("belman-paper", horizon=1000)
    BelMan(exposure=Paper(C=15.0), reading='barycentre')
    """
    name, _, rest = words.strip().partition(":")
    known = [*POLICIES, *PRESETS]
    if name not in known:
        raise PolicyError(
            f"unknown policy {name!r}: there are {listing(known, most=40)}{nearest(name, known)}"
        )
    settings = dict(_setting(part, name) for part in split(rest))
    if name in PRESETS:
        accepted = inspect.signature(PRESETS[name]).parameters
        _check_settings(name, settings, accepted)
        return PRESETS[name](**({"horizon": horizon} if "horizon" in accepted else {}) | settings)
    kind = POLICIES[name]
    takes = {field.name: field for field in fields(kind)}
    _check_settings(name, settings, takes)
    if "budget" in takes:
        settings = {"budget": horizon, **settings}
    if "horizon" in takes and "horizon" not in settings:
        needed = takes["horizon"].default is MISSING or name == "gittins"
        settings |= {"horizon": horizon} if needed else {}
    if isinstance(settings.get("policy"), str):
        settings["policy"] = policy(settings["policy"], horizon)
    try:
        return kind(**settings)
    except TypeError as error:
        raise PolicyError(
            f"policy {name!r} lacks a setting: {error} (write {name}:setting=value)"
        ) from None


def exposure(words: str) -> Exposure:
    """An exposure from its name, with settings after a colon.

    >>> exposure("constant:tau=0.5")
    Constant(tau=0.5)
    """
    name, _, rest = words.strip().partition(":")
    known = [kind for kind in EXPOSURES if kind != "schedule"]
    if name not in known:
        raise ExposureError(
            f"unknown exposure {name!r}: there are {listing(known)}{nearest(name, known)}"
        )
    takes = [field.name for field in fields(EXPOSURES[name])]
    settings = dict(_setting(part, name) for part in split(rest))
    for setting in settings:
        if setting not in takes:
            raise ExposureError(
                f"exposure {name!r} has no setting {setting!r}: it has {listing(takes)}{nearest(setting, takes)}"
            )
    try:
        return EXPOSURES[name](**settings)
    except TypeError as error:
        raise ExposureError(
            f"exposure {name!r} lacks a setting: {error} (write {name}:setting=value)"
        ) from None


def _check_settings(name: str, settings: Iterable[str], takes: Iterable[str]) -> None:
    for setting in settings:
        if setting not in takes:
            raise PolicyError(
                f"policy {name!r} has no setting {setting!r}: it has {listing(takes)}{nearest(setting, takes)}"
            )


def split(words: str) -> list[str]:
    """Parts separated by commas, commas inside brackets left alone.

    >>> split("divergence=bernoulli, range=(0, 10)")
    ['divergence=bernoulli', 'range=(0, 10)']
    """
    return [part.strip() for part in re.split(r",(?![^(\[]*[)\]])", words) if part.strip()]


def split_policies(words: str) -> list[str]:
    """Split at commas that start a new name, not at those between the settings of one.

    >>> split_policies("belman,kl-lucb:delta=0.05,m=2")
    ['belman', 'kl-lucb:delta=0.05,m=2']
    """
    parts: list[str] = []
    for part in split(words):
        if parts and ":" in parts[-1] and "=" in part and ":" not in part:
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return parts


def _setting(part: str, policy_name: str) -> tuple[str, Any]:
    key, equals, text = part.partition("=")
    if not equals:
        raise PolicyError(f"setting {part!r} of {policy_name!r} has no value: write {part}=…")
    return key.strip(), value(text)


def value(text: str) -> Any:
    """A number, a truth value or a word.

    >>> value("0.5"), value("true"), value("bernoulli")
    (0.5, True, 'bernoulli')
    """
    word = text.strip()
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return word


def numbers(text: str, what: str) -> tuple[float, ...]:
    """Numbers separated by commas.

    >>> numbers("0.8,0.9", "means")
    (0.8, 0.9)
    """
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise SettingError(
            f"{what}={text!r} is not a list of numbers: write, for instance, 0.8,0.9"
        ) from None


def problem(
    family: str | Family, settings: dict[str, Any], means: Any, random_arms: int | None
) -> Problem:
    """Fixed means, or random arms drawn from the family's prior."""
    if (means is None) == (random_arms is None):
        raise SettingError(
            "a problem needs either means (--means 0.8,0.9) or random arms (--random-arms 10)"
        )
    law = family_named(family, **settings)
    if random_arms is not None:
        return RandomStationary(law, random_arms, law.prior)
    return Stationary(law, tuple(means))


def config(path: Path) -> dict[str, Any]:
    """A TOML file with the options of `belman run`; a key that is none of them is refused."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"{path} cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{path} is not TOML: {error}") from None
    for key in found:
        if key not in DEFAULTS:
            raise SettingError(
                f"{path} has an unknown key {key!r}: there are {listing(DEFAULTS, most=20)}{nearest(key, DEFAULTS)}"
            )
    return found


def output_folder(folder: Path) -> Path:
    """The folder, made where it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"output={str(folder)!r} cannot be written: {error.strerror}") from None
    return folder


def family_settings(pairs: list[str]) -> dict[str, Any]:
    """Settings of a family, `sigma=2.0` each."""
    found = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise SettingError(f"setting {pair!r} has no value: write, for instance, sigma=2.0")
        found[key.strip()] = value(text)
    return found
