"""Index policies against their formulas in plain Python, at the edges, and in an agent's hands."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import belman
from belman import chance
from belman.engine import entry, kernel
from belman.errors import PolicyError
from belman.families import FAMILIES, Family, Gaussian
from belman.families.mirror import Mirror
from belman.policies import (
    DMED,
    IMED,
    KLUCB,
    MOSS,
    POLICIES,
    UCB1,
    EpsilonGreedy,
    ExploreThenCommit,
    Greedy,
    KLUCBPlus,
    KLUCBPlusPlus,
    Ledger,
    Policy,
    Random,
    UCBTuned,
)
from belman.policies.policy_kernels import pick

#: What is compiled chooses the same; a hundred policies at families would take minutes.
pytestmark = pytest.mark.interpreted

HORIZON = 5_000
MEANS: dict[str, list[float]] = {
    "gaussian": [-0.5, 0.0, 0.4],
    "gaussian-unknown": [-0.5, 0.0, 0.4],
    "geometric": [1.3, 2.0, 4.0],
}
BERNOULLI, POISSON, EXPONENTIAL = (
    FAMILIES[name]() for name in ("bernoulli", "poisson", "exponential")
)
PLAIN: list[Family] = [*(FAMILIES[name]() for name in FAMILIES), Gaussian(sigma=2.0)]
COSTS: list[Family] = [
    Mirror(FAMILIES[name]())
    for name in ("bernoulli", "exponential", "poisson", "geometric", "chi-squared")
]
BOUNDED: list[Policy] = [UCB1(), UCBTuned(), UCBTuned(cap=False), MOSS()]
UNBOUNDED: list[Policy] = [
    *(Random(), Greedy(), EpsilonGreedy(), ExploreThenCommit(3), DMED(), IMED()),
    *(KLUCB(), KLUCB(c=3.0), KLUCBPlus(), KLUCBPlusPlus(HORIZON)),
]
#: Every policy at Bernoulli rewards; those that use a divergence at all families, and the others
#: where it may make a difference.
CASES: list[tuple[Policy, Family]] = [
    *((policy, BERNOULLI) for policy in (*UNBOUNDED, *BOUNDED)),
    *((policy, family) for policy in (KLUCB(), IMED()) for family in (*PLAIN[1:], *COSTS)),
    *(
        (policy, family)
        for policy in (KLUCBPlus(), KLUCBPlusPlus(HORIZON))
        for family in (EXPONENTIAL, COSTS[2], PLAIN[5])
    ),
    *((DMED(), family) for family in (EXPONENTIAL, COSTS[2], PLAIN[5])),
    *(
        (policy, family)
        for policy in (Greedy(), EpsilonGreedy(), ExploreThenCommit(3))
        for family in (EXPONENTIAL, COSTS[1])
    ),
    *(
        (policy, family)
        for policy in BOUNDED
        for family in (belman.families.BoundedExponential(bound=4.0), COSTS[0])
    ),
    *(
        (policy, PLAIN[4])
        for policy in (
            UCB1(range=(-1.0, 4.0)),
            UCBTuned(range=(-1.0, 4.0)),
            MOSS(range=(-1.0, 4.0)),
        )
    ),
]


def label(thing: Any) -> str:
    return repr(thing) if isinstance(thing, Policy) else thing.name


# What tests see of a policy.

REFRESH, INDICES, CHOOSE, PROPENSITY = range(4)


@kernel
def _act(
    policy,
    family,
    constants,
    params,
    ledger,
    memory,
    what,
    turn,
    turn_value,
    rng,
    index,
    closed,
    arm,
    ties,
):
    """One entry for all kernels of a policy, so that it is compiled once."""
    chance = 0.0
    if what == REFRESH:
        policy.refresh(family, constants, params, ledger, memory, arm)
    elif what == INDICES:
        policy.indices(family, constants, params, ledger, memory, turn, turn_value, rng, index)
    elif what == CHOOSE:
        arm, ties = policy.choose(
            policy, family, constants, params, ledger, memory, turn, turn_value, rng, index
        )
    else:
        chance = policy.propensity(
            family, constants, params, ledger, memory, turn, turn_value, closed, arm, ties
        )
    return arm, ties, chance


class Table:
    """A policy with a ledger in front of it."""

    def __init__(self, policy: Policy, family: Family, ledger: Ledger) -> None:
        self.policy, self.family, self.ledger = policy, family, ledger
        self.arms = len(ledger.plays)
        self.memory = policy.memory(self.arms, family.dimension)
        self._entry = entry(_act, policy=policy.kernels, family=family.kernels)
        for a in range(self.arms):
            self.act(REFRESH, arm=a)

    def act(
        self,
        what: int,
        turn: int = 1,
        rng: Any = None,
        closed: Any = (),
        arm: int = 0,
        ties: int = 1,
    ) -> tuple[Any, ...]:
        """The arm, the number of ties, the chance and the indices that a kernel gives."""
        turn_value = float(self.policy.turn_values(np.array([float(turn)]), self.arms)[0])
        index = np.zeros(self.arms)
        result = self._entry(
            constants=self.family.constants,
            params=self.policy.params(self.family),
            ledger=self.ledger,
            memory=self.memory,
            what=what,
            turn=turn,
            turn_value=turn_value,
            rng=chance.generator(1) if rng is None else rng,
            index=index,
            closed=np.array(closed, dtype=np.bool_),
            arm=arm,
            ties=ties,
        )
        return (*result, index)

    def indices(self, turn: int, rng: chance.Words | None = None) -> np.ndarray[Any, Any]:
        return self.act(INDICES, turn, rng)[3]  # type: ignore[no-any-return]

    def choose(self, turn: int, rng: chance.Words) -> tuple[int, int]:
        return self.act(CHOOSE, turn, rng)[:2]  # type: ignore[return-value]

    def propensity(self, turn: int, closed: Any, arm: int, ties: int) -> float:
        return self.act(PROPENSITY, turn, closed=closed, arm=arm, ties=ties)[2]  # type: ignore[no-any-return]

    def tell(self, arm: int, reward: float) -> None:
        self.ledger.beliefs[arm] = self.family.update(self.ledger.beliefs[arm], reward)
        self.ledger.plays[arm] += 1.0
        self.ledger.sums[arm] += reward
        self.ledger.squares[arm] += reward * reward
        self.act(REFRESH, arm=arm)


def blank(family: Family, arms: int) -> Ledger:
    return Ledger(
        np.tile(np.array(family.prior), (arms, 1)), np.zeros(arms), np.zeros(arms), np.zeros(arms)
    )


def played(family: Family, plays: list[int], seed: int, fade: float = 1.0) -> Ledger:
    """A ledger of random rewards, their counts and sums multiplied by `fade`."""
    base = family.of if isinstance(family, Mirror) else family
    sign = -1.0 if isinstance(family, Mirror) else 1.0
    ledger = blank(family, len(plays))
    means = itertools.cycle(MEANS.get(base.name, [0.3, 0.5, 0.8]))
    for a, (count, mean) in enumerate(zip(plays, means, strict=False)):
        for reward in sign * base.sample_rewards(
            base.parameter_of(mean), chance.generator(seed, a), count
        ):
            ledger.beliefs[a] = family.update(ledger.beliefs[a], reward)
            ledger.plays[a] += fade
            ledger.sums[a] += fade * reward
            ledger.squares[a] += fade * reward * reward
    return ledger


# The formulas, in plain Python.


def xlog(x: float, y: float) -> float:
    return 0.0 if x == 0.0 else math.inf if y == 0.0 else x * math.log(x / y)


def rate_of(mean: float, bound: float) -> float:
    share = mean / bound
    return (
        brentq(
            lambda r: -math.expm1(-r) / r - share,
            1e-12,
            1e4 / max(share, 1e-3),
            xtol=1e-15,
            rtol=1e-14,
        )
        / bound
    )


def d(family: Family, m: float, q: float, spread: float) -> float:
    """KL between the reward distributions of means m and q, from the textbook."""
    if isinstance(family, Mirror):
        return d(family.of, -m, -q, spread)
    if family.name == "bounded-exponential":
        theta, other, bound = (
            rate_of(m, family.constants[0]),
            rate_of(q, family.constants[0]),
            family.constants[0],
        )
        return -math.expm1(-theta * bound) * (other / theta - 1.0 - math.log(other / theta))
    forms: dict[str, Callable[[], float]] = {
        "bernoulli": lambda: xlog(m, q) + xlog(1.0 - m, 1.0 - q),
        "exponential": lambda: m / q - 1.0 - math.log(m / q),
        "gamma": lambda: family.constants[0] * (m / q - 1.0 - math.log(m / q)),
        "poisson": lambda: xlog(m, q) - m + q,
        "gaussian": lambda: (m - q) ** 2 / (2.0 * family.constants[0] ** 2),
        "gaussian-unknown": lambda: 0.5 * math.log1p((m - q) ** 2 / spread),
        "geometric": lambda: m * (xlog(1.0 / m, 1.0 / q) + xlog(1.0 - 1.0 / m, 1.0 - 1.0 / q)),
    }
    return forms[family.name]() if family.name in forms else family.reward_divergence(m, q, spread)


def largest(divergence: Callable[[float], float], mean: float, f: float, top: float) -> float:
    """The largest q from the mean to the top with divergence(q) ≤ f, by halving."""
    if f <= 0.0:
        return mean
    low, high = mean, top
    if math.isinf(top):
        high = mean + 1.0
        while divergence(high) <= f:
            high = mean + 2.0 * (high - mean)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if divergence(middle) <= f else (low, middle)
    return low


TOPS = {"exponential": 0.0, "gamma": 0.0, "poisson": 0.0, "geometric": -1.0, "chi-squared": 0.0}


def top_of(family: Family) -> float:
    if family.reward_range:
        return family.reward_range[1]
    return TOPS.get(family.of.name, math.inf) if isinstance(family, Mirror) else math.inf


def statistics(ledger: Ledger) -> list[tuple[float, float, float]]:
    """Plays, mean and variance of every arm."""
    out = []
    for n, total, squares in zip(*ledger[1:], strict=True):
        mean = total / n if n else math.nan
        out.append((n, mean, max(squares / n - mean * mean, 0.0) if n else math.nan))
    return out


def naive(policy: Policy, family: Family, ledger: Ledger, turn: int) -> list[float]:
    """Every index of an arm with at least three plays, from the definition."""
    arms = statistics(ledger)
    log_turn = math.log(turn)
    if isinstance(policy, Greedy):
        return [family.expected_reward(row) for row in ledger.beliefs]
    if isinstance(policy, UCB1 | UCBTuned | MOSS):
        low, high = policy.range or family.reward_range
        width = high - low
        if isinstance(policy, UCB1):
            return [m + width * math.sqrt(2.0 * log_turn / n) for n, m, _ in arms]
        if isinstance(policy, MOSS):
            logs = [max(0.0, math.log(turn / (len(arms) * n))) for n, _, _ in arms]
            return [
                m + width * math.sqrt((1 + policy.alpha) / 2 * x / n)
                for (n, m, _), x in zip(arms, logs, strict=True)
            ]
        most = 0.25 if policy.cap else math.inf
        variances = [min(most, v / width**2 + math.sqrt(2.0 * log_turn / n)) for n, _, v in arms]
        return [
            m + width * math.sqrt(log_turn / n * v)
            for (n, m, _), v in zip(arms, variances, strict=True)
        ]
    if isinstance(policy, IMED):
        best = max(m for _, m, _ in arms)
        return [
            -(n * (0.0 if m == best else d(family, m, best, v)) + math.log(n)) for n, m, v in arms
        ]
    values = []
    for n, m, v in arms:
        if isinstance(policy, KLUCBPlus):
            f = math.log(turn / n)
        elif isinstance(policy, KLUCBPlusPlus):
            x = HORIZON / (len(arms) * n)
            f = max(0.0, math.log(x * (max(0.0, math.log(x)) ** 2 + 1.0)))
        else:
            f = log_turn + policy.c * math.log(max(log_turn, 1.0))
        values.append(
            largest(lambda q, n=n, m=m, v=v: n * d(family, m, q, v), m, f, top_of(family))
        )
    return values


WITH_FORMULAS = [
    (p, f) for p, f in CASES if not isinstance(p, Random | EpsilonGreedy | ExploreThenCommit | DMED)
]


@pytest.mark.parametrize("fade", [1.0, 0.61])
@pytest.mark.parametrize(("policy", "family"), WITH_FORMULAS, ids=label)
def test_indices_are_the_formulas(policy: Policy, family: Family, fade: float) -> None:
    ledger = played(family, [5, 6, 9, 15, 40, 300], 3, fade)
    for turn in (400, 100_000):
        result, expected = (
            Table(policy, family, ledger).indices(turn),
            naive(policy, family, ledger, turn),
        )
        if not family.mean_exists:
            # such bounds grow exponentially: an arm of next to no plays has none
            result, expected = (
                np.where(np.abs(x) > 1e100, math.inf, x) for x in (result, expected)
            )
        assert result == pytest.approx(expected, rel=2e-9, abs=2e-9)


def test_named_divergence_on_scaled_rewards() -> None:
    """KL-UCB with the Bernoulli divergence on rewards/10, with the exponential one on bounded
    rewards, and so on.
    """
    family = belman.families.BoundedExponential(bound=10.0)
    ledger = played(family, [4, 10, 50], 5)
    forms = {
        "bernoulli": (lambda m, q: xlog(m, q) + xlog(1.0 - m, 1.0 - q), 1.0),
        "exponential": (lambda m, q: m / q - 1.0 - math.log(m / q), math.inf),
        "poisson": (lambda m, q: xlog(m, q) - m + q, math.inf),
        "gaussian": (lambda m, q: 2.0 * (m - q) ** 2, math.inf),
    }
    for name, (form, top) in forms.items():
        result = Table(KLUCB(divergence=name), family, ledger).indices(100)
        for n, m, index in zip(ledger.plays, ledger.sums / ledger.plays, result, strict=True):
            scaled = largest(
                lambda q, n=n, m=m, form=form: n * form(m / 10.0, q), m / 10.0, math.log(100), top
            )
            assert index == pytest.approx(10.0 * scaled, rel=1e-9)
    same = Table(
        KLUCB(divergence="gaussian"), Gaussian(sigma=2.0), played(Gaussian(sigma=2.0), [3, 4], 1)
    )
    assert same.indices(9) == pytest.approx(
        Table(KLUCB(), Gaussian(sigma=2.0), same.ledger).indices(9)
    )


@pytest.mark.parametrize(("policy", "family"), CASES, ids=label)
def test_choice_is_the_largest_index(policy: Policy, family: Family) -> None:
    """Turn by turn, from no knowledge on, with arms that tie."""
    base = family.of if isinstance(family, Mirror) else family
    sign = -1.0 if isinstance(family, Mirror) else 1.0
    thetas = [
        base.parameter_of(mean) for mean in MEANS.get(base.name, [0.3, 0.5, 0.8]) for _ in range(2)
    ]
    rewards = [
        sign * base.sample_rewards(theta, chance.generator(2, a // 2), 60)
        for a, theta in enumerate(thetas)
    ]
    table, rng = Table(policy, family, blank(family, len(thetas))), chance.generator(4)
    for turn in range(1, 61):
        held, other = rng.copy(), rng.copy()
        twin = Table(policy, family, table.ledger)
        twin.memory = type(table.memory)(*(part.copy() for part in table.memory))
        expected = entry(pick)(index=twin.indices(turn, held), rng=held)
        arm, ties = table.choose(turn, rng)
        assert (arm, ties) == expected
        assert (rng == held).all()
        assert 0.0 < table.propensity(turn, [], arm, ties) <= 1.0
        assert not np.isnan(table.indices(turn, other)).any()
        table.tell(arm, rewards[arm][int(table.ledger.plays[arm])])
    if not isinstance(policy, Random | Greedy):
        assert table.ledger.plays.min() >= 1.0


@pytest.mark.parametrize(("policy", "family"), CASES, ids=label)
def test_edges_are_never_nan(policy: Policy, family: Family) -> None:
    """Arms never played, faded to nothing, played 1e9 times, and always rewarded alike at either
    end of what is possible.
    """
    low, high = family.reward_range or (-3.0, 7.0)
    ends = [x for x in (low, high, -1.0, 0.0, 0.25, 1.0, 2.0) if family.supports(x)]
    plays = [0.0, 1.0, 5e-324, 1e-300, 1e-9, 0.4, 2.0, 1e9]
    cases = list(itertools.product(plays, ends))
    ledger = blank(family, len(cases))
    for a, (count, reward) in enumerate(cases):
        ledger.plays[a], ledger.sums[a], ledger.squares[a] = (
            count,
            count * reward,
            count * reward**2,
        )
    for rows in (
        slice(None),
        slice(1, None, 3),
        [i for i, (n, _) in enumerate(cases) if n >= 0.4],
        slice(0, 1),
    ):
        some = Ledger(*(np.ascontiguousarray(column[rows]) for column in ledger))
        for turn in (1, 2, 3, 1_000, 10**12):
            table, rng = Table(policy, family, some), chance.generator(turn)
            index = table.indices(turn, rng.copy())
            assert not np.isnan(index).any()
            unplayed = some.plays < 1e-200
            if unplayed.any() and not isinstance(policy, Random | Greedy | ExploreThenCommit):
                assert (index[unplayed] == np.inf).all()
            arm, ties = table.choose(turn, rng)
            assert index[arm] == index.max() or isinstance(policy, EpsilonGreedy)
            assert 1 <= ties <= len(some.plays)


def test_bounded_exponential_arm_of_mean_zero() -> None:
    family = belman.families.BoundedExponential()
    ledger = blank(family, 2)
    ledger.plays[:], ledger.sums[:] = [2.0, 2.0], [0.0, 1.0]
    for policy in (IMED(), KLUCB()):
        assert np.isfinite(Table(policy, family, ledger).indices(9)).all()


def test_bernoulli_bounds_at_the_ends() -> None:
    ledger = blank(BERNOULLI, 3)
    ledger.plays[:], ledger.sums[:] = [4.0, 4.0, 4.0], [0.0, 4.0, 2.0]
    zero, one, half = Table(KLUCB(), BERNOULLI, ledger).indices(100)
    assert zero == pytest.approx(1.0 - 100.0**-0.25, rel=1e-12)
    assert one == 1.0
    assert 0.5 < half < 1.0


def test_arms_wait_for_a_variance() -> None:
    """With unknown variance an arm is played three times before its own is believed."""
    family = belman.families.GaussianUnknown()
    ledger = played(family, [1, 2, 3], 7)
    for policy in (KLUCB(), IMED(), DMED()):
        index = Table(policy, family, ledger).indices(7)
        assert np.isinf(index[:2]).all()
        assert np.isfinite(index[2])


def test_propensity_of_epsilon_greedy() -> None:
    ledger = blank(BERNOULLI, 4)
    ledger.plays[:], ledger.sums[:] = [2.0, 2.0, 4.0, 0.0], [2.0, 1.0, 4.0, 0.0]
    table = Table(EpsilonGreedy(0.2), BERNOULLI, ledger)
    assert table.propensity(9, [], 3, 1) == 1.0
    closed = [False, False, False, True]
    assert [table.propensity(9, closed, a, 2) for a in range(3)] == pytest.approx(
        [0.2 / 3 + 0.4, 0.2 / 3, 0.2 / 3 + 0.4]
    )
    best_closed = [True, False, True, True]
    assert table.propensity(9, best_closed, 1, 1) == pytest.approx(1.0)
    ledger.plays[3] = 1.0
    assert sum(table.propensity(9, [], a, 1) for a in range(4)) == pytest.approx(1.0)
    rng, counts = chance.generator(8), np.zeros(4)
    for _ in range(4_000):
        counts[table.choose(9, rng)[0]] += 1
    expected = [table.propensity(9, [], a, 1) for a in range(4)]
    assert counts / 4_000 == pytest.approx(expected, abs=0.05)  # six standard errors


def test_explore_then_commit_commits() -> None:
    """Ten plays each, then one arm for ever, although its average falls below the others'."""
    table, rng = Table(ExploreThenCommit(10), BERNOULLI, blank(BERNOULLI, 3)), chance.generator(3)
    for turn in range(1, 31):
        arm, _ = table.choose(turn, rng)
        table.tell(arm, 1.0 if arm == 1 else 0.5)
    assert table.ledger.plays.tolist() == [10.0, 10.0, 10.0]
    for turn in range(31, 80):
        assert table.choose(turn, rng) == (1, 1)
        table.tell(1, 0.0)


