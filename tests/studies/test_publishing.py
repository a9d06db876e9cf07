"""Published weights: versions as events, made when they are due and once, with the chances that the
study would play.
"""

from __future__ import annotations

import itertools
import threading

import pytest

from belman import Thompson, assign
from belman.assignment import sign, verify
from belman.assignment.refusals import WeightsError
from belman.errors import PausedError, SettingError, StudyError
from belman.studies import Kind, Study
from tests.studies.conftest import Clock

UNITS = [f"user-{i}" for i in range(2_000)]


def versions(study: Study) -> list[int]:
    return [event.number for event in study.events() if event.kind == Kind.PUBLISHED]


def reopened(study: Study, clock: Clock) -> Study:
    return Study(study.name, study.storage, clock=clock)


def test_a_version_is_its_event_and_has_the_weights_of_the_agent(opened, clock):
    study = opened(floor=0.05, clock=clock)
    study.record([("a", 1.0)] * 30 + [("b", 0.0)] * 30 + [("c", 1.0), ("c", 0.0)] * 10)
    result = study.publish(500)
    assert versions(study) == [result.version]
    meant = study.agent().weights(500, floor=0.05)
    assert dict(zip(result.arms, result.weights, strict=True)) == pytest.approx(meant, abs=1e-9)
    assert result.floors == (0.05, 0.05, 0.05)
    assert (result.published, result.valid_until) == (clock.now, clock.now + 86_400.0)
    assert study.weights() == result
    assert reopened(study, clock).weights() == result
    study.check()


@pytest.mark.parametrize("segment", [None, "shops", {"country": "fr"}])
def test_weights_far_surer_than_what_is_known_are_published_with_a_warning(opened, segment):
    by = {"segments": ["country"], "context": {"country": "fr"}} if type(segment) is dict else {}
    context = {"context": by.pop("context")} if by else {}
    study = opened(**by)
    study.tell(study.ask(**context), 1.0)
    with pytest.warns(UserWarning, match=r"gets 98% of 5,000 .* of 50%: ask for fewer"):
        result = study.publish(5_000, segment=segment)
    assert max(result.weights) == pytest.approx(0.98, abs=0.001)
    of = "" if segment is None else f" of segment {'country=fr' if by else segment!r}"
    notes = [note for note in study.report().notes if f"published weights{of} arm" in note]
    assert len(notes) == 1
    study.publish(10, segment=segment)
    assert not [note for note in study.report().notes if "published weights" in note]


def test_a_shipped_arm_is_published_without_a_warning(opened):
    study = opened()
    study.tell(study.ask(), 1.0)
    study.ship("a")
    assert max(study.publish(5_000).weights) == 1.0


def test_the_share_of_control_is_exact_and_the_others_share_the_rest(opened):
    study = opened(control="a", control_share=0.3, floor=0.1)
    study.record([("a", 1.0)] * 200 + [("b", 0.0)] * 200 + [("c", 0.0)] * 200)
    weights = dict(zip("abc", study.publish(100).weights, strict=True))
    assert weights["a"] == pytest.approx(0.3, abs=1e-9)
    assert min(weights.values()) >= 0.1 - 1e-9


def test_a_due_version_is_made_when_asked_for_and_something_happened(opened, clock):
    study = opened(clock=clock)
    first = study.publish(100, every=10)
    assert study.publish(100, every=10) == first
    study.record([("a", 1.0)] * 50 + [("b", 0.0)] * 50)
    clock.now += 9.0
    assert study.weights() == first
    assert study.fresh_for() == 1.0
    clock.now += 1.0
    second = study.weights()
    assert second.version > first.version
    assert second.weights[0] > first.weights[0]
    clock.now += 1_000.0
    assert study.weights() == second  # nothing happened since
    clock.now += 43_200.0
    third = study.weights()  # it would end, and is renewed
    assert third.weights == second.weights
    assert study.publish(200, every=10).decisions == 200  # another plan
    study.check()


def test_as_few_units_move_as_must(opened):
    study = opened(floor=0.02)
    before = study.publish(100)
    study.record([("a", 1.0)] * 40 + [("b", 0.0)] * 40 + [("c", 0.0)] * 40)
    after = study.publish(100)
    least = 0.5 * sum(abs(a - b) for a, b in zip(before.weights, after.weights, strict=True))
    assert least > 0.1
    moved = sum(assign(before, unit).arm != assign(after, unit).arm for unit in UNITS)
    deviation = (least * (1.0 - least) / len(UNITS)) ** 0.5
    assert abs(moved / len(UNITS) - least) < 5.0 * deviation  # wrong in 6 of 10⁷ salts


