"""Words of the command line as things of the package: policies, problems and config files."""

from __future__ import annotations

import ast
import csv
import tomllib
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, cast

from belman import spec
from belman.cli.own_policy import names_a_file, own_policy
from belman.cli.worlds import world
from belman.errors import SettingError, listing, nearest
from belman.exposure import Exposure
from belman.families import Family
from belman.measures import StopRule
from belman.policies import Drift, Policy
from belman.problems import Problem, corrupted, delayed, from_rewards
from belman.problems.stationary import RandomStationary, Stationary

#: What a config file may hold, and its default.
DEFAULTS: dict[str, Any] = {
    "family": "bernoulli",
    "settings": {},
    "means": None,
    "random_arms": None,
    "rewards": None,
    "columns": None,
    "order": "drawn",
    "corruption": None,
    "problem": None,
    "delays": None,
    "window": None,
    "arrivals": 1.0,
    "told": "early",
    "policies": ["belman", "thompson"],
    "horizon": 1000,
    "runs": 1000,
    "seed": 0,
    "workers": None,
    "executor": "threads",
    "store": None,
    "output": "belman-run",
    "log": False,
    "format": "png",
    "size": "screen",
}
#: Settings that the horizon of a run fills though they have a default.
_TOLD = (("gittins", "horizon"), ("gittins-normal", "horizon"))
#: Formats and sizes of pictures.
FORMATS, SIZES = ("png", "svg", "pdf"), ("screen", "print")


def policy(words: str, horizon: int) -> Policy:
    """A policy from its name, with settings after a colon: `epsilon-greedy:epsilon=0.05`. What
    needs a horizon gets this one. A policy or exposure inside is written the same way, in brackets
    where it has several settings. `mine.py:Cautious:width=0.7` is one of a file of yours.

    >>> policy("belman-paper", horizon=1000)
    BelMan(exposure=Paper(C=15.0), reading='barycentre')
    >>> policy("phases:then=(top-two-thompson:beta=0.4),turns=20", horizon=1000).then
    TopTwoThompson(beta=0.4)
    """
    if names_a_file(words):
        file, _, rest = words.strip().partition(":")
        name, _, settings = rest.partition(":")
        given = {key: value(text) for key, text in map(_setting, split(settings))}
        return own_policy(f"{file}:{name}", given)
    return spec.build(_description(words, Policy, horizon), Policy)


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
    """A rule to stop by from its name, with settings after a colon.

    >>> stop_rule("separated:delta=0.01")
    Separated(delta=0.01)
    """
    return spec.build(_description(words, StopRule), StopRule)


def _description(words: str, kind: type, horizon: int | None = None) -> dict[str, Any]:
    name, _, rest = words.strip().partition(":")
    takes = spec.settings_of(name, kind)
    found: dict[str, Any] = {"name": name}
    for key, text in map(_setting, split(rest)):
        inner = takes[key].kind if key in takes else None
        bare = text[1:-1] if text.startswith("(") and text.endswith(")") else text
        found[key] = value(text) if inner is None else _description(bare, inner, horizon)
    for key in ("budget", "horizon"):
        needed = key in takes and (takes[key].needed or (name, key) in _TOLD)
        if needed and key not in found and horizon is not None:
            found[key] = horizon
    return found


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


def _setting(part: str) -> tuple[str, str]:
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
    return {key: value(text) for key, text in map(_setting, split(words))}


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


def means(text: str) -> tuple[float, ...]:
    """Means of arms: numbers separated by commas, or a CSV file with a column `mean`, or with one
    column.

    >>> means("0.8,0.9")
    (0.8, 0.9)
    """
    if not text.strip().lower().endswith(".csv"):
        return numbers(text, "means")
    path = Path(text.strip()).expanduser()
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingError(f"means={text!r} cannot be read: {error}") from None
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    place = head.index("mean") if "mean" in head else 0
    if "mean" not in head and len(head) != 1:
        raise SettingError(f"{text} has no column 'mean': it has {listing(head)}")
    found = rows[1:] if _is_word(rows[0][place]) else rows
    try:
        read = tuple(float(row[place]) for row in found)
    except (ValueError, IndexError):
        bad = next(row for row in found if len(row) <= place or _is_word(row[place]))
        raise SettingError(f"{text} holds {','.join(bad)!r}, which has no number there") from None
    if not read:
        raise SettingError(f"{text} holds no means")
    return read


