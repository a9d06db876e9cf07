"""What the page shows of a study at one moment: a few arms in full, and numbers for the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from belman.agent.agent import agent_of
from belman.dashboard.details import details, label, short
from belman.dashboard.past import Past
from belman.measures.earned import earned
from belman.service.views import dial
from belman.studies.state import State
from belman.studies.traffic.colours import colour_of
from belman.studies.views.status import status
from belman.studies.views.study_views import tables

TOP = 6
MAX_LISTED = 50


class Wanted(NamedTuple):
    """What a watcher wants to see beside the rest: more arms, by id, and the details."""

    arms: tuple[int, ...] = ()
    details: bool = False


PLAIN = Wanted()


class Snapshot:
    """All that is known of a study after an event, worked out once for everybody who watches."""

    def __init__(self, name: str, state: State, now: float) -> None:
        self.state, self.now = state, now
        if state.early is not None:  # as in the report, what counts is what windows have closed on
            state.decider.count_provisionally(np.zeros((len(state.arms), 3)))
        self.status = {"name": name, **status(state), **dial(state.decider.policy)}
        self.table = state.decider.beliefs(None, 0.95)
        self.labels = [label(arm) for arm in state.arms]
        self.ids = [state.positions[arm] for arm in state.arms]
        best = np.array(self.table["P(best)"])
        plays = np.array(self.table["plays"])
        self.order = [
            int(position) for position in np.lexsort((np.arange(len(best)), -plays, -best))
        ]
        self._past: Past | None = None
        self._contexts: dict[str, Any] | None = None

    def result(self, query: str, most: int) -> list[int]:
        """Places of arms whose name holds the words, the most likely best first."""
        words = query.casefold()
        return [position for position in self.order if words in self.labels[position].casefold()][
            :most
        ]

    @property
    def quantity(self) -> str:
        """What the table calls the expected reward."""
        return next(name for name in self.table.columns if name.startswith("expected"))

    @property
    def past(self) -> Past:
        """Who got the traffic, and what it earned, over time."""
        if self._past is None:
            self._past = Past(self.state.tally.course, len(self.state.register))
        return self._past

    @property
    def contexts(self) -> dict[str, Any] | None:
        """What is known by context, as tables, where the study has contexts."""
        if self._contexts is None and self.state.settings.has_contexts:
            self._contexts = {
                title: {name: [short(cell) for cell in table[name]] for name in table.columns}
                for title, table in tables(self.state).items()
            }
        return self._contexts

    def rows(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Arms as the page lists them."""
        arms = self.state.tally.arms
        total = max(sum(arm.asks for arm in arms), 1)
        rows = []
        for position in positions:
            id, columns = self.ids[position], self.table.columns
            rows.append(
                {
                    "id": id,
                    "label": self.labels[position],
                    "colour": colour_of(self.state.register[id], id)._asdict(),
                    **{name: short(columns[name][position]) for name in ("plays", "low", "high")},
                    "expected": short(columns[self.quantity][position]),
                    "best": columns["P(best)"][position],
                    "asked": arms[id].asks,
                    "open": self.state.learnt(id).pending,
                    "told": arms[id].told,
                    "share": short(arms[id].asks / total),
                }
            )
        return rows

    @np.errstate(all="ignore")  # what is infinite is left out
    def view(self, wanted: Wanted = PLAIN) -> dict[str, Any]:
        """The page but for its verdict, with the arms of these ids beside the most likely best."""
        chosen, control = set(wanted.arms), self.state.settings.control
        more = [
            i for i, id in enumerate(self.ids) if id in chosen or self.state.register[id] == control
        ]
        listed = list(dict.fromkeys([*self.order[:MAX_LISTED], *more]))
        drawn = list(dict.fromkeys([*self.order[:TOP], *more]))
        ids = {arm: id for id, arm in enumerate(self.state.register)}
        mean, wide = self._fixed_split()
        result = {
            "number": self.state.number,
            "time": self.now,
            "status": self.status,
            "quantity": self.quantity,
            "control": None if control is None else label(control),
            "arms": self.rows(listed),
            "drawn": [self.ids[position] for position in drawn],
            "traffic": self.past.traffic([self.ids[position] for position in drawn]),
            "earned": self.past.earnings(mean, wide),
            "changes": self.past.changes(self.state.register),
        }
        if self.contexts is not None:
            result["contexts"] = self.contexts
        if wanted.details:
            decides = not self.state.settings.has_contexts
            agent = agent_of(self.state.over_contexts.copy())
            result["details"] = details(agent, self.table, drawn, ids, decides)
        return result

    def _fixed_split(self) -> tuple[float, float]:
        """What an even split over the arms earns a turn by what is believed, and half its 95 %."""
        split = earned(self.state.decider.known(), 1, 0.0)
        return split.fixed_split, 0.5 * (split.high - split.low)
