"""Boxes: what they lose, whether they find the hill, and what a decision costs.

`python -m benchmarks.continuous [lost | hills | contexts | cost] [RUNS] [TURNS]` plays all of these
by default, or one:

- lost: prices whose chances of buying differ from run to run, curves that are drawn at random, and
  Branin's hills, against the default agent with an even grid of arms, and against the same belief
  with mean + 2 deviations;
- hills: how far from the top the point is that a search settles for, and how many runs settle for
  another hill, or none, against the samplers of Optuna on the same functions with the same noise
  (TPE; its Gaussian process where PyTorch is installed);
- contexts: prices that depend on who asks, and when, against a box without contexts, and against
  ten prices as arms in contexts;
- cost: CPU time of an ask and a tell after 100 to 10,000 rewards.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import belman
from belman.deciders.box.box_decider import BoxDecider
from belman.table import Table
from benchmarks.claim import Claim, report

Floats = NDArray[np.float64]


class Hill(NamedTuple):
    """A box, the expected reward of a point, a reward that is drawn for it, and the highest
    expected reward where a grid would not find it.
    """

    box: belman.Box
    expected: Callable[[Floats], float]
    reward: Callable[[Floats, np.random.Generator], float]
    top: float | None = None


def prices(luck: np.random.Generator) -> Hill:
    middle, width, most = luck.uniform(8, 16), luck.uniform(1, 3), luck.uniform(0.3, 1)

    def bought(at: Floats) -> float:
        return float(most / (1.0 + math.exp((at[0] - middle) / width)))

    return Hill(
        belman.Box(price=(5, 20)),
        lambda at: float(at[0]) * bought(at),
        lambda at, luck: float(at[0]) * (luck.random() < bought(at)),
    )


def curves(luck: np.random.Generator) -> Hill:
    waves, phases = luck.normal(size=40) / 0.12, luck.uniform(0.0, 2.0 * math.pi, 40)
    heights = luck.normal(size=40) * math.sqrt(2.0 / 40.0)

    def expected(at: Floats) -> float:
        return float(heights @ np.cos(waves * at[0] + phases))

    return _with_noise(belman.Box(x=(0, 1)), expected, 0.5)


def branin(luck: np.random.Generator) -> Hill:
    def expected(at: Floats) -> float:
        bend = at[1] - 5.1 / (4.0 * math.pi**2) * at[0] ** 2 + 5.0 / math.pi * at[0] - 6.0
        wave = 10.0 * (1.0 - 1.0 / (8.0 * math.pi)) * math.cos(at[0])
        return float(-(bend**2 + wave + 10.0) / 50.0)

    return _with_noise(belman.Box(x=(-5, 10), y=(0, 15)), expected, 0.2, -0.397887 / 50.0)


def _with_noise(
    box: belman.Box, expected: Callable[[Floats], float], noise: float, top: float | None = None
) -> Hill:
    return Hill(box, expected, lambda at, luck: expected(at) + noise * luck.normal(), top)


_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_STEEP = {
    3: np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]]),
    6: np.array(
        [
            [10, 3, 17, 3.5, 1.7, 8],
            [0.05, 10, 17, 0.1, 8, 14],
            [3, 3.5, 1.7, 10, 17, 8],
            [17, 8, 0.05, 10, 0.1, 14],
        ]
    ),
}
_MIDDLES = {
    3: [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]],
    6: [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ],
}
_TOPS = {3: 3.86278, 6: 3.32237}


def hartmann(sides: int, noise: float) -> Hill:
    """Four hills in a plain, over three or six sides."""
    steep, middles = _STEEP[sides], 1e-4 * np.array(_MIDDLES[sides])

    def expected(at: Floats) -> float:
        return float(_HEIGHTS @ np.exp(-(steep * (at - middles) ** 2).sum(axis=1)))

    box = belman.Box(**{f"x{side}": (0.0, 1.0) for side in range(sides)})
    return _with_noise(box, expected, noise, _TOPS[sides])


# What is lost


class TwoDeviations(BoxDecider):
    """The same belief, and the point whose mean + 2 deviations is the largest."""

    def _indices(self, mean: Floats, variance: Floats, noise: float) -> Floats:
        result: Floats = mean + 2.0 * np.sqrt(variance)
        return result


class Grid:
    """An even grid of separate arms with Gaussian rewards of unknown variance."""

    def __init__(self, box: belman.Box, seed: int) -> None:
        count = 10 if len(box) == 1 else 5
        across = [np.linspace(*side, count) for side in box.sides.values()]
        points = np.stack(np.meshgrid(*across), axis=-1).reshape(-1, len(box))
        arms = [tuple(map(float, point)) for point in points]
        self.box, self.agent = box, belman.Agent(arms, family="gaussian-unknown", seed=seed)

    def ask(self) -> dict[str, float]:
        arm = self.agent.ask()
        assert isinstance(arm, tuple)
        return dict(zip(self.box.sides, arm, strict=True))

    def tell(self, point: dict[str, float], reward: float) -> None:
        self.agent.tell(tuple(point.values()), reward)


def two_deviations(box: belman.Box, seed: int) -> belman.Agent:
    """An agent that decides by the rule above."""
    agent = belman.Agent(space=box, seed=seed)
    made = agent._decider
    assert isinstance(made, BoxDecider)
    agent._decider = TwoDeviations(box, shift=made._shift)
    return agent


PLAYERS: dict[str, Callable[[belman.Box, int], belman.Agent | Grid]] = {
    "Agent(space=…)": lambda box, seed: belman.Agent(space=box, seed=seed),
    "mean + 2 deviations": two_deviations,
    "separate arms": Grid,
}


def highest(hill: Hill) -> float:
    """Return the highest expected reward."""
    if hill.top is not None:
        return hill.top
    across = [np.linspace(*side, 2001) for side in hill.box.sides.values()]
    points = np.stack(np.meshgrid(*across), axis=-1).reshape(-1, len(hill.box))
    return max(map(hill.expected, points))


def regret(hill: Hill, player: str, turns: int, run: int) -> float:
    """What one run lost."""
    agent, luck = PLAYERS[player](hill.box, run), np.random.default_rng([2, run])
    top, lost = highest(hill), 0.0
    for _ in range(turns):
        point = agent.ask()
        at = np.array(list(point.values()))
        agent.tell(point, hill.reward(at, luck))
        lost += top - hill.expected(at)
    return lost


def play_lost(runs: int = 20, turns: int = 150) -> list[Claim]:
    lost = {
        (problem.__name__, player): np.array(
            [regret(problem(np.random.default_rng([1, r])), player, turns, r) for r in range(runs)]
        )
        for problem in (prices, curves, branin)
        for player in PLAYERS
    }
    print(
        Table(
            {
                "problem": [problem for problem, _ in lost],
                "player": [player for _, player in lost],
                "lost": [float(values.mean()) for values in lost.values()],
                "±": [_error(values) for values in lost.values()],
                "worst": [float(values.max()) for values in lost.values()],
            },
            f"{runs} runs of {turns} turns, ± one standard error",
        )
    )

    def ratio(other: str) -> float:
        ratios = [
            lost[name, "Agent(space=…)"].mean() / lost[name, other].mean()
            for name in ("prices", "curves", "branin")
        ]
        return float(np.exp(np.log(ratios).mean()))

    return [
        Claim("lost, over separate arms", ratio("separate arms"), 0.9, "times"),
        Claim("lost, over mean + 2 deviations", ratio("mean + 2 deviations"), 1.15, "times"),
    ]


def _error(values: Floats) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values)))


# Whether the hill is found

#: Problems, and the share of the runs that each is played in.
HILLS: dict[str, tuple[Callable[[], Hill], float]] = {
    "Hartmann-3, noise 0.3": (lambda: hartmann(3, 0.3), 1.0),
    "Hartmann-3": (lambda: hartmann(3, 0.0), 1.0),
    "Hartmann-6, noise 0.3": (lambda: hartmann(6, 0.3), 0.25),
}
#: How far below the top a run has settled for another hill, or for none.
FAR = 0.5
#: Settings were chosen on runs before this one.
FIRST_RUN = 1_000


def settled(hill: Hill, turns: int, run: int) -> Iterable[Floats]:
    """Yield the points that an agent tries, and last the one that it settles for."""
    agent, luck = belman.Agent(space=hill.box, seed=run), np.random.default_rng([4, run])
    for _ in range(turns):
        point = agent.ask()
        at = np.array(list(point.values()))
        agent.tell(point, hill.reward(at, luck))
        yield at
    best = agent.best()
    yield np.array([best[name] for name in hill.box.sides])


def sampled(name: str) -> Callable[[Hill, int, int], Iterable[Floats]]:
    """Return the same for a sampler of Optuna, which settles for its best trial."""

    def settle(hill: Hill, turns: int, run: int) -> Iterable[Floats]:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        luck, tried = np.random.default_rng([4, run]), []

        def objective(trial: Any) -> float:
            sides = hill.box.sides.items()
            tried.append(np.array([trial.suggest_float(name, *side) for name, side in sides]))
            return hill.reward(tried[-1], luck)

        sampler = getattr(optuna.samplers, name)(seed=run)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        study.optimize(objective, n_trials=turns)
        yield from tried
        yield np.array([study.best_trial.params[name] for name in hill.box.sides])

    return settle


def searchers() -> dict[str, Callable[[Hill, int, int], Iterable[Floats]]]:
    result: dict[str, Callable[[Hill, int, int], Iterable[Floats]]] = {"Agent(space=…)": settled}
    if importlib.util.find_spec("optuna"):
        result["Optuna, TPESampler"] = sampled("TPESampler")
        if importlib.util.find_spec("torch"):
            result["Optuna, GPSampler"] = sampled("GPSampler")
    return result


class Found(NamedTuple):
    """How far below the top runs settled, what each lost on the way, and its milliseconds."""

    below: Floats
    lost: Floats
    spent: float

    @property
    def missed(self) -> int:
        return int((self.below > FAR).sum())


def found_by(
    search: Callable[[Hill, int, int], Iterable[Floats]], hill: Hill, runs: int, turns: int
) -> Found:
    below, lost, started = [], [], time.process_time()
    for run in range(FIRST_RUN, FIRST_RUN + runs):
        *tried, last = search(hill, turns, run)
        below.append(highest(hill) - hill.expected(last))
        lost.append(sum(highest(hill) - hill.expected(at) for at in tried))
    spent = 1e3 * (time.process_time() - started) / runs / turns
    return Found(np.array(below), np.array(lost), spent)


def play_hills(runs: int = 40, turns: int = 200) -> list[Claim]:
    claims = []
    for problem, (made, share) in HILLS.items():
        played = max(round(share * runs), 2)
        rows = {
            name: found_by(search, made(), played, turns) for name, search in searchers().items()
        }
        columns: dict[str, list[Any]] = {
            "player": list(rows),
            "below the top": [float(row.below.mean()) for row in rows.values()],
            "±": [_error(row.below) for row in rows.values()],
            "worst": [float(row.below.max()) for row in rows.values()],
            "runs lost": [row.missed for row in rows.values()],
            "lost on the way": [float(row.lost.mean()) for row in rows.values()],
            "ms a turn": [row.spent for row in rows.values()],
        }
        title = f"{problem}: {played} runs of {turns} turns, ± one standard error"
        print(Table(columns, title), flush=True)
        own = rows["Agent(space=…)"]
        claims.append(Claim(f"runs lost, {problem}", float(own.missed), 0, "runs"))
        if "Optuna, TPESampler" in rows:
            ratio = own.below.mean() / rows["Optuna, TPESampler"].below.mean()
            claims.append(Claim(f"below the top over TPE's, {problem}", ratio, 0.7, "times"))
    return claims


# Contexts


def worth(price: float, context: dict[str, Any]) -> float:
    """Return the expected revenue of a price: the same curve about another price for everyone."""
    middle = {"FR": 8.0, "DE": 11.0, "CH": 15.0}[context["country"]]
    middle += 2.0 * math.sin((context["hour"] - 6.0) / 12.0 * math.pi)
    return price / (1.0 + math.exp((price - middle) / 1.0))


def _asked(context: dict[str, Any], agent: belman.Agent, kind: str) -> float:
    return float(
        agent.ask()["price"]
        if kind == "a box without contexts"
        else agent.ask(context=context)["price"]
        if kind == "Agent(space=…, context=…)"
        else agent.ask(context=context)
    )


CONTEXTUAL: dict[str, Callable[[int], belman.Agent]] = {
    "Agent(space=…, context=…)": lambda seed: belman.Agent(
        space=belman.Box(price=(5, 20)), context=["country", "hour"], seed=seed
    ),
    "a box without contexts": lambda seed: belman.Agent(space=belman.Box(price=(5, 20)), seed=seed),
    "ten prices in contexts": lambda seed: belman.Agent(
        np.linspace(5, 20, 10).tolist(), context=["country", "hour"], model="linear", seed=seed
    ),
}


def play_contexts(runs: int = 10, turns: int = 400) -> list[Claim]:
    tops = np.linspace(5, 20, 601)
    lost = {}
    for kind, make in CONTEXTUAL.items():
        result = []
        for run in range(runs):
            agent, luck, missed = make(run), np.random.default_rng([3, run]), 0.0
            for _ in range(turns):
                country, hour = ("FR", "DE", "CH")[luck.integers(3)], float(luck.integers(24))
                context = {"country": country, "hour": hour}
                price = _asked(context, agent, kind)
                expected = worth(price, context)
                missed += max(worth(float(top), context) for top in tops) - expected
                reward = price * (luck.random() < expected / price)
                agent.tell(ticket=agent.ticket, reward=float(reward))
            result.append(missed)
        lost[kind] = np.array(result)
    print(
        Table(
            {
                "player": list(lost),
                "lost": [float(values.mean()) for values in lost.values()],
                "±": [_error(values) for values in lost.values()],
            },
            f"prices in contexts: {runs} runs of {turns} turns, ± one standard error",
        )
    )
    own, plain, arms = (float(values.mean()) for values in lost.values())
    return [
        Claim("lost, over a box without contexts", own / plain, 0.9, "times"),
        Claim("lost, over ten prices in contexts", own / arms, 1.0, "times"),
    ]


# Cost


def cost_of_turns(sides: int, rewards: Iterable[int]) -> list[tuple[float, float]]:
    """Return milliseconds of an ask, and of all tells so far, for each number of rewards."""
    names = [f"x{side}" for side in range(sides)]
    agent = belman.Agent(space=belman.Box(**dict.fromkeys(names, (0.0, 1.0))), seed=1)
    luck, result, telling, told = np.random.default_rng(1), [], 0.0, 0
    for count in rewards:
        started = time.process_time()
        for _ in range(count - told):
            at = luck.random(sides)
            reward = -((at - 0.4) ** 2).sum() + 0.3 * luck.normal()
            agent.tell(dict(zip(names, at.tolist(), strict=True)), float(reward))
        telling += time.process_time() - started
        told, spent = count, []
        for _ in range(3):
            started = time.process_time()
            agent.ask()
            spent.append(time.process_time() - started)
            agent.cancel(ticket=agent.ticket)
        result.append((1e3 * min(spent), 1e3 * telling / count))
    return result


def play_cost(runs: int = 10_000, turns: int = 0) -> list[Claim]:
    counts = [count for count in (100, 300, 1_000, 10_000) if count <= runs]
    result = {sides: cost_of_turns(sides, counts) for sides in (1, 3, 6)}
    print(
        Table(
            {
                "rewards": counts,
                **{f"ask, {s} sides": [one[0] for one in result[s]] for s in result},
                **{f"tell, {s} sides": [one[1] for one in result[s]] for s in result},
            },
            "CPU milliseconds of an ask, and of a tell on average until then",
        )
    )
    most = max(one[0] for rows in result.values() for one in rows)
    return [Claim("an ask, the slowest of these", most, 300.0, "ms")]


PARTS: dict[str, Callable[..., list[Claim]]] = {
    "lost": play_lost,
    "hills": play_hills,
    "contexts": play_contexts,
    "cost": play_cost,
}


def main(*given: str) -> None:
    parts = [part for part in given if part in PARTS] or list(PARTS)
    numbers = [int(one) for one in given if one not in PARTS]
    claims = [claim for part in parts for claim in PARTS[part](*numbers)]
    report("boxes", claims, {})


if __name__ == "__main__":
    main(*sys.argv[1:])
