"""Budgets: a study spends at most so much in a period, and earns nearly all that this can earn."""

from __future__ import annotations

import itertools
import json
import math
from contextlib import closing

import numpy as np
import pytest

import belman
from belman import errors
from belman.measures.best import best_probabilities
from belman.measures.net_value import worth_most
from belman.studies import Kind, Storage, open_study
from belman.studies.rules.budgets import Budget, check_budget
from belman.studies.traffic.spending import SLOTS, Spending
from tests.studies.forks import reopened, snapshots

DAY = 86_400.0
#: Chance to succeed, and cost.
ARMS = {"dear": (0.9, 1.0), "mid": (0.75, 0.35), "cheap": (0.5, 0.05)}


class World:
    """Asks at random times of days, rewards of 0 and 1, and costs within half of their mean."""

    def __init__(self, study, clock, arms=None, seed=1):
        self.study, self.clock, self.arms = study, clock, arms or ARMS
        self.nature = np.random.default_rng(seed)

    def day(self, number, asks, factor=1.0):
        """What a day earned and cost, and how many asks were refused."""
        earned = spent = refused = 0.0
        for at in np.sort(self.nature.random(asks)):
            self.clock.now = DAY * (20 + number + at)
            try:
                ticket = self.study.ask()
            except errors.BudgetError:
                refused += 1
                continue
            chance, cost = self.arms[ticket.arm]
            cost *= factor * (0.5 + self.nature.random())
            reward = float(self.nature.random() < chance)
            self.study.tell(ticket, reward, metrics={"dollars": cost})
            earned, spent = earned + reward, spent + cost
        return earned, spent, refused


def best_mixture(arms, each):
    """What an ask earns at most, spending so much on average: the linear program by its corners."""
    result = [chance for chance, cost in arms.values() if cost <= each]
    for (low, cheap), (high, dear) in itertools.permutations(arms.values(), 2):
        if cheap <= each < dear:
            share = (each - cheap) / (dear - cheap)
            result.append((1 - share) * low + share * high)
    return max(result)


def spending(study) -> Spending:
    return study._replica.look_now(lambda state: state.spending)


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/studies.db?synchronous=normal"


@pytest.fixture
def study(opened, clock):
    return opened(arms=list(ARMS), budget={"dollars": "100 a day"}, clock=clock)


# What it is for


def test_a_study_earns_nearly_the_best_mixture_and_never_spends_more(opened, clock):
    """Three days of 400 asks for 120 dollars: each is within the budget (a call costs half a cent
    of it more than expected at most), and the last two earn what the best fixed mixture of known
    arms does, less 5 % and five standard deviations; the price is that of the linear program.
    """
    study = opened(arms=list(ARMS), budget={"dollars": 120}, clock=clock)
    world = World(study, clock)
    days = [world.day(10 + day, 400) for day in range(3)]
    assert all(spent <= 120.0 + 0.5 for _, spent, _ in days)
    assert all(spent >= 110.0 for _, spent, _ in days[1:])
    best = best_mixture(ARMS, 0.3)
    earned = sum(one for one, _, _ in days[1:])
    assert earned > 0.95 * 800 * best - 5 * math.sqrt(800 * best * (1 - best))
    assert sum(refused for *_, refused in days[1:]) <= 0.02 * 800
    usual = study.spending()["price"][-1]
    assert usual == pytest.approx((0.75 - 0.5) / (0.35 - 0.05), rel=0.4)
    assert study.check() == opened(arms=None).check()


def test_a_budget_that_is_ample_has_no_price(opened, clock):
    study = opened(arms=list(ARMS), budget={"dollars": 10_000}, clock=clock)
    World(study, clock).day(3, 150)
    assert spending(study).price == 0.0
    assert study.beliefs().row("dear")["plays"] > 75


def test_costs_that_rise_are_noticed(opened, clock):
    """All costs are three times what they were from the second day on: it costs no more."""
    study = opened(arms=list(ARMS), budget={"dollars": 60}, clock=clock)
    world = World(study, clock)
    spent = [world.day(5 + day, 200, factor)[1] for day, factor in enumerate((1.0, 3.0, 3.0))]
    assert all(one <= 60.0 + 3 * 1.5 for one in spent)
    assert spent[-1] > 40.0


