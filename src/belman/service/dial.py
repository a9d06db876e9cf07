"""The dial between explore and exploit: one number for the exposure."""

from __future__ import annotations

import math

from belman.exposure import Evidence, Exposure, FadingEvidence, Infinite

_SPAN = 2.0  # decades on each side of the middle
_OWN, _FADING = Evidence(), FadingEvidence()


def exposure_at(dial: float) -> Exposure:
    """The exposure of a dial from 0 (explore only) over ½ (BelMan's own) to 1 (as good as greedy).

    Above ½ the gain of `Evidence` is multiplied by 10^(2(2d − 1)), which makes it greedier. With
    less it would be IMED at most, so below ½ the weight of `FadingEvidence` is multiplied by the
    same, down to none at 0, which is infinite exposure.

    >>> exposure_at(0.0), exposure_at(0.5) == Evidence()
    (Infinite(), True)
    """
    factor = 10.0 ** (_SPAN * (2.0 * dial - 1.0))
    if dial == 0.0:
        return Infinite()
    if dial < 0.5:
        gain, floor = _FADING.gain * factor, _FADING.floor * factor
        return FadingEvidence(gain=gain, fade=_FADING.fade, floor=floor, p=_FADING.p)
    return Evidence(gain=_OWN.gain * factor, reach=_OWN.reach, pool=_OWN.pool)


def dial_of(exposure: Exposure) -> float | None:
    """Where the dial stands, or None for an exposure that it cannot make.

    >>> dial_of(exposure_at(0.8)), dial_of(exposure_at(0.3))
    (0.8, 0.3)
    """
    if isinstance(exposure, Infinite):
        return 0.0
    if isinstance(exposure, Evidence):
        factor = exposure.gain / _OWN.gain
    elif isinstance(exposure, FadingEvidence):
        factor = exposure.floor / _FADING.floor
    else:
        return None
    dial = round(0.5 * (math.log10(factor) / _SPAN + 1.0), 6) if factor > 0.0 else -1.0
    return dial if 0.0 <= dial <= 1.0 and _same(exposure, exposure_at(dial)) else None


def _same(given: Exposure, made: Exposure) -> bool:
    """Whether two exposures are the same but for what rounding does to a dial."""
    if type(given) is not type(made):
        return False
    pairs = [(value, getattr(made, name)) for name, value in vars(given).items()]
    return all(
        value == other or (None not in (value, other) and math.isclose(value, other, rel_tol=1e-4))
        for value, other in pairs
    )
