"""Corrections cost what they touch: short events, and no log that is read while others wait."""

from __future__ import annotations

import pytest

from belman import errors
from belman.models import Linear
from belman.studies.log.event_log import EventLog, Kind
from belman.studies.requests import correcting

ARMS = ["a", "b"]
KINDS = {
    "features": {"context": ["page"]},
    "fading features": {"context": ["page"], "model": Linear(keep=0.99)},
    "segments": {"segments": ["page"]},
    "discount": {"discount": 0.9},
}


@pytest.fixture(params=KINDS)
def kind(request) -> str:
    return request.param


def lived(opened, kind, turns=60):
    """A study of many levels, or segments, and its tickets."""
    study = opened("study", ARMS, seed=1, **KINDS[kind])
    tickets = []
    for turn in range(turns):
        given = {} if kind == "discount" else {"context": {"page": f"page {turn}"}}
        tickets.append(study.ask(**given))
        study.tell(tickets[-1], float(turn % 3 == 0))
    return study, tickets


def test_the_event_of_a_correction_is_short(opened, kind):
    study, tickets = lived(opened, kind)
    study.correct(tickets[3], 0.0, "refund")
    study.correct(tickets[4], None, "fraud")
    bodies = [event.body for event in study.events() if event.kind == Kind.CORRECTED]
    assert len(bodies) == 2
    assert max(map(len, bodies)) < 1_000
    study.check()


def test_no_correction_reads_the_log_while_it_writes(opened, kind, monkeypatch):
    study, tickets = lived(opened, kind, turns=20)
    reads, after = [], EventLog.after

    def watched(self, transaction, number=0, **options):
        reads.append((transaction._write, number))
        return after(self, transaction, number, **options)

    monkeypatch.setattr(EventLog, "after", watched)
    study.correct(tickets[3], 0.0, "refund")
    assert all(number >= 40 for writes, number in reads if writes)
    assert (False, 0) in reads or kind in ("features", "segments")


@pytest.mark.parametrize("rival", ["ask", "correct"])
def test_what_comes_while_the_log_is_read_counts(opened, kind, rival, monkeypatch):
    """Somebody else asks and tells, or corrects, between the reading and the writing."""
    study, tickets = lived(opened, kind, turns=20)
    other, read = opened("study", None), correcting._Reading.read
    rivals = [tickets[6], tickets[9]]

    def interrupted(self, log, transaction):
        read(self, log, transaction)
        if rivals and rival == "correct":
            other.correct(rivals.pop(), 1.0, "a slip")
        elif rivals:
            given = {} if kind == "discount" else {"context": {"page": "new"}}
            other.tell(other.ask(**given), 1.0 if rivals.pop() else 0.0)

    monkeypatch.setattr(correcting._Reading, "read", interrupted)
    assert study.correct(tickets[3], 0.0, "refund")
    monkeypatch.undo()
    study.check()
    for one in rivals if rival == "correct" else []:
        other.correct(one, 1.0, "a slip")
    if kind == "discount":  # which is as if all had been told so
        final = {3: 0.0} | ({6: 1.0, 9: 1.0} if rival == "correct" else {})
        wanted = [final.get(turn, float(turn % 3 == 0)) for turn in range(20)]
        twin = opened("twin", ARMS, seed=1, discount=0.9)
        rows = [(one.arm, reward) for one, reward in zip(tickets, wanted, strict=True)]
        extra = [event for event in study.events() if event.kind == Kind.TOLD][20:]
        rows += [(study.arms[event.arm], event.reward) for event in extra]
        twin.record(rows)
        mine, theirs = study.beliefs(), twin.beliefs()
        assert mine["expected reward"] == pytest.approx(theirs["expected reward"], rel=1e-9)


def test_a_log_that_is_too_long_is_said_to_be(opened, monkeypatch):
    study, tickets = lived(opened, "discount", turns=10)
    monkeypatch.setattr(correcting, "MOST_EVENTS", 5)
    with pytest.raises(errors.TicketError, match="more than 5 events"):
        study.correct(tickets[3], 0.0, "refund")


def test_the_same_next_decisions_whoever_folds(opened, kind):
    """The live study, a fold of its log and another process decide alike after corrections."""
    study, tickets = lived(opened, kind)
    for turn in range(0, 40, 3):
        study.correct(tickets[turn], 0.0, "refund")
    other = opened("study", None)
    study.check()
    context = {} if kind == "discount" else {"context": {"page": "page 3"}}
    assert str(study.explain(**context)) == str(other.explain(**context))