# The limit


@pytest.mark.parametrize("batch", [1, 7])
def test_nothing_is_asked_beyond_the_budget(opened, clock, batch):
    """Costs are exactly what is expected, and nobody tells the last: known and expected costs never
    exceed the budget, also in batches.
    """
    study = opened(arms=["a", "b"], budget={"dollars": 10}, clock=clock)
    clock.now = 70 * DAY
    costs = {"a": 1.0, "b": 0.4}
    for _ in range(200):
        try:
            tickets = study.ask(batch)
        except errors.BudgetError:
            break
        for ticket in tickets:
            study.tell(ticket, 1, metrics={"dollars": costs[ticket.arm]})
        assert study.status()["budget"]["spent"] <= 10.0 + 0.8 * batch
    assert study.status()["budget"]["left"] < 1.0 * batch + 0.8
    with pytest.raises(errors.BudgetError, match=r"no room in its budget for .*: .* of 10 dollars"):
        study.ask(100)


def test_what_is_not_told_is_taken_for_spent(study, clock):
    """A hundredth of the budget each, while nothing is known."""
    clock.now = 27 * DAY
    asked = 0
    while study.status()["budget"]["left"] >= 1.0:
        study.ask()
        asked += 1
    assert asked == 100
    clock.now = 28 * DAY - 0.001
    with pytest.raises(errors.BudgetError, match="1970-01-29T00:00:00"):
        study.ask()
    clock.now = 28 * DAY
    assert study.ask().arm in ARMS


def test_only_arms_that_fit_are_drawn(opened, clock):
    """An arm that costs 40 has no chance where less than that is left, and the log says so."""
    study = opened(arms=["large", "small"], budget={"dollars": 100}, clock=clock)
    cost, seen = {"large": 40.0, "small": 1.0}, set()
    for _ in range(60):
        left = study.status()["budget"]["left"]
        try:
            ticket = study.ask()
        except errors.BudgetError:
            break
        asked = [event for event in study.events() if event.kind == Kind.ASKED][-1]
        shares = json.loads(asked.body)["shares"]
        if len(seen) == 2:
            assert (shares[0] == 0.0) == (left < 40.0)
        study.tell(ticket, 1, metrics={"dollars": cost[ticket.arm]})
        seen.add(ticket.arm)
    assert seen == set(cost)
    assert study.status()["budget"]["spent"] <= 100.0


def test_an_arm_that_costs_nothing_is_always_allowed(opened, clock):
    study = opened(arms=["free", "dear"], budget={"dollars": 10}, clock=clock)
    for _ in range(40):
        for ticket in study.ask(2):
            cost = 0.0 if ticket.arm == "free" else 5.0
            study.tell(ticket, 1, metrics={"dollars": cost})
    assert study.status()["budget"]["spent"] <= 15.0
    assert {ticket.arm for ticket in study.ask(20)} == {"free"}


def test_a_shipped_arm_keeps_to_the_budget(opened, clock):
    study = opened(arms=["a", "b"], budget={"dollars": 10}, clock=clock)
    study.ship("a")
    for _ in range(5):
        study.tell(study.ask(), 1, metrics={"dollars": 2.0})
    with pytest.raises(errors.BudgetError):
        study.ask()


# What was spent


def test_late_costs_and_corrections_belong_to_the_day_of_the_ask(study, clock):
    clock.now = 23.99 * DAY
    late, never = study.ask(2)
    clock.now = 24.5 * DAY
    today = study.ask()
    study.tell(today, 1, metrics={"dollars": 4.0})
    study.tell(late, 0, metrics={"dollars": 7.0})
    assert study.spending()["spent"] == [7.0, 4.0]
    assert study.status()["budget"]["spent"] == 4.0
    study.correct(late, 0, "credit", metrics={"dollars": 5.0})
    study.correct(today, 0, "surcharge", metrics={"dollars": 4.5})
    assert study.spending()["spent"] == [5.0, 4.5]
    study.correct(today, None, "not ours")
    assert study.spending()["spent"] == [5.0, 4.5]  # what was paid for it stays paid
    study.give_back([never])
    assert study.check()


