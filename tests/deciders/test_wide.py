"""Wide contexts: any number of words, each believed by itself."""

from __future__ import annotations

import json

import numpy as np
import pytest

from belman import Agent
from belman.deciders.decider import Asking
from belman.deciders.featured import wide, words
from belman.deciders.featured.featured import FeaturedDecider
from belman.deciders.featured.wide import SCALES
from belman.errors import FamilyError, PolicyError, SettingError, StateError, StudyError
from belman.models import Linear, Logistic, PoissonLog
from belman.policies import dependent
from belman.studies import open_study

WIDE = Logistic(covariance="diagonal")
ARMS = ["a", "b", "c"]


def made(model=WIDE, **more):
    return FeaturedDecider(ARMS, context=["user", "words[]"], model=model, **more)


def drawn(rng, most=30):
    """A context of some words."""
    some = {
        f"w{position}": float(rng.normal()) for position in {*rng.integers(0, most, 4).tolist()}
    }
    return {"user": f"u{int(rng.zipf(1.5))}", "words": some}


def played(decider, turns, seed=1, items=0):
    """A decider that learnt of some turns, and what was chosen."""
    rng, chosen = np.random.default_rng(seed), []
    for _ in range(turns):
        some = [{"item": f"i{rng.integers(8)}", "tags": [f"t{rng.integers(4)}", "any"],
                 "price": float(rng.normal())} for _ in range(items)]  # fmt: skip
        asking = decider.check(drawn(rng), some or None)
        (choice,) = decider.choose(asking)
        chosen.append(choice.arm)
        decider.settle(choice, float(rng.integers(2)))
    return decider, chosen


def plain(decider):
    return json.dumps(decider.state(), sort_keys=True)


class Twin:
    """The same belief, slowly: dictionaries of words, and a covariance of what is dense."""

    def __init__(self, model, arms):
        self.model, self.noise = model, np.array(model.first_noise)
        self.bank = [
            {
                "noise": self.noise.copy(),
                "mean": np.zeros(arms + 1),
                "wide": np.diag([9.0 if isinstance(model, Logistic) else 100.0, *[1.0] * arms]),
                "words": {},
                "scale": scale * scale,
                "fit": 0.0,
            }
            for scale in SCALES
        ]

    def features(self, arm, context):
        row = np.zeros(len(ARMS) + 1)
        row[0] = row[1 + ARMS.index(arm)] = 1.0
        set_ = {(arm, "user", context["user"]): 1.0}
        return row, set_ | {(arm, "words", one): x for one, x in context["words"].items()}

    def marginal(self, one, row, set_):
        known = {word: one["words"].get(word, (0.0, one["scale"])) for word in set_}
        eta = one["mean"] @ row + sum(known[word][0] * x for word, x in set_.items())
        v = row @ one["wide"] @ row + sum(known[word][1] * x * x for word, x in set_.items())
        return eta, v, known

    def learn(self, arm, context, reward):
        row, set_ = self.features(arm, context)
        kernels, constants = self.model.kernels, self.model.constants
        for one in self.bank:
            eta, v, known = self.marginal(one, row, set_)
            step, rest, fit = kernels.assimilate(constants, one["noise"], eta, v, reward)
            gain = one["wide"] @ row
            one["mean"] = one["mean"] + step * gain
            one["wide"] = one["wide"] - np.outer(gain, gain) / (rest + v)
            for word, x in set_.items():
                mean, s = known[word]
                one["words"][word] = mean + step * s * x, s - (s * x) ** 2 / (rest + v)
            one["fit"] += fit

    def expected(self, arm, context):
        row, set_ = self.features(arm, context)
        fits = np.array([one["fit"] for one in self.bank])
        shares = np.exp(fits - fits.max())
        shares /= shares.sum()
        kernels, constants = self.model.kernels, self.model.constants
        seen = [self.marginal(one, row, set_)[:2] for one in self.bank]
        eta = sum(share * mean for share, (mean, _) in zip(shares, seen, strict=True))
        scales = [kernels.scale(constants, one["noise"]) for one in self.bank]
        wide_ = sum(
            share * (v * scale + (mean - eta) ** 2)
            for share, (mean, v), scale in zip(shares, seen, scales, strict=True)
        )
        return kernels.expected(constants, eta, wide_)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "model", [WIDE, Linear(unknown=True, covariance="diagonal")], ids=["logistic", "linear"]
)
def test_it_is_the_belief_of_a_slow_twin(model):
    decider, twin, rng = made(model), Twin(model, len(ARMS)), np.random.default_rng(2)
    for turn in range(150):
        context, arm = drawn(rng), ARMS[turn % 3]
        reward = float(rng.random() < 0.5)
        decider.record(decider.recall(arm, context), reward)
        twin.learn(arm, context, reward)
        if turn % 25 == 0:
            other = drawn(rng)
            for one in ARMS:
                result = decider.expected(decider.recall(one, other))
                assert result == pytest.approx(twin.expected(one, other), abs=1e-9)
    assert decider.columns == 4 + len(twin.bank[0]["words"])


