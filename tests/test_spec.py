"""One distribution, `build(describe(x)) == x`, for everything public; and what strangers may not
ask for.
"""

from __future__ import annotations

import functools
import json
import math
import subprocess
import sys
import types
import typing
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import belman
from belman import BelMan, Thompson, spec
from belman.analysis.one_look import OneLook
from belman.errors import BelmanError, ExposureError, FamilyError, PolicyError, SettingError
from belman.exposure import EXPOSURES, Evidence, Exposure, Infinite, Schedule, TwoPhase, two_phase
from belman.families import FAMILIES, Family, Gaussian
from belman.families.mirror import Mirror
from belman.figures import FIGURES, FULL
from belman.lab.exploration import Exploration, Question
from belman.lab.simulation import Simulation
from belman.models import MODELS
from belman.policies import DETECTORS, POLICIES, Forced, Phases, Policy, q_ths, q_ucb, qbelman
from belman.policies.dependent import DEPENDENT_POLICIES
from belman.problems import Problem, random_bernoulli
from tests import own


def again(thing, **how):
    """What comes back of a description that went through JSON."""
    text = json.dumps(spec.describe(thing), allow_nan=False)
    return spec.build(json.loads(text), **how)


# The distribution

#: Words that some setting takes.
WORDS = (
    *("barycentre", "natural", "joint", "customary", "proven"),
    *("bernoulli", "gaussian", "poisson", "exponential", "inf", "nan", ""),
)
NUMBERS = st.one_of(
    st.floats(0.0, 1.0), st.integers(0, 50), st.just(math.inf), st.floats(allow_nan=False)
)
KINDS = {Policy: POLICIES, Exposure: EXPOSURES, Family: {**FAMILIES, "mirror": Mirror}}