def test_what_is_given_back_is_not_expected_any_more(study):
    ticket = study.ask()
    assert study.status()["budget"]["expected"] == 1.0
    study.give_back([ticket])
    assert study.status()["budget"]["expected"] == 0.0


def test_a_cost_counts_when_it_is_told_and_adds_up(opened, clock):
    study = opened(budget={"dollars": 10}, window=3600, accumulate=True, clock=clock)
    ticket = study.ask()
    study.tell(ticket, 0, metrics={"dollars": 1.0})
    study.tell(ticket, 1, metrics={"dollars": 0.5})
    assert study.status()["budget"]["spent"] == 1.5
    clock.now += 4000
    assert study.status()["budget"]["spent"] == 1.5
    assert study.spending()["expected"] == [0.0]


def test_costs_of_no_ask_count(study, clock, url):
    clock.now = 30.5 * DAY
    study.spend(2.5, "a call decided elsewhere", key="once")
    study.spend(2.5, "a call decided elsewhere", key="once")
    study.spend(40, arm="dear")
    assert study.status()["budget"]["spent"] == 42.5
    state = study._replica.look(lambda state: state)
    assert state.spending.costs_of([0, 1], "", most=True) == [40.0, 40.0]
    study.tell(study.ask(), 1, metrics={"dollars": 57.0})
    with pytest.raises(errors.BudgetError):
        study.ask()
    for wrong in (-1, math.nan, math.inf, "much", None):
        with pytest.raises(errors.RewardError):
            study.spend(wrong)
    with pytest.raises(errors.ArmError):
        study.spend(1, arm="strange")
    with reopened(study, url, clock=clock) as other:
        assert other.check() == study.check()


def test_a_silent_ask_stays_expected(opened, clock):
    study = opened(budget={"dollars": 10}, window=60, clock=clock)
    study.ask(4)
    clock.now += 100
    assert study.status()["budget"]["expected"] == pytest.approx(0.4)
    assert study.status()["expired"] in (0, 4)


# The price


def test_a_price_is_written_with_the_chances_and_follows_from_the_log(study, clock, url):
    world = World(study, clock)
    with snapshots(7):
        world.day(5, 60)
        study.ask(3)
        world.day(6, 60)
    bodies = [json.loads(event.body) for event in study.events() if event.kind == Kind.ASKED]
    assert all(sum(body["shares"]) == pytest.approx(1.0) for body in bodies)
    assert sum("price" in body for body in bodies) == len(bodies) - 2  # a batch has one
    with reopened(study, url, clock=clock) as other:
        assert other.check() == study.check()
        here, there = spending(study), spending(other)
        assert (here.price, here.pressure, here.costs) == (there.price, there.pressure, there.costs)
        clock.now += 60
        assert other.ask().arm in ARMS
        study.ask()
        assert other.check() == study.check()


def test_two_studies_with_one_log_decide_by_one_price(opened, clock):
    """Each goes on where the other stopped, as one alone would."""
    one = opened("one", arms=list(ARMS), budget={"dollars": 20}, clock=clock)
    two = opened("one", arms=None, clock=clock)
    alone = opened("two", arms=list(ARMS), budget={"dollars": 20}, clock=clock)
    result = {"both": [], "alone": []}
    for turn in range(60):
        clock.now = 225 * DAY + 60.0 * turn
        for name, study in (("both", (one, two)[turn % 2]), ("alone", alone)):
            ticket = study.ask()
            cost = ARMS[ticket.arm][1]
            study.tell(ticket, float(turn % 3 == 0), metrics={"dollars": cost})
            result[name].append((ticket.arm, ticket.probability))
    assert result["both"] == result["alone"]


def test_frequencies_are_as_the_logged_chances(opened, clock):
    """Within five standard deviations, over chances that change with every ask."""
    study = opened(arms=list(ARMS), budget={"dollars": 60}, floor=0.05, clock=clock)
    World(study, clock).day(5, 250)
    drawn, meant, variance = np.zeros(3), np.zeros(3), np.zeros(3)
    for event in study.events():
        if event.kind == Kind.ASKED:
            shares = np.array(json.loads(event.body)["shares"])
            drawn[event.arm] += 1
            meant, variance = meant + shares, variance + shares * (1 - shares)
            assert event.probability == shares[event.arm]
    assert (abs(drawn - meant) < 5 * np.sqrt(variance)).all()
    assert not any(one.alarm for one in study.report().findings)