def test_what_changes_the_arms_overtakes_the_weights_at_once(opened, clock):
    study = opened(clock=clock, floor=0.1)
    seen = [study.publish(100, every=3_600), study.publish(100, every=3_600, segment="phones")]
    changes = [
        lambda: study.retire_arm("c"),
        lambda: study.set_policy(Thompson()),
        lambda: study.ship("b"),
        lambda: study.unship(),
        lambda: study.add_arm("c"),
    ]
    for change in changes:
        change()
        for i, segment in enumerate((None, "phones")):
            now = study.weights(segment)
            assert now.version > seen[i].version
            assert study.weights(segment) == now
            seen[i] = now
        if change is changes[2]:
            assert dict(zip(now.arms, now.weights, strict=True)) == {"a": 0.0, "b": 1.0}
    assert seen[0].arms == ("a", "b", "c")
    assert seen[0].salt != seen[1].salt
    study.check()


def test_a_paused_study_keeps_its_weights_and_publishes_none(opened, clock):
    study = opened(clock=clock)
    first = study.publish(100, every=1)
    study.pause()
    clock.now += 100.0
    assert study.weights() == first
    with pytest.raises(PausedError):
        study.publish(100)
    assert versions(study) == [first.version]


def test_many_who_ask_at_once_make_one_version(opened, clock):
    study = opened(clock=clock)
    study.publish(100, every=10)
    for _ in range(3):
        study.record([("a", 1.0)])
        clock.now += 10.0
        others = [reopened(study, clock) for _ in range(6)]
        barrier, result = threading.Barrier(6), []

        def ask(one: Study, barrier=barrier, result=result) -> None:
            barrier.wait()
            result.append(one.weights().version)

        threads = [threading.Thread(target=ask, args=(one,)) for one in others]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(result)) == 1
    assert len(versions(study)) == 4


def test_a_key_publishes_once(opened):
    study = opened()
    first = study.publish(100, key="mine")
    assert study.publish(100, key="mine") == first
    assert len(versions(study)) == 1
    with pytest.raises(SettingError, match="use a new key"):
        study.publish(200, key="mine")
    with pytest.raises(SettingError, match="use a new key"):
        study.pause(key="mine")


def test_a_snapshot_holds_what_stands(opened, clock, monkeypatch):
    monkeypatch.setattr("belman.studies.unit_of_work.SNAPSHOT_EVERY", 4)
    study = opened(clock=clock)
    for number, segment in itertools.product(range(3), (None, "phones")):
        study.publish(100 + number, every=60, segment=segment)
    study.set_policy(Thompson())
    other = reopened(study, clock)
    assert other.check() == study.check()
    assert other.weights("phones") == study.weights("phones")


def test_signed_weights_are_those_of_the_study(opened, monkeypatch):
    monkeypatch.setenv("BELMAN_SIGNING_KEY", "k" * 32)  # a server has no file for it
    study, other = opened(), opened("other")
    result, key = study.publish(100), study.signing_key
    assert key.id != other.signing_key.id
    assert Study(study.name, study.storage).signing_key == key
    signed = sign(result, key)
    assert verify(signed, {key.id: key.public}, study="study", now=result.published) == result
    with pytest.raises(WeightsError, match="expired"):
        verify(signed, {key.id: key.public}, now=result.valid_until)
    with pytest.raises(WeightsError, match="not trusted"):
        verify(sign(result, other.signing_key), {key.id: key.public})


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"decisions": 0}, "decisions=0"),
        ({"decisions": 1.5}, "decisions=1.5"),
        ({"decisions": 5, "every": -1}, "every=-1"),
        ({"decisions": 5, "every": 60, "valid_for": 10}, "valid_for=10"),
        ({"decisions": 5, "segment": ""}, "segment=''"),
        ({"decisions": 5, "segment": "a\nb"}, "segment="),
    ],
)
def test_what_cannot_be_published_is_refused_and_changes_nothing(opened, settings, wrong):
    study = opened()
    with pytest.raises(Exception, match=wrong) as raised:
        study.publish(**settings)
    assert isinstance(raised.value, SettingError)
    assert study.number == 1


def test_weights_that_were_never_published_are_not_there(opened):
    study = opened()
    with pytest.raises(StudyError, match="has published no weights"):
        study.weights()
    study.publish(10, segment="phones")
    with pytest.raises(StudyError, match=r"phone.*phones"):
        study.weights("phone")
    pairs = opened("pairs", [("a", 1), ("b", 2)])
    with pytest.raises(StudyError, match="cannot be published"):
        pairs.publish(10)


def test_publishing_early_counts_open_tickets_and_changes_nothing(opened, clock):
    """What is known of open tickets by now is in the weights, and not in the state."""
    study = opened(window=3600, early=True, clock=clock)
    other = opened(arms=None, clock=clock)
    for turn in range(40):
        clock.now += 50.0
        for ticket in study.ask(2):
            if turn % 3 == 0:
                clock.now += 10.0
                study.tell(ticket, 1)
    clock.now += 1000.0
    study.publish(100)
    assert study.check() == other.check() == opened(arms=None, clock=clock).check()
    assert [one[1:4] for one in study.ask(5, key="k")] == [one[1:4] for one in other.asked("k")]
    study.check()
