"""A file of every kind that analysts bring, with a known truth, to its verdict in one command.

    python -m benchmarks.analyst [--folder FOLDER]

Writes the files, runs `belman report` on each, and prints the verdict beside what is true.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from typer.testing import CliRunner

from belman.cli import app
from belman.errors import BelmanError

DAY = 86_400
MONDAY = 1_709_510_400  # 2024-03-04


class File(NamedTuple):
    """A file with what `belman report` is given beside its name, and words that it has to say."""

    name: str
    truth: str
    make: Callable[[np.random.Generator], str | bytes]
    words: tuple[str, ...]
    says: tuple[str, ...]
    never: tuple[str, ...] = ()


def _lines(header: str, *columns: object) -> str:
    rows = zip(*columns, strict=True)
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def _arms(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.5, "old", "new")


def _coins(rng: np.random.Generator, arms: np.ndarray, old: float, new: float) -> np.ndarray:
    return (rng.random(arms.size) < np.where(arms == "new", new, old)).astype(int)


def _amounts(rng: np.random.Generator, n: int, sigma: float = 1.0) -> np.ndarray:
    return np.exp(rng.normal(3.0 - 0.5 * sigma * sigma, sigma, n)).round(2)


def _revenue(rng: np.random.Generator, arms: np.ndarray, lift: float) -> np.ndarray:
    buys = _coins(rng, arms, 0.04, 0.04 * (1.0 + lift))
    return np.where(buys == 1, _amounts(rng, arms.size), 0.0)


def totals(rng: np.random.Generator) -> str:
    old, new = rng.binomial(40_000, 0.05), rng.binomial(40_000, 0.06)
    return f"variant,visitors,conversions\nold,40000,{old}\nnew,40000,{new}\n"


def totals_of_amounts(rng: np.random.Generator) -> str:
    lines = ["variant,users,revenue,squares"]
    for name, lift in (("old", 0.0), ("new", 0.25)):
        spent = _revenue(rng, np.full(40_000, "new"), lift)
        lines.append(f"{name},{spent.size},{spent.sum():.2f},{(spent**2).sum():.2f}")
    return "\n".join(lines) + "\n"


def totals_by_day(rng: np.random.Generator) -> str:
    lines = ["date;Variant;Visitors;Orders"]
    for day in range(14):
        for name, rate in (("old", 0.05), ("new", 0.06)):
            n = int(rng.poisson(3_000))
            lines.append(f"{day + 1:02d}.03.2024;{name};{n};{rng.binomial(n, rate)}")
    return "\n".join(lines) + "\n"


def one_or_empty(rng: np.random.Generator) -> str:
    arms = _arms(rng, 20_000)
    won = _coins(rng, arms, 0.05, 0.07)
    return _lines("variant,converted", arms, np.where(won == 1, "1", ""))


def blank_variants(rng: np.random.Generator) -> str:
    arms = _arms(rng, 20_000)
    won = _coins(rng, arms, 0.05, 0.05)
    blank = rng.random(arms.size) < 0.05
    won = np.where(blank, rng.random(arms.size) < 0.5, won).astype(int)  # bots, which all convert
    return _lines("variant,converted", np.where(blank, "", arms), won)


def mixed_case(rng: np.random.Generator) -> str:
    arms = _arms(rng, 20_000)
    ways = rng.integers(0, 4, arms.size)
    spelt = np.select(
        [ways == 0, ways == 1, ways == 2],
        [arms, np.char.upper(arms), np.char.title(arms)],
        np.char.add(arms, " "),
    )
    return _lines("Variant,Converted", spelt, _coins(rng, arms, 0.05, 0.07))


def truths(rng: np.random.Generator) -> str:
    arms = _arms(rng, 20_000)
    won = _coins(rng, arms, 0.05, 0.07)
    return _lines("arm,reward", arms, np.where(won == 1, "TRUE", "no")).replace(",", "\t")


def decimal_commas(rng: np.random.Generator) -> bytes:
    arms = _arms(rng, 30_000)
    spent = [f"{value:.2f}".replace(".", ",") for value in _revenue(rng, arms, 0.3)]
    when = [f"{1 + i * 27 // arms.size:02d}/03/2024" for i in range(arms.size)]
    text = _lines("date;variant;revenue", when, arms, spent)
    lines = text.splitlines()
    fixed = [lines[0], *(";".join(line.split(",", 2)) for line in lines[1:])]
    return gzip.compress("\n".join(fixed).encode())


def euros(rng: np.random.Generator) -> str:
    arms = _arms(rng, 30_000)
    spent = 50.0 * _revenue(rng, arms, 0.3)
    cells = [f'"€{value:,.2f}"' if value else "" for value in spent]
    return _lines("group,amount", arms, cells)


def revenue(rng: np.random.Generator) -> str:
    arms = _arms(rng, 300_000)
    spent = _revenue(rng, arms, 0.08)
    spent[0] = 0.01  # one tiny early purchase
    return _lines("variant,revenue", arms, spent)


def same_revenue(rng: np.random.Generator) -> str:
    arms = _arms(rng, 60_000)
    spent = np.where(rng.random(arms.size) < 0.04, _amounts(rng, arms.size, 1.5), 0.0)
    return _lines("variant,revenue", arms, spent)


def lost_rows(rng: np.random.Generator) -> str:
    arms = _arms(rng, 60_000)
    won = _coins(rng, arms, 0.05, 0.07)
    keep = (arms == "old") | (rng.random(arms.size) > 0.06)
    return _lines("variant,converted", arms[keep], won[keep])


def weekends(rng: np.random.Generator) -> str:
    arms = _arms(rng, 60_000)
    when = np.sort(rng.integers(0, 28 * DAY, arms.size)) + MONDAY
    dip = np.where((when - MONDAY) // DAY % 7 >= 5, 0.57, 1.0)
    won = rng.random(arms.size) < 0.1 * dip
    return _lines("timestamp,variant,converted", when, arms, won.astype(int))


def novelty(rng: np.random.Generator) -> str:
    arms = _arms(rng, 60_000)
    when = np.sort(rng.integers(0, 28 * DAY, arms.size)) + MONDAY
    fades = 1.0 + 1.2 * np.exp(-(when - MONDAY) / (4.0 * DAY)) * (arms == "new")
    won = rng.random(arms.size) < 0.08 * fades
    return _lines("timestamp,variant,converted", when, arms, won.astype(int))


def _sessions(rng: np.random.Generator, lift: float) -> str:
    users = 6_000
    arm = _arms(rng, users)
    taste = np.exp(rng.normal(0.0, 1.0, users)) * np.where(arm == "new", 1.0 + lift, 1.0)
    many = 1 + rng.poisson(4.0, users)
    who = np.repeat(np.arange(users), many)
    rng.shuffle(who)
    spent = (taste[who] * rng.exponential(5.0, who.size)).round(2)
    return _lines("user_id,variant,revenue", who, arm[who], spent)


def sessions(rng: np.random.Generator) -> str:
    return _sessions(rng, 0.0)


def better_sessions(rng: np.random.Generator) -> str:
    return _sessions(rng, 0.25)


def covariate(rng: np.random.Generator) -> str:
    arms = _arms(rng, 20_000)
    before = rng.normal(100.0, 20.0, arms.size)
    after = 0.7 * before + rng.normal(30.0, 20.0 * np.sqrt(1 - 0.49), arms.size)
    after += np.where(arms == "new", 0.8, 0.0)
    return _lines("variant,spend_before,spend", arms, before.round(2), after.round(2))


def metrics(rng: np.random.Generator) -> str:
    arms = _arms(rng, 40_000)
    won = _coins(rng, arms, 0.05, 0.06)
    spent = np.where(won == 1, _amounts(rng, arms.size), 0.0)
    latency = rng.gamma(4.0, 50.0 * np.where(arms == "new", 1.1, 1.0))
    age = rng.integers(18, 80, arms.size)
    return _lines("variant,converted,revenue,latency,age", arms, won, spent, latency.round(1), age)


def switchback(rng: np.random.Generator) -> str:
    when = np.sort(rng.integers(0, 28 * DAY, 60_000)) + MONDAY
    block = (when - MONDAY) // 7_200
    arm = np.where(rng.random(block.max() + 1) < 0.5, "old", "new")
    mood = rng.normal(0.0, 2.0, block.max() + 1)
    value = 20.0 + mood[block] + np.where(arm[block] == "new", 1.5, 0.0)
    return _lines(
        "time,variant,reward", when, arm[block], (value + rng.normal(0, 5, when.size)).round(2)
    )


def held_out(rng: np.random.Generator) -> str:
    arms = rng.choice(["old", "new", "holdout"], 90_000)
    rate = np.select([arms == "holdout", arms == "new"], [0.040, 0.055], 0.050)
    return _lines("variant,converted", arms, (rng.random(arms.size) < rate).astype(int))


def unnamed_totals(rng: np.random.Generator) -> str:
    return "variant,exposed_people,reward\nold,40000,2000\nnew,40000,2400\n"


def broken(rng: np.random.Generator) -> str:
    return "variant,converted,date\nold,1,2024-03-01\nnew,maybe,2024-03-01\nold,0,yesterday\n"


BETTER = ("new", "you may stop")
LUCK = ("too early to stop",)
UNSOUND = "not sound"
OLD = ("--control", "old")
BY_USER = (*OLD, "--unit", "user_id")
PER_ROW = (*BY_USER, "--metric", "revenue/row")
CUPED = (*OLD, "--reward", "spend", "--before", "spend_before")
SEVERAL = (
    *(*OLD, "--metric", "converted", "--metric", "winsor99:revenue"),
    *("--metric", "p90:latency", "--by", "age"),
)
FILES = (
    File("totals.csv", "+20 %", totals, OLD, (*BETTER, "converts")),
    File("totals_of_amounts.csv", "+25 %", totals_of_amounts, OLD, BETTER),
    File("totals_by_day.csv", "+20 %", totals_by_day, OLD, (*BETTER, "no change over time")),
    File("one_or_empty.csv", "+40 %", one_or_empty, OLD, (*BETTER, "count as 0")),
    File("blank_variants.csv", "the same", blank_variants, OLD, (*LUCK, "without a variant")),
    File("mixed_case.csv", "+40 %", mixed_case, OLD, (*BETTER, "taken together")),
    File("truths.tsv", "+40 %", truths, OLD, BETTER),
    File("decimal_commas.csv.gz", "+30 %", decimal_commas, OLD, (*BETTER, "money")),
    File("euros.csv", "+30 %", euros, OLD, (*BETTER, "money", "count as 0")),
    File("revenue.csv", "+8 %", revenue, OLD, (*BETTER, "money")),
    File("same_revenue.csv", "the same", same_revenue, OLD, (*LUCK, "money"), (UNSOUND,)),
    File("lost_rows.csv", "6 % of new lost", lost_rows, OLD, (UNSOUND, "not even")),
    File("weekends.csv", "the same", weekends, OLD, (*LUCK, "at weekends"), (UNSOUND,)),
    File("novelty.csv", "fades", novelty, OLD, (UNSOUND, "changes over time")),
    File("sessions.csv", "the same", sessions, BY_USER, LUCK),
    File("sessions_per_row.csv", "the same", sessions, PER_ROW, LUCK),
    File("sessions_unsaid.csv", "the same", sessions, OLD, (UNSOUND, "--unit user_id")),
    File("better_sessions.csv", "+25 %", better_sessions, PER_ROW, BETTER),
    File("covariate.csv", "+0.8 %", covariate, CUPED, (*BETTER, "CUPED")),
    File("metrics.csv", "+20 %", metrics, SEVERAL, (*BETTER, "p90:latency", "cut in 4 groups")),
    File("switchback.csv", "+1.5", switchback, (*OLD, "--unit", "time:2h"), BETTER),
    File("held_out.csv", "+10 %", held_out, (*OLD, "--holdout", "holdout"), (*BETTER, "All other")),
    File("unnamed_totals.csv", "what to write", unnamed_totals, OLD, ("--visitors",)),
    File("broken.csv", "all problems", broken, OLD, ("'maybe' is not", "'yesterday' is not")),
)


def shown(file: File, folder: Path) -> str:
    """What one command says of a file."""
    made = file.make(np.random.default_rng(sum(map(ord, file.name))))
    path = folder / file.name
    path.write_bytes(made if isinstance(made, bytes) else made.encode())
    result = CliRunner().invoke(app, ["report", str(path), *file.words])
    if isinstance(result.exception, BelmanError):
        return str(result.exception)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def right(file: File, said: str) -> bool:
    """Whether a file is told as it has to be."""
    return all(word in said for word in file.says) and not any(word in said for word in file.never)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        wrong = 0
        for file in FILES:
            if given.only not in file.name:
                continue
            start = time.perf_counter()
            said = shown(file, folder)
            took = time.perf_counter() - start
            ok = right(file, said)
            wrong += not ok
            first = said.strip().splitlines()[0]
            print(
                f"{'ok   ' if ok else 'WRONG'} {file.name} ({file.truth}; {took:.1f} s): {first}",
                flush=True,
            )
            if given.only or not ok:
                print(said)
        print(f"{wrong} of {len(FILES)} wrong")


if __name__ == "__main__":
    main()
