"""The bank of processes beside the textbook's formulas, SciPy's Student t, and draws of its own."""

import numpy as np
import pytest
from scipy import stats

from belman.deciders.box import points as points_of
from belman.deciders.box import processes
from belman.deciders.box.contexts import Contexts
from belman.deciders.box.points import Points
from belman.deciders.box.processes import (
    LENGTHS,
    NOISES,
    Belief,
    Knowledge,
    Out,
    correlation,
    first_bank,
    log_prior,
    searched,
)

NAMES = ["hour", "country"]
#: Length scales of two sides, an hour and a country, and noise.
BANK = [(2, 3, 1, 2, 5), (4, 1, 7, 3, 4), (3, 3, 3, 3, 6), (1, 6, 2, 0, 3)]


def told(contexts, rows):
    """Points of rows (place, context, reward)."""
    result = Points(len(rows[0][0]))
    for position, context, reward in rows:
        contexts.meet(context)
        result.tell(np.asarray(position, dtype=float), context, reward)
    return result


@pytest.fixture
def rows():
    """40 rewards of 25 points with contexts, some of which are missing."""
    luck = np.random.default_rng(5)
    at = [
        (
            luck.random(2),
            {
                "hour": None if number % 7 == 0 else float(luck.integers(24)),
                "country": None if number % 5 == 0 else "abc"[luck.integers(3)],
            },
        )
        for number in range(25)
    ]
    result = []
    for number in range(40):
        position, context = at[number % 25]
        result.append((position, context, 7.0 + 3.0 * np.sin(5.0 * position[0]) + luck.normal()))
    return result


def squares_slowly(one, other, member, spread):
    """Squared distances of two (place, context), number by number."""
    result = sum(
        ((a - b) / LENGTHS[length]) ** 2
        for a, b, length in zip(one[0], other[0], member[:2], strict=True)
    )
    here, there = one[1]["hour"], other[1]["hour"]
    if (here is None) != (there is None):
        step = 1.0
    else:
        step = 0.0 if here is None else (here - there) / (np.sqrt(12.0) * spread)
    result += (step / LENGTHS[member[2]]) ** 2
    result += (one[1]["country"] != other[1]["country"]) / LENGTHS[member[3]] ** 2
    return result


def covariance_slowly(one, other, member, spread):
    apart = [[squares_slowly(a, b, member, spread) for b in other] for a in one]
    return processes._CONSTANT + correlation(np.array(apart))


