"""What a client decides by context is what the belief says: the share of draws in which an arm is
the best.
"""

from __future__ import annotations

import numpy as np
import pytest

from belman.assignment.contexts import MOST_COEFFICIENTS
from belman.deciders import FeaturedDecider
from belman.deciders.featured import at_edge
from belman.deciders.shares import NO_SHARES, Shares
from belman.errors import StudyError
from belman.policies.dependent import LinTS
from belman.policies.dependent.being_best import chance_of_best

ARMS = ["a", "b", "c"]
FEATURES = {"a": {"price": 1.0}, "b": {"price": 2.5}, "c": {"price": 4.0}}


def context(rng: np.random.Generator) -> dict[str, object]:
    country = str(rng.choice(["fr", "de", "it"]))
    age, income = float(rng.uniform(18, 80)), float(np.exp(rng.normal(10.0, 1.0)))
    return {"age": age if rng.random() < 0.9 else None, "income": income, "country": country}


def learnt(rewards: int = 150, **settings: object) -> FeaturedDecider:
    decider = FeaturedDecider(ARMS, context=["age", "income", "country"], **settings)
    rng = np.random.default_rng(7)
    for turn in range(rewards):
        given, arm = context(rng), ARMS[turn % 3]
        likely = 0.8 if (given["country"] == "fr") == (arm == "a") else 0.3
        decider.record(decider.recall(arm, given), float(rng.random() < likely))
    return decider


KINDS = {
    "disjoint": {},
    "linear": {"model": "linear"},
    "shared": {"features": FEATURES, "pooling": "shared"},
    "hybrid": {"features": FEATURES},
    "inflated": {"policy": LinTS(2.0)},
}


@pytest.mark.parametrize("kind", KINDS)
def test_chances_are_those_of_being_the_best(kind):
    """Of 64 documents of 256 draws in mirrored pairs, in 12 contexts and 3 arms: a share of 16,384
    draws is off by 6 deviations of independent pairs in less than 1 of 10⁷ tests.
    """
    decider = learnt(**KINDS[kind])
    rng, inflation = np.random.default_rng(1), 2.0 if kind == "inflated" else 1.0
    documents = []
    for seed in range(64):
        decider.rng[:] = np.random.default_rng(seed).integers(1, 2**63, 4).astype(np.uint64)
        documents.append(decider.at_edge(NO_SHARES))
    assert {one.draws for one in documents} == {256}
    for _ in range(12):
        given = context(rng)
        shares = np.mean([np.array(one.wins(given)) / one.draws for one in documents], axis=0)
        asking = decider.check(given)
        _, rows, positions = decider.at_hand(asking)
        held = decider._calls.survey(asking.context, rows, positions, decider.turn)
        model = decider.knowledge.form.model
        for arm in range(3):
            known = chance_of_best(model, held["belief"], held["features"], arm, inflation)
            wide = 6.0 * np.sqrt(max(known * (1.0 - known), 1e-3) / (64 * 128)) + 0.004
            assert shares[arm] == pytest.approx(known, abs=wide)


def test_no_products_are_published():
    """Whichever form with products leads, the document is that of the best form without."""
    decider = learnt()
    words = decider.rng.copy()
    published = decider.at_edge(NO_SHARES)
    for form in decider.knowledge.forms:
        if "crosses" in form.columns.shape:
            form.score += 1e6
            decider.rng[:] = words
            assert decider.at_edge(NO_SHARES) == published


