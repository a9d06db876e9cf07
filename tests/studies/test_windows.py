"""Windows: what counts when, told again, corrected, and read at this moment."""

from __future__ import annotations

import random
from datetime import timedelta
from functools import partial

import numpy as np
import pytest

from belman import Thompson, errors
from belman.families import FAMILIES, GaussianUnknown
from belman.studies import Storage, Tell, open_study
from belman.studies.outcomes.book import Outcome
from belman.studies.requests.correcting import _Reading
from tests.members import BY_QUADRATURE, member, random_rewards
from tests.studies.ticket_twin import Slip, Twin


def belief(study, arm):
    return study.agent().belief(arm)


def test_a_ticket_counts_when_its_window_closes_with_what_was_told_last(opened, clock):
    study = opened(arms=["only"], window=timedelta(hours=2), early=False, clock=clock)
    told, again, silent = study.ask(3)
    assert study.tell(told, 1) is True
    assert study.tell(told, 1) is False
    assert study.tell(again, 1) is True
    assert study.tell(again, 0) is True
    assert study.tell(again, 1) is True
    assert belief(study, "only") == (1.0, 1.0)
    assert study.agent().outstanding == {"only": 3}
    clock.now += 7199.0
    assert (study.outstanding, study.status()["silent"]) == (3, 1)
    clock.now += 1.0
    assert belief(study, "only") == (3.0, 2.0)  # and nobody wrote a thing
    assert study.status() | {"told": 3, "outstanding": 0, "expired": 1, "reward": 2.0} == (
        study.status()
    )
    assert study.tickets() == []
    assert study.number == 8
    assert study.check() == opened(arms=None, clock=clock).check()
    assert silent.id not in [row["ticket"] for row in study.history() if row["reward"] == 1]


def test_silence_may_be_forgotten(opened, clock):
    study = opened(arms=["only"], window=60, silence="forget", clock=clock)
    told, _ = study.ask(2)
    study.tell(told, 1)
    clock.now += 60.0
    assert belief(study, "only") == (2.0, 1.0)
    assert study.agent().outstanding == {}
    assert study.status() | {"told": 1, "expired": 1} == study.status()


def test_rewards_that_accumulate_add_up_and_a_key_makes_each_safe_to_send_again(opened, clock):
    study = opened(arms=["only"], family="poisson", window=60, accumulate=True, clock=clock)
    ticket = study.ask()
    assert study.tell(ticket, 2, key="order 1") is True
    assert study.tell(ticket, 2, key="order 1") is False
    assert study.tell(ticket, 2, key="order 2") is True
    assert study.tell(ticket, 2) is True
    assert study.tell(ticket, -1) is True
    with pytest.raises(errors.SettingError, match=r"key='order 1' was given with 2\.0 of ticket"):
        study.tell(ticket, 3, key="order 1")
    with pytest.raises(errors.RewardError, match=r"5 was told before, and -6 now"):
        study.tell(ticket, -6)
    answers = study.together([Tell(ticket, 1, "order 3"), Tell(ticket, 1, "order 3")])
    assert answers == [True, False]
    clock.now += 60.0
    assert study.status()["reward"] == 6.0
    assert belief(study, "only") == (1.0 + 6.0, 1.0 + 1.0)


def test_after_the_window_a_tell_is_refused_and_says_what_counted(opened, clock):
    study = opened(arms=["only"], window=60, clock=clock)
    silent, told = study.ask(2)
    study.tell(told, 1)
    clock.now += 60.0
    before = study.check(), study.number
    words = r"closed at 1970-01-12T13:47:40\+00:00, and it counted as 0: its reward 1 .*correct\("
    with pytest.raises(errors.TicketError, match=words):
        study.tell(silent, 1)
    assert study.tell(silent, 0) is False  # no news
    assert study.tell(told, 1) is False
    with pytest.raises(errors.RewardError):
        study.tell(silent, 7)
    assert (study.check(), study.number) == before
    clock.now += 5.0
    study.correct(silent, None, "a robot")
    with pytest.raises(errors.TicketError, match=r"closed at 1970-01-12T13:47:40.*was forgotten"):
        study.tell(silent, 1)