@pytest.mark.compiled
@pytest.mark.parametrize("policy", [None, dependent.LinTS(), dependent.LinMED()])
@pytest.mark.parametrize("kind", ["arms", "features", "candidates", "drift", "discount"])
def test_a_file_in_between_changes_nothing(policy, kind):
    known = {arm: {"tags": [arm, "any"], "price": i} for i, arm in enumerate(ARMS)}
    settings = {"features": known} if kind == "features" else {}
    settings |= {"drift": {"drift": "auto"}, "discount": {"discount": 0.95}}.get(kind, {})
    items = 3 if kind == "candidates" else 0
    if kind == "candidates":
        names = ["item", "price", "tags[]"]
        decider = FeaturedDecider(
            features=names, context=["user", "words[]"], model=WIDE, policy=policy
        )
    else:
        decider = made(policy=policy, **settings)
    played(decider, 60, items=items)
    again = FeaturedDecider.restore(json.loads(plain(decider)), "the state")
    assert plain(again) == plain(decider)
    again.rng[:] = decider.rng
    _, first = played(decider, 40, seed=5, items=items)
    _, second = played(again, 40, seed=5, items=items)
    assert first == second
    assert plain(again) == plain(decider)


def test_the_order_of_words_does_not_matter():
    first, second = made(), made()
    for decider, words_ in ((first, ["x", "y", "z"]), (second, ["z", "x", "y"])):
        decider.record(decider.recall("a", {"user": "u", "words": words_}), 1.0)
        decider.record(decider.recall("b", {"user": "u", "words": dict.fromkeys(words_, 1)}), 0.0)
    assert plain(first) == plain(second)
    assert first.check({"words": ["x", "x", "y"]}).context["words[x]"] == 2.0
    kept = first.check({"words": {"x": 2, "y": 0}}).context
    assert kept == {"user": None, "words[x]": 2.0}
    assert first.check(kept).context == kept


def test_only_rewards_take_room():
    decider, rng = made(), np.random.default_rng(1)
    played(decider, 20)
    before, size = decider.columns, len(plain(decider))
    for _ in range(30):
        (choice,) = decider.choose(decider.check(drawn(rng, most=10_000)))
        decider.settle(choice, None)
    assert decider.columns == before
    assert len(plain(decider)) < size + 200


@pytest.mark.compiled
@pytest.mark.parametrize("fading", [{}, {"keep": 0.9}, {"drift": True}])
def test_a_batch_leaves_no_trace_but_its_choices(fading):
    decider, _ = played(made(model=Logistic(covariance="diagonal", **fading)), 40)
    told = FeaturedDecider.restore(json.loads(plain(decider)), "the state")
    rng = np.random.default_rng(9)
    for _ in range(20):
        context = drawn(rng, most=100)
        choices = decider.choose(decider.check(context), 5)
        assert len({choice.arm for choice in choices}) > 0
        for choice in choices:
            told.meet(Asking(choice.context))
            told.expect(choice)
        for choice in choices[:2]:
            decider.settle(choice, 1.0)
            told.settle(choice, 1.0)
    told.rng[:] = decider.rng
    assert plain(told) == plain(decider)


