"""Studies that are given whatever comes: an error of ours changes nothing, and the log stays whole.

Tickets, rows in bulk, corrections, weights, arms and settings are right or odd by chance; after
its life a study is the fold of its log, can be opened anew, looked at, and asked.
"""

from __future__ import annotations

import random
import tempfile
import warnings
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

import belman
from belman.assignment import Elsewhere, Eppo, GrowthBook, Weights, assign
from belman.assignment.assigners import Filter
from belman.engine.tiers import interpreted
from belman.errors import BelmanError, SettingError
from belman.studies import Ask, Storage, Tell, open_study
from tests.attack.fuzzed_agents import ODD
from tests.attack.harness import Attack, Trials

LIFE = 40  # operations of one study
OFTEN = ("ask", "tell", "together") * 5
KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"window": 50.0},
    {"window": 50.0, "accumulate": True, "family": "gaussian"},
    {"drift": "auto"},
    {"family": "gaussian"},
    {"family": "geometric"},
    {"family": "gaussian", "drift": "auto"},
    {"range": (0, 10)},
    {"uniform_share": 0.2},
    {"control": "a", "stop_when": belman.measures.Sure(0.95), "then": "ship"},
    {"guard": {"cost": "< 5"}},
    {"discount": 0.9},
    {"policy": belman.Thompson(), "floor": 0.05},
    {"segments": ["c"]},
    {"segments": ["c"], "family": "gaussian", "window": 50.0},
    {"context": ["c", "x"], "model": "linear"},
    {"context": ["c", "x"], "model": "linear", "window": 50.0},
    {"context": ["c"], "model": "poisson", "pooling": "hybrid", "features": {
        "a": {"y": 1.0}, "b": {"y": 2.0}, "c": {"y": None}}},
    {"features": ["y"], "context": ["c"]},
)  # fmt: skip


class Life:
    """A study, its clock, the tickets that it gave, and the weights that it published."""

    def __init__(self, storage: Storage, name: str, luck: random.Random) -> None:
        self.luck, self.time = luck, 1_000.0
        self.tickets: list[Any] = []
        self.weights: Weights | None = None
        more: Any = {"storage": storage, "clock": lambda: self.time, "seed": 1}
        kind = luck.choice(KINDS)
        arms = None if isinstance(kind.get("features"), list) else ["a", "b", "c"]
        self.kind, self.study = kind, open_study(name, arms, **kind, **more)

    def some(self, *right: Any, odd: float = 0.3) -> Any:
        """One of these, or now and then something else."""
        return self.luck.choice(ODD if self.luck.random() < odd else right)

    def arm(self) -> Any:
        return self.some("a", "b", "c")

    def reward(self) -> Any:
        large = self.luck.choice((-1.0, 1.0)) * 10.0 ** self.luck.uniform(0.0, 18.0)
        if self.study.settings.family.reward_range is None:
            return self.some(0, 1, large, large, odd=0.2)
        return self.some(0, 1, 0.5, large, odd=0.4)

    def ticket(self) -> Any:
        return self.some(*self.tickets) if self.tickets else self.some(None)

    def key(self) -> Any:
        return self.some(None, None, None, None, "k1", "k2", odd=0.1)

    def version(self) -> Any:
        return self.some(None, 1, 2, None if self.weights is None else self.weights.version)

    def row(self) -> list[Any]:
        """A row of outcomes, mostly one that the weights say."""
        unit = self.some("u1", "u2", 3, odd=0.1)
        time = self.some(self.time, self.time - 60.0, odd=0.1)
        row = [unit, self.version(), self.arm(), self.reward(), time]
        if self.weights is not None and isinstance(unit, str) and self.luck.random() < 0.7:
            with suppress(BelmanError):  # nobody can draw the lots of somebody else again
                row[1:3] = [self.weights.version, assign(self.weights, unit).arm]
        elif self.luck.random() < 0.5:
            row += [None, None, self.chances()]
        return row

    def chances(self) -> Any:
        """Chances of the arms that somebody logged."""
        share = self.some(0.5, 0.5, 0.0, 1e-300, odd=0.1)
        right = {"a": share, "b": 0.25, "c": 0.25}
        return self.some(right, right, {"a": 1.0}, {"b": self.reward()}, odd=0.1)

    def declare(self) -> None:
        """Somebody else assigned units, by shares, salts and hashes of any kind."""
        pair = (self.some(0.0, 0.3, odd=0.1), self.some(1.0, 0.6, odd=0.1))
        shop = Filter(self.some("shop"), self.some(1, 2), (pair,))
        growthbook = GrowthBook(self.some(1, 2, odd=0.1), (shop,))
        assigner = self.some(Elsewhere(), Eppo(self.some(10_000, 7, odd=0.1)), growthbook, odd=0.1)
        theirs = Weights.of(
            self.some("x"), self.chances(), salt=self.some("s", odd=0.1), assigner=assigner
        )
        self.weights = self.study.declare(self.some(theirs, odd=0.05), "why", key=self.key())

    def sums(self) -> dict[str, Any]:
        n = self.some(1, 5, 2**53)
        named = {"version": self.version(), "arm": self.arm(), "n": n}
        return {**named, "sum": self.reward(), "squares": self.reward()}

    def asked(self) -> dict[str, Any]:
        """A context and candidates, where the study has such."""
        names = self.kind.get("segments") or self.kind.get("context") or ()
        result: dict[str, Any] = {}
        if names:
            right = {name: self.some("v", "w", None) if name == "c" else 1.5 for name in names}
            result["context"] = self.some(right, right, {"c": self.reward()}, odd=0.1)
        if isinstance(self.kind.get("features"), list):
            two = [{"y": self.some(1.0, 2.0, None, odd=0.1)}, {"y": 3.0}]
            result["candidates"] = self.some(two, two[:1], odd=0.1)
        if names and self.luck.random() < 0.3:
            result["top"] = self.some(1, 2)
        return result

    def ask(self) -> None:
        count, given = self.some(None, None, 2), self.some(None, {"d": "x"}, {"d": self.reward()})
        result = self.study.ask(count, attributes=given, key=self.key(), **self.asked())
        self.tickets += result if isinstance(result, list) else [result]

    def together(self) -> None:
        """Asks and tells in one transaction, each of which is answered or refused alone."""
        requests = [
            Ask(self.some(1, 2), self.key(), **self.asked())
            if self.luck.random() < 0.5
            else Tell(self.ticket(), self.reward(), self.key(), self.some(None, {"cost": 1.0}))
            for _ in range(self.luck.randint(1, 4))
        ]
        for result in self.study.together(requests):
            self.tickets += result if isinstance(result, list) else []

    def publish(self) -> None:
        count, segment = self.some(10, 1_000), self.some(None, None, "x")
        plan = {"every": self.some(None, 60.0), "valid_for": self.some(100.0, None)}
        by = self.some("belman", "growthbook", "eppo", odd=0.1)
        self.weights = self.study.publish(count, **plan, segment=segment, by=by, key=self.key())

    def wait(self) -> None:
        self.time += self.luck.choice((0.1, 10.0, 100.0))

    def operations(self) -> dict[str, Callable[[], object]]:
        """All that may be done, in one transaction each."""
        study, some = self.study, self.some
        return {
            "ask": self.ask,
            "together": self.together,
            "tell": lambda: study.tell(
                self.ticket(), self.reward(), metrics=some(None, {"cost": 1.0}), key=self.key()
            ),
            "correct": lambda: study.correct(self.ticket(), self.reward(), some("r")),
            "give back": lambda: study.give_back(some([self.ticket()], [self.ticket()] * 2)),
            "record": lambda: study.record(some([(self.arm(), self.reward())]), key=self.key()),
            "publish": self.publish,
            "declare": self.declare,
            "observe": lambda: study.observe(
                some([self.row()], [self.row(), self.row()], [self.sums()]), key=self.key()
            ),
            "correct rows": lambda: study.correct_rows(
                some([[*self.row()[:4], self.reward()]]), some("r"), key=self.key()
            ),
            "pause": lambda: study.pause(some("why"), key=self.key()),
            "resume": lambda: study.resume(some("why")),
            "add an arm": lambda: study.add_arm(some("d", "e"), some(None, (1, 1))),
            "retire an arm": lambda: study.retire_arm(some("d", "e"), key=self.key()),
            "policy": lambda: study.set_policy(some(belman.BelMan(), belman.Thompson())),
            "ship": lambda: study.ship(self.arm()),
            "unship": study.unship,
            "weights": lambda: study.weights(some(None, "x")),
            "report": lambda: study.report(some(0.95), by=some(None, "d")),
            "beliefs": lambda: study.beliefs(some(0.9)),
            "wait": self.wait,
        }