def _is_word(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return True
    return False


def one_of(word: str, known: Iterable[str], what: str) -> str:
    """A word that is one of those known."""
    if word not in (there := list(known)):
        raise SettingError(
            f"{what}={word!r} is unknown: there are {listing(there)}{nearest(word, there)}"
        )
    return word


def problem(family: str, settings: dict[str, Any], means: Any, random_arms: int | None) -> Problem:
    """Fixed means, or random arms drawn from the family's prior."""
    if (means is None) == (random_arms is None):
        ways = "either means (--means 0.8,0.9) or random arms (--random-arms 10)"
        raise SettingError(f"a problem needs {ways}")
    law = spec.build({"name": family, **settings}, Family)
    if random_arms is not None:
        return RandomStationary(law, random_arms, law.prior)
    return Stationary(law, tuple(means))


def problem_of(options: dict[str, Any]) -> Problem:
    """What the options of `belman run` describe: means, random arms or rewards that one has."""
    ways = [name for name in ("means", "random_arms", "rewards") if options[name] is not None]
    if options["problem"] is not None:
        found = changing_problem(options["problem"], options)
    elif options["rewards"] is None:
        found = problem(
            options["family"], options["settings"], options["means"], options["random_arms"]
        )
        if options["columns"] is not None:
            raise SettingError(f"columns={options['columns']!r} are of a file: give --rewards too")
    elif len(ways) > 1:
        raise SettingError(f"a problem needs one of means, random arms and rewards, not {ways}")
    else:
        family = options["family"]
        law = None if family is None else {"name": family, **options["settings"]}
        columns = options["columns"]
        found = from_rewards(
            options["rewards"],
            None if law is None else spec.build(law, Family),
            arms=split(columns) if isinstance(columns, str) else columns,
            order=options["order"],
        )
    if options["corruption"] is None:
        return found
    return corrupted(found, options["corruption"])


def changing_problem(words: str, options: dict[str, Any]) -> Problem:
    """A world that changes: `drifting:arms=3,changes=4`, for the family and the horizon given.

    >>> changing_problem("sinusoid:arms=2", {**DEFAULTS, "horizon": 500}).arms
    2
    """
    for name in ("means", "random_arms", "rewards", "delays"):
        if options[name] is not None:
            raise SettingError(f"problem={words!r} has means of its own: leave out {name}")
    law = spec.build({"name": options["family"], **options["settings"]}, Family)
    name, _, rest = words.strip().partition(":")
    given = {key: value(text) for key, text in map(_setting, split(rest))}
    return world(name, given, law, options["horizon"])


def late(problem: Problem, options: dict[str, Any]) -> Problem:
    """The problem with late rewards, if there are delays: `expon:scale=30`, one of SciPy's.

    >>> shop = late(Stationary(spec.build("bernoulli"), (0.04, 0.03)), {
    ...     "delays": "expon:scale=30", "window": 120.0, "arrivals": 60.0, "told": "window"})
    >>> shop.told, round(shop.quantiles[0][512], 1)
    ('window', 20.2)
    """
    words, window = options["delays"], options["window"]
    if (words is None) != (window is None):
        raise SettingError("late rewards need both delays and a window: --delays … --window …")
    if words is None:
        return problem
    from scipy import stats  # half a second, for those who ask

    name, _, rest = words.strip().partition(":")
    law: Any = getattr(stats, name, None)
    if not hasattr(law, "ppf"):
        raise SettingError(
            f"delays={words!r} is no distribution of SciPy: write, for instance, expon:scale=30"
        )
    try:
        frozen = law(**{key: value(text) for key, text in map(_setting, split(rest))})
    except TypeError as error:
        raise SettingError(f"delays={words!r} is no distribution of SciPy: {error}") from None
    told, arrivals = options["told"], options["arrivals"]
    return delayed(problem, frozen, window, arrivals=arrivals, told=told)


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
                f"{path} has an unknown key {key!r}: there are "
                f"{listing(DEFAULTS, most=20)}{nearest(key, DEFAULTS)}"
            )
    return found


def output_folder(folder: Path) -> Path:
    """The folder, made where it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(f"output={str(folder)!r} cannot be written: {error.strerror}") from None
    return folder


def family_settings(given: list[str]) -> dict[str, Any]:
    """Settings of a family, `sigma=2.0` each."""
    return {key: value(text) for key, text in map(_setting, given)}


def metrics(pairs: list[str] | None) -> dict[str, float] | None:
    """Metrics of a ticket, `latency=0.8` each.

    >>> metrics(["latency=0.8", "refund=0"])
    {'latency': 0.8, 'refund': 0.0}
    """
    if not pairs:
        return None
    found: dict[str, float] = {}
    for name, text in map(_setting, pairs):
        if name in found:
            raise SettingError(f"metric {name!r} was given twice: {listing(pairs)}")
        try:
            found[name] = float(text)
        except ValueError:
            remedy = "write, for instance, latency=0.8"
            raise SettingError(f"metric {name}={text!r} is no number: {remedy}") from None
    return found


def attributes(pairs: list[str] | None) -> dict[str, str] | None:
    """Attributes of a ticket, `device=phone` each.

    >>> attributes(["device=phone", "country=NL"])
    {'device': 'phone', 'country': 'NL'}
    """
    if not pairs:
        return None
    found = dict(map(_setting, pairs))
    if len(found) < len(pairs):
        raise SettingError(f"an attribute was given twice: {listing(pairs)}")
    return found


def floor(words: str | None) -> float | dict[Hashable, float] | None:
    """The least share of every arm, or of some by name.

    >>> floor("0.05"), floor("blue=0.2,red=0.1")
    (0.05, {'blue': 0.2, 'red': 0.1})
    """
    if words is None:
        return None
    if "=" in words:
        return {arm: numbers(str(share), "floor")[0] for arm, share in pairs(words).items()}
    return numbers(words, "floor")[0]


def guard(limits: list[str] | None) -> dict[str, str] | None:
    """Limits on metrics, a name and a limit each.

    >>> guard(["refund < 0.05", "rating>3 up to 5"])
    {'refund': '< 0.05', 'rating': '> 3 up to 5'}
    """
    found = {}
    for words in limits or ():
        sign = next((sign for sign in "<>" if sign in words), None)
        if sign is None:
            raise SettingError(f"guard={words!r} is no limit: write, for instance, refund < 0.05")
        name, _, limit = words.partition(sign)
        found[name.strip()] = f"{sign} {limit.strip()}"
    return found or None
