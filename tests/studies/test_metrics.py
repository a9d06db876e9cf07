"""Several numbers per ticket: kept, summed by arm, corrected, and a reward declared over them."""

from __future__ import annotations

import csv
import json
import tempfile
from contextlib import closing
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from belman import errors
from belman.studies import Storage, open_study, saving
from belman.studies.rules.metrics import LARGEST, SumsByArm, check_metrics
from belman.studies.rules.utility import Utility
from belman.studies.saving import digest
from belman.studies.state import State

MARGIN = "margin - 0.2*latency"


def means(study):
    """(n, mean) of every arm and metric."""
    return {(row["arm"], row["metric"]): (row["n"], row["mean"]) for row in study.metrics()}


def test_metrics_count_with_their_ticket_and_say_n_mean_and_interval(opened):
    study = opened(arms=["only"])
    values = [0.8, 1.3, 0.2, 0.9]
    for value in values:
        assert study.tell(study.ask(), 1, metrics={"latency": value, "refund": 0}) is True
    study.tell(study.ask(), 1)  # without any
    row = study.metrics(0.9).row("only")
    low, high = stats.t.interval(0.9, 3, np.mean(values), stats.sem(values))
    assert (row["metric"], row["n"]) == ("latency", 4)
    np.testing.assert_allclose((row["mean"], row["low"], row["high"]), (0.8, low, high), rtol=1e-12)
    assert means(study)["only", "refund"] == (4, 0.0)
    assert study.check() == opened(arms=None).check()
    for level in (0, 1, True, "x"):
        with pytest.raises(errors.SettingError, match="is not valid"):
            study.metrics(level)


def test_one_value_bounds_nothing(opened):
    study = opened(arms=["only"])
    study.tell(study.ask(), 1, metrics={"latency": 2})
    row = study.metrics().row("only")
    assert (row["mean"], row["low"], row["high"]) == (2.0, -np.inf, np.inf)


def test_under_a_window_the_last_of_a_name_stands_and_counts_at_the_end(opened, clock):
    study = opened(arms=["only"], window=60, clock=clock)
    ticket, _ = study.ask(2)
    assert study.tell(ticket, 1, metrics={"latency": 0.5, "refund": 0}) is True
    assert study.tell(ticket, 1, metrics={"refund": 0}) is False
    assert study.tell(ticket, 1) is False
    assert study.tell(ticket, 1, metrics={"refund": 1}) is True  # other metrics are news
    assert means(study) == {}
    clock.now += 60.0
    expected = {("only", "latency"): (1, 0.5), ("only", "refund"): (1, 1.0)}
    assert means(study) == expected  # and nobody wrote a thing
    assert study.tell(ticket, 1, metrics={"refund": 1}) is False
    with pytest.raises(errors.TicketError, match="what is told comes too late"):
        study.tell(ticket, 1, metrics={"refund": 0})
    study.ask()
    assert means(study) == expected
    assert study.check() == opened(arms=None).check()


def test_metrics_add_up_and_a_key_makes_each_safe_to_send_again(opened, clock):
    rule = {"family": "poisson", "window": 60, "accumulate": True, "clock": clock}
    study = opened(arms=["only"], **rule)
    ticket = study.ask()
    assert study.tell(ticket, 2, metrics={"items": 3}, key="order 1") is True
    assert study.tell(ticket, 2, metrics={"items": 3}, key="order 1") is False
    for other in ({"items": 4}, {}, {"items": 3, "refund": 0}):
        with pytest.raises(errors.SettingError, match="key='order 1' was given with"):
            study.tell(ticket, 2, metrics=other, key="order 1")
    assert study.tell(ticket, 1, metrics={"items": 2, "refund": 1}) is True
    with pytest.raises(errors.RewardError, match="metric 'items' cannot be"):
        [study.tell(ticket, 0, metrics={"items": LARGEST}) for _ in range(2)]
    study.tell(ticket, 0, metrics={"items": -LARGEST})
    study.tell(ticket, 0, metrics={"items": 5})  # the sum in floats of 5 + 1e100 - 1e100 + 5
    clock.now += 60.0
    assert means(study) == {("only", "items"): (1, 5.0), ("only", "refund"): (1, 1.0)}
    assert study.status()["reward"] == 3.0


def test_without_a_window_the_first_ones_stand(opened):
    study = opened(arms=["only"])
    ticket = study.ask()
    study.tell(ticket, 1, metrics={"latency": 0.5})
    assert study.tell(ticket, 1) is False
    assert study.tell(ticket, 1, metrics={"latency": 0.5}) is False
    for other in ({"latency": 0.6}, {"refund": 0}):
        with pytest.raises(errors.TicketError, match="the first ones stand"):
            study.tell(ticket, 1, metrics=other)
    assert means(study) == {("only", "latency"): (1, 0.5)}


