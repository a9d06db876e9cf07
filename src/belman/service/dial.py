"""The dial between explore and exploit: one number for the exposure."""

from __future__ import annotations

import math

from belman.exposure import Evidence, Exposure, Infinite

_SPAN = 2.0  # decades on each side of the middle


def exposure_at(dial: float) -> Exposure:
    """The exposure of a dial from 0 (explore only) over ½ (BelMan's own) to 1 (a hundred times as greedy).

    The weight of the evidence against an arm is multiplied by 10^(2(2d − 1)), which moves every c_t at once.

    >>> exposure_at(0.0), exposure_at(0.5)
    (Infinite(), Evidence(gain=0.8, fade=0.1, floor=0.5, p=0.0))
    """
    if dial == 0.0:
        return Infinite()
    factor = 10.0 ** (_SPAN * (2.0 * dial - 1.0))
    plain = Evidence()
    return Evidence(gain=plain.gain * factor, fade=plain.fade, floor=plain.floor * factor, p=plain.p)


def dial_of(exposure: Exposure) -> float | None:
    """Where the dial stands, or None for an exposure that it cannot make.

    >>> dial_of(exposure_at(0.8))
    0.8
    """
    if isinstance(exposure, Infinite):
        return 0.0
    plain = Evidence()
    if not isinstance(exposure, Evidence) or exposure.floor <= 0.0:
        return None
    factor = exposure.floor / plain.floor
    same = math.isclose(exposure.gain, plain.gain * factor) and (exposure.fade, exposure.p) == (plain.fade, plain.p)
    dial = round(0.5 * (math.log10(factor) / _SPAN + 1.0), 6)
    return dial if same and 0.0 < dial <= 1.0 else None
