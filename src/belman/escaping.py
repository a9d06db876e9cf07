"""Texts of strangers as each medium shows them harmless: one function a medium.

HTML has the standard library's `html.escape`, JSON its `json.dumps`.
"""

from __future__ import annotations

import re
from typing import Any

_JOINER = "\u200d"  # of emoji
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which a formula of a spreadsheet may begin
_MARKDOWN = re.compile(r"[\\`*\[\]<|]")
_PROMETHEUS = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def for_terminal(text: str, *, lines: bool = False) -> str:
    r"""Write signs that move or colour a terminal, or turn text round, as JSON escapes them.

    With `lines` those that end a line stay. Printed JSON stays JSON.

    >>> print(for_terminal("\x1b[2Jblue\n"))
    \u001b[2Jblue\u000a
    """
    if text.isprintable():
        return text
    kept = _JOINER + "\n" * lines
    return "".join(sign if sign.isprintable() or sign in kept else _escaped(sign) for sign in text)


def _escaped(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def for_csv(cell: Any) -> Any:
    """Put an apostrophe in front of a text that a spreadsheet would take for a formula.

    >>> for_csv("=1+1"), for_csv(-1.0)
    ("'=1+1", -1.0)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def for_markdown(text: str) -> str:
    r"""Write text so that Markdown has no marks, links, tags or cells in it.

    >>> print(for_markdown("[a](b) | <b>"))
    \[a\](b) \| \<b>
    """
    return _MARKDOWN.sub(r"\\\g<0>", for_terminal(text))


def for_prometheus(label: str) -> str:
    r"""Write the value of a label, without the quotes around it.

    >>> print(for_prometheus('a "quoted" name'))
    a \"quoted\" name
    """
    return label.translate(_PROMETHEUS)
