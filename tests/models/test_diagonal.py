"""The table of a factorised belief: its rows, a million rewards, and corrections."""

from __future__ import annotations

import numpy as np
import pytest

from belman.engine import entry, kernel
from belman.models import Block, Linear, Logistic, PoissonLog
from belman.models.diagonal import (
    Entries,
    Table,
    drop_last,
    fill_buckets,
    learn,
    locate,
    locate_or_add,
    widened,
)
from belman.models.diagonal_correcting import before, correct
from belman.models.model import blank

pytestmark = pytest.mark.compiled  # up to a million rewards


def entries_of(keys, values):
    result = Entries.of(1, max(len(keys), 1))
    result.counts[0] = len(keys)
    result.key[0, : len(keys)], result.value[0, : len(keys)] = keys, values
    return result


def add(table, keys):
    """The rows of keys, new ones added."""
    entries = entries_of(keys, np.ones(len(keys)))
    locate_or_add(table, entries, 0)
    return entries.row[0, : len(keys)].tolist()


def test_rows_are_found_by_their_keys_after_others_went():
    rng = np.random.default_rng(1)
    table = Table.of(np.array([1.0, 4.0]), 256)
    keys = rng.choice(2**60, 200, replace=False) + 1
    assert add(table, keys[:120]) == list(range(120))
    kept = [part.copy() for part in table]
    assert add(table, keys[50:]) == list(range(50, 200))
    drop_last(table, 120)
    assert all((one == other).all() for one, other in zip(table[2:4], kept[2:4], strict=True))
    entries = entries_of(keys, np.ones(200))
    locate(table, entries, 0)
    assert entries.row[0].tolist() == [*range(120), *[-1] * 80]
    wide = widened(table, 1024)
    assert fill_buckets(wide) == 0
    assert wide.used == 120
    locate(wide, entries, 0)
    assert entries.row[0].tolist() == [*range(120), *[-1] * 80]


def test_a_full_table_takes_no_more_rows():
    table = Table.of(np.ones(1), 8)
    assert add(table, range(1, 13)) == [*range(8), *[-1] * 4]


@kernel
def learn_all(model, constants, belief, table, features, entries, rewards, keys, values):
    for t in range(rewards.size):
        for e in range(entries.counts[0]):
            entries.key[0, e], entries.value[0, e] = keys[t, e], values[t, e]
        locate_or_add(table, entries, 0)
        learn(model, constants, belief, table, features, entries, rewards[t])
    return 0


def told(model, rewards, keys, values, prior=(0.01, 1.0)):
    """The dense belief about a constant, and the table, after these rewards."""
    one = model.belief([Block(1)])
    belief = blank(np.repeat(one.prior, len(prior), axis=0), model.first_noise)
    table = Table.of(np.array(prior), 1 << 12)
    entry(learn_all, model=model.kernels)(
        constants=model.constants,
        belief=belief,
        table=table,
        features=np.ones(1),
        entries=entries_of(keys[0], values[0]),
        rewards=rewards,
        keys=keys,
        values=values,
    )
    return belief, table


def drawn(turns, columns=500, width=4, seed=2):
    rng = np.random.default_rng(seed)
    keys = np.minimum(rng.zipf(1.3, (turns, width)), columns) + 1_000 * np.arange(1, width + 1)
    return rng, keys, rng.normal(size=(turns, width)) * 10.0 ** rng.integers(-2, 4, (turns, width))


@pytest.mark.parametrize(
    ("model", "turns"),
    [(Linear(noise=0.01), 1_000_000), (Logistic(), 100_000), (PoissonLog(), 50_000)],
)
def test_variances_stay_above_0_and_fall(model, turns):
    rng, keys, values = drawn(turns)
    if isinstance(model, PoissonLog):
        values = np.clip(values, -3.0, 3.0)
    rewards = rng.integers(0, 2, turns).astype(float)
    belief, table = told(model, rewards, keys, values)
    rows = table.rows[: table.used]
    assert np.isfinite(rows).all()
    assert np.isfinite(belief.mean).all()
    assert (rows[:, 1] > 0.0).all()
    assert (rows[:, 1] <= table.prior).all()
    assert rows[:, 1].min() < 1e-3


