"""The contract of a belief: what geometry asks of a conjugate distribution.

A belief is a row of coordinates (one array per arm). It is an exponential family b_η(θ) = h(θ)
exp(⟨η, S(θ)⟩ − A(η)) with natural parameters η, mean parameters m = ∇A(η) = E[S(θ)] and Fisher
metric ∇²A(η). Coordinates are those in which a person would write the distribution, such as (α, β);
`natural` turns them into η. Every kernel takes `constants`, the numbers that the user chose for the
family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from belman.engine import Bundle

Kernel = Callable[..., Any]


@dataclass(frozen=True)
class BeliefKernels(Bundle):
    """The bundle of kernels of a belief; `out` arrays are filled in place.

    | kernel | what it does |
    |---|---|
    | `natural(constants, belief, out)` | η |
    | `from_natural(constants, eta, out)` | the coordinates of η |
    | `blend(constants, belief, other, weight)` | belief ← weight·belief + (1−weight)·other, in η |
    | `log_partition(constants, belief)` | A(η) |
    | `mean_parameters(constants, belief, out)` | m(η) |
    | `solve(constants, target, belief)` | move `belief`, a first guess, to where m(η) = `target` |
    | `metric(constants, belief, out)` | ∇²A(η) |
    | `divergence(constants, belief, other)` | KL(belief ‖ other), stable |
    | `log_density(constants, belief, theta)` | ln b(θ) |
    """

    natural: Kernel
    from_natural: Kernel
    blend: Kernel
    log_partition: Kernel
    mean_parameters: Kernel
    solve: Kernel
    metric: Kernel
    divergence: Kernel
    log_density: Kernel

    @classmethod
    def of(cls, named: Mapping[str, Any]) -> BeliefKernels:
        """The kernels of these names; without `from_natural` the coordinates of a distribution are
        its η.
        """
        given = {"from_natural": named["natural"], **named}
        return cls(**{part.name: given[part.name] for part in fields(cls)})
