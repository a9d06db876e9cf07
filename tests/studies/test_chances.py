"""Asks of a study with a control are drawn by chances that the log knows of all arms."""

from __future__ import annotations

import json

import numpy as np
import pytest

from belman.errors import SettingError
from belman.studies.log.event_log import Kind
from belman.studies.outcomes.book import SHARES
from tests.studies.machine import quickly


def _asks(study):
    return [event for event in study.events() if event.kind == Kind.ASKED]


def _stages(study):
    return study._replica.look(lambda state: state.tally.draws.stages)


def test_goals_share_traffic_as_they_say(opened):
    """What is known is plain: b is far better than a, so that a policy plays b alone.

    Each count is within five standard deviations of its share: errs once in a million.
    """
    for goal, most in (("earn", 1.0), ("both", 0.75), ("decide", 0.5)):
        study = opened(goal, ["a", "b"], control="a", goal=goal)
        study.record([("a", 0), ("b", 1)] * 50)
        tickets = study.ask(1000)
        of_b = [ticket for ticket in tickets if ticket.arm == "b"]
        assert {round(ticket.probability, 12) for ticket in of_b} == {most}
        assert abs(len(of_b) - 1000 * most) <= 5 * np.sqrt(1000 * most * (1 - most))


def test_a_control_is_wanted_for_a_verdict_and_decides_the_goal(opened):
    assert opened("one", control="a").settings.goal == "both"
    assert opened("two").settings.goal == "earn"
    segmented = opened("three", control="a", segments=["country"])
    assert segmented.settings.goal == "earn"  # nothing is decided over all contexts
    with pytest.raises(SettingError, match=r"goal='erne' is none of .*did you mean 'earn'"):
        opened("four", goal="erne")
    with pytest.raises(SettingError, match="not for studies of candidates"):
        opened("five", None, features=["price"], goal="decide")


def test_without_a_control_the_policy_chooses_for_sure(opened):
    study = opened()
    study.record([("a", 0), ("b", 1), ("c", 0)] * 50)
    assert {ticket.arm for ticket in study.ask(20)} == {"b"}
    assert not _stages(study)


def test_chances_are_kept_once_and_known_of_every_ask(opened):
    """They are in the log where they change, and the chance of an ask is that of its arm."""
    study = opened(arms=["a", "b"], control="a", goal="both")
    rng = np.random.default_rng(7)
    with quickly():
        for _ in range(150):
            ticket = study.ask()
            study.tell(ticket, int(rng.random() < (0.2 if ticket.arm == "a" else 0.6)))
    asks, stages = _asks(study), _stages(study)
    assert 50 < len(stages) < 120
    assert [stage.number for stage in stages] == [
        ask.number for ask in asks if SHARES in json.loads(ask.body or "{}")
    ]
    for ask in asks:
        chances = study._replica.look(lambda state, ask=ask: state.tally.draws.at(ask.number))
        assert ask.probability == chances[ask.arm]
        assert sum(chances) == pytest.approx(1.0)
    assert opened(arms=None)._replica.look(lambda state: state.tally.draws.stages) == stages


def test_chances_follow_arms_that_come_and_go(opened):
    study = opened(arms=["a", "b"], control="a", goal="decide")
    for arms, change in (
        (2, lambda: study.add_arm("c")),
        (3, lambda: study.retire_arm("b")),
        (2, lambda: study.ship("a")),
        (1, lambda: study.unship()),
        (2, lambda: None),
    ):
        assert {round(t.probability, 12) for t in study.ask(5)} == {round(1 / arms, 12)}
        change()
    assert [len(stage.chances) for stage in _stages(study)] == [2, 3, 3, 0, 0, 3]  # 0: shipped


def test_an_ask_that_is_sent_again_is_known_though_it_began_new_chances(opened):
    study = opened(control="a", goal="decide")
    assert study.ask(3, key="one") == study.ask(3, key="one")


@pytest.mark.parametrize(
    "settings", [{"segments": ["country"]}, {"context": ["country"]}], ids=["segments", "contexts"]
)
def test_in_contexts_every_ask_has_its_own_chances(opened, settings):
    study = opened(control="a", goal="both", **settings)
    with quickly():
        for i in range(12):
            ticket = study.ask(context={"country": "fr" if i % 2 else "de"})
            chances = json.loads(_asks(study)[-1].body)[SHARES]
            assert ticket.probability == chances["abc".index(ticket.arm)] > 0.0
            study.tell(ticket, i % 3 == 0)


def test_along_features_an_arm_is_chosen_for_sure_unless_shares_are_kept(opened):
    """Where a policy leaves no chance, none is said to be known."""
    for name, settings, known in (
        ("plain", {}, False),
        ("floors", {"floor": 0.1}, True),
        ("uniform", {"uniform_share": 0.3}, True),
        ("goal", {"goal": "both"}, True),
    ):
        study = opened(name, control="a", context=["country"], **settings)
        study.ask(context={"country": "fr"})
        assert (SHARES in json.loads(_asks(study)[-1].body)) == known