def test_a_day_begins_with_the_price_that_was_usual(study, clock):
    World(study, clock).day(5, 120)
    usual = spending(study).periods[25].price
    clock.now = 29 * DAY
    study.ask()
    assert spending(study).price == usual
    assert spending(study).slots == [1] + [0] * (SLOTS - 1)


def test_who_is_refused_is_part_of_the_traffic():
    """A budget that is spent by noon has seen half of the asks that there are in a day."""
    spending = Spending().under(Budget("dollars", 100.0))
    for i in range(100):
        number, at = i + 1, DAY * (20 + i / 200)
        spending.ask(number, at, 0, "", (1.0,), (0.0, 0.0))
        spending.tell(number, at, 0, "", None, {"dollars": 1.0})
    assert spending.affordable(20.6 * DAY, [0], "") == []
    assert spending.asks_to_come(DAY * 20.5) == pytest.approx(98, rel=0.1)
    spending.ask(200, DAY * 21, 0, "", (1.0,), None)
    assert sum(spending.usual) == pytest.approx(200, rel=0.02)
    assert spending.asks_to_come(DAY * 21) == pytest.approx(200, rel=0.1)


def test_segments_have_costs_of_their_own_and_one_budget(opened, clock):
    """Long requests cost ten times as much and are worth no more: they get the cheap arm."""
    study = opened(
        arms=["good", "plain"], segments=["kind"], budget={"dollars": 30}, clock=clock, seed=3
    )
    nature = np.random.default_rng(1)
    plays = {"long": [], "short": []}
    for day in (2, 3):
        for at in np.sort(nature.random(150)):
            clock.now = DAY * (20 + day + at)
            kind = "long" if nature.random() < 0.5 else "short"
            try:
                ticket = study.ask(context={"kind": kind})
            except errors.BudgetError:
                continue
            cost = (1.0 if kind == "long" else 0.1) * (1.0 if ticket.arm == "good" else 0.1)
            reward = float(nature.random() < (0.9 if ticket.arm == "good" else 0.5))
            study.tell(ticket, reward, metrics={"dollars": cost})
            if day == 3:
                plays[kind].append(ticket.arm == "good")
    assert max(study.spending()["spent"]) <= 30.0 + 1.0
    assert np.mean(plays["short"]) > np.mean(plays["long"]) + 0.3
    assert study.check() == opened(arms=None).check()


def test_arms_that_come_and_go(study, clock):
    World(study, clock).day(5, 40)
    study.retire_arm("mid")
    study.add_arm("new")
    clock.now = 26 * DAY
    assert {study.ask().arm for _ in range(40)} >= {"new"}
    study.add_arm("mid")
    assert study.check()


def test_costs_are_minimised_and_ranges_are_scaled(opened, clock):
    """A reward between 0 and 50 is worth as much as its share of 50; complaints are to be few."""
    study = opened(
        arms=["a", "b"], range=(0, 50), minimise=True, budget={"dollars": 8}, clock=clock
    )
    for turn in range(80):
        clock.now = 225 * DAY + turn * DAY / 81
        try:
            ticket = study.ask()
        except errors.BudgetError:
            continue
        told = {"a": (10.0, 0.3), "b": (20.0, 0.05)}[ticket.arm]
        study.tell(ticket, told[0], metrics={"dollars": told[1]})
    assert study.spending()["spent"][0] <= 8.3
    assert 0.0 < study.spending()["high"][0] < 2.0 * 50 / 0.25


# Settings


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"a": 1, "b": 2}, "25", 25, {"dollars": 0}, {"dollars": -1}, {"dollars": "much"},
        {"dollars": math.nan}, {"dollars": math.inf}, {"dollars": True}, {"": 1}, {3: 1},
        {"dollars": "25 a year"}, {"dollars": "1e999 a day"}, {"dollars": None}, {"x" * 99: 1},
        {"dollars": 10**400},
    ],
)  # fmt: skip
def test_what_is_no_budget_is_refused(wrong):
    with pytest.raises(errors.SettingError):
        check_budget(wrong)