def test_a_reward_is_declared_over_metrics(opened, clock):
    study = opened(arms=["only"], family="gaussian", reward=MARGIN, window=60, clock=clock)
    ticket = study.ask()
    before = study.check(), study.number
    for given_, words in (
        ({"reward": 1.0}, "the study's reward is 'margin - 0.2"),
        ({"reward": 1.0, "metrics": {"margin": 3, "latency": 1}}, "the study's reward is 'margin"),
        ({}, "needs the metric 'latency': no metrics were given"),
        ({"metrics": {"margin": 3, "latncy": 1}}, "needs the metric 'latency'.*mean 'latncy'"),
        ({"metrics": {"refund": 3}}, "needs the metric 'latency': given were 'refund'"),
    ):
        with pytest.raises(errors.RewardError, match=words):
            study.tell(ticket, **given_)
    assert (study.check(), study.number) == before
    assert study.tell(ticket, metrics={"margin": 3, "latency": 0.5, "items": 2}, key="k") is True
    assert study.tell(ticket, metrics={"margin": 3, "latency": 0.5, "items": 2}, key="k") is False
    assert study.tell(ticket, metrics={"margin": 4}) is True  # the latency is known
    clock.now += 60.0
    assert study.status()["reward"] == 4 - 0.2 * 0.5
    with pytest.raises(errors.RewardError, match="the study's reward is"):
        study.correct(ticket, 1.0, "refund")
    assert study.correct(ticket, None, "refund", metrics={"margin": 1}, key="r") is True
    assert study.correct(ticket, None, "refund", metrics={"margin": 1}, key="r") is False
    assert study.status()["reward"] == pytest.approx(0.9)
    assert study.correct(ticket, None, "fraud") is True
    assert (study.status()["told"], means(study)) == (0, {})
    assert opened(arms=None).check() == study.check()
    opened(arms=["only"], reward="margin-0.2 * latency")  # the same
    with pytest.raises(errors.SettingError, match="was created with reward=Utility"):
        opened(arms=["only"], reward="margin")


def test_a_declared_reward_is_that_of_all_metrics_where_they_add_up(opened, clock):
    rule = {"reward": "sqrt(items) - 1", "window": 60, "accumulate": True, "clock": clock}
    study = opened(arms=["only"], family="gaussian", **rule)
    ticket = study.ask()
    study.tell(ticket, metrics={"items": 4})
    study.tell(ticket, metrics={"items": 5})
    clock.now += 60.0
    assert study.status()["reward"] == 2.0
    assert study.check() == opened(arms=None).check()


def test_a_declared_reward_that_the_family_cannot_have_says_where_it_comes_from(opened):
    study = opened(arms=["only"], reward=MARGIN)
    with pytest.raises(errors.RewardError, match=r"reward 2\.8 .*the study's reward is 'margin"):
        study.tell(study.ask(), metrics={"margin": 3, "latency": 1})


def test_corrections_leave_metrics_but_for_those_given(opened):
    study = opened(arms=["a"])
    ticket = study.ask()
    study.tell(ticket, 1, metrics={"latency": 0.5, "refund": 0})
    learnt = study.agent().belief("a")
    assert study.correct(ticket, 1, "sent back", metrics={"refund": 1}) is True
    assert study.correct(ticket, 1, "sent back", metrics={"refund": 1}) is False
    assert study.agent().belief("a") == learnt
    whole = {("a", "latency"): (1, 0.5), ("a", "refund"): (1, 1.0)}
    assert means(study) == whole
    assert study.correct(ticket, 0, "no sale") is True
    assert means(study) == whole
    study.add_arm("b")
    study.retire_arm("a")
    assert study.correct(ticket, None, "a robot") is True
    assert means(study) == {}
    with pytest.raises(errors.RewardError, match="forgotten has no metrics"):
        study.correct(ticket, None, "a robot", metrics={"refund": 0})
    assert study.correct(ticket, 1, "no robot") is True
    assert means(study) == whole
    assert study.check() == opened(arms=None).check()


def test_a_correction_of_metrics_alone_leaves_the_belief_to_the_last_bit(opened):
    study = opened(arms=["only"], family="gaussian")
    tickets = study.ask(3)
    for ticket, reward in zip(tickets, [0.2, 0.1, 0.6], strict=True):
        study.tell(ticket, reward, metrics={"refund": 0})
    before = study._replica.look(lambda state: state.learnt(0))
    for ticket, reward in zip(tickets, [0.2, 0.1, 0.6], strict=True):
        assert study.correct(ticket, reward, "sent back", metrics={"refund": 1}) is True
        assert study._replica.look(lambda state: state.learnt(0)) == before


