"""Words of the command line as values: policies, also of one's own, exposures, numbers, tables."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from typing import IO, Any, cast

from belman import frames, spec
from belman.errors import PolicyError, SettingError, listing, nearest
from belman.exposure import Exposure
from belman.frames import Frame
from belman.measures import StopRule
from belman.policies import Drift, Policy
from belman.policies.dependent import DependentPolicy

#: Settings that the horizon of a run fills though they have a default.
_TOLD = tuple((name, "horizon") for name in ("gittins", "gittins-normal", "gittins-brezzi-lai"))


def policy(words: str, horizon: int) -> Policy:
    """A policy from its name, with settings after a colon: `epsilon-greedy:epsilon=0.05`. What
    needs a horizon gets this one. A policy or exposure inside is written the same way, in brackets
    where it has several settings. `mine.py:Cautious:width=0.7` is one of a file of yours.

    >>> policy("belman-paper", horizon=1000)
    BelMan(exposure=Paper(C=15.0, unit=None), reading='barycentre')
    >>> policy("phases:then=(top-two-thompson:beta=0.4),turns=20", horizon=1000).then
    TopTwoThompson(beta=0.4)
    """
    if names_a_file(words):
        file, _, rest = words.strip().partition(":")
        name, _, settings = rest.partition(":")
        return own_policy(f"{file}:{name}", pairs(settings))
    return spec.build(_description(words, Policy, horizon), Policy)


def dependent_policy(words: str, horizon: int) -> DependentPolicy:
    """The same for arms that share a belief.

    >>> dependent_policy("lin-ucb:alpha=2", horizon=1000)
    LinUCB(alpha=2)
    """
    return spec.build(_description(words, DependentPolicy, horizon), DependentPolicy)


def drift(words: str | None) -> str | Drift | None:
    """How a study follows a world that changes: `auto`, or settings as `half_life=604800`.

    >>> drift("half_life=604800,sure=0.99").half_life
    604800.0
    """
    if words is None or words == "auto":
        return words
    return cast("Drift", spec.build(_description(f"belman-drift:{words}", Drift, 0), Drift))


def shown(words: str) -> str:
    """A policy's words as its name in tables and pictures: those of a file without its folder.

    >>> shown("/home/me/mine.py:Cautious"), shown("ucb1")
    ('mine.py:Cautious', 'ucb1')
    """
    file, colon, rest = words.partition(":")
    return f"{Path(file).name}{colon}{rest}" if names_a_file(words) else words


def exposure(words: str) -> Exposure:
    """An exposure from its name, with settings after a colon.

    >>> exposure("constant:tau=0.5")
    Constant(tau=0.5)
    """
    return spec.build(_description(words, Exposure), Exposure)


def stop_rule(words: str) -> StopRule:
    """A stopping rule from its name, with settings after a colon.

    >>> stop_rule("separated:delta=0.01")
    Separated(delta=0.01, within=0.0)
    """
    return spec.build(_description(words, StopRule), StopRule)


def _description(words: str, kind: type, horizon: int | None = None) -> dict[str, Any]:
    name, _, rest = words.strip().partition(":")
    takes = spec.settings_of(name, kind)
    result: dict[str, Any] = {"name": name}
    for key, text in map(setting, split(rest)):
        inner = takes[key].kind if key in takes else None
        bare = text[1:-1] if text.startswith("(") and text.endswith(")") else text
        result[key] = value(text) if inner is None else _description(bare, inner, horizon)
    for key in ("budget", "horizon"):
        needed = key in takes and (takes[key].needed or (name, key) in _TOLD)
        if needed and key not in result and horizon is not None:
            result[key] = horizon
    return result


def split(words: str) -> list[str]:
    """Parts separated by commas, commas inside brackets left alone.

    >>> split("divergence=bernoulli, range=(0, 10)")
    ['divergence=bernoulli', 'range=(0, 10)']
    """
    parts, inside = [""], 0
    for letter in reversed(words):  # from the end, where a bracket that never closes is none
        inside += letter in ")]"
        inside -= letter in "([" and inside > 0
        if letter == "," and not inside:
            parts.append("")
        else:
            parts[-1] = letter + parts[-1]
    return [part.strip() for part in reversed(parts) if part.strip()]


def split_policies(words: str) -> list[str]:
    """Split at commas that start a new name, not at those between the settings of one.

    >>> split_policies("belman,kl-lucb:delta=0.05,m=2")
    ['belman', 'kl-lucb:delta=0.05,m=2']
    """
    parts: list[str] = []
    for part in split(words):
        if parts and ":" in parts[-1] and "=" in part.partition(":")[0]:
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return parts


def setting(part: str) -> tuple[str, str]:
    key, equals, text = part.partition("=")
    if not equals:
        raise SettingError(f"setting {part!r} has no value: write {part}=…")
    return key.strip(), text.strip()


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


def pairs(words: str) -> dict[str, Any]:
    """Values by name, separated by commas.

    >>> pairs("blue=0.5,green=0.5")
    {'blue': 0.5, 'green': 0.5}
    """
    return {key: value(text) for key, text in map(setting, split(words))}


def numbers(text: str, what: str) -> tuple[float, ...]:
    """Numbers separated by commas.

    >>> numbers("0.8,0.9", "means")
    (0.8, 0.9)
    """
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        remedy = "write, for instance, 0.8,0.9"
        raise SettingError(f"{what}={text!r} is not a list of numbers: {remedy}") from None


def output_folder(folder: Path) -> Path:
    """The folder, made where it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"output={str(folder)!r} cannot be written: {error.strerror}") from None
    return folder


