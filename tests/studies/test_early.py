"""Learning before the window closes: what open tickets count, in decisions and in reads."""

from __future__ import annotations

import random

import pytest

from belman import Thompson, errors
from belman.families import GaussianUnknown
from belman.studies import StudySettings, Tell, saving
from tests.studies.early_twin import EarlyTwin, Slip


def test_a_success_counts_when_it_is_told_and_silence_as_its_age_says(opened, clock):
    study = opened(arms=["only"], window=7200, clock=clock)
    told, again, _ = study.ask(3)
    study.tell(told, 1)
    study.tell(again, 1)
    agent = study.agent()
    assert study.copied()[0].decider.learnt("only").belief == (1.0, 1.0)
    assert agent.belief("only")[0] == pytest.approx(3.0, abs=0.01)
    study.tell(again, 0)  # as silence, until its window closes
    won, lost = study.agent().belief("only")
    assert (won, lost) == (pytest.approx(2.0, abs=0.02), pytest.approx(1.0, abs=0.02))
    silences = []
    for _ in range(4):
        clock.now += 1790.0
        silences.append(study.agent().belief("only")[1])
    assert silences == sorted(silences)
    assert 2.5 < silences[-1] < 3.0
    assert study.agent().outstanding == {"only": 3}
    assert study.status() | {"told": 0, "outstanding": 3, "early": True} == study.status()
    clock.now += 40.0
    assert study.agent().provisional == {}
    assert study.agent().belief("only") == (2.0, 3.0)
    assert study._replica.look_now(lambda state: state.early.told) == {}  # of open tickets alone


def test_a_study_that_waits_counts_nothing_early(opened, clock):
    study = opened(arms=["only"], window=60, early=False, clock=clock)
    study.tell(study.ask(), 1)
    assert study.agent().provisional == {}
    assert study.status()["early"] is False


@pytest.mark.parametrize("seed", range(3))
def test_a_study_is_its_slow_and_obvious_twin(opened, clock, monkeypatch, seed):
    """Random lives with two processes, one of them with a slow clock, told again, arms that come
    and go, and snapshots in between: settled beliefs, weights and doubts of every arm.
    """
    monkeypatch.setattr("belman.studies.unit_of_work.SNAPSHOT_EVERY", 11)
    luck, window = random.Random(seed), 100.0
    clocks = [clock, lambda: clock.now - 7.0]
    studies = [
        opened(arms=["a", "b", "c"], window=window, clock=clock),
        opened(arms=None, clock=clocks[1]),
    ]
    twin, last = EarlyTwin(window), clock.now  # when it was created
    for turn in range(80):
        which = luck.randrange(2)
        study, number = studies[which], studies[which].number
        now = max(clocks[which](), last)
        still = [id for id, slip in twin.slips.items() if twin.is_open(slip, now)]
        what = luck.random()
        if what < 0.3 or not still:
            for one in study.ask(luck.randint(1, 6)):
                twin.slips[one.id] = Slip(one.arm, one.time)
        elif what < 0.7:
            ticket, reward = luck.choice(still), luck.choice([0.0, 1.0, 1.0])
            if study.tell(ticket, reward):
                twin.slips[ticket].reward, twin.slips[ticket].told = reward, now
        elif what < 0.75:
            study.add_arm("a") if study.retired else study.retire_arm("a")
        elif what < 0.8:
            studies[which] = opened(arms=None, clock=clocks[which])
        else:
            clock.now += luck.choice([0.3, 5.0, 31.0, 60.0])
        last = now if study.number > number else last
        if turn % 4 == 0:
            compare(studies[which], twin, max(clocks[which](), last))
    assert {studies[0].check(), studies[1].check()} == {opened(arms=None).check()}


def compare(study, twin, now):
    agent = study.agent()
    for arm in agent.arms:
        result = agent.provisional.get(arm, (0.0, 0.0, 0.0))
        assert result == pytest.approx(twin.counts(arm, now), rel=1e-6, abs=1e-7)
        won, lost = twin.settled(arm, now)
        assert study.copied()[0].decider.learnt(arm).belief == pytest.approx((won, lost))
        assert agent.belief(arm) == pytest.approx((won + result[0], lost + result[1]))


def test_decisions_and_reads_are_of_the_same_numbers(opened, clock):
    """What `explain` puts first at a moment is what is asked then, and waiting would differ."""
    luck, differs = random.Random(5), 0
    study = opened(arms=["a", "b", "c"], window=100, clock=clock)
    reader = opened(arms=None, clock=clock)
    study.ask(3)
    for _ in range(60):
        clock.now += luck.choice([0.5, 3.0])
        seen, agent = reader.explain(), reader.agent()
        agent.provisional = {}
        differs += agent.explain()["arm"][0] != seen["arm"][0]
        ticket = study.ask()
        assert seen.row(ticket.arm)["index"] == seen["index"][0]
        if luck.random() < {"a": 0.8, "b": 0.5, "c": 0.2}[ticket.arm]:
            study.tell(ticket, 1)
    assert differs > 5