def test_a_slip_of_the_pen_and_numbers_far_from_zero_leave_exact_sums(opened):
    study = opened(arms=["only"])
    values = [1.7e9 + x for x in (0.25, 0.5, 1.0)]
    tickets = study.ask(3)
    for ticket, value in zip(tickets, [values[0], 1e90, values[2]], strict=True):
        study.tell(ticket, 1, metrics={"when": value})
    study.correct(tickets[1], 1, "a slip of the pen", metrics={"when": values[1]})
    row = study.metrics().row("only")
    half = stats.t.ppf(0.975, 2) * stats.sem([0.25, 0.5, 1.0])
    assert row["high"] - row["low"] == pytest.approx(2 * half, rel=1e-6)  # floats of this size
    state = study._replica.look(State.copied)
    assert state.tally.metrics.sums[0, "when"].sum == sum(map(Fraction, values))
    assert saving.to_text(saving.from_text(saving.to_text(state))) == saving.to_text(state)


@pytest.mark.parametrize(
    ("metrics", "error", "words"),
    [
        ([1], errors.SettingError, r"write metrics=\{'latency': 0\.8\}"),
        ("latency", errors.SettingError, "are not valid"),
        ({"": 1}, errors.SettingError, "cannot name a metric"),
        ({"1a": 1}, errors.SettingError, "cannot name a metric"),
        ({"a b": 1}, errors.SettingError, "cannot name a metric"),
        ({"é": 1}, errors.SettingError, "cannot name a metric"),
        ({"a" * 41: 1}, errors.SettingError, "cannot name a metric"),
        ({1: 1}, errors.SettingError, "cannot name a metric"),
        ({f"m{i}": 1 for i in range(21)}, errors.SettingError, "at most 20"),
        ({f"m{i}": 1 for i in range(20)}, errors.SettingError, "beside 'latency'.*at most 20"),
        ({"latency": float("nan")}, errors.RewardError, "cannot be nan"),
        ({"latency": float("inf")}, errors.RewardError, "cannot be inf"),
        ({"latency": 1.1e100}, errors.RewardError, r"cannot be 1\.1e\+100"),
        ({"latency": 10**5000}, errors.RewardError, "cannot be a number of more than 4300 digits"),
        ({"latency": "1"}, errors.RewardError, "cannot be '1'"),
        ({"latency": None}, errors.RewardError, "cannot be None"),
        ({"latency": np.complex64(1)}, errors.RewardError, "it must be a number"),
    ],
)
def test_bad_metrics_change_nothing(tmp_path, clock, metrics, error, words):
    storage = Storage(f"sqlite:///{tmp_path}/studies.db?synchronous=normal")
    study = open_study("study", ["a"], storage=storage, window=60, clock=clock)
    counted = study.ask()
    study.tell(counted, 1, metrics={"latency": 1})
    clock.now += 60.0
    ticket = study.ask()
    before = study.check(), study.number
    with pytest.raises(error, match=words):
        study.tell(ticket, 1, metrics=metrics)
    with pytest.raises(error, match=words):
        study.correct(counted, 1, "why not", metrics=metrics)
    assert (study.check(), study.number) == before
    storage.close()


@pytest.mark.parametrize(
    "text", ["latency + max", "é", "a" * 41, "+".join(f"m{i}" for i in range(21))]
)
def test_a_reward_over_what_is_no_metric_creates_nothing(tmp_path, text):
    storage = Storage(f"sqlite:///{tmp_path}/studies.db")
    with pytest.raises(errors.SettingError):
        open_study("study", ["a"], storage=storage, reward=text)
    assert storage.names() == []
    storage.close()


def test_a_study_without_metrics_is_written_as_ever(opened, clock, tmp_path):
    study = opened(window=60, clock=clock)
    ticket = study.ask()
    study.tell(ticket, 1)
    clock.now += 60.0
    study.correct(ticket, 0, "refund")
    created, *_, told, corrected = study.events()
    assert "reward" not in json.loads(created.body)
    assert told.body is None
    assert set(json.loads(corrected.body)) == {"reason", "before", "patch", "counted"}
    study.export(tmp_path / "log.csv")
    head = (tmp_path / "log.csv").read_text().splitlines()[0]
    assert head == "number,time,event,ticket,arm,draw,probability,reward,reason"


