"""What every decider keeps: the same suite over independent, segmented, featured and box."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import belman
from belman import chance
from belman.deciders import (
    Anew,
    Choice,
    Decider,
    Draw,
    FeaturedDecider,
    IndependentDecider,
    SegmentedDecider,
    Shares,
    Sums,
    decider_named,
)
from belman.deciders.box.box_decider import BoxDecider
from belman.deciders.shares import NO_SHARES
from belman.engine import tiers
from belman.errors import ArmError, BelmanError, PolicyError, RewardError, SettingError
from belman.models import Logistic
from belman.policies import Clipping, Forced, Forgetting, Restarting

ARMS = ["a", "b", "c", "d"]
WIDE = Logistic(covariance="diagonal")
FR, DE = {"country": "FR"}, {"country": "DE"}

MAKE: dict[str, Callable[[], Decider]] = {
    "independent": lambda: IndependentDecider(ARMS),
    "segmented": lambda: SegmentedDecider(("country",), IndependentDecider(ARMS)),
    "featured": lambda: FeaturedDecider(ARMS, context=["country"]),
    "candidates": lambda: FeaturedDecider(features=["price"], model="linear"),
    "wide": lambda: FeaturedDecider(ARMS, context=["country", "words[]"], model=WIDE),
    "box": lambda: BoxDecider(belman.Box(price=(5, 20)), shift=np.array([0.5])),
}
#: Those with named arms that come and go.
WITH_ARMS = ["independent", "segmented", "featured", "wide"]
SPREADING = [*WITH_ARMS, "candidates"]


@pytest.fixture
def interpreted() -> Iterator[None]:
    """Python runs kernels: a few turns of policies that nothing else compiles."""
    with tiers.interpreted(), np.errstate(all="ignore"):
        yield


def chosen_by(decider, asking, n=1, among=None, shares=NO_SHARES, *, rng):
    """Choices by these words, which go on, with their chances."""
    decider.rng[:] = rng
    result = decider.integrated(decider.choose(asking, n, among, shares))
    rng[:] = decider.rng
    return result


def request(kind: str, position: int = 0) -> dict[str, Any]:
    if kind in ("segmented", "featured"):
        return {"context": (FR, DE)[position % 2]}
    if kind == "wide":
        words = {"words": [f"w{position % 3}", "all", f"w{position}"]}
        return {"context": (FR, DE)[position % 2] | words}
    if kind == "candidates":
        return {"candidates": [{"price": float(price)} for price in (1, 2, 3, 4)]}
    return {}


def asked(decider: Decider, kind: str, position: int = 0):
    return decider.check(**request(kind, position))


def played(kind: str, turns: int = 12, seed: int = 3, rewards: int = 1) -> Decider:
    """A decider that was told most rewards, and waits for some."""
    decider, rng = MAKE[kind](), chance.generator(seed)
    luck = np.random.default_rng(rewards)
    for turn in range(turns):
        (choice,) = chosen_by(decider, asked(decider, kind, turn), rng=rng)
        if turn % 4:
            decider.settle(choice, float(luck.integers(2)))
    return decider


def plain(decider: Decider, working: bool = False) -> Any:
    return json.loads(json.dumps(decider.state(working), sort_keys=True))


def next_choices(decider: Decider, kind: str, n: int = 20, seed: int = 9) -> list[Any]:
    rng = chance.generator(seed)
    return [
        choice[:3]
        for turn in range(n)
        for choice in chosen_by(decider, asked(decider, kind, turn), rng=rng)
    ]


# (a) A log leads to the same state


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("shares", [Shares(), Shares(floor=0.1), Shares(uniform=0.5)], ids=repr)
@pytest.mark.parametrize("kind", SPREADING)
def test_a_choice_made_elsewhere_leads_to_the_same_state(kind, shares, n):
    here, there = played(kind), played(kind)
    rng = chance.generator(5)
    for turn in range(4):
        asking = asked(here, kind, turn)
        for choice in chosen_by(here, asking, n, shares=shares, rng=rng):
            there.meet(asked(there, kind, turn))
            there.expect(there.recall(choice.arm, choice.context, choice.candidate))
    assert plain(there) == plain(here)


def test_a_point_chosen_elsewhere_leads_to_the_same_state():
    here, there = played("box"), played("box")
    (choice,) = chosen_by(here, here.check(), rng=chance.generator(5))
    there.expect(choice)
    assert plain(there) == plain(here)
    for decider in (here, there):
        decider.settle(choice, 1.0)
    assert plain(there) == plain(here)


# (b) Shares, batches and probabilities


@pytest.mark.parametrize("kind", SPREADING)
def test_a_batch_spreads_beside_floors(kind):
    """100 choices of 4 arms with floors of 0.05: were one arm favoured by all wishes of the
    policy, each other arm would have 5; a batch imagines what it gave, and spreads.
    """
    shares = Shares(floor=0.05)
    decider = MAKE[kind]()
    chosen = chosen_by(decider, asked(decider, kind), 100, shares=shares, rng=chance.generator(4))
    counts = Counter(choice.arm for choice in chosen)
    assert len(counts) == 4
    assert max(counts.values()) <= 60
    for choice in chosen:
        assert choice.probability == pytest.approx(0.05) or choice.probability == pytest.approx(
            0.05 + 0.8
        )


@pytest.mark.parametrize(
    "shares",
    [
        Shares(floor=0.1),
        Shares(floor=(("b", 0.3),)),
        Shares(control="a", control_share=0.4),
        Shares(floor=0.05, control="a", control_share=0.4),
        Shares(uniform=0.5),
    ],
    ids=repr,
)
@pytest.mark.parametrize("policy", [None, belman.Thompson()], ids=repr)
def test_arms_come_as_often_as_their_probabilities_say(shares, policy):
    """Over 2,000 seeds: the sum of (chosen − its mean probability) is within 4.5 deviations, which
    a right decider leaves once in 10⁵ tests.
    """
    decider = IndependentDecider(ARMS, policy=policy)
    for arm, wins in zip(ARMS, (3, 5, 6, 7), strict=True):
        for turn in range(10):
            decider.record(Choice(arm), float(turn < wins))
    rng, inverse = chance.generator(11), dict.fromkeys(ARMS, 0.0)
    squares = dict(inverse)
    seeds = 2_000
    for _ in range(seeds):
        (choice,) = chosen_by(decider, decider.check(), shares=shares, rng=rng)
        decider.settle(choice, None)
        assert 0.0 < choice.probability <= 1.0
        weight = 1.0 / choice.probability
        inverse[choice.arm] += weight
        squares[choice.arm] += weight * weight
    floors = shares.of(ARMS) or (
        dict.fromkeys(ARMS, 1.0) if shares.uniform or policy is not None else {}
    )
    for arm in floors:
        if shares.uniform and policy is None:
            continue  # chances given how it was drawn: uniformly, or by a policy that draws not
        deviation = max(squares[arm] - inverse[arm] ** 2 / seeds, 1.0) ** 0.5
        assert abs(inverse[arm] - seeds) < 4.5 * deviation, arm


@pytest.mark.parametrize("kind", WITH_ARMS)
def test_control_has_its_share_exactly(kind):
    """Of 2,000 choices 0.3 are control's, within 4.5 deviations (once in 10⁵ tests)."""
    decider, rng = MAKE[kind](), chance.generator(8)
    shares, n = Shares(control="c", control_share=0.3), 2_000
    count = 0
    for turn in range(n):
        (choice,) = chosen_by(decider, asked(decider, kind, turn), shares=shares, rng=rng)
        decider.settle(choice, None)
        if choice.arm == "c":
            assert choice.probability == pytest.approx(0.3)
            count += 1
        else:
            assert choice.probability == pytest.approx(0.7)
    assert abs(count - 0.3 * n) < 4.5 * (0.21 * n) ** 0.5


