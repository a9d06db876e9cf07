"""The calls of an agent's kernels, which hold its arrays by their addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from belman.agent import decide
from belman.engine import LATER, Call, entry

if TYPE_CHECKING:
    from belman.agent.agent import Agent

#: What renewing the rows of stale arms takes.
_RENEWED = {
    "law", "params", "truth", "provisional", "working", "memory", "pending", "stale", "scratch",
}  # fmt: skip


class Calls:
    """One decision, one reward, and what marks arms as stale; made anew with the arrays.

    `held` is what a decision is given, by name; `after` the belief that a reward led to, and `rows`
    what is to count provisionally.
    """

    def __init__(self, agent: Agent) -> None:
        policy, family = agent._policy.kernels, agent._family.kernels
        learnt: dict[str, Any] = {
            "law": agent._family.law,
            "truth": agent._truth,
            "pending": agent._pending,
            "stale": agent._stale,
        }
        self.held: dict[str, Any] = {
            **learnt,
            "params": agent._policy.params(agent._family),
            "provisional": agent._provisional,
            "scratch": np.zeros((2, agent._family.dimension)),
            "working": agent._working,
            "memory": agent._memory,
            "index": agent._index,
            "mind": agent._mind,
        }
        self._renew = entry(decide.renew, policy=policy, family=family)
        choosing = entry(decide.decide, policy=policy, family=family)
        self.decide: Call = choosing.hold(LATER, **self.held, closed=agent._shut)
        self.after = np.zeros(agent._family.dimension)
        self.learn: Call = entry(decide.learn, family=family).hold(
            LATER,
            **learnt,
            priors=agent._priors,
            reach=np.array(agent._family.reach),
            after=self.after,
            discount=float(agent._discount),
        )
        self.hear: Call | None = None
        if agent._policy.learns:
            heard = {name: self.held[name] for name in ("law", "params", "truth", "memory")}
            self.hear = entry(decide.hear, policy=policy, family=family).hold(LATER, **heard)
        self.mark_stale: Call = entry(decide.mark_stale).hold(LATER, stale=agent._stale)
        self.rows = np.zeros_like(agent._provisional)
        self.set_provisional: Call = entry(decide.set_provisional).hold(
            LATER, rows=self.rows, provisional=agent._provisional, stale=agent._stale
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
