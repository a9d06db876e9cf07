"""Lots that are drawn again: every row of a log beside what its unit's hash gave at its time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from belman.analysis import past
from belman.analysis.past import Assigned, Log, Past
from belman.analysis.rows import Account
from belman.errors import SettingError, listing

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_LOOKED = 10_000  # contradicted rows that other versions are asked about


@dataclass(frozen=True)
class Lots:
    """Rows that were randomised: their arms, the chances of all arms, and the version."""

    arms: tuple[str, ...]
    rows: Whole
    played: Whole
    chances: Floats
    versions: Whole

    def where(self, order: Whole) -> Lots:
        """These rows of the log, in this order."""
        position = np.empty(int(self.rows.max(initial=-1)) + 1, dtype=np.int64)
        position[self.rows] = np.arange(self.rows.size)
        at = position[order]
        return Lots(self.arms, order, self.played[at], self.chances[at], self.versions[at])


def drawn_again(
    log: Log,
    history: Past,
    names: list[str],
    times: Floats,
    rows: Whole,
    spelling: str | None,
    late: float,
    contradicted: float,
    account: Account,
) -> Lots:
    """Assign all rows again, and compare."""
    since = np.array(history.times)
    versions = np.searchsorted(since, times, side="right") - 1
    rows = drop(account, rows, versions < 0, "before the first version")
    soon = (versions > 0) & (times - since[np.maximum(versions, 0)] < late)
    rows = drop(account, rows, soon, f"within {late:g} s of a change")
    rows = drop(account, rows, np.array([name == "" for name in names]), "without a variation")
    spelling = _spelling(history, {names[i] for i in rows.tolist()}, spelling, log.frame.source)
    arms: dict[str, int] = {}
    word = {name: position for position, name in enumerate(dict.fromkeys(names))}
    coded = np.array([word[name] for name in names], dtype=np.int64)
    kept: list[tuple[Whole, Whole, Floats, tuple[str, ...]]] = []
    wrong: list[Whole] = []
    reasons, contradictions = np.zeros((2, len(past.REASONS)), dtype=np.int64)
    for version in np.unique(versions[rows]).tolist():
        own = rows[versions[rows] == version]
        result = history.assigned(version, log, own, spelling)
        same = _codes(result, word)[result.seen] == coded[own]
        same |= np.isin(
            result.reasons, (past.NO_UNIT, past.PREREQUISITE)
        )  # the program's own value
        wrong.append(own[~same])
        contradictions += np.bincount(result.reasons[~same], minlength=reasons.size)
        reasons += np.bincount(result.reasons[same], minlength=reasons.size)
        good = same & (result.reasons == past.LOT)
        if not good.any():
            continue
        used = result.names
        if not arms.keys() >= set(used):
            arms |= {name: len(arms) + i for i, name in enumerate(n for n in used if n not in arms)}
        position = np.array([arms[name] for name in used], dtype=np.int64)
        kept.append((own[good], position[result.seen[good]], result.chances[good], used))
    mismatched = np.concatenate(wrong) if wrong else np.zeros(0, dtype=np.int64)
    for reason in range(1, reasons.size):
        account.drop(past.REASONS[reason], int(reasons[reason]))
    account.drop("with another variation than the hash gives", int(contradictions[past.LOT]))
    for reason in range(1, reasons.size):
        why = f"{past.REASONS[reason]}, and yet with another variation"
        account.drop(why, int(contradictions[reason]))
    if mismatched.size:
        words = _why(log, history, mismatched, versions, coded, word, spelling, times, since)
        share = mismatched.size / max(rows.size, 1)
        if share > contradicted:
            many = f"{mismatched.size:,} of {rows.size:,} rows ({100 * share:.3g} %)"
            raise SettingError(
                f"{account.source}: {many} have another variation than the hash gives. More than "
                f"{100 * contradicted:g} % are refused, since chances would be those of other "
                f"assignments. {words} {account.sentence}"
            )
        account.said.append(words)
    return _joined(arms, kept, versions)


def _codes(result: Assigned, word: Mapping[str, int]) -> Whole:
    """What names of a version are among those of the log; behind them, for none, the empty one."""
    return np.array([*(word.get(name, -2) for name in result.names), -2], dtype=np.int64)


def _joined(
    arms: Mapping[str, int],
    kept: list[tuple[Whole, Whole, Floats, tuple[str, ...]]],
    versions: Whole,
) -> Lots:
    """The rows of all versions, with the arms that ever had a chance."""
    size = sum(rows.size for rows, *_ in kept)
    chances = np.zeros((size, len(arms)))
    rows, played = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    start = 0
    for own, seen, shares, names in kept:
        stop = start + own.size
        rows[start:stop], played[start:stop] = own, seen
        chances[start:stop, [arms[name] for name in names]] = shares
        start = stop
    ever = chances.max(0, initial=0.0) > 0.0
    position = np.cumsum(ever) - 1
    known = tuple(name for name, is_there in zip(arms, ever.tolist(), strict=True) if is_there)
    return Lots(known, rows, position[played], chances[:, ever], versions[rows])


def _spelling(history: Past, seen: set[str], given: str | None, source: str) -> str:
    """What the log calls arms: what all of its names fit, if that leaves no doubt."""
    known = history.spellings
    if given is not None:
        if given not in known:
            raise SettingError(f"spelling={given!r} is not valid: give one of {listing(known)}")
        return given
    fits = [one for one, names in known.items() if seen <= set(names)]
    if not fits:
        near = min(known, key=lambda one: len(seen - set(known[one])))
        others = listing(sorted(seen - set(known[near])))
        words = f"which no rule gives: by {near} there are {listing(sorted(known[near]))}"
        raise SettingError(f"{source} has the variations {others}, {words}")
    if seen and len(fits) > 1:
        words = f"may be meant by {' or by '.join(fits)}: say spelling= which"
        raise SettingError(f"{source}: the variations {listing(sorted(seen))} {words}")
    return fits[0]


def _why(
    log: Log,
    history: Past,
    wrong: Whole,
    versions: Whole,
    coded: Whole,
    word: Mapping[str, int],
    spelling: str,
    times: Floats,
    since: Floats,
) -> str:
    """What is known of rows whose variation is not the one that the hash gives."""
    looked = wrong[:: max(1, math.ceil(wrong.size / _LOOKED))]
    left, said = looked, []
    for step, where in ((-1, "the version before"), (1, "the next version")):
        result = []
        for version in np.unique(versions[left]).tolist():
            own = left[versions[left] == version]
            if 0 <= version + step < since.size:
                again = history.assigned(version + step, log, own, spelling)
                result.append(own[_codes(again, word)[again.seen] == coded[own]])
        fits = np.concatenate(result) if result else np.zeros(0, dtype=np.int64)
        if fits.size:
            gap = times[fits] - since[versions[fits]]
            if step > 0:
                gap = since[versions[fits] + 1] - times[fits]
            share = 100.0 * fits.size / looked.size
            side = "after the change" if step < 0 else "before it"
            said.append(
                f"{share:.0f} % have that of {where} ({np.quantile(gap, 0.95):.3g} s {side} for 19 "
                "of 20 of them)"
            )
        left = np.setdiff1d(left, fits)
    if left.size:
        said.append(f"{100.0 * left.size / looked.size:.0f} % that of neither")
    hint = "; clients that fetch late need late=, and sticky or forced variations have no lot"
    return f"Of rows with another variation than the hash gives, {', '.join(said)}{hint}."


def drop(account: Account, rows: Whole, wrong: NDArray[np.bool_], why: str) -> Whole:
    """Rows without the wrong ones, which are counted."""
    own = wrong[rows]
    account.drop(why, int(own.sum()))
    return rows[~own]