def test_an_export_has_a_column_of_metrics_where_there_are_any(opened, clock, tmp_path):
    study = opened(arms=["a"], window=60, clock=clock)
    ticket, silent = study.ask(2)
    study.tell(ticket, 1, metrics={"refund": 0, "latency": 0.1})
    study.tell(ticket, 1, metrics={"latency": 0.2})
    clock.now += 60.0
    study.correct(ticket, 0, "sent back", metrics={"refund": 1})
    study.correct(ticket, None, "a robot")
    expected = [
        ("told so far", {"latency": 0.1, "refund": 0.0}),
        ("told so far", {"latency": 0.2}),
        ("counted", {"latency": 0.2, "refund": 0.0}),
        ("counted", None),
        ("corrected", {"latency": 0.2, "refund": 1.0}),
        ("corrected", None),
    ]
    study.export(tmp_path / "log.csv")
    with (tmp_path / "log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    result = [(row["event"], json.loads(row["metrics"] or "null")) for row in rows]
    assert result[3:] == expected
    parquet = pytest.importorskip("pyarrow.parquet")
    study.export(tmp_path / "log.parquet")
    rows = parquet.read_table(tmp_path / "log.parquet").to_pylist()
    assert [(row["event"], json.loads(row["metrics"] or "null")) for row in rows][3:] == expected
    assert opened("next", arms=["a"]).record(tmp_path / "log.csv") == 1
    assert silent.id in [row["ticket"] for row in rows]


# A slow and obvious twin


class Slip:
    """One ticket with all that was ever said of it."""

    def __init__(self, arm, asked):
        self.arm, self.asked, self.told, self.corrections = arm, asked, [], []

    def metrics(self, accumulate):
        whole = {}
        for _, metrics in self.told:
            for name, value in metrics.items():
                whole[name] = whole.get(name, 0.0) + value if accumulate else value
        for _, metrics in self.corrections:
            whole |= metrics
        return whole

    def counts(self, silence):
        if self.corrections:
            return self.corrections[-1][0]
        return bool(self.told) or silence not in (None, "forget")


TELLING = st.dictionaries(
    st.sampled_from(["latency", "refund", "x"]), st.floats(-1e6, 1e6).map(lambda x: round(x, 3))
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "tell", "tell", "tell", "wait", "correct", "forget"]),
        st.integers(0, 5),
        TELLING,
    ),
    min_size=5,
    max_size=25,
)
RULES = [
    {},
    {"window": 5, "silence": "forget"},
    {"window": 5, "accumulate": True},
    {"window": 5, "reward": "margin - 0.2*latency", "accumulate": True},
    {"window": 5, "reward": "margin - 0.2*latency"},
]


@settings(max_examples=40, deadline=None)
@given(STEPS, st.sampled_from(RULES))
def test_the_sums_are_those_of_a_list_of_tickets(steps, rule):
    now, slips = [100.0], {}
    window, accumulate = rule.get("window"), rule.get("accumulate", False)
    utility = Utility(rule["reward"]) if "reward" in rule else None
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Storage(f"sqlite:///{folder}/s.db?synchronous=normal")) as storage,
    ):
        chosen = {"family": "gaussian", "seed": 1, "clock": lambda: now[0], **rule}
        study = open_study("study", ["a", "b"], storage=storage, **chosen)
        for what, which, metrics in [("ask", 0, {}), ("ask", 0, {}), *steps]:
            if utility is not None:
                metrics = {"margin": 1.0, "latency": 0.5, **metrics}
            if what == "ask":
                ticket = study.ask()
                slips[ticket.id] = Slip(ticket.arm, now[0])
            elif what == "wait":
                now[0] += which
            else:
                name = list(slips)[which % len(slips)]
                _say(study, name, slips[name], what, metrics, utility)
        closed = [
            slip
            for slip in slips.values()
            if (slip.told if window is None else slip.asked + window <= now[0])
        ]
        silence = None if window is None else rule.get("silence", 0)
        expected = {}
        for slip in closed:
            if slip.counts(silence):
                for name, value in slip.metrics(accumulate).items():
                    expected.setdefault((slip.arm, name), []).append(value)
        result = {(row["arm"], row["metric"]): row for row in study.metrics()}
        assert {key: row["n"] for key, row in result.items()} == {
            key: len(values) for key, values in expected.items()
        }
        for key, values in expected.items():
            assert result[key]["mean"] == pytest.approx(np.mean(values), rel=1e-9, abs=1e-9)
            if len(values) > 1:
                high = np.mean(values) + stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
                assert result[key]["high"] == pytest.approx(high, rel=1e-9, abs=1e-6)
        if utility is not None:
            counted = [slip for slip in closed if slip.counts(silence)]
            earned = [utility(slip.metrics(accumulate)) for slip in counted if slip.told]
            assert study.status()["reward"] == pytest.approx(sum(earned), rel=1e-9, abs=1e-6)
        assert study.check()
        text = study._replica.look(saving.to_text)
        assert saving.to_text(saving.from_text(text)) == text


