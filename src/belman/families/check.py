"""Which family fits rewards that one has: how well each predicts them, and whether its intervals
hold.

The log score is that of one-step-ahead prediction: every reward from those before it, the chance of
a cell as wide as the data's own resolution, so that distributions of counts, of amounts and of both
compare. Coverage is how often the 95 % interval after n rewards, drawn from the data with
replacement, holds the mean of the data. The second decides: a distribution that predicts well and
is sure of a wrong mean misleads. Rewards of 0 and 1 leave nothing to decide: whatever made them,
each is a coin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from belman import frames
from belman.engine import kernel
from belman.errors import RewardError, SettingError
from belman.families.bernoulli import Bernoulli
from belman.families.bounded import Bounded
from belman.families.family import Family, Floats
from belman.families.gamma_known_shape import Exponential
from belman.families.gaussian_unknown import GaussianUnknown
from belman.families.geometric import Geometric
from belman.families.log_normal import LogNormal
from belman.families.money import Money
from belman.families.poisson import Poisson
from belman.families.positive import Positive
from belman.families.tally import beliefs_after, has_distribution, log_score
from belman.table import Table

SIZES = (100, 1_000, 10_000)
RESAMPLES = 400
_MOST = 100_000  # rewards that are scored; more are drawn from
_ERROR = 0.025  # of a coverage in so many resamples, a little over two deviations
_LEVEL, _TAIL = 0.95, 0.025
_SEED = 20


class Fit(NamedTuple):
    """How a family fits: nats per reward, coverage at each size, or why it cannot hold the data."""

    family: str
    use: str
    log_score: float
    coverage: tuple[float, ...]
    why_not: str = ""

    @property
    def worst(self) -> float:
        """The largest distance of a coverage from 95 %."""
        return max((abs(share - _LEVEL) for share in self.coverage), default=math.inf)


class FamilyCheck(NamedTuple):
    """Every family's fit, best first, the sizes of the resamples, and advice in a sentence.

    Attributes
    ----------
    fits
        The fit of every family, best first.
    sizes
        How many rewards the resamples have.
    rewards
        How many rewards were given.
    recommendation
        Advice, in a sentence.
    """

    fits: tuple[Fit, ...]
    sizes: tuple[int, ...]
    rewards: int
    recommendation: str

    @property
    def table(self) -> Table:
        """The fits as a person reads them."""
        columns: dict[str, list[Any]] = {
            "family": [fit.family for fit in self.fits],
            "log score": [fit.log_score for fit in self.fits],
        }
        for position, size in enumerate(self.sizes):
            columns[f"coverage at {size:,}"] = [
                f"{fit.coverage[position]:.1%}" if fit.coverage else "–" for fit in self.fits
            ]
        columns["note"] = [fit.why_not or fit.use for fit in self.fits]
        return Table(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON.

        Returns
        -------
        dict
            The fields by name; what is not known is None.
        """
        fits = [
            {**fit._asdict(), "log_score": None if math.isnan(fit.log_score) else fit.log_score}
            for fit in self.fits
        ]
        return {**self._asdict(), "fits": fits}

    def __str__(self) -> str:
        return f"{self.table}\n\n{self.recommendation}"


