"""river: its disjoint LinUCB, behind its own scaler and encoder, which learn as rows come."""

from __future__ import annotations

from river import bandit, compose, preprocessing

from benchmarks.bakeoff.tables import Table


class _Player:
    def __init__(self, table: Table, seed: int) -> None:
        self.rows, self.arms = table.rows, list(range(table.arms))
        numbers = compose.SelectType(float) | preprocessing.StandardScaler()
        words = compose.SelectType(str) | preprocessing.OneHotEncoder()
        kinds = {type(value) for value in table.rows[0].values()}
        self.form = {
            (float,): numbers,
            (str,): words,
        }.get(tuple(kinds), numbers + words)
        self.policy = bandit.LinUCBDisjoint(seed=seed)

    def ask(self, place: int) -> int:
        self.form.learn_one(self.rows[place])
        self.context = self.form.transform_one(self.rows[place])
        return self.policy.pull(self.arms, context=self.context)

    def tell(self, place: int, arm: int, reward: int) -> None:
        self.policy.update(arm, self.context, reward)


PLAYERS = {"LinUCB": _Player}