def run(trials: Trials) -> None:
    """A trial is an operation; a study lives through some, and is then gone through."""
    with (
        tempfile.TemporaryDirectory() as folder,
        interpreted(),
        warnings.catch_warnings(),
        closing(Storage(f"sqlite:///{folder}/studies.db?synchronous=normal")) as storage,
    ):
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", r"study .* decisions, and it is the best", UserWarning)
        life, left = None, 0
        for number in trials:
            if life is None or not left:
                life, left = Life(storage, f"study {number}", trials.luck), LIFE
            left -= 1
            _try_one(trials, life)
            if not left:
                _go_through(trials, life, storage)


def _try_one(trials: Trials, life: Life) -> None:
    may = life.operations()
    name = trials.luck.choice([*may, *OFTEN])
    operation = may[name]
    before = life.study.status()["events"]
    try:
        operation()
    except BelmanError as error:
        unchanged = life.study.status()["events"] == before
        trials.expect(unchanged, f"{name}: refused, and changed something: {error}")
    except Exception as error:
        trials.result.append(f"{name}, {life.study.settings.family.name}: {error!r}")


def _go_through(trials: Trials, life: Life, storage: Storage) -> None:
    """What has to hold of any study, whatever was tried on it."""
    try:
        life.study.check()
        again = open_study(life.study.name, storage=storage, clock=lambda: life.time)
        if again.status()["paused"]:
            again.resume()
        life.study = again
        while True:
            with suppress(SettingError):  # an odd context
                again.ask(**life.asked())
                break
        again.beliefs()
        again.report()
        trials.expect(len(list(again.events())) == again.status()["events"], "events are missing")
    except Exception as error:
        trials.result.append(f"at the end of a life: {error!r}")


ATTACK = Attack(
    "fuzzed studies",
    "studies of many kinds, also with contexts, segments and candidates, with tickets, groups of "
    "requests, rows, corrections, weights, keys and arms of any kind",
    "an answer, or an error of ours that changes nothing; the state is the fold of the log, and "
    "the study can be opened, asked and looked at",
    run,
    short=120,
    long=20_000,
    seconds=1_800.0,
)
