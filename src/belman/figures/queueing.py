"""The paper's application: three queues matched with five servers of unknown speed.

First by the rules of the published panels, which explore differently; then with the same forced
exploration for all, which is what a comparison of players needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from belman.exposure import Paper
from belman.figures.checks import check, compare
from belman.figures.claim import AllData, Check, Judgement
from belman.figures.curves import Curves, Panel, intervals
from belman.figures.declared import claimed, said
from belman.figures.figure import PAPER_COLUMN, Data, canvas, with_interval
from belman.figures.players import BELMAN
from belman.measures import condense, half_width, unstable
from belman.plots import style
from belman.policies import (
    UCB1,
    BelMan,
    CoinThompson,
    Forced,
    LogUCB,
    Policy,
    Thompson,
    q_ths,
    q_ucb,
    qbelman,
)
from belman.problems import queue
from belman.table import Table

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

#: The paper's service rates; arrivals are Poisson of rate 0.35.
_SERVICES = (
    (0.5, 0.33, 0.33, 0.33, 0.25),
    (0.33, 0.5, 0.25, 0.33, 0.25),
    (0.25, 0.33, 0.5, 0.25, 0.25),
)
_SEVERAL_ARRIVALS = (0.3, 0.25, 0.2)  # as in the authors' code
_RULED = "published rules"
_BELMAN, _JOINT = "BelMan", "BelMan (joint)"
_UCB, _THS, _THOMPSON = "Q-UCB", "Q-ThS", "Thompson"
#: Chances of forced exploration, and the published rival that has each.
_LEVELS = {"no forced exploration": 0.0, "exploration K ln²t/t": 1.0, "exploration 3K ln²t/t": 3.0}
_NONE, _ONCE, _THRICE = _LEVELS
_OWN_LEVEL = {_THOMPSON: _NONE, _THS: _ONCE, _UCB: _THRICE}


def _forced(policy: Policy, factor: float) -> Policy:
    """Forced exploration; K is the number of servers, however many queues share the beliefs."""
    return Forced(policy, factor=factor, arms=len(_SERVICES[0])) if factor else policy


def _equal(level: str) -> dict[str, Policy]:
    """Players with the same forced exploration, Thompson sampling by its draws, BelMan as in the
    authors' code and by Algorithm 1.
    """
    factor = _LEVELS[level]
    names = (_THS, _UCB) if factor else (_THOMPSON, "UCB")
    belmans = (BelMan(Paper(C=200.0), reading) for reading in ("natural", "joint"))
    played = (Thompson(), LogUCB(), *belmans)
    pairs = zip((*names, _BELMAN, _JOINT), played, strict=True)
    return {name: _forced(policy, factor) for name, policy in pairs}


#: Each by the rule that its published panel follows.
_RULES: dict[str, Policy] = {
    _THOMPSON: CoinThompson(ties="lowest"),
    _THS: _forced(CoinThompson(ties="lowest"), 1.0),
    _BELMAN: _equal(_ONCE)[_BELMAN],
    _JOINT: _equal(_ONCE)[_JOINT],
    _UCB: _equal(_THRICE)[_UCB],
}
#: Read off the published picture, queue by queue: at the end for those that grow, else at the peak.
_PUBLISHED = {
    _THOMPSON: ("end", (1.0, 38.0, 170.0)),
    _THS: ("end", (2.0, 46.0, 183.0)),
    _BELMAN: ("peak", (6.0, 8.0, 9.0)),
    _JOINT: ("peak", (6.0, 8.0, 9.0)),
    _UCB: ("peak", (13.0, 25.0, 33.0)),
}
_SHARED = {**BELMAN, "QBelMan": qbelman(arms=len(_SERVICES[0]))}


@dataclass(frozen=True)
class EachQueue(Panel):
    """A simulation of queues, each on its own."""

    def condensed(self, result: xarray.Dataset) -> xarray.Dataset:
        kept = result[["queue_regret", "mean_backlog", "largest_backlog"]]
        kept = kept.assign(together=kept.queue_regret.sum("queue"))
        return condense(kept.drop_vars("queue", errors="ignore").assign_attrs(result.attrs))


@dataclass(frozen=True)
class ThreeQueues(Curves):
    """Queue regret of every queue: a row of published rules, a row of equal exploration."""

    def draw(self, data: Data) -> Picture:
        figure, rows = canvas(2, len(_RULES), 2.2, 1.7)
        for ax, player in zip(rows[0], _RULES, strict=True):
            curves = data[_RULED].queue_regret.sel(player=player)
            named = {f"queue {position + 1}": curves.isel(queue=position) for position in range(3)}
            _draw_means(ax, named)
            _draw_published(ax, player, curves)
            ax.set_title(f"{player}, {_RULED}")
        for ax, level in zip(rows[1], _LEVELS, strict=False):
            curves = data[level].together
            _draw_means(ax, {str(name): curves.sel(player=name) for name in curves.player.values})
            ax.set_title(level)
            ax.set_xlabel("turn")
            ax.set_yscale("symlog", linthresh=1.0)
            ax.set_ylim(bottom=0.0)
            ax.legend(loc="upper left", fontsize="small", handlelength=1.0)
        rows[0][0].set_ylabel("queue regret")
        rows[1][0].set_ylabel("queue regret, all queues")
        rows[0][0].legend(loc="upper left")
        for ax in rows[1][len(_LEVELS) :]:
            ax.set_axis_off()
        return figure

    def tables(self, data: Data) -> list[Table]:
        return [_ends(panel, data[panel.title]) for panel in self.panels]


def _draw_means(ax: Axes, named: Mapping[str, xarray.DataArray]) -> None:
    """Means with their intervals, on a logarithmic axis of time."""
    for position, (name, result) in enumerate(named.items()):
        shade = style.colour(position)
        band: Any = {"color": shade, "alpha": 0.3, "linewidth": 0.0}
        low, mean, high = (result.sel(statistic=each) for each in ("low", "mean", "high"))
        ax.fill_between(result.turn, low, high, **band)
        ax.plot(result.turn, mean, color=shade, label=name)
        ax.set_xlim(1, int(result.turn[-1]))
    ax.set_xscale("log")


def _draw_published(ax: Axes, player: str, curves: xarray.DataArray) -> None:
    kind, sizes = _PUBLISHED[player]
    for queue_position, size in enumerate(sizes):
        mean = curves.isel(queue=queue_position).sel(statistic="mean")
        turn = int(mean.turn[-1]) if kind == "end" else int(mean.turn[int(mean.argmax("turn"))])
        ax.plot(turn, size, marker="D", color="0.45", markersize=5.0, zorder=4, clip_on=False)


def _ends(panel: Panel, part: xarray.Dataset) -> Table:
    rows: list[dict[str, object]] = []
    for player in part.player.values:
        for position in range(part.sizes["queue"]):
            end = part.queue_regret_at.isel(mark=-1).sel(player=player).isel(queue=position)
            mean = part.queue_regret.sel(player=player, statistic="mean").isel(queue=position)
            said = "–"
            if panel.title == _RULED:
                kind, sizes = _PUBLISHED[str(player)]
                said = f"{kind} {sizes[position]:g}"
            rows.append(
                {
                    "player": f"{player}, queue {position + 1}",
                    PAPER_COLUMN: said,
                    "at the end": with_interval(float(end.mean()), float(half_width(end))),
                    "peak": round(float(mean.max()), 1),
                    "at turn": int(mean.turn[int(mean.argmax("turn"))]),
                }
            )
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    words = f"{panel.title}, turn {panel.horizon:,}, {part.sizes['run']:,} runs"
    return Table(columns, f"queue regret; {words}; ± are half-widths of 95 % intervals")


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
    order = part.player.values[part.mean_backlog.mean("run").values.argsort(kind="stable")]
    parts = [part.sel(player=player) for player in order]
    waits: dict[str, list[object]] = {
        f"wait {name}": [round(float(each[f"waiting_{name}"].mean()), 2) for each in parts]
        for name in ("mean", "p95", "p99")
    }
    rows: dict[str, list[object]] = {
        "player": list(order),
        "queue regret": intervals(each.queue_regret_at.isel(mark=-1) for each in parts),
        "its peak": [
            round(float(each.queue_regret.sel(statistic="mean").max()), 1) for each in parts
        ],
        "unstable": [float(each.unstable.mean()) for each in parts],
        "mean backlog": intervals(each.mean_backlog for each in parts),
        **waits,
    }
    return Table(
        rows,
        f"{panel.title}, turn {panel.horizon:,}, {part.sizes['run']:,} runs; ± are half-widths of "
        "95 % intervals",
    )


THREE_QUEUES = ThreeQueues(
    **said("queueing"),
    panels=tuple(
        EachQueue(
            title,
            queue(_SERVICES, [0.35] * 3, shared=True, matching="favourites"),
            players,
            horizon=10_000,
            runs=400,
            paper_runs=50,
            quick_runs=100,
        )
        for title, players in ((_RULED, _RULES), *((level, _equal(level)) for level in _LEVELS))
    ),
    variables=("queue_regret",),
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


def _jobs(data: Data, title: str, player: str, kind: str = "mean") -> tuple[str, xarray.DataArray]:
    """Jobs in all queues, on average over a run, or in the longest queue at its worst."""
    result = data[title][f"{kind}_backlog"].sel(player=player)
    jobs = result.sum("queue") if kind == "mean" else result.max("queue") * 1.0
    return f"{player}, {title}", jobs


def _pictured(data: Data, player: str) -> Check:
    """The last queue, the longest, is as long as in the published picture."""
    kind, sizes = _PUBLISHED[player]
    part = data[_RULED]
    mean = part.queue_regret.sel(player=player, statistic="mean").isel(queue=-1)
    turn = int(mean.argmax("turn")) if kind == "peak" else -1
    high = part.queue_regret.sel(player=player, statistic="high").isel(queue=-1, turn=turn)
    size, half = float(mean.isel(turn=turn)), float(high - mean.isel(turn=turn))
    words = f"{player}: {kind} of queue 3 within 20 % of the paper's {sizes[-1]:g} (relative)"
    off = abs(size / sizes[-1] - 1.0)
    return Check(words, off, half / sizes[-1], 0.2, runs=part.sizes["run"])


def _queueing(everything: AllData) -> Judgement:
    """Efficient: shorter queues on average; stable: the longest queue of a run is shorter.

    Each rival speaks against the claim if it has shorter queues than a BelMan with the same forced
    exploration.
    """
    data = everything[THREE_QUEUES.name]
    kinds = {"mean": "shorter queues on average", "largest": "a shorter longest queue"}
    better = [
        compare(
            f"BelMan: {words} than {rival}",
            _jobs(data, _RULED, _BELMAN, kind),
            _jobs(data, _RULED, rival, kind),
        )
        for kind, words in kinds.items()
        for rival in (_UCB, _THS, _THOMPSON)
    ]
    against = [
        compare(
            f"{rival}: shorter queues on average than BelMan, both with {level}",
            _jobs(data, level, rival),
            _jobs(data, level, _BELMAN),
        )
        for rival, level in _OWN_LEVEL.items()
    ]
    causes = [_pictured(data, player) for player in _RULES]
    lead = _jobs(data, _ONCE, _UCB)[1] - _jobs(data, _ONCE, _BELMAN)[1]
    causes.append(check(f"BelMan: shorter queues than Q-UCB, both with {_ONCE}", -lead))
    return Judgement({_RULED: better}, causes, against)


CLAIM = claimed("queueing", _queueing)
