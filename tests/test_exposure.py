"""The schedules of exposure: values by hand, small turns, clamps, and settings that make none."""

from __future__ import annotations

import math

import numpy as np
import pytest

import belman
from belman import BelMan
from belman.errors import ExposureError, PolicyError
from belman.exposure import (
    EXPOSURES,
    Constant,
    Evidence,
    Exposure,
    FadingEvidence,
    Infinite,
    Paper,
    Schedule,
    SquareRoot,
    TwoPhase,
    UnitWarning,
    exposure,
    two_phase,
)


def pulls(schedule, turns, arms=2):
    result = schedule.pull(np.array(turns, dtype=float), arms)
    assert result.shape == (len(turns),)
    return result.tolist()


def test_paper_by_hand():
    """s(t) = ln t + C ln ln t."""
    assert pulls(Paper(), [1, 2]) == [0.0, 0.0]
    assert pulls(Paper(), [3])[0] == pytest.approx(
        1.0986122886681098 + 15.0 * 0.09404782761669816, rel=1e-12
    )
    assert pulls(Paper(), [100])[0] == pytest.approx(
        math.log(100) + 15.0 * math.log(math.log(100)), rel=1e-14
    )
    assert pulls(Paper(C=0.0), [1, 2, 3, 10]) == pytest.approx(
        [0.0, 0.0, math.log(3), math.log(10)]
    )
    assert pulls(Paper(C=200.0), [1_000])[0] == pytest.approx(
        math.log(1e3) + 200.0 * math.log(math.log(1e3))
    )


def test_paper_is_clamped_at_zero_from_below():
    """A negative C makes ln t + C ln ln t negative for a while: no arm is ever pushed towards a
    smaller reward.
    """
    result = pulls(Paper(C=-15.0), range(1, 10_000))
    assert min(result) == 0.0
    assert result[9] == 0.0
    assert np.all(np.isfinite(pulls(Paper(C=-15.0), [1, 2, 3, 1e9, 1e300])))
    assert pulls(Paper(C=-1.0), [2000])[0] == pytest.approx(
        math.log(2000) - math.log(math.log(2000))
    )


def test_paper_never_falls():
    assert np.all(np.diff(pulls(Paper(), range(1, 5_000))) >= 0.0)


def test_paper_does_not_depend_on_the_arms():
    assert pulls(Paper(), [1, 2, 3, 50], arms=2) == pulls(Paper(), [1, 2, 3, 50], arms=500)


def test_the_unit_of_a_reward_is_the_range_or_what_is_given():
    bounded, free = belman.families.BoundedExponential(10.0), belman.families.Exponential()
    assert [BelMan.paper().unit(family) for family in (bounded, free)] == [10.0, 1.0]
    for given in (Paper(unit=4.0), two_phase(9, Paper(unit=4.0))):
        assert [BelMan(given).unit(family) for family in (bounded, free)] == [4.0, 4.0]
    assert BelMan(Constant(0.5)).unit(bounded) == 1.0


def test_rewards_in_other_units_are_played_alike_if_the_unit_goes_with_them():
    """Ten times the rewards, with a prior ten times as far out: the same arms, turn by turn. A unit
    that stays behind plays others.
    """
    plays = []
    for scale, unit in ((1.0, None), (10.0, None), (10.0, 10.0), (10.0, 1.0)):
        means = [scale * mean for mean in (0.5, 0.4, 0.1)]
        problem = belman.problems.exponential(means, scale, prior=(1.0, scale))
        players = {"paper": BelMan.paper(unit=unit)}
        plays.append(belman.simulate(players, problem, 60, 8, 3, progress=False).plays.values)
    assert (plays[0] == plays[1]).all()
    assert (plays[0] == plays[2]).all()
    assert (plays[0] != plays[3]).any()


def test_a_reward_scale_that_does_not_fit_is_said():
    problem = belman.problems.exponential([5.0, 1.0])
    for unit in (5.0, 1.0):
        players = {"mine": BelMan.paper(unit=unit)}
        belman.simulate(players, problem, 3, 1, progress=False)
    with pytest.warns(UnitWarning, match=r"player 'mine' is too greedy: means are 4 apart.*unit=…"):
        belman.simulate({"mine": BelMan.paper()}, problem, 3, 1, progress=False)


def test_constant_is_one_over_tau():
    assert pulls(Constant(), [1, 7, 1e9]) == [1.0, 1.0, 1.0]
    assert pulls(Constant(0.02), [1, 7]) == [50.0, 50.0]


def test_infinite_exposure_never_pulls():
    assert pulls(Infinite(), [1, 2, 1e12]) == [0.0, 0.0, 0.0]


