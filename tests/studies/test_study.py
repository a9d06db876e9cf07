"""Asking, telling and changing: what a study promises, on SQLite and on PostgreSQL."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from belman import Agent, BelMan, Thompson, errors
from belman.exposure import Constant, Evidence, Infinite, Schedule
from belman.families import Bernoulli, Bounded
from belman.policies import Forced, Phases
from belman.studies import Ask, Draw, Kind, Study, Tell, saving
from belman.studies.folding import fold
from belman.studies.state import State
from tests import own


def play(study: Study, pairs: int, luck: random.Random) -> None:
    """Decisions whose rewards come late, in any order, some of them never."""
    out = []
    for turn in range(pairs):
        out += study.ask(3) if turn % 10 == 0 else [study.ask()]
        while len(out) > 4:
            study.tell(out.pop(luck.randrange(len(out))).id, float(luck.random() < 0.4))


def test_a_ticket_is_told_by_another_object_that_opened_the_study_later(opened):
    ticket = opened().ask()
    assert ticket.arm in ("a", "b", "c")
    other = opened(arms=None)
    assert other.tell(ticket.id, 1) is True
    assert dict(zip(other.beliefs()["arm"], other.beliefs()["plays"], strict=True))[ticket.arm] == 1


def test_the_same_reward_again_changes_nothing_and_another_one_is_an_error(opened):
    study = opened()
    ticket = study.ask()
    assert study.tell(ticket, 1) is True
    before = study.check(), study.number
    assert study.tell(ticket.id, 1.0) is False
    with pytest.raises(errors.TicketError, match=r"was told 1\.0 already, and now 0\.0"):
        study.tell(ticket.id, 0)
    assert (study.check(), study.number) == before


def test_every_decision_sees_every_tell_of_others(opened):
    """One study through two objects in turn decides as one agent does that is asked and told the
    same.
    """
    mine, theirs = opened(arms=[f"arm {i}" for i in range(6)]), opened(arms=None)
    luck = random.Random(5)
    for turn in range(120):
        asker, teller = (mine, theirs) if turn % 2 else (theirs, mine)
        teller.tell(asker.ask().id, float(luck.random() < 0.5))
    assert mine.check() == theirs.check()
    told = [event for event in mine.events() if event.kind == Kind.TOLD]
    agent = Agent(mine.settings.arms)
    for event in told:
        agent.tell(f"arm {event.arm}", event.reward)
    assert [agent.belief(arm) for arm in agent.arms] == [
        mine.agent().belief(arm) for arm in agent.arms
    ]


def test_tickets_that_are_out_make_concurrent_askers_spread(opened):
    studies = [opened(arms=range(8)) for _ in range(2)]
    assert {studies[i % 2].ask().arm for i in range(8)} == set(range(8))


@pytest.mark.parametrize("policy", [BelMan(), Thompson()], ids=["belman", "thompson"])
def test_the_state_is_the_fold_of_the_log_to_the_last_bit(opened, policy):
    study = opened(policy=policy, uniform_share=0.2, window=50.0)
    play(study, 60, random.Random(2))
    study.pause("lunch")
    study.resume()
    study.add_arm("d", prior=(3.0, 1.0), reason="a new idea")
    play(study, 30, random.Random(3))
    study.retire_arm("a", "costs too much")
    play(study, 30, random.Random(4))
    study.add_arm("a")
    study.record([("b", 1), ("d", 0)])
    play(study, 10, random.Random(5))
    assert study.check() == opened(arms=None).check()


@pytest.mark.parametrize(
    "rule",
    [{"uniform_share": 0.3}, {"floor": 0.1}, {"window": 50.0}, {"policy": Thompson()}],
    ids=str,
)
def test_asks_of_one_transaction_are_folded_as_one_by_one(opened, rule):
    study = opened(**rule)
    for count in (1, 40, 7):
        tickets = study.ask(count, attributes={"device": "phone"})
        study.together([Tell(ticket, 1.0) for ticket in tickets[::2]])
    folded = State.begin(study.settings)
    for event in study.events():
        fold(folded, event)
    assert study._replica.look(saving.to_text) == saving.to_text(folded)
    assert study.check() == opened(arms=None).check()


def test_the_same_seed_makes_the_same_decisions(opened):
    one, two = opened("one", uniform_share=0.1), opened("two", uniform_share=0.1)
    play(one, 50, random.Random(1))
    play(two, 50, random.Random(1))
    assert [event[3:6] for event in one.events()] == [event[3:6] for event in two.events()]


def test_a_snapshot_opens_to_the_same_state_and_a_damaged_one_is_passed_over(opened, monkeypatch):
    monkeypatch.setattr("belman.studies.unit_of_work.SNAPSHOT_EVERY", 50)
    study = opened(uniform_share=0.1)
    play(study, 60, random.Random(1))
    study.retire_arm("a")
    play(study, 60, random.Random(2))
    digest = study.check()
    assert opened(arms=None).check() == digest
    assert study.storage.rows("SELECT count(*) FROM belman_snapshots") == [(1,)]
    study.storage.execute("UPDATE belman_snapshots SET content = replace(content, '0.5', '0.6')")
    assert opened(arms=None).check() == digest


def test_a_key_gives_the_same_tickets_again(opened):
    study, again = opened(), opened()
    ticket = study.ask(key="request 1")
    assert again.ask(key="request 1") == ticket
    assert study.ask(3, key="request 2") == again.ask(3, key="request 2")
    with pytest.raises(errors.SettingError, match="was given 3 tickets before"):
        study.ask(2, key="request 2")
    assert study.outstanding == 4


def test_many_requests_in_one_transaction_get_an_answer_each(opened):
    study = opened()
    (first,) = study.together([Ask(tickets=2)])
    assert isinstance(first, list)
    one, two = first
    answers = study.together(
        [
            Tell(one.id, 1),
            Tell(one.id, 1),
            Tell(one.id, 0),
            Tell("7-xxxxxx", 1),
            Tell(two, 7),
            Ask(key="k"),
            Ask(key="k"),
            Ask(0),
        ]
    )
    assert answers[:2] == [True, False]
    assert [type(answer) for answer in answers[2:5]] == [
        errors.TicketError,
        errors.UnknownTicketError,
        errors.RewardError,
    ]
    assert answers[5] == answers[6]
    assert isinstance(answers[7], errors.SettingError)
    assert study.status() | {"told": 1, "outstanding": 2} == study.status()
    assert study.check() == opened(arms=None).check()


def test_a_paused_study_learns_and_does_not_decide(opened):
    study, other = opened(), opened()
    ticket = study.ask()
    other.pause("the shop is closed")
    with pytest.raises(errors.PausedError):
        study.ask()
    with pytest.raises(errors.StudyError, match="is paused already"):
        study.pause()
    assert study.tell(ticket.id, 1) is True
    study.resume("open again")
    assert other.ask().arm in other.arms
    with pytest.raises(errors.StudyError, match="is not paused"):
        other.resume()


def test_a_retired_arm_is_not_played_but_learns_and_comes_back(opened):
    study = opened(arms=["a", "b"])
    out = study.ask(4)
    study.retire_arm("a", "too dear")
    assert (study.arms, study.retired) == (("b",), ("a",))
    assert {study.ask().arm for _ in range(20)} == {"b"}
    for ticket in out:
        study.tell(ticket.id, 1)
    study.record([("a", 1)])
    with pytest.raises(errors.ArmError, match="comes back with what was learnt"):
        study.add_arm("a", prior=(2, 2))
    study.add_arm("a")
    assert study.agent().belief("a") == (1.0 + sum(ticket.arm == "a" for ticket in out) + 1.0, 1.0)
    with pytest.raises(errors.ArmError, match="is there already"):
        study.add_arm("a")
    study.retire_arm("a")
    with pytest.raises(errors.ArmError, match="is the last one"):
        study.retire_arm("b")
    assert study.check() == opened(arms=None).check()


def test_past_data_steal_no_ticket(opened):
    study = opened(arms=["only"])
    ticket = study.ask()
    assert study.record([("only", 1), ("only", 0)], "last year") == 2
    assert study.agent().outstanding == {"only": 1}
    assert study.tell(ticket.id, 1) is True
    assert study.agent().belief("only") == (3.0, 2.0)


def test_the_exposure_is_turned_while_it_runs(opened):
    study = opened(arms=["good", "bad"])
    study.record([("good", 1)] * 200 + [("bad", 0)] * 200)
    assert {study.ask().arm for _ in range(20)} == {"good"}
    study.set_exposure(Infinite(), "look around")
    assert {study.ask().arm for _ in range(400)} == {"good", "bad"}
    assert study.policy == BelMan(Infinite())
    change = next(event for event in study.events() if event.kind == Kind.POLICY_CHANGED)
    assert "look around" in (change.body or "")
    study.set_policy(Thompson())
    with pytest.raises(errors.PolicyError, match="has no exposure"):
        study.set_exposure(Constant(0.1))
    assert study.check() == opened(arms=None).check()


def test_a_uniform_share_is_kept_and_its_chance_logged(opened):
    study = opened(arms=range(4), uniform_share=0.3)
    study.together([Ask() for _ in range(1000)])
    asks = [event for event in study.events() if event.kind == Kind.ASKED]
    uniform = [event for event in asks if event.draw == Draw.UNIFORM]
    assert {event.probability for event in uniform} == {0.25}
    # six standard deviations each way: errs once in 5e8 runs, and the seed is fixed
    assert abs(len(uniform) - 300) < 6 * np.sqrt(1000 * 0.3 * 0.7)
    counts = np.bincount([event.arm for event in uniform], minlength=4)
    assert abs(counts - len(uniform) / 4).max() < 6 * np.sqrt(len(uniform) * 0.25 * 0.75)


def test_a_cost_between_two_ends(opened):
    study = opened(arms=["a", "b"], range=(10.0, 20.0), minimise=True)
    for _ in range(30):
        ticket = study.ask()
        study.tell(ticket.id, 12.0 if ticket.arm == "b" else 18.0)
    study.retire_arm("a")
    study.record([("a", 18.0)])
    study.add_arm("a")
    table = study.beliefs()
    assert table.row("b")["plays"] > table.row("a")["plays"]
    assert study.check() == opened(arms=None).check()


def test_rewards_beyond_the_range(opened):
    """They are refused, or clipped and counted, as was said at the creation."""
    study = opened(arms=["a", "b"], range=(0.0, 10.0))
    assert study.settings.family == Bounded()
    with pytest.raises(errors.RewardError, match="range is from 0 to 10"):
        study.tell(study.ask().id, 11.0)
    clipping = opened(name="clipped", arms=["a", "b"], range=(0.0, 10.0), clip=True)
    for reward in (11.0, -3.0, 5.0):
        clipping.tell(clipping.ask().id, reward)
    assert clipping.status()["clipped"] == 2
    assert sum(clipping.copied()[0].decider.learnt(arm).sum for arm in "ab") == pytest.approx(1.5)
    again = opened(name="clipped", arms=None)
    assert again.settings.clip is True
    assert again.check() == clipping.check()
    with pytest.raises(errors.SettingError, match="created with clip=True"):
        opened(name="clipped", arms=["a", "b"], clip=False)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"arms": []}, errors.ArmError, "at least one arm"),
        ({"arms": "abc"}, errors.ArmError, "is one name"),
        ({"arms": ["a", "a"]}, errors.ArmError, "is there already"),
        ({"arms": [object()]}, errors.ArmError, "cannot be kept in a log"),
        ({"arms": ["\ud800"]}, errors.ArmError, "cannot be a name"),
        ({"arms": [("a", frozenset())]}, errors.ArmError, "cannot be kept in a log"),
        ({"family": "bernouli"}, errors.FamilyError, "did you mean 'bernoulli'"),
        ({"policy": "belmann"}, errors.PolicyError, "unknown policy"),
        (
            {"policy": BelMan(Schedule(lambda t: 1.0))},
            errors.PolicyError,
            "cannot be kept in a log",
        ),
        ({"policy": BelMan(own.tau)}, errors.PolicyError, "cannot be kept in a log"),
        ({"family": type("Here", (Bernoulli,), {})()}, errors.FamilyError, "cannot be kept"),
        ({"prior": (0, 1)}, errors.PriorError, "not proper"),
        ({"priors": {"z": (1, 1)}}, errors.ArmError, "unknown arm 'z'"),
        ({"range": (1, 1)}, errors.SettingError, "is not an interval"),
        ({"range": "wide"}, errors.SettingError, "is not an interval"),
        ({"discount": 0}, errors.SettingError, "discount"),
        ({"seed": -1}, errors.SettingError, "seed"),
        ({"uniform_share": 1.5}, errors.SettingError, "uniform_share"),
        ({"uniform_share": float("nan")}, errors.SettingError, "uniform_share"),
        ({"name": ""}, errors.SettingError, "cannot name a study"),
        ({"name": "a\nb"}, errors.SettingError, "cannot name a study"),
        ({"name": "x" * 201}, errors.SettingError, "cannot name a study"),
    ],
)
def test_bad_settings_create_nothing(tmp_path, settings, error, words):
    from belman.studies import Storage, open_study

    with_defaults = {"name": "study", "arms": ["a", "b"], **settings}
    storage = Storage(f"sqlite:///{tmp_path}/studies.db")
    with pytest.raises(error, match=words):
        open_study(storage=storage, **with_defaults)
    assert storage.names() == []
    storage.close()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda study, ticket: study.tell(ticket, float("nan")), errors.RewardError),
        (lambda study, ticket: study.tell(ticket, "1"), errors.RewardError),
        (lambda study, ticket: study.tell(ticket, 2), errors.RewardError),
        (
            lambda study, ticket: study.tell("1; DROP TABLE belman_events", 1),
            errors.UnknownTicketError,
        ),
        (lambda study, ticket: study.tell(2, 1), errors.UnknownTicketError),
        (lambda study, ticket: study.tell("9" * 10_000 + "-aaaaaa", 1), errors.UnknownTicketError),
        (lambda study, ticket: study.tell(ticket.id[:-1] + "!", 1), errors.UnknownTicketError),
        (lambda study, ticket: study.tell(ticket.id + "\0", 1), errors.UnknownTicketError),
        (lambda study, ticket: study.ask(0), errors.SettingError),
        (lambda study, ticket: study.ask(key=""), errors.SettingError),
        (lambda study, ticket: study.ask(key="\udc00"), errors.SettingError),
        (lambda study, ticket: study.pause("\0"), errors.SettingError),
        (lambda study, ticket: study.tell(ticket, 10**400), errors.RewardError),
        (lambda study, ticket: study.ask(key="\0"), errors.SettingError),
        (lambda study, ticket: study.record([("a", 1), ("z", 1)]), errors.ArmError),
        (lambda study, ticket: study.record([("a", 1), ("a", 3)]), errors.RewardError),
        (lambda study, ticket: study.record([("a", 1), 7]), errors.SettingError),
        (lambda study, ticket: study.retire_arm("z"), errors.ArmError),
        (lambda study, ticket: study.add_arm({}), errors.ArmError),
        (lambda study, ticket: study.add_arm("d", prior=(1,)), errors.PriorError),
        (lambda study, ticket: study.set_exposure(3), errors.ExposureError),
        (lambda study, ticket: study.set_policy(None), errors.PolicyError),
        (lambda study, ticket: study.pause(reason=7), errors.SettingError),
    ],
)
def test_bad_input_changes_nothing(opened, call, error):
    study = opened()
    ticket = study.ask()
    before = study.check(), study.number
    with pytest.raises(error):
        call(study, ticket)
    assert (study.check(), study.number) == before
    assert opened(arms=None).check() == before[0]
    assert study.tell(ticket.id, 1) is True


def test_a_ticket_of_another_study_is_unknown(opened):
    ticket = opened("one").ask()
    with pytest.raises(errors.UnknownTicketError, match="study 'two' never gave it"):
        opened("two").tell(ticket.id, 1)


def test_opening_with_other_settings_is_refused_and_with_the_same_ones_is_not(opened):
    opened(policy=Thompson(), uniform_share=0.1)
    opened(policy=Thompson())
    with pytest.raises(errors.SettingError, match="was created with policy=Thompson"):
        opened(policy=BelMan())
    with pytest.raises(errors.SettingError, match="was created with arms="):
        opened(arms=["a", "b"], policy=Thompson())
    with pytest.raises(errors.SettingError, match=r"was created with uniform_share=0\.1"):
        opened(arms=None, uniform_share=0.2)
    with pytest.raises(errors.UnknownStudyError, match="did you mean 'study'"):
        opened("stuby", arms=None)


def test_arms_named_by_numbers_and_tuples_come_back_as_they_were(opened):
    names = [1, 2.5, ("a", 1), "a", True and "yes"]
    study = opened(arms=names)
    assert list(opened(arms=None).arms) == names
    assert {ticket.arm for ticket in study.ask(len(names))} == set(names)
    assert [ticket.arm for ticket in opened(arms=None).tickets()] == [
        ticket.arm for ticket in study.tickets()
    ]


@pytest.mark.parametrize(
    "policy",
    [
        BelMan(Evidence(pool=math.inf)),
        Phases(BelMan(Infinite()), BelMan(Evidence(reach=math.inf)), None, 0.9),
        BelMan(own.Steady(math.inf)),
    ],
    ids=["infinite pool", "phases", "one's own"],
)
def test_a_policy_that_was_taken_is_there_for_whoever_opens_the_study(opened, policy):
    study = opened(policy=policy)
    study.tell(study.ask(), 1)
    study.set_policy(Thompson())
    study.set_policy(policy)
    study.ask()
    again = opened(arms=None)
    assert (again.policy, again.settings.policy) == (policy, policy)
    assert again.check() == study.check()


def test_an_exposure_that_others_could_not_read_changes_nothing(opened):
    study = opened()
    for exposure in (own.tau, lambda t: 1.0):
        with pytest.raises(errors.PolicyError, match="cannot be kept in a log"):
            study.set_exposure(exposure)
    assert study.number == 1
    assert opened(arms=None).policy == BelMan()


def test_tickets_of_a_policy_that_knows_no_chance_are_listed(opened):
    study = opened(policy=Forced(Thompson()))
    asked = study.ask(5)
    assert [ticket.id for ticket in study.tickets()] == [ticket.id for ticket in asked]
    assert [ticket.id for ticket in opened(arms=None).tickets()] == [one.id for one in asked]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda study: study.give_back(5), "tickets=5 is not a list"),
        (lambda study: study.record(None), "rewards=None is not a list"),
        (lambda study: study.correct_rows(0.5, "why"), "rows=0.5 is not a list"),
        (lambda study: study.correct_rows([("u", [1], "a", 1.0, 0.0)], "why"), "unhashable"),
        (lambda study: study.correct_rows([([], None, "a", 1.0, 0.0)], "why"), "unhashable"),
        (lambda study: study.publish(10, every=10**400), "is not a time"),
        (lambda study: study.observe({"arm": 1}), "1 is not a column"),
        (
            lambda study: study.observe(
                [{"version": [], "arm": "a", "n": 1, "sum": 1.0, "squares": 1.0}], key="k"
            ),
            "row 1: unhashable",
        ),
        (lambda study: study.publish(10**400), "asks for too many"),
        (lambda study: study.report(by=["device"]), "not an attribute"),
        (lambda study: study.ship(np.zeros(0)), "unknown arm"),
    ],
)
def test_what_is_none_of_its_kind_is_refused_in_words(opened, call, words):
    study = opened()
    with pytest.raises(errors.BelmanError, match=words):
        call(study)
    assert study.status()["events"] == 1
