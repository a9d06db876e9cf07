"""Studies that decide in contexts: what is learnt is the fold of the log, come what may."""

from __future__ import annotations

from contextlib import closing, suppress
from functools import partial

import numpy as np
import pytest

import belman
from belman import errors
from belman.models import Logistic
from belman.policies.dependent import LinGreedy, LinTS, SharedBelMan
from belman.studies import Ask, Storage, Tell, open_study, saving

ARMS = ("blue", "red", "green")
WIDE = Logistic(covariance="diagonal")
KINDS = {
    "features": {"context": ["country", "age"], "pooling": "hybrid", "features": {
        arm: {"bright": i} for i, arm in enumerate(ARMS)}},
    "disjoint": {"context": ["country", "age"], "model": "linear"},
    "segments": {"segments": ["country"]},
    "wide": {"context": ["country", "age", "words[]"], "model": WIDE},
    "wide features": {"context": ["country", "age", "words[]"], "model": WIDE, "features": {
        arm: {"bright": i, "tags": [arm, "any"]} for i, arm in enumerate(ARMS)}},
    "candidates": {"features": ["price", "colour"], "context": ["age"], "model": "linear"},
}  # fmt: skip


@pytest.fixture(params=KINDS)
def kind(request) -> str:
    return request.param


def begun(opened, kind, **more):
    arms = None if kind == "candidates" else ARMS
    return opened("study", arms, **{"seed": 1, **KINDS[kind], **more})


def asked(kind, luck) -> dict:
    """What one visitor is asked with."""
    country, age = str(luck.choice(["fr", "de", "it"])), float(luck.integers(18, 80))
    if kind == "segments":
        return {"context": {"country": country}}
    if kind != "candidates":
        context = {"country": country, "age": age if age < 70 else None}
        if kind.startswith("wide"):
            context["words"] = {f"w{luck.integers(40)}": 1, country: float(luck.normal())}
        return {"context": context}
    colours = [{"price": float(luck.integers(1, 9)), "colour": colour} for colour in "bcd"]
    return {"context": {"age": age}, "candidates": colours[: 1 + int(luck.integers(3))]}


def reward_of(kind, ticket, luck) -> float:
    if kind == "candidates":
        return float(ticket.candidate["price"] + luck.normal())
    likes = "blue" if ticket.context["country"] == "fr" else "red"
    return float(luck.random() < (0.8 if ticket.arm == likes else 0.3))


def lived(study, kind, turns=40, seed=3, out=0):
    """Some turns, the last so many of which are not told; the tickets."""
    luck, tickets = np.random.default_rng(seed), []
    for turn in range(turns):
        tickets.append(study.ask(**asked(kind, luck)))
        if turn < turns - out:
            study.tell(tickets[-1], reward_of(kind, tickets[-1], luck))
    return tickets


def test_lists_in_one_transaction_are_each_ones_own(opened, kind):
    study, luck = begun(opened, kind), np.random.default_rng(3)
    asks = [Ask(1, **asked(kind, luck), top=2) for _ in range(3)]
    answers = study.together(asks)
    assert [len(tickets) for tickets in answers] == [1, 1, 1]
    assert len({tickets[0].id for tickets in answers}) == 3


def test_the_state_is_the_fold_of_the_log(opened, kind):
    study = begun(opened, kind, uniform_share=0.2)
    lived(study, kind, out=5)
    other = opened("study", None)
    assert other.check() == study.check()
    assert len(study.tickets()) == 5
    assert {ticket.id for ticket in other.tickets()} == {ticket.id for ticket in study.tickets()}


def test_a_snapshot_goes_on_as_if_nothing_had_happened(opened, kind):
    study = begun(opened, kind)
    lived(study, kind, out=3)
    state = study._replica._state
    again = saving.from_text(saving.to_text(state))
    assert saving.to_text(again) == saving.to_text(state)
    study._replica._state = again
    study.give_back(study.tickets()[:1])
    lived(study, kind, 10, seed=4)
    study.check()


def test_a_ticket_says_what_was_asked(opened):
    study = begun(opened, "candidates")
    candidates = [{"price": 3, "colour": "b"}, {"price": 5, "colour": None}]
    ticket = study.ask(context={"age": 31}, candidates=candidates, key="one")
    assert ticket.candidate == candidates[ticket.arm]
    assert ticket.context == {"age": 31.0}
    assert study.ask(context={"age": 31}, candidates=candidates, key="one") == ticket
    assert study.tickets() == [ticket]
    with pytest.raises(errors.SettingError, match="another context"):
        study.ask(context={"age": 32}, candidates=candidates, key="one")