def test_square_root_by_hand():
    assert pulls(SquareRoot(), [1, 9, 100], arms=1) == [1.0, 3.0, 10.0]
    assert pulls(SquareRoot(c=0.5), [8, 50], arms=2) == [1.0, 2.5]
    assert pulls(SquareRoot(c=0.0), [8, 50]) == [0.0, 0.0]


def test_fading_evidence_by_hand():
    """c_t = ½ + 0.8 ln K / (1 + 0.1 ln(1 + t/K))."""
    for arms, turn in ((2, 1), (10, 10), (10, 1000), (1000, 5)):
        by_hand = 0.5 + 0.8 * math.log(arms) / (1.0 + 0.1 * math.log(1.0 + turn / arms))
        assert pulls(FadingEvidence(), [turn], arms)[0] == pytest.approx(by_hand, rel=1e-14)
    assert pulls(FadingEvidence(), [1, 100], arms=1) == [0.5, 0.5]
    assert pulls(
        FadingEvidence(gain=1.0, fade=0.0, floor=0.25), [3, 3_000], arms=5
    ) == pytest.approx([0.25 + math.log(5)] * 2)
    assert pulls(FadingEvidence(gain=0.0), [1, 1e9], arms=50) == [0.5, 0.5]


def test_fading_evidence_falls_to_its_floor():
    result = pulls(FadingEvidence(), [1, 10, 1e3, 1e6, 1e12, 1e300], arms=20)
    assert np.all(np.diff(result) < 0.0)
    assert 0.5 < result[-1] < 0.54
    steep = pulls(FadingEvidence(fade=1e9, floor=0.75), [1e300], arms=20)[0]
    assert steep == pytest.approx(0.75, abs=1e-9)


def test_evidence_is_greedy_by_the_number_of_arms_alone():
    """κ = gain·ln K."""
    assert pulls(Evidence(), [1, 1e9], arms=7) == [2.25 * math.log(7)] * 2
    assert pulls(Evidence(), [1], arms=1) == [0.0]
    assert pulls(Evidence(gain=0.0), [1, 100], arms=50) == [0.0, 0.0]
    assert pulls(Evidence(gain=1e9), [1], arms=50) == [700.0]


def test_what_exposures_tell_the_kernels():
    forms = {name: kind.form for name, kind in EXPOSURES.items() if kind is not TwoPhase}
    assert forms.pop("evidence") == "evidence"
    assert forms.pop("fading-evidence") == "weighed"
    assert set(forms.values()) == {"common"}
    assert [two_phase(9, then).form for then in (Evidence(), FadingEvidence(), Paper())] == [
        "explored",
        "weighed",
        "common",
    ]
    assert FadingEvidence(p=1.5).settings == (1.5,)
    assert Evidence(pool=2.0, reach=9.0).settings == (2.0, 9.0, math.inf)
    assert two_phase(10, Evidence(horizon=50)).settings == (5.0, 8.5, 50.0)
    assert Paper().settings == ()
    assert two_phase(10).per_arm
    assert not two_phase(10, Paper()).per_arm
    assert two_phase(10, FadingEvidence(p=2.0)).settings == (2.0,)


def test_two_phase_switches_after_its_turns():
    assert pulls(TwoPhase(3, Constant(0.5)), range(1, 7)) == [0.0, 0.0, 0.0, 2.0, 2.0, 2.0]
    assert pulls(TwoPhase(0, Constant(0.5)), [1, 2]) == [2.0, 2.0]


def test_the_clock_of_the_second_phase_has_been_running():
    assert pulls(two_phase(5, Paper()), [5, 6]) == [0.0, *pulls(Paper(), [6])]
    assert pulls(belman.exposure.two_phase(explore=100), [100, 101], arms=4) == [
        -math.inf,  # of the greed, which is a logarithm
        *pulls(Evidence(), [101], arms=4),
    ]


def test_callables_give_tau():
    assert pulls(exposure(lambda t: 2.0 / t), [1, 2, 10]) == [0.5, 1.0, 5.0]
    assert pulls(Schedule(lambda t: math.inf), [1, 2]) == [0.0, 0.0]
    assert pulls(two_phase(2, lambda t: 1.0 / t), [1, 2, 3, 4]) == [0.0, 0.0, 3.0, 4.0]
    seen = []
    Schedule(lambda t: seen.append(t) or 1).pull(np.array([7.0]), 2)
    assert seen == [7]
    assert isinstance(seen[0], int)


