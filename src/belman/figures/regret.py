"""The paper's figures of regret, Bernoulli and exponential rewards, and what it claims of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray

from belman.figures.checks import (
    MARGIN,
    OURS,
    PAPER,
    SCORE,
    Parts,
    check,
    growth,
    judge_panels,
    late_draws,
    less,
    locked,
)
from belman.figures.claim import AllData, Check, Claim, Judgement
from belman.figures.curves import Curves, Panel, last
from belman.figures.players import (
    BOUND,
    BOUNDED,
    EXPONENTIAL,
    SLOW,
    TEN,
    TWENTY,
    BetaThompson,
    bernoulli_players,
)
from belman.measures import half_width
from belman.problems import bernoulli, exponential

_LONG = 50_000
_SMALL, _LARGE = (0.2, 0.25, 0.33, 0.5, 1.0), (1.0, 2.0, 3.0, 4.0, 5.0)
_BERNOULLI_RIVALS = ("Bayes-UCB", "Thompson", "UCB", "KL-UCB", "Gittins", "Random")


def _bernoulli(title: str, means: Sequence[float], horizon: int = 1_000, **more: Any) -> Panel:
    return Panel(title, bernoulli(means), bernoulli_players(horizon), horizon, **more)


def _exponential(
    parameters: Sequence[float],
    words: str,
    players: Mapping[str, Any] = EXPONENTIAL,
    slow: Mapping[str, Any] = SLOW,
    bound: float | None = None,
) -> tuple[Panel, ...]:
    """The same parameters read as rates and as means: the paper's text allows both."""
    readings = {"rates": [1.0 / rate for rate in parameters], "means": parameters}
    return tuple(
        Panel(f"{reading} {words}", exponential(means, bound), players, slow=slow, slow_runs=60)
        for reading, means in readings.items()
    )


TWO_ARMS = Curves(
    name="bernoulli-2",
    title="Two arms, 0.8 and 0.9",
    shows="Few arms with a gap of 0.1: what it costs to be too sure too soon.",
    paper="BelMan is comparable to the others, turns to exploitation sooner, and varies less "
    "between runs.",
    panels=(_bernoulli("Bernoulli 0.8, 0.9", [0.8, 0.9], slow=SLOW),),
)
CLOSE_ARMS = Curves(
    name="bernoulli-2-close",
    title="Two arms, 0.45 and 0.55",
    shows="The same gap in the middle of the scale, where rewards vary most.",
    paper="BelMan is competitive.",
    panels=(_bernoulli("Bernoulli 0.45, 0.55", [0.45, 0.55], 500, slow=SLOW),),
)
TEN_ARMS = Curves(
    name="bernoulli-10",
    title="Ten arms, 0.1 to 0.01",
    shows="Rare successes: most arms have none for a long time.",
    paper="BelMan outperforms the others.",
    panels=(_bernoulli("Bernoulli, ten arms", TEN, 500, slow=SLOW),),
)
TWENTY_ARMS = Curves(
    name="bernoulli-20",
    title="Twenty arms, 0.25 to 0.01",
    shows="Many arms and a short time: a greedy player gains what a careful one spends on looking.",
    paper="BelMan outperforms all, with about 230 suboptimal draws and none after turn 500.",
    panels=(_bernoulli("Bernoulli, twenty arms", TWENTY, slow=SLOW),),
    published={
        "BelMan (paper)": "230 draws (155–330)",
        "Bayes-UCB": "800 draws (700–895)",
        "Thompson": "695 draws (570–780)",
        "UCB": "865 draws (800–900)",
        "KL-UCB": "825 draws (740–895)",
        "Gittins": "500 draws (430–540)",
        "Random": "950 draws",
    },
)
LONG = Curves(
    name="bernoulli-20-long",
    title="Twenty arms over 50,000 turns",
    shows="Whether regret grows like ln t in the end; the dotted line has the slope of Lai and "
    "Robbins' bound.",
    paper="BelMan's regret becomes linear in ln t.",
    panels=(_bernoulli("Bernoulli, twenty arms", TWENTY, _LONG, runs=300, paper_runs=50),),
    variables=("regret",),
    log=True,
    logarithmic=(),
    ceiling=800.0,
    bound=True,
)
CUT = Curves(
    name="exponential-5-bounded",
    title="Five exponential arms cut at 10",
    shows="Rewards min(X, 10). UCB-tuned without its cap and Thompson sampling with Beta beliefs "
    "on x/10 are the rivals whose sizes match the paper's picture.",
    paper="BelMan is better than Thompson, UCB-tuned, KL-UCB and KL-UCB-exp.",
    panels=_exponential(
        _SMALL,
        "0.2 to 1, cut at 10",
        BOUNDED,
        {**SLOW, "Thompson (Beta)": BetaThompson},
        BOUND,
    ),
    published={
        "BelMan (paper)": "97 draws (50–155)",
        "Thompson": "307 draws (263–357)",
        "UCB-tuned": "362 draws (330–405)",
        "KL-UCB": "312 draws (278–348)",
        "KL-UCB-exp": "252 draws (215–275)",
        "Random": "800 draws",
    },
)
UNCUT = Curves(
    name="exponential-5",
    title="Five exponential arms, parameters 0.2 to 1",
    shows="The same numbers read as rates (means 5 to 1) and as means (0.2 to 1): the paper's "
    "text allows both.",
    paper="BelMan outperforms all.",
    panels=_exponential(_SMALL, "0.2 to 1"),
)
LARGE = Curves(
    name="exponential-5-large",
    title="Five exponential arms, parameters 1 to 5",
    shows="Larger parameters: as rates means of 1 to 0.2, as means 1 to 5.",
    paper="KL-UCB-exp is best and BelMan competitive.",
    panels=_exponential(_LARGE, "1 to 5"),
)
FIGURES = (TWO_ARMS, CLOSE_ARMS, TEN_ARMS, TWENTY_ARMS, LONG, CUT, UNCUT, LARGE)