def test_it_learns_who_likes_what(opened):
    study = begun(opened, "features")
    lived(study, "features", 150)
    best = {
        country: study.beliefs(context={"country": country, "age": 40})["P(best)"]
        for country in ("fr", "de")
    }
    assert np.argmax(best["fr"]) == 0
    assert np.argmax(best["de"]) == 1
    assert len(study.coefficients()) > 10
    assert "feature" in study.reasons("blue", {"country": "fr", "age": 40}).columns
    assert study.explain(context={"country": "fr", "age": 40})["arm"][0] in ARMS
    assert any("chosen by context" in note for note in study.report().notes)


def test_segments_are_seen_and_looked_at(opened):
    study = begun(opened, "segments")
    lived(study, "segments", 150)
    result = study.segments()
    arms = dict(zip(result["segment"], result["arm"], strict=True))
    assert arms["country=fr"] == "blue"
    assert arms["country=de"] == "red"
    assert np.argmax(study.beliefs(context={"country": "fr"})["P(best)"]) == 0


def test_a_report_goes_by_what_contexts_tell(opened):
    study = begun(opened, "segments", control="red", policy=belman.Uniform())
    lived(study, "segments", 150)
    result = study.report(by="country")
    assert result.attributes == ("country",)
    assert result.segments.names == ("de", "fr", "it")
    french = result.segments.alone[1]
    assert french == (max if result.leader.arm == "blue" else min)(result.segments.alone)
    weights = study.publish(1_000, segment={"country": "fr"})
    arms = {f"unit {i}": belman.assign(weights, f"unit {i}").arm for i in range(40)}
    leader = result.leader.arm  # it stays, whichever units the weights give it
    rows = [(unit, weights.version, arm, int(arm == leader)) for unit, arm in arms.items()]
    study.observe(rows)
    pair = (result.segments.arm, result.segments.against)
    more = study.report(by="country").segments.plays - result.segments.plays
    assert more.tolist() == [0.0, sum(arm in pair for arm in arms.values()), 0.0]
    with pytest.raises(errors.SettingError, match="there are 'country'"):
        study.report(by="age")


def test_candidates_are_looked_at(opened):
    study = begun(opened, "candidates")
    lived(study, "candidates", 30)
    shelf = {"context": {"age": 40}, "candidates": [{"price": 1.0}, {"price": 8.0}]}
    before = study.check()
    believed, explained = study.beliefs(**shelf), study.explain(**shelf)
    assert believed["expected reward"] == pytest.approx([1.0, 8.0], abs=1.5)
    assert explained["arm"][0] == study.ask(**shelf).arm == 1
    assert explained["for"][0] == "price"
    assert study.reasons(1, **shelf)["feature"][0] == "price"
    assert study.check() != before  # by the ask alone
    with pytest.raises(errors.StudyError, match="no contexts"):
        opened("plain", ARMS).explain(candidates=[{"price": 1.0}])


def corrected(open_one, kind, position):
    """How far the ends of intervals are, in widths, from those of a study that was told so at once:
    before a ticket is corrected, and afterwards.
    """
    study = open_one("study", ARMS, **KINDS[kind])
    tickets, luck, told = lived(study, kind), np.random.default_rng(3), []
    for ticket in tickets:
        asked(kind, luck)
        told.append([ticket.arm, reward_of(kind, ticket, luck), ticket.context])
    told[position][1] = 1.0 - told[position][1]
    at_once = open_one("other", ARMS, **KINDS[kind])
    at_once.record([tuple(row) for row in told])
    wanted, apart = at_once.beliefs(context=tickets[position].context), []
    for is_corrected in (False, True):
        assert not is_corrected or study.correct(tickets[position], told[position][1], "a slip")
        result = study.beliefs(context=tickets[position].context)
        low, width = np.array(wanted["low"]), np.subtract(wanted["high"], wanted["low"])
        apart.append(float((np.abs(result["low"] - low) / width).max()))
    study.check()
    return apart


def test_a_correction_counts_as_if_it_had_been_told_so(opened, kind):
    if kind == "disjoint":  # other beliefs depend on the order of rewards
        assert corrected(opened, kind, 7)[1] < 1e-9
        return
    study, luck = begun(opened, kind), np.random.default_rng(3)
    tickets, told = lived(study, kind), []
    for ticket in tickets:
        asked(kind, luck)
        told.append(reward_of(kind, ticket, luck))
    assert study.correct(tickets[7], 1.0 - told[7], "a slip")
    study.check()
    assert study.correct(tickets[9], None, "fraud")
    study.check()


@pytest.mark.parametrize("kind", ["features", "segments"])
def test_a_correction_counts_nearly_so_where_beliefs_depend_on_the_order(tmp_path, kind):
    """On average over tickets, half as far from having been told so at once as without it."""
    result = []
    for position in range(0, 40, 4):
        with closing(Storage(f"sqlite:///{tmp_path}/{position}.db")) as storage:
            result.append(corrected(partial(open_study, storage=storage, seed=1), kind, position))
    before, after = np.mean(result, axis=0)
    assert after < 0.5 * before


