"""What was learnt of one arm: kept while it is not played, and when its past is corrected.

A belief that is a sum, as a conjugate one is in natural parameters, η = η₀ + Σ T(x), has T(x) taken
out and T(x′) put in, however many rewards it has learnt. Where rounding could then be seen (a slip
of the pen of 10¹² leaves nothing of what it was added to), and where beliefs are no sums, only the
rewards themselves can tell, and there is no answer here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Annotated, NamedTuple

import numpy as np

from belman.codec import Whole
from belman.errors import BelmanError, RewardError
from belman.families import Family
from belman.families.family import LARGEST
from belman.families.tally import learnt as learnt_by

#: Asks of an arm whose reward is not told yet.
MOST_PENDING = 1_000_000_000
Tells = Annotated[int, Whole(0, int(LARGEST))]
Pending = Annotated[int, Whole(0, MOST_PENDING)]


class Learnt(NamedTuple):
    """All that was learnt of one arm; rewards are on the scale of the family.

    Attributes
    ----------
    prior
        The coordinates of the belief at first.
    belief
        The coordinates of the belief now.
    plays
        How many rewards count; under a discount each old one counts for less than one.
    sum
        The sum of these rewards, faded in the same way.
    squares
        The sum of their squares, faded in the same way.
    tells
        How many rewards were told; these do not fade.
    pending
        How many asks wait for a reward.
    """

    prior: tuple[float, ...]
    belief: tuple[float, ...]
    plays: float
    sum: float
    squares: float
    tells: Tells
    pending: Pending

    @classmethod
    def nothing(cls, prior: tuple[float, ...]) -> Learnt:
        """Make what is known of an arm that was never tried.

        Parameters
        ----------
        prior
            The coordinates of its prior.

        Returns
        -------
        Learnt
            The prior, and no rewards.
        """
        return cls(prior, prior, 0.0, 0.0, 0.0, 0, 0)

    def told(self, family: Family, reward: float) -> Learnt:
        """Learn one more reward, by Bayes' theorem. It answers one of the asks that wait, if there
        are any.

        Parameters
        ----------
        family
            The family of the rewards.
        reward
            The reward, on the scale of the family.

        Returns
        -------
        Learnt
            What is learnt then.

        >>> from belman.families import Bernoulli
        >>> Learnt.nothing((1.0, 1.0)).told(Bernoulli(), 1.0).belief
        (2.0, 1.0)
        """
        return Learnt(
            self.prior,
            tuple(map(float, family.update(self.belief, reward))),
            self.plays + 1.0,
            self.sum + reward,
            self.squares + reward * reward,
            self.tells + 1,
            max(self.pending - 1, 0),
        )

    def faded(self, family: Family, discount: float) -> Learnt:
        """Fade towards the prior, as at every reward under a discount.

        Parameters
        ----------
        family
            The family of the rewards.
        discount
            The share of the past that stays, at most 1, which changes nothing.

        Returns
        -------
        Learnt
            What is learnt then.

        >>> from belman.families import Bernoulli
        >>> Learnt.nothing((1.0, 1.0)).told(Bernoulli(), 1.0).faded(Bernoulli(), 0.5).belief
        (1.5, 1.0)
        """
        if discount == 1.0:
            return self
        return self._replace(
            belief=tuple(map(float, family.blend(self.belief, self.prior, discount))),
            plays=self.plays * discount,
            sum=self.sum * discount,
            squares=self.squares * discount,
        )


class Sums(NamedTuple):
    """Many rewards of one arm, on the scale of the family.

    Attributes
    ----------
    n
        How many there are.
    total
        Their sum.
    squares
        The sum of their squares.
    values
        The rewards themselves; None where they are not known.
    """

    n: int
    total: float
    squares: float
    values: Sequence[float] | None = None


class Anew(NamedTuple):
    """What the rewards of an arm lead to, learnt once more from the first, with a correction.

    Attributes
    ----------
    whole
        What is learnt of the arm over all contexts.
    own
        What is learnt of it in the segment of the choice that is corrected.
    since
        How many rewards of any arm came after the one that is corrected.
    """

    whole: Learnt
    own: Learnt
    since: int


def after_many(family: Family, before: Learnt, sums: Sums, arm: Hashable) -> Learnt:
    """Return what is learnt of an arm once many rewards have counted; RewardError where they cannot
    be learnt, or no rewards have these sums.

    >>> from belman.families import Bernoulli
    >>> after_many(Bernoulli(), Learnt.nothing((1.0, 1.0)), Sums(10, 3.0, 3.0), "a").belief
    (4.0, 8.0)
    """
    try:
        if sums.values is None or family.summed:
            belief = family.update_many(before.belief, sums.n, sums.total, sums.squares)
        else:
            belief = learnt_by(family, before.belief, sums.values)
            if (why := family.beyond_reach(belief)) is not None:
                raise RewardError(why)
    except RewardError as error:
        raise RewardError(f"the outcomes of arm {arm!r} cannot be learnt: {error}") from None
    return before._replace(
        belief=tuple(map(float, belief)),
        plays=before.plays + sums.n,
        sum=before.sum + sums.total,
        squares=before.squares + sums.squares,
        tells=before.tells + sums.n,
    )


_EPSILON = float(np.finfo(np.float64).eps)
#: The KL divergence that rounding may cause: a ten-millionth of a belief's standard deviation.
_UNSEEN = 1e-14
#: The same for sums of squares, which no belief bounds: relative.
_UNSEEN_SQUARES = 1e-9


def swapped(family: Family, learnt: Learnt, old: float | None, new: float | None) -> Learnt | None:
    """One reward for another, on the scale of the family; None where rounding could be seen.

    >>> from belman.families import Bernoulli
    >>> one = Learnt.nothing((1.0, 1.0)).told(Bernoulli(), 1.0).told(Bernoulli(), 1.0)
    >>> swapped(Bernoulli(), one, 1.0, 0.0).belief
    (2.0, 2.0)
    """
    tells = learnt.tells - (old is not None) + (new is not None)
    if tells == 0:
        return Learnt.nothing(learnt.prior)._replace(pending=learnt.pending)
    out, into = old or 0.0, new or 0.0
    squares = learnt.squares - out * out + into * into
    unit = 0.0 if family.reward_range is None else 1.0
    noise = _EPSILON * max(learnt.squares, out * out)
    if noise > _UNSEEN_SQUARES * max(squares, unit):
        return None
    plays = learnt.plays - (old is not None) + (new is not None)
    after = learnt._replace(
        plays=plays, sum=learnt.sum - out + into, squares=max(squares, 0.0), tells=tells
    )
    belief = _swapped_belief(family, learnt, old, new) if family.adds_up else None
    return None if belief is None else after._replace(belief=belief)


def _swapped_belief(
    family: Family, learnt: Learnt, old: float | None, new: float | None
) -> tuple[float, ...] | None:
    start, eta = family.additive(learnt.prior), family.additive(learnt.belief)
    try:
        taken, put = (
            0.0 * start if x is None else family.additive(family.update(learnt.prior, x)) - start
            for x in (old, new)
        )
    except RewardError:  # within the reach of this belief, and not of the prior
        return None
    after = eta - taken + put
    noise = 2.0 * _EPSILON * np.max(np.abs([start, eta, taken, put]), axis=0)
    try:
        beliefs = [
            family.check_belief(family.from_additive(eta))
            for eta in (after, after + noise, after - noise)
        ]
        seen = max(family.divergence(beliefs[0], beliefs[i]) for i in (1, 2))
    except (BelmanError, ArithmeticError):
        return None
    return beliefs[0] if seen <= _UNSEEN else None
