"""A refund changes what an arm earned, and not that it changed: drift is seen all the same."""

from __future__ import annotations

import numpy as np
import pytest

import belman
from belman.measures import Drift


def _fades(study, clock, turns=700, refunds=0.03):
    """Play a novelty effect: b earns well at first, and as a does in the second half; return what
    every ticket counts as in the end.
    """
    nature = np.random.default_rng(2)
    won, final = [], {}
    for turn in range(turns):
        clock.now += 1.0
        ticket = study.ask()
        rate = 0.8 if ticket.arm == "b" and turn < turns / 2 else 0.3
        final[ticket] = float(nature.random() < rate)
        study.tell(ticket, final[ticket])
        if final[ticket] and nature.random() < refunds:
            won.append(ticket)
            final[ticket] = 0.0
        if len(won) > 3:  # refunds come later, and not in order
            study.correct(won.pop(0), 0.0, "refund")
    for ticket in reversed(won):
        study.correct(ticket, 0.0, "refund")
    return final


def _alarms(study):
    return [one.question for one in study.report().findings if one.alarm]


def test_a_change_is_seen_through_refunds(opened, clock):
    study = opened("refunds", ("a", "b"), policy=belman.Uniform(), control="a", clock=clock)
    final = _fades(study, clock)
    assert _alarms(study) == ["drift of b"]
    odds = {one.question: one.odds for one in study.report().findings}
    for arm in ("a", "b"):
        known = Drift(arm, belman.families.Bernoulli())
        known.add([reward for ticket, reward in final.items() if ticket.arm == arm])
        assert odds[f"drift of {arm}"] == pytest.approx(known.finding().odds, rel=1e-9)


def test_a_forgotten_ticket_leaves_the_past_as_it_was(opened, clock):
    """None forgets a ticket: what is kept has one reward fewer, from then on."""
    split = {"policy": belman.Uniform(), "clock": clock, "window": 10.0}
    study = opened("window", ("a", "b"), **split)
    nature, tickets = np.random.default_rng(3), []
    for turn in range(400):
        clock.now += 1.0
        tickets.append(study.ask())
        study.tell(tickets[-1], float(nature.random() < (0.9 if turn < 200 else 0.2)))
    clock.now += 20.0
    for ticket in tickets[5:60:9]:
        study.correct(ticket, None, "a bot")
    assert _alarms(study) == ["drift of a", "drift of b"]
    again = opened("window", None, clock=clock)
    assert again.check() == study.check()


def test_rows_that_are_corrected_leave_the_drift_of_their_arm(opened, clock):
    study = opened("rows", ("a", "b"), policy=belman.Uniform(), clock=clock)
    nature = np.random.default_rng(4)
    lost = []
    for batch in range(40):
        clock.now += 60.0
        rows = []
        for unit in range(20):
            reward = float(nature.random() < (0.8 if batch < 20 else 0.3))
            rows.append((f"{batch}-{unit}", None, "a", reward))
        study.observe(rows)
        lost += [row for row in rows if row[3]][:1]
    for row in lost[:10]:
        study.correct_rows([(*row, 0.0)], "refund")
    study.correct_rows([(*row, None) for row in lost[10:20]], "bots")
    assert _alarms(study) == ["drift of a"]


def test_nothing_changed_and_nothing_is_said(opened, clock):
    """Refunds spread over the past raise no alarm where the rate stays the same."""
    study = opened("still", ("a", "b"), policy=belman.Uniform(), clock=clock)
    nature = np.random.default_rng(5)
    won = []
    for _ in range(500):
        clock.now += 1.0
        ticket = study.ask()
        reward = float(nature.random() < 0.4)
        study.tell(ticket, reward)
        if reward and nature.random() < 0.3:
            won.append(ticket)
        if len(won) > 10:
            study.correct(won.pop(0), 0.0, "refund")
    assert _alarms(study) == []