def test_a_tell_after_the_window_has_one_answer_whatever_is_corrected_since(opened, clock):
    study = opened(arms=["only"], window=60, clock=clock)
    told, silent = study.ask(2)
    study.tell(told, 1, key="first")
    clock.now += 60.0

    def answers():
        return [
            study.tell(told, 1, key="late"),
            study.tell(silent, 0, key="silent"),
            study.tell(told, 1, key="first"),
        ]

    def refused(ticket, reward):
        with pytest.raises(errors.TicketError, match="closed at"):
            study.tell(ticket, reward, key="other")

    assert answers() == [False, False, False]
    refused(told, 0)
    for reward in (0, None, 1, 0):
        study.correct(told, reward, "refund")
        study.correct(silent, reward, "found")
        assert answers() == [False, False, False]
        refused(told, 0)
        refused(silent, 1)


def test_giving_back_what_has_expired_has_one_answer_whatever_is_corrected_since(opened, clock):
    study = opened(arms=["only"], window=60, silence="forget", clock=clock)
    ticket = study.ask()
    clock.now += 60.0
    assert study.give_back([ticket]) == 0
    study.correct(ticket, 1, "found")
    assert study.give_back([ticket]) == 0
    assert study.status()["told"] == 1


def test_a_reader_is_ahead_of_the_log_and_a_writer_with_a_slow_clock_still_agrees(opened, clock):
    """Readers settle on a copy: what they saw must not close windows for whoever writes later."""
    ahead = opened(arms=["a", "b"], window=60, clock=clock)
    slow = opened(arms=None, clock=lambda: clock.now - 30.0)
    ticket = ahead.ask()
    clock.now += 70.0
    assert ahead.outstanding == 0
    assert slow.outstanding == 1
    assert slow.tell(ticket, 1) is True  # its clock says that the window is open
    assert ahead.status()["reward"] == 1.0
    ahead.ask()
    with pytest.raises(errors.TicketError, match="closed at"):
        slow.tell(ticket, 0)  # the study has been told that it is later
    times = [event.time for event in slow.events()]
    assert times == sorted(times)
    assert slow.check() == ahead.check() == opened(arms=None).check()


def test_the_state_at_a_moment_is_that_of_a_log_with_an_event_of_that_moment(opened, clock):
    study = opened(window=60, uniform_share=0.2, policy=Thompson(), clock=clock)
    for turn in range(30):
        ticket = study.ask()
        clock.now += 7.0
        if turn % 3:
            study.tell(ticket, float(turn % 2))
    clock.now += 25.0
    before, explained = study.beliefs(), study.explain()
    status, out = study.status(), study.tickets()
    study.pause()
    assert {name: list(cells) for name, cells in study.beliefs().columns.items()} == before.columns
    # what a look draws goes by the number of the next event, and what it expects does not
    expected = (
        dict(zip(one["arm"], one["expected reward"], strict=True))
        for one in (study.explain(), explained)
    )
    assert next(expected) == next(expected)
    assert study.status() | {"events": status["events"], "paused": False} == status
    assert study.tickets() == out


def test_corrections_are_as_if_it_had_counted_so_at_its_time(opened, clock):
    study = opened(arms=["only"], window=60, clock=clock)
    tickets = study.ask(5)
    for ticket in tickets:
        study.tell(ticket, 1)
    with pytest.raises(errors.TicketError, match=r"is open until .*tell its reward"):
        study.correct(tickets[0], 0, "refund")
    clock.now += 60.0
    assert study.correct(tickets[0], 0, "refund", key="r1") is True
    assert study.correct(tickets[0], 0, "refund") is False
    assert belief(study, "only") == (5.0, 2.0)
    assert study.correct(tickets[1], None, "fraud") is True
    assert belief(study, "only") == (4.0, 2.0)
    assert study.agent().turn == 5
    assert study.correct(tickets[0], 1, "the refund was refused") is True
    assert study.correct(tickets[0], 0, "refund", key="r1") is False  # sent again
    assert belief(study, "only") == (5.0, 1.0)
    for bad in ("", " "):
        with pytest.raises(errors.SettingError, match="needs a reason"):
            study.correct(tickets[0], 0, bad)
    with pytest.raises(errors.UnknownTicketError):
        study.correct("1-aaaaaa", 0, "refund")
    with pytest.raises(errors.RewardError):
        study.correct(tickets[0], 2, "refund")
    with pytest.raises(errors.SettingError, match="was given with"):
        study.correct(tickets[1], 0, "refund", key="r1")
    assert study.status() | {"told": 4, "reward": 4.0} == study.status()
    assert study.check() == opened(arms=None).check()


