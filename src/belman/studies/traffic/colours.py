"""One colour for each arm, for good: by its place in the register, or the colour it is named after.

Twelve colours are told apart, and each is legible on a light and on a dark page: lines and dots
have a contrast of at least 3 : 1 with the page, as WCAG 2.2 asks of graphics. A colour that an arm
is named after is drawn towards black, or white, until it has that contrast.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

LIGHT_PAGE, DARK_PAGE = "#ffffff", "#16181c"
LEAST_CONTRAST = 3.0
#: After Okabe and Ito, then others between them, each (on a light page, on a dark page).
PALETTE = (
    ("#0072b2", "#56b4e9"),
    ("#c25a00", "#ff9a5c"),
    ("#00805c", "#4cc7a0"),
    ("#b04a86", "#e49ac6"),
    ("#7a6a00", "#d9c94a"),
    ("#5b4fb5", "#a99df2"),
    ("#a3342a", "#f0857a"),
    ("#00798a", "#52c7d9"),
    ("#6b5744", "#c9ad92"),
    ("#4d7a1f", "#a3d46e"),
    ("#8a2fa8", "#d68af0"),
    ("#55606e", "#aab6c5"),
)
#: Colours of CSS that people name things after, as red, green and blue.
NAMED = {
    "black": "#000000", "blue": "#0000ff", "brown": "#a52a2a", "coral": "#ff7f50",
    "crimson": "#dc143c", "cyan": "#00ffff", "fuchsia": "#ff00ff", "gold": "#ffd700",
    "gray": "#808080", "green": "#008000", "grey": "#808080", "indigo": "#4b0082",
    "lime": "#00ff00", "magenta": "#ff00ff", "maroon": "#800000", "navy": "#000080",
    "olive": "#808000", "orange": "#ffa500", "orchid": "#da70d6", "pink": "#ffc0cb",
    "plum": "#dda0dd", "purple": "#800080", "red": "#ff0000", "salmon": "#fa8072",
    "silver": "#c0c0c0", "tan": "#d2b48c", "teal": "#008080", "tomato": "#ff6347",
    "turquoise": "#40e0d0", "violet": "#ee82ee", "white": "#ffffff", "yellow": "#ffff00",
}  # fmt: skip


class Colour(NamedTuple):
    """The colour of an arm on a light page, and on a dark one."""

    light: str
    dark: str


def colour_of(arm: Hashable, position: int) -> Colour:
    """The colour of the arm at a place of the register.

    >>> colour_of("checkout", 0)
    Colour(light='#0072b2', dark='#56b4e9')
    >>> colour_of("Red", 7)
    Colour(light='#ff0000', dark='#ff0000')
    >>> colour_of("yellow", 7)
    Colour(light='#999900', dark='#ffff00')
    """
    named = NAMED.get(arm.strip().casefold()) if isinstance(arm, str) else None
    if named is None:
        return Colour(*PALETTE[position % len(PALETTE)])
    return Colour(legible(named, LIGHT_PAGE), legible(named, DARK_PAGE))


def legible(colour: str, page: str) -> str:
    """The colour, drawn away from that of the page by twentieths until it has enough contrast."""
    towards = 0.0 if luminance(page) > 0.5 else 255.0
    own = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    for step in range(21):
        shade = [round(part + (towards - part) * step / 20.0) for part in own]
        result = "#" + "".join(f"{part:02x}" for part in shade)
        if contrast(result, page) >= LEAST_CONTRAST:
            return result
    raise AssertionError("black and white have contrast with every page")


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, by WCAG: from 1 to 21.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """The relative luminance of a colour, by WCAG."""
    parts = (int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
