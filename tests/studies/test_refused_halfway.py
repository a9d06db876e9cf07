"""What is refused changes nothing, also among requests that share a transaction, and whatever it
had changed before it was refused.
"""

from __future__ import annotations

import pytest

from belman import errors
from belman.studies import Ask, Kind, Tell
from belman.studies.unit_of_work import Limits

ARMS = ("blue", "red")


def asking(country: str) -> Ask:
    return Ask(context={"country": country})


def test_one_that_is_refused_halfway_leaves_the_others_and_the_log_whole(opened, monkeypatch):
    """A refusal that no door foresees: the log would have gone on from what was never written."""
    room = "belman.deciders.segmented.segment_beliefs"
    monkeypatch.setattr(f"{room}.MOST_SEGMENTS", 2)
    monkeypatch.setattr(
        "belman.deciders.segmented.segment_beliefs.SegmentBeliefs.check_room",
        lambda beliefs, key: None,
    )
    study = opened("study", ARMS, segments=["country"])
    study.together([asking("fr"), asking("de")])
    first, refused, last = study.together([asking("fr"), asking("it"), asking("de")])
    assert isinstance(refused, errors.SettingError)
    assert "one segment too many" in str(refused)
    assert len(first) == len(last) == 1
    assert study.together([Tell(first[0].id, 1), Tell(last[0].id, 0)]) == [True, True]
    assert study.check() == opened("study", None).check()


def test_a_segment_too_many_is_refused_at_the_door(opened, monkeypatch):
    monkeypatch.setattr("belman.deciders.segmented.segment_beliefs.MOST_BELIEFS", 4)
    study = opened("study", ARMS, segments=["country"])
    for country in ("fr", "de"):
        study.ask(context={"country": country})
    before = study.check()
    monkeypatch.setattr(study._replica, "_opened", None)  # nothing has to be read anew
    with pytest.raises(errors.SettingError, match="too many"):
        study.ask(context={"country": "it"})
    assert study.check() == before
    _, refused, _ = study.together([asking("fr"), asking("it"), asking("de")])
    assert isinstance(refused, errors.SettingError)


def test_a_reward_beyond_the_model_is_refused_and_changes_nothing(opened, clock):
    """The arms' own beliefs would learn 10¹³, and the one along features would not."""
    late = opened("late", ARMS, context=["age"], model="linear", window=10.0, clock=clock)
    ticket = late.ask(context={"age": 30})
    study = opened("study", ARMS, context=["age"], model="linear")
    first, second = study.ask(2, context={"age": 30})
    for one, told in ((late, ticket), (study, first)):
        with pytest.raises(errors.RewardError, match=r"larger than 1e\+12"):
            one.tell(told, 1e13)
    refused, heard = study.together([Tell(first.id, 1e13), Tell(second.id, 1.0)])
    assert isinstance(refused, errors.RewardError)
    assert heard is True
    with pytest.raises(errors.RewardError, match=r"larger than 1e\+12"):
        study.correct(second, 1e13, "wrong")
    with pytest.raises(errors.RewardError, match=r"row 2: .* larger than 1e\+12"):
        study.record([("blue", 1.0, {"age": 3}), ("blue", 1e13, {"age": 3})])
    with pytest.raises(errors.RewardError, match=r"larger than 1e\+12"):
        opened("silent", ARMS, context=["age"], model="linear", window=10.0, silence=1e13)
    clock.now += 100.0
    assert late.ask(context={"age": 30}).arm in ARMS
    for name, time in (("late", clock), ("study", None)):
        one = opened(name, None, clock=time)
        one.check()


def test_a_pause_that_an_ask_finds_due_is_written_though_the_ask_is_refused(opened, clock):
    study = opened("study", ["a"], guard={"refund": "< 0.05"}, window=60, clock=clock)
    for ticket in study.ask(40):
        study.tell(ticket, 1, metrics={"refund": 1.0})
    clock.now += 60.0
    with pytest.raises(errors.PausedError):
        study.ask()
    assert [event.kind for event in study.events()][-1] == Kind.PAUSED
    assert study.paused
    assert study.check() == opened("study", None, clock=clock).check()


def test_tickets_among_candidates_are_as_many_as_the_log_can_take(opened):
    """The log keeps all candidates with every ticket: a thousand of each would be a million."""
    study = opened("study", None, features=["price"], limits=Limits(candidates=100), seed=1)
    candidates = [{"price": float(i)} for i in range(30)]
    assert len(study.ask(3, candidates=candidates)) == 3
    with pytest.raises(errors.SettingError, match="at most 3 among 30 candidates"):
        study.ask(4, candidates=candidates)