def _say(study, name, slip, what, metrics, utility):
    """Say it to both; what the study refuses was not said."""
    reward = None if utility is not None else 1.0
    try:
        if what == "tell":
            if study.tell(name, reward, metrics=metrics):
                slip.told.append((reward, metrics))
        elif what == "correct":
            if utility is not None and not slip.told:
                return  # a silent ticket is corrected by hand elsewhere
            if study.correct(name, reward, "why not", metrics=metrics):
                slip.corrections.append((True, metrics))
        elif study.correct(name, None, "a robot"):
            slip.corrections.append((False, {}))
    except errors.TicketError:
        pass


def test_the_interval_covers_as_often_as_it_says():
    """Normal values, for which Student's interval is exact: of 4,000 intervals at 0.9 from 5 values
    each, those that cover are binomial, and leave these bounds in one of 10⁵ runs.
    """
    luck, trials, covered = np.random.default_rng(16), 4_000, 0
    for values in luck.normal(3.0, 2.0, (trials, 5)):
        sums = SumsByArm()
        for value in values:
            sums.count(0, check_metrics({"latency": value}))
        _, low, high = sums.sums[0, "latency"].interval(0.9)
        covered += low <= 3.0 <= high
    assert stats.binomtest(covered, trials, 0.9).pvalue > 1e-5


def test_a_snapshot_that_says_true_where_a_metric_was_one_is_refused(opened, clock):
    study = opened(window=100.0, clock=clock)
    study.tell(study.ask(), 1.0, metrics={"cost": 1.0})
    content = json.loads(study._replica.look(saving.to_text).partition("\n")[2])
    assert content["book"]["open"]["metrics"] == [{"cost": 1.0}]
    content["book"]["open"]["metrics"][0]["cost"] = True
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    with pytest.raises(errors.StateError, match="finite number"):
        saving.from_text(f"{digest(body)}\n{body}")


DECLARED = {"reward": "quality - cost", "window": 60.0, "family": "gaussian"}


@pytest.mark.parametrize("accumulate", [False, True])
def test_metrics_of_a_declared_reward_may_come_one_by_one(opened, clock, accumulate):
    study = opened("late", ["a", "b"], **DECLARED, accumulate=accumulate, silence=-1, clock=clock)
    whole, part, silent, returned = study.ask(4)
    assert study.tell(whole, metrics={"cost": 0.5}, key="1")
    assert not study.tell(whole, metrics={"cost": 0.5}, key="1")
    assert study.tell(part, metrics={"cost": 0.5})
    with pytest.raises(errors.TicketError, match="cannot be given back"):
        study.give_back([part])
    assert study.give_back([returned]) == 1
    assert study.status()["told"] == 0
    clock.now += 30.0
    assert study.tell(whole, metrics={"quality": 2.0})
    assert study.history(1)["reward"] == [1.5]
    clock.now += 31.0
    rewards = {one["ticket"]: one["reward"] for one in study.history() if one["event"] == "counted"}
    assert rewards == {whole.id: 1.5, part.id: -1.0, silent.id: -1.0}
    assert study.check() == open_study("late", storage=study.storage, clock=clock).check()
    assert study.correct(part, None, "quality came", metrics={"quality": 1.0})
    assert study.history(1)["reward"] == [0.5]
    study.check()


def test_metrics_that_come_one_by_one_need_a_window(opened):
    study = opened("now", ["a", "b"], reward="quality - cost", family="gaussian")
    with pytest.raises(errors.RewardError, match=r"needs the metric 'quality'.*window="):
        study.tell(study.ask(), metrics={"cost": 0.5})


def test_a_part_of_the_metrics_is_no_early_success(opened, clock):
    study = opened("early", ["a", "b"], reward="won * paid", window=60.0, clock=clock)
    assert study.status()["early"]
    first, second = study.ask(2)
    study.tell(first, metrics={"won": 1})
    study.tell(second, metrics={"won": 1, "paid": 1})
    clock.now += 30.0
    means = dict(zip(*(study.beliefs()[name] for name in ("arm", "expected reward")), strict=True))
    assert first.arm == second.arm or means[second.arm] > 0.5 >= means[first.arm]
    study.check()
