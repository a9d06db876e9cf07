"""Studies that are played in stages, many at once: for plans, where playing reward by reward would
take minutes.

A stage is a twentieth of what came before. Within it the chances of the arms stay the same, as in a
study, so that its outcomes are a draw of counts. The rule looks at the end of every stage.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from belman.engine import call_address, entry, kernel
from belman.families import Bernoulli, Gaussian
from belman.families.family import Family
from belman.lab.bandit_runner import in_one_block
from belman.lab.policy_call import NO_TURN, bind_policy, call_choose, call_deal, reset
from belman.measures.bet_intervals import EARLY
from belman.measures.bets import STAKES
from belman.measures.stop_rules import Separated, Sure
from belman.policies import BelMan
from belman.policies.dealing import Deal
from belman.policies.ledger import Ledger
from belman.policies.memory import Floats

_LASTING, _AHEAD = 20, 4
_FEWEST = 100.0  # outcomes of a pair before sums are taken for Normal
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)


class Watched(NamedTuple):
    """Of each run: turns until it was decided (or the horizon), the arm (−1 for none), whether that
    was right (no other has a larger mean), and what was lost to the best arm until then.
    """

    turns: NDArray[np.int64]
    arm: NDArray[np.int64]
    right: NDArray[np.bool_]
    lost: Floats

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Which runs were decided."""
        return self.arm >= 0


class World(NamedTuple):
    """What is played: the means of the arms, control first, and the standard deviation of a reward
    (None: rewards are 0 or 1).
    """

    means: Floats
    deviation: float | None = None

    def drawn(self, rng: np.random.Generator, counts: NDArray[np.int64]) -> Floats:
        """Draw sums of the rewards of every arm, `counts` of each."""
        if self.deviation is None:
            return rng.binomial(counts, self.means).astype(np.float64)
        return rng.normal(counts * self.means, self.deviation * np.sqrt(counts))


@kernel
def deal_runs(
    prior, ledger, block, blank, policy_call, deal_call, dealt, beliefs, plays, sums, squares,
    ahead, turn, turn_value, shares,
):  # fmt: skip
    """Fill the shares in which a policy would deal the next decisions in every run."""
    for r in range(shares.shape[0]):
        reset(policy_call, prior, ledger, block, blank)
        for a in range(dealt.size):
            for i in range(prior.size):
                ledger.beliefs[a, i] = beliefs[r, a, i]
            ledger.plays[a], ledger.sums[a] = plays[r, a], sums[r, a]
            ledger.squares[a] = squares[r, a]
            call_address(policy_call, a, NO_TURN, 0.0)
        call_address(deal_call, ahead, turn, turn_value)
        for a in range(dealt.size):
            shares[r, a] = dealt[a]