def test_budgets_are_written_as_they_are_read():
    for text in ("25.0 a day", "0.5 an hour", "100.0 a week"):
        assert Budget.parse("dollars", text).text == text
    assert Budget.parse("x", " 25  PER day ") == Budget("x", 25.0, "day")


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ({"policy": "ucb1"}, "is not for a study with a budget"),
        ({"policy": "belman"}, "is not for a study with a budget"),
        ({"context": ["age"]}, "not for studies along features"),
    ],
)
def test_what_has_no_say_beside_a_budget_is_refused(opened, rest, words):
    with pytest.raises(errors.BelmanError, match=words):
        opened(budget={"dollars": 1}, **rest)


def test_a_running_study_keeps_a_policy_that_fits_and_publishes_nothing(study):
    with pytest.raises(errors.PolicyError, match="is not for a study with a budget"):
        study.set_policy(belman.BelMan())
    with pytest.raises(errors.StudyError, match="publishes no weights"):
        study.publish(decisions=10)


def test_rewards_that_change_are_followed(opened, clock):
    for rest in ({"drift": "auto"}, {"last": 20}, {"discount": 0.9}):
        study = opened(str(rest), arms=list(ARMS), budget={"dollars": 30}, clock=clock, **rest)
        World(study, clock).day(5, 30)
        assert study.check()


def test_a_study_without_a_budget_has_no_spending(opened):
    assert len(opened().spending()) == 0
    with pytest.raises(errors.StudyError, match="has no budget"):
        opened().spend(1)


def test_the_report_and_its_page_say_what_was_spent(study, clock):
    World(study, clock).day(5, 20)
    result = study.report()
    assert result.to_dict()["budget"]["amount"] == 100.0
    assert any("of 100 dollars are spent today" in note for note in result.notes)
    assert "dollars, 100.0 a day" in result.to_html()


def test_a_copy_of_a_log_is_the_same_study(study, clock, url, tmp_path):
    World(study, clock).day(5, 30)
    study.archive_events(tmp_path / "old.parquet")
    World(study, clock).day(6, 5)
    with closing(Storage(url)) as storage:
        assert open_study("study", storage=storage, clock=clock).check() == study.check()


# The chance to be worth most


def test_without_prices_it_is_the_chance_to_be_best():
    nature = np.random.default_rng(1)
    for family, rows in (
        (belman.families.Bernoulli(), 1.0 + 30.0 * nature.random((4, 2))),
        (belman.families.Gaussian(), np.array([[0.0, 1.0], [0.3, 4.0], [-1.0, 0.2]])),
    ):
        beliefs = np.array([family.check_belief(row) for row in rows])
        expected = best_probabilities(family, beliefs)
        assert worth_most(family, beliefs, np.zeros(len(rows))) == pytest.approx(expected, abs=4e-3)


def test_prices_shift_what_is_believed():
    """Against a million draws: five standard deviations are 0.0025, the mesh adds 0.003."""
    nature = np.random.default_rng(1)
    beliefs = np.array([[30.0, 10.0], [5.0, 5.0], [200.0, 300.0]])
    prices = np.array([0.25, 0.0, -0.1])
    draws = nature.beta(*beliefs.T, size=(1_000_000, 3)) - prices
    often = np.bincount(draws.argmax(axis=1), minlength=3) / len(draws)
    result = worth_most(belman.families.Bernoulli(), beliefs, prices)
    assert result == pytest.approx(often, abs=0.0055)
    huge = worth_most(belman.families.Bernoulli(), beliefs, 1e6 * prices)
    assert huge.tolist() == [0.0, 0.0, 1.0]


def test_equal_arms_share_alike():
    beliefs = np.array([[3.0, 3.0]] * 5)
    result = worth_most(belman.families.Bernoulli(), beliefs, np.full(5, 0.7))
    assert result == pytest.approx(np.full(5, 0.2), abs=1e-9)