def check(
    rewards: ArrayLike | frames.Given, arms: Sequence[Any] | str | None = None, *, column: str = ""
) -> FamilyCheck:
    """Compare how well each family fits these rewards, of one arm or of several.

    Parameters
    ----------
    rewards
        At least 20 rewards, or a table (a file, a data frame, columns by name) that has them.
    arms
        The arm of every reward, by default one for all; of a table, the name of the column that
        has it.
    column
        The column of the rewards in a table, by default "reward".

    Returns
    -------
    FamilyCheck
        The fit of every family, and advice.

    Raises
    ------
    RewardError
        If rewards are not finite numbers, or too few.
    SettingError
        If `column` is given with rewards that are no table.

    >>> rng = np.random.default_rng(1)
    >>> spent = np.where(rng.random(5_000) < 0.05, rng.lognormal(3.0, 1.0, 5_000), 0.0)
    >>> result = check(spent.round(2))
    >>> result.fits[0].family
    'money (log-normal)'
    """
    if isinstance(rewards, Mapping) or frames.is_table(rewards):
        frame = frames.read(rewards)
        frame.require(column or "reward", *([arms] if isinstance(arms, str) else []))
        rewards = frame.numbers(column or "reward")
        arms = frame.names(arms) if isinstance(arms, str) else arms
    elif column:
        raise SettingError(f"column={column!r} is of a table, and the rewards are none")
    values = _numbers(cast(ArrayLike, rewards))
    groups = _by_arm(values, arms)
    rng = np.random.default_rng(_SEED)
    sizes = tuple(size for size in SIZES if size <= max(map(len, groups))) or (len(values),)
    drawn = [_resamples(groups, size, rng) for size in sizes]
    scored = [_at_most(group, _MOST // len(groups) + 1, rng) for group in groups]
    cell = _resolution(values)
    fits = [
        _fit(name, family, use, values, scored, cell, drawn)
        for name, family, use in _candidates(values)
    ]
    coins = bool(np.isin(values, (0.0, 1.0)).all())
    ranked = tuple(sorted(fits, key=lambda fit: _rank(fit, coins)))
    return FamilyCheck(ranked, sizes, len(values), _advice(ranked, sizes, coins))


def _numbers(rewards: ArrayLike) -> Floats:
    try:
        values = np.asarray(rewards, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise RewardError("rewards are not a list of numbers") from None
    if len(values) < 20:
        raise RewardError(f"{len(values)} rewards are too few to tell families apart: give 20")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        result = values[bad[0]]
        raise RewardError(f"reward {result!r} at place {bad[0]} is not a finite number")
    return values


def _by_arm(values: Floats, arms: Sequence[Any] | None) -> list[Floats]:
    if arms is None:
        return [values]
    if len(arms) != len(values):
        raise RewardError(f"{len(values)} rewards have {len(arms)} arms: give one arm a reward")
    _, positions = np.unique(np.asarray(arms), return_inverse=True)
    order = np.argsort(positions, kind="stable")
    return np.split(values[order], np.flatnonzero(np.diff(positions[order])) + 1)


def _at_most(group: Floats, most: int, rng: np.random.Generator) -> Floats:
    return group if len(group) <= most else rng.choice(group, most, replace=False)


def _resamples(groups: list[Floats], size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Rows of rewards with replacement, from one arm after the other, and that arm's mean."""
    turns = [groups[k % len(groups)] for k in range(RESAMPLES)]
    rows = np.array([rng.choice(group, size) for group in turns])
    return rows, np.array([group.mean() for group in turns])


def _resolution(values: Floats) -> float:
    """The least step between two rewards, and no less than a millionth of their deviation."""
    steps = np.diff(np.unique(values))
    least = 1e-6 * float(values.std()) or 1.0
    return max(float(steps.min()), least) if len(steps) else 1.0


def _candidates(values: Floats) -> list[tuple[str, Family, str]]:
    """Families with priors on the scale of the data, and how a person writes them."""
    positive = values[values > 0.0]
    typical = float(f"{np.median(positive):.2g}") if len(positive) else 1.0
    centre, spread = float(np.median(values)), float(values.var()) or 1.0
    wide = (float(f"{centre:.2g}"), 0.01, 1.0, float(f"{spread:.2g}"))
    given = f"typical={typical:g}"
    return [
        ("bernoulli", Bernoulli(), "belman.families.Bernoulli()"),
        ("poisson", Poisson(), "belman.families.Poisson()"),
        ("geometric", Geometric(), "belman.families.Geometric()"),
        ("exponential", Exponential(), "belman.families.Exponential()"),
        ("bounded", Bounded(), "belman.families.Bounded()"),
        (
            "gaussian-unknown",
            GaussianUnknown(prior=wide),
            f"belman.families.GaussianUnknown(prior=({', '.join(f'{x:g}' for x in wide)}))",
        ),
        ("log-normal", LogNormal(typical), f"belman.families.LogNormal({given})"),
        ("positive", Positive(typical), f"belman.families.Positive({given})"),
        ("money (log-normal)", Money("log-normal", typical), f"belman.families.Money({given})"),
        ("money (gamma)", Money("gamma", typical), f'belman.families.Money("gamma", {given})'),
        ("money (any)", Money("any", typical), f'belman.families.Money("any", {given})'),
    ]


def _fit(
    name: str,
    family: Family,
    use: str,
    values: Floats,
    scored: list[Floats],
    cell: float,
    drawn: list[tuple[Floats, Floats]],
) -> Fit:
    reason = _why_not(family, values)
    if reason:
        return Fit(name, use, math.nan, (), reason)
    total = sum(len(group) for group in scored)
    score = sum(_cell_score(family, group, cell) for group in scored) / total
    shares = tuple(_coverage(family, rows, means) for rows, means in drawn)
    return Fit(name, use, score, shares)


def _why_not(family: Family, values: Floats) -> str:
    """Why a family cannot hold the data, with one reward that it cannot."""
    if isinstance(family, Money) and values.min() > 0.0:
        return "no reward is 0: a family of amounts alone serves"
    if isinstance(family, Money) and values.max() <= 0.0:
        return "no reward is above 0"
    known, counts = np.unique(values, return_counts=True)
    wrong = np.array([not family.supports(value) for value in known.tolist()])
    if not wrong.any():
        return ""
    share, example = counts[wrong].sum() / len(values), known[wrong][0]
    return f"{share:.1%} of the rewards are not {family.support}, such as {example:g}"


def _cell_score(family: Family, group: Floats, cell: float) -> float:
    """The log score in cells: densities times the width of one, masses as they are.

    None where there is no distribution, where a coin shows a share of a side, and where cells are
    so wide that a density is no chance.
    """
    masses = family.name in ("bernoulli", "poisson", "geometric")
    shares = family.coin and bool(((group > 0.0) & (group < 1.0)).any())
    if not has_distribution(family) or shares or (not masses and cell > 0.5 * group.std()):
        return math.nan
    dense = (group > 0.0).sum() if isinstance(family, Money) else 0 if masses else len(group)
    return log_score(family, group) + float(dense) * math.log(cell)


@kernel
def _chances(family, constants, beliefs, means, out):
    for i in range(out.size):
        out[i] = family.mean_cdf(constants, beliefs[i], means[i])


def _coverage(family: Family, rows: Floats, means: Floats) -> float:
    below = np.empty(len(means))
    family.enter(_chances, beliefs=beliefs_after(family, rows), means=means, out=below)
    return float(np.mean((below >= _TAIL) & (below <= 1.0 - _TAIL)))


def _holds(fit: Fit) -> bool:
    """Whether intervals hold often enough at every size, and no longer too often at the largest:
    a prior may be cautious while there is little to know.
    """
    if fit.why_not:
        return False
    return min(fit.coverage) >= _LEVEL - _ERROR and fit.coverage[-1] <= _LEVEL + _ERROR


def _rank(fit: Fit, coins: bool) -> tuple[int, float, float]:
    """The distribution of coins; families whose intervals hold, by their log score; then others, by
    their worst coverage.
    """
    if coins and fit.family == "bernoulli":
        return -1, 0.0, 0.0
    if fit.why_not:
        return 2, 0.0, 0.0
    score = math.inf if math.isnan(fit.log_score) else -fit.log_score
    return (0, score, fit.worst) if _holds(fit) else (1, fit.worst, score)


def _advice(fits: tuple[Fit, ...], sizes: tuple[int, ...], coins: bool) -> str:
    best = fits[0]
    if best.why_not:
        return "No family holds these rewards: scale them, or write a family of your own."
    size, share = sizes[-1], best.coverage[-1]
    held = f"its 95 % intervals hold the mean in {share:.0%} of {RESAMPLES} samples of {size:,}"
    if coins:
        return f"Use {best.use}: rewards of 0 and 1 have no other distribution; {held}."
    if not _holds(best):
        low = min(best.coverage)
        return (
            f"No family's 95 % intervals are right for these rewards; nearest is {best.use}, whose "
            f"intervals hold the mean in as few as {low:.0%} of {RESAMPLES} samples."
            if low < _LEVEL
            else f"Use {best.use} and expect it to be cautious: {held}."
        )
    better = sum(_holds(fit) for fit in fits) > 1 and not math.isnan(best.log_score)
    also = ", and of the families that do it predicts rewards best" if better else ""
    return f"Use {best.use}: {held}{also}."