def test_squares_and_logarithms_are_published_in_the_units_of_the_belief():
    """The values of a draw are those of the belief's own features, up to what rounding leaves."""
    for position in range(4):
        decider = learnt()
        knowledge = decider.knowledge
        assert len(knowledge.forms) == 7
        for at, form in enumerate(knowledge.forms):
            form.score = float(at == position) * 1e6
        assert knowledge.leading == position
        theta = np.random.default_rng(2).normal(size=(4, len(knowledge.columns)))
        published = decider.at_edge(NO_SHARES)
        folded = at_edge.folded(decider, knowledge.columns.columns, theta, [0, 1, 2])
        for seed in range(5):
            asking = decider.check(context(np.random.default_rng(seed)))
            _, rows, positions = decider.at_hand(asking)
            held = decider._calls.survey(asking.context, rows, positions, decider.turn)
            values = theta @ held["features"].T
            slots = np.zeros(len(knowledge.context))
            for slot, number in published.filled(asking.context):
                kind, name = (*published.slots[slot], "constant")[:2]
                same = [
                    i
                    for i, one in enumerate(knowledge.context.slots)
                    if (i == 0 if kind == "constant" else (one.kind, one.name) == (kind, name))
                    and one.level == (published.slots[slot][2] if kind == "level" else "")
                ]
                half = np.sqrt(0.5) if kind == "square" else 1.0
                slots[same[0]] = number / 65536 * half
            assert folded @ slots == pytest.approx(values, abs=2e-3)


def test_a_settled_control_wins_no_draw_and_a_cap_holds():
    decider = learnt()
    settled = decider.at_edge(Shares(control="b", control_share=0.2))
    assert settled.settled == 1
    assert settled.wins({})[1] == 0
    points = settled.points(settled.wins({}), [0.0, 0.2, 0.0])
    assert points[1] == int(0.2 * 2**32)
    assert sum(points) == 2**32
    capped = decider.at_edge(Shares(control="b", most=0.75))
    assert (settled.control, capped.control) == (None, 1)  # named where it caps the others
    counts = capped.points([256, 0, 0], [0.0, 0.0, 0.0])
    assert np.array(counts) / 2**32 == pytest.approx([0.75, 0.25, 0.0])
    even = decider.at_edge(Shares(control="b", most=0.0))
    assert np.array(even.points([256, 0, 0], [0.0] * 3)) / 2**32 == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("control", [None, "a", "b"])
@pytest.mark.parametrize("most", [1.0, 0.75, 0.0])
@pytest.mark.parametrize("share", [None, 0.3])
def test_shares_are_those_of_the_study(control, most, share):
    """As `Shares.beside` has them, but for the last points."""
    if control is None and share is not None:
        return
    shares = Shares(floor=0.05, control=control, control_share=share, most=most)
    published = learnt(60).at_edge(shares)
    rng = np.random.default_rng(3)
    for _ in range(20):
        wins = rng.multinomial(256, rng.dirichlet([0.3, 0.3, 0.3])).astype(float)
        if published.settled is not None:
            wins[published.settled] = 0.0
            wins[1 if published.settled == 0 else 0] += 256 - wins.sum()
        own = shares.of(ARMS)
        counts = published.points(wins.astype(int).tolist(), [own[arm] for arm in ARMS])
        wished = dict(zip(ARMS, wins / 256, strict=True))
        meant = list(shares.beside(wished).values())
        assert np.array(counts) / 2**32 == pytest.approx(meant, abs=1e-8)


def test_draws_are_as_many_as_there_is_room_for():
    decider = FeaturedDecider(range(20), context=[f"x{i}" for i in range(99)])
    for value in (1.0, 2.0):
        decider.meet(decider.check({f"x{i}": value for i in range(99)}))
    result = decider.at_edge(NO_SHARES)
    assert result.draws == 64
    assert 20 * 100 * result.draws <= MOST_COEFFICIENTS


def test_what_a_client_cannot_decide_is_refused():
    with pytest.raises(StudyError, match="candidates come with every ask"):
        FeaturedDecider(features=["price"]).at_edge(NO_SHARES)
    with pytest.raises(StudyError, match=r"arrays \(text\) are not published"):
        FeaturedDecider(ARMS, context=["text[3]"]).at_edge(NO_SHARES)
    prices, names = {arm: {"price": float(arm)} for arm in range(100)}, [f"x{i}" for i in range(99)]
    decider = FeaturedDecider(prices, features=prices, context=names, pooling="shared")
    decider.meet(decider.check(dict.fromkeys(names)))
    with pytest.raises(StudyError, match="too many to be published: at most 8,192"):
        decider.at_edge(NO_SHARES)