def _sooner(parts: Parts, player: str, rival: str) -> Check:
    words = f"{player}: fewer suboptimal draws than {rival} in the second half"
    return check(words, late_draws(parts, player) - late_draws(parts, rival))


def _steadier(parts: Parts, player: str, rival: str) -> Check:
    (own, own_half), (other, half) = (_log_variance(last(parts, name)) for name in (player, rival))
    words = f"{player}: smaller variance of regret than {rival} (ln of the ratio)"
    both = float(np.hypot(own_half, half))
    return Check(words, own - other, both, 0.0, runs=last(parts, player).size)


def _log_variance(values: xarray.DataArray) -> tuple[float, float]:
    """ln of a variance and the half-width of its interval, from the fourth moment."""
    off = values.values - values.values.mean()
    square = float((off**2).mean())
    spread = max((off**4).mean() / square**2 - 1.0, 0.0) / off.size
    return float(np.log(square)), SCORE * float(np.sqrt(spread))


def _few_draws(parts: Parts, player: str) -> Check:
    words = f"{player}: at most 330 suboptimal draws, the paper's largest"
    return check(words, last(parts, player, "suboptimal_draws"), 330.0)


def _settles(parts: Parts, player: str) -> Check:
    words = f"{player}: hardly any suboptimal draw after turn 500 (less than 5)"
    return check(words, late_draws(parts, player), 5.0)


def _cut(everything: AllData) -> Judgement:
    """Both readings; then, of the rates alone, what tells which rivals the paper has."""
    rivals = ("Thompson", "UCB-tuned", "KL-UCB", "KL-UCB-exp")
    tests = [[(less, player, rival) for rival in rivals] for player in (PAPER, OURS)]
    checks, causes = judge_panels(CUT, *tests)(everything)
    rates = CUT.panels[0].data(everything[CUT.name])
    published = {
        "Thompson (Beta)": 307.0,
        "UCB-tuned (no cap)": 362.0,
        "KL-UCB": 312.0,
        "KL-UCB-exp": 252.0,
    }
    sizes = [_as_published(rates, player, draws) for player, draws in published.items()]
    return Judgement(checks, [*causes, locked(rates, PAPER), *sizes])


def _as_published(parts: Parts, player: str, published: float) -> Check:
    draws = last(parts, player, "suboptimal_draws")
    size = f"the paper's {published:.0f} (relative difference)"
    words = f"{player} (rates): suboptimal draws within 15 % of {size}"
    off, half = abs(draws.mean() / published - 1.0), float(half_width(draws)) / published
    return Check(words, float(off), half, 0.15, runs=draws.size)


