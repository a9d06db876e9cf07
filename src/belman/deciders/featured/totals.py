"""What every arm brought over all contexts: a belief an arm, for reports."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np

from belman.deciders.independent import kernels
from belman.deciders.learnt import Learnt
from belman.engine import LATER, Call, entry
from belman.errors import RewardError
from belman.families import Family
from belman.policies import Ledger


class Totals(MutableMapping[Hashable, Learnt]):
    """What was learnt of each arm, by its name; a reward is learnt by one call of a kernel.

    >>> from belman.families import Bernoulli
    >>> totals = Totals(Bernoulli(), {"blue": Learnt.nothing((1.0, 1.0))})
    >>> totals.tell("blue", 1.0)
    >>> totals["blue"].belief
    (2.0, 1.0)
    """

    def __init__(self, family: Family, learnt: Mapping[Hashable, Learnt]) -> None:
        self._family = family
        self._rows: dict[Hashable, int] = {}
        self._priors = np.zeros((0, family.dimension))
        self._truth = Ledger.blank(self._priors.copy())
        self._counts = np.zeros((2, 0), dtype=np.int64)  # tells, and asks that are outstanding
        for arm, one in learnt.items():
            self[arm] = one
        self._prepare()

    def _prepare(self) -> None:
        self._after = np.zeros(self._family.dimension)
        self._learn: Call = entry(kernels.learn, family=self._family.kernels).hold(
            LATER,
            law=self._family.law,
            truth=self._truth,
            priors=self._priors,
            pending=self._counts[1],
            stale=np.zeros(len(self._rows) + 1, dtype=np.int64),
            reach=np.array(self._family.reach),
            after=self._after,
            discount=1.0,
        )

    def tell(self, arm: Hashable, value: float) -> None:
        """Learn a reward of an arm; RewardError, and no change, beyond the belief's reach."""
        row = self._rows[arm]
        if not self._learn(row, value):
            why = self._family.beyond_reach(self._after)
            raise RewardError(f"reward {value!r} is too large for arm {arm!r}: {why}")
        self._counts[0, row] += 1

    def expect(self, arm: Hashable, n: int) -> None:
        """Count `n` asks of an arm more, or less, as outstanding."""
        self._counts[1, self._rows[arm]] += n

    def __getitem__(self, arm: Hashable) -> Learnt:
        row = self._rows[arm]
        return Learnt(
            tuple(self._priors[row].tolist()),
            tuple(self._truth.beliefs[row].tolist()),
            *(float(column[row]) for column in self._truth[1:]),
            *self._counts[:, row].tolist(),
        )

    def __setitem__(self, arm: Hashable, learnt: Learnt) -> None:
        if arm not in self._rows:
            self._rows[arm] = len(self._rows)
            self._priors = np.vstack([self._priors, learnt.prior])
            sums = (np.append(column, 0.0) for column in self._truth[1:])
            self._truth = Ledger(np.vstack([self._truth.beliefs, learnt.belief]), *sums)
            self._counts = np.hstack([self._counts, np.zeros((2, 1), dtype=np.int64)])
            self._prepare()
        row = self._rows[arm]
        self._priors[row], self._truth.beliefs[row] = learnt.prior, learnt.belief
        for column, value in zip(self._truth[1:], learnt[2:5], strict=True):
            column[row] = value
        self._counts[:, row] = learnt[5:]

    def __delitem__(self, arm: Hashable) -> None:
        raise TypeError("what was learnt of an arm stays")

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getstate__(self) -> dict[str, Any]:
        """All but the call, which holds arrays by their addresses: a copy has its own."""
        return {name: part for name, part in vars(self).items() if name not in ("_learn", "_after")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare()
