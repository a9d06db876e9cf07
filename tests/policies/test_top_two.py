"""Best-arm policies since top-two Thompson against their pseudocode, and their promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from belman.errors import PolicyError
from belman.families import Bernoulli, Gaussian, Poisson
from belman.policies import (
    EBTC,
    T3C,
    TTEI,
    TTUCB,
    AnytimeHalving,
    EBTCEpsilon,
    LilUCB,
    LUCBPlusPlus,
    Policy,
    UGapE,
)
from belman.policies.best_arm.lucb import radius
from belman.policies.best_arm.ttucb import log_improvement
from tests.policies.interpreted_play import Seat

pytestmark = pytest.mark.interpreted

MEANS = [0.5, 0.4, 0.0, -0.5]


def gaussian_cost(lead, n, m):
    return max(lead, 0.0) ** 2 / (2 * (1 / n + 1 / m))


def first_best(values, plays):
    """The largest value, then the fewest plays, then the first."""
    return max(range(len(values)), key=lambda a: (values[a], -plays[a], -a))


def challenger(leader, means, plays, slack=None):
    others = [a for a in range(len(means)) if a != leader]
    cost = {
        a: gaussian_cost(means[leader] - means[a], plays[leader], plays[a])
        if slack is None
        else (means[leader] - means[a] + slack) / math.sqrt(1 / plays[leader] + 1 / plays[a])
        for a in others
    }
    return min(others, key=lambda a: (cost[a], plays[a], a))


def leads(policy, means, plays, turn):
    if isinstance(policy, TTUCB):
        bonus = [math.sqrt(2 * 1.2 * 2.2 * math.log(turn) / n) for n in plays]
        return first_best([m + b for m, b in zip(means, bonus, strict=True)], plays)
    return first_best(list(means), plays)


@pytest.mark.parametrize(
    ("policy", "slack"), [(EBTC(), None), (EBTCEpsilon(epsilon=0.1), 0.1), (TTUCB(beta=0.4), None)]
)
def test_tracked_top_two_is_its_pseudocode(policy, slack):
    rng, seat = np.random.default_rng(2), Seat(policy, Gaussian(), 4)
    led, followed = np.zeros(4), np.zeros(4)
    for turn in range(1, 250):
        plays = seat.ledger.plays.copy()
        arm = seat.ask(turn)
        if plays.min() > 0:
            means = seat.ledger.sums / plays
            leader = leads(policy, means, plays, turn)
            rival = challenger(leader, means, plays, slack)
            led[leader] += 1
            expected = leader if followed[leader] <= policy.beta * led[leader] else rival
            followed[leader] += expected == leader
            assert arm == expected, turn
            assert seat.propensity(turn, arm) == 1.0
        seat.tell(arm, float(rng.normal(MEANS[arm])))


def improvement(gap, width):
    x = gap / width
    return width * (x * stats.norm.cdf(x) + stats.norm.pdf(x))


def test_ttei_is_its_pseudocode():
    rng, seat = np.random.default_rng(4), Seat(TTEI(beta=0.3), Gaussian(), 4)
    for turn in range(1, 200):
        plays = seat.ledger.plays.copy()
        arm = seat.ask(turn)
        if plays.min() > 0:
            means = seat.ledger.sums / plays
            leader = int(np.argmax(improvement(means - max(means), plays**-0.5)))
            apart = [
                improvement(means[a] - means[leader], (1 / plays[a] + 1 / plays[leader]) ** 0.5)
                if a != leader
                else -1.0
                for a in range(4)
            ]
            rival = int(np.argmax(apart))
            assert seat.memory.pair.tolist() == [leader, rival]
            assert arm in (leader, rival)
            assert seat.propensity(turn, leader) == 0.3
            assert seat.propensity(turn, rival) == 0.7
        seat.tell(arm, float(rng.normal(MEANS[arm])))
    assert log_improvement(0.3, 2.0) == pytest.approx(math.log(improvement(0.3, 2.0)))
    assert log_improvement(-41.0, 2.0) == pytest.approx(
        math.log(2.0) + math.log(stats.norm.pdf(20.5)) - 2 * math.log(20.5), abs=0.01
    )


def test_t3c_leads_by_a_draw_and_challenges_by_transport():
    """With two arms the challenger is the other one: the best is led by its chance, within 5σ."""
    seat, draws = Seat(T3C(beta=0.8), Gaussian(), 2), 3_000
    for arm, reward in ((0, 0.3), (0, 0.5), (1, 0.1), (1, 0.2), (1, 0.0)):
        seat.tell(arm, reward)
    from belman.measures.best import best_probabilities

    first = best_probabilities(Gaussian(), seat.ledger.beliefs)[0]
    expected = 0.8 * first + 0.2 * (1 - first)
    share = np.mean([seat.ask(6) == 0 for _ in range(draws)])
    assert share == pytest.approx(expected, abs=5 * 0.5 / math.sqrt(draws))


def test_ugape_is_its_pseudocode_and_stops_within_epsilon():
    policy = UGapE(delta=0.1, epsilon=0.3)
    rng, seat, turn = np.random.default_rng(5), Seat(policy, Gaussian(), 4), 0
    while not seat.kernels.finished(*seat._seen()):
        turn += 1
        plays = seat.ledger.plays.copy()
        arm = seat.ask(turn)
        if plays.min() > 0:
            means = seat.ledger.sums / plays
            width = np.sqrt(2 * math.log(4 * 4 * plays.sum() ** 3 / 0.1) / plays)
            upper, lower = means + width, means - width
            lack = [max(np.delete(upper, a)) - lower[a] for a in range(4)]
            held = int(np.argmin(lack))
            rest = np.where(np.arange(4) == held, -np.inf, upper)
            rival = int(np.argmax(rest))
            assert arm == (held if plays[held] <= plays[rival] else rival)
            assert seat.memory.least[0] == pytest.approx(min(lack))
        seat.tell(arm, float(rng.normal(MEANS[arm])))
    score = np.zeros(4)
    seat.kernels.recommend(*seat._seen(), score)
    assert max(MEANS) - MEANS[int(score.argmax())] <= 0.3


def test_lil_ucb_is_its_formula():
    seat = Seat(LilUCB(delta=0.003, epsilon=0.01, beta=1.0, share=9.0), Gaussian(2.0), 2)
    for arm, reward in ((0, 1.0), (0, 0.0), (1, 0.5)):
        seat.tell(arm, reward)
    level = [math.log(math.log(1.01 * n) / 0.003) / n for n in (2, 1)]
    bonus = 2.0 * 1.1 * 2.0 * np.sqrt(2 * 1.01 * np.array(level))
    assert seat.indices(4) == pytest.approx(np.array([0.5, 0.5]) + bonus)
    assert not seat.kernels.finished(*seat._seen())
    seat.ledger.plays[0] = 10.0
    assert seat.kernels.finished(*seat._seen())
    score = np.zeros(2)
    seat.kernels.recommend(*seat._seen(), score)
    assert score.argmax() == 0


def test_the_heuristic_of_lil_ucb_plays_every_arm_twice():
    """At n = 1 its logarithm is 0, and the bound is not defined."""
    seat = Seat(LilUCB(), Bernoulli(), 3)
    played = []
    for turn in range(1, 7):
        played.append(seat.ask(turn))
        seat.tell(played[-1], float(played[-1] == 0))
        assert not seat.kernels.finished(*seat._seen())
    assert sorted(played) == [0, 0, 1, 1, 2, 2]
    assert np.isfinite(seat.indices(7)).all()


def test_eb_tc_epsilon_stops_by_its_own_rule():
    """At the first turn after which every arm is told from the best average plus ε."""
    policy = EBTCEpsilon(epsilon=0.3, delta=0.05)
    rng, seat = np.random.default_rng(5), Seat(policy, Gaussian(2.0), 4)
    stops = []
    for turn in range(1, 1_500):
        arm = seat.ask(turn)
        plays, means = seat.ledger.plays, seat.ledger.sums / np.maximum(seat.ledger.plays, 1)
        enough = False
        if plays.min() > 0:
            best = int(np.argmax(means))
            apart = [
                (means[best] - means[a] + 0.3) ** 2 / (1 / plays[best] + 1 / plays[a])
                for a in range(4)
                if a != best
            ]
            level = math.log((1 + math.log(turn - 1)) / 0.05)
            enough = min(apart) / (2 * 2.0**2) > level
        assert seat.kernels.finished(*seat._seen()) == enough
        stops.append(enough)
        seat.tell(arm, float(rng.normal(MEANS[arm], 2.0)))
    assert not stops[20]
    assert stops[-1]
    score = np.zeros(4)
    seat.kernels.recommend(*seat._seen(), score)
    assert score.argmax() == np.argmax(seat.ledger.sums / seat.ledger.plays)


def test_eb_tc_epsilon_without_a_deviation_plays_and_does_not_stop():
    seat = Seat(EBTCEpsilon(), Poisson(), 2)
    for turn in range(1, 300):
        seat.tell(seat.ask(turn), 1.0)
        assert not seat.kernels.finished(*seat._seen())


def test_lucb_plus_plus_plays_the_two_that_overlap():
    doubt = math.log(2 / 0.1)
    level = doubt + 3 * math.log(doubt) + 1.5 * math.log(math.log(math.e * 10))
    assert radius(2.0, 10.0, doubt) == pytest.approx(2.0 * math.sqrt(2 * level / 10))
    seat = Seat(LUCBPlusPlus(delta=0.1), Gaussian(), 3)
    for arm, row in enumerate(([1.0, 1.0, 1.0], [0.9, 0.9], [0.0] * 9)):
        for reward in row:
            seat.tell(arm, reward)
    assert [seat.ask(15), seat.ask(15)] == [0, 1]
    up, down = radius(1.0, 2.0, math.log(2 / 0.1)), radius(1.0, 3.0, math.log(4 / 0.1))
    assert seat.memory.overlap[0] == pytest.approx(0.9 + up - (1.0 - down))
    slack = Seat(LUCBPlusPlus(delta=0.1, epsilon=0.5), Gaussian(), 3)
    for arm, row in enumerate(([1.0, 1.0, 1.0], [0.9, 0.9], [0.0] * 9)):
        for reward in row:
            slack.tell(arm, reward)
    slack.ask(15)
    assert slack.memory.overlap[0] == pytest.approx(seat.memory.overlap[0] - 0.5)


@pytest.mark.parametrize(
    ("arms", "once"),
    [(8, [1, 1, 1, 1, 3, 3, 7, 7]), (5, [1, 1, 2, 5, 6]), (2, [1, 1]), (3, [1, 2, 3])],
)
def test_a_pass_of_anytime_halving_gives_every_round_as_many_plays_as_arms(arms, once):
    """Of eight arms 1 to all, 2 to four, 4 to two; what does not go evenly goes to the best."""
    seat, means = Seat(AnytimeHalving(), Gaussian(), arms), np.linspace(0.0, 0.7, arms)
    for turn in range(1, 1 + 2 * sum(once)):
        arm = seat.ask(turn)
        seat.tell(arm, float(means[arm]))
        if turn == sum(once):
            assert seat.ledger.plays.tolist() == once
    assert seat.ledger.plays.tolist() == [2 * plays for plays in once]


def test_anytime_halving_is_its_pseudocode():
    """Rounds of as many plays as arms over a list of arms, which is halved or begins anew."""
    rng, means = np.random.default_rng(4), np.array([0.5, 0.3, 0.6, 0.55, 0.2, 0.45, 0.5])
    seat, inside, played = Seat(AnytimeHalving(), Bernoulli(), 7), list(range(7)), np.zeros(7)
    for turn in range(1, 1_001):
        if played.sum() == 7:
            average = seat.ledger.sums / seat.ledger.plays
            assert np.flatnonzero(played).tolist() == sorted(inside)
            assert played[inside].max() - played[inside].min() <= 1
            assert (np.diff(played[inside]) <= 0).all()
            best_first = sorted(inside, key=lambda arm: (-average[arm], arm))
            inside = best_first[: (len(inside) + 1) // 2] if len(inside) > 2 else list(range(7))
            inside.sort(key=lambda arm: (-average[arm], arm))
            played[:] = 0.0
        arm = seat.ask(turn)
        played[arm] += 1.0
        seat.tell(arm, float(rng.random() < means[arm]))


@pytest.mark.parametrize(
    "policy",
    [EBTC(), EBTCEpsilon(), TTUCB(), T3C(), TTEI(), UGapE(), LilUCB(), LUCBPlusPlus()],
    ids=lambda policy: policy.name,
)
def test_they_find_the_best_arm(policy: Policy):
    """Far apart, after 300 plays: all of three runs recommend it."""
    for seed in range(3):
        rng, seat = np.random.default_rng(seed), Seat(policy, Bernoulli(), 3, seed)
        for turn in range(1, 301):
            arm = seat.ask(turn)
            seat.tell(arm, float(rng.random() < [0.2, 0.9, 0.5][arm]))
        score = np.zeros(3)
        seat.kernels.recommend(*seat._seen(), score)
        assert score.argmax() == 1


def test_what_is_refused():
    for make, words in (
        (lambda: EBTC(beta=1.0), r"beta=1\.0 is not valid for eb-tc"),
        (lambda: UGapE(delta=0.0), r"delta=0\.0 is not valid for ugape"),
        (lambda: EBTCEpsilon(epsilon=-1.0), r"epsilon=-1\.0 is not valid for eb-tc-epsilon"),
        (lambda: LUCBPlusPlus(m=3).check(Bernoulli(), 3), "m must be less than their number"),
        (lambda: TTEI(sigma=0.0), r"sigma=0\.0 is not valid for ttei"),
    ):
        with pytest.raises(PolicyError, match=words):
            make()