def family_settings(given: list[str]) -> dict[str, Any]:
    """Settings of a family, `sigma=2.0` each."""
    return {key: value(text) for key, text in map(setting, given)}


def names_a_file(words: str) -> bool:
    """Whether words name a policy in a file.

    >>> names_a_file("mine.py:Cautious:width=0.7"), names_a_file("thompson")
    (True, False)
    """
    return words.partition(":")[0].strip().endswith(".py")


def own_policy(words: str, settings: dict[str, Any]) -> Policy:
    """The policy that a file defines under a name: a class of policies, or a policy.

    The file is imported by its name, with its folder on the path, so that what is compiled of it
    can be kept.
    """
    file, _, name = words.partition(":")
    path = Path(file.strip()).expanduser().resolve()
    if not path.is_file():
        raise PolicyError(f"policy {words!r}: there is no file {file.strip()!r}")
    result = vars(_imported(path))
    known = [key for key, thing in result.items() if _is_policy(thing, path.stem)]
    if name not in result or not _is_policy(result[name], None):
        there = f"it has {listing(known)}{nearest(name, known)}" if known else "it has none"
        raise PolicyError(f"{file.strip()} has no policy {name!r}: {there}")
    thing = result[name]
    if isinstance(thing, Policy):
        if settings:
            raise PolicyError(f"{words!r} is a policy already: it takes no settings {settings}")
        return thing
    try:
        made: Policy = thing(**settings)
    except TypeError as error:
        raise PolicyError(f"{words!r} cannot be made: {error}") from None
    return made


def _imported(path: Path) -> Any:
    other = sys.modules.get(path.stem)
    if other is not None:
        if getattr(other, "__file__", None) == str(path):
            return other
        remedy = "give the file another name"
        raise PolicyError(f"{path.name} cannot be imported beside {other.__name__!r}: {remedy}")
    sys.path.insert(0, str(path.parent))
    try:
        return importlib.import_module(path.stem)
    except Exception as error:
        raise PolicyError(f"{path.name} cannot be imported: {error}") from error
    finally:
        sys.path.remove(str(path.parent))


def _is_policy(thing: Any, module: str | None) -> bool:
    """Whether it is a policy or a class of them, made in a module if one is given."""
    is_one = isinstance(thing, Policy)
    kind = type(thing) if is_one else thing
    is_class = isinstance(kind, type) and issubclass(kind, Policy)
    return is_class and (module is None or is_one or kind.__module__ == module)


def title(path: Path) -> str:
    """What a page or a line calls a table."""
    return "standard input" if str(path) == "-" else path.name


def table(path: Path) -> Frame:
    """Read the table that an argument names: a file, or standard input for `-`."""
    return frames.read(given(path))


def given(path: Path) -> Path | IO[bytes]:
    """The file that an argument names: standard input for `-`."""
    return sys.stdin.buffer if str(path) == "-" else path
