"""Pictures of beliefs: the arrays are right, and the drawings say what they show."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.text import Text
from scipy import special, stats
from scipy.optimize import isotonic_regression

import belman
from belman import exposure, plots
from belman.errors import ArmError, ExposureError, SettingError
from belman.families import FAMILIES, Bernoulli, Gaussian, Poisson
from belman.measures.seen_beliefs import density_of_mean, position, window_of
from belman.plots import style
from belman.plots.curves import Curves, _apart, draw_grid


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    pyplot.close("all")


@pytest.fixture
def agent() -> belman.Agent:
    agent = belman.Agent(["blue", "green", "red"], seed=7)
    for arm, reward in [
        ("blue", 1),
        ("blue", 1),
        ("blue", 0),
        ("green", 0),
        ("green", 1),
        ("red", 0),
    ] * 3:
        agent.tell(arm, reward)
    return agent


def many_arms() -> belman.Agent:
    agent = belman.Agent(range(30), seed=7)
    for arm in range(30):
        for turn in range(2 + arm % 7):
            agent.tell(arm, (arm + turn) % 3 == 0)
    return agent


# Densities


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("rewards", [0, 1, 40])
def test_densities_integrate_to_one(name: str, rewards: int) -> None:
    family = FAMILIES[name]()
    if rewards < 40 and not family.mean_exists:
        pytest.skip("tails over twenty decades do not matter for the trapezium rule")
    belief = family.prior
    for turn in range(rewards):  # a reward of 1 is in every support but that of beta rewards
        belief = family.update(
            belief,
            0.5 if name == "beta" else 0.0 if turn % 3 == 0 and family.supports(0.0) else 1.0,
        )
    x, density = density_of_mean(family, belief)
    assert (np.diff(x) >= 0.0).all()
    assert (density >= 0.0).all()
    assert np.trapezoid(density, x) == pytest.approx(1.0, abs=5e-3)
    low, high = window_of(family, belief)
    assert np.isfinite([low, high]).all()
    assert family.mean_cdf(belief, high) - family.mean_cdf(belief, low) > 0.75


@pytest.mark.parametrize(
    ("family", "belief", "distribution"),
    [
        (Bernoulli(), (3.0, 9.0), stats.beta(3.0, 9.0)),
        (Bernoulli(), (3e8, 7e8), stats.beta(3e8, 7e8)),
        (Gaussian(), (2.0, 5.0), stats.norm(2.0, 5.0**-0.5)),
        (Poisson(), (6.0, 2.0), stats.gamma(6.0, scale=0.5)),
    ],
)
def test_densities_are_those_of_the_distribution(
    family: belman.families.Family, belief: tuple[float, ...], distribution: stats.rv_continuous
) -> None:
    x, density = density_of_mean(family, belief, points=600)
    exact = distribution.pdf(x)
    assert density == pytest.approx(exact, abs=2e-3 * exact.max())


def test_the_paper_s_pseudobelief_has_the_average_mean_parameters(agent: belman.Agent) -> None:
    agent.policy = belman.BelMan.paper()
    data = plots.belief_densities(agent, points=1200)
    x, density = data.pseudobelief_x, data.pseudobelief_density
    result = [np.trapezoid(np.log(x) * density, x), np.trapezoid(np.log1p(-x) * density, x)]
    beliefs = np.array([agent.belief(arm) for arm in agent.arms])
    wanted = (special.digamma(beliefs) - special.digamma(beliefs.sum(axis=1, keepdims=True))).mean(
        axis=0
    )
    assert result == pytest.approx(wanted, rel=2e-3)


def test_densities_are_in_the_scale_of_the_user() -> None:
    costs = belman.Agent(["blue", "red"], range=(10.0, 30.0), minimise=True, seed=7)
    for arm, cost in [("blue", 12.0), ("blue", 11.0), ("red", 25.0), ("red", 28.0)] * 4:
        costs.tell(arm, cost)
    data = plots.belief_densities(costs)
    assert data.quantity == "expected cost"
    assert np.trapezoid(data.density, data.x, axis=1) == pytest.approx([1.0, 1.0], abs=5e-3)
    expected = np.trapezoid(data.x * data.density, data.x, axis=1)
    assert expected == pytest.approx(costs.beliefs()["expected cost"], rel=2e-3)
    assert 10.0 <= data.window[0] < data.window[1] <= 30.0


# The manifold


def test_position_is_mean_and_precision() -> None:
    assert position(Gaussian(), (3.0, 4.0)) == pytest.approx((3.0, 4.0))
    mean, precision = position(Bernoulli(), (3000.0, 7000.0))
    assert mean == 0.3
    assert precision == pytest.approx(1.0 / stats.beta(3000.0, 7000.0).var(), rel=1e-3)


def test_position_where_the_mean_is_infinite() -> None:
    family = FAMILIES["exponential"]()
    assert family.expected_reward(family.prior) == np.inf
    assert np.isfinite(position(family, family.prior)).all()


def test_a_trail_keeps_the_last_turns(agent: belman.Agent) -> None:
    trail = plots.Trail(turns=3)
    start = agent.turn
    for _ in range(5):
        agent.tell("blue", 1)
        trail.record(agent)
    data = trail.paths()
    assert len(trail) == 3
    assert data.turns == tuple(start + turn for turn in (3, 4, 5))
    assert data.arms == ("blue", "green", "red")
    assert data.mean[-1] == pytest.approx(agent.beliefs()["expected reward"])
    assert (np.diff(data.precision[:, 0]) > 0.0).all()
    assert data.precision[0, 1] == data.precision[-1, 1]
    middle = (data.pseudobelief_mean[-1], data.pseudobelief_precision[-1])
    assert middle == pytest.approx(position(agent.family, agent.pseudobelief))


def test_a_trail_follows_arms_that_come_and_go(agent: belman.Agent) -> None:
    trail = plots.Trail(turns=None)
    trail.record(agent)
    agent.add_arm("violet")
    agent.retire_arm("red")
    trail.record(agent)
    data = trail.paths()
    assert data.arms == ("blue", "green", "violet")
    assert np.isnan(data.mean[0]).tolist() == [False, False, True]
    assert np.isfinite(data.mean[1]).all()
    plots.draw_manifold(data)
    agent.retire_arm("violet")  # not recorded: the picture stays as it was
    assert trail.paths().arms == ("blue", "green", "violet")
    plots.manifold(trail)


def test_an_empty_trail_says_so() -> None:
    with pytest.raises(SettingError, match="the trail is empty: record"):
        plots.Trail().paths()


def test_a_trail_in_the_scale_of_the_user() -> None:
    costs = belman.Agent(["blue", "red"], "exponential", minimise=True, seed=7)
    costs.tell("blue", 3.0)
    costs.tell("red", 5.0)
    trail = plots.Trail()
    trail.record(costs)
    assert trail.paths().mean[-1] == pytest.approx(costs.beliefs()["expected cost"])
    assert trail.paths().quantity == "expected cost"


# The focal distribution


def test_the_focal_distribution_integrates_to_one_and_sharpens() -> None:
    data = plots.focal_densities(points=4001)
    assert np.trapezoid(data.density, data.x, axis=1) == pytest.approx(np.ones(4), abs=1e-4)
    assert data.density[0] == pytest.approx(np.ones(4001))  # t = 1: pure exploration
    assert data.tau[0] == np.inf
    means = np.trapezoid(data.x * data.density, data.x, axis=1)
    assert (np.diff(means) > 0.0).all()
    s = np.log(10.0) + 15.0 * np.log(np.log(10.0))
    assert data.density[1] == pytest.approx(s * np.exp(s * data.x) / np.expm1(s))


def test_the_focal_distribution_of_any_schedule() -> None:
    data = plots.focal_densities(lambda t: 1.0 / t, turns=(2, 2000))
    assert data.tau == pytest.approx([0.5, 0.0005])
    assert np.isfinite(data.density).all()


def test_evidence_has_no_focal_distribution_for_all_arms() -> None:
    with pytest.raises(ExposureError, match="one focal distribution per arm"):
        plots.focal(exposure.Evidence())


# Drawing (every warning is an error)


def words(ax: mpl.axes.Axes) -> set[str]:
    return {text.get_text() for text in ax.texts}


def assert_labelled(ax: mpl.axes.Axes) -> None:
    ax.figure.canvas.draw()
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    frame, boxes = ax.get_window_extent(), [Text.get_window_extent(text) for text in ax.texts]
    for box in boxes:
        assert frame.x0 - 2 <= box.x0
        assert box.x1 <= frame.x1 + 2
        assert box.y1 <= frame.y1 + 3
    for box, other in combinations(boxes, 2):
        assert not box.padded(-1.5).overlaps(other.padded(-1.5))


@pytest.mark.parametrize("size", plots.style.SIZES)
def test_beliefs_are_drawn_with_names(agent: belman.Agent, size: str) -> None:
    ax = plots.beliefs(agent, size=size)
    assert words(ax) == {"blue", "green", "red", "pseudobelief"}
    assert len(ax.lines) == 4
    assert_labelled(ax)


def test_many_arms_name_the_top_ones_alone() -> None:
    agent = many_arms()
    ax = plots.beliefs(agent, top=4)
    assert len(words(ax)) == 5
    assert len(ax.lines) == 31
    best = np.argsort(agent.beliefs()["P(best)"])[-4:]
    assert words(ax) == {"pseudobelief", *map(str, best)}
    assert_labelled(ax)
    ax = plots.beliefs(agent, highlight=[3, 5])
    assert words(ax) == {"3", "5", "pseudobelief"}
    with pytest.raises(ArmError, match="unknown arm 77"):
        plots.beliefs(agent, highlight=[77])


def test_a_picture_is_drawn_once(monkeypatch, tmp_path) -> None:
    """… and is, to the last byte, the one that Matplotlib draws twice."""
    drawn = []
    draw = mpl.figure.Figure.draw
    with plots.style.theme():
        twice, _ = pyplot.subplots()
        once, _ = pyplot.subplots()
        twice.savefig(tmp_path / "twice.png", dpi=150)
        monkeypatch.setattr(
            mpl.figure.Figure, "draw", lambda *arguments: (drawn.append(1), draw(*arguments))[1]
        )
        plots.style.save(once, tmp_path / "once.png", "png", dpi=150)
    assert len(drawn) == 1
    assert (tmp_path / "once.png").read_bytes() == (tmp_path / "twice.png").read_bytes()


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_labels_of_one_point_stay_below_the_title(scale: str) -> None:
    """Six labels of the highest point, one above the other: the axis makes room for all of them."""
    with plots.style.theme():
        figure, ax = pyplot.subplots()
        ax.set(xlim=(0.0, 1.0), ylim=(1.0, 3.0), yscale=scale, title="a title")
        plots.style.position_labels(
            ax, [plots.style.Label(0.0, 2.9, f"arm {a}", "black") for a in range(6)]
        )
        figure.canvas.draw()
        frame = ax.get_window_extent()
        boxes = [Text.get_window_extent(note).padded(-1.0) for note in ax.texts]
        assert len(boxes) == 6
        assert max(box.y1 for box in boxes) <= frame.y1
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_the_manifold_is_drawn_with_names(agent: belman.Agent) -> None:
    trail = plots.Trail()
    for reward in (1, 0, 1):
        agent.tell("green", reward)
        trail.record(agent)
    for shown in (trail, agent):
        ax = plots.manifold(shown)
        assert words(ax) == {"blue", "green", "red", "pseudobelief"}
        assert ax.get_yscale() == "log"
        assert_labelled(ax)


def test_the_focal_distribution_is_drawn_with_a_legend_beside_it() -> None:
    ax = plots.focal()
    assert_labelled(ax)
    legend = ax.get_legend()
    assert legend is not None
    assert next(text.get_text() for text in legend.get_texts()) == "t = 1, τ = ∞"
    assert legend.get_window_extent().x0 >= ax.get_window_extent().x1  # beside the data, not on it


def test_given_axes_are_drawn_on(agent: belman.Agent) -> None:
    with plots.style.theme("print", "dark"):
        _, panels = pyplot.subplots(1, 3)
        assert plots.beliefs(agent, panels[0]) is panels[0]
        assert plots.manifold(agent, panels[1]) is panels[1]
        assert plots.focal(ax=panels[2]) is panels[2]
    assert len(pyplot.get_fignums()) == 1


def test_an_unknown_style_says_what_there_is() -> None:
    with (
        pytest.raises(SettingError, match=r"unknown style 'screan'.*did you mean 'screen'"),
        plots.style.theme("screan"),
    ):
        pass


def test_importing_belman_leaves_matplotlib_alone() -> None:
    before, after = "assert 'matplotlib' not in sys.modules", "assert 'matplotlib' in sys.modules"
    code = f"import sys, belman; {before}; belman.plots; {after}"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30))
def test_names_move_as_little_as_they_can(wanted):
    """Against SciPy's isotonic regression."""
    wanted = np.sort(np.array(wanted))
    result = _apart(wanted, 7.0, -1e9, 1e9)
    steps = 7.0 * np.arange(len(wanted))
    assert result == pytest.approx(isotonic_regression(wanted - steps).x + steps, abs=1e-9)


