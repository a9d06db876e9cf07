"""Is the data sound? Three questions that may be asked at any time, each with a plain answer.

Each is a martingale under the hypothesis that all is well, so the chance that a whole study ever
gives a false alarm is at most the risk, however often one looks. Nothing is stopped by an alarm: it
says what to look at.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from belman.errors import SettingError
from belman.families.bernoulli import Bernoulli
from belman.families.bounded import Bounded
from belman.families.family import Family
from belman.families.tally import learnt
from belman.measures.lift import OWN, Units
from belman.measures.martingales import mixture
from belman.measures.sequences import log_separation

Floats = NDArray[np.float64]

#: The chance of a false alarm of each question, per study.
RISK = 0.01
#: How many tickets the logged chances are worth as an alternative to themselves: deviations of one
#: or two in a hundred tickets are looked for.
_WORTH = 1_000.0
_SQUARES = math.pi**2 / 6.0


@dataclass(frozen=True)
class Finding:
    """What one test of the data found.

    Parameters
    ----------
    question
        What was tested.
    alarm
        Whether it is an alarm.
    odds
        The odds against chance.
    sentence
        The finding in words.
    look_at
        What to check first.
    """

    question: str
    alarm: bool
    odds: float
    sentence: str
    look_at: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data.

        Returns
        -------
        dict
            Its parts by name.
        """
        odds = self.odds if math.isfinite(self.odds) else str(self.odds)
        result = {"question": self.question, "alarm": self.alarm, "odds": odds}
        return {**result, "sentence": self.sentence, "look_at": self.look_at}


def _odds(log_odds: float) -> float:
    return math.exp(min(log_odds, 700.0)) if log_odds < math.inf else math.inf


class SampleRatio:
    """A test of whether arms get their intended shares of traffic.

    It is a Bayes factor of Dirichlet-perturbed chances against the logged ones, which may change
    from turn to turn. For chances that never change it is the sequential multinomial test, whatever
    the batches.

    Parameters
    ----------
    arms
        Names of the arms.
    worth
        How many decisions the Dirichlet distribution is worth.

    >>> test = SampleRatio(["blue", "green"])
    >>> test.add([5_020, 4_980], [0.5, 0.5])
    >>> test.finding().alarm
    False
    >>> test.add([30_600, 28_000], [0.5, 0.5])
    >>> print(test.finding().sentence)
    Traffic shares are not as intended: green got 48.1 %, and 50.0 % was intended.
    """

    def __init__(self, arms: Sequence[Hashable], worth: float = _WORTH) -> None:
        self.arms = tuple(arms)
        self.counts, self.expected = np.zeros(len(self.arms)), np.zeros(len(self.arms))
        self.log_odds = 0.0
        self._worth = float(worth)

    def add(self, counts: ArrayLike, chances: ArrayLike) -> None:
        """Count decisions that were made under some chances.

        Parameters
        ----------
        counts
            The number of decisions for each arm.
        chances
            The chances that held for them.

        Raises
        ------
        SettingError
            If there is not one count and one chance for each arm, a count is negative, or the
            chances do not sum to 1.
        """
        new, given = np.asarray(counts, np.float64), np.asarray(chances, np.float64)
        if new.shape != (len(self.arms),) or given.shape != new.shape or not (new >= 0.0).all():
            words = f"{len(self.arms)} counts and {len(self.arms)} chances, one an arm"
            raise SettingError(f"counts={counts!r} with chances={chances!r} are not {words}")
        if not (given >= 0.0).all() or not math.isclose(given.sum(), 1.0, rel_tol=1e-6):
            raise SettingError(f"chances={chances!r} are not valid: they must sum to 1")
        if (new[given == 0.0] > 0.0).any():
            self.log_odds = math.inf
        open_arms = given > 0.0
        p, n = given[open_arms], new[open_arms]
        seen, meant = self.counts[open_arms], self.expected[open_arms]
        share = p * (seen + self._worth * p) / (meant + self._worth * p)
        total = float(self.counts.sum()) + self._worth
        weights = share / share.sum() * total
        from scipy.special import gammaln

        gain = gammaln(weights + n) - gammaln(weights) - n * np.log(p)
        self.log_odds += float(gain.sum() + gammaln(total) - gammaln(total + n.sum()))
        self.counts, self.expected = self.counts + new, self.expected + new.sum() * given

    def finding(self, risk: float = RISK) -> Finding:
        """Return what the test has found so far.

        Parameters
        ----------
        risk
            The probability of ever giving a false alarm.

        Returns
        -------
        Finding
            The finding.
        """
        alarm, question = self.log_odds >= -math.log(risk), "sample ratio"
        if not alarm:
            sentence = "Traffic shares are as intended."
            return Finding(question, alarm, _odds(self.log_odds), sentence)
        with np.errstate(invalid="ignore", divide="ignore"):
            lack = (self.counts - self.expected) / np.sqrt(np.maximum(self.expected, 1e-300))
        position, total = int(np.argmin(lack)), float(self.counts.sum())
        got, meant = self.counts[position] / total, self.expected[position] / total
        return Finding(
            question,
            alarm,
            _odds(self.log_odds),
            f"Traffic shares are not as intended: {self.arms[position]} got {got:.1%}, and "
            f"{meant:.1%} was intended.".replace("%", " %"),
            "Look for tickets that are lost or given twice for one arm: redirects, caches, crashes,"
            " bots, or assignments that happen before the ticket is logged.",
        )