def values(hint, depth):
    """Values that a setting of this type might take; its class has the last word."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return st.one_of([values(part, depth) for part in typing.get_args(hint)])
    if typing.get_origin(hint) is tuple:
        parts = typing.get_args(hint)
        if parts[-1] is Ellipsis:
            return st.lists(st.floats(0.1, 9.0), min_size=2, max_size=2).map(tuple)
        return st.lists(NUMBERS, min_size=2, max_size=2).map(sorted).map(tuple)
    for kind, known in KINDS.items():
        if hint is kind:
            return st.sampled_from(sorted(known)).flatmap(
                lambda name, of=known: things(of[name], depth)
            )
    if hint in (int, float):
        return NUMBERS
    return {bool: st.booleans(), str: st.sampled_from(WORDS), type(None): st.none()}.get(
        hint, st.just(own.tau)
    )


def things(kind, depth=3):
    """Things of a class, with some of its settings left out where they may be."""
    hints, takes = typing.get_type_hints(kind), spec._takes(kind)
    nested = {name: setting for name, setting in takes.items() if depth or setting.kind is None}
    each = {name: values(hints[name], depth - 1) for name in nested}
    needed = {name: drawn for name, drawn in each.items() if takes[name].needed}
    optional = {name: drawn for name, drawn in each.items() if name not in needed}

    def made(chosen):
        try:
            return kind(**chosen)
        except (BelmanError, TypeError, ValueError, OverflowError):
            return None

    return (
        st.fixed_dictionaries(needed, optional=optional)
        .map(made)
        .filter(lambda thing: thing is not None)
    )


@pytest.mark.parametrize(
    "kind", [kind for known in KINDS.values() for kind in known.values()], ids=lambda k: k.__name__
)
def test_whatever_is_chosen_comes_back(kind):
    @settings(
        max_examples=40,
        deadline=None,
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
        derandomize=True,
    )
    @given(things(kind))
    def constants(thing):
        assert again(thing, trust="all") == thing

    constants()


SIMULATION = Simulation(
    {"BelMan": BelMan(Evidence(pool=math.inf)), "name": Thompson(), "import": q_ths()},
    belman.problems.bernoulli([0.8, 0.9]),
    100,
    7,
    3,
)
PUBLIC = {
    "q-ucb": q_ucb(),
    "q-ths": q_ths(3.0),
    "qbelman": qbelman(arms=5),
    "until": BelMan.until(1_000),
    "paper": BelMan.paper("joint"),
    "two phases inside": Forced(BelMan(two_phase(5, Infinite()))),
    "phases": Phases(BelMan(Infinite()), Forced(Thompson()), None, 0.9),
    "schedule without a function": BelMan(Schedule()),
    "infinite pool": BelMan(Evidence(pool=math.inf, reach=math.inf)),
    "mirror": Mirror(Mirror(Gaussian(sigma=0.1 + 0.2))),
    "stationary": belman.problems.bernoulli([0.8, 0.9], prior=(2, 1)),
    "random": random_bernoulli(10, between=(0.1, 0.4)),
    "queue": belman.problems.queue(
        [[0.5, 0.3], [0.3, 0.5]], [0.2, 0.1], service_distribution="geometric"
    ),
    "simulation": SIMULATION,
    "exploration": Exploration(
        {"u": belman.policies.Uniform()},
        belman.problems.poisson([1, 2]),
        50,
        2,
        0,
        Question(1, 50, 0.1),
    ),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_everything_public_comes_back_and_asks_for_no_trust(name):
    result = again(PUBLIC[name])
    assert result == PUBLIC[name]
    assert repr(result) == repr(PUBLIC[name])
    assert type(result) is type(PUBLIC[name])


def test_every_design_of_the_report_comes_back():
    parts = [part for figure in FIGURES.values() for part in figure.parts(FULL).values()]
    designs = [part.design for part in parts if part.design is not None]
    assert len(designs) > 20
    for design in designs:
        assert again(design, trust="all") == design


@pytest.mark.parametrize(
    "thing",
    [
        own.Steady(math.inf),
        own.Layered(),
        own.Layered(inside=BelMan(own.Steady()), listed=[], table={"name": "x", "text": {}}),
        own.Coin(prior=(2.0, 3.0)),
        Mirror(own.Coin()),
        own.Fixed(own.Coin(), (0.1, 0.2)),
        BelMan(own.tau),
        BelMan(two_phase(3, Schedule(math.sqrt))),
        Simulation({"own": own.Alternate, "b": BelMan(own.Steady())}, PUBLIC["queue"], 10, 2, 1),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_is_ones_own_comes_back_by_its_import_path(thing):
    assert again(thing, trust="all") == thing


def test_numpys_numbers_come_back_as_pythons():
    thing = Evidence(gain=np.float64(2.5), pool=np.float64(math.inf), horizon=np.int64(7))
    assert again(thing) == thing


def test_a_class_is_described_by_its_path():
    assert spec.describe(own.Steady(1.0)) == {"name": "tests.own:Steady", "level": 1.0}
    assert spec.describe(own.Alternate) == {"import": "tests.own:Alternate"}
    assert spec.build({"import": "tests.own:Alternate"}, trust="all") is own.Alternate


def test_no_name_is_two_things():
    known = [
        *FAMILIES,
        *POLICIES,
        *EXPOSURES,
        *MODELS,
        *DETECTORS,
        *DEPENDENT_POLICIES,
        *spec.PRESETS,
    ]
    known += ["drawn-arms", "changing-arms", "given-arms", "context-arms"]
    known += ["mirror", "stationary", "random-stationary", "queue", "simulation", "exploration"]
    known += ["delayed", "drifting", "tables", "corrupted", "replayed"]
    known += ["jumping", "walking", "coming", "renewing"]
    known += ["loss-below", "separated", "sure", OneLook.name]
    assert len(set(known)) == len(known)
    assert {*known, "question"} == {*spec._MEMBERS, *spec.PRESETS}


def test_names_alone_will_do():
    assert spec.build("thompson", Policy) == Thompson()
    assert spec.build({"name": "forced", "policy": "belman-paper"}) == Forced(BelMan.paper())
    assert spec.build({"name": "belman-until", "horizon": 9}, Policy) == BelMan.until(9)
    assert spec.build({"name": "two-phase", "explore": 3, "then": "infinite"}, Exposure) == (
        TwoPhase(3, Infinite())
    )


# What has no description


def test_what_cannot_be_described_is_refused_with_its_reason():
    class Here(own.Steady):
        pass

    @dataclass(frozen=True)
    class Named(Thompson):
        name: str = "named"

    for thing, error, words in (
        (BelMan(lambda t: 1.0), PolicyError, "is not found under its name in a module"),
        (Schedule(functools.partial(own.tau)), ExposureError, "is not found under its name"),
        (BelMan(Here()), PolicyError, "is not found under its name"),
        (Named(), PolicyError, "does not keep its setting 'name'|is not found under its name"),
        (own.Forgetful(), ExposureError, "made from these settings again is another"),
        (own.Layered(called=object()), PolicyError, "is not plain data"),
        (own.Layered(table={1: 2}), PolicyError, "is not plain data"),
        (3, SettingError, "is not a family, policy, exposure, problem or design"),
        (Simulation({"l": Here}, PUBLIC["random"], 1, 1, 1), SettingError, "is not found under"),
    ):
        with pytest.raises(error, match=words):
            spec.describe(thing)


def test_a_class_of_a_script_is_refused():
    script = """
from dataclasses import dataclass
from belman import Agent, BelMan, spec
from belman.policies import Thompson
@dataclass(frozen=True)
class Mine(Thompson):
    pass
try:
    spec.describe(Mine())
except ValueError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "cannot be described: <class '__main__.Mine'> is not found under its name" in done.stdout


def nested(depth):
    return functools.reduce(lambda inner, _: TwoPhase(1, inner), range(depth), Infinite())