@pytest.mark.parametrize("out", [0, 3])
def test_points_with_counts_are_all_their_rewards_one_by_one(rows, out):
    """The posterior of a full covariance of 40 rewards, with the shares of its members; points
    that are out leave the mean as it is, and the variance as with rewards of theirs.
    """
    contexts, luck = Contexts(NAMES), np.random.default_rng(6)
    known = Knowledge(told(contexts, rows), contexts)
    belief = Belief(known, BANK)
    context, positions = {"hour": 8.0, "country": "b"}, luck.random((9, 2))
    asked = [(position, context) for position in positions]
    away = [(luck.random(2), {"hour": 3.0, "country": "new"}) for _ in range(out)]
    if out:
        every = np.array([position for position, _ in away]), [context for _, context in away]
        belief = belief.with_out(Out(*every, np.array([1.0, 2.0, 1.0])))
        away.append(away[1])
    rewards = np.array([reward for *_, reward in rows])
    standard = (rewards - rewards.mean()) / rewards.std()
    hours = np.array([context["hour"] for _, context, _ in rows if context["hour"] is not None])
    weights, means, variances = [], [], []
    for member in BANK:
        noise = NOISES[member[-1]]

        def between(one, other, member=member):
            return covariance_slowly(one, other, member, hours.std())

        covariance = between(rows, rows) + noise * np.eye(40)
        across = between(rows, asked)
        means.append(across.T @ np.linalg.solve(covariance, standard))
        everything = [row[:2] for row in rows] + away
        whole = between(everything, everything) + noise * np.eye(len(everything))
        wide = between(everything, asked)
        left = processes._CONSTANT + 1.0 - (wide * np.linalg.solve(whole, wide)).sum(0)
        rate = 1.0 + 0.5 * standard @ np.linalg.solve(covariance, standard)
        variances.append(rate / 20.0 * left)
        evidence = stats.multivariate_t(None, covariance, df=2.0).logpdf(standard)
        weights.append(evidence + log_prior(member))
    share = np.exp(np.array(weights) - max(weights))
    share /= share.sum()
    mean = rewards.mean() + rewards.std() * (share @ np.array(means))
    between_members = (rewards.mean() + rewards.std() * np.array(means) - mean) ** 2
    variance = share @ (rewards.var() * np.array(variances) + between_members)
    result = belief.moments(positions, context)
    np.testing.assert_allclose(result.weights, share, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(result.mean, mean, rtol=1e-6)
    np.testing.assert_allclose(result.variance, variance, rtol=1e-5)


def curve(luck, count=30):
    """A belief from rewards of a curve over one side."""
    contexts, at = Contexts([]), luck.random((count, 1))
    rows = [
        (position, {}, 7.0 + 3.0 * np.sin(5.0 * position[0]) + luck.normal()) for position in at
    ]
    return Knowledge(told(contexts, rows), contexts)


def test_quantiles_have_the_chance_they_say():
    result = Belief(curve(np.random.default_rng(5)), first_bank(1)).moments(np.array([[0.3]]), {})
    for chance in (0.001, 0.025, 0.5, 0.9, 0.999):
        np.testing.assert_allclose(result.chance_below(result.quantile(chance)), chance, rtol=1e-6)


def test_one_process_is_scipys_student():
    result = Belief(curve(np.random.default_rng(5)), [(2, 5)]).moments(np.array([[0.3]]), {})
    constants = stats.t(result.freedom, result.centre[0], result.scale[0])
    np.testing.assert_allclose(result.quantile(0.9), constants.ppf(0.9), rtol=1e-9)
    np.testing.assert_allclose(result.variance, constants.var(), rtol=1e-9)


def test_intervals_hold_as_often_as_they_say():
    """240 intervals of 120 draws, two each; that 95 % ones hold in 90 to 98.8 % fails by chance
    about twice in 1,000 times where the level is right.
    """
    luck, asked = np.random.default_rng(8), np.array([[0.3], [0.9]])
    held = 0
    for _ in range(120):
        positions = luck.random((15, 1))
        length, noise = luck.choice(LENGTHS[1:5]), luck.choice(NOISES[2:6])
        everywhere = np.vstack([positions, asked])
        apart = ((everywhere - everywhere.T) / length) ** 2
        drawn = np.linalg.cholesky(correlation(apart) + 1e-9 * np.eye(17))
        truth = drawn @ luck.normal(size=17) + luck.normal() * 2.0
        rewards = truth[:15] + np.sqrt(noise) * luck.normal(size=15)
        contexts = Contexts([])
        rows = [(position, {}, reward) for position, reward in zip(positions, rewards, strict=True)]
        known = Knowledge(told(contexts, rows), contexts)
        result = Belief(known, searched(known, first_bank(1))).moments(asked, {})
        low, high = result.quantile(0.025), result.quantile(0.975)
        held += int(((low <= truth[15:]) & (truth[15:] <= high)).sum())
    assert 0.9 <= held / 240 <= 0.988


def test_nothing_told_is_believed_of_all_positions_alike():
    belief = Belief(Knowledge(Points(1), Contexts([])), first_bank(1))
    result = belief.moments(np.array([[0.1], [0.9]]), {})
    assert result.mean.tolist() == [0.0, 0.0]
    assert result.variance[0] == result.variance[1] > 0


def test_a_search_finds_what_matters_and_never_falls_behind_where_it_began():
    """The reward hangs on the first side and on the country; side y and the hour are long."""
    luck, contexts, rows = np.random.default_rng(3), Contexts(NAMES), []
    for _ in range(120):
        position, country = luck.random(2), "ab"[luck.integers(2)]
        context = {"hour": float(luck.integers(24)), "country": country}
        reward = np.sin(9.0 * position[0] + 2.0 * (country == "a")) + 0.1 * luck.normal()
        rows.append((position, context, reward))
    known = Knowledge(told(contexts, rows), contexts)
    bank = searched(known, searched(known, first_bank(4)))
    assert len(bank) <= processes._MOST_MEMBERS
    x, y, hour, country, _ = bank[0]
    assert max(x, country) + 2 <= min(y, hour)
    posterior = {member: known.fit(member).posterior for member in [*bank, *first_bank(4)]}
    assert max(posterior, key=posterior.__getitem__) == bank[0]


def test_joined_points_keep_all_rewards(monkeypatch):
    """Counts, the sum and the sum of squares are those of all rewards; near points are joined."""
    monkeypatch.setattr(points_of, "MOST", 8)
    luck, contexts, result = np.random.default_rng(4), Contexts(["kind"]), Points(1)
    rewards, bases = [], (0.1, 0.5, 0.9)
    for number in range(200):
        position, kind = np.array([bases[number % 3] + 0.01 * luck.random()]), "ab"[number % 2]
        contexts.meet({"kind": kind})
        rewards.append(luck.normal() + number % 3)
        result.tell(position, {"kind": kind}, rewards[-1])
        known = Knowledge(result, contexts)

        def apart(these, known=known):
            contexts = known.apart(these.contexts, these.contexts)
            return known.squares((1, 1, 3), these.positions, these.positions, contexts)

        result.join(apart)
        assert len(result) <= 8
    assert result.rewards == 200
    np.testing.assert_allclose(result.counts @ result.means, sum(rewards))
    total = (result.counts @ result.means**2) + result.squares.sum()
    np.testing.assert_allclose(total, np.square(rewards).sum())
    for position in result.positions[:, 0]:
        assert min(abs(position - base - 0.005) for base in bases) < 0.01
