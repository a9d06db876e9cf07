"""What another policy would have earned: unbiased, covered, and as obp estimates it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import belman
from belman import frames
from belman.errors import ArmError, SettingError


def log(rng, n, shift=0.0):
    """Arms drawn by context; rewards by arm and context."""
    x = rng.choice(["low", "high"], n)
    chance_b = np.where(x == "high", 0.3, 0.6)
    is_b = rng.random(n) < chance_b
    mean = 0.3 + 0.2 * (x == "high") + np.where(is_b, 0.1 + shift, 0.0)
    return {
        "arm": np.where(is_b, "b", "a"),
        "reward": (rng.random(n) < mean).astype(float),
        "chance": np.where(is_b, chance_b, 1.0 - chance_b),
        "x": x,
    }


TRUTH = 0.4 + 0.5 * 0.1  # b where x is high, else a


def by_context(context):
    return "b" if context["x"] == "high" else "a"


def test_estimates_are_unbiased_and_intervals_cover():
    """400 logs of 600: a 95 % interval covers in 91 to 98.5 % of them but for a chance of 1e-3."""
    rng = np.random.default_rng(1)
    result = [belman.evaluate(log(rng, 600), by_context, context=["x"]) for _ in range(400)]
    for name in ("IPS", "self-normalised", "doubly robust"):
        values = np.array([one[name].value for one in result])
        assert abs(values.mean() - TRUTH) < 4.0 * values.std() / np.sqrt(len(result))
        inside = np.mean(
            [one[name].one_look[0] <= TRUTH <= one[name].one_look[1] for one in result]
        )
        assert 0.91 <= inside <= 0.985
        ever = np.mean([one[name].any_look[0] <= TRUTH <= one[name].any_look[1] for one in result])
        assert ever >= 0.98
    spread = {
        name: np.std([one[name].value for one in result]) for name in ("IPS", "doubly robust")
    }
    assert spread["doubly robust"] < 0.8 * spread["IPS"]
    assert result[0]["IPS"].exact
    assert not result[0]["doubly robust"].exact


def test_every_form_of_a_policy_says_the_same():
    rng = np.random.default_rng(2)
    table = log(rng, 500)
    first = list(dict.fromkeys(table["arm"]))
    one = belman.evaluate(table, "b")
    assert belman.evaluate(table, {"b": 1.0}).values == one.values
    assert belman.evaluate(table, lambda context: "b").values == one.values
    matrix = np.tile([float(name == "b") for name in first], (500, 1))
    assert belman.evaluate(table, matrix).values == one.values
    assert "would have earned" in str(one)
    assert one.sentence in one._repr_html_()
    assert one.to_dict()["values"][0]["estimator"] == "IPS"


def test_chances_that_are_not_those_of_the_arms_are_noticed():
    table = log(np.random.default_rng(3), 2_000)
    assert not belman.evaluate(table, "b").warnings
    table["chance"] = np.full(2_000, 0.9)
    assert "should be 1" in belman.evaluate(table, "b").warnings[0]


def test_units_with_several_rows_count_once():
    """Rows that are there twice say no more than once, and no ends are exact."""
    table = log(np.random.default_rng(4), 1_000)
    once = belman.evaluate(table, {"a": 0.5, "b": 0.5})
    twice = {name: np.repeat(cells, 2) for name, cells in table.items()}
    twice["who"] = np.repeat(np.arange(1_000), 2)
    result = belman.evaluate(twice, {"a": 0.5, "b": 0.5}, unit="who")
    for name in ("IPS", "self-normalised"):
        assert result[name].value == pytest.approx(once[name].value)
        assert result[name].error == pytest.approx(once[name].error)
    assert once["IPS"].exact
    assert not result["IPS"].exact


@pytest.mark.parametrize(
    ("change", "policy", "error", "message"),
    [
        ({"chance": [0.5, 0.0, 1.5] * 20}, "a", SettingError, "row 2: chance 0 is not a chance"),
        ({}, "c", ArmError, "plays 'c', which was never played"),
        ({}, {"a": 0.6}, SettingError, "must add up to 1"),
        ({}, np.ones((3, 2)), SettingError, "give a row for each of 60"),
        ({"reward": ["x"] * 60, "chance": [0] * 60}, "a", SettingError, "(?s)number.*not a chance"),
    ],
)
def test_what_is_refused(change, policy, error, message):
    table = {"arm": ["a", "b", "a"] * 20, "reward": [1, 0, 1] * 20, "chance": [0.5] * 60}
    with pytest.raises(error, match=message):
        belman.evaluate({**table, **change}, policy)


def _open_bandit_data():
    """The folder of the data that ship inside obp; the package itself need not be importable."""
    result = importlib.util.find_spec("obp")
    if result is None or not result.submodule_search_locations:
        pytest.skip("obp is not installed: pip install obp brings the Open Bandit data")
    return Path(next(iter(result.submodule_search_locations))) / "dataset" / "obd"


#: What obp 0.4.1 itself estimates, by `estimate_policy_value` of its InverseProbabilityWeighting,
#: SelfNormalizedInverseProbabilityWeighting and DoublyRobust on the log of its OpenBanditDataset
#: of "random", with `action_dist` the shares of items in the log of "bts" and, as rewards by a
#: model, ((7 row + 13 item) mod 101) / 10,000. It ran with stand-ins for torch, which these do not
#: use, and for `drop` and `concat` of older pandas.
OBP = {
    "men": (0.00579768, 0.005897268829966924, 0.005804875827),
    "women": (0.00592664, 0.005969667933746138, 0.005982017257),
}


@pytest.mark.parametrize("campaign", ["men", "women"])
def test_open_bandit_data_as_obp_estimates_them(campaign):
    """Estimates of Thompson sampling's shares of items from the log of the uniform policy are those
    of obp itself, to the last digits.
    """
    folder = _open_bandit_data()
    logged, target = (
        frames.read(folder / name / campaign / f"{campaign}.csv") for name in ("random", "bts")
    )
    played = target.names("item_id")
    arms = list(dict.fromkeys(logged.names("item_id")))
    counts = np.array([played.count(name) for name in arms], dtype=float)
    shares = counts / counts.sum()
    names = logged.names("item_id")
    rows, items = np.arange(len(names))[:, None], np.array([int(arm) for arm in arms])
    model = (7 * rows + 13 * items) % 101 / 10_000
    result = belman.evaluate(
        logged,
        np.tile(shares, (len(names), 1)),
        arm="item_id",
        reward="click",
        chance="propensity_score",
        predictions=model,
    )
    values = [result[name].value for name in ("IPS", "self-normalised", "doubly robust")]
    assert values == pytest.approx(OBP[campaign], rel=1e-12)
    theirs = float(target.numbers("click").mean())
    assert result["IPS"].any_look[0] <= theirs <= result["IPS"].any_look[1]
    assert not result.warnings