def told_shares(asked: Mapping[Any, int], told: Mapping[Any, int], risk: float = RISK) -> Finding:
    """Test whether the arms differ in the share of tickets whose reward was told.

    Parameters
    ----------
    asked
        The number of tickets of each arm that are old enough to have been told.
    told
        How many of these were told.
    risk
        The chance of ever raising a false alarm.

    Returns
    -------
    Finding
        Whether there is an alarm, the odds against luck, and a sentence.

    Raises
    ------
    SettingError
        If more tickets of an arm were told than asked.

    >>> asked = {"blue": 10_000, "green": 10_000}
    >>> print(told_shares(asked, {"blue": 9_990, "green": 9_795}).sentence)
    Rewards are missing unevenly: 98.0 % of green were told, and 99.9 % of blue.
    """
    for arm, count in asked.items():
        if not 0 <= told.get(arm, 0) <= count:
            words = f"{told.get(arm, 0)} of {count} tickets of arm {arm!r} cannot have been told"
            raise SettingError(f"{words}: give counts from 0 to the tickets asked")
    shares = {arm: told.get(arm, 0) / count for arm, count in asked.items() if count}
    prior, family = (0.5, 0.5), Bernoulli(prior=(0.5, 0.5))
    result = []
    for arm, share in shares.items():
        missing = asked[arm] - told.get(arm, 0)
        belief = (prior[0] + told.get(arm, 0), prior[1] + missing)
        result.append(mixture(family, prior, belief, asked[arm], share))
    log_odds = log_separation(result) if len(result) > 1 else 0.0
    alarm, question = log_odds >= -math.log(risk), "told shares"
    if not alarm:
        sentence = "Rewards come in as often for one arm as for another."
        return Finding(question, alarm, _odds(log_odds), sentence)
    least, most = min(shares, key=lambda arm: shares[arm]), max(shares, key=lambda arm: shares[arm])
    words = f"{shares[least]:.1%} of {least} were told, and {shares[most]:.1%} of {most}."
    return Finding(
        question,
        alarm,
        _odds(log_odds),
        f"Rewards are missing unevenly: {words}".replace("%", " %"),
        "Look for tracking that fails for one arm, or rewards that come later for it: the averages "
        "of such an arm mislead.",
    )


#: The question of `late_rewards`, and the share of decisions without an outcome that raises it.
LATE = "late rewards"
_LATE_SHARE = 0.05
_FEW = 20


def late_rewards(asked: int, told: int, waiting: int, only_successes: bool) -> Finding | None:
    """Say that outcomes count in the order in which they are told, where many are not told yet
    that it matters; an alarm where failures are not told at all.

    >>> print(late_rewards(1_000, 700, 300, False).sentence)
    300 of 1,000 tickets are not told yet: a verdict holds if rewards come as late for one arm as
    for another.
    >>> late_rewards(1_000, 990, 10, False)
    """
    if waiting < _LATE_SHARE * asked or told < _FEW:
        return None
    give = "Give the study a `window`: every ticket counts when it closes, whatever the delays are"
    if only_successes and waiting >= told:  # rates near 1 are told so too, but most of them are
        what = f"Only successes were told, {told:,} of them, and {waiting:,} tickets are open"
        sentence = f"{what}: failures that nobody tells do not count."
        return Finding(
            LATE, True, 1.0, sentence, f"{give}, and silence as 0. Or tell failures too."
        )
    sentence = (
        f"{waiting:,} of {asked:,} tickets are not told yet: a verdict holds if rewards come as "
        "late for one arm as for another."
    )
    return Finding(LATE, False, 1.0, sentence, f"{give}.")