@pytest.mark.parametrize("kind", SPREADING)
def test_a_uniform_share_is_uniform(kind):
    """Of 1,600 choices a half are uniform, and a quarter of these each arm's: 4.5 deviations."""
    decider, rng, n = MAKE[kind](), chance.generator(8), 1_600
    result = []
    for turn in range(n):
        result += chosen_by(
            decider, asked(decider, kind, turn), shares=Shares(uniform=0.5), rng=rng
        )
        decider.settle(result[-1], None)
    uniform = [choice for choice in result if choice.draw is Draw.UNIFORM]
    assert abs(len(uniform) - 0.5 * n) < 4.5 * (0.25 * n) ** 0.5
    counts = Counter(choice.arm for choice in uniform)
    assert {choice.probability for choice in uniform} == {0.25}
    for count in counts.values():
        assert abs(count - len(uniform) / 4) < 4.5 * (len(uniform) * 3 / 16) ** 0.5


@pytest.mark.parametrize("kind", WITH_ARMS)
def test_the_order_of_available_arms_does_not_matter(kind):
    for among in (["c", "a", "b"], ["d", "c", "b", "a"]):
        rows = []
        for some in (among, sorted(among)):
            decider, rng = played(kind), chance.generator(2)
            asking = asked(decider, kind)
            rows.append([chosen_by(decider, asking, among=some, rng=rng)[0].arm for _ in range(20)])
        assert rows[0] == rows[1]
        assert set(rows[0]) <= set(among)


