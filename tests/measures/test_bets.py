"""Bets on arms: fair under the null, sums that can be taken back, intervals that hold."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from benchmarks.watching_lift import watch_lift

from belman import chance, codec, problems
from belman.errors import BelmanError, SettingError
from belman.families import Bernoulli
from belman.lab.bandit_loop import NATURE
from belman.measures import Known, Report, Separated, bet_intervals, report
from belman.measures.bets import KINDS, RATIOS, STAKES, ArmBets


def _played(kind: str, seed: int, n: int = 300, arms: int = 3) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.ones(arms), n)
    chosen = np.array([rng.choice(arms, p=row) for row in chances])
    rewards = {
        "rate": (rng.random(n) < 0.3) * 1.0,
        "range": rng.beta(2.0, 3.0, n),
        "amount": np.exp(rng.normal(0.0, 1.5, n)),
    }[kind]
    return chosen, chances, rewards


def _states(bets: ArmBets) -> list[np.ndarray]:
    return [bets.moments, bets.guesses, bets.wins, bets.capitals, bets.sums, bets.levels]


@pytest.mark.parametrize(("kind", "rate"), [("rate", 0.05), ("rate", 0.5), ("range", 0.4)])
@pytest.mark.parametrize("ratio", [0.6, 1.0, 1.7])
def test_a_capital_against_the_true_ratio_never_gains(kind: str, rate: float, ratio: float) -> None:
    """Exact: over all arms and outcomes of five decisions whose chances follow what came before,
    the capital against the true ratio is worth no more than 1 on average, both of its sides
    together and without a choice between successes and moments by what was seen.
    """
    average = 0.0
    for path in itertools.product((0, 1), (0.0, 1.0), repeat=5):
        bets, likely = ArmBets(2, 0, kind), 1.0
        for arm, won in zip(path[::2], path[1::2], strict=True):
            share = 0.3 if bets.moments[0] > 1.0 else 0.6
            mean = rate * (ratio if arm else 1.0)
            likely *= (share if arm else 1.0 - share) * (mean if won else 1.0 - mean)
            bets.add(arm, [1.0 - share, share], won)
        capital = bet_intervals.against_ratio(bets, 0)
        above, below = math.exp(capital(ratio, 1)), math.exp(capital(ratio, -1))
        shared = 0.0
        if kind == "rate":
            wins = RATIOS.log_average(bets.wins[0])
            shared = 0.5 * math.exp(wins - float(RATIOS.between(bets.wins[0], np.log([ratio]))[0]))
        average += likely * (above + below - shared)
    assert 0.5 < average <= 1.0 + 1e-4  # what reading between the points of a grid is worth


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("better", [0, 1])
def test_an_arm_that_is_apart_has_no_interval_that_says_otherwise(kind: str, better: int) -> None:
    """At the look that sets an arm apart, and at those around it."""
    rng, bets, apart = np.random.default_rng(5), ArmBets(2, 0, kind), 0
    for _ in range(200):
        arms = rng.integers(0, 2, 40)
        scale = np.where(arms == better, 0.3, 0.2)
        drawn = {"rate": 1.0 * (rng.random(40) < scale), "range": scale * rng.random(40)}
        bets.add_many(arms, [0.5, 0.5], drawn.get(kind, scale * rng.exponential(1.0, 40)))
        up, down = (bet_intervals.log_better(bets, 1, least=least) for least in (False, True))
        result = bet_intervals.lift(bets, 1, 0.95)
        for end in (result, bet_intervals.difference(bets, 1, 0.95)):
            assert end.low >= 0.0 or up < -math.log(0.05)
            assert end.high <= 0.0 or down < -math.log(0.05)
            assert end.low <= end.middle <= end.high
        apart += (up if better else down) >= -math.log(0.05)
    assert 0 < apart < 200


@pytest.mark.parametrize("kind", ["rate", "range", "amount"])
def test_a_bet_of_any_size_is_fair_over_all_small_trees(kind: str) -> None:
    """Exact: the capital at every point of the grids, averaged over all ways in which arms may
    fall, is 1 whatever the rewards are and however chances follow what came before.
    """
    values = (0.0, 1.0) if kind == "rate" else (0.1, 0.9)
    for rewards in itertools.product(values, repeat=5):
        total = np.zeros(STAKES.points.size)
        wins = np.zeros(RATIOS.points.size)
        for arms in itertools.product((0, 1), repeat=5):
            bets, chance, won = ArmBets(2, 0, kind), 1.0, 0.0
            for arm, reward in zip(arms, rewards, strict=True):
                share = 0.3 + 0.1 * won
                bets.add(arm, [1.0 - share, share], reward)
                chance *= share if arm == 1 else 1.0 - share
                won += arm * (reward > 0.5)
            total += chance * np.exp(bets.capitals[0])
            wins += chance * np.exp(bets.wins[0])
        assert np.allclose(total, 1.0)
        assert np.allclose(wins, 1.0)


@pytest.mark.parametrize("kind", ["rate", "range", "amount"])
def test_outcomes_together_and_one_by_one_are_the_same(kind: str) -> None:
    chosen, chances, rewards = _played(kind, 3)
    together, single = ArmBets(3, 1, kind), ArmBets(3, 1, kind)
    together.add_many(chosen, chances, rewards)
    for arm, row, reward in zip(chosen, chances, rewards, strict=True):
        single.add(int(arm), dict(enumerate(row)), float(reward))
    for mine, other in zip(_states(together), _states(single), strict=True):
        assert np.allclose(mine, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["rate", "range", "amount"])
def test_an_outcome_that_is_taken_back_was_never_there(kind: str) -> None:
    chosen, chances, rewards = _played(kind, 4)
    bets = ArmBets(3, 0, kind)
    bets.add_many(chosen, chances, rewards)
    before, number = codec.copied(bets), bets.latest + 1.0
    bets.add(1, [0.2, 0.3, 0.5], 1.0, number=number)
    bets.add(1, [0.2, 0.3, 0.5], 1.0, times=-1.0, number=number)
    for mine, other in zip(_states(bets), _states(before), strict=True):
        assert np.allclose(mine, other, atol=1e-9)


@pytest.mark.parametrize("kind", ["rate", "range", "amount"])
def test_corrected_outcomes_are_those_that_came_at_once(kind: str) -> None:
    """Late corrections keep the score of their decision, whatever was guessed since."""
    chosen, chances, rewards = _played(kind, 8)
    right, wrong = ArmBets(3, 0, kind), ArmBets(3, 0, kind)
    other = rewards.copy()
    other[200:] = other[200:][::-1]
    for i, (arm, row) in enumerate(zip(chosen.tolist(), chances, strict=True)):
        right.add(arm, row, float(rewards[i]), number=min(i, 200))
        wrong.add(arm, row, float(other[i]), number=min(i, 200))
    for i in range(200, 300):
        arm = int(chosen[i])
        wrong.add(arm, chances[i], float(other[i]), times=-1.0, number=200)
        wrong.add(arm, chances[i], float(rewards[i]), number=200)
    assert np.allclose(right.capitals, wrong.capitals, atol=1e-9)
    assert np.allclose(right.wins, wrong.wins, atol=1e-9)
    assert np.allclose(right.sums, wrong.sums, atol=1e-9)


def test_counts_of_a_fixed_split_are_their_outcomes() -> None:
    rng = np.random.default_rng(5)
    arms, rewards = rng.integers(0, 2, 400), (rng.random(400) < 0.2) * 1.0
    table, rows = ArmBets(2, 0), ArmBets(2, 0)
    won = [float(rewards[arms == a].sum()) for a in (0, 1)]
    lost = [float((1.0 - rewards[arms == a]).sum()) for a in (0, 1)]
    table.add_counts([0.5, 0.5], won, lost)
    rows.add_many(arms, [0.5, 0.5], rewards)
    assert np.allclose(table.wins, rows.wins)
    assert bet_intervals.log_evidence(table, 1) == pytest.approx(
        bet_intervals.log_evidence(rows, 1), abs=0.5
    )


def test_the_state_is_plain_data_and_back() -> None:
    chosen, chances, rewards = _played("amount", 6)
    bets = ArmBets(3, None, "amount")
    bets.add_many(chosen, chances, rewards)
    again = codec.read(ArmBets, codec.write(bets), {})
    again.add(0, [0.5, 0.5, 0.0], 2.0)
    bets.add(0, [0.5, 0.5, 0.0], 2.0)
    assert codec.write(again) == codec.write(bets)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("arms", 10**9, "arms: '1000000000' stands where a whole number from 1 to 100 belongs"),
        ("arms", 4, "not those of 4 arms"),
        ("control", 3, "control=3 is not the place"),
        ("sums", [[0.0] * 12] * 3, "12 values, and 13 are needed"),
        ("wins", [], "not those of 3 arms"),
        ("moments", [0.0, 0.0, "nan", 0.0, 0.0], "'nan' stands where a finite"),
        ("moments", [0.0, 0.0, "inf", 0.0, 0.0], "'inf' stands where a finite"),
        ("moments", [0.0, 0.0, True, 0.0, 0.0], "'True' stands where a number belongs"),
        ("moments", ["runs", [0.0, 2**40]], "too long"),
        ("levels", [[["runs", [0.0, 5]]]] * 3, "a number belongs|values"),
        ("kind", "luck", "is not known"),
    ],
)
def test_sums_that_no_bets_have_are_refused(name: str, content: Any, words: str) -> None:
    written = codec.write(ArmBets(3, None))
    with pytest.raises(BelmanError, match=words):
        codec.read(ArmBets, {**written, name: content}, {})


def test_a_new_arm_begins_with_no_evidence() -> None:
    bets = ArmBets(2, 0)
    bets.add_counts([0.5, 0.5], [30, 60], [970, 940])
    known = bet_intervals.log_evidence(bets, 1)
    assert bets.join() == 2
    assert bet_intervals.log_evidence(bets, 2) == pytest.approx(-math.log(2.0), abs=1e-3)
    assert bet_intervals.log_evidence(bets, 1) == known


def test_a_decision_for_sure_says_nothing() -> None:
    bets = ArmBets(2, 0)
    for reward in (1.0, 0.0, 1.0):
        bets.add(1, [0.0, 1.0], reward)
        bets.add(0, {0: 1.0}, reward)
    assert not bets.wins.any()
    assert not bets.capitals.any()


def test_averages_over_the_prior_match_a_fine_sum() -> None:
    fine = np.linspace(STAKES.points[0], STAKES.points[-1], 2_000_001)
    for n, centre in ((0, 0.0), (50, 0.4), (4_000_000, 0.123)):
        curve = -0.5 * n * (STAKES.points - centre) ** 2
        logs = -0.5 * n * (fine - centre) ** 2 + STAKES.log_prior(fine)
        for side in (0, 1):
            here = fine >= 0.0 if side else np.ones(fine.size, bool)
            whole = np.trapezoid(np.exp(logs[here]), fine[here]) * (2.0 if side else 1.0)
            assert STAKES.log_average(curve, side) == pytest.approx(math.log(whole), abs=2e-3)


@pytest.mark.parametrize("kind", ["rate", "range", "amount"])
def test_intervals_turn_round_with_the_pair(kind: str) -> None:
    chosen, chances, rewards = _played(kind, 7, n=2_000)
    bets = ArmBets(3, None, kind)
    bets.add_many(chosen, chances, rewards)
    middle, low, high = bet_intervals.difference(bets, 2, 0.95, base=0)
    assert bet_intervals.difference(bets, 0, 0.95, base=2) == (-middle, -high, -low)
    assert low < middle < high
    assert low < 0.0 < high
    one, other = bet_intervals.lift(bets, 2, 0.95, 0), bet_intervals.lift(bets, 0, 0.95, 2)
    assert one is not None
    assert other is not None
    assert (1.0 + one.low) * (1.0 + other.high) == pytest.approx(1.0)


def test_what_cannot_be_bet_on_changes_nothing() -> None:
    bets = ArmBets(2, 0)
    for reward, kind in ((0.5, "rates"), (math.nan, "rates")):
        with pytest.raises(SettingError, match=kind):
            bets.add(0, [0.5, 0.5], reward)
    with pytest.raises(SettingError, match="not compared"):
        bet_intervals.log_evidence(bets, 0)
    with pytest.raises(SettingError, match="kind"):
        ArmBets(2, 0, "money")
    assert bets.outcomes == 0.0


def _report(rule: Separated, *counts: tuple[int, int]) -> Report:
    """The report of arms a, b, … of an even split, of which a is control."""
    won, plays = (np.array(part, dtype=float) for part in zip(*counts, strict=True))
    bets = ArmBets(len(counts), 0)
    bets.add_counts(np.full(len(counts), 1.0 / len(counts)), won, plays - won)
    beliefs = np.stack([1.0 + won, 1.0 + plays - won], axis=1)
    names = "abcdefgh"[: len(counts)]
    known = Known(Bernoulli(), names, np.ones_like(beliefs), beliefs, plays, won, won)
    return report(known, "a", stop_when=rule, bets=bets)


def test_a_report_with_bets_says_what_they_say() -> None:
    result = _report(Separated(0.05), (300, 10_000), (420, 10_000), (290, 10_000))
    assert (result.bets_on, result.comparisons, result.verdict.arm) == ("rate", 2, "b")
    assert result.verdict.decided
    assert "set b apart from a" in result.verdict.sentence
    assert "over all 2 comparisons" in result.verdict.sentence
    assert result["b"].anytime_relative[0] > 0.0 > result["c"].anytime_relative[0]
    assert result.sentence.endswith("; you may stop.")


def test_a_control_that_leads_is_set_apart_from_all_others() -> None:
    assert _report(Separated(), (420, 10_000), (300, 10_000), (290, 10_000)).verdict.decided
    undecided = _report(Separated(), (420, 10_000), (300, 10_000), (410, 10_000)).verdict
    assert (undecided.decided, undecided.arm) == (False, "a")


def test_no_difference_larger_than_told_is_a_verdict() -> None:
    counts = ((300_000, 1_000_000), (300_100, 1_000_000))
    result = _report(Separated(0.05, within=0.02), *counts).verdict
    assert result.decided
    assert "no arm differs from a by more than 2 %" in result.sentence
    assert not _report(Separated(0.05), *counts).verdict.decided
    assert not _report(Separated(0.05, within=0.001), *counts).verdict.decided


def test_without_chances_a_report_falls_back_on_the_rewards_of_each_arm() -> None:
    beliefs, plays, won = np.array([[11.0, 91.0]] * 2), np.full(2, 100.0), np.full(2, 10.0)
    known = Known(Bernoulli(), "ab", np.ones((2, 2)), beliefs, plays, won, won)
    result = report(known, "a", bets=ArmBets(2, 0))
    assert result.bets_on == ""
    assert result.log_separation is not None


@pytest.mark.parametrize("amount", [False, True])
def test_watched_studies_stop_where_their_bets_say(amount: bool) -> None:
    """The fast loop against bets that are made one by one, on the same luck."""
    means, horizon, runs, delta = (1.0, 1.6), 3_000, 3, 0.3
    problem = problems.log_normal(means, sigma=1.5) if amount else problems.bernoulli((0.3, 0.36))
    result = watch_lift(problem, horizon, runs, 11, most=0.0, delta=delta)
    theta, family = problem.parameters, problem.family
    for run in range(runs):
        nature = np.zeros(4, dtype=np.uint64)
        chance.fork(chance.generator(11), run, NATURE, nature)
        bets, turns, arm, sums, plays = (
            ArmBets(2, 0, KINDS[2 * amount]),
            horizon,
            -1,
            [0, 0],
            [0, 0],
        )
        for t in range(horizon):
            arm_now = int(chance.uniform(nature) >= 0.5)
            luck = chance.uniform(nature)
            reward = float(luck < theta[arm_now, 0])
            if amount:
                reward = float(family.kernels.reward(family.constants, theta[arm_now], luck))
            bets.add(arm_now, [0.5, 0.5], reward)
            sums[arm_now] += reward
            plays[arm_now] += 1
            if min(plays) == 0:
                continue
            leader = int(sums[1] / plays[1] > sums[0] / plays[0])
            better = bet_intervals.log_better(bets, leader, 1 - leader)
            if better >= -math.log(delta):
                turns, arm = t + 1, leader
                break
        assert (result.turns[run], result.arm[run]) == (turns, arm)


@pytest.mark.compiled
@pytest.mark.parametrize("most", [0.0, 0.75])
def test_alike_arms_are_seldom_set_apart(most: float) -> None:
    """Of 100 A/A tests with three arms, a base rate that swings and δ = 0.2, more than 36 stop (or
    have an interval that was ever wrong) with a chance of at most 1e-4, were each at δ.
    """
    problem = problems.bernoulli((0.3, 0.3, 0.3))
    result = watch_lift(
        problem, 2_000, 100, 5, most=most, delta=0.2, swing=0.5, day=700.0, to_the_end=True
    )
    for errors in (result.decided, result.ratio_missed, result.difference_missed):
        assert errors.sum() <= 36


def test_differences_in_a_range_hold_at_every_look() -> None:
    """Of 60 runs at δ = 0.2 more than 24 ever miss with a chance of at most 1e-4. Chances follow
    what was earned, and the mean of both arms swings.
    """
    rng, true, missed = np.random.default_rng(9), 0.1, 0
    for _ in range(60):
        bets, sums, outside = ArmBets(2, 0, "range"), np.array([0.5, 0.5]), False
        for day in range(8):
            share = 0.75 if sums[1] > sums[0] else 0.25
            arms = (rng.random(40) < share).astype(np.int64)
            base = 0.4 + 0.2 * math.sin(day)
            rewards = rng.beta(4.0, 4.0, 40) * 0.4 + (base - 0.2) + true * arms
            bets.add_many(arms, [1.0 - share, share], rewards)
            sums += [rewards[arms == a].sum() for a in (0, 1)]
            _, low, high = bet_intervals.difference(bets, 1, 0.8)
            outside = outside or not low <= true <= high
        missed += outside
    assert missed <= 24


def test_means_of_ranges_and_rates_hold_at_every_look() -> None:
    """The same for the mean of one arm, of two kinds."""
    rng = np.random.default_rng(10)
    for kind in ("rate", "range"):
        missed = 0
        for _ in range(60):
            bets, outside = ArmBets(2, 0, kind), False
            for _ in range(6):
                rewards = rng.beta(2.0, 6.0, 30) if kind == "range" else rng.random(30) < 0.25
                bets.add_many(np.ones(30), [0.0, 1.0], rewards)
                low, high = bet_intervals.mean(bets, 1, 0.8)
                outside = outside or not low <= 0.25 <= high
            missed += outside
        assert missed <= 24