def test_what_was_told_without_a_window_is_corrected_too(opened):
    study = opened(arms=["a", "b"])
    out, ticket = study.ask(), study.ask()
    with pytest.raises(errors.TicketError, match="was not told yet"):
        study.correct(out, 0, "refund")
    study.tell(ticket, 1)
    study.retire_arm(ticket.arm)
    assert study.correct(ticket, 0, "refund") is True
    assert study.status() | {"told": 1, "reward": 0.0} == study.status()
    study.add_arm(ticket.arm)
    assert belief(study, ticket.arm) == (1.0, 2.0)
    with pytest.raises(errors.TicketError, match=r"was told 1\.0 already"):
        study.tell(ticket, 0)
    assert study.check() == opened(arms=None).check()


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in BY_QUADRATURE])
def test_in_every_family_a_correction_is_as_if_it_had_been_told_so(opened, name):
    family = member(name)
    rewards = [*map(float, random_rewards(family, np.random.default_rng(7), 12))]
    first, last = min(rewards), max(rewards)
    for which, at in {"slow": first, "quick": last}.items():
        study = opened(which, arms=["only"], family=family)
        tickets = study.ask(12)
        for ticket, reward in zip(tickets, [at, *rewards[1:]], strict=True):
            study.tell(ticket, reward)
        study.correct(tickets[0], rewards[0], "it was another")
        twin = opened(f"{which} twin", arms=["only"], family=family)
        twin.record([("only", reward) for reward in rewards])
        assert belief(study, "only") == pytest.approx(belief(twin, "only"), rel=1e-9)


def test_a_slip_of_the_pen_leaves_no_trace(opened):
    """1e12 where 1 was meant: taken out again by subtraction, it would take all else with it."""
    study, clean = (opened(name, arms=["only"], family=GaussianUnknown()) for name in ("x", "y"))
    rewards = [0.3, 1.7, 1e12, -0.4, 1.1, 0.9]
    tickets = study.ask(6)
    for ticket, reward in zip(tickets, rewards, strict=True):
        study.tell(ticket, reward)
    study.correct(tickets[2], 1.0, "a slip of the pen")
    for ticket, reward in zip(clean.ask(6), [*rewards[:2], 1.0, *rewards[3:]], strict=True):
        clean.tell(ticket, reward)
    assert belief(study, "only") == belief(clean, "only")
    assert study.check() == opened("x", arms=None).check()


def test_small_differences_far_from_zero_survive_a_correction(opened):
    """In natural parameters they would drown: β beside κμ²/2."""
    rewards = [1e6 + 1e-3 * x for x in (0.3, 1.7, -0.8, 1.1, 0.2)]
    prior = (1e6, 1.0, 2.0, 1e-6)
    beliefs = []
    for name, last in (("corrected", 1e6 + 5.0), ("clean", rewards[-1])):
        study = opened(name, arms=["only"], family=GaussianUnknown(), prior=prior)
        tickets = study.ask(5)
        for ticket, reward in zip(tickets, [*rewards[:-1], last], strict=True):
            study.tell(ticket, reward)
        study.correct(tickets[-1], rewards[-1], "five too much")
        beliefs.append(belief(study, "only"))
    np.testing.assert_allclose(*beliefs, rtol=1e-12)


def test_a_decision_knows_what_has_closed_since_the_last_event(opened, clock):
    study = opened(arms=["good", "bad"], window=60, clock=clock)
    for ticket in study.ask(60):
        study.tell(ticket, float(ticket.arm == "good"))
    clock.now += 60.0
    assert {ticket.arm for ticket in study.ask(10)} == {"good"}


