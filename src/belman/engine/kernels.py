"""Kernels and bundles: what is compiled, as plain Python that needs no compiler.

A *kernel* is a plain function over floats and arrays. Python runs it as it is; where it is called
from compiled code it is compiled (`compiler.py`), and makes the same choices. A *bundle* is a
frozen set of kernels: what a belief, a family or a policy can do. Both know their *recipe*: the
global of a module that they are, or the factory and the arguments that make them.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])
#: All functions of SciPy that kernels call, so that cached code finds them before it is loaded.
EXTERNALS: list[External] = []


class Made(NamedTuple):
    """The recipe of what a factory made."""

    factory: Callable[..., Any]
    arguments: tuple[Any, ...]


class Part(NamedTuple):
    """The recipe of what stands in a bundle that a factory made."""

    bundle: Bundle
    name: str


class Kernel:
    """A function that Python runs and compiled code calls compiled."""

    made: Made | Part | None = None

    def __init__(self, function: Callable[..., Any], **options: bool) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.options = options

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)


def kernel(function: Function) -> Function:
    """Mark a function over floats and arrays as a kernel.

    A kernel allocates no array and returns none, so that references need not be counted: passing
    records of many arrays through several levels of calls would otherwise cost more than the
    mathematics (a BelMan turn is twice as fast for it).

    Parameters
    ----------
    function
        The function, a global of a module that can be imported.

    Returns
    -------
    function
        The same function for Python; compiled code calls it compiled.

    >>> @kernel
    ... def double(x):
    ...     return 2.0 * x
    >>> double(21.0)
    42.0
    """
    return cast(Function, Kernel(function))


def inlined_kernel(function: Function) -> Function:
    """Mark a kernel of every turn that takes records of arrays: it is laid into its callers,
    however long it is.

    LLVM would call it, and handing over the arrays costs more than many a turn takes. Compiling
    takes longer for it.
    """
    return cast(Function, Kernel(function, inlined=True))


def allocating_kernel(function: Function) -> Function:
    """Mark a kernel that makes arrays of its own (and returns none of them)."""
    return cast(Function, Kernel(function, allocating=True))


class Bundle:
    """A frozen dataclass of kernels (or of other bundles) that compiled code receives as one
    argument.

    Bundles are equal where all of their kernels are.
    """

    made: Made | Part | None = None


def parts(bundle: Bundle) -> dict[str, Any]:
    """What a bundle is made of, by name."""
    return {name: part for name, part in vars(bundle).items() if name != "made"}


def factory(make: Function) -> Function:
    """Mark a function that makes a kernel or a bundle: equal arguments give the same one, which
    remembers how it was made.

    >>> @factory
    ... def times(factor):
    ...     @kernel
    ...     def multiply(x):
    ...         return factor * x
    ...     return multiply
    >>> times(3.0) is times(3.0), times(3.0) is times(4.0), times(3.0)(2.0)
    (True, False, 6.0)
    """
    known: dict[tuple[Any, ...], Any] = {}

    @functools.wraps(make)
    def remembered(*arguments: Any) -> Any:
        if arguments not in known:
            known[arguments] = make(*arguments)
            _remember(known[arguments], Made(remembered, arguments))
        return known[arguments]

    return cast(Function, remembered)


def _remember(thing: Any, made: Made | Part) -> None:
    """Note how a thing was made, and its parts that are nothing without it."""
    if isinstance(thing, (Kernel, Bundle)) and thing.made is None and recipe(thing) is None:
        object.__setattr__(thing, "made", made)
        if isinstance(thing, Bundle):
            for name, part in parts(thing).items():
                _remember(part, Part(thing, name))


class Recipe(NamedTuple):
    """A Python expression that gives a thing in any process, and the modules that it reads."""

    expression: str
    modules: frozenset[str]


def recipe(thing: Any) -> Recipe | None:
    """How any process gets at a kernel, a bundle, a class or a constant; None for what is no global
    of a module that can be imported, such as what was made in a notebook.

    >>> from belman.families import bernoulli
    >>> recipe(bernoulli.update).expression
    "at('belman.families.bernoulli', 'update')"
    """
    if thing is None or isinstance(thing, (bool, int, str)):
        return Recipe(repr(thing), frozenset())
    if isinstance(thing, float):
        return Recipe(
            repr(thing) if math.isfinite(thing) else f"float({str(thing)!r})", frozenset()
        )
    made = getattr(thing, "made", None)
    if isinstance(made, Part):
        owner = recipe(made.bundle)
        return owner and Recipe(f"{owner.expression}.{made.name}", owner.modules)
    if made is not None:
        return _call(recipe(made.factory), [recipe(argument) for argument in made.arguments])
    if isinstance(thing, Bundle):
        return _call(recipe(type(thing)), [recipe(part) for part in parts(thing).values()])
    module, name = getattr(thing, "__module__", ""), getattr(thing, "__qualname__", "")
    if module == "__main__" or not getattr(sys.modules.get(module), "__file__", None):
        return None
    result: Any = sys.modules[module]
    for part in name.split("."):
        result = getattr(result, part, None)
    return Recipe(f"at({module!r}, {name!r})", frozenset({module})) if result is thing else None


def _call(function: Recipe | None, arguments: list[Recipe | None]) -> Recipe | None:
    parts = [function, *arguments]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    expression = f"{known[0].expression}({', '.join(part.expression for part in known[1:])})"
    return Recipe(expression, frozenset().union(*(part.modules for part in known)))


def at(module: str, name: str) -> Any:
    """The global of that name in a module.

    >>> at("math", "pi")
    3.141592653589793
    """
    __import__(module)
    result: Any = sys.modules[module]
    for part in name.split("."):
        result = getattr(result, part)
    return result


class External:
    """A function of `scipy.special`, imported when first called; compiled, its Cython twin.

    >>> External("ndtr", "__pyx_fuse_1ndtr", 1)(0.0)
    0.5
    """

    def __init__(self, name: str, cython: str, arguments: int) -> None:
        self.name, self.cython, self.arguments = name, cython, arguments
        self.symbol = f"belman_{cython}"
        EXTERNALS.append(self)

    def __call__(self, *values: float) -> float:
        return float(self._function(*values))

    @functools.cached_property
    def _function(self) -> Callable[..., float]:
        from scipy import special

        return getattr(special, self.name)
