"""A limit on the mean of a metric, and whether it was crossed: a test that holds at every look.

Of values x ≥ 0 whose mean is at most m, a gambler who puts the share c on x/m each time owns
Π(1 + c(x/m − 1)), which grows on average by nothing: whoever starts with 1 owns 1/δ with a chance
of at most δ, ever. The capital is averaged over some c. Values need no other bound than the one on
their side: from 0 up for a mean that has to stay below a limit, up to a largest value for one that
has to stay above.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from belman.errors import SettingError
from belman.measures.martingales import BETS

_MOST = 1e100
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_BELOW = re.compile(rf"<\s*({_NUMBER})(?:\s+from\s+({_NUMBER}))?")
_ABOVE = re.compile(rf">\s*({_NUMBER})(?:\s+up\s+to\s+({_NUMBER}))?")


@dataclass(frozen=True)
class Limit:
    """A mean has to stay below (or above) `limit`; no value lies beyond `end` on the other side.

    >>> Limit.parse("< 0.05"), Limit.parse("> 3 up to 5")
    (Limit(below=True, limit=0.05, end=0.0), Limit(below=False, limit=3.0, end=5.0))
    """

    below: bool
    limit: float
    end: float

    @classmethod
    def parse(cls, text: object) -> Limit:
        """The limit that a text describes: "< 0.05", "< 0.5 from -1", "> 0.3", "> 3 up to 5"."""
        words = text.strip() if isinstance(text, str) and len(text) <= 100 else ""
        for below, pattern, usual in ((True, _BELOW, 0.0), (False, _ABOVE, 1.0)):
            if found := pattern.fullmatch(words):
                limit = float(found[1])
                end = usual if found[2] is None else float(found[2])
                inside = limit > end if below else limit < end
                if not inside or not (math.isfinite(limit) and math.isfinite(end)):
                    side = "above the least" if below else "below the largest"
                    raise SettingError(
                        f"{text!r} limits nothing: it must lie {side} value, {end:g}"
                    )
                return cls(below, limit, end)
        allowed = "write '< 0.05' (values from 0 up), '< 0.5 from -1' or '> 3 up to 5'"
        raise SettingError(f"{str(text)[:100]!r} is not a limit: {allowed}")

    @property
    def text(self) -> str:
        """As `parse` takes it."""
        if self.below:
            return f"< {self.limit!r}" + (f" from {self.end!r}" if self.end != 0.0 else "")
        return f"> {self.limit!r}" + (f" up to {self.end!r}" if self.end != 1.0 else "")

    def takes(self, value: float) -> bool:
        """Whether a value lies on the right side of the end."""
        return value >= self.end if self.below else value <= self.end

    def gains(self, value: float) -> list[float]:
        """ln of what a value multiplies the capital of every gambler by; one beyond the end counts
        as the end itself.
        """
        odds = (value - self.end) / (self.limit - self.end) - 1.0
        odds = min(max(odds, -1.0), _MOST)
        return [math.log1p(bet * odds) for bet in BETS]


def log_odds(capitals: Sequence[float]) -> float:
    """ln of the average capital: at ln 1/δ the limit is crossed, up to a risk δ.

    >>> limit, capitals = Limit.parse("< 0.05"), [0.0] * len(BETS)
    >>> for value in [1.0, 0.0, 0.0, 0.0, 0.0] * 20:
    ...     capitals = [a + b for a, b in zip(capitals, limit.gains(value))]
    >>> round(log_odds(capitals), 1)
    11.3
    """
    top = max(capitals)
    return top + math.log(math.fsum(math.exp(one - top) for one in capitals) / len(capitals))