@pytest.mark.compiled
def test_candidates_with_the_same_words_are_dependent():
    names = ["item", "tags[]"]
    decider = FeaturedDecider(features=names, context=["user", "words[]"], model=WIDE)
    rng = np.random.default_rng(4)
    for _ in range(80):
        some = [{"item": f"i{rng.integers(5)}", "tags": [f"t{rng.integers(3)}"]} for _ in "ab"]
        choice = decider.choose(decider.check(drawn(rng, 5), some))[0]
        decider.settle(choice, float(rng.integers(2)))
    some = [{"item": "i1", "tags": ["t1"]}, {"item": "new", "tags": ["t1", "late"]},
            {"item": "new", "tags": ["t2", "late"]}, {"item": "i1", "tags": ["t1"]}]  # fmt: skip
    asking = decider.check(drawn(rng, 5), some)
    held = decider._calls.survey(asking.context, asking.candidates, [-1] * 4, decider.turn)
    table, dense = decider.knowledge.form.table, decider.knowledge.form.belief
    entries = held["entries"]
    keys = sorted({*entries.key[entries.key > 0].tolist()})
    where = {key: row for row, key in enumerate(table.keys[: table.used].tolist())}
    for b in range(len(dense.mean)):
        rows = np.zeros((4, len(keys)))
        for arm, count in enumerate(entries.counts):
            for at in range(count):
                rows[arm, keys.index(entries.key[arm, at])] += entries.value[arm, at]
        s = [table.rows[where[key], 1, b] if key in where else table.prior[b] for key in keys]
        expected = rows @ np.diag(s) @ rows.T
        expected += held["dense"] @ dense.root[b] @ dense.root[b].T @ held["dense"].T
        result = held["belief"].root[b] @ held["belief"].root[b].T
        assert result == pytest.approx(expected, abs=1e-9)
    assert held["sight"].variance == pytest.approx(
        [
            sum(
                share * ((root[a] @ root[a]) + (mean[a] - eta) ** 2)
                for share, root, mean in zip(
                    dense.share, held["belief"].root, held["belief"].mean, strict=True
                )
            )
            for a, eta in enumerate(held["sight"].eta)
        ]
    )


@pytest.mark.compiled
def test_words_beyond_the_most_are_others(monkeypatch):
    monkeypatch.setattr(words, "MOST_WORDS", 12)
    decider, _ = played(made(), 60)
    assert len(decider.knowledge.context.words) == 12
    assert any(label.endswith("others") for label in decider.coefficients(0.95)["feature"])
    assert plain(FeaturedDecider.restore(json.loads(plain(decider)), "it")) == plain(decider)
    one, other = ({"user": "never", "words": {name: 1.0}} for name in ("x", "y"))
    first, second = (decider.expected(decider.recall("a", context)) for context in (one, other))
    assert first == second


@pytest.mark.compiled
def test_coefficients_beyond_the_most_are_noise(monkeypatch):
    monkeypatch.setattr(wide, "MOST_ROWS", 64)
    decider, _ = played(made(), 100)
    assert decider.knowledge.form.table.used == 64
    assert plain(FeaturedDecider.restore(json.loads(plain(decider)), "it")) == plain(decider)


@pytest.mark.compiled
def test_scales_that_foretell_far_worse_are_left(monkeypatch):
    monkeypatch.setattr(wide, "FAR", 1.0)
    decider, rng = made(), np.random.default_rng(1)
    for _ in range(400):
        word = f"w{rng.integers(3)}"
        arm = ARMS[rng.integers(3)]
        reward = float(rng.random() < (0.95 if word == "w1" else 0.05))
        decider.record(decider.recall(arm, {"user": "u", "words": [word]}), reward)
    form = decider.knowledge.form
    assert 0 < len(form.scales) < len(SCALES)
    assert form.table.rows.shape[2] == len(form.belief.mean) == len(form.scales)
    assert plain(FeaturedDecider.restore(json.loads(plain(decider)), "it")) == plain(decider)