def test_windows_let_contexts_count_when_they_close(opened, clock):
    study = begun(opened, "disjoint", window=100, clock=clock)
    luck = np.random.default_rng(5)
    for _ in range(20):
        ticket = study.ask(**asked("disjoint", luck))
        study.tell(ticket, 1.0)
        clock.now += 10.0
    state = study._replica._state
    assert state.decider.turn == state.tally.told + 1 == 11
    assert all(one.context is not None for one in state.book.open.values())
    clock.now += 200.0
    assert study.status()["told"] == 20
    study.check()


def test_a_batch_spreads(opened):
    study = opened("study", [f"arm {i}" for i in range(8)], context=["age"], model="linear")
    for _ in range(2):
        tickets = study.ask(8, context={"age": 30})
        assert len({ticket.arm for ticket in tickets}) == 8
        for ticket in tickets:
            study.tell(ticket, 1.0)


def test_arms_retire_and_come_back(opened):
    study = begun(opened, "features")
    lived(study, "features", 20)
    study.retire_arm("blue")
    arms = {ticket.arm for ticket in lived(study, "features", 30, seed=5)}
    assert "blue" not in arms
    study.add_arm("blue")
    study.check()
    with pytest.raises(errors.ArmError, match="candidates"):
        study.add_arm("violet")


@pytest.mark.parametrize("kind", ["contexts", "segments"])
def test_a_new_arm_comes_to_a_study_with_contexts(opened, kind):
    """It is asked for, learns, goes and comes back; whoever opens the study knows of it."""
    given = {"context": ["country", "age"]} if kind == "contexts" else KINDS[kind]
    study = opened("study", ARMS, seed=1, uniform_share=0.5, **given)
    lived(study, kind, 20)
    study.add_arm("violet")
    arms = [ticket.arm for ticket in lived(study, kind, 30, seed=5)]
    assert "violet" in arms
    assert study.report().arms[-1].plays >= 0
    assert "violet" in study.beliefs(context={"country": "fr"})["arm"]
    study.retire_arm("violet")
    study.add_arm("violet")
    assert study.beliefs().row("violet")["plays"] == arms.count("violet")
    assert opened("study", None).check() == study.check()
    with suppress(errors.ReplayError):  # there may be too few asks, and the walk goes through all
        study.replay(LinTS() if kind == "contexts" else belman.Thompson())
    before = study.check()
    with pytest.raises(errors.BelmanError, match="prior"):
        study.add_arm("grey", prior=(0.0, -1.0))
    assert study.check() == before


def test_coefficients_name_no_retired_arm(opened):
    study = begun(opened, "features")
    lived(study, "features", 5)
    whole = study.coefficients()
    study.retire_arm("red")
    shown = study.coefficients()
    kept = [row for row in zip(*whole.columns.values(), strict=True) if row[1] != "red"]
    assert list(zip(*shown.columns.values(), strict=True)) == kept
    assert len(kept) < len(whole)
    assert "red" not in study.contexts()["coefficients"]["of"]


def test_a_ranking_leaves_nothing_that_is_new_in_a_request(opened):
    study = begun(opened, "candidates")
    study.ask(context={"age": 30}, candidates=[{"price": 4}, {"price": 9}])
    study.ask(context={}, candidates=[{"price": 4.5, "colour": "new"}, {"price": 1}], top=2)
    study.check()


def test_reports_by_attributes_along_features(opened):
    study = begun(opened, "features", uniform_share=1.0)
    tickets = [
        study.ask(context={"country": "fr"}, attributes={"device": device})
        for device in ("phone", "desk") * 10
    ]
    for i, ticket in enumerate(tickets):
        study.tell(ticket, i % 2)
    result = study.report(by="device").segments
    assert result is not None
    assert result.names == ("desk", "phone")


def test_rewards_along_features_are_not_clipped(opened):
    with pytest.raises(errors.SettingError, match=r"clip=True is not for studies along features"):
        begun(opened, "features", clip=True)


def test_past_data_and_exports_keep_contexts(opened, tmp_path):
    study = begun(opened, "features")
    lived(study, "features", 30)
    study.export(tmp_path / "log.csv")
    other = opened("other", ARMS, **{"seed": 1, **KINDS["features"]})
    assert other.record(tmp_path / "log.csv") == 30
    mine, theirs = (one._replica._state.decider for one in (study, other))
    np.testing.assert_allclose(mine.knowledge.belief.mean, theirs.knowledge.belief.mean, rtol=1e-9)
    other.check()
    candidates = opened("candidates", None, **{"seed": 1, **KINDS["candidates"]})
    assert candidates.record([({"price": 3, "colour": "b"}, 1.5, {"age": 40})]) == 1
    candidates.check()