def test_one_ask_says_how_it_was_drawn():
    agent = belman.Agent(ARMS, policy=belman.Thompson(), seed=1)
    draws = []
    for _ in range(len(ARMS) + 1):
        agent.tell(agent.ask(), 1)
        draws.append(agent.last[0].draw)
    tried = {arm for arm, row in zip(ARMS, agent.beliefs()["plays"], strict=True) if row}
    for arm in set(ARMS) - tried:
        agent.tell(arm, 0)
    assert draws[0] is Draw.POLICY
    agent.ask()
    assert agent.last[0].draw is Draw.RANDOM


@pytest.mark.parametrize(
    "policy", [belman.BelMan(), belman.policies.UCB1(), belman.policies.IMED()], ids=repr
)
def test_a_ledger_of_its_own_sees_what_is_outstanding(policy, interpreted):
    """A window that no reward has left yet decides as if there were none, batches included."""
    chosen = []
    for who in (policy, Forgetting(policy, last=10_000)):
        decider, rng = IndependentDecider(ARMS, policy=who), chance.generator(3)
        for turn in range(40):
            (choice,) = chosen_by(decider, decider.check(), rng=rng)
            decider.settle(choice, float(turn % 2))
        result = chosen_by(decider, decider.check(), 40, rng=rng)
        result += [Choice(*decider.choose_one()) for _ in range(10)]
        decider.settle(result[0], 1.0)
        result += chosen_by(decider, decider.check(), 5, rng=rng)
        chosen.append(Counter(choice.arm for choice in result))
    assert chosen[0] == chosen[1]
    assert len(chosen[0]) == len(ARMS)


@pytest.mark.parametrize(
    "policy", [Forgetting(last=30), Clipping(), Restarting(), Forced(Forgetting(), factor=0.01)]
)
def test_ledgers_inside_are_as_they_were_after_an_ask(policy, interpreted):
    """What is imagined of outstanding asks is not learnt."""
    decider, rng = IndependentDecider(ARMS, policy=policy), chance.generator(3)
    for turn in range(40):
        (choice,) = chosen_by(decider, decider.check(), rng=rng)
        decider.settle(choice, float(turn % 2))
    decider.lay_out()
    before = plain(decider)
    for choice in chosen_by(decider, decider.check(), 20, rng=rng):
        decider.settle(choice, None)
    decider.lay_out()
    assert plain(decider) == before


@pytest.mark.parametrize("given", [{}, {"segments": ("country",)}], ids=repr)
def test_the_chance_of_a_forced_draw_is_known(given):
    """Between what explores and what the policy inside draws."""
    agent = belman.Agent(ARMS, policy=Forced(belman.Thompson(), factor=0.05), seed=1, **given)
    asked = {"context": FR} if given else {}
    for turn in range(100):
        agent.tell(agent.ask(**asked), turn % 2)
    for _ in range(5):
        weights = agent.weights(1, **asked)
        arm = agent.ask(**asked)
        assert agent.last[0].probability == pytest.approx(weights[arm], rel=1e-6)
        agent.tell(arm, 1)


# (c) Keeping


@pytest.mark.parametrize("working", [False, True])
@pytest.mark.parametrize("kind", MAKE)
def test_a_restored_decider_goes_on_alike(kind, working):
    decider = played(kind)
    state = plain(decider, working)
    again = decider_named(decider.kind).restore(state, "the state")
    assert plain(again, working) == state
    if not working:
        decider.lay_out()
    assert next_choices(again, kind) == next_choices(decider, kind)
    assert plain(again) == plain(decider)


@pytest.mark.parametrize("kind", MAKE)
def test_a_state_is_plain_data(kind):
    decider = played(kind)
    for working in (False, True):
        state = decider.state(working)
        assert json.loads(json.dumps(state)) == state


@pytest.mark.parametrize("kind", MAKE)
def test_a_copy_shares_nothing(kind):
    decider = played(kind)
    before, twin = plain(decider, True), decider.copy()
    assert plain(twin, True) == before
    lived = next_choices(twin, kind, 5)
    (choice,) = chosen_by(twin, asked(twin, kind), rng=chance.generator(1))
    twin.settle(choice, 1.0)
    assert plain(decider, True) == before
    assert next_choices(decider, kind, 5) == lived