def _anew(storage, arm, unit):
    """What the log alone says that was learnt of an arm."""
    reading = _Reading(unit, Outcome(arm, 0.0), 0, None)
    log = unit.log._log
    storage.run(lambda transaction: reading.read(log, transaction), write=False)
    return reading.learnt(unit.now).whole


@pytest.mark.parametrize(
    "given", [{}, {"window": 10, "silence": "forget"}], ids=["at once", "window"]
)
def test_an_arm_folded_anew_is_the_arm_that_was_folded(tmp_path, clock, given):
    """Under a discount, with arms that come and go: every reward fades all arms, retired ones too,
    and so does the reward of a retired one.
    """
    storage = Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    rule = {"family": GaussianUnknown(), "discount": 0.9, "minimise": True, **given}
    study = open_study("study", ["a", "b"], storage=storage, seed=1, clock=clock, **rule)
    luck = random.Random(1)
    for turn in range(40):
        for ticket in study.ask(2):
            study.tell(ticket, luck.gauss(3.0, 1.0))
        clock.now += 3.0
        if turn in (10, 20, 30):
            study.record([("a", 1.0), ("b", 2.0)])
            [lambda: study.retire_arm("a"), lambda: study.add_arm("c"), lambda: study.add_arm("a")][
                turn // 10 - 1
            ]()
    state, _ = study.copied()
    for arm in range(3):
        known = state.learnt(arm)
        anew = study._replica.transact(partial(_anew, storage, arm))
        assert anew.tells == known.tells > 0
        for one, other in zip(known[:5], anew[:5], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    storage.close()


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"window": 0}, errors.SettingError, "window=0 is not a time"),
        ({"window": True}, errors.SettingError, "window=True is not a time"),
        ({"silence": 1}, errors.SettingError, "give window=… too"),
        ({"accumulate": True}, errors.SettingError, "give window=… too"),
        ({"window": 1, "accumulate": 1}, errors.SettingError, "neither True nor False"),
        ({"window": 1, "silence": 2}, errors.RewardError, "silence='forget' to forget"),
        (
            {"window": 1, "range": (10, 20)},
            errors.RewardError,
            "silence=0: reward 0 is not allowed",
        ),
    ],
)
def test_bad_windows_create_nothing(tmp_path, given, error, words):
    storage = Storage(f"sqlite:///{tmp_path}/studies.db")
    with pytest.raises(error, match=words):
        open_study("study", ["a", "b"], storage=storage, **given)
    assert storage.names() == []
    storage.close()


def test_what_is_given_of_a_window_is_compared_when_a_study_is_opened(opened):
    opened(window=60, silence="forget", range=(10.0, 20.0))
    opened(window=60, silence="forget")
    opened(window=60)
    opened(silence="forget", accumulate=False)
    opened(arms=None)
    with pytest.raises(errors.SettingError, match=r"created with silence='forget', and now 12\.0"):
        opened(silence=12)
    with pytest.raises(errors.SettingError, match=r"created with window=60\.0, and now 61\.0"):
        opened(window=61, silence=12)
    with pytest.raises(errors.SettingError, match="created with accumulate=False"):
        opened(accumulate=True)


def test_an_export_says_what_counted_and_when_and_is_past_data(opened, clock, tmp_path):
    study = opened(arms=["a"], window=60, clock=clock)
    first, second, third = study.ask(3)
    study.tell(first, 0)
    study.tell(first, 1)
    study.tell(second, 1)
    clock.now += 50.0
    late = study.ask()
    study.tell(late, 1)
    clock.now += 10.0
    study.correct(second, None, "fraud")
    rows = [(row["event"], row["ticket"], row["reward"]) for row in study.history()]
    assert (
        rows[5:]
        == [
            ("told so far", first.id, 0.0),
            ("told so far", first.id, 1.0),
            ("told so far", second.id, 1.0),
            ("asked", late.id, None),
            ("told so far", late.id, 1.0),
            ("counted", first.id, 1.0),
            ("counted", second.id, 1.0),
            ("counted", third.id, 0.0),
            ("corrected", second.id, None),
        ][-len(rows[5:]) :]
    )
    counted = [row for row in study.history() if row["event"] == "counted"]
    assert {row["time"].timestamp() for row in counted} == {study.tickets()[0].time + 10.0}
    assert [row["event"] for row in study.history(last=4)] == ["counted"] * 3 + ["corrected"]
    for ending in ("csv", "parquet"):
        study.export(tmp_path / f"log.{ending}")
        assert opened(ending, arms=["a"]).record(tmp_path / f"log.{ending}") == 2
        assert belief(opened(ending, arms=None), "a") == (2.0, 2.0)
    clock.now += 50.0
    assert study.history(last=1)["event"][-1] == "counted"