def test_depth_is_bounded_on_both_sides():
    assert again(nested(spec.DEEPEST - 1)) == nested(spec.DEEPEST - 1)
    with pytest.raises(ExposureError, match="nested more than 20 deep"):
        spec.describe(nested(spec.DEEPEST))
    deep = functools.reduce(
        lambda inner, _: {"name": "two-phase", "explore": 1, "then": inner},
        range(5_000),
        "infinite",
    )
    with pytest.raises(ExposureError, match="nested more than 20 deep"):
        spec.build(deep, Exposure)
    lists = functools.reduce(lambda inner, _: [inner], range(5_000), 1)
    for bad in (lists, {"list": lists}, {"dict": {"a": lists}}):
        with pytest.raises(SettingError, match="nested more than 20 deep"):
            spec.build({"name": "kl-ucb", "range": bad}, Policy)


# What strangers send


@pytest.mark.parametrize(
    ("given", "kind", "error", "words"),
    [
        ("thomson", Policy, PolicyError, "unknown policy 'thomson': .*did you mean 'thompson'"),
        ("bernoulli", Policy, PolicyError, "unknown policy 'bernoulli'"),
        ("belman", Family, FamilyError, "unknown family 'belman'"),
        ({"name": "belman", "exposure": "thompson"}, Policy, ExposureError, "unknown exposure"),
        ({"name": "forced", "policy": "paper"}, Policy, PolicyError, "unknown policy 'paper'"),
        ({"name": "ids", "draw": 3}, Policy, PolicyError, "no setting 'draw'.*mean 'draws'"),
        ({"name": "thompson", "x": 3}, Policy, PolicyError, "no setting 'x': it has none"),
        ("two-phase", Exposure, ExposureError, "lacks a setting: 'explore'"),
        ({}, Policy, PolicyError, "is not a description"),
        ({"name": ["x"]}, Policy, PolicyError, "is not a description"),
        ([1], Problem, SettingError, "is not a description"),
        (None, Policy, PolicyError, "is not a description"),
        ({"name": "evidence", "pool": "many"}, Exposure, ExposureError, "pool='many'"),
        ({"name": "gaussian", "prior": "x"}, Family, BelmanError, "'x'"),
        ({"name": "gaussian", "sigma": {"a": [1]}}, Family, BelmanError, "sigma"),
        (
            {"name": "stationary", "family": "bernoulli", "means": 3},
            Problem,
            BelmanError,
            "means=3",
        ),
    ],
)
def test_a_bad_description_says_what_is_wrong(given, kind, error, words):
    with pytest.raises(error, match=words):
        spec.build(given, kind)


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    """A module that says so when it is imported."""
    (tmp_path / "stranger_module.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
        "from tests.own import Steady, tau\n"
        "class Mine(Steady): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "ran"
    sys.modules.pop("stranger_module", None)


@pytest.mark.parametrize("trust", ["names", "imported"])
@pytest.mark.parametrize(
    "given",
    [
        {"name": "stranger_module:Mine"},
        {"name": "belman", "exposure": {"name": "stranger_module:Mine"}},
        {"name": "belman", "exposure": {"name": "schedule", "tau": {"import": "os:_exit"}}},
        {
            "name": "belman",
            "exposure": {"name": "schedule", "tau": {"import": "stranger_module:tau"}},
        },
        {"import": "stranger_module:tau"},
        {"name": "subprocess:Popen", "args": "true"},
        {"name": "os:system", "command": "true"},
        {"name": "tests.own:Alternate"},
        {"name": "tests.own:nothing"},
        {"name": ":"},
        {"name": "os.path:"},
    ],
)
def test_nothing_is_imported_or_called_for_a_stranger(given, trust, stranger):
    for kind in (object, Policy):
        with pytest.raises(BelmanError):
            spec.build(given, kind, trust=trust)
    assert not stranger.exists()
    assert "stranger_module" not in sys.modules


def test_a_file_may_name_a_class_that_is_imported_already(stranger):
    path = {"name": "stranger_module:Mine", "level": 3.0}
    with pytest.raises(ExposureError, match="import stranger_module first"):
        spec.build(path, Exposure, trust="imported")
    result = spec.build(path, Exposure, trust="all")
    assert stranger.exists()
    assert spec.build(path, Exposure, trust="imported") == result
    with pytest.raises(ExposureError, match="is not one of belman's own"):
        spec.build(path, Exposure)
    with pytest.raises(PolicyError, match="is not one: it is"):
        spec.build(path, Policy, trust="imported")


def test_a_description_has_a_size():
    wide = {"name": "stationary", "means": [0.5] * (spec.LARGEST + 1)}
    deep: object = "belman"
    for _ in range(spec.LARGEST):
        deep = [deep]
    for description in (wide, {"name": "phases", "then": deep, "turns": [wide]}):
        with pytest.raises(SettingError, match="more than 100,000 parts"):
            spec.build(description)


@pytest.mark.parametrize("text", ["", "12", "ab", {}])
@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"name": "forgetting", "policy": "thompson"}, "restarts"),
        ({"name": "bernoulli"}, "prior"),
        ({"name": "gaussian"}, "sigma"),
    ],
)
def test_a_text_or_a_mapping_is_no_list_and_no_number(given, key, text):
    with pytest.raises(BelmanError, match=key):
        spec.build({**given, key: text})
