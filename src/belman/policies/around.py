"""A policy around another one, to which it shows a ledger of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from belman.engine import kernel
from belman.policies.policy import PolicyKernels

Kernel = Callable[..., Any]


def around(inner: PolicyKernels, cut: Kernel, refresh: Kernel, learn: Kernel) -> PolicyKernels:
    """The kernels of a policy whose memory holds the ledger that the policy inside sees, `own`, and
    what that one keeps, `inner`; `cut(params)` is where the params of the policy inside begin.
    """

    @kernel
    def indices(family, law, params, ledger, memory, turn, turn_value, mind, index):
        known = params[cut(params) :]
        inner.indices(family, law, known, memory.own, memory.inner, turn, turn_value, mind, index)

    @kernel
    def choose(policy, family, law, params, ledger, memory, turn, turn_value, mind, index):
        known = params[cut(params) :]
        return inner.choose(
            inner, family, law, known, memory.own, memory.inner, turn, turn_value, mind, index
        )

    @kernel
    def propensity(family, law, params, ledger, memory, turn, turn_value, closed, arm, ties):
        known = params[cut(params) :]
        return inner.propensity(
            family, law, known, memory.own, memory.inner, turn, turn_value, closed, arm, ties
        )

    @kernel
    def recommend(family, law, params, ledger, memory, score):
        inner.recommend(family, law, params[cut(params) :], memory.own, memory.inner, score)

    return PolicyKernels(refresh, indices, choose, propensity, recommend, learn=learn)