@pytest.mark.parametrize(
    "policy",
    [
        belman.BelMan(),
        belman.BelMan.paper(),
        belman.Thompson(),
        Forced(belman.Thompson()),
        belman.policies.UCB1(),
    ],
    ids=repr,
)
def test_laid_out_the_next_decisions_depend_on_the_state_alone(policy):
    """The same rewards by two histories: in one order with asks between, in another without."""
    rewards = [("a", 1), ("b", 0), ("c", 1), ("d", 0), ("a", 0), ("b", 1), ("c", 1), ("d", 1)]
    one, other = (IndependentDecider(ARMS, policy=policy) for _ in range(2))
    rng = chance.generator(3)
    for arm, reward in rewards:
        (choice,) = chosen_by(one, one.check(), rng=rng)
        one.settle(choice, None)
        one.record(Choice(arm), reward)
    for arm, reward in reversed(rewards):
        other.record(Choice(arm), reward)
    assert plain(one) == plain(other)
    for decider in (one, other):
        decider.lay_out()
    assert plain(one, working=True) == plain(other, working=True)
    assert next_choices(one, "independent") == next_choices(other, "independent")


# (d) Arms that come and go


@pytest.mark.parametrize("kind", WITH_ARMS)
def test_a_retired_arm_is_nowhere_and_comes_back_as_it_was(kind):
    decider = played(kind)
    asking = asked(decider, kind)
    (out,) = chosen_by(decider, asking, among=["b"], rng=chance.generator(1))
    before = decider.learnt("b")
    table = decider.beliefs(asking, 0.95).row("b")
    decider.retire("b")
    assert "b" not in decider.arms
    assert "b" not in decider.beliefs(asking, 0.95)["arm"]
    assert "b" not in decider.beliefs(None, 0.95)["arm"]
    assert "b" not in decider.explain(asking)["arm"]
    assert "b" not in decider.rank(asking)
    assert "b" not in decider.known().arms
    assert "b" not in decider.outstanding
    assert "b" not in {choice[0] for choice in next_choices(decider.copy(), kind, 40)}
    if kind not in ("featured", "wide"):
        assert "b" not in decider.weights(asking, 10)
    again = decider_named(decider.kind).restore(plain(decider), "the state")
    again.add("b")
    assert again.learnt("b") == before
    told = again.beliefs(asking, 0.95).row("b")
    for name in ("plays", "expected reward", "low", "high"):
        assert told[name] == pytest.approx(table[name])
    decider.settle(out, 1.0)
    decider.add("b")
    after = decider.learnt("b")
    assert (after.tells, after.pending) == (before.tells + 1, before.pending - 1)
    assert decider.turn == again.turn + 1


@pytest.mark.parametrize("kind", WITH_ARMS)
def test_the_last_arm_stays_and_strangers_are_refused(kind):
    decider = MAKE[kind]()
    before = plain(decider)
    for act in (lambda: decider.retire("z"), lambda: decider.add("a"), lambda: decider.add([])):
        with pytest.raises(ArmError):
            act()
    with pytest.raises(ArmError):
        decider.expect(decider.recall("z", **request(kind)))
    assert plain(decider) == before
    for arm in ARMS[1:]:
        decider.retire(arm)
    with pytest.raises(ArmError, match="the last one"):
        decider.retire("a")


def test_a_retired_arm_fades_as_those_in_play_do():
    """Rewards of others fade it, and its own rewards fade the others."""
    away, here = (IndependentDecider(ARMS, discount=0.5) for _ in range(2))
    for decider in (away, here):
        decider.record(Choice("b"), 1.0)
        decider.expect(Choice("b"))
    away.retire("b")
    for decider in (away, here):
        for arm in ("a", "c", "a"):
            decider.record(Choice(arm), 1.0)
        decider.settle(Choice("b"), 0.0)
        decider.record(Choice("a"), 1.0)
    assert here.learnt("b").belief == (1.0 + 0.5**5, 1.0 + 0.5)
    assert [away.learnt(arm) for arm in ARMS] == [here.learnt(arm) for arm in ARMS]
    away.add("b")
    assert away.learnt("b") == here.learnt("b")


# (e) Refused rewards, and patches


def everything(decider: Decider, kind: str) -> Any:
    """All that is kept of a decider, its random words, and what it decides next."""
    words = decider.rng.tolist()
    return plain(decider, True), words, next_choices(decider.copy(), kind, 4)


