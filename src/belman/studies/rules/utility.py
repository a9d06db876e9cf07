"""A utility: one reward made of several numbers, by an expression such as `margin - 0.2*latency`.

An expression holds numbers, names of metrics, + - * / ** and parentheses, and the functions below.
It is parsed into a tree of these and nothing else; no code is ever run.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

from belman.errors import RewardError, SettingError, listing, nearest, shown

_LONGEST = 300  # characters, which bounds the depth of the tree as well
_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "exp": math.exp,
    "log": math.log,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
}


class Utility:
    """A reward declared as an expression over metrics.

    >>> margin = Utility("margin - 0.2*latency")
    >>> margin({"margin": 3.0, "latency": 0.5})
    2.9
    >>> margin.names
    ('latency', 'margin')
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._tree = _parsed(text)
        names = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}
        self.names = tuple(sorted(names - set(_FUNCTIONS)))
        if not self.names:
            raise SettingError(f"reward={text!r} names no metric: write 'margin - 0.2*latency'")

    def lacks(self, metrics: Mapping[str, float]) -> list[str]:
        """Return the metrics that are missing."""
        return [name for name in self.names if name not in metrics]

    def has_part(self, metrics: Mapping[str, float]) -> bool:
        """Whether some of the metrics are there, and what is missing is not misspelt."""
        missing = self.lacks(metrics)
        others = metrics.keys() - set(self.names)
        misspelt = any(nearest(name, others) for name in missing)
        return 0 < len(missing) < len(self.names) and not misspelt

    def __call__(self, metrics: Mapping[str, float]) -> float:
        """The reward of these metrics; RewardError where one is missing or it is no number."""
        if missing := self.lacks(metrics):
            given = f"given were {listing(metrics)}{nearest(missing[0], metrics)}"
            needs = f"the reward {self.text!r} needs the metric {missing[0]!r}"
            raise RewardError(f"{needs}: {given if metrics else 'no metrics were given'}")
        try:
            value = float(_value(self._tree, metrics))
        except (ArithmeticError, ValueError) as error:
            raise RewardError(f"the reward {self.text!r} of {dict(metrics)!r}: {error}") from None
        if not math.isfinite(value):
            raise RewardError(f"the reward {self.text!r} of {dict(metrics)!r} is {value}")
        return value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Utility) and ast.dump(self._tree) == ast.dump(other._tree)

    def __hash__(self) -> int:
        return hash(ast.dump(self._tree))

    def __repr__(self) -> str:
        return f"Utility({self.text!r})"


def _parsed(text: object) -> ast.expr:
    """The tree of an expression, every node of which is one that we know."""
    if not isinstance(text, str) or not 0 < len(text) <= _LONGEST:
        allowed = (
            f"it must be a string of 1 to {_LONGEST} characters, such as 'margin - 0.2*latency'"
        )
        raise SettingError(f"reward={shown(text)} is not an expression: {allowed}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        words = getattr(error, "msg", None) or str(error)
        raise SettingError(f"reward={text!r} cannot be read: {words}") from None
    _check(tree, text)
    return tree


def _check(node: ast.expr, text: str) -> None:
    children: list[ast.expr] = []
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return
    if isinstance(node, ast.Name) and node.id not in _FUNCTIONS:
        return
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        children = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        children = [node.operand]
    elif isinstance(node, ast.Call) and _known_call(node):
        children = node.args
    else:
        part = ast.get_source_segment(text.strip(), node) or text
        allowed = f"numbers, names of metrics, + - * / **, parentheses, and {listing(_FUNCTIONS)}"
        raise SettingError(f"reward={text!r} holds {part!r}: it may hold {allowed}")
    for child in children:
        _check(child, text)


def _known_call(node: ast.Call) -> bool:
    """Whether a call is of one of our functions, with as many arguments as it takes."""
    if not isinstance(node.func, ast.Name) or node.func.id not in _FUNCTIONS or node.keywords:
        return False
    count = len(node.args)
    return count >= 2 if node.func.id in ("max", "min") else count == 1


def _value(node: ast.expr, metrics: Mapping[str, float]) -> float:
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return float(metrics[node.id])
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, metrics), _value(node.right, metrics)
        return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp):
        return _OPERATORS[type(node.op)](_value(node.operand, metrics))
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return _FUNCTIONS[node.func.id](*(_value(argument, metrics) for argument in node.args))