CLAIMS = (
    Claim(
        1,
        "Two arms, 0.8 and 0.9",
        "BelMan is comparable, reaches exploitation sooner, with significantly less variance.",
        (TWO_ARMS.name,),
        judge_panels(
            TWO_ARMS,
            [
                (less, PAPER, "Thompson", MARGIN),
                (_sooner, PAPER, "Thompson"),
                (_steadier, PAPER, "Thompson"),
            ],
            [(locked, PAPER), (less, OURS, "Thompson")],
        ),
        "The paper's exposure is the same for both arms and shrinks fast: a run whose better arm "
        "starts badly never returns to it.",
    ),
    Claim(
        2,
        "Twenty arms",
        "BelMan outperforms all, with about 230 suboptimal draws and none after turn 500.",
        (TWENTY_ARMS.name,),
        judge_panels(
            TWENTY_ARMS,
            [
                *((less, PAPER, rival) for rival in _BERNOULLI_RIVALS),
                (_few_draws, PAPER),
                (_settles, PAPER),
            ],
            [(less, PAPER, "ε-greedy"), (less, OURS, "Thompson"), (less, OURS, "ε-greedy")],
        ),
        "The two best arms are 0.03 apart: after ten draws each nobody can know which is better, "
        "so a count of 230 cannot be. Regret is another matter, because a second-best arm costs "
        "little.",
    ),
    Claim(
        3,
        "Two close arms, 0.45 and 0.55",
        "BelMan is competitive.",
        (CLOSE_ARMS.name,),
        judge_panels(
            CLOSE_ARMS,
            [(less, PAPER, "Thompson", MARGIN)],
            [(locked, PAPER), (less, OURS, "Thompson")],
        ),
    ),
    Claim(
        4,
        "Ten arms",
        "BelMan outperforms the others.",
        (TEN_ARMS.name,),
        judge_panels(
            TEN_ARMS,
            [(less, PAPER, rival) for rival in _BERNOULLI_RIVALS],
            [(less, PAPER, "ε-greedy"), (less, OURS, "Thompson")],
        ),
    ),
    Claim(
        5,
        "Bounded exponential rewards",
        "BelMan is better than Thompson, UCB-tuned, KL-UCB and KL-UCB-exp.",
        (CUT.name,),
        _cut,
        "The paper's parameters are rates in the experiment that it repeats. Its sizes for the "
        "rivals are met by UCB-tuned without its cap and by Thompson sampling with Beta beliefs on "
        "x/10.",
    ),
    Claim(
        6,
        "Exponential rewards, parameters 0.2 to 1",
        "BelMan outperforms all.",
        (UNCUT.name,),
        judge_panels(
            UNCUT,
            [(less, PAPER, rival) for rival in ("Thompson", "UCB-tuned", "KL-UCB-exp")],
            [(less, OURS, "Thompson"), (locked, PAPER)],
        ),
        "The schedule is made for rewards in [0, 1]: on means of 1 to 5 it is five times as greedy "
        "as on means of 0.2 to 1.",
    ),
    Claim(
        7,
        "Exponential rewards, parameters 1 to 5",
        "KL-UCB-exp is best and BelMan competitive.",
        (LARGE.name,),
        judge_panels(
            LARGE,
            [
                *((less, "KL-UCB-exp", rival) for rival in ("Thompson", "UCB-tuned", PAPER)),
                (less, PAPER, "Thompson", MARGIN),
            ],
            [(less, OURS, "KL-UCB-exp"), (locked, PAPER)],
        ),
    ),
    Claim(
        8,
        "Twenty arms over 50,000 turns",
        "BelMan's regret becomes linear in ln t.",
        (LONG.name,),
        judge_panels(
            LONG,
            [(growth, PAPER)],
            [
                *((growth, player) for player in (OURS, "Thompson", "IMED")),
                (locked, PAPER),
                (less, OURS, "Thompson"),
            ],
        ),
        "A locked run pays its gap every turn: regret grows like t times the share of such runs.",
    ),
)