def test_belman_takes_any_of_them():
    for given in (
        Paper(),
        Constant(2.0),
        Infinite(),
        two_phase(3),
        SquareRoot(),
        Evidence(),
        lambda t: 1.0,
    ):
        assert isinstance(BelMan(given).schedule, Exposure)
    assert BelMan().schedule == Evidence()
    assert BelMan.paper().schedule == Paper(C=15.0)
    assert BelMan(lambda t: 0.25).turn_values(np.array([1.0, 2.0]), 2).tolist() == [4.0, 4.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Paper(C=math.nan),
            r"C=nan is not valid for an exposure: it must be a finite number",
        ),
        (lambda: Paper(C="15"), r"C='15' is not valid for an exposure"),
        (lambda: Paper(C=math.inf), r"C=inf is not valid for an exposure"),
        (lambda: Paper(unit=0.0), r"unit=0.0 is not valid.*the reward that counts as 1"),
        (lambda: Paper(unit="10"), r"unit='10' is not valid.*or None for the family's range"),
        (
            lambda: Constant(0.0),
            r"tau=0.0 is not valid for an exposure: it must be a positive number "
            r"\(Infinite\(\) explores for ever\)",
        ),
        (lambda: Constant(-1.0), r"tau=-1.0 is not valid for an exposure"),
        (lambda: Constant(math.inf), r"tau=inf is not valid for an exposure.*Infinite\(\)"),
        (lambda: Constant(None), r"tau=None is not valid for an exposure"),
        (lambda: Constant(True), r"tau=True is not valid for an exposure"),
        (
            lambda: SquareRoot(-0.1),
            r"c=-0.1 is not valid for an exposure: it must be a number from 0 up",
        ),
        (lambda: SquareRoot([1]), r"c=\[1\] is not valid for an exposure"),
        (lambda: Evidence(gain=-1.0), r"gain=-1.0 is not valid for an exposure"),
        (lambda: FadingEvidence(fade=math.nan), r"fade=nan is not valid for an exposure"),
        (lambda: FadingEvidence(floor="half"), r"floor='half' is not valid for an exposure"),
        (
            lambda: FadingEvidence(p=-1),
            r"p=-1.* it must be a number from 0 up",
        ),
        (lambda: Evidence(gain=math.inf), r"gain=inf is not valid for an exposure"),
        (
            lambda: Evidence(pool=0.0),
            r"pool=0.0.* it must be a positive number of arms, or math.inf",
        ),
        (
            lambda: Evidence(reach=-1),
            r"reach=-1.* it must be a positive number of nats, or math.inf",
        ),
        (
            lambda: Evidence(horizon=0),
            r"horizon=0.* it must be a whole number of turns from 1 up, or None",
        ),
        (lambda: Evidence(horizon=1e3), r"horizon=1000.0 is not valid for an exposure"),
        (lambda: BelMan.until("1000"), r"horizon='1000' is not valid for an exposure"),
        (
            lambda: two_phase(-1),
            r"explore=-1.* it must be a whole number of turns from 0 up",
        ),
        (lambda: two_phase(2.5), r"explore=2.5 is not valid for an exposure"),
        (lambda: two_phase(True), r"explore=True is not valid for an exposure"),
        (
            lambda: TwoPhase(5, "paper"),
            r"exposure 'paper' is neither one of belman.exposure \(Constant, Evidence, .*\)",
        ),
        (
            lambda: Schedule(3.0),
            r"tau=3.0 is not valid for an exposure: it must be a function of the turn",
        ),
        (
            lambda: exposure(0.5),
            r"exposure 0.5 is neither one of belman.exposure .* nor a function of the turn",
        ),
        (lambda: BelMan(None), r"exposure None is neither one of belman.exposure"),
        (
            lambda: pulls(Schedule(lambda t: 2.0 - t), [1, 2]),
            r"τ\(2\)=0.0 is not valid for an exposure: it must be positive",
        ),
        (
            lambda: pulls(Schedule(lambda t: math.nan), [4]),
            r"τ\(4\)=nan is not valid for an exposure",
        ),
        (lambda: pulls(Schedule(lambda t: None), [1]), r"τ\(1\)=None is not valid for an exposure"),
        (lambda: pulls(Schedule(lambda t: "1"), [1]), r"τ\(1\)='1' is not valid for an exposure"),
    ],
)
def test_bad_settings_say_what_is_allowed(make, message):
    with pytest.raises(ExposureError, match=message):
        make()


def test_an_exposure_is_frozen_data():
    assert Paper(C=3.0) == Paper(C=3.0)
    assert hash(Evidence()) == hash(Evidence())
    with pytest.raises(AttributeError):
        Paper().C = 2.0


def test_a_reading_is_refused_where_it_does_nothing():
    """Evidence keeps no barycentre, and where arms have exposures of their own the leader's focal
    distribution is flat: the normaliser inside the joint projection is 1.
    """
    refused = {(Evidence(), "natural"), (Evidence(), "joint"), (two_phase(9), "joint")}
    for kind in (Evidence(), two_phase(9), Paper(), Constant(0.5), Infinite(), SquareRoot()):
        for reading in ("barycentre", "natural", "joint"):
            if (kind, reading) in refused:
                with pytest.raises(PolicyError, match="does nothing here"):
                    BelMan(kind, reading)
            else:
                assert BelMan(kind, reading).schedule == kind