def test_explore_then_commit_breaks_a_tie_once() -> None:
    chosen = set()
    for seed in range(30):
        table, rng = (
            Table(ExploreThenCommit(1), BERNOULLI, blank(BERNOULLI, 2)),
            chance.generator(seed),
        )
        table.tell(0, 1.0)
        table.tell(1, 1.0)
        first, ties = table.choose(3, rng)
        assert ties == 2
        assert all(table.choose(turn, rng) == (first, 1) for turn in range(4, 9))
        chosen.add(first)
    assert chosen == {0, 1}


def test_dmed_plays_through_its_list() -> None:
    """Every arm on a list is played once before the next list is made, and the list is what the
    definition says.
    """
    table, rng, nature = (
        Table(DMED(), BERNOULLI, blank(BERNOULLI, 5)),
        chance.generator(6),
        np.random.default_rng(6),
    )
    for turn in range(1, 6):
        table.tell(table.choose(turn, rng)[0], float(nature.random() < 0.5))
    waiting: set[int] = set()
    for turn in range(6, 400):
        if not waiting:
            arms = statistics(table.ledger)
            best = max(m for _, m, _ in arms)
            waiting = {
                a
                for a, (n, m, _) in enumerate(arms)
                if m == best or n * d(BERNOULLI, m, best, 1.0) <= math.log(turn / n)
            }
        arm, ties = table.choose(turn, rng)
        assert arm in waiting
        assert ties == len(waiting)
        waiting.remove(arm)
        table.tell(arm, float(nature.random() < 0.1 * arm + 0.2))