def test_replay_uses_what_counted_and_leaves_out_what_is_open(opened, clock):
    study = opened(arms=["a", "b"], window=60, uniform_share=1.0, clock=clock)
    tickets = study.ask(400)
    study.together([Tell(ticket, 0.25) for ticket in tickets[:200]])
    study.together([Tell(ticket, 0.75) for ticket in tickets[:200]])
    clock.now += 60.0
    study.correct(tickets[0], 0.0, "refund")
    study.together([Tell(ticket, 1) for ticket in study.ask(100)])
    estimate = study.replay(Thompson())
    assert estimate.used == 400
    assert estimate.earned == pytest.approx((199 * 0.75) / 400)


@pytest.mark.parametrize("rule", [{}, {"window": 60}], ids=["no window", "window"])
def test_tickets_that_were_given_back_are_missing_nowhere(opened, clock, rule):
    study = opened(arms=["a", "b"], uniform_share=1.0, clock=clock, **rule)
    tickets = study.ask(400)
    study.together([Tell(ticket, 1.0) for ticket in tickets[:200]])
    clock.now += 1.0
    assert study.give_back([*tickets[200:], tickets[399].id]) == 200
    clock.now += 2.0 * 86_400.0
    estimate = study.replay(Thompson())
    assert (estimate.used, estimate.earned) == (200, 1.0)
    course = study.copied()[0].tally.course.steps.values()
    assert sum(sum(step.asks.values()) for step in course) == 200
    assert study.status() | {"asked": 200, "told": 200, "outstanding": 0, "expired": 0} == (
        study.status()
    )
    assert "told shares" not in {one.question for one in study.report().findings}


def bernoulli(x):
    return np.array([x, 1.0 - x])


def normal_gamma(x):
    return np.array([0.5, 0.5 * x * x, x, 1.0])


LIVES = {
    "no reward": ({"window": 10}, bernoulli, (0.0, 1.0, 0.25)),
    "early": ({"window": 10}, bernoulli, (0.0, 1.0)),
    "forgotten": ({"window": 10, "silence": "forget"}, bernoulli, (0.0, 1.0)),
    "sums": (
        {"window": 10, "accumulate": True, "family": "poisson"},
        lambda x: np.array([x, 1.0]),
        (0.0, 1.0, 3.0),
    ),
    "costs": (
        {"window": 10, "silence": 2.5, "family": GaussianUnknown(), "minimise": True},
        normal_gamma,
        (0.5, -1.25, 40.0, 1e9),
    ),
    "fading": (
        {"window": 10, "silence": "forget", "family": GaussianUnknown(), "discount": 0.9},
        normal_gamma,
        (0.5, -1.25, 40.0),
    ),
    "no window": ({}, bernoulli, (0.0, 1.0)),
    "no window, fading": ({"discount": 0.8}, bernoulli, (0.0, 1.0)),
}


