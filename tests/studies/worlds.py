"""One life of a study in several worlds: the same calls on an object that lives on, on one that is
opened from its latest snapshot before every call, on one that is opened from the log alone, and on
two processes in turn. All have to answer the same.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

import belman
from belman import codec, errors, exposure, policies
from belman.assignment import Elsewhere, Eppo, GrowthBook, Weights
from belman.policies import dependent
from belman.studies import (
    Activate,
    Ask,
    AskSlots,
    Slot,
    Storage,
    Study,
    Tell,
    TellAll,
    archive,
    open_study,
    restore,
)
from belman.table import Table
from tests.studies.conftest import Clock
from tests.studies.forks import snapshots

_TICKET = re.compile(r"\b\d+-[0-9a-z]{8,}\b")
NO_SNAPSHOTS = 10**9
_FILES = itertools.count(1)


class HangingError(Exception):
    """A call does not return."""


@contextmanager
def hurried(seconds: float = 5.0) -> Iterator[None]:
    """Raise where Python spends more time of the processor than this, as in a loop without end."""

    def stop(*_: object) -> None:
        raise HangingError(f"it does not return within {seconds:g} s of the processor")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def unit(weights: Weights, arm: Any, i: int = 0) -> str:
    """A unit that is assigned to an arm by weights; any where nobody can draw its lot again."""
    if isinstance(weights.assigner, Elsewhere):
        return f"unit {i}"
    names = (f"unit {k}" for k in range(10**5))
    result = [name for name in names if belman.assign(weights, name).arm == arm][: i + 1]
    return result[i]


def shown(study: Study, table: Table) -> Table:
    """A table of what is seen of a study, in which no retired arm is named."""
    named = {name for column in ("arm", "of") for name in table.columns.get(column, ())}
    assert not named & set(study.retired), f"{named & set(study.retired)} is retired"
    return table


def one(study: Study, request: Any) -> Any:
    """What a request gets by itself."""
    (result,) = study.together([request])
    if isinstance(result, errors.BelmanError):
        raise result
    return result


def evidence(study: Study) -> Any:
    """The bets on the arms of all outcomes, to the last bit."""
    bets = study._replica.look(lambda state: state.tally.bets)
    return None if bets is None else codec.write(bets)


@contextmanager
def same_salts() -> Iterator[None]:
    """Units get the same arms in every world, since the salt of weights is not drawn anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("belman.studies.requests.publishing.secrets.token_hex", lambda n: "0f" * n)
        yield


class World:
    """A study, the objects in front of it, and the tickets that it gave."""

    def __init__(
        self,
        title: str,
        storages: Sequence[Storage],
        clock: Clock,
        *,
        lives_on: bool = True,
        every: int = NO_SNAPSHOTS,
        folder: str = "",
    ) -> None:
        self.title, self.storages, self.clock, self.folder = title, storages, clock, folder
        self.lives_on, self.every = lives_on, every
        self._calls = 0
        self.names: dict[str, Any] = {
            "belman": belman, "policies": policies, "dependent": dependent, "exposure": exposure,
            "shown": shown, "evidence": evidence, "archive": archive, "restore": restore,
            "Ask": Ask, "Tell": Tell, "Weights": Weights, "Elsewhere": Elsewhere,
            "Activate": Activate, "AskSlots": AskSlots, "Slot": Slot, "TellAll": TellAll,
            "one": one, "GrowthBook": GrowthBook, "Eppo": Eppo, "clock": clock, "t": [],
            "archive_events": self._archived,
        }  # fmt: skip

    def _archived(self, study: Study, keep: float | None) -> int:
        """Move old events to a file; where the log alone is to be read, that file is read too."""
        path = f"{self.folder}/{next(_FILES)}.parquet"
        moved = study.archive_events(path, keep=keep, reason="old")
        if not self.lives_on and self.every == NO_SNAPSHOTS:
            study.storage.execute("DELETE FROM belman_snapshots")
        return moved

    def begin(self, code: str) -> None:
        """Open the study for the first time."""
        first = eval(code, {**self.names, "open_study": open_study, "storage": self.storages[0]})
        self.name = first.name
        self._studies = [first, *(self._opened(storage) for storage in self.storages[1:])]

    def _opened(self, storage: Storage) -> Study:
        return open_study(self.name, storage=storage, clock=self.clock)

    def study(self) -> Study:
        """The study as the next call finds it: processes take turns, and some have just started."""
        self._calls += 1
        position = self._calls % len(self._studies)
        if not self.lives_on:
            self._studies[position] = self._opened(self.storages[position])
        return self._studies[position]

    def answer(self, code: str) -> tuple[str, Any]:
        """What a call gives, or how it is refused."""
        study = self.study()
        number = study.number
        refusal: errors.BelmanError | None = None
        with snapshots(self.every), same_salts(), hurried():
            try:
                return "gives", eval(code, {**self.names, "study": study})
            except errors.BelmanError as error:
                refusal = error
        if not isinstance(refusal, errors.PausedError):  # a guard may have paused it just now
            assert study.number == number, f"{code} was refused, and is in the log: {refusal}"
        return "refuses", refusal


class Places:
    """Databases for the worlds, and connections of as many processes, for many lives."""

    def __init__(self, urls: Sequence[str]) -> None:
        first, second, third, fourth = urls
        self.others = 0  # lives that were lived once more, to find the fewest lines
        self.storages = [Storage(url) for url in (first, second, third, fourth, fourth)]
        self.folder = tempfile.TemporaryDirectory()

    def worlds(self, clock: Clock, every: int) -> list[World]:
        """The worlds; one of them keeps a snapshot `every` so many events."""
        live, kept, log, *both = self.storages
        there: Any = {"clock": clock, "folder": self.folder.name}
        return [
            World("live", [live], **there),
            World("opened from a snapshot", [kept], lives_on=False, every=every, **there),
            World("opened from the log", [log], lives_on=False, **there),
            World("two processes", both, **there),
        ]

    def close(self) -> None:
        self.folder.cleanup()
        for storage in self.storages:
            storage.close()


def plain(answer: Any) -> Any:
    """An answer without what differs between two studies: secrets, and what follows from them."""
    if isinstance(answer, BaseException):
        return type(answer).__name__, _TICKET.sub("ticket", str(answer))
    if isinstance(answer, Weights):
        return answer.version, answer.arms, answer.weights, answer.segment, answer.valid_until
    if isinstance(answer, Table):
        return plain(answer.columns)
    if hasattr(answer, "_replace") and hasattr(answer, "id"):
        return plain(tuple(answer._replace(id="")))
    if isinstance(answer, dict):
        return {name: plain(value) for name, value in answer.items()}
    if isinstance(answer, (list, tuple)):
        return [plain(one) for one in answer]
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        return repr(answer)
    return "nan" if isinstance(answer, float) and math.isnan(answer) else answer