class Drift:
    """A test of whether an arm changed while it was played.

    Its rewards before and after the 1st, 2nd, 4th, 8th, … are compared with one mean for both; so
    the last of these compares the first half with the second. Odds are averaged over these cuts.

    Parameters
    ----------
    arm
        The name of the arm, for the sentence.
    family
        The family of its rewards.
    prior
        The belief before the first reward; by default the family's prior.
    units
        How rewards look to the user, for the averages in the sentence.

    >>> from belman.families import Bernoulli
    >>> drift = Drift("green", Bernoulli())
    >>> drift.add([float(i % 10 == 0 if i < 1_000 else i % 5 == 0) for i in range(2_000)])
    >>> print(drift.finding().sentence)
    green changed while it was played: 0.1025 on average before its reward 1024, 0.1998 after it.
    """

    def __init__(
        self, arm: Hashable, family: Family, prior: ArrayLike | None = None, units: Units = OWN
    ) -> None:
        self.arm, self._family, self._units = arm, family, units
        self._prior = np.array(family.prior if prior is None else prior, dtype=np.float64)
        self._belief = self._prior.copy()
        self._plays, self._sum = 0, 0.0
        self._cuts: list[tuple[float, float, Floats]] = []

    def add(self, rewards: Sequence[float] | Floats) -> None:
        """Take in the next rewards of the arm.

        Parameters
        ----------
        rewards
            The rewards in their order, on the scale of the family.
        """
        values = np.asarray(rewards, dtype=np.float64)
        while values.size:
            until = 1 << self._plays.bit_length()  # the next cut
            now, values = values[: until - self._plays], values[until - self._plays :]
            self._belief = learnt(self._family, self._belief, now)
            self._plays += now.size
            self._sum += float(now.sum())
            if self._plays == until:
                self._cuts.append((self._plays, self._sum, self._belief))

    def resume(
        self,
        plays: int,
        total: float,
        belief: ArrayLike,
        cuts: Sequence[tuple[float, float, ArrayLike]],
    ) -> Drift:
        """Go on from sums and beliefs that were kept elsewhere; what this test has seen is
        left out.

        Parameters
        ----------
        plays
            How many rewards there were so far.
        total
            Their sum.
        belief
            The belief after them.
        cuts
            The same three for each cut that has been reached: after 1, 2, 4, 8, … rewards.

        Returns
        -------
        Drift
            This test.
        """
        self._plays, self._sum = plays, total
        self._belief = np.array(belief, dtype=np.float64)
        self._cuts = [(n, of, np.array(then, dtype=np.float64)) for n, of, then in cuts]
        return self

    def _log_odds(self) -> tuple[float, int]:
        """ln of the average odds over all cuts, and the cut with the largest."""
        family, prior = self._family, self._prior
        start, now = family.natural(prior), family.natural(self._belief)
        logs: list[float] = []
        bare = getattr(family, "of", family)
        if isinstance(bare, (Bernoulli, Bounded)) and self._cuts:
            logs = self._log_odds_of_coins(bare)
        for i, (plays, total, belief) in enumerate(self._cuts if not logs else ()):
            rest = self._plays - plays
            log_odds = 0.0
            if rest:
                after = family.from_natural(start + now - family.natural(belief))
                first = mixture(family, prior, belief, plays, total / plays)
                second = mixture(family, prior, after, rest, (self._sum - total) / rest)
                log_odds = log_separation([first, second])
            logs.append(log_odds - math.log(_SQUARES * (i + 1) ** 2))
        if not logs:
            return 0.0, 0
        top = max(logs)
        whole = sum(math.exp(log - top) for log in logs) if top > -math.inf else 0.0
        return (top + math.log(whole) if whole else -math.inf), int(np.argmax(logs))

    def _log_odds_of_coins(self, family: Family) -> list[float]:
        """The same at every cut in closed form: the mean that suits both parts best is theirs
        together. Rewards in a range are taken for coins.
        """
        from scipy.special import betaln, xlogy

        beliefs = [self._prior, self._belief, *(belief for _, _, belief in self._cuts)]
        if isinstance(family, Bounded):
            beliefs = [family.as_coin(belief) for belief in beliefs]
        first, last, before = beliefs[0], beliefs[1], np.array(beliefs[2:])
        after, counts = first + last - before, last - first
        result = betaln(*before.T) + betaln(*after.T) - 2.0 * betaln(*first)
        result -= xlogy(counts, counts / max(counts.sum(), 1e-300)).sum()
        rest = np.array([self._plays > plays for plays, _, _ in self._cuts])
        each = np.where(rest, result, 0.0) - np.log(_SQUARES * np.arange(1, len(before) + 1) ** 2)
        logs: list[float] = each.tolist()
        return logs

    def finding(self, risk: float = RISK) -> Finding:
        """Whether the odds against one mean for all of its rewards have reached 1/risk.

        Parameters
        ----------
        risk
            The probability of ever giving a false alarm.

        Returns
        -------
        Finding
            Whether there is an alarm, the odds for a change, and a sentence.
        """
        log_odds, position = self._log_odds()
        question = f"drift of {self.arm}"
        if log_odds < -math.log(risk):
            sentence = f"{self.arm} shows no change over time."
            return Finding(question, False, _odds(log_odds), sentence)
        plays, total, _ = self._cuts[position]
        averages = total / plays, (self._sum - total) / (self._plays - plays)
        before, after = map(self._units.shown, averages)
        return Finding(
            question,
            True,
            _odds(log_odds),
            f"{self.arm} changed while it was played: {before:.4g} on average before its reward "
            f"{plays:.0f}, {after:.4g} after it.",
            "Look for a release, a season or a change of audience at that time; `drift` lets "
            "beliefs follow, and intervals of the whole time describe neither half.",
        )
