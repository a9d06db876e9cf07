"""Slots that are filled at once, and the chances of all that is ranked."""

from __future__ import annotations

import json
from contextlib import closing

import numpy as np
import pytest

from belman.errors import RewardError, SettingError, StudyError, UnknownTicketError
from belman.policies.dependent import LinEpsilonGreedy, LinTS, SharedBelMan
from belman.studies import Ask, AskSlots, Limits, Slot, Storage, Tell, TellAll, open_study
from belman.studies.requests.filling import Filling
from tests.studies.worlds import one

DISHES = [{"price": 4.0}, {"price": 5.0}, {"price": 9.0}]


@pytest.fixture
def storage(tmp_path):
    with closing(Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")) as result:
        yield result


@pytest.fixture
def shelf(storage, clock):
    def made(name="shelf", **options):
        rule = {"features": ["price"], "context": ["age"], "storage": storage, "clock": clock}
        return open_study(name, **{**rule, "seed": 5, **options})

    return made


def slots(*among, age=31.0):
    return [Slot(f"slot {i}", {"age": age}, own) for i, own in enumerate(among)]


def test_every_slot_has_another_candidate_and_a_ticket_of_its_own(shelf):
    study = shelf(uniform_share=0.5)
    for turn in range(20):
        request = AskSlots(f"page {turn}", DISHES, slots([0, 1, 2], [0, 1, 2], [0, 1, 2]))
        tickets = one(study, request)
        assert sorted(ticket.arm for ticket in tickets) == [0, 1, 2]
        assert all(DISHES[ticket.arm] == ticket.candidate for ticket in tickets)
        assert tickets[2].probability == 1.0  # one was left
        assert one(study, request) == tickets
        result = study.asked_slots(f"page {turn}")
        assert [result[f"slot {i}"].id for i in range(3)] == [ticket.id for ticket in tickets]
    assert study.status()["outstanding"] == 60


def test_a_candidate_is_left_to_the_slot_that_needs_it(shelf):
    study = shelf(uniform_share=1.0)
    for turn in range(40):
        asked = AskSlots(f"page {turn}", DISHES, slots([0, 1, 2], [0, 1], [0]))
        assert [ticket.arm for ticket in one(study, asked)] == [2, 1, 0]
        wide = AskSlots(f"wide {turn}", DISHES, slots([0, 1, 2], [0]))
        assert one(study, wide)[1].arm == 0


@pytest.mark.parametrize(
    "wrong",
    [
        AskSlots("page", DISHES, slots([0], [0])),
        AskSlots("page", DISHES, slots([])),
        AskSlots("page", DISHES, slots([3])),
        AskSlots("page", DISHES, []),
        AskSlots("page", DISHES, [Slot("a", {}, [0]), Slot("a", {}, [1])]),
        AskSlots("page", DISHES, [Slot("\ud800", {}, [0])]),
        AskSlots("page", DISHES, [Slot("a", {}, [0]), Slot("b", {"height": 3}, [1])]),
        AskSlots("page", [{"colour": "red"}], slots([0])),
    ],
)
def test_what_cannot_be_filled_is_refused_and_changes_nothing(shelf, wrong):
    study = shelf()
    number = study.number
    with pytest.raises(SettingError):
        one(study, wrong)
    assert study.number == number
    with pytest.raises(UnknownTicketError):
        study.asked_slots("page")


def test_a_key_is_for_the_same_slots(shelf):
    study = shelf()
    one(study, AskSlots("page", DISHES, slots([0, 1], [1, 2])))
    number = study.number
    for other in (slots([0, 1]), slots([0, 1], [1, 2], [2]), slots([0, 1], [1, 2], age=32.0)):
        with pytest.raises(SettingError, match="new key"):
            one(study, AskSlots("page", DISHES, other))
    assert study.number == number


def test_rewards_of_slots_are_learnt_together_or_not_at_all(shelf):
    study = shelf()
    tickets = one(study, AskSlots("page", DISHES, slots([0, 1], [1, 2])))
    with pytest.raises(RewardError):
        one(study, TellAll([Tell(tickets[0], 1.0), Tell(tickets[1], 7.0)]))
    assert study.status()["told"] == 0
    whole = TellAll([Tell(tickets[0], 1.0), Tell(tickets[1], 0.0)])
    assert one(study, whole) is True
    assert one(study, whole) is False
    assert study.status()["told"] == 2


def test_slots_beside_other_requests_of_one_transaction(shelf):
    study = shelf()
    wrong = AskSlots("wrong", DISHES, [*slots([0, 1]), Slot("b", {"age": "old"}, [1])])
    asked = Ask(1, None, None, {"age": 30.0}, DISHES)
    right = AskSlots("right", DISHES, slots([0, 1], [1, 2]))
    first, refused, second = study.together([asked, wrong, right])
    assert (len(first), type(refused), len(second)) == (1, SettingError, 2)
    assert study.status()["outstanding"] == 3


@pytest.mark.parametrize(
    ("policy", "shares"),
    [
        pytest.param(LinTS(), {}, marks=pytest.mark.slow),  # an integral for each candidate
        pytest.param(LinTS(), {"uniform_share": 0.3}, marks=pytest.mark.slow),
        (LinEpsilonGreedy(), {}),
        (LinEpsilonGreedy(), {"uniform_share": 0.3}),
        (SharedBelMan(), {"uniform_share": 0.3}),
    ],
)
def test_a_ranking_says_the_chance_of_each_to_be_first(shelf, policy, shares):
    """Sums of what came less its chance: five standard deviations, errs once in 10⁶ a candidate."""
    study, rng = shelf(model="linear", policy=policy, **shares), np.random.default_rng(3)
    off, spread = np.zeros(3), np.zeros(3)
    for _ in range(250):
        order = rng.permutation(3)
        candidates = [DISHES[position] for position in order]
        ticket = study.ask(context={"age": 31.0}, candidates=candidates, top=3)
        assert ticket.ranking[0] == ticket.arm
        assert sum(ticket.chances) == pytest.approx(1.0)
        assert min(ticket.chances) >= shares.get("uniform_share", 0.0) / 3 - 1e-12
        for position, chance in zip(ticket.ranking, ticket.chances, strict=True):
            off[order[position]] += (position == ticket.arm) - chance
            spread[order[position]] += chance * (1.0 - chance)
        study.tell(ticket, float(rng.normal(ticket.candidate["price"] / 9.0, 1.0)))
    assert np.all(np.abs(off) <= 5.0 * np.sqrt(spread) + 1e-9)
    text = study.storage.rows("SELECT body FROM belman_events WHERE kind = 2 LIMIT 1")[0][0]
    assert len(json.loads(text)["chances"]) == 3


def test_chances_that_nobody_knows_are_left_out(shelf):
    study = shelf(policy=LinTS(), model="linear")
    many = [{"price": float(price)} for price in range(51)]
    assert study.ask(context={"age": 1.0}, candidates=many, top=2).chances is None
    known = study.ask(context={"age": 1.0}, candidates=many[:12], top=12).chances
    assert sum(known) == pytest.approx(1.0)
    two = study.ask(2, context={"age": 1.0}, candidates=DISHES, top=2)
    assert [ticket.chances for ticket in two] == [None, None]
    assert study.ask(context={"age": 1.0}, candidates=DISHES).chances is None


def test_choices_are_those_of_trying_all():
    """Against the slow obvious twin: try whether the rest can be filled, in every order."""

    def possible(among, taken):
        if not among:
            return True
        return any(possible(among[1:], taken | {one}) for one in among[0] if one not in taken)

    rng = np.random.default_rng(1)
    kinds = set()
    for _ in range(300):
        slots, candidates = rng.integers(1, 5), rng.integers(1, 6)
        among = [
            np.flatnonzero(rng.random(candidates) < 0.5).tolist() for _ in range(slots)
        ]  # fmt: skip
        filling = Filling(among)
        kinds.add(filling.is_possible)
        assert filling.is_possible == possible(among, set())
        taken = set()
        for slot in range(slots if filling.is_possible else 0):
            own = [one for one in among[slot] if one not in taken]
            wanted = [one for one in own if possible(among[slot + 1 :], taken | {one})]
            assert filling.choices(slot) == wanted
            chosen = int(rng.choice(wanted))
            taken.add(chosen)
            filling.take(chosen)
    assert kinds == {True, False}


def test_many_slots_are_filled_quickly_or_refused(shelf):
    study = shelf()
    many = [{"price": float(price)} for price in range(50)]
    own = [Slot(f"slot {i}", {"age": 1.0}, range(i + 1)) for i in range(50)]
    tickets = one(study, AskSlots("page", many, own))
    assert [ticket.arm for ticket in tickets] == list(range(50))
    more = [Slot(f"slot {i}", {"age": 1.0}, [0]) for i in range(51)]
    with pytest.raises(SettingError, match="from 1 to 50"):
        one(study, AskSlots("more", many, more))


def test_a_study_that_is_full_answers_what_it_answered_before(storage, clock):
    rule = {"features": ["price"], "context": ["age"], "storage": storage, "clock": clock}
    study = open_study("full", **rule, limits=Limits(out=2, candidates=6))
    asked = AskSlots("page", DISHES, slots([0, 1, 2], [0, 1, 2]))
    tickets = one(study, asked)
    with pytest.raises(StudyError, match="2 tickets out"):
        one(study, AskSlots("other", DISHES, slots([0])))
    assert one(study, asked) == tickets
    with pytest.raises(SettingError, match="at most 2 among 3 candidates"):
        one(study, AskSlots("wide", DISHES, slots([0], [1], [2])))
