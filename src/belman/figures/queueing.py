"""The paper's application: one queue, five servers of unknown speed, three settings.

And three queues that are matched with the servers in every turn by the players' indices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from belman.figures.checks import OURS, PAPER, check
from belman.figures.claim import AllData, Check, Judgement
from belman.figures.curves import Curves, Panel
from belman.figures.declared import claimed, said
from belman.figures.figure import Data
from belman.figures.players import BELMAN
from belman.measures import condense, half_width, unstable
from belman.policies import UCB1, CoinThompson, Forced, Policy, Thompson, q_ths, q_ucb, qbelman
from belman.problems import queue
from belman.table import Table

if TYPE_CHECKING:
    import xarray

#: The paper's service rates; arrivals are Poisson of rate 0.35.
_SERVICES = (
    (0.5, 0.33, 0.33, 0.33, 0.25),
    (0.33, 0.5, 0.25, 0.33, 0.25),
    (0.25, 0.33, 0.5, 0.25, 0.25),
)
_SEVERAL_ARRIVALS = (0.3, 0.25, 0.2)  # as in the authors' code
_PUBLISHED = "QBelMan"

_PLAYERS: dict[str, Policy] = {
    **BELMAN,
    _PUBLISHED: qbelman(),
    "Thompson": Thompson(),
    "Q-UCB": q_ucb(),
    "Q-ThS": q_ths(),
    "Thompson (authors)": CoinThompson(),
    "Q-ThS (authors)": Forced(CoinThompson()),
    "UCB": UCB1(),
}
#: K in the chance of exploring is the number of servers, however many queues share the beliefs.
_SHARED = {**BELMAN, _PUBLISHED: qbelman(arms=len(_SERVICES[0]))}
#: "Thompson sampling" and "Q-ThS" as they are, and as the authors' code has them.
_PROPER = ("Q-UCB", "Q-ThS", "Thompson")
_AUTHORS = ("Q-ThS (authors)", "Thompson (authors)")


@dataclass(frozen=True)
class QueuePanel(Panel):
    """A simulation of queues, counted together; every run is marked as stable or not."""

    def condensed(self, result: xarray.Dataset) -> xarray.Dataset:
        waiting = ["waiting_mean", "waiting_p95", "waiting_p99"]
        kept = result[["queue_regret", "mean_backlog", *waiting]]
        kept = kept.drop_vars("queue", errors="ignore")
        kept = kept.assign(unstable=unstable(result).astype(float))
        if "queue" in kept.dims:
            sums = {name: kept[name].sum("queue") for name in ("queue_regret", "mean_backlog")}
            kept = kept.assign(kept[waiting].mean("queue")).assign(sums)
        return condense(kept.assign_attrs(result.attrs))


@dataclass(frozen=True)
class Queues(Curves):
    """Queue regret over time, and a table of what waiting was like."""

    def tables(self, data: Data) -> list[Table]:
        return [_waits(panel, data[panel.title]) for panel in self.panels]


def _waits(panel: Panel, part: xarray.Dataset) -> Table:
    end = part.queue_regret_at.isel(mark=-1)
    columns = {
        "queue regret": end.mean("run"),
        "± queue regret": half_width(end),
        "its peak": part.queue_regret.sel(statistic="mean").max("turn"),
        "unstable": part.unstable.mean("run"),
        "mean backlog": part.mean_backlog.mean("run"),
        "± mean backlog": half_width(part.mean_backlog),
        **{f"wait {name}": part[f"waiting_{name}"].mean("run") for name in ("mean", "p95", "p99")},
    }
    order = part.mean_backlog.mean("run").values.argsort(kind="stable")
    rows = {"player": part.player.values[order].tolist()} | {
        name: cells.values[order].tolist() for name, cells in columns.items()
    }
    return Table(
        rows,
        f"{panel.title}, turn {panel.horizon:,}, {part.sizes['run']:,} runs; ± are half-widths of "
        "95 % intervals",
    )


ONE_QUEUE = Queues(
    **said("queueing"),
    panels=tuple(
        QueuePanel(
            f"queue {place + 1}",
            queue(rates, 0.35),
            _PLAYERS,
            horizon=10_000,
            runs=400,
            paper_runs=50,
        )
        for place, rates in enumerate(_SERVICES)
    ),
    variables=("queue_regret",),
    log=True,
    logarithmic=(),
    ceiling=60.0,
)


MATCHING = Queues(
    **said("queueing-matching"),
    panels=(
        QueuePanel(
            "beliefs of each queue",
            queue(_SERVICES, _SEVERAL_ARRIVALS),
            {
                **_SHARED,
                "Thompson": Thompson(),
                "Q-UCB": q_ucb(),
                "Q-ThS": q_ths(),
                "Thompson (authors)": CoinThompson(),
                "UCB": UCB1(),
            },
            horizon=10_000,
            runs=200,
            paper_runs=50,
        ),
        QueuePanel(
            "one pseudobelief for all",
            queue(_SERVICES, _SEVERAL_ARRIVALS, shared=True),
            {**_SHARED, "Thompson": Thompson()},
            horizon=10_000,
            runs=200,
            paper_runs=50,
        ),
    ),
    variables=("queue_regret",),
    log=True,
    logarithmic=(),
    ceiling=15.0,
)


def _all_queues(data: Data, player: str, variable: str) -> xarray.DataArray:
    """A number of every run, averaged over the three settings (whose runs share their seeds)."""
    found = [data[panel.title][variable].sel(player=player) for panel in ONE_QUEUE.panels]
    return sum(found[1:], found[0]) / len(found)


def _fewer(data: Data, variable: str, words: str, player: str, rival: str) -> Check:
    own, other = (_all_queues(data, name, variable) for name in (player, rival))
    return check(f"{player}: {words} than {rival}", own - other)


def _queueing(everything: AllData) -> Judgement:
    data = everything[ONE_QUEUE.name]
    shorter = partial(_fewer, data, "mean_backlog", "a shorter mean queue")
    steadier = partial(_fewer, data, "unstable", "fewer unstable runs")
    rivals, lost = (*_PROPER, *_AUTHORS), _all_queues(data, PAPER, "unstable")
    words = f"{PAPER}, no forced exploration: some runs are unstable (share)"
    return Judgement(
        [
            *(shorter(_PUBLISHED, rival) for rival in rivals),
            *(steadier(_PUBLISHED, rival) for rival in _AUTHORS),
        ],
        [*(shorter(OURS, rival) for rival in rivals), check(words, lost, below=False)],
    )


CLAIM = claimed("queueing", _queueing)