@pytest.mark.parametrize("size", ["screen", "print"])
def test_vector_pictures_of_fourteen_curves_are_small_and_their_lines_stay_lines(size, tmp_path):
    rng, players = np.random.default_rng(1), 14
    turn = np.unique(np.r_[np.arange(1, 1001), np.geomspace(1001, 100_000, 500).astype(int)])
    steps = rng.random((players, turn.size)) * np.linspace(0.2, 2.0, players)[:, None]
    mean = np.cumsum(steps, axis=1)
    wide = np.sqrt(mean)
    bands = (mean, mean - wide, mean + wide, mean - 5 * wide, mean + 5 * wide)
    names = tuple(f"player {position}" for position in range(players))
    rows = [Curves(name, names, turn, *bands) for name in ("regret", "suboptimal_draws")]
    for ending in ("svg", "pdf"):
        with style.theme(size):
            figure = draw_grid({"": rows}, log=True, size=size)
            style.save(figure, tmp_path / f"x.{ending}", format=ending)
            pyplot.close(figure)
        assert (tmp_path / f"x.{ending}").stat().st_size < 300_000
    text = (tmp_path / "x.svg").read_text()
    assert text.count("<image") == 2  # the bands of each panel
    assert len(re.findall(r'<path d="M[^"]*L', text)) >= 2 * players
