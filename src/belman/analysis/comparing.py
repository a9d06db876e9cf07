"""Two arms beside each other: differences and ratios of estimates, at one look and at any look.

Both are by the central limit theorem. At any look, the bound of a standardised difference grows
with the number of units as a normal mixture says (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas,
2024): asymptotic, and called so. Ratios are Fieller's: those at which the arm less ratio times
control is within its bound of 0.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from belman.analysis.estimates import Estimate
from belman.measures.report import plain

Ends = tuple[float, float]

_TUNED = 5_000.0  # units at which bounds at any look are narrowest beside those of one look


class Comparison(NamedTuple):
    """An arm beside another on one metric: the difference and the share of the other's value, each
    with its ends at one look and at any look; None for shares where the other may be 0 or less.
    """

    metric: str
    arm: str
    against: str
    value: float
    other: float
    difference: float
    one_look: Ends
    any_look: Ends
    relative: float | None
    relative_one_look: Ends | None
    relative_any_look: Ends | None
    p_value: float
    corrected: float

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data.

        Returns
        -------
        dict
            Its parts by name.
        """
        return {name: plain(value) for name, value in self._asdict().items()}


def any_look_score(units: float, delta: float) -> float:
    """The bound of a standardised difference that is ever passed with a chance of at most δ, for
    large numbers of units.

    >>> round(any_look_score(20_000, 0.05), 2)
    3.14
    """
    rate = (-2.0 * math.log(delta) + math.log(-2.0 * math.log(delta)) + 1.0) / _TUNED
    time = max(units, 1.0) * rate
    return math.sqrt(2.0 * (time + 1.0) / time * (0.5 * math.log1p(time) - math.log(delta)))


def compare(
    metric: str, names: tuple[str, str], arm: Estimate, control: Estimate, delta: float, among: int
) -> Comparison:
    """Compare two arms at an error δ that is shared by a number of comparisons.

    >>> new, old = Estimate(900, 1.2, 0.05, 899.0), Estimate(900, 1.0, 0.05, 899.0)
    >>> result = compare("x", ("new", "old"), new, old, 0.05, 1)
    >>> [round(end, 3) for end in (*result.one_look, *result.relative_one_look)]
    [0.061, 0.339, 0.057, 0.366]
    >>> round(result.p_value, 4)
    0.0047
    """
    from scipy.special import stdtr, stdtrit

    share = delta / among
    error = math.hypot(arm.error, control.error)
    freedom = _welch(arm, control)
    gap = arm.value - control.value
    score = float(stdtrit(freedom, 1.0 - 0.5 * share))
    far = max(any_look_score(arm.units + control.units, share), score)
    statistic = abs(gap) / error if error > 0.0 else math.inf if gap else 0.0
    p_value = float(2.0 * stdtr(freedom, -statistic)) if math.isfinite(statistic) else 0.0
    near, wide = (_ratio(arm, control, width) for width in (score, far))
    return Comparison(
        metric,
        *names,
        arm.value,
        control.value,
        gap,
        (gap - score * error, gap + score * error),
        (gap - far * error, gap + far * error),
        gap / control.value if near is not None else None,
        near,
        wide,
        p_value,
        min(p_value * among, 1.0),
    )


def _welch(arm: Estimate, control: Estimate) -> float:
    """Degrees of freedom of a difference, by Welch and Satterthwaite."""
    parts = [one.error**2 for one in (arm, control)]
    below = sum(
        part**2 / max(one.freedom, 1.0) for part, one in zip(parts, (arm, control), strict=True)
    )
    return sum(parts) ** 2 / below if below > 0.0 else max(arm.freedom + control.freedom, 1.0)


def _ratio(arm: Estimate, control: Estimate, score: float) -> Ends | None:
    """Where arm/control − 1 lies, by Fieller; None where control may be 0 or less."""
    a, b = arm.value, control.value
    u, v = (score * arm.error) ** 2, (score * control.error) ** 2
    if not b > 0.0 or b * b <= v:
        return None
    root = math.sqrt(max(a * a * b * b - (a * a - u) * (b * b - v), 0.0))
    low, high = ((a * b - root) / (b * b - v), (a * b + root) / (b * b - v))
    return low - 1.0, high - 1.0
