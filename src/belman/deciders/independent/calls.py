"""The calls of a decider's kernels, which hold its arrays by their addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

from belman.deciders.independent import kernels
from belman.engine import LATER, Call, entry

#: What renewing the rows of stale arms takes.
_RENEWED = {
    "law", "params", "truth", "provisional", "working", "memory", "pending", "stale", "scratch",
}  # fmt: skip


class Calls:
    """One decision, one reward, and what marks arms as stale; made anew with the arrays.

    `held` is what a decision is given, by name; `after` the belief that a reward led to, and `rows`
    what is to count provisionally.
    """

    def __init__(self, decider: Any) -> None:
        policy, family = decider._policy.kernels, decider.family.kernels
        learnt: dict[str, Any] = {
            "law": decider.family.law,
            "truth": decider._truth,
            "pending": decider._pending,
            "stale": decider._stale,
        }
        self.held: dict[str, Any] = {
            **learnt,
            "params": decider._policy.params(decider.family),
            "provisional": decider._provisional,
            "scratch": np.zeros((2, decider.family.dimension)),
            "working": decider._working,
            "memory": decider._memory,
            "index": decider._index,
            "mind": decider._rng,
        }
        self._renew = entry(kernels.renew, policy=policy, family=family)
        choosing = entry(kernels.decide, policy=policy, family=family)
        self.decide: Call = choosing.hold(LATER, **self.held, closed=decider._shut)
        self.after = np.zeros(decider.family.dimension)
        reached = {
            "priors": decider._priors,
            "reach": np.array(decider.family.reach),
            "after": self.after,
            "discount": float(decider.discount),
        }
        self.learn: Call = entry(kernels.learn, family=family).hold(LATER, **learnt, **reached)
        reached |= {name: learnt[name] for name in ("law", "truth")}
        self.reaches: Call = entry(kernels.reaches, family=family).hold(LATER, **reached)
        self.hear: Call | None = None
        if decider._policy.learns:
            heard = {name: self.held[name] for name in ("law", "params", "truth", "memory")}
            self.hear = entry(kernels.hear, policy=policy, family=family).hold(LATER, **heard)
        self.mark_stale: Call = entry(kernels.mark_stale).hold(LATER, stale=decider._stale)
        self.rows = np.zeros_like(decider._provisional)
        self.set_provisional: Call = entry(kernels.set_provisional).hold(
            LATER, rows=self.rows, provisional=decider._provisional, stale=decider._stale
        )

    def settle_heard(self) -> None:
        """Let a policy that hears rewards take arms that are new to it as they are believed now:
        from here on, and not from what comes before the next decision, or is imagined for it.
        """
        if self.hear is None:
            return
        renewed = {name: part for name, part in self.held.items() if name in _RENEWED}
        nothing = {name: np.zeros_like(renewed[name]) for name in ("pending", "provisional")}
        self._renew(LATER, **{**renewed, **nothing})
        stale = self.held["stale"]
        stale[:] = np.arange(-1, len(stale) - 1)
        stale[0] = len(stale) - 1
