"""Logs that were edited behind the back of every belman: a check finds each edit."""

from __future__ import annotations

import random
import tempfile

from belman.errors import BelmanError
from belman.studies import Storage, Study, open_study
from tests.attack.harness import Attack, Trials
from tests.studies.test_chain import EDITS, some_events

#: Statements with a place for the number of an event, and for a value.
CHANGES = (
    "DELETE FROM belman_events WHERE number = {number}",
    "DELETE FROM belman_events WHERE number BETWEEN {number} AND {number} + 2 AND number < {last}",
    "UPDATE belman_events SET time = time - {value} WHERE number = {number}",
    "UPDATE belman_events SET kind = kind + 1 WHERE number = {number}",
    "UPDATE belman_events SET arm = coalesce(arm, 0) + 1 WHERE number = {number}",
    "UPDATE belman_events SET reward = coalesce(reward, 0.5) + {value} WHERE number = {number}",
    "UPDATE belman_events SET probability = {value} WHERE number = {number}",
    "UPDATE belman_events SET ticket = coalesce(ticket, 0) + 1 WHERE number = {number}",
    "UPDATE belman_events SET key = 'x{value}' WHERE number = {number}",
    "UPDATE belman_events SET body = coalesce(body, '') || ' ' WHERE number = {number}",
    "UPDATE belman_events SET link = x'0011' WHERE number = {number}",
    "UPDATE belman_events SET number = {last} + 7 WHERE number = {number} AND number < {last}",
    "INSERT INTO belman_events (study, number, kind, time, arm, reward, link) "
    "SELECT 1, {last} + 1, 5, 2e9, 0, {value}, link FROM belman_events WHERE number = {last}",
)


def edit(luck: random.Random, last: int) -> str:
    """An edit of an event that is not the last, of which a process alone may know."""
    position = {"number": luck.randrange(1, last), "last": last, "value": luck.uniform(0.1, 0.4)}
    return luck.choice(CHANGES).format(**position)


def _finds(study: Study, anew: bool = False) -> bool:
    """Whether a study, or the same opened anew, says that its log was edited."""
    try:
        (Study(study.name, study.storage) if anew else study).check()
    except BelmanError:
        return True
    return False


def run(trials: Trials) -> None:
    """A trial is an edit of a log of its own."""
    for number in trials:
        with tempfile.TemporaryDirectory() as folder:
            storage = Storage(f"sqlite:///{folder}/studies.db?synchronous=normal")
            study = open_study("study", ["a", "b", "c"], storage=storage, seed=1)
            some_events(study)
            known = list(EDITS.values())
            if number >= len(known):
                study.ask(trials.luck.randint(1, 20))
            sql = known[number] if number < len(known) else edit(trials.luck, study.number)
            study.check()
            changed = storage.execute(sql)
            result = [_finds(study), _finds(study, anew=True)]
            trials.expect(result == [bool(changed)] * 2, f"found {result}: {sql}")
            storage.close()


ATTACK = Attack(
    "logs edited",
    "rows of a log are removed, added, renumbered, swapped or changed in any column",
    "`check()` finds it, in the process that wrote the log and in one that opens it",
    run,
    short=40,
    long=3_000,
    seconds=600.0,
)