@pytest.mark.parametrize("life", LIVES)
def test_a_study_is_its_slow_and_obvious_twin(opened, clock, monkeypatch, life):
    """Random lives: asked, told, told again, too late, corrected, by two processes of which one has
    a slow clock, with arms that come and go, and snapshots in between.
    """
    monkeypatch.setattr("belman.studies.unit_of_work.SNAPSHOT_EVERY", 7)
    given, statistic, rewards = LIVES[life]
    luck = random.Random(life)
    clocks = [clock, lambda: clock.now - 3.0]
    first = opened(arms=["a", "b", "c"], clock=clock, **given)
    studies = [first, opened(arms=None, clock=clocks[1])]
    twin, fades = Twin(first.settings), given.get("discount", 1.0) < 1.0
    family = first.agent().family
    for turn in range(90):
        which = luck.randrange(2)
        study = studies[which]
        now = max(clocks[which](), twin.time) if "window" in given else clocks[which]()
        number = study.number
        what, ticket = luck.random(), luck.choice([*twin.slips] or [None])
        if what < 0.25 or ticket is None:
            for one in study.ask(luck.randint(1, 3)):
                twin.slips[one.id] = Slip(int(one.id.partition("-")[0]), one.arm, one.time)
        elif what < 0.6:
            tell(study, twin, ticket, luck.choice(rewards), now)
        elif what < 0.75:
            correct(study, twin, ticket, luck.choice([*rewards, None]), now)
        elif what < 0.8:
            give_back(study, twin, luck.sample([*twin.slips], min(2, len(twin.slips))), now)
        elif what < 0.85 and not fades:
            study.add_arm("a") if study.retired else study.retire_arm("a")
        elif what < 0.9:
            studies[which] = opened(arms=None, clock=clocks[which])
        else:
            clock.now += luck.choice([0.5, 4.0, 11.0])
        if study.number > number:
            twin.time = now
        if turn % 3 == 0:
            compare(study, twin, clocks[which](), statistic, family)
    assert {studies[0].check(), studies[1].check()} == {opened(arms=None).check()}


def tell(study, twin, ticket, reward, now):
    slip = twin.slips[ticket]
    windowed = twin.settings.window is not None
    if twin.is_open(slip, now):
        news = twin.settings.accumulate or not slip.told or slip.told[-1][1] != reward
        assert study.tell(ticket, reward) is news
        if news:
            slip.told.append((study.number, reward))
        return
    known = slip.told[0][1] if not windowed else twin.first_count(slip)
    if not twin.settings.accumulate and known == reward:
        assert study.tell(ticket, reward) is False
    else:
        with pytest.raises(errors.TicketError):
            study.tell(ticket, reward)


def correct(study, twin, ticket, reward, now):
    slip = twin.slips[ticket]
    if twin.is_open(slip, now):
        with pytest.raises(errors.TicketError):
            study.correct(ticket, reward, "refund")
        return
    assert study.correct(ticket, reward, "refund") is (twin.counts_as(slip) != reward)
    if twin.counts_as(slip) != reward:
        slip.corrections.append(reward)


def give_back(study, twin, tickets, now):
    slips = [twin.slips[ticket] for ticket in tickets]
    if any(slip.told for slip in slips):
        with pytest.raises(errors.TicketError, match="cannot be given back"):
            study.give_back(tickets)
        return
    out = [one for one, slip in zip(tickets, slips, strict=True) if twin.is_open(slip, now)]
    assert study.give_back(tickets) == len(out)
    assert study.give_back(out) == len(out)  # as the first time, whose answer may be lost
    for ticket in out:
        del twin.slips[ticket]
        with pytest.raises(errors.TicketError, match="given back unused"):
            study.tell(ticket, 1.0)
        with pytest.raises(errors.TicketError, match="given back unused"):
            study.correct(ticket, 0.0, "refund")


def compare(study, twin, clock, statistic, family):
    now = max(clock, twin.time)
    wanted = twin.status(now)
    status = study.status()
    assert {name: status[name] for name in wanted} == pytest.approx(wanted, rel=1e-9, abs=1e-6)
    assert {ticket.id for ticket in study.tickets()} == {
        id for id, slip in twin.slips.items() if twin.is_open(slip, now)
    }
    agent = study.agent()
    for arm in agent.arms:
        prior = family.natural(family.prior)
        result = family.natural(study.copied()[0].decider.learnt(arm).belief)
        np.testing.assert_allclose(
            result, twin.natural(arm, now, statistic, prior), rtol=1e-9, atol=1e-9
        )


def test_the_last_lines_of_a_history_are_as_many_as_asked_for(opened, clock):
    study = opened(window=60, clock=clock)
    study.ask(5)
    clock.now += 100
    study.ask(2)
    assert len(study.history(3)) == 3
    assert list(study.history(3)["event"]) == list(study.history()["event"])[-3:]
