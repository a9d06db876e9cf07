"""The paper's application: one queue, five servers of unknown speed, three settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from belman.figures.checks import OURS, PAPER, interval
from belman.figures.claim import AllData, Check, Claim, Judgement
from belman.figures.figure import SEED, Curves, Data, Panel, Part
from belman.figures.players import BELMAN
from belman.lab.simulation import Simulation, simulate
from belman.measures import condense, half_width, unstable
from belman.policies import UCB1, CoinThompson, Forced, Policy, Thompson, q_ths, q_ucb, qbelman
from belman.problems import queue
from belman.table import Table

if TYPE_CHECKING:
    import xarray

#: The paper's service rates; arrivals are Poisson of rate 0.35.
SERVICES = (
    (0.5, 0.33, 0.33, 0.33, 0.25),
    (0.33, 0.5, 0.25, 0.33, 0.25),
    (0.25, 0.33, 0.5, 0.25, 0.25),
)
ARRIVALS = 0.35
HORIZON = 10_000
PUBLISHED = "QBelMan"

PLAYERS: dict[str, Policy] = {
    **BELMAN,
    PUBLISHED: qbelman(),
    "Thompson": Thompson(),
    "Q-UCB": q_ucb(),
    "Q-ThS": q_ths(),
    "Thompson (authors)": CoinThompson(),
    "Q-ThS (authors)": Forced(CoinThompson()),
    "UCB": UCB1(),
}
#: "Thompson sampling" and "Q-ThS" as they are, and as the authors' code has them.
PROPER = ("Q-UCB", "Q-ThS", "Thompson")
AUTHORS = ("Q-ThS (authors)", "Thompson (authors)")


@dataclass(frozen=True)
class QueuePanel(Panel):
    """A simulation of queues, counted together; every run is marked as stable or not."""

    def _part(self, players: Mapping[str, Any], runs: int) -> Part:
        design = Simulation(players, self.problem, self.horizon, runs, SEED)

        def compute(progress: bool | None) -> xarray.Dataset:
            result = simulate(players, self.problem, self.horizon, runs, SEED, progress=progress)
            waiting = ["waiting_mean", "waiting_p95", "waiting_p99"]
            kept = result[["queue_regret", "mean_backlog", *waiting]]
            kept = kept.drop_vars("queue", errors="ignore")
            kept = kept.assign(unstable=unstable(result).astype(float))
            if "queue" in kept.dims:
                sums = {name: kept[name].sum("queue") for name in ("queue_regret", "mean_backlog")}
                kept = kept.assign(kept[waiting].mean("queue")).assign(sums)
            return condense(kept.assign_attrs(result.attrs))

        return Part(design.describe(), compute, design)


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


FIGURE = Queues(
    name="queueing",
    title="One queue, five servers of unknown speed",
    shows="Jobs more in the queue than with the best server from the start, on the same arrivals "
    "and the same luck.",
    paper="Q-ThS and Thompson grow to about 180 and 170 in queue 3 and 45 and 37 in queue 2; "
    "Q-UCB peaks at 15–33 near turn 1,000 and returns to 0; BelMan peaks at about 8 near turn 200 "
    "and returns to 0.",
    panels=tuple(
        QueuePanel(
            f"queue {place + 1}",
            queue(rates, ARRIVALS),
            PLAYERS,
            horizon=HORIZON,
            runs=400,
            paper_runs=50,
        )
        for place, rates in enumerate(SERVICES)
    ),
    variables=("queue_regret",),
    log=True,
    logarithmic=(),
    ceiling=60.0,
)


def _all_queues(data: Data, player: str, variable: str) -> xarray.DataArray:
    """A number of every run, averaged over the three settings (whose runs share their seeds)."""
    found = [data[panel.title][variable].sel(player=player) for panel in FIGURE.panels]
    return sum(found[1:], found[0]) / len(found)


def _shorter(data: Data, player: str, rival: str) -> Check:
    estimate, half, runs = interval(
        _all_queues(data, player, "mean_backlog") - _all_queues(data, rival, "mean_backlog")
    )
    return Check(f"{player}: a shorter mean queue than {rival}", estimate, half, 0.0, runs=runs)


def _steadier(data: Data, player: str, rival: str) -> Check:
    estimate, half, runs = interval(
        _all_queues(data, player, "unstable") - _all_queues(data, rival, "unstable")
    )
    return Check(f"{player}: fewer unstable runs than {rival}", estimate, half, 0.0, runs=runs)


def _queueing(everything: AllData) -> Judgement:
    data = everything["queueing"]
    rivals = (*PROPER, *AUTHORS)
    lost = interval(_all_queues(data, PAPER, "unstable"))
    return Judgement(
        [
            *(_shorter(data, PUBLISHED, rival) for rival in rivals),
            *(_steadier(data, PUBLISHED, rival) for rival in AUTHORS),
        ],
        [
            *(_shorter(data, OURS, rival) for rival in rivals),
            Check(
                f"{PAPER}, no forced exploration: some runs are unstable (share)",
                lost[0],
                lost[1],
                0.0,
                below=False,
                runs=lost[2],
            ),
        ],
    )


CLAIM = Claim(
    10,
    "Queueing",
    "BelMan is more stable and efficient than Q-UCB, Q-ThS and Thompson sampling.",
    ("queueing",),
    _queueing,
    "The rivals called Thompson and Q-ThS toss a coin with the drawn chance in the authors' code, "
    "which throws away most of the draw: against those QBelMan's claim holds. Against Thompson "
    "sampling proper, without forced exploration, it does not.",
)