def refuses(decider: Decider, kind: str, choice: Choice, reward: Any) -> None:
    """A reward is refused at every door, and changes nothing."""
    before = everything(decider, kind)
    for act in (decider.check_reward, decider.settle, decider.record):
        with pytest.raises(RewardError):
            act(choice, reward)
        assert everything(decider, kind) == before, act.__name__


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("reward", [float("nan"), "1", 1e200, -1e200])
def test_a_refused_reward_changes_nothing(kind, reward):
    decider = played(kind)
    (choice,) = chosen_by(decider, asked(decider, kind), rng=chance.generator(1))
    refuses(decider, kind, choice, reward)


@pytest.mark.parametrize(
    ("family", "before", "reward"), [("gaussian", 0.0, 1.02e15), ("poisson", 6e14, 6e14)]
)
def test_a_reward_that_one_of_two_beliefs_refuses_changes_neither(family, before, reward):
    """A new segment refuses 1.02·10¹⁵ as its mean, which others have made small over all; the sum
    over all segments leaves its reach with the second 6·10¹⁴, and that of each does not.
    """
    decider = SegmentedDecider(("country",), IndependentDecider(["a", "b"], family))
    for _ in range(3 if before == 0.0 else 1):
        decider.record(decider.recall("a", FR), before)
    (choice,) = chosen_by(decider, decider.check(DE), among=["a"], rng=chance.generator(1))
    refuses(decider, "segmented", choice, reward)