@pytest.mark.compiled
def test_a_replay_finds_the_better_policy(opened):
    """Of a uniform log: who learns the contexts is worth more than chance, and its estimates hold
    what it earns when it lives itself (0.8 at best, 0.47 by chance).
    """
    study = begun(opened, "features", uniform_share=1.0)
    luck = np.random.default_rng(8)
    for _ in range(15):
        asks = [Ask(**asked("features", luck)) for _ in range(60)]
        tickets = [answer[0] for answer in study.together(asks)]
        rewards = [reward_of("features", ticket, luck) for ticket in tickets]
        study.together([Tell(*pair) for pair in zip(tickets, rewards, strict=True)])
    result = study.replay(SharedBelMan())
    assert result.doubly_robust_low > result.earned
    assert 0.55 < result.doubly_robust < 0.9
    assert study.replay(LinGreedy()).policy == "lin-greedy"
    with pytest.raises(errors.ReplayError, match="no contexts"):
        study.replay(belman.Thompson())


def test_weights_are_published_per_segment(opened):
    study = begun(opened, "segments")
    lived(study, "segments", 120)
    french = study.publish(1_000, segment={"country": "fr"})
    german = study.publish(1_000, segment={"country": "de"})
    assert french.segment == "country=fr"
    assert study.weights("country=fr").version == french.version
    assert max(zip(french.weights, french.arms, strict=True))[1] == "blue"
    assert max(zip(german.weights, german.arms, strict=True))[1] == "red"
    units = [f"unit {i}" for i in range(40)]
    rows = [(unit, german.version, belman.assign(german, unit).arm, 1) for unit in units]
    before = study._replica._state.decider.segments.own["de",]["red"].tells
    assert study.observe(rows) == 40
    learnt = study._replica._state.decider.segments.own["de",]["red"].tells
    assert learnt - before == sum(row[2] == "red" for row in rows)
    study.check()
    with pytest.raises(errors.StudyError, match="without weights"):
        study.observe([("unit", None, "red", 1)])
    with pytest.raises(errors.SettingError, match="is not a segment by"):
        study.publish(1_000)


def test_no_two_segments_have_weights_under_one_name(opened):
    study = opened("study", ARMS, segments=["country", "device"])
    contexts = [
        {"country": "fr, device=x", "device": "y"}, {"country": "fr", "device": "x, device=y"},
        {"country": None}, {"country": "none"}, {"country": 1.5}, {"country": "1.5"},
        {"country": "True"}, {"country": '"none"'}, {"country": ""},
    ]  # fmt: skip
    made = [study.publish(100, segment=context) for context in contexts]
    assert len({one.segment for one in made}) == len(contexts)
    for context, one in zip(contexts, made, strict=True):
        assert study.weights(context) == study.weights(one.segment) == one
    study.check()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"segments": ["country"], "context": ["age"]}, "choose either"),
        ({"context": ["age"], "stop_when": belman.measures.Sure(0.95)}, "depends on the context"),
        ({"context": ["age"], "last": 9}, "not kept one by one"),
        ({"context": ["age"], "policy": belman.Thompson()}, "not a policy for arms with features"),
        ({"policy": LinTS()}, "is not a policy"),
        ({"context": ["age"], "early": True, "window": 9}, "windows close"),
    ],
)
def test_what_cannot_be_is_refused(opened, settings, words):
    with pytest.raises(errors.BelmanError, match=words):
        opened("study", ARMS, **settings)


def test_contexts_of_another_kind_are_refused_and_change_nothing(opened, kind):
    study = begun(opened, kind)
    lived(study, kind, 10)
    before = study.check()
    wrong = [{"context": {"moon": 1}}, {"context": {"country": "\ud800", "age": 1.0}}]
    wrong.append({"candidates": [{"price": 1}] if kind != "candidates" else [{"moon": 3}]})
    for one in wrong:
        with pytest.raises(errors.SettingError):
            study.ask(**one)
    assert study.check() == before
    plain = opened("plain", ARMS)
    with pytest.raises(errors.SettingError, match="decides without"):
        plain.ask(context={"age": 1})


def test_a_study_is_opened_again_by_what_made_it(opened, kind):
    begun(opened, kind)
    begun(opened, kind)
    if kind != "segments":
        with pytest.raises(errors.SettingError, match="was created with context="):
            begun(opened, kind, context=["moon"])


def test_costs_in_contexts(opened):
    study = opened("study", ("cheap", "dear"), context=["age"], model="linear", minimise=True)
    luck = np.random.default_rng(2)
    for _ in range(40):
        ticket = study.ask(context={"age": 30})
        study.tell(ticket, (1.0 if ticket.arm == "cheap" else 3.0) + 0.1 * luck.normal())
    result = study.beliefs(context={"age": 30})
    assert result["expected cost"][0] == pytest.approx(1.0, abs=0.2)
    assert result["P(best)"][0] > 0.9