BAD: list[tuple[Callable[[], Policy], str]] = [
    (
        lambda: EpsilonGreedy(1.5),
        "epsilon=1.5 is not valid for epsilon-greedy: it must be a number from 0 to 1",
    ),
    (lambda: EpsilonGreedy(math.nan), "epsilon=nan"),
    (lambda: EpsilonGreedy("0.1"), "epsilon='0.1'"),  # type: ignore[arg-type]
    (
        lambda: ExploreThenCommit(0),
        "explore=0 is not valid for explore-then-commit: it must be a whole number",
    ),
    (lambda: ExploreThenCommit(2.5), "explore=2.5"),  # type: ignore[arg-type]
    (
        lambda: UCB1(range=(1.0, 0.0)),
        r"range=\(1.0, 0.0\) is not valid for ucb1: it must be \(low, high\)",
    ),
    (lambda: UCB1(range=(0.0, math.inf)), "range="),
    (lambda: UCB1(range=3), "range=3"),  # type: ignore[arg-type]
    (lambda: UCBTuned(cap=2), "cap=2"),  # type: ignore[arg-type]
    (lambda: MOSS(alpha=-1.0), "alpha=-1.0"),
    (lambda: KLUCB(c=-1.0), "c=-1.0"),
    (
        lambda: KLUCB(divergence="bernouli"),
        "unknown divergence 'bernouli'.*did you mean 'bernoulli'",
    ),
    (lambda: KLUCB(divergence=["bernoulli"]), "unknown divergence"),  # type: ignore[arg-type]
    (lambda: KLUCB(range=(0.0, 1.0)), "give divergence="),
    (lambda: KLUCBPlus(divergence="poisson", range=(0.0, 0.0)), "range="),
    (lambda: KLUCBPlusPlus(0), r"horizon=0 is not valid for kl-ucb\+\+"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_settings(make: Callable[[], Policy], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        make()


def test_policies_that_need_bounds_say_so() -> None:
    for policy in (
        UCB1(),
        UCBTuned(),
        MOSS(),
        KLUCB(divergence="bernoulli"),
        KLUCBPlus(divergence="gaussian"),
    ):
        words = r"poisson rewards \(whole numbers from 0 up\) have none: give range=\(low, high\)"
        with pytest.raises(PolicyError, match=words):
            policy.check(POISSON, 2)
    with pytest.raises(PolicyError, match="range="):
        KLUCB(divergence="exponential").check(FAMILIES["gaussian"](), 2)
    KLUCB(divergence="exponential").check(POISSON, 2)
    UCB1(range=(0, 9)).check(POISSON, 2)
    for policy, family in CASES:
        policy.check(family, 2)


def test_registered_by_name() -> None:
    for policy in (*UNBOUNDED, *BOUNDED):
        assert POLICIES[policy.name] is type(policy)


@pytest.mark.parametrize("policy", [*UNBOUNDED, *BOUNDED], ids=label)
def test_in_an_agent(policy: Policy) -> None:
    """Batches, closed arms, rewards that fade, and a state that is saved and goes on alike."""
    for discount in (1.0, 0.9):
        agent = belman.Agent(list("abcd"), policy=policy, discount=discount, seed=5)
        nature = np.random.default_rng(1)
        for turn in range(60):
            arms = (
                agent.ask(3)
                if turn % 7 == 0
                else [agent.ask(among=["b", "c", "d"] if turn % 5 == 0 else None)]
            )
            assert all(0.0 < choice.probability <= 1.0 for choice in agent.last)
            for arm in arms:
                agent.tell(
                    arm, float(nature.random() < {"a": 0.2, "b": 0.4, "c": 0.6, "d": 0.8}[arm])
                )
        twin = belman.Agent.from_json(agent.to_json())
        for _ in range(20):
            arm = agent.ask()
            assert twin.ask() == arm
            agent.tell(arm, 1.0)
            twin.tell(arm, 1.0)


def test_a_batch_does_not_commit_before_rewards_are_told() -> None:
    agent = belman.Agent(["a", "b"], policy=ExploreThenCommit(2), seed=1)
    assert sorted(agent.ask(8)) == ["a"] * 4 + ["b"] * 4


@pytest.mark.parametrize("name", ["belman", "imed", "dmed", "thompson"])
def test_a_leader_that_is_closed_hides_no_other(name):
    """Every second turn the best arm is closed: then the second best is played nearly always, with
    ten seeds in at least 90 %.
    """
    means, good, asked = {"best": 0.9, "second": 0.5, "worst": 0.1}, 0, 0
    for seed in range(10):
        agent, luck = (
            belman.Agent(list(means), policy=POLICIES[name](), seed=seed),
            np.random.default_rng(seed),
        )
        for turn in range(300):
            arm = agent.ask(among=["second", "worst"] if turn % 2 else None)
            agent.tell(arm, int(luck.random() < means[arm]))
            if turn > 150 and turn % 2:
                good += arm == "second"
                asked += 1
    assert good > 0.9 * asked