@pytest.mark.compiled
def test_a_discount_fades_by_what_is_set():
    steady, fading = made(), made(discount=0.8)
    for decider in (steady, fading):
        for _ in range(30):
            decider.record(decider.recall("a", {"user": "u", "words": ["rare"]}), 1.0)
        for _ in range(60):
            decider.record(decider.recall("b", {"user": "v", "words": ["often"]}), 1.0)
    labels = {"words[rare]": None, "user=u": None}
    for feature in labels:
        known = steady.coefficients(0.95)
        faded = fading.coefficients(0.95)
        position = known["feature"].index(feature)
        other = faded["feature"].index(feature)
        assert known["coefficient"][position] > faded["coefficient"][other] > 0.0
    again = json.loads(plain(fading))
    rows = np.array(again["forms"][0]["rows"])
    # a word of arm a that never came again keeps what it had: it is spared
    assert (rows[0, 1] < 0.97 * np.array(SCALES) ** 2).any()


@pytest.mark.compiled
@pytest.mark.slow
def test_intervals_hold_about_as_often_as_they_say():
    """Effects drawn from the prior: of 95 % intervals of the log-odds, 85 % or more hold the truth.

    They are too narrow by what is neglected; the docs have the figure.
    """
    rng = np.random.default_rng(6)
    held = []
    for run in range(3):
        truth = rng.normal(0.0, 0.25, (10, 40, 3))
        decider = FeaturedDecider(ARMS, context=[f"n{at}" for at in range(10)], model=WIDE)
        decider.rng[:] = np.array([run + 1, 2, 3, 4], dtype=np.uint64)
        for turn in range(3_000):
            levels = np.minimum(rng.zipf(1.4, 10), 40) - 1
            odds = truth[np.arange(10), levels].sum(axis=0)
            context = {f"n{at}": f"l{level}" for at, level in enumerate(levels)}
            (choice,) = decider.choose(decider.check(context))
            chance = 1.0 / (1.0 + np.exp(-odds))
            if turn > 500 and turn % 10 == 0:
                table = decider.beliefs(decider.check(context), 0.95)
                pairs = zip(table["low"], table["high"], chance, strict=True)
                held += [low <= true <= high for low, high, true in pairs]
            decider.settle(choice, float(rng.random() < chance[ARMS.index(choice.arm)]))
    assert 0.85 < np.mean(held) < 0.99


# What is refused


@pytest.mark.parametrize("name", ["oful", "lin-imed"])
def test_policies_that_read_coefficients_are_refused(name):
    with pytest.raises(PolicyError, match=r"reads all coefficients: .* 'shared-belman'"):
        made(policy=dependent.DEPENDENT_POLICIES[name]())
    with pytest.raises(PolicyError, match="reads all coefficients"):
        made().set_policy(dependent.DEPENDENT_POLICIES[name]())


@pytest.mark.parametrize(
    "value",
    [3, "red", {"red": "much"}, {"red": np.nan}, {"red": 1e7}, ["red", 3], {"": 1}, [["x"]]],
)
def test_what_is_no_bag_of_words_is_refused(value):
    with pytest.raises(SettingError, match="words"):
        made().check({"words": value})


def test_a_full_belief_has_no_bags():
    with pytest.raises(SettingError, match='covariance="diagonal"'):
        Agent(ARMS, context=["words[]"])
    with pytest.raises(SettingError, match='covariance="diagonal"'):
        Agent(ARMS, features={arm: {"tags": [arm]} for arm in ARMS})
    with pytest.raises(FamilyError, match="did you mean 'diagonal'"):
        Logistic(covariance="diagonl")
    with pytest.raises(FamilyError, match="is for contexts of agents and studies"):
        PoissonLog(covariance="diagonal").belief(3)


@pytest.mark.parametrize("damage", ["twice", "unknown", "negative", "scales"])
def test_a_damaged_state_is_refused(damage):
    decider, _ = played(made(), 10)
    state = json.loads(plain(decider))
    form = state["forms"][0]
    if damage == "twice":
        form["keys"][1] = form["keys"][0]
    elif damage == "unknown":
        form["keys"][0] = 9 << 44
    elif damage == "negative":
        form["rows"][0][1][0] = -1.0
    else:
        form["scales"][0] = 0.3
    with pytest.raises(StateError):
        FeaturedDecider.restore(state, "the state")


def test_it_is_not_published(tmp_path):
    study = open_study(
        "wide", ARMS, context=["words[]"], model=WIDE, storage=f"sqlite:///{tmp_path}/s.db"
    )
    with pytest.raises(StudyError, match="wide contexts is not published"):
        study.publish(100)
    study.storage.close()