def test_one_coefficient_alone_is_learnt_exactly():
    """With nothing beside it, a row is the whole belief: that of a dense coefficient."""
    rng = np.random.default_rng(3)
    rewards = rng.integers(0, 2, 40).astype(float)
    model = Logistic()
    dense = model.belief([Block(1)])
    belief, table = model.belief([Block(1)]), Table.of(np.ones(1))
    entries, nothing = entries_of([7], [1.0]), np.zeros(1)
    from belman.models.shared import learn as learn_dense

    for reward in rewards:
        locate_or_add(table, entries, 0)
        first = learn(
            model.kernels, model.constants, belief, table, nothing, entries, float(reward)
        )
        second = learn_dense(model.kernels, model.constants, dense, np.ones(1), float(reward))
        assert first == pytest.approx(second)
    assert table.rows[0, 0, 0] == pytest.approx(dense.mean[0, 0])
    assert table.rows[0, 1, 0] == pytest.approx(dense.root[0, 0, 0] ** 2)


@pytest.mark.parametrize("model", [Logistic(), Linear(noise=2.0), Linear(unknown=True)])
def test_the_last_reward_is_corrected_as_if_it_had_been_another(model):
    rng, keys, values = drawn(60)
    values = np.ones_like(values)
    rewards = rng.integers(0, 2, 60).astype(float)
    rewards[-1] = 0.0
    wrong = told(model, rewards, keys, values, prior=(0.02, 0.1))
    right = told(model, np.append(rewards[:-1], 1.0), keys, values, prior=(0.02, 0.1))
    never = told(model, rewards[:-1], keys[:-1], values[:-1], prior=(0.02, 0.1))
    for expected, new in ((right, 1.0), (never, np.nan)):
        belief, table = (type(part)(*(one.copy() for one in part)) for part in wrong)
        entries = entries_of(keys[-1], values[-1])
        locate_or_add(table, entries, 0)
        entry(correct, model=model.kernels)(
            constants=model.constants, belief=belief, table=table, features=np.ones(1),
            entries=entries, old=0.0, new=new, kept=1.0,
        )  # fmt: skip
        used = expected[1].used
        moved = np.abs(wrong[1].rows[:used] - expected[1].rows[:used]).max()
        left = np.abs(table.rows[:used] - expected[1].rows[:used]).max()
        assert left < 1e-6 < 1e-3 < moved
        assert belief.mean == pytest.approx(expected[0].mean, abs=1e-6)
        assert belief.noise == pytest.approx(expected[0].noise, abs=1e-6)


def test_a_correction_takes_out_what_the_first_reward_brought():
    assert before(0.5, 0.0, 9.0) == 0.5
    for part in (0.1, 0.7, 2.0):
        shrink = 1.0 / (1.0 + 2.0 * part)
        assert before(part - shrink * part**2, shrink, 9.0) == pytest.approx(part)
    assert before(0.5, 0.3, 0.6) == 0.6


def test_a_correction_leaves_what_was_0_in_its_context():
    model = Logistic()
    belief, table = model.belief([Block(1)]), Table.of(np.ones(1))
    entries = entries_of([7, 8], [0.0, 1.0])
    locate_or_add(table, entries, 0)
    held = {"constants": model.constants, "belief": belief, "table": table}
    held |= {"features": np.ones(1), "entries": entries}
    entry(learn, model=model.kernels)(**held, reward=1.0)
    entry(correct, model=model.kernels)(**held, old=1.0, new=0.0, kept=1.0)
    assert table.rows[0, :, 0].tolist() == [0.0, 1.0]
    assert table.rows[1, 0, 0] < 0.0 < table.rows[1, 1, 0] < 1.0