def test_reads_change_nothing_and_a_snapshot_holds_everything(opened, clock, monkeypatch):
    study = opened(window=50, clock=clock)
    tickets = study.ask(30)
    clock.now += 10.0
    study.together([Tell(ticket, 1) for ticket in tickets[::3]])
    digest = study.check()
    clock.now += 39.0  # others may still write events of an earlier time
    study.beliefs(), study.explain(), study.status()
    assert study.check() == digest
    monkeypatch.setattr("belman.studies.unit_of_work.SNAPSHOT_EVERY", 1)
    study.ask()
    again = opened(arms=None, clock=clock)
    assert again.agent().provisional == study.agent().provisional != {}
    assert again.check() == study.check()


def test_the_moment_of_a_study_moves_while_silence_tells(opened, clock):
    study, waiting = opened(window=256, clock=clock), opened("waiting", window=256, early=False)
    empty = study.moment
    clock.now += 1.0
    assert study.moment == empty
    study.ask()
    waiting.ask()
    moments = [study.moment, waiting.moment]
    clock.now += 1.0
    assert (study.moment != moments[0], waiting.moment == moments[1]) == (True, True)


def apart(study, clock, slow):
    """A study of which the successes of arm b come later than those of a."""
    luck = random.Random(1)
    tickets = study.ask(800)
    due = sorted(
        ((luck.random() * (50.0 if t.arm == "b" and slow else 15.0), t.id) for t in tickets),
    )
    start = clock.now
    for delay, ticket in due:
        clock.now = start + delay
        study.tell(ticket, 1)
    clock.now = start + 61.0


@pytest.mark.parametrize("slow", [True, False])
def test_delays_that_differ_between_arms_let_it_wait_and_it_says_so(opened, clock, slow):
    study = opened(arms=["a", "b"], policy=Thompson(), window=60, uniform_share=1.0, clock=clock)
    apart(study, clock, slow)
    study.tell(study.ask(50)[0], 1)
    clock.now += 30.0
    status, table = study.status(), study.beliefs()
    assert status["early"] is not slow
    if slow:
        assert status["waits"].startswith("delays differ between arms (log-rank test on 128 delays")
        assert table.title == status["waits"]
        assert study.agent().provisional == {}
    else:
        assert "waits" not in status
        assert table.title == ""
        assert study.agent().provisional != {}
    assert opened(arms=None, clock=clock).status() == status


def test_a_reward_between_0_and_1_lets_it_wait(opened, clock):
    study = opened(arms=["only"], window=60, clock=clock)
    study.tell(study.ask(2)[0], 0.25)
    assert study.agent().provisional == {}
    assert "a reward of 0.25 was told" in study.status()["waits"]
    clock.now += 60.0
    assert study.agent().belief("only") == (1.25, 2.75)
    assert study.check() == opened(arms=None, clock=clock).check()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "no window"),
        ({"window": 60, "family": GaussianUnknown()}, "not successes and failures"),
        ({"window": 60, "silence": 1}, r"silence=1\.0"),
        ({"window": 60, "silence": "forget"}, "silence='forget'"),
        ({"window": 60, "accumulate": True}, "accumulate=True"),
        ({"window": 60, "minimise": True}, "minimise=True"),
        ({"window": 60, "range": (0, 5)}, "bounded rewards are not successes and failures"),
        ({"window": 60, "range": (0, 5), "family": "bernoulli"}, r"range=\(0\.0, 5\.0\)"),
        ({"window": 1e-9}, "shorter than delays can be told apart"),
    ],
)
def test_early_is_refused_with_a_reason_where_it_cannot_be(given, why):
    with pytest.raises(errors.SettingError, match=f"early=True is not allowed: .*{why}"):
        StudySettings(["a", "b"], early=True, **given)
    assert StudySettings(["a", "b"], **given).early is False
    assert StudySettings(["a", "b"], early=False, **given).early is False


def test_early_is_neither_a_word_nor_a_number():
    with pytest.raises(errors.SettingError, match="early='yes' is neither True nor False"):
        StudySettings(["a"], window=60, early="yes")


def test_a_study_is_opened_again_with_or_without_saying_early(opened, clock):
    opened(window=60, clock=clock)
    opened(window=60)
    opened(window=60, early=True)
    assert opened(arms=None, early=True).settings.early is True
    with pytest.raises(errors.SettingError, match="created with early=True, and now False"):
        opened(arms=None, early=False)


def test_a_snapshot_with_the_delays_of_another_study_is_refused(opened, clock):
    study = opened(window=60, early=True, clock=clock)
    study.tell(study.ask(), 1.0)
    text = study._replica.look(saving.to_text)
    state = saving.from_text(text)
    state.early.distribution.window = 61.0
    with pytest.raises(errors.StateError, match="is that of another study"):
        saving.from_text(saving.to_text(state))