class _Dealer:
    """The policy of many runs, which share one memory."""

    def __init__(self, world: World, prior: tuple[float, float], runs: int) -> None:
        self.world, self.policy = world, BelMan()
        arms = world.means.size
        family: Family = Bernoulli(prior=prior)
        if world.deviation is not None:
            family = Gaussian(sigma=world.deviation, prior=(prior[0], prior[1]))
        self.family = family
        ledger = Ledger.blank(np.zeros((arms, family.dimension)))
        block, (ledger, memory) = in_one_block((ledger, self.policy.memory(arms, family.dimension)))
        bound: Any = (self.policy, family, self.policy.params(family), ledger, memory)
        bound += (np.ones(4, dtype=np.uint64), np.zeros(arms))
        deal = Deal.blank(arms, family.dimension)
        self._calls = (
            bind_policy(call_choose, *bound),
            bind_policy(call_deal, *bound, kept=block.copy(), block=block, deal=deal),
        )
        self._held = {
            "prior": np.array(family.prior),
            "ledger": ledger,
            "block": block,
            "blank": block.copy(),
            "policy_call": self._calls[0].address,
            "deal_call": self._calls[1].address,
            "dealt": deal.dealt,
        }
        self.shares = np.ones((runs, arms)) / arms

    def beliefs(self, plays: Floats, sums: Floats) -> Floats:
        """Return what is believed of every arm in every run."""
        first, second = self.family.prior
        if self.world.deviation is None:
            return np.stack([first + sums, second + plays - sums], axis=-1)
        weight = plays / self.world.deviation**2
        worth = second + weight
        middle = (second * first + sums / self.world.deviation**2) / worth
        return np.stack([middle, worth], axis=-1)

    def deal(self, plays: Floats, sums: Floats, turn: int) -> Floats:
        """Return the shares of the next decisions in every run."""
        squares = sums
        if self.world.deviation is not None:
            squares = plays * (self.world.deviation**2) + sums**2 / np.maximum(plays, 1.0)
        value = float(self.policy.turn_values(np.array([float(turn)]), plays.shape[1])[0])
        entry(deal_runs)(
            **self._held,
            beliefs=self.beliefs(plays, sums),
            plays=plays,
            sums=sums,
            squares=squares,
            ahead=max(1, turn // _AHEAD),
            turn=turn,
            turn_value=value,
            shares=self.shares,
        )
        dealt = np.maximum(self.shares, 0.0)  # less than nothing by a rounding error
        return dealt / dealt.sum(axis=1, keepdims=True)


def capped(shares: Floats, most: float) -> Floats:
    """Return shares of which the leader has at most `most` beside control, in every run; the same
    as `Shares.capped`.
    """
    runs, arms = shares.shape
    if most * arms <= 1.0:
        return np.full_like(shares, 1.0 / arms)
    if most >= 1.0:
        return shares
    result, rows = shares.copy(), np.arange(runs)
    leader = shares.argmax(axis=1)
    top = shares[rows, leader]
    result[:, 0] = np.where(
        leader != 0, np.maximum(shares[:, 0], top * (1.0 - most) / most), shares[:, 0]
    )
    more = np.where(leader == 0, np.maximum(top - most, 0.0), 0.0) / (arms - 1)
    result[:, 1:] += more[:, None]
    result[:, 0] -= more * (arms - 1)
    return result / result.sum(axis=1, keepdims=True)


class _Bets:
    """Bets of every run on every arm against control, as `ArmBets` makes them."""

    def __init__(self, world: World, runs: int) -> None:
        self.world, pairs = world, world.means.size - 1
        steps = np.linspace(0.0, 1.0, 161)[1:]
        self.stakes = 0.1 * np.sinh(math.asinh(10.0 * STAKES.points[-1]) * steps)
        mass = np.gradient(self.stakes) * np.exp(STAKES.log_prior(self.stakes))
        self.log_mass = np.log(mass / mass.sum())
        self.logs = np.zeros((2, runs, pairs, self.stakes.size))
        self.total, self.squares = np.zeros((runs, pairs)), np.zeros((runs, pairs))
        self.outcomes = np.zeros((runs, pairs))
        self.mean, self.due = np.zeros((runs, 1)), 8

    def add(self, shares: Floats, counts: Floats, sums: Floats) -> None:
        """Count a stage."""
        for a in range(1, shares.shape[1]):
            share = (shares[:, a] / np.maximum(shares[:, a] + shares[:, 0], 1e-300))[:, None]
            n, gains = counts[:, [a, 0]], sums[:, [a, 0]]
            sides = np.concatenate([1.0 - share, -share], axis=1)
            told = (share > 0.0) & (share < 1.0)
            gap = np.where(told, gains - n * self.mean, 0.0)
            self.total[:, a - 1] += (sides * gap).sum(axis=1)
            variance = self.mean * (1.0 - self.mean)
            if self.world.deviation is not None:
                variance = np.full_like(self.mean, self.world.deviation**2)
            self.squares[:, a - 1] += (np.where(told, sides**2 * n, 0.0) * variance).sum(axis=1)
            self.outcomes[:, a - 1] += np.where(told, n, 0.0).sum(axis=1)
            if self.world.deviation is None:
                self._bet(a - 1, np.where(told, sides, 0.0), n, gains)

    def _bet(self, pair: int, sides: Floats, n: Floats, wins: Floats) -> None:
        """Let every stake win or lose by successes and failures, on more and on less."""
        g = 1.0 / np.maximum(self.mean, 1.0 - self.mean)
        for i in range(2):
            for score, times in ((1.0 - self.mean, wins), (-self.mean, n - wins)):
                odds = (g * sides[:, [i]] * score) * self.stakes
                self.logs[0, :, pair] += times[:, [i]] * np.log1p(odds)
                self.logs[1, :, pair] += times[:, [i]] * np.log1p(-odds)

    def guess(self, turn: int, plays: Floats, sums: Floats) -> None:
        """Guess the mean anew where there are half as many outcomes again."""
        if turn >= self.due:
            self.mean = sums.sum(axis=1, keepdims=True) / turn
            self.due = math.ceil(1.5 * turn)

    def log_better(self, side: int) -> Floats:
        """ln of half the capital of those who bet that an arm is better (0) or worse (1)."""
        if self.world.deviation is None:
            logs = self.logs[side] + self.log_mass
            top = logs.max(axis=-1)
            return top + np.log(np.exp(logs - top[..., None]).sum(axis=-1)) - math.log(2.0)
        begun = self.squares / np.maximum(self.outcomes, 1.0) * EARLY / 8.0 + 1e-300
        whole = self.squares + begun
        odds = 0.5 * self.total**2 / whole - 0.5 * np.log(whole / begun)
        known = (self.outcomes >= _FEWEST) & ((self.total > 0.0) == (side == 0))
        return np.where(known, odds, 0.0)

    def apart(self, plays: Floats, sums: Floats, delta: float) -> NDArray[np.int64]:
        """Return the arm that the rule decides for in every run, or −1."""
        bar = math.log(self.logs.shape[2] / delta)
        averages = sums / np.maximum(plays, 1e-300)
        leader = averages.argmax(axis=1)
        better, worse = self.log_better(0) >= bar, self.log_better(1) >= bar
        rows = np.arange(len(leader))
        wins = (leader > 0) & better[rows, np.maximum(leader - 1, 0)]
        keeps = (leader == 0) & worse.all(axis=1)
        return np.where(wins | keeps, leader, -1)


def chance_best(dealer: _Dealer, plays: Floats, sums: Floats) -> Floats:
    """Return the chance of every arm to be the best, by what is believed in every run."""
    from scipy.special import betainc, betaincinv, ndtr, ndtri

    first, second = np.moveaxis(dealer.beliefs(plays, sums), -1, 0)[..., None]
    levels, result = 0.5 * (_NODES + 1.0), np.zeros(plays.shape)
    for a in range(plays.shape[1]):
        if dealer.world.deviation is None:
            sizes = betaincinv(first[:, a], second[:, a], levels)[:, None]
            below = betainc(first, second, sizes)
        else:
            sizes = (first[:, a] + ndtri(levels) / np.sqrt(second[:, a]))[:, None]
            below = ndtr((sizes - first) * np.sqrt(second))
        below[:, a] = 1.0
        result[:, a] = below.prod(axis=1) @ (0.5 * _WEIGHTS)
    return result


def play_stages(
    world: World,
    rule: Separated | Sure,
    most: float,
    horizon: int,
    runs: int,
    seed: int = 0,
    prior: tuple[float, float] = (1.0, 1.0),
    progress: Callable[[float], None] = lambda _: None,
) -> Watched:
    """Play studies, where the leader gets at most `most` beside control, until the rule decides.

    `prior` is that of the policy and of `Sure`: a Beta of rates, a Normal of means (m, precision).

    >>> result = play_stages(World(np.array([0.2, 0.4])), Separated(0.05), 0.0, 5_000, 40)
    >>> bool(result.decided.all()), bool(result.right.all())
    (True, True)
    """
    rng, arms = np.random.default_rng(seed), world.means.size
    plays, sums = np.zeros((runs, arms)), np.zeros((runs, arms))
    dealer, bets = _Dealer(world, prior, runs), _Bets(world, runs)
    result = Watched(
        np.full(runs, horizon), np.full(runs, -1), np.zeros(runs, np.bool_), np.zeros(runs)
    )
    lost, turn = world.means.max() - world.means, 0
    while turn < horizon and not result.decided.all():
        stage = min(1 + turn // _LASTING, horizon - turn)
        shares = np.full((runs, arms), 1.0 / arms)
        if most * arms > 1.0:
            shares = capped(dealer.deal(plays, sums, turn + 1), most)
        counts = rng.multinomial(stage, shares)
        gains = world.drawn(rng, counts)
        bets.add(shares, counts.astype(np.float64), gains)
        plays, sums, turn = plays + counts, sums + gains, turn + stage
        bets.guess(turn, plays, sums)
        going = ~result.decided
        result.lost[going] += (counts @ lost)[going]
        arm = np.full(runs, -1)
        if isinstance(rule, Separated):
            arm = bets.apart(plays, sums, rule.delta)
        else:
            chances = chance_best(dealer, plays[going], sums[going])
            sure = chances.max(axis=1) >= rule.level
            arm[going] = np.where(sure, chances.argmax(axis=1), -1)
        new = going & (arm >= 0)
        result.arm[new], result.turns[new] = arm[new], turn
        progress(math.log1p(turn) / math.log1p(horizon))
    chosen = np.maximum(result.arm, 0)
    beats = world.means[chosen] > world.means[0]
    keeps = (world.means[1:] < world.means[0]).all()
    result.right[:] = result.decided & np.where(result.arm > 0, beats, keeps)
    progress(1.0)
    return result