FAMILIES = ["bernoulli", "gaussian", "poisson", "gamma"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", ["independent", "segmented"])
def test_many_rewards_at_once_are_those_one_by_one(kind, family):
    """Up to the rounding of sums, 10⁻⁹; the patch goes through JSON."""
    inner = IndependentDecider(ARMS, family)
    decider: Any = inner if kind == "independent" else SegmentedDecider(("country",), inner)
    rewards = [1.0, 0.0, 1.0, 1.0] if family in ("bernoulli", "poisson") else [0.5, 2.0, 1.25]
    choice = decider.recall("b", **request(kind))
    slow, fast = decider.copy(), decider.copy()
    for reward in rewards:
        slow.record(choice, reward)
    sums = Sums(len(rewards), sum(rewards), sum(reward * reward for reward in rewards))
    before = plain(fast)
    patch = json.loads(json.dumps(fast.taught(choice, sums)))
    assert plain(fast) == before
    fast.take(patch)
    assert fast.learnt("b").belief == pytest.approx(slow.learnt("b").belief, rel=1e-9)
    assert fast.learnt("b")[2:] == pytest.approx(slow.learnt("b")[2:])
    assert fast.turn == slow.turn


@pytest.mark.parametrize("family", FAMILIES)
def test_a_corrected_reward_is_as_if_it_had_been_told_so(family):
    """Up to the rounding that a correction may cause, 10⁻⁷ of a belief's deviation."""
    old, new = (1.0, 0.0) if family in ("bernoulli", "poisson") else (0.5, 2.0)
    for before, after in ((old, new), (old, None), (None, new)):
        wrong, right = IndependentDecider(ARMS, family), IndependentDecider(ARMS, family)
        for decider, last in ((wrong, before), (right, after)):
            for reward in (1.0, 1.0, 1.0, last):
                if reward is not None:
                    decider.record(Choice("b"), reward)
        kept = plain(wrong)
        patch = wrong.corrected(Choice("b"), before, after)
        assert plain(wrong) == kept
        assert patch is not None
        wrong.take(json.loads(json.dumps(patch)))
        assert wrong.learnt("b").belief == pytest.approx(right.learnt("b").belief, rel=1e-7)
        assert wrong.learnt("b")[2:] == pytest.approx(right.learnt("b")[2:])
        assert wrong.turn == right.turn


@pytest.mark.parametrize("kind", SPREADING)
@pytest.mark.parametrize("new", [0.0, None])
def test_a_correction_is_a_patch_of_what_it_touches(kind, new):
    """The patch changes nothing before it is taken, is short, and leaves what is outstanding."""
    wrong, right = played(kind), played(kind)
    (choice,) = chosen_by(wrong, asked(wrong, kind), rng=chance.generator(1))
    chosen_by(right, asked(right, kind), rng=chance.generator(1))
    wrong.settle(choice, 1.0)
    right.settle(choice, new)
    kept = plain(wrong)
    patch = json.dumps(wrong.corrected(choice, 1.0, new))
    assert plain(wrong) == kept
    assert len(patch) < 700
    wrong.take(json.loads(patch))
    assert wrong.turn == right.turn
    assert wrong.outstanding == right.outstanding
    mine, theirs = (one.known() for one in (wrong, right))
    np.testing.assert_allclose(mine.beliefs, theirs.beliefs, rtol=1e-9)
    if kind in ("featured", "wide", "candidates"):
        known, there = wrong.expected(choice), right.expected(choice)
        assert known == pytest.approx(there, abs=1e-3)


def test_of_what_fades_the_log_says_how_much_is_left():
    decider = FeaturedDecider(ARMS, context=["country"], model=belman.models.Linear(keep=0.9))
    choice = decider.recall("a", FR)
    decider.record(choice, 1.0)
    assert decider.corrected(choice, 1.0, 0.0) is None
    learnt, before = decider.learnt("a"), decider.expected(choice)
    now, old = (decider.corrected(choice, 1.0, 0.0, Anew(learnt, learnt, n)) for n in (0, 10_000))
    decider.take(old)
    assert decider.expected(choice) == pytest.approx(before, rel=1e-12)
    decider.take(now)
    assert decider.expected(choice) < 0.1 * before


def test_a_box_takes_no_patches():
    decider = played("box")
    for act in (
        lambda: decider.corrected(Choice({"price": 6.0}), 1.0, 2.0),
        lambda: decider.taught(Choice({"price": 6.0}), Sums(1, 1.0, 1.0)),
        lambda: chosen_by(
            decider, decider.check(), shares=Shares(uniform=0.5), rng=chance.generator(1)
        ),
        lambda: decider.retire("a"),
        lambda: decider.check({"country": "FR"}),
    ):
        with pytest.raises(SettingError, match="a box has points and no arms"):
            act()


# (f) (g) What is refused


@pytest.mark.parametrize(
    "policy",
    [
        belman.policies.EXP3P(horizon=100),
        belman.policies.TsallisINF(),
        belman.policies.LBSDA(),
        belman.policies.BESA(),
        belman.policies.RBSDA(),
    ],
    ids=repr,
)
def test_policies_that_keep_more_than_beliefs_serve_no_segments(policy):
    with pytest.raises(PolicyError, match="keeps more than beliefs"):
        belman.Agent(ARMS, policy=policy, segments=("country",))
    agent = belman.Agent(ARMS, segments=("country",))
    with pytest.raises(PolicyError, match="keeps more than beliefs"):
        agent.policy = policy
    assert agent.policy == belman.BelMan()


def test_a_feature_is_a_number_or_a_word():
    mixed = {"a": {"x": 1.0}, "b": {"x": "word"}}
    with pytest.raises(SettingError, match=r"x is 1\.0 for one arm and 'word' for another"):
        belman.Agent(["a", "b"], features=mixed)
    agent = belman.Agent(features=["x"], seed=1)
    before = agent.to_json()
    with pytest.raises(SettingError, match=r"x is 1\.0 for one arm and 'word' for another"):
        agent.ask(candidates=[{"x": 1.0}, {"x": None}, {"x": "word"}])
    assert agent.to_json() == before


def test_values_that_are_equal_are_one_segment_and_a_truth_is_its_text():
    agent = belman.Agent(["a", "b"], segments=("age",), seed=1)
    for value in (1, 1.0, True, "True", "1", np.float64(1.0)):
        agent.tell("a", 1, {"age": value})
    assert agent.segments == [{"age": 1}, {"age": "True"}, {"age": "1"}]
    assert [type(one["age"]) for one in agent.segments] == [int, str, str]
    own = agent._decider.segments.own
    assert [own[age,]["a"].tells for age in (1, "True", "1")] == [3, 2, 1]
    assert belman.Agent.from_json(agent.to_json()).to_json() == agent.to_json()


def test_there_are_four_deciders():
    kinds = {"independent", "segmented", "featured", "box"}
    assert {decider_named(kind).kind for kind in kinds} == kinds
    with pytest.raises(BelmanError, match="no decider"):
        decider_named("tea leaves")


@pytest.mark.parametrize("settings", [{"segments": ("age",)}, {"context": ["age"]}], ids=repr)
def test_a_word_that_no_file_can_hold_is_no_context(settings):
    agent = belman.Agent(["a", "b"], **settings, seed=1)
    before = agent.to_json()
    for word in ("\ud800", "x" * 5_000):
        with pytest.raises(SettingError, match="age="):
            agent.ask(context={"age": word})
    assert agent.to_json() == before
